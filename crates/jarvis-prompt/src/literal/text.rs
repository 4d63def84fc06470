//! Quoted texts: the escapes of JSON and of Python, either quote, one or three of them. One pass, no look back.

use super::error::{LiteralError, LiteralFault};
use super::parse::Parser;

impl Parser<'_> {
    pub(super) fn quoted(&mut self, quote: u8) -> Result<String, LiteralError> {
        let triple = [quote; 3];
        let long = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(&triple));
        self.at += if long { 3 } else { 1 };
        let mut text = String::new();
        loop {
            let from = self.at;
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(length) = rest.iter().position(|byte| *byte == quote || *byte == b'\\') else {
                self.at = self.bytes.len();
                return Err(self.fail(LiteralFault::Ends { wanted: "the closing quote of a text" }));
            };
            self.at = from + length;
            text.push_str(self.text.get(from..self.at).unwrap_or_default());
            if self.peek() == Some(b'\\') {
                self.escape(&mut text)?;
                continue;
            }
            if !long {
                self.at += 1;
                return Ok(text);
            }
            if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(&triple)) {
                self.at += 3;
                return Ok(text);
            }
            text.push(char::from(quote));
            self.at += 1;
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), LiteralError> {
        let Some(kind) = self.bytes.get(self.at + 1).copied() else {
            self.at = self.bytes.len();
            return Err(self.fail(LiteralFault::Ends { wanted: "the closing quote of a text" }));
        };
        let plain = match kind {
            b'"' | b'\'' | b'\\' | b'/' | b'_' => char::from(kind),
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'a' => '\u{7}',
            b'v' => '\u{b}',
            b'u' => return self.utf16(text),
            b'x' => return self.code(text, 2),
            b'U' => return self.code(text, 8),
            b'0'..=b'7' => {
                let digits = self.bytes.get(self.at + 1..).unwrap_or_default().iter().take(3);
                let (code, length) = digits
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .fold((0, 0), |(code, length), digit| (code * 8 + u32::from(digit - b'0'), length + 1));
                self.at += 1 + length;
                push(text, code);
                return Ok(());
            }
            // A backslash at the end of a line joins it to the next.
            b'\n' => {
                self.at += 2;
                return Ok(());
            }
            // An unknown escape stays as it is.
            _ => {
                text.push('\\');
                self.at += 1;
                return Ok(());
            }
        };
        text.push(plain);
        self.at += 2;
        Ok(())
    }

    /// `\u` with four digits; two of them may be the halves of one character.
    fn utf16(&mut self, text: &mut String) -> Result<(), LiteralError> {
        let first = self.hex(self.at + 2, 4)?;
        self.at += 6;
        let is_high = (0xD800..0xDC00).contains(&first);
        if is_high && self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) {
            let second = self.hex(self.at + 2, 4)?;
            if (0xDC00..0xE000).contains(&second) {
                self.at += 6;
                push(text, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
                return Ok(());
            }
        }
        push(text, first);
        Ok(())
    }

    fn code(&mut self, text: &mut String, digits: usize) -> Result<(), LiteralError> {
        push(text, self.hex(self.at + 2, digits)?);
        self.at += 2 + digits;
        Ok(())
    }

    fn hex(&self, from: usize, digits: usize) -> Result<u32, LiteralError> {
        let digits = self.bytes.get(from..from + digits).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fail(LiteralFault::Escape))
    }
}

fn push(text: &mut String, code: u32) {
    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
}
