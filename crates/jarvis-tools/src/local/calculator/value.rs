//! Numbers of expressions: decimals with all their digits, and floats.

use std::cmp::Ordering;

use jarvis_prompt::literal::Literal;
use jarvis_prompt::number::{ArithmeticError, Number, Operator, Work, gcd, lcm};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::hub::{self, Function, Mode};

/// The most decimal places that are kept exactly; more become a float.
const PLACES: u32 = 400;
/// The most digits of a whole number that are shown.
const SHOWN: usize = 3_000;
/// The largest number whose factorial is worked out: 9,131 digits.
const FACTORIAL: u32 = 3_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Num {
    /// Digits divided by ten to the power of the places; with the fewest places.
    Exact { digits: BigInt, places: u32 },
    /// Any other number; finite.
    Float(f64),
}

pub(super) type Wrong = String;

fn ten(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

fn float(value: f64) -> Result<Num, Wrong> {
    if value.is_finite() { Ok(Num::Float(value)) } else { Err("the result is beyond about 1.8e308".to_owned()) }
}

impl From<Number> for Num {
    fn from(number: Number) -> Num {
        match number {
            Number::Int(digits) => Num::Exact { digits, places: 0 },
            Number::Float(float) => Num::Float(float),
        }
    }
}

impl Num {
    pub(super) fn int(int: impl Into<BigInt>) -> Num {
        Num::Exact { digits: int.into(), places: 0 }
    }

    /// Digits with a point before the last `places`; below zero they are zeros behind them.
    pub(super) fn decimal(mut digits: BigInt, mut places: i64) -> Result<Num, Wrong> {
        if digits.is_zero() {
            return Ok(Num::int(0));
        }
        if places < 0 {
            let zeros = u32::try_from(-places).ok().filter(|zeros| *zeros <= PLACES);
            let zeros = zeros.ok_or("the number is too large")?;
            return Ok(Num::int(digits * ten(zeros)));
        }
        // Zeros at the end, in runs that halve: one at a time they would be many passes over long numbers.
        let most = digits.trailing_zeros().unwrap_or(0).min(u64::try_from(places).unwrap_or(0));
        let mut run = u32::try_from(most).unwrap_or(u32::MAX).checked_next_power_of_two().unwrap_or(1 << 31);
        while run > 0 {
            if i64::from(run) <= places && u64::from(run) <= most {
                let unit = ten(run);
                let rest = &digits / &unit;
                if &rest * unit == digits {
                    digits = rest;
                    places -= i64::from(run);
                    continue;
                }
            }
            run /= 2;
        }
        match u32::try_from(places).ok().filter(|places| *places <= PLACES) {
            Some(places) => Ok(Num::Exact { digits, places }),
            // Beyond floats it is nothing at all.
            None => float(format!("{digits}e-{places}").parse().unwrap_or(0.0)),
        }
    }

    fn nearest(&self) -> Result<f64, Wrong> {
        match self {
            Num::Float(float) => Ok(*float),
            Num::Exact { digits, places: 0 } => Number::Int(digits.clone()).to_f64().map_err(|error| error.to_string()),
            Num::Exact { digits, places } => ratio(digits.clone(), ten(*places)),
        }
    }

    fn number(&self) -> Result<Number, Wrong> {
        match self {
            Num::Exact { digits, places: 0 } => Ok(Number::Int(digits.clone())),
            Num::Exact { .. } | Num::Float(_) => self.nearest().map(Number::Float),
        }
    }

    pub(super) fn negated(self) -> Num {
        match self {
            Num::Exact { digits, places } => Num::Exact { digits: -digits, places },
            Num::Float(float) => Num::Float(-float),
        }
    }

    pub(super) fn abs(self) -> Num {
        match self {
            Num::Exact { digits, places } => Num::Exact { digits: digits.abs(), places },
            Num::Float(float) => Num::Float(float.abs()),
        }
    }

    pub(super) fn apply(&self, operator: Operator, other: &Num, work: &mut Work) -> Result<Num, Wrong> {
        let (Num::Exact { digits: left, places: above }, Num::Exact { digits: right, places: below }) = (self, other)
        else {
            let result = self.number()?.apply(operator, &other.number()?, work);
            return result.map(Num::from).map_err(|error| error.to_string());
        };
        let most = (*above).max(*below);
        let scaled = || (left * ten(most - above), right * ten(most - below));
        let mut whole = |left: BigInt, right: BigInt| {
            Number::Int(left).apply(operator, &Number::Int(right), work).map_err(|error| error.to_string())
        };
        let decimal = |number: Number, places: u32| match number {
            Number::Int(digits) => Num::decimal(digits, i64::from(places)),
            Number::Float(value) => float(value),
        };
        match operator {
            Operator::Add | Operator::Subtract | Operator::Remainder => {
                let (left, right) = scaled();
                decimal(whole(left, right)?, most)
            }
            Operator::Divide | Operator::FloorDivide => {
                let (left, right) = scaled();
                whole(left, right).map(Num::from)
            }
            Operator::Multiply => decimal(whole(left.clone(), right.clone())?, above + below),
            Operator::Power => match right.to_u32() {
                Some(times) if *below == 0 && above.saturating_mul(times) <= PLACES => {
                    decimal(whole(left.clone(), right.clone())?, above * times)
                }
                Some(_) | None => self
                    .number()?
                    .apply(operator, &other.number()?, work)
                    .map(Num::from)
                    .map_err(|error| error.to_string()),
            },
        }
    }

    pub(super) fn compare(&self, other: &Num) -> Ordering {
        match (self, other) {
            (Num::Exact { digits: left, places: above }, Num::Exact { digits: right, places: below }) => {
                let most = (*above).max(*below);
                (left * ten(most - above)).cmp(&(right * ten(most - below)))
            }
            (left, right) => {
                // What is beyond floats is beyond every float.
                let nearest = |num: &Num| match (num.nearest(), num) {
                    (Ok(float), _) => float,
                    (Err(_), Num::Exact { digits, .. }) if digits.is_negative() => f64::NEG_INFINITY,
                    (Err(_), Num::Exact { .. } | Num::Float(_)) => f64::INFINITY,
                };
                nearest(left).total_cmp(&nearest(right))
            }
        }
    }

    /// Rounded to so many places, halves away from zero.
    pub(super) fn rounded(&self, to: u32) -> Result<Num, Wrong> {
        let Num::Exact { digits, places } = self.clone().exact()? else { return Ok(self.clone()) };
        if places <= to {
            return Ok(Num::Exact { digits, places });
        }
        let unit = ten(places - to);
        let half: BigInt = &unit / 2_u32;
        let away = if digits.is_negative() { digits - half } else { digits + half };
        Num::decimal(away / unit, i64::from(to))
    }

    /// The whole number not above it, or not below it.
    pub(super) fn whole(&self, up: bool) -> Result<Num, Wrong> {
        let exact = if up { self.clone().exact()?.negated() } else { self.clone().exact()? };
        let floor = exact.apply(Operator::FloorDivide, &Num::int(1), &mut Work::default())?;
        Ok(if up { floor.negated() } else { floor })
    }

    /// A float as the decimal that it is shown as.
    fn exact(self) -> Result<Num, Wrong> {
        let Num::Float(float) = self else { return Ok(self) };
        let text = float.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = BigInt::parse_bytes(format!("{whole}{fraction}").as_bytes(), 10);
        let digits = digits.expect("a finite float is shown in digits");
        Num::decimal(digits, i64::try_from(fraction.len()).unwrap_or(i64::MAX))
    }

    pub(super) fn as_int(&self) -> Option<&BigInt> {
        match self {
            Num::Exact { digits, places: 0 } => Some(digits),
            Num::Exact { .. } | Num::Float(_) => None,
        }
    }

    pub(super) fn factorial(&self, work: &mut Work) -> Result<Num, Wrong> {
        let of = self.as_int().and_then(ToPrimitive::to_u32).filter(|of| *of <= FACTORIAL);
        let of = of.ok_or_else(|| format!("factorials are of whole numbers from 0 to {FACTORIAL}"))?;
        product(1, of.max(1), work).map(Num::from).map_err(|error| error.to_string())
    }

    pub(super) fn common(function: Function, given: &[Num], work: &mut Work) -> Result<Num, Wrong> {
        let ints: Option<Vec<&BigInt>> = given.iter().map(Num::as_int).collect();
        // The hub says what is wrong with other numbers, and with none.
        let (first, second, rest) = match ints.as_deref() {
            Some([first, second, rest @ ..]) => (first, second, rest),
            Some([only]) => return Ok(Num::int((*only).clone())),
            Some([]) | None => return Num::hub(function, given),
        };
        let join = if function == Function::Gcd { gcd } else { lcm };
        let start = join(first, second, work);
        let joined = start.and_then(|start| rest.iter().try_fold(start, |value, next| join(&value, next, work)));
        joined.map(Num::int).map_err(|error| error.to_string())
    }

    pub(super) fn hub(function: Function, given: &[Num]) -> Result<Num, Wrong> {
        let given: Result<Vec<Literal>, Wrong> = given.iter().map(|num| num.number().map(Literal::from)).collect();
        hub::call(function, &given?, Mode::Precise).map(|result| Num::from(result.value)).map_err(|error| error.message)
    }

    pub(super) fn map(&self, function: impl Fn(f64) -> f64) -> Result<Num, Wrong> {
        float(function(self.nearest()?))
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Num::Float(float) => hub::significant(*float),
            Num::Exact { digits, places } => {
                let text = digits.magnitude().to_string();
                let sign = if digits.is_negative() { "-" } else { "" };
                let places = usize::try_from(*places).unwrap_or(usize::MAX);
                if text.len() > SHOWN {
                    let (first, rest) = text.split_at_checked(1).unwrap_or((&text, ""));
                    let more = rest.get(..11).unwrap_or(rest);
                    let power = text.len() - 1 - places.min(text.len() - 1);
                    return format!("about {sign}{first}.{more}e{power} ({} digits)", text.len());
                }
                if places == 0 {
                    return format!("{sign}{text}");
                }
                let padded = format!("{text:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at_checked(padded.len() - places).unwrap_or((&padded, ""));
                format!("{sign}{whole}.{fraction}")
            }
        }
    }
}

/// The product of whole numbers in a row, above zero; halves are multiplied, so that most operands are short.
fn product(from: u32, to: u32, work: &mut Work) -> Result<Number, ArithmeticError> {
    // So many factors are no work to speak of.
    if to - from < 16 {
        return Ok(Number::Int((from..=to).fold(BigInt::one(), |product, next| product * next)));
    }
    let middle = from.midpoint(to);
    let left = product(from, middle, work)?;
    let right = product(middle + 1, to, work)?;
    left.apply(Operator::Multiply, &right, work)
}

fn ratio(over: BigInt, under: BigInt) -> Result<f64, Wrong> {
    let quotient = Number::Int(over).apply(Operator::Divide, &Number::Int(under), &mut Work::default());
    quotient.and_then(|number| number.to_f64()).map_err(|error| error.to_string())
}
