//! Replies that end before one of the texts that the caller names.

/// A reply that ends before the first of some texts; what could be the beginning of one is held back until it is known.
#[derive(Debug, Default)]
pub(in crate::routes::openai) struct Stopping {
    stop: Vec<String>,
    held: String,
    ended: bool,
}

impl Stopping {
    pub(in crate::routes::openai) fn new(stop: &[String]) -> Stopping {
        let stop = stop.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        Stopping { stop, ..Stopping::default() }
    }

    /// A whole text to its end.
    pub(in crate::routes::openai) fn cut(stop: &[String], text: &str) -> String {
        let mut stopping = Stopping::new(stop);
        let before = stopping.push(text);
        before + &stopping.end()
    }

    /// What may be sent now that this follows.
    pub(in crate::routes::openai) fn push(&mut self, text: &str) -> String {
        if self.ended {
            return String::new();
        }
        if self.stop.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        if let Some(at) = self.stop.iter().filter_map(|stop| self.held.find(stop.as_str())).min() {
            self.ended = true;
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let begins = |at: &usize| {
            let rest = self.held.get(*at..).unwrap_or_default();
            self.stop.iter().any(|stop| stop.starts_with(rest))
        };
        let places = self.held.char_indices().map(|(at, _)| at);
        let keep = places.into_iter().find(begins).unwrap_or(self.held.len());
        let rest = self.held.split_off(keep);
        std::mem::replace(&mut self.held, rest)
    }

    /// What was held back and is no end.
    pub(in crate::routes::openai) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::Stopping;

    #[test]
    fn a_reply_ends_before_the_first_stop_however_it_is_cut_in_pieces() {
        for (stop, text, want) in [
            (vec![], "one two", "one two"),
            (vec!["two"], "one two three", "one "),
            (vec!["x", "o"], "two x", "tw"),
            (vec!["END"], "ENENEND more", "ENEN"),
            (vec!["END"], "to the EN", "to the EN"),
            (vec!["aab"], "aaab", "a"),
            (vec!["вет"], "привет", "при"),
            (vec![""], "one", "one"),
        ] {
            let stop: Vec<String> = stop.into_iter().map(str::to_owned).collect();
            for size in 1..=text.chars().count() {
                let mut stopping = Stopping::new(&stop);
                let letters: Vec<char> = text.chars().collect();
                let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
                let mut sent: String = pieces.map(|piece| stopping.push(&piece)).collect();
                sent.push_str(&stopping.end());
                assert_eq!(sent, want, "{stop:?} {size}");
            }
            assert_eq!(Stopping::cut(&stop, text), want);
        }
    }
}
