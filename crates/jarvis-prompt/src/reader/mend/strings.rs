//! Strings of a broken value: where they really end, and how they are written properly.

use std::fmt::Write;

use super::{Due, Mend, Mender, Step, Stop};
use crate::reader::text::{Quote, byte, comment, key_ahead, quote, skip_blanks, structural};

impl Mender<'_> {
    pub(super) fn string(&mut self, open: Quote) -> Result<Step, Stop> {
        let is_key = self.top().is_some_and(|frame| frame.object && matches!(frame.due, Due::Item | Due::Comma));
        let in_object = self.top().is_some_and(|frame| frame.object);
        if !is_key && in_object && self.top().is_some_and(|frame| frame.due == Due::Comma) {
            return Err(Stop::Garbage);
        }
        self.begin()?;
        if open != Quote::Double {
            self.note(Mend::Quotes);
        }
        self.out.push('"');
        let from = self.out.len();
        if !self.contents(open, is_key, in_object)? {
            return Ok(Step::End);
        }
        if is_key && !is_sane_key(self.out.get(from..).unwrap_or_default()) {
            return Err(Stop::Garbage);
        }
        self.out.push('"');
        if is_key {
            if let Some(frame) = self.stack.last_mut() {
                frame.due = Due::Colon;
            }
            return Ok(Step::On);
        }
        // Two strings joined by a plus, as in a programming language.
        let plus = skip_blanks(self.text, self.at);
        if byte(self.text, plus) == Some(b'+')
            && let next = skip_blanks(self.text, plus + 1)
            && let Some((again, length)) = quote(self.text, next)
        {
            self.note(Mend::Literals);
            self.out.pop();
            self.at = next + length;
            if !self.contents(again, is_key, in_object)? {
                return Ok(Step::End);
            }
            self.out.push('"');
        }
        Ok(self.complete(false))
    }

    /// Copies the string up to its closing quote; false when the text ends first. A quote inside that stands before a
    /// colon closes a key, so the string has run over its end.
    fn contents(&mut self, open: Quote, is_key: bool, in_object: bool) -> Result<bool, Stop> {
        let text = self.text;
        let mut run = self.at;
        loop {
            let Some(next) = byte(text, self.at) else { return Ok(false) };
            match next {
                b'\\' => {
                    self.out.push_str(text.get(run..self.at).unwrap_or_default());
                    if !self.escape() {
                        return Ok(false);
                    }
                    run = self.at;
                }
                0..=0x1F => {
                    self.out.push_str(text.get(run..self.at).unwrap_or_default());
                    self.note(Mend::Quotes);
                    control(next, &mut self.out);
                    self.at += 1;
                    run = self.at;
                }
                b'"' | b'\'' | b'`' | 0xE2 | 0xEF => {
                    let Some((mark, length)) = quote(text, self.at) else {
                        self.at += 1;
                        continue;
                    };
                    let ends = open.closes_with(mark) && (is_key || self.ends_value(self.at + length, in_object));
                    if ends {
                        self.out.push_str(text.get(run..self.at).unwrap_or_default());
                        self.at += length;
                        return Ok(true);
                    }
                    if open.closes_with(mark)
                        && matches!(structural(text, skip_blanks(text, self.at + length)), Some((b':', _)))
                    {
                        return Err(Stop::Garbage);
                    }
                    if mark == Quote::Double {
                        self.out.push_str(text.get(run..self.at).unwrap_or_default());
                        self.note(Mend::Quotes);
                        self.out.push_str("\\\"");
                        run = self.at + 1;
                    }
                    self.at += length;
                }
                _ => self.at += 1,
            }
        }
    }

    /// True when a quote followed by what stands at `after` closes a value: a bracket, a comma before something that
    /// can follow one, or the end.
    fn ends_value(&self, after: usize, in_object: bool) -> bool {
        let text = self.text;
        let at = skip_blanks(text, after);
        if at >= text.len() || comment(text, at) && (at > after || byte(text, at) == Some(b'/')) {
            return true;
        }
        match structural(text, at) {
            Some((b'}' | b']', _)) => true,
            Some((b',', length)) => self.can_follow(skip_blanks(text, at + length), in_object),
            Some((b'{', _)) => !in_object && at > after,
            Some(_) => false,
            None if byte(text, at) == Some(b'+') => quote(text, skip_blanks(text, at + 1)).is_some(),
            None if text.get(at..).is_some_and(|rest| rest.starts_with("```")) => true,
            // A comma is missing.
            None if at > after => quote(text, at).is_some() && (!in_object || key_ahead(text, at)),
            None => false,
        }
    }

    /// True when what stands here can follow a comma.
    fn can_follow(&self, at: usize, in_object: bool) -> bool {
        let text = self.text;
        if at >= text.len() || comment(text, at) {
            return true;
        }
        match byte(text, at) {
            Some(b'}' | b']' | b'{' | b',') => true,
            Some(b'.') => text.get(at..).is_some_and(|rest| rest.starts_with("...")),
            _ if in_object => key_ahead(text, at),
            Some(b'[' | b'-' | b'0'..=b'9') => true,
            _ => {
                quote(text, at).is_some()
                    || text.get(at..).is_some_and(|rest| {
                        ["true", "false", "null", "True", "False", "None"].iter().any(|word| rest.starts_with(word))
                    })
            }
        }
    }

    /// Copies the escape at the cursor, or writes the backslash itself where it escapes nothing. False at the end.
    fn escape(&mut self) -> bool {
        let Some(next) = self.text.get(self.at + 1..).and_then(|rest| rest.chars().next()) else { return false };
        self.at += 1 + next.len_utf8();
        match next {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.out.push('\\');
                self.out.push(next);
            }
            'u' => match unit(self.text, self.at) {
                Some(high @ 0xD800..=0xDBFF) => {
                    let low = self.text.get(self.at + 4..self.at + 6).filter(|mark| *mark == "\\u");
                    match low.and_then(|_| unit(self.text, self.at + 6)) {
                        Some(low @ 0xDC00..=0xDFFF) => {
                            let _ = write!(self.out, "\\u{high:04x}\\u{low:04x}");
                            self.at += 10;
                        }
                        Some(_) | None => self.replacement(4),
                    }
                }
                Some(0xDC00..=0xDFFF) => self.replacement(4),
                Some(unit) => {
                    let _ = write!(self.out, "\\u{unit:04x}");
                    self.at += 4;
                }
                None => {
                    self.note(Mend::Quotes);
                    self.out.push_str("\\\\u");
                }
            },
            // Markdown escapes the underscore.
            '\'' | '`' | '_' => {
                self.note(Mend::Quotes);
                self.out.push(next);
            }
            '\n' => self.note(Mend::Quotes),
            _ => {
                self.note(Mend::Quotes);
                self.out.push_str("\\\\");
                // The character is copied by the caller, which also sees a control character or a quote in it.
                self.at -= next.len_utf8();
            }
        }
        true
    }

    fn replacement(&mut self, length: usize) {
        self.note(Mend::Quotes);
        self.out.push('\u{fffd}');
        self.at += length;
    }
}

/// False for a key that only a misread quote can give: empty, or holding structure.
pub(in crate::reader) fn is_sane_key(key: &str) -> bool {
    !key.is_empty() && !key.contains(['{', '}', '[', ']', ':', ',', '"'])
}

fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

fn control(byte: u8, out: &mut String) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        other => {
            let _ = write!(out, "\\u{other:04x}");
        }
    }
}

pub(super) fn quoted(word: &str, out: &mut String) {
    match serde_json::to_string(word) {
        Ok(json) => out.push_str(&json),
        Err(_) => out.push_str("\"\""),
    }
}

/// The JSON spelling of a literal or number; `None` when the word is a text.
pub(super) fn literal(word: &str) -> Option<String> {
    let fixed = match word {
        "true" | "True" | "TRUE" => "true",
        "false" | "False" | "FALSE" => "false",
        "null" | "None" | "NULL" | "Null" | "none" | "undefined" | "nil" | "NaN" => "null",
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    if !word.starts_with(['+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) || word.len() > 64 {
        return None;
    }
    if serde_json::from_str::<serde_json::Number>(word).is_ok() {
        return Some(word.to_owned());
    }
    let mut number = word.trim_start_matches('+').replace('_', "");
    if number.starts_with('.') {
        number.insert(0, '0');
    }
    if number.ends_with('.') {
        number.pop();
    }
    serde_json::from_str::<serde_json::Number>(&number).ok().map(|_| number)
}
