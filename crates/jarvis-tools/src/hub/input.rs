//! Arguments as models write them: the list of numbers in a parameters object, and numbers written as texts.

use jarvis_prompt::literal::Literal;
use jarvis_prompt::number::Number;
use num_bigint::BigInt;

use super::error::{HubError, HubFault};
use super::function::Function;

/// Names that the list may have, in any case.
const NAMES: [&str; 2] = ["input", "args"];

/// The list of arguments in a call's parameters: the value under `input` or `args` in any case, else the only list of
/// the object. A list is taken as it is.
///
/// # Errors
/// [`HubFault::Type`] when there is no such list, or several.
pub fn arguments(parameters: &Literal) -> Result<&[Literal], HubError> {
    let fail = |what: String| Err(HubError::bare(HubFault::Type, what));
    let fields = match parameters {
        Literal::List(items) => return Ok(items),
        Literal::Map(fields) => fields,
        other @ (Literal::Null | Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::Text(_)) => {
            return fail(format!("a list of numbers is wanted, and {} was given", kind(other)));
        }
    };
    if let Some(value) = NAMES.iter().find_map(|name| parameters.field(name)) {
        return match value.as_list() {
            Some(items) => Ok(items),
            None => fail(format!("`input` must be a list of numbers, and is {}", kind(value))),
        };
    }
    let mut lists = fields.values().filter_map(Literal::as_list);
    match (lists.next(), lists.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => fail("the parameters hold no list of numbers under `input`".to_owned()),
        (Some(_), Some(_)) => fail("the parameters hold several lists, and none is named `input`".to_owned()),
    }
}

/// An argument as a number; it is counted from 1 in the message.
pub(super) fn number(function: Function, argument: usize, value: &Literal) -> Result<Number, HubError> {
    let found = match value {
        Literal::Int(int) => Some(Number::Int(int.clone())),
        Literal::Float(float) => Some(Number::Float(*float)),
        Literal::Bool(truth) => Some(Number::Int(BigInt::from(u8::from(*truth)))),
        Literal::Text(text) => written(text),
        Literal::Null | Literal::List(_) | Literal::Map(_) => None,
    };
    found.ok_or_else(|| {
        let what = format!("argument {argument} must be a number, and is {}", kind(value));
        HubError::new(HubFault::Type, function, what)
    })
}

/// An argument as a whole number: one, or a float without a fraction.
pub(super) fn int(function: Function, argument: usize, value: &Literal) -> Result<BigInt, HubError> {
    let number = number(function, argument, value)?;
    number.to_int().ok_or_else(|| {
        let what = format!("argument {argument} must be a whole number, and is {}", kind(value));
        HubError::new(HubFault::Type, function, what)
    })
}

fn kind(value: &Literal) -> String {
    match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(_) => "a truth value".to_owned(),
        Literal::Int(_) => "a whole number".to_owned(),
        Literal::Float(float) => format!("the number {float:?}"),
        Literal::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Literal::List(_) => "a list".to_owned(),
        Literal::Map(_) => "an object".to_owned(),
    }
}

/// The number that a text is: an optional sign, digits with or without commas between thousands, an optional fraction
/// and exponent.
pub(crate) fn written(text: &str) -> Option<Number> {
    let text = text.trim();
    let (negative, size) = match text.strip_prefix(['+', '-']) {
        Some(size) => (text.starts_with('-'), size),
        None => (false, text),
    };
    let mark = size.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(size.len());
    let (whole, rest) = size.split_at_checked(mark)?;
    let exponent = rest.find(['e', 'E']).unwrap_or(rest.len());
    let (fraction, exponent) = rest.split_at_checked(exponent)?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_is_right = exponent.is_empty() || {
        let times = exponent.get(1..).expect("an exponent begins with its letter");
        let times = times.strip_prefix(['+', '-']).unwrap_or(times);
        !times.is_empty() && digits(times)
    };
    let fraction_is_right = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(digits);
    if !is_grouped(whole) || !fraction_is_right || !exponent_is_right {
        return None;
    }
    let plain = size.replace(',', "");
    let number = match Literal::parse(&plain).ok()? {
        Literal::Int(int) => Number::Int(int),
        Literal::Float(float) => Number::Float(float),
        Literal::Null | Literal::Bool(_) | Literal::Text(_) | Literal::List(_) | Literal::Map(_) => return None,
    };
    Some(if negative { number.negated() } else { number })
}

/// Whether commas stand only before groups of three digits.
fn is_grouped(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().expect("a split has a first part");
    let mut rest = groups.peekable();
    rest.peek().is_none() || ((1..=3).contains(&first.len()) && rest.all(|group| group.len() == 3))
}
