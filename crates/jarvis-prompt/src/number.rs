//! Numbers as models and tools mean them: whole ones of any length, and floats; and arithmetic that knows its bounds.
//!
//! The rules are those of Python, because replies and function hubs are written in its terms: whole with whole stays whole
//! except in true division, which is correctly rounded; mixed becomes a float; floored division and remainder take the
//! sign of the divisor. What an operation would cost is known before it is done. No parsing, and no decimal places.

mod division;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The most bits of a whole number: about 315,000 digits.
pub const MAX_BITS: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    Int(BigInt),
    /// Any other number. Never NaN or infinite.
    Float(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// `/`: always a float.
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    #[error("division by zero")]
    DivisionByZero,
    #[error("a negative number has no real power with a fractional exponent")]
    NotReal,
    /// The result, or a whole number that must become a float, is beyond the range of floats.
    #[error("the number is too large for a float (about 1.8e308)")]
    NotFinite,
    /// The result would be longer than [`MAX_BITS`], or too much work.
    #[error("the number would be too long to work out (more than 2^20 bits, or too much work)")]
    TooLarge,
}

/// How much arithmetic may still be done, in operations on machine words. Small numbers cost nothing.
#[derive(Debug, Clone)]
pub struct Work(u64);

impl Default for Work {
    /// Enough for a dozen results of the greatest length: some tens of milliseconds.
    fn default() -> Work {
        Work(1 << 26)
    }
}

impl Work {
    /// Pays for an operation on numbers of so many bits with a result of so many.
    ///
    /// # Errors
    /// [`ArithmeticError::TooLarge`] when nothing is left for it.
    fn pay(&mut self, one: u64, other: u64, result: u64) -> Result<(), ArithmeticError> {
        let words = |bits: u64| bits / 64 + 1;
        let (long, short) = (words(one.max(other)), words(one.min(other)));
        if long <= FREE && words(result) <= FREE {
            return Ok(());
        }
        // Long operands are multiplied and divided faster than by the school's method; results also cost their room.
        let cost = long.saturating_mul(short.min(short.isqrt() * 4)).saturating_add(words(result).saturating_mul(64));
        self.0 = self.0.checked_sub(cost).ok_or(ArithmeticError::TooLarge)?;
        Ok(())
    }

    /// Pays for the greatest common divisor of numbers of so many bits: a pass over the shorter for every bit of it.
    fn pay_gcd(&mut self, one: u64, other: u64) -> Result<(), ArithmeticError> {
        let (long, short) = (one.max(other), one.min(other));
        if long <= FREE * 64 {
            return Ok(());
        }
        let cost = short.saturating_mul(short / 64 + 1).saturating_add((long / 64 + 1).saturating_mul(short / 64 + 1));
        self.0 = self.0.checked_sub(cost).ok_or(ArithmeticError::TooLarge)?;
        Ok(())
    }
}

/// Words up to which an operation costs nothing.
const FREE: u64 = 4;

impl Number {
    /// The number as a float, rounded to the nearest, ties to even.
    ///
    /// # Errors
    /// [`ArithmeticError::NotFinite`] when a whole number is beyond the range of floats.
    pub fn to_f64(&self) -> Result<f64, ArithmeticError> {
        match self {
            Number::Int(int) => int_to_f64(int),
            Number::Float(float) => finite(*float),
        }
    }

    /// The whole number: this one, or a float without a fraction.
    pub fn to_int(&self) -> Option<BigInt> {
        match self {
            Number::Int(int) => Some(int.clone()),
            Number::Float(float) if float.fract() == 0.0 => num_traits::FromPrimitive::from_f64(*float),
            Number::Float(_) => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        match self {
            Number::Int(int) => int.is_zero(),
            Number::Float(float) => *float == 0.0,
        }
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Number::Int(int) => int.is_negative(),
            Number::Float(float) => *float < 0.0,
        }
    }

    /// The number with the other sign; a zero float gets the other sign too.
    #[must_use]
    pub fn negated(self) -> Number {
        match self {
            Number::Int(int) => Number::Int(-int),
            Number::Float(float) => Number::Float(-float),
        }
    }

    /// Works out `self operator other`. Whether it can be done is decided before it is done.
    ///
    /// # Errors
    /// When there is no result, it is not finite, or it would be too long or too much work.
    pub fn apply(self, operator: Operator, other: &Number, work: &mut Work) -> Result<Number, ArithmeticError> {
        match (self, other) {
            (Number::Int(left), Number::Int(right)) => ints(left, operator, right, work),
            (left, right) => floats(left.to_f64()?, operator, right.to_f64()?).map(Number::Float),
        }
    }
}

/// The greatest common divisor, never negative; zero only of two zeros.
///
/// # Errors
/// [`ArithmeticError::TooLarge`] when it would be too much work.
pub fn gcd(left: &BigInt, right: &BigInt, work: &mut Work) -> Result<BigInt, ArithmeticError> {
    work.pay_gcd(left.bits(), right.bits())?;
    let (long, short) = if left.bits() < right.bits() { (right, left) } else { (left, right) };
    if short.is_zero() {
        return Ok(long.abs());
    }
    // One division brings both to the same length.
    Ok((long % short).gcd(short))
}

/// The least common multiple, with the sign of the product.
///
/// # Errors
/// [`ArithmeticError::DivisionByZero`] of two zeros; [`ArithmeticError::TooLarge`] when it would be too long or too much
/// work.
pub fn lcm(left: &BigInt, right: &BigInt, work: &mut Work) -> Result<BigInt, ArithmeticError> {
    let divisor = gcd(left, right, work)?;
    if divisor.is_zero() {
        return Err(ArithmeticError::DivisionByZero);
    }
    let product = ints(left / divisor, Operator::Multiply, right, work)?;
    product.to_int().ok_or(ArithmeticError::TooLarge)
}

fn int_to_f64(int: &BigInt) -> Result<f64, ArithmeticError> {
    int.to_f64().map_or(Err(ArithmeticError::NotFinite), finite)
}

fn finite(float: f64) -> Result<f64, ArithmeticError> {
    if float.is_finite() { Ok(float) } else { Err(ArithmeticError::NotFinite) }
}

fn ints(left: BigInt, operator: Operator, right: &BigInt, work: &mut Work) -> Result<Number, ArithmeticError> {
    let (long, short) = (left.bits().max(right.bits()), left.bits().min(right.bits()));
    let divides = match operator {
        Operator::Divide | Operator::FloorDivide | Operator::Remainder => true,
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Power => false,
    };
    if divides && right.is_zero() {
        return Err(ArithmeticError::DivisionByZero);
    }
    let int = match operator {
        Operator::Add | Operator::Subtract => {
            work.pay(long, 0, long)?;
            if operator == Operator::Add { left + right } else { left - right }
        }
        Operator::Multiply => {
            if short > 0 && long + short > MAX_BITS + 1 {
                return Err(ArithmeticError::TooLarge);
            }
            work.pay(long, short, long + short)?;
            left * right
        }
        Operator::Divide => {
            work.pay(long, short.min(128), 0)?;
            return division::true_divide(&left, right).map(Number::Float);
        }
        Operator::FloorDivide => {
            work.pay(long, short, long)?;
            left.div_floor(right)
        }
        Operator::Remainder => {
            work.pay(long, short, short)?;
            left.mod_floor(right)
        }
        Operator::Power => return power(&left, right, work),
    };
    if int.bits() > MAX_BITS { Err(ArithmeticError::TooLarge) } else { Ok(Number::Int(int)) }
}

fn power(base: &BigInt, exponent: &BigInt, work: &mut Work) -> Result<Number, ArithmeticError> {
    if exponent.is_negative() {
        if base.is_zero() {
            return Err(ArithmeticError::DivisionByZero);
        }
        return float_power(int_to_f64(base)?, int_to_f64(exponent)?).map(Number::Float);
    }
    if exponent.is_zero() {
        return Ok(Number::Int(BigInt::one()));
    }
    if base.magnitude().is_one() || base.is_zero() {
        let sign = base.is_negative() && exponent.is_even();
        return Ok(Number::Int(if sign { -base } else { base.clone() }));
    }
    let bits = exponent.to_f64().unwrap_or(f64::INFINITY) * log2(base.magnitude());
    let (true, Some(times)) = (bits < MAX_BITS as f64, exponent.to_u32()) else {
        return Err(ArithmeticError::TooLarge);
    };
    let bits = bits as u64 + 1;
    work.pay(bits, bits, bits)?;
    Ok(Number::Int(base.pow(times)))
}

/// The logarithm to base 2 of a number that is not zero, of any length.
pub fn log2(magnitude: &BigUint) -> f64 {
    let below = magnitude.bits().saturating_sub(64);
    (magnitude >> below).to_f64().unwrap_or(1.0).log2() + below as f64
}

/// The natural logarithm of a number above zero, of any length.
pub fn ln(number: &Number) -> f64 {
    logarithm(number, f64::ln)
}

/// The logarithm to base 10 of a number above zero, of any length.
pub fn log10(number: &Number) -> f64 {
    logarithm(number, f64::log10)
}

fn logarithm(number: &Number, log: fn(f64) -> f64) -> f64 {
    match number {
        Number::Float(float) => log(*float),
        Number::Int(int) => match int_to_f64(int) {
            Ok(float) => log(float),
            // Beyond floats: the number as a float between 1/2 and 1, times a power of two.
            Err(_) => {
                let below = int.bits().saturating_sub(64);
                let top = (int.magnitude() >> below).to_f64().unwrap_or(1.0) * 0.5_f64.powi(64);
                log(top) + log(2.0) * (int.bits() as f64)
            }
        },
    }
}

fn floats(left: f64, operator: Operator, right: f64) -> Result<f64, ArithmeticError> {
    match operator {
        Operator::Add => finite(left + right),
        Operator::Subtract => finite(left - right),
        Operator::Multiply => finite(left * right),
        Operator::Divide | Operator::FloorDivide | Operator::Remainder if right == 0.0 => {
            Err(ArithmeticError::DivisionByZero)
        }
        Operator::Divide => finite(left / right),
        Operator::FloorDivide => finite(floored(left, right).0),
        Operator::Remainder => finite(floored(left, right).1),
        Operator::Power => float_power(left, right),
    }
}

/// The floored quotient and the remainder with the sign of the divisor.
fn floored(left: f64, right: f64) -> (f64, f64) {
    let mut remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder == 0.0 {
        remainder = 0.0_f64.copysign(right);
    } else if (right < 0.0) != (remainder < 0.0) {
        remainder += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(left / right), remainder);
    }
    let below = quotient.floor();
    (if quotient - below > 0.5 { below + 1.0 } else { below }, remainder)
}

fn float_power(base: f64, exponent: f64) -> Result<f64, ArithmeticError> {
    if base == 0.0 && exponent < 0.0 {
        return Err(ArithmeticError::DivisionByZero);
    }
    if base < 0.0 && exponent.fract() != 0.0 {
        return Err(ArithmeticError::NotReal);
    }
    finite(base.powf(exponent))
}

#[cfg(test)]
mod tests;
