//! Expressions as tokens with their places.

use jarvis_plan::narrow;
use num_bigint::BigInt;

use super::CalcError;
use super::value::Num;

/// Operators and brackets, the longer ones first.
const MARKS: [&str; 14] = ["**", "//", "+", "-", "*", "/", "%", "^", "!", "(", ")", "[", "]", ","];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A number.
    Number(Num),
    /// A word: the name of a function or constant, in lower case.
    Name(String),
    /// One of [`MARKS`], `^` for `**`.
    Mark(&'static str),
}

/// The tokens of an expression, each with its place in characters from 1; an equals sign at the end is left out.
pub(super) fn tokens(expression: &str) -> Result<Vec<(usize, Token)>, CalcError> {
    let chars: Vec<char> = expression.chars().map(plain).collect();
    let end = chars.iter().rposition(|c| !c.is_whitespace() && *c != '=').map_or(0, |last| last + 1);
    let chars = chars.get(..end).expect("the end is that of a character");
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let place = at + 1;
        let rest = chars.get(at..).expect("a character stands here");
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        if c.is_whitespace() {
            at += 1;
        } else if c.is_ascii_digit() || (c == '.' && next.is_ascii_digit()) {
            let (number, length) = number(rest, place)?;
            tokens.push((place, Token::Number(number)));
            at += length;
        } else if c.is_alphabetic() || c == '_' {
            let word = |c: &&char| c.is_alphanumeric() || **c == '_';
            let name: String = rest.iter().take_while(word).collect();
            at += name.chars().count();
            tokens.push((place, Token::Name(name.to_lowercase())));
        } else {
            let pair = String::from_iter([c, next]);
            let mark = MARKS.into_iter().find(|mark| pair.starts_with(mark));
            let mark = mark.ok_or_else(|| CalcError::new(place, format!("`{c}` means nothing here")))?;
            at += mark.len();
            tokens.push((place, Token::Mark(if mark == "**" { "^" } else { mark })));
        }
    }
    Ok(tokens)
}

/// Typographic signs and full-width forms as their plain equivalents.
fn plain(c: char) -> char {
    match narrow(c) {
        '×' | '·' | '⋅' | '∙' | '∗' => '*',
        '÷' | '∕' => '/',
        '\u{2212}' | '\u{2010}'..='\u{2014}' => '-',
        '、' => ',',
        '【' | '{' => '[',
        '】' | '}' => ']',
        'π' | 'Π' => 'π',
        c => c,
    }
}

/// A number at the beginning of the characters, and how many it takes.
fn number(chars: &[char], place: usize) -> Result<(Num, usize), CalcError> {
    let digits = |from: usize| chars.iter().skip(from).take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    let mut places = 0;
    if chars.get(length) == Some(&'.') {
        places = digits(length + 1);
        length += 1 + places;
    }
    let exact: String = chars.iter().take(length).filter(|c| c.is_ascii_digit()).collect();
    let mut power: i64 = 0;
    if matches!(chars.get(length), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(length + 1), Some('+' | '-')));
        let count = digits(length + 1 + sign);
        if count > 0 {
            let text: String = chars.iter().skip(length + 1).take(sign + count).collect();
            power = text.parse().map_err(|_| CalcError::new(place, "the exponent is too large"))?;
            length += 1 + sign + count;
        }
    }
    if let Some(c) = chars.get(length).filter(|c| c.is_alphabetic() || matches!(c, '.' | '_')) {
        return Err(CalcError::new(place + length, format!("`{c}` cannot follow a number; write `*` to multiply")));
    }
    let digits = BigInt::parse_bytes(exact.as_bytes(), 10).ok_or_else(|| CalcError::new(place, "this is no number"))?;
    let places = i64::try_from(places).unwrap_or(i64::MAX).saturating_sub(power);
    Num::decimal(digits, places).map(|number| (number, length)).map_err(|what| CalcError::new(place, what))
}
