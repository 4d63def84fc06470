//! The parser of literals: one pass over the text, bounded in depth, in the number of values and in arithmetic.
//!
//! It reads a superset of JSON, so that strict JSON means here what it means elsewhere. It knows no names but the words for
//! null and the truth values: nothing can be called, looked up or imported.

use std::borrow::Cow;

use indexmap::IndexMap;

use super::Literal;
use super::error::{LiteralError, LiteralFault};
use crate::number::{Number, Operator, Work};

pub(super) const MAX_DEPTH: usize = 128;

pub(super) const MAX_VALUES: usize = 1 << 20;

/// A place in a text, and what may still be done.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    depth: usize,
    values: usize,
    work: Work,
}

/// How strongly unary signs bind their operand: only `**` binds stronger.
const POWER: u8 = 3;

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Parser<'t> {
        Parser { text, bytes: text.as_bytes(), at, depth: 0, values: 0, work: Work::default() }
    }

    /// Stands at another place, outside of all brackets. What was spent stays spent.
    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at;
        self.depth = 0;
    }

    pub(super) fn whole(mut self) -> Result<Literal, LiteralError> {
        let value = self.value()?;
        self.blanks()?;
        if self.at < self.bytes.len() { Err(self.fail(LiteralFault::More)) } else { Ok(value) }
    }

    /// The list or map whose opening bracket stands here; what follows it is not looked at.
    pub(super) fn bracketed(&mut self) -> Result<Literal, LiteralError> {
        match self.peek() {
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(_) | None => Err(self.wanted("a list or an object")),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn fail(&self, fault: LiteralFault) -> LiteralError {
        self.fail_at(self.at, fault)
    }

    pub(super) fn fail_at(&self, at: usize, fault: LiteralFault) -> LiteralError {
        LiteralError { at, fault }
    }

    pub(super) fn wanted(&self, wanted: &'static str) -> LiteralError {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => self.fail(LiteralFault::Unexpected { found, wanted }),
            None => self.fail(LiteralFault::Ends { wanted }),
        }
    }

    fn value(&mut self) -> Result<Literal, LiteralError> {
        self.blanks()?;
        self.expression(0)
    }

    /// A value, or arithmetic whose operators bind at least so strongly.
    fn expression(&mut self, least: u8) -> Result<Literal, LiteralError> {
        let start = self.at;
        let mut sign = None;
        while let Some(byte @ (b'+' | b'-')) = self.peek() {
            sign = Some(sign.unwrap_or(false) != (byte == b'-'));
            self.at += 1;
            self.blanks()?;
        }
        let mut left = match sign {
            None => self.atom()?,
            Some(negative) => {
                let operator = if negative { "-" } else { "+" };
                let operand = self.expression(POWER)?;
                let number =
                    number(operand).ok_or_else(|| self.fail_at(start, LiteralFault::NotNumbers { operator }))?;
                Literal::from(if negative { number.negated() } else { number })
            }
        };
        loop {
            let is_number = matches!(left, Literal::Int(_) | Literal::Float(_));
            self.blanks_before_operator(is_number)?;
            let Some((operator, written, strength)) = self.operator() else { return Ok(left) };
            if strength < least {
                return Ok(left);
            }
            let here = self.at;
            let fault = LiteralFault::NotNumbers { operator: written };
            let Some(one) = number(left) else { return Err(self.fail_at(here, fault)) };
            self.at += written.len();
            self.blanks()?;
            self.enter()?;
            // Powers are worked out from the right, all else from the left.
            let right = self.expression(if strength == POWER { POWER } else { strength + 1 })?;
            self.depth -= 1;
            let Some(other) = number(right) else { return Err(self.fail_at(here, fault)) };
            left = one
                .apply(operator, &other, &mut self.work)
                .map_err(|error| self.fail_at(here, LiteralFault::Arithmetic(error)))?
                .into();
        }
    }

    /// The operator that stands here, as written, and how strongly it binds.
    fn operator(&self) -> Option<(Operator, &'static str, u8)> {
        let twice = self.bytes.get(self.at + 1) == self.bytes.get(self.at);
        Some(match self.peek()? {
            b'+' => (Operator::Add, "+", 1),
            b'-' => (Operator::Subtract, "-", 1),
            b'*' if twice => (Operator::Power, "**", POWER),
            b'*' => (Operator::Multiply, "*", 2),
            b'/' if twice => (Operator::FloorDivide, "//", 2),
            b'/' => (Operator::Divide, "/", 2),
            b'%' => (Operator::Remainder, "%", 2),
            _ => return None,
        })
    }

    fn atom(&mut self) -> Result<Literal, LiteralError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.fail(LiteralFault::TooManyValues { limit: MAX_VALUES }));
        }
        match self.peek() {
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(b'(') => self.parenthesis(),
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote).map(Literal::Text),
            Some(b'0'..=b'9' | b'.') => self.number().map(Literal::from),
            Some(_) if !self.word().is_empty() => self.named(),
            Some(_) | None => Err(self.wanted("a value")),
        }
    }

    /// The name that starts here; empty when none does.
    fn word(&self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = rest.find(|c: char| !letter(c)).unwrap_or(rest.len());
        rest.get(..end).filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default()
    }

    fn named(&mut self) -> Result<Literal, LiteralError> {
        let word = self.word();
        let start = self.at;
        self.at += word.len();
        Ok(match word {
            "null" | "None" => Literal::Null,
            "true" | "True" => Literal::Bool(true),
            "false" | "False" => Literal::Bool(false),
            "u" | "U" if matches!(self.peek(), Some(b'"' | b'\'')) => {
                return self.quoted(self.peek().unwrap_or(b'"')).map(Literal::Text);
            }
            "NaN" | "nan" => return Err(self.fail_at(start, LiteralFault::NoNumber { word: "NaN" })),
            "Infinity" | "inf" => return Err(self.fail_at(start, LiteralFault::NoNumber { word: "Infinity" })),
            word => {
                let name = word.chars().take(40).collect();
                let after = self.text.get(self.at..).unwrap_or_default();
                let used =
                    word == "lambda" || after.starts_with(['(', '.', '[', '"', '\'']) || after.starts_with(" for ");
                return Err(self.fail_at(start, LiteralFault::Name { name, used }));
            }
        })
    }

    fn enter(&mut self) -> Result<(), LiteralError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.fail(LiteralFault::TooDeep { limit: MAX_DEPTH })) } else { Ok(()) }
    }

    fn list(&mut self) -> Result<Literal, LiteralError> {
        Ok(Literal::List(self.items(b']', "`,` or `]`")?.0))
    }

    fn parenthesis(&mut self) -> Result<Literal, LiteralError> {
        let (mut items, comma) = self.items(b')', "`,` or `)`")?;
        let only = if comma { None } else { items.pop() };
        Ok(only.unwrap_or(Literal::List(items)))
    }

    /// The values up to the closing bracket, and whether a comma follows any of them.
    fn items(&mut self, close: u8, wanted: &'static str) -> Result<(Vec<Literal>, bool), LiteralError> {
        self.enter()?;
        self.at += 1;
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.blanks()?;
            if self.peek() == Some(close) {
                break;
            }
            items.push(self.expression(0)?);
            if !self.comma_before(close, wanted)? {
                break;
            }
            comma = true;
        }
        self.at += 1;
        self.depth -= 1;
        Ok((items, comma))
    }

    /// Passes the comma after an item; false where the bracket closes instead.
    fn comma_before(&mut self, close: u8, wanted: &'static str) -> Result<bool, LiteralError> {
        self.blanks()?;
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(byte) if byte == close => return Ok(false),
            Some(_) | None => return Err(self.wanted(wanted)),
        }
        Ok(true)
    }

    fn map(&mut self) -> Result<Literal, LiteralError> {
        self.enter()?;
        self.at += 1;
        let mut fields = IndexMap::new();
        loop {
            self.blanks()?;
            if self.peek() == Some(b'}') {
                break;
            }
            let name = self.key()?;
            self.blanks()?;
            if self.peek() != Some(b':') {
                return Err(self.wanted("`:` after a name"));
            }
            self.at += 1;
            let value = self.value()?;
            fields.insert(name.into_owned(), value);
            if !self.comma_before(b'}', "`,` or `}`")? {
                break;
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(Literal::Map(fields))
    }

    fn key(&mut self) -> Result<Cow<'t, str>, LiteralError> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote).map(Cow::Owned),
            Some(b'0'..=b'9' | b'-') => {
                let negative = self.peek() == Some(b'-');
                self.at += usize::from(negative);
                let number = self.number()?;
                let number = if negative { number.negated() } else { number };
                Ok(Cow::Owned(Literal::from(number).to_string()))
            }
            Some(_) if !self.word().is_empty() => {
                let word = self.word();
                self.at += word.len();
                Ok(Cow::Borrowed(word))
            }
            Some(_) | None => Err(self.wanted("the name of a field in quotes")),
        }
    }

    fn blanks(&mut self) -> Result<(), LiteralError> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest {
                [b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C, ..] => self.at += 1,
                [0xC2, 0xA0, ..] => self.at += 2,
                [0xE3, 0x80, 0x80, ..] | [0xEF, 0xBB, 0xBF, ..] => self.at += 3,
                [b'#', ..] | [b'/', b'/', ..] => {
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', comment @ ..] => match comment.windows(2).position(|pair| pair == b"*/") {
                    Some(length) => self.at += length + 4,
                    None => {
                        self.at = self.bytes.len();
                        return Err(self.fail(LiteralFault::Ends { wanted: "the end of a comment" }));
                    }
                },
                _ => return Ok(()),
            }
        }
    }

    /// Passes blanks and comments, but not `//` between numbers: there it divides.
    fn blanks_before_operator(&mut self, after_number: bool) -> Result<(), LiteralError> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest {
            [b'/', b'/', operand @ ..] if after_number && starts_number(operand) => Ok(()),
            _ => self.blanks(),
        }
    }
}

/// Whether a number, perhaps with a sign or in parentheses, follows on the same line.
fn starts_number(bytes: &[u8]) -> bool {
    let next = bytes.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'+' | b'-' | b'('));
    matches!(next, Some(b'0'..=b'9' | b'.'))
}

fn number(value: Literal) -> Option<Number> {
    match value {
        Literal::Int(int) => Some(Number::Int(int)),
        Literal::Float(float) => Some(Number::Float(float)),
        Literal::Null | Literal::Bool(_) | Literal::Text(_) | Literal::List(_) | Literal::Map(_) => None,
    }
}
