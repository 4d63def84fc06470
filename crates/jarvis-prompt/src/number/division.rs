//! The quotient of two whole numbers of any length as the float nearest to it.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use super::ArithmeticError;

/// Bits of a quotient that are worked out: more than a float has, so that one more that tells of the rest rounds rightly.
const BITS: i64 = 66;

/// Powers of two by which the least floats are counted, with two bits below them.
const LEAST: i64 = 1076;

/// `left / right`, correctly rounded, ties to even. The divisor is not zero.
///
/// # Errors
/// [`ArithmeticError::NotFinite`] when the quotient is beyond the range of floats.
pub(super) fn true_divide(left: &BigInt, right: &BigInt) -> Result<f64, ArithmeticError> {
    let negative = left.is_negative() != right.is_negative();
    let size = magnitude(left.magnitude(), right.magnitude())?;
    Ok(if negative && !left.is_zero() { -size } else { size })
}

fn magnitude(left: &BigUint, right: &BigUint) -> Result<f64, ArithmeticError> {
    // The quotient lies between 2^(apart - 1) and 2^(apart + 1).
    let apart = left.bits() as i64 - right.bits() as i64;
    if left.is_zero() || apart < -LEAST {
        return Ok(0.0);
    }
    if apart > 1025 {
        return Err(ArithmeticError::NotFinite);
    }
    let tiny = apart < -1021;
    let shift = if tiny { LEAST } else { BITS - apart };
    let (quotient, rest) = match u64::try_from(shift) {
        Ok(shift) => (left << shift).div_rem(right),
        Err(_) => left.div_rem(&(right << shift.unsigned_abs())),
    };
    let quotient = quotient.to_u128().unwrap_or(u128::MAX) | u128::from(!rest.is_zero());
    if tiny {
        // Floats this small are evenly spaced, and their bits count the steps.
        let steps = (quotient >> 2) as u64;
        let below = quotient & 3;
        let up = below == 3 || (below == 2 && steps % 2 == 1);
        return Ok(f64::from_bits(steps + u64::from(up)));
    }
    let scaled = quotient as f64 * 0.5_f64.powi(BITS as i32);
    let half = (apart / 2) as i32;
    let size = scaled * 2.0_f64.powi(half) * 2.0_f64.powi(apart as i32 - half);
    if size.is_finite() { Ok(size) } else { Err(ArithmeticError::NotFinite) }
}
