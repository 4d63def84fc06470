//! The text of a reply as its bytes come in: whole characters only, and nothing of a stop string.

/// Collects a reply.
#[derive(Debug)]
pub(super) struct Reply<'a> {
    stop: Vec<&'a str>,
    text: String,
    /// Bytes of a character that is not whole yet.
    open: Vec<u8>,
    /// Bytes of the text that the listener has.
    told: usize,
    stopped: bool,
}

impl<'a> Reply<'a> {
    pub(super) fn new(stop: &'a [String]) -> Reply<'a> {
        let stop = stop.iter().map(String::as_str).filter(|stop| !stop.is_empty()).collect();
        Reply { stop, text: String::new(), open: Vec::new(), told: 0, stopped: false }
    }

    /// Whether a stop string has come.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes the bytes of a token; what is new and final goes to `tell`.
    pub(super) fn push(&mut self, bytes: &[u8], tell: impl FnOnce(&str)) {
        if self.stopped {
            return;
        }
        self.open.extend_from_slice(bytes);
        let before = self.text.len();
        self.take_whole(false);
        self.cut(before);
        let upto = if self.stopped { self.text.len() } else { self.text.len() - self.held_back() };
        if let Some(new) = self.text.get(self.told..upto).filter(|new| !new.is_empty()) {
            tell(new);
            self.told = upto;
        }
    }

    /// The whole text.
    pub(super) fn finish(mut self, tell: impl FnOnce(&str)) -> String {
        if !self.stopped {
            let before = self.text.len();
            self.take_whole(true);
            self.cut(before);
        }
        if let Some(new) = self.text.get(self.told..).filter(|new| !new.is_empty()) {
            tell(new);
        }
        self.text
    }

    /// Moves whole characters to the text. What can never become one is replaced.
    fn take_whole(&mut self, all: bool) {
        let open = std::mem::take(&mut self.open);
        let mut rest = open.as_slice();
        for chunk in open.utf8_chunks() {
            self.text.push_str(chunk.valid());
            rest = rest.get(chunk.valid().len()..).unwrap_or_default();
            if chunk.invalid().is_empty() {
                continue;
            }
            let is_last = chunk.invalid().len() == rest.len();
            let may_go_on = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if is_last && may_go_on && !all {
                self.open = rest.to_vec();
                return;
            }
            self.text.push(char::REPLACEMENT_CHARACTER);
            rest = rest.get(chunk.invalid().len()..).unwrap_or_default();
        }
    }

    /// Cuts the text at the first stop string that ends beyond `before`.
    fn cut(&mut self, before: usize) {
        let found = self.stop.iter().filter_map(|stop| {
            let mut from = before.saturating_sub(stop.len());
            while !self.text.is_char_boundary(from) {
                from -= 1;
            }
            self.text.get(from..)?.find(stop).map(|at| from + at)
        });
        if let Some(at) = found.min() {
            self.text.truncate(at);
            self.stopped = true;
        }
    }

    /// Bytes at the end that may be the start of a stop string.
    fn held_back(&self) -> usize {
        let longest = |stop: &&str| {
            let mut starts = stop.char_indices().rev().map(|(at, _)| at).filter(|&at| at > 0);
            starts.find(|&length| stop.get(..length).is_some_and(|start| self.text.ends_with(start)))
        };
        self.stop.iter().filter_map(longest).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn pieces() {
        let euro = "€".as_bytes();
        /// Stop strings, bytes of tokens, pieces that are told, whether it stopped.
        type Case<'a> = (&'a [&'a str], &'a [&'a [u8]], &'a [&'a str], bool);
        let cases: &[Case] = &[
            (&[], &[b"a", b"bc"], &["a", "bc"], false),
            (&[], &[&euro[..1], &euro[1..2], &euro[2..]], &["€"], false),
            (&[], &[&euro[..2], b"x"], &["\u{FFFD}x"], false),
            (&[], &[b"a", &euro[..2]], &["a", "\u{FFFD}"], false),
            (&[], &[b"\xFF\xFFz"], &["\u{FFFD}\u{FFFD}z"], false),
            (&["END"], &[b"oneE", b"N", b"D two"], &["one"], true),
            (&["END"], &[b"oneE", b"N", b"A"], &["one", "ENA"], false),
            (&["END"], &[b"xEN"], &["x", "EN"], false),
            (&["b", "ab"], &[b"xxab"], &["xx"], true),
            (&["\n\n"], &[b"a\n", b"\nb"], &["a"], true),
            (&["€"], &[b"a", &euro[..1], &euro[1..], b"b"], &["a"], true),
            (&["", "x"], &[b"ab"], &["ab"], false),
            (&["aab"], &[b"aa", b"ab"], &["a"], true),
        ];
        for (stop, tokens, told, stopped) in cases {
            let stop: Vec<String> = stop.iter().map(|&stop| stop.to_owned()).collect();
            let pieces = RefCell::new(Vec::new());
            let tell = |piece: &str| pieces.borrow_mut().push(piece.to_owned());
            let mut reply = Reply::new(&stop);
            tokens.iter().for_each(|token| reply.push(token, tell));
            assert_eq!(reply.is_stopped(), *stopped, "{tokens:?}");
            let text = reply.finish(tell);
            let pieces = pieces.into_inner();
            assert_eq!(pieces, *told, "{tokens:?}");
            assert_eq!(pieces.concat(), text);
        }
    }
}
