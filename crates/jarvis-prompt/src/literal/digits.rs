//! Numbers as written: whole ones exact at any length, in far less than quadratic time.

use num_bigint::{BigInt, BigUint};

use super::error::{LiteralError, LiteralFault};
use super::parse::Parser;
use crate::number::{ArithmeticError, Number};

/// The most digits of a whole number, leading zeros apart: as many as fit into [`crate::number::MAX_BITS`].
pub(super) const MAX_DIGITS: usize = 315_652;

/// Digits that are converted at once by the plain method.
const CHUNK: usize = 256;

impl Parser<'_> {
    pub(super) fn number(&mut self) -> Result<Number, LiteralError> {
        let start = self.at;
        self.digits();
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            let from = self.at;
            self.digits();
            if self.at == from {
                return Err(self.wanted("the digits of an exponent"));
            }
        }
        if matches!(self.peek(), Some(next) if next.is_ascii_alphanumeric() || next == b'_' || next == b'.') {
            return Err(self.wanted("the end of a number"));
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        let plain: std::borrow::Cow<'_, str> =
            if written.contains('_') { written.replace('_', "").into() } else { written.into() };
        if plain == "." {
            self.at = start;
            return Err(self.wanted("a value"));
        }
        if !whole {
            let float: f64 = plain.parse().map_err(|_| self.wanted("a number"))?;
            if float.is_finite() {
                return Ok(Number::Float(float));
            }
            return Err(self.fail_at(start, ArithmeticError::NotFinite.into()));
        }
        if let Ok(small) = plain.parse::<i64>() {
            return Ok(Number::Int(small.into()));
        }
        let digits = plain.trim_start_matches('0').as_bytes();
        if digits.len() > MAX_DIGITS {
            return Err(self.fail_at(start, LiteralFault::TooManyDigits { limit: MAX_DIGITS }));
        }
        Ok(Number::Int(BigInt::from(unsigned(digits))))
    }

    /// Passes digits, with single underscores between them.
    fn digits(&mut self) {
        let from = self.at;
        while let Some(byte) = self.peek() {
            let between = || {
                self.at > from
                    && self.bytes.get(self.at - 1) != Some(&b'_')
                    && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit)
            };
            if byte.is_ascii_digit() || (byte == b'_' && between()) {
                self.at += 1;
            } else {
                return;
            }
        }
    }
}

/// The number that these digits are. Halves are converted apart and joined, so that long multiplication does the work.
fn unsigned(digits: &[u8]) -> BigUint {
    let mut powers: Vec<(usize, BigUint)> = Vec::new();
    let mut length = CHUNK;
    let mut power = BigUint::from(10_u32).pow(CHUNK as u32);
    while length < digits.len() {
        let next = &power * &power;
        powers.push((length, power));
        power = next;
        length *= 2;
    }
    joined(digits, &powers)
}

/// The depth is that of the powers: the logarithm of the length.
fn joined(digits: &[u8], powers: &[(usize, BigUint)]) -> BigUint {
    match powers.split_last() {
        Some(((length, power), rest)) => match digits.len().checked_sub(*length).filter(|at| *at > 0) {
            Some(at) => {
                let (high, low) = digits.split_at(at);
                joined(high, rest) * power + joined(low, rest)
            }
            None => joined(digits, rest),
        },
        // A sign alone has no digits.
        None => BigUint::parse_bytes(digits, 10).unwrap_or_default(),
    }
}
