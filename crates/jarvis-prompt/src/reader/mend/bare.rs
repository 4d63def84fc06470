//! Keys and values that stand without quotes.

use super::{Due, Mend, Mender, Step, Stop, strings};
use crate::reader::text::{blank, byte, comment, is_word, key_ahead, skip_blanks};

impl Mender<'_> {
    pub(super) fn bare_key(&mut self) -> Result<Step, Stop> {
        let start = self.at;
        while byte(self.text, self.at).is_some_and(is_word) {
            self.at += 1;
        }
        let key = self.text.get(start..self.at).unwrap_or_default();
        if key.is_empty() {
            return Err(Stop::Garbage);
        }
        if self.at >= self.text.len() {
            return Ok(Step::End);
        }
        self.begin()?;
        self.note(Mend::Quotes);
        self.out.push('"');
        self.out.push_str(key);
        self.out.push('"');
        if let Some(frame) = self.stack.last_mut() {
            frame.due = Due::Colon;
        }
        Ok(Step::On)
    }

    pub(super) fn bare_value(&mut self, in_object: bool) -> Result<Step, Stop> {
        let start = self.at;
        let mut after_blank = false;
        while let Some(next) = byte(self.text, self.at) {
            let ends = matches!(next, b',' | b'}' | b']' | b'{' | b'[' | b'\n' | b'"')
                || (after_blank && comment(self.text, self.at));
            // A comma inside an unquoted text is followed by something other than the next key.
            let inside = next == b','
                && in_object
                && self.at > start
                && !matches!(byte(self.text, skip_blanks(self.text, self.at + 1)), None | Some(b'}' | b']' | b'{'))
                && !key_ahead(self.text, skip_blanks(self.text, self.at + 1))
                && !comment(self.text, skip_blanks(self.text, self.at + 1));
            if ends && !inside {
                break;
            }
            after_blank = blank(self.text, self.at) > 0;
            self.at += 1;
        }
        if self.at >= self.text.len() {
            // A word or number at the very end may have been longer.
            return Ok(Step::End);
        }
        let word = self.text.get(start..self.at).unwrap_or_default().trim_end();
        if word.is_empty() || word.starts_with('\\') {
            return Err(Stop::Garbage);
        }
        self.begin()?;
        match strings::literal(word) {
            Some(literal) => {
                if literal != word {
                    self.note(Mend::Literals);
                }
                self.out.push_str(&literal);
            }
            None => {
                self.note(Mend::Quotes);
                strings::quoted(word, &mut self.out);
            }
        }
        Ok(self.complete(false))
    }
}
