//! Expressions by binding power, worked out while they are read.

use std::cmp::Ordering;

use jarvis_prompt::number::{Operator, Work};
use num_traits::ToPrimitive;

use super::CalcError;
use super::lexer::Token;
use super::value::{Num, Wrong};
use crate::hub::Function;

/// The deepest nesting.
const DEPTH: usize = 64;

#[derive(Debug, Clone)]
enum Value {
    Number(Num),
    List(Vec<Num>),
}

pub(super) struct Parser<'t> {
    tokens: &'t [(usize, Token)],
    next: usize,
    depth: usize,
    work: Work,
}

/// Binding powers of what stands between two operands: left, right, and the operation.
fn between(mark: &str) -> Option<(u8, u8, Operator)> {
    Some(match mark {
        "+" => (1, 2, Operator::Add),
        "-" => (1, 2, Operator::Subtract),
        "*" => (3, 4, Operator::Multiply),
        "/" => (3, 4, Operator::Divide),
        "//" => (3, 4, Operator::FloorDivide),
        "%" => (3, 4, Operator::Remainder),
        // From the right, and tighter than a sign before it: -2^2 is -4.
        "^" => (8, 7, Operator::Power),
        _ => return None,
    })
}

/// How tightly a sign binds what follows it.
const SIGN: u8 = 5;

impl<'t> Parser<'t> {
    pub(super) fn new(tokens: &'t [(usize, Token)]) -> Parser<'t> {
        Parser { tokens, next: 0, depth: 0, work: Work::default() }
    }

    pub(super) fn whole(mut self) -> Result<Num, CalcError> {
        let value = self.expression(0)?;
        match self.peek() {
            None => self.number(value, 1),
            Some(Token::Mark(",")) => {
                Err(self.fail("a comma parts arguments of functions; write numbers without commas inside"))
            }
            Some(Token::Mark(mark)) => Err(self.fail(format!("`{mark}` is not expected here"))),
            Some(Token::Number(_)) => Err(self.fail("an operator is missing before this number")),
            Some(Token::Name(name)) => Err(self.fail(format!("an operator is missing before `{name}`"))),
        }
    }

    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.next).map(|token| &token.1)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |token| token.0)
    }

    fn fail(&self, what: impl Into<String>) -> CalcError {
        CalcError::new(self.place(), what)
    }

    fn take(&mut self, mark: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Mark(next)) if *next == mark);
        self.next += usize::from(is);
        is
    }

    fn number(&self, value: Value, at: usize) -> Result<Num, CalcError> {
        match value {
            Value::Number(number) => Ok(number),
            Value::List(_) => {
                Err(CalcError::new(at, "a list is no number; put it into a function, such as sum([1, 2])"))
            }
        }
    }

    fn expression(&mut self, least: u8) -> Result<Value, CalcError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fail(format!("brackets, signs and powers are nested more than {DEPTH} deep")));
        }
        let begin = self.place();
        let mut value = self.operand()?;
        loop {
            if self.take("!") {
                let at = self.place();
                let number = self.number(value, begin)?;
                value = Value::Number(number.factorial(&mut self.work).map_err(|what| CalcError::new(at, what))?);
                continue;
            }
            let Some(Token::Mark(mark)) = self.peek() else { break };
            let Some((_, right, operator)) = between(mark).filter(|(left, _, _)| *left >= least) else { break };
            let at = self.place();
            self.next += 1;
            let one = self.number(value, begin)?;
            let after = self.place();
            let other = self.expression(right)?;
            let other = self.number(other, after)?;
            value =
                Value::Number(one.apply(operator, &other, &mut self.work).map_err(|what| CalcError::new(at, what))?);
        }
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<Value, CalcError> {
        let at = self.place();
        let Some(token) = self.peek() else {
            return Err(self.fail(if self.tokens.is_empty() {
                "there is no expression"
            } else {
                "something is missing behind this"
            }));
        };
        self.next += 1;
        match token {
            Token::Number(number) => Ok(Value::Number(number.clone())),
            Token::Mark("-") => {
                let value = self.expression(SIGN)?;
                Ok(Value::Number(self.number(value, at)?.negated()))
            }
            Token::Mark("+") => self.expression(SIGN),
            Token::Mark("(") => {
                let value = self.expression(0)?;
                self.close(")", at)?;
                Ok(value)
            }
            Token::Mark("[") => self.list("]", at).map(Value::List),
            Token::Mark(mark) => Err(CalcError::new(at, format!("a number is expected here, and not `{mark}`"))),
            Token::Name(name) => self.named(name, at).map(Value::Number),
        }
    }

    fn close(&mut self, mark: &str, opened: usize) -> Result<(), CalcError> {
        if self.take(mark) {
            return Ok(());
        }
        if matches!(self.peek(), Some(Token::Mark(","))) {
            return Err(self.fail("a comma parts arguments of functions; write numbers without commas inside"));
        }
        Err(CalcError::new(opened, format!("the bracket that opens here is not closed with `{mark}`")))
    }

    /// Numbers up to a closing bracket; lists among them are taken apart.
    fn list(&mut self, mark: &str, opened: usize) -> Result<Vec<Num>, CalcError> {
        let mut numbers = Vec::new();
        if self.take(mark) {
            return Ok(numbers);
        }
        loop {
            match self.expression(0)? {
                Value::Number(number) => numbers.push(number),
                Value::List(more) => numbers.extend(more),
            }
            if !self.take(",") {
                break;
            }
            if self.take(mark) {
                return Ok(numbers);
            }
        }
        self.close(mark, opened)?;
        Ok(numbers)
    }

    fn named(&mut self, name: &str, at: usize) -> Result<Num, CalcError> {
        match name {
            "pi" | "π" => return Ok(Num::Float(std::f64::consts::PI)),
            "e" => return Ok(Num::Float(std::f64::consts::E)),
            _ => {}
        }
        let opened = self.place();
        if !self.take("(") {
            let what =
                format!("`{name}` is neither a number, a constant nor a function with its arguments in brackets");
            return Err(CalcError::new(at, what));
        }
        let given = self.list(")", opened)?;
        self.function(name, &given).map_err(|what| CalcError::new(at, what))
    }

    fn function(&mut self, name: &str, given: &[Num]) -> Result<Num, Wrong> {
        let one = || match given {
            [one] => Ok(one),
            _ => Err(format!("{name} takes one number, and has {}", given.len())),
        };
        let some = || match given {
            [] => Err(format!("{name} needs a number")),
            _ => Ok(given),
        };
        match name {
            "sum" => self.fold(Operator::Add, 0, given),
            "product" | "prod" => self.fold(Operator::Multiply, 1, given),
            "count" | "len" => Ok(Num::int(given.len())),
            "min" => self.least(some()?, Ordering::Less),
            "max" => self.least(some()?, Ordering::Greater),
            "mean" | "avg" | "average" => {
                let sum = self.fold(Operator::Add, 0, some()?)?;
                sum.apply(Operator::Divide, &Num::int(given.len()), &mut self.work)
            }
            "median" => {
                let mut sorted = some()?.to_vec();
                sorted.sort_by(Num::compare);
                let half = sorted.len() / 2;
                match (sorted.get(half.wrapping_sub(1)), sorted.get(half)) {
                    (Some(low), Some(high)) if sorted.len().is_multiple_of(2) => {
                        let sum = low.apply(Operator::Add, high, &mut self.work)?;
                        sum.apply(Operator::Divide, &Num::int(2), &mut self.work)
                    }
                    (_, Some(middle)) => Ok(middle.clone()),
                    (_, None) => Err(format!("{name} needs a number")),
                }
            }
            "round" => match given {
                [number] => number.rounded(0),
                [number, places] => {
                    let places = places.as_int().and_then(ToPrimitive::to_u32).filter(|places| *places <= 100);
                    number.rounded(places.ok_or("round takes places from 0 to 100")?)
                }
                _ => Err("round takes a number and, if wanted, how many places".to_owned()),
            },
            "abs" => Ok(one()?.clone().abs()),
            "floor" => one()?.whole(false),
            "ceil" => one()?.whole(true),
            "sqrt" => {
                one()?;
                Num::hub(Function::Sqrt, given)
            }
            "ln" => {
                one()?;
                Num::hub(Function::Ln, given)
            }
            "log" => Num::hub(Function::Log, given),
            "gcd" => Num::common(Function::Gcd, given, &mut self.work),
            "lcm" => Num::common(Function::Lcm, given, &mut self.work),
            "exp" => one()?.map(f64::exp),
            "sin" => one()?.map(f64::sin),
            "cos" => one()?.map(f64::cos),
            "tan" => one()?.map(f64::tan),
            "factorial" => one()?.factorial(&mut self.work),
            _ => Err(format!(
                "there is no function `{}`; there are sum, product, min, max, mean, median, count, round, floor, ceil, abs, \
                 sqrt, ln, log, exp, sin, cos, tan, gcd, lcm and factorial",
                name.chars().take(40).collect::<String>()
            )),
        }
    }

    fn fold(&mut self, operator: Operator, start: u32, given: &[Num]) -> Result<Num, Wrong> {
        given.iter().try_fold(Num::int(start), |value, next| value.apply(operator, next, &mut self.work))
    }

    fn least(&self, given: &[Num], order: Ordering) -> Result<Num, Wrong> {
        let mut best = given.first().ok_or("a number is needed")?;
        for number in given {
            if number.compare(best) == order {
                best = number;
            }
        }
        Ok(best.clone())
    }
}
