//! A plan while it is being written: which of its tasks are complete.

use std::sync::LazyLock;

use jarvis_plan::pattern;
use regex::Regex;

/// A reply that is still being written, and how many objects of its list have closed.
///
/// Only a plan in the asked-for format is followed: a list of objects, alone or in the field of an object, behind reasoning or a
/// fence at most. In any other reply tasks cannot be told from drafts and examples before its end.
#[derive(Debug, Default)]
pub struct Written {
    text: String,
    state: State,
    /// The next byte to look at.
    at: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the reasoning before the list has ended.
    thought: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The list has not begun.
    #[default]
    Before,
    /// In the list that begins at this byte.
    In(usize),
    /// The list has ended, or there is none that can be followed.
    Over,
}

/// What may stand before the first task.
static BEGINNING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^\s*(?s:<think(?:ing)?>.*?</think(?:ing)?>\s*)?(?:```[a-z]*\s*)?(?:\{\s*"(?:tasks|plan|steps)"\s*:\s*)?\[\s*\{"#,
    )
});

/// How much may come before the list begins, without reasoning.
const LONGEST_BEGINNING: usize = 200;

impl Written {
    /// Takes in a piece. When further objects of the list have closed with it, returns the list up to the last of them, as a list
    /// that is whole.
    pub fn push(&mut self, piece: &str) -> Option<String> {
        if self.state == State::Over {
            return None;
        }
        self.text.push_str(piece);
        if self.is_thinking(piece.len()) {
            return None;
        }
        let State::In(start) = self.begun()? else { return None };
        let mut closed = None;
        let rest = self.text.get(self.at..).unwrap_or_default();
        for (offset, byte) in rest.bytes().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 1 && byte == b'}' {
                        closed = Some(self.at + offset + 1);
                    }
                    if self.depth == 0 {
                        self.state = State::Over;
                        break;
                    }
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        closed.and_then(|end| self.text.get(start..end)).map(|list| format!("{list}]"))
    }

    /// Whether the reasoning before the list goes on. Only what is new is looked at, however long it is.
    fn is_thinking(&mut self, new: usize) -> bool {
        if self.thought || self.state != State::Before || !self.text.trim_start().starts_with("<think") {
            return false;
        }
        let mut from = self.text.len().saturating_sub(new + "</thinking".len());
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        self.thought = self.text.get(from..).is_some_and(|end| end.contains("</think"));
        !self.thought
    }

    /// Looks for the beginning of the list; `None` while it may still come.
    fn begun(&mut self) -> Option<State> {
        if self.state == State::Before {
            let found = BEGINNING.find(&self.text).map(|found| found.end());
            let list = found.and_then(|end| self.text.get(..end)?.rfind('['));
            match list {
                Some(start) => (self.state, self.at) = (State::In(start), start),
                None if self.beginning() > LONGEST_BEGINNING => self.state = State::Over,
                None => return None,
            }
        }
        Some(self.state)
    }

    /// Bytes that have come and are no reasoning.
    fn beginning(&self) -> usize {
        let text = self.text.trim_start();
        if "<think".starts_with(text) || text.starts_with("<think") {
            return text.rfind("</think").map_or(0, |at| text.len() - at);
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists that come of a reply, a letter at a time.
    fn lists(reply: &str) -> Vec<String> {
        let mut written = Written::default();
        reply.split_inclusive(|_: char| true).filter_map(|piece| written.push(piece)).collect()
    }

    #[test]
    fn tasks_are_complete_when_their_object_closes() {
        let one = r#"[{"id":0,"args":{"text":"a } ] \" b"}}]"#;
        let two = r#"[{"id":0,"args":{"text":"a } ] \" b"}}, {"id":1,"args":{"list":[{"x":1}]}}]"#;
        let both = || vec![one.to_owned(), two.to_owned()];
        for (reply, want) in [
            (two.to_owned(), both()),
            (format!("```json\n{two}\n```"), both()),
            (format!("{{\"tasks\": {two}, \"more\": true}}"), both()),
            (format!("<think>first [{{\"id\": 9}}] then</think>\n{two}"), both()),
            // Cut off in the second task.
            (two.get(..50).unwrap().to_owned(), vec![one.to_owned()]),
            // What comes after the list is no part of it.
            (format!("{one} and {two}"), vec![one.to_owned()]),
            (format!("Here is a draft: {two}"), Vec::new()),
            (format!("{}{two}", "so ".repeat(100)), Vec::new()),
            ("[]".to_owned(), Vec::new()),
            (r#"["a", {"id": 0}]"#.to_owned(), Vec::new()),
        ] {
            assert_eq!(lists(&reply), want, "{reply}");
            // However it is cut into pieces, the last list is the same.
            let whole = Written::default().push(&reply);
            assert_eq!(whole, want.last().cloned(), "{reply}");
        }
    }
}
