//! `calculator`: arithmetic as people write it, worked out exactly where it can be.
//!
//! A small grammar of its own: nothing is ever evaluated as code. Whole numbers and decimals are exact; division, roots
//! and the like are correctly rounded floats. What an operation would cost is known before it is done.

mod lexer;
mod parser;
mod value;

use serde_json::{Value, json};

use super::{NativeTool, Work, exact, native, wrong};
use crate::{Observation, Scope};

/// The longest expression, in characters.
const LONGEST: usize = 20_000;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {what}")]
pub struct CalcError {
    /// Where, in characters from 1.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

impl CalcError {
    fn new(at: usize, what: impl Into<String>) -> CalcError {
        CalcError { at, what: what.into() }
    }
}

/// Works out an expression and shows the result: all digits of whole numbers and decimals, 12 of other numbers.
///
/// # Errors
/// When it is no expression, has no real value, or its value would be too long or too much work.
pub fn evaluate(expression: &str) -> Result<String, CalcError> {
    if expression.chars().nth(LONGEST).is_some() {
        return Err(CalcError::new(LONGEST, format!("the expression is longer than {LONGEST} characters")));
    }
    let tokens = lexer::tokens(expression)?;
    parser::Parser::new(&tokens).whole().map(|number| number.shown())
}

/// The tool `calculator`.
pub(super) fn tool() -> NativeTool {
    let spec = native(
        "calculator",
        "Works out an arithmetic expression exactly: + - * / // % ^, brackets, factorials, lists, the constants pi and \
         e, and the functions sum, product, min, max, mean, median, count, round, floor, ceil, abs, sqrt, ln, log, \
         exp, sin, cos, tan (of radians), gcd, lcm. Numbers are written without commas inside.",
        "a number must be worked out from others; never calculate yourself",
        json!({
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "such as (2 + 3) * 4, mean(1, 2, 6), max([3, 9])"}},
            "required": ["expression"],
        }),
        json!({"expression": "sum(12.5, 30, 7) / 3"}),
    );
    let prepare = |input: &Value, _: &Scope| {
        let expression = match input.get("expression") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
                return Err(wrong("`expression` must be a text such as (2 + 3) * 4"));
            }
        };
        let work = move || {
            let text = evaluate(&expression).map_err(|error| wrong(format!("the expression has no value: {error}")))?;
            let value = exact(&text);
            Ok(Observation { value, ..Observation::text(text) })
        };
        Ok(Box::new(work) as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}
