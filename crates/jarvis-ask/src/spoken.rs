//! Replies for people, streamed without the reasoning before them.

/// Leaves the reasoning out of a reply while it streams: `<think>…</think>` at its beginning, as reasoning models write it.
/// For a whole reply there is [`jarvis_prompt::reader::without_reasoning`].
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    heard: String,
    phase: Phase,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    /// What came so far may still turn out to be the mark.
    #[default]
    Beginning,
    Thinking,
    Speaking,
}

impl Spoken {
    /// Takes the next piece of a reply; gives what of it can be passed on now.
    pub(crate) fn hear(&mut self, piece: &str) -> String {
        const OPEN: &str = "<think>";
        const CLOSE: &str = "</think>";
        if self.phase == Phase::Speaking {
            return piece.to_owned();
        }
        self.heard.push_str(piece);
        if self.phase == Phase::Beginning {
            let start = self.heard.trim_start();
            if start.starts_with(OPEN) {
                self.phase = Phase::Thinking;
            } else if OPEN.starts_with(start) {
                return String::new();
            } else {
                self.phase = Phase::Speaking;
                return std::mem::take(&mut self.heard);
            }
        }
        match self.heard.find(CLOSE) {
            Some(at) => {
                self.phase = Phase::Speaking;
                let rest = self.heard.get(at + CLOSE.len()..).unwrap_or_default().trim_start().to_owned();
                self.heard.clear();
                rest
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spoken;

    #[track_caller]
    fn check(pieces: &[&str], want: &str) {
        let mut spoken = Spoken::default();
        let said: Vec<String> = pieces.iter().map(|piece| spoken.hear(piece)).collect();
        assert_eq!(said.concat(), want, "{pieces:?}");
    }

    #[test]
    fn thoughts_are_not_spoken() {
        check(&["Hello", " there"], "Hello there");
        check(&["<think>hm, a < b</think>\n\nHello"], "Hello");
        check(&["\n<th", "ink>hm", "</thi", "nk> He", "llo"], "Hello");
        check(&["<", "b>bold</b>"], "<b>bold</b>");
        check(&["<think>never ends"], "");
        check(&["say <think>this</think>"], "say <think>this</think>");
    }
}
