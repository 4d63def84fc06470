//! What each function works out, with what is allowed decided before the work.

use jarvis_prompt::literal::Literal;
use jarvis_prompt::number::{self, ArithmeticError, MAX_BITS, Number, Operator, Work};
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::error::{HubError, HubFault};
use super::function::Function;
use super::{Mode, input};

/// Bits from which a whole number is surely beyond floats; results that are surely longer are not worked out.
const BEYOND: f64 = 1100.0;

pub(super) fn value(function: Function, given: &[Literal], mode: Mode) -> Result<Number, HubError> {
    let call = Call { function, given };
    let value = match function {
        Function::Add => call.fold(Some(Number::Int(BigInt::zero())), Operator::Add),
        Function::Subtract => call.fold(None, Operator::Subtract),
        Function::Multiply => call.fold(None, Operator::Multiply),
        Function::Divide => call.fold(None, Operator::Divide),
        Function::Power => call.fold(None, Operator::Power),
        Function::Sqrt => call.sqrt(),
        Function::Log => call.log(mode),
        Function::Ln => call.positive(0).map(|number| Number::Float(number::ln(&number))),
        Function::Lcm => call.fold_ints(number::lcm),
        Function::Gcd => call.fold_ints(number::gcd),
        Function::Remainder => call.remainder(),
        Function::Choose | Function::Permutate => call.count(),
    }?;
    match value.to_f64() {
        Ok(_) => Ok(value),
        Err(_) => Err(call.beyond()),
    }
}

struct Call<'a> {
    function: Function,
    given: &'a [Literal],
}

impl Call<'_> {
    fn fail(&self, fault: HubFault, what: impl std::fmt::Display) -> HubError {
        HubError::new(fault, self.function, what)
    }

    fn beyond(&self) -> HubError {
        self.fail(HubFault::Overflow, "the result is beyond about 1.8e308")
    }

    /// Fails unless there are at least so many arguments; more may be ignored.
    fn at_least(&self, count: usize) -> Result<(), HubError> {
        if self.given.len() >= count {
            return Ok(());
        }
        let wanted = if count == 1 { "at least one number is" } else { "at least two numbers are" };
        Err(self.fail(HubFault::Arity, format_args!("{wanted} wanted, and {} given", self.were())))
    }

    fn were(&self) -> String {
        match self.given.len() {
            0 => "none was".to_owned(),
            1 => "one was".to_owned(),
            more => format!("{more} were"),
        }
    }

    /// The argument at a place, counted from 0; it is there.
    fn given(&self, at: usize) -> &Literal {
        self.given.get(at).unwrap_or(&Literal::Null)
    }

    fn number(&self, at: usize) -> Result<Number, HubError> {
        input::number(self.function, at + 1, self.given(at))
    }

    fn int(&self, at: usize) -> Result<BigInt, HubError> {
        input::int(self.function, at + 1, self.given(at))
    }

    /// From the left, beginning with a number or the first argument.
    fn fold(&self, start: Option<Number>, operator: Operator) -> Result<Number, HubError> {
        let (mut value, from) = match start {
            Some(start) => (start, 0),
            None => {
                self.at_least(1)?;
                (self.number(0)?, 1)
            }
        };
        let mut work = Work::default();
        for at in from..self.given.len() {
            let next = self.number(at)?;
            if operator == Operator::Power && at + 1 == self.given.len() && is_surely_beyond(&value, &next) {
                return Err(self.beyond());
            }
            value =
                value.apply(operator, &next, &mut work).map_err(|error| HubError::at(self.function, at + 1, error))?;
        }
        Ok(value)
    }

    /// From the left, on whole numbers; a single argument is given back as it is.
    fn fold_ints(
        &self,
        join: fn(&BigInt, &BigInt, &mut Work) -> Result<BigInt, ArithmeticError>,
    ) -> Result<Number, HubError> {
        self.at_least(1)?;
        if self.given.len() == 1 {
            return self.number(0);
        }
        let mut value = self.int(0)?;
        let mut work = Work::default();
        for at in 1..self.given.len() {
            let next = self.int(at)?;
            value = join(&value, &next, &mut work).map_err(|error| HubError::at(self.function, at + 1, error))?;
        }
        Ok(Number::Int(value))
    }

    fn sqrt(&self) -> Result<Number, HubError> {
        self.at_least(1)?;
        let number = self.number(0)?;
        if number.is_negative() {
            return Err(self.fail(HubFault::Domain, "a negative number has no real square root (argument 1)"));
        }
        let float = number.to_f64().map_err(|error| HubError::at(self.function, 1, error))?;
        Ok(Number::Float(float.sqrt()))
    }

    /// An argument that must be above zero.
    fn positive(&self, at: usize) -> Result<Number, HubError> {
        self.at_least(at + 1)?;
        let number = self.number(at)?;
        if number.is_negative() || number.is_zero() {
            let what = format!("logarithms are of numbers above zero (argument {})", at + 1);
            return Err(self.fail(HubFault::Domain, what));
        }
        Ok(number)
    }

    fn log(&self, mode: Mode) -> Result<Number, HubError> {
        if !(1..=2).contains(&self.given.len()) {
            let what = format!("one number or two are wanted, and {} given", self.were());
            return Err(self.fail(HubFault::Arity, what));
        }
        let number = self.positive(0)?;
        let base = if self.given.len() == 2 { self.positive(1)? } else { Number::Int(BigInt::from(10)) };
        let below = number::ln(&base);
        if below == 0.0 {
            return Err(self.fail(HubFault::Domain, "the base of a logarithm cannot be 1 (argument 2)"));
        }
        let quotient = number::ln(&number) / below;
        Ok(Number::Float(match mode {
            Mode::Compat => quotient,
            Mode::Precise => exact_log(&number, &base, quotient),
        }))
    }

    fn remainder(&self) -> Result<Number, HubError> {
        self.at_least(2)?;
        let (number, divisor) = (self.number(0)?, self.number(1)?);
        number
            .apply(Operator::Remainder, &divisor, &mut Work::default())
            .map_err(|error| HubError::at(self.function, 2, error))
    }

    /// Choices or arrangements of r out of n.
    fn count(&self) -> Result<Number, HubError> {
        self.at_least(2)?;
        let (n, r) = (self.int(0)?, self.int(1)?);
        for (at, number) in [(1, &n), (2, &r)] {
            if number.is_negative() {
                let what = format!("numbers of things cannot be negative (argument {at})");
                return Err(self.fail(HubFault::Domain, what));
            }
        }
        if r > n {
            return Ok(Number::Int(BigInt::zero()));
        }
        let rest = &n - &r;
        let choose = self.function == Function::Choose;
        let steps = if choose { (&r).min(&rest) } else { &r };
        // The least that the result can be, in bits: (n / steps)^steps choices; arrangements are at least as many as
        // (rest + 1)^steps, and as steps! and so (steps / e)^steps.
        let times = steps.to_f64().unwrap_or(f64::INFINITY);
        let log2 = |int: &BigInt| if int.is_zero() { 0.0 } else { number::log2(int.magnitude()) };
        let each = if choose {
            log2(&n) - log2(steps)
        } else {
            log2(&(&rest + 1)).max(log2(steps) - std::f64::consts::LOG2_E)
        };
        let bits = if times == 0.0 { 0.0 } else { times * each };
        if bits > MAX_BITS as f64 {
            return Err(HubError::at(self.function, 2, ArithmeticError::TooLarge));
        }
        let (true, Some(steps)) = (bits < BEYOND, steps.to_u32()) else {
            return Err(self.beyond());
        };
        let mut result = BigInt::one();
        for step in 0..steps {
            result *= &n - step;
            if choose {
                // The product of so many neighbours is divisible by so many, at every step.
                result /= step + 1;
            }
        }
        Ok(Number::Int(result))
    }
}

/// Whether a power of whole numbers is beyond floats, and yet not so long that it is refused for its length.
fn is_surely_beyond(base: &Number, exponent: &Number) -> bool {
    match (base, exponent) {
        (Number::Int(base), Number::Int(exponent)) if !base.is_zero() && exponent.is_positive() => {
            let bits = exponent.to_f64().unwrap_or(f64::INFINITY) * number::log2(base.magnitude());
            bits > BEYOND && bits < MAX_BITS as f64
        }
        (Number::Int(_) | Number::Float(_), Number::Int(_) | Number::Float(_)) => false,
    }
}

/// A logarithm without the error of a quotient of two, where that can be known.
fn exact_log(number: &Number, base: &Number, quotient: f64) -> f64 {
    if base.to_int() == Some(BigInt::from(10)) {
        return number::log10(number);
    }
    let nearest = quotient.round();
    if (quotient - nearest).abs() > 1e-9 || nearest < 0.0 {
        return quotient;
    }
    let times = Number::Int(BigInt::from(nearest as i64));
    match base.to_int().map(|base| Number::Int(base).apply(Operator::Power, &times, &mut Work::default())) {
        Some(Ok(Number::Int(power))) if number.to_int() == Some(power.clone()) => nearest,
        Some(Ok(_) | Err(_)) | None => quotient,
    }
}
