//! Streamed replies without the reasoning that precedes them.

/// Leaves the reasoning out of a reply while it streams: `<think>…</think>` at its beginning, as reasoning models write it.
/// For a whole reply there is [`jarvis_prompt::reader::without_reasoning`].
#[derive(Debug, Default)]
pub(crate) struct ReasoningFilter {
    pending: String,
    phase: Phase,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The text so far may still become the opening mark.
    #[default]
    Beginning,
    Thinking,
    Answering,
}

impl ReasoningFilter {
    /// Takes the next piece of a reply and returns the text that can be passed on now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        const OPEN: &str = "<think>";
        const CLOSE: &str = "</think>";
        if self.phase == Phase::Answering {
            return piece.to_owned();
        }
        self.pending.push_str(piece);
        if self.phase == Phase::Beginning {
            let start = self.pending.trim_start();
            if start.starts_with(OPEN) {
                self.phase = Phase::Thinking;
            } else if OPEN.starts_with(start) {
                return String::new();
            } else {
                self.phase = Phase::Answering;
                return std::mem::take(&mut self.pending);
            }
        }
        match self.pending.find(CLOSE) {
            Some(at) => {
                self.phase = Phase::Answering;
                let rest = self.pending.split_off(at + CLOSE.len()).trim_start().to_owned();
                self.pending.clear();
                rest
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReasoningFilter;

    #[track_caller]
    fn check(pieces: &[&str], want: &str) {
        let mut filter = ReasoningFilter::default();
        let passed: Vec<String> = pieces.iter().map(|piece| filter.push(piece)).collect();
        assert_eq!(passed.concat(), want, "{pieces:?}");
    }

    #[test]
    fn reasoning_is_left_out() {
        check(&["Hello", " there"], "Hello there");
        check(&["<think>hm, a < b</think>\n\nHello"], "Hello");
        check(&["\n<th", "ink>hm", "</thi", "nk> He", "llo"], "Hello");
        check(&["<", "b>bold</b>"], "<b>bold</b>");
        check(&["<think>never ends"], "");
        check(&["say <think>this</think>"], "say <think>this</think>");
    }
}
