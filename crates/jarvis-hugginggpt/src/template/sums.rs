//! Arithmetic that a request is made of, read into an expression of the calculator: operators and small numbers in words, shares,
//! figures of listed numbers. What is more than that is no sum.

use std::sync::LazyLock;

use jarvis_plan::{cardinal, pattern};
use jarvis_tools::local::evaluate;
use regex::Regex;

// A test runs each of them.
static ASKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:please|what is|what's|how much is|calculate|compute|work out|evaluate|сколько будет|чему равно|посчитай|вычисли|请|计算|算一下)\s*)+|\s*(?:[=?？。!]|等于多少|是多少)+\s*$",
    )
});
static SHARE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(\d+(?:\.\d+)?)\s*(?:%|percent|процент\p{L}*)\s*(?:of|от)\s*(\d+(?:\.\d+)?)"));
/// Operators in words.
static OPERATORS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\btimes\b|\bmultiplied by\b|умножить на|\bна\b|乘以?|[×·]|(?:\d\s*)?\bx\b", "*"),
        (r"\bdivided by\b|\bover\b|разделить на|除以|÷", "/"),
        (r"\bplus\b|\bплюс\b|加上?", "+"),
        (r"\bminus\b|\bминус\b|减去?|−", "-"),
        (r"\bto the power of\b|\bв степени\b|\*\*", "^"),
    ]
    .into_iter()
    .map(|(words, sign)| (pattern(words), sign))
    .collect()
});
static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(?:sqrt|abs|round|ln|log)?[\s(+-]*\d[\d.]*[\s)!]*";
    pattern(&format!(r"^\(*(?:{number}[+*/^-]\s*)+{number}$|^(?:sqrt|abs|round|ln)\(\s*-?\d[\d.]*\s*\)$"))
});
/// "Add 20% to 150", "150 plus 20 %".
static GROWN: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(\d+(?:\.\d+)?)";
    let percent = r"\s*(?:%|percent|процент\p{L}*)\s*";
    pattern(&format!(
        r"^(?:(?P<add>add|прибавь|добавь)|(?P<take>subtract|take|вычти|отними)) {number}{percent}(?:to|from|off|к|из|от) {number}$"
    ))
});
/// "The mean of 3, 5 and 10".
static LISTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:the )?(?:(?P<mean>mean|average|среднее(?: арифметическое)?|平均[值数]?)|(?P<sum>sum|total|сумма|总和|和)|(?P<median>median|медиана|中位数)|(?P<max>maximum|max|largest)|(?P<min>minimum|min|smallest)) (?:of |чисел )?((?:-?\d+(?:\.\d+)?(?:\s*(?:,|;|and|и|、|和)\s*)*){2,})$",
    )
});
/// A comma between digits is a decimal point where no list of numbers is meant.
static DECIMAL_COMMA: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\d),(\d)"));
static THOUSANDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d,\d{3}(?:\D|$)"));
/// Dates and telephone numbers look like differences and sums.
static NO_SUM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}$|^\+?\d{1,3}(?:[\s-]\d{2,4}){2,}$"));

/// The value of an expression, where the request is nothing else.
pub(super) fn sum(plain: &str) -> Option<String> {
    // The patterns are expensive to compile, and most requests hold no number.
    let is_number = |word: &str| word.contains(|ch: char| ch.is_ascii_digit()) || cardinal(word).is_some();
    if !plain.split(' ').any(is_number) {
        return None;
    }
    let asked = ASKS.replace_all(plain, "");
    let asked = asked.trim();
    if let Some(listed) = list(asked) {
        return Some(format!("{asked} = {}", evaluate(&listed).ok()?));
    }
    // "2,500" is one number or another.
    if THOUSANDS.is_match(asked) {
        return None;
    }
    let asked_plainly = DECIMAL_COMMA.replace_all(asked, "$1.$2");
    let numbered = numbers_in_words(&asked_plainly);
    if let Some(grown) = GROWN.captures(&numbered) {
        let part = |at: usize| grown.get(at).map_or("", |part| part.as_str());
        let sign = if grown.name("add").is_some() { "+" } else { "-" };
        return Some(format!("{asked} = {}", evaluate(&format!("{1} {sign} {1}*{0}/100", part(3), part(4))).ok()?));
    }
    let mut expression = SHARE.replace_all(&numbered, "($1/100*$2)").into_owned();
    for (words, sign) in OPERATORS.iter() {
        expression = words.replace_all(&expression, *sign).into_owned();
    }
    if NO_SUM.is_match(asked) || !EXPRESSION.is_match(&expression) {
        return None;
    }
    Some(format!("{asked} = {}", evaluate(&expression).ok()?))
}

/// A figure of listed numbers, as the calculator takes it.
fn list(asked: &str) -> Option<String> {
    let found = LISTED.captures(asked)?;
    let function = ["mean", "sum", "median", "max", "min"].into_iter().find(|name| found.name(name).is_some())?;
    let numbers = asked.get(found.name(function)?.end()..)?;
    let numbers: Vec<&str> = numbers
        .split(|ch: char| !(ch.is_ascii_digit() || ch == '.' || ch == '-'))
        .filter(|part| part.chars().any(|ch| ch.is_ascii_digit()))
        .collect();
    Some(format!("{function}({})", numbers.join(", ")))
}

/// Small numbers in words as figures: "два плюс два".
fn numbers_in_words(text: &str) -> String {
    let number = |word: &str| cardinal(word).map_or_else(|| word.to_owned(), |number| number.to_string());
    text.split(' ').map(number).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_worked_out() {
        let check = |text: &str, want: &str| assert_eq!(sum(&text.to_lowercase()).as_deref(), Some(want), "{text}");
        check("what is 15% of 80?", "15% of 80 = 12");
        check("2^65 - 1", "2^65 - 1 = 36893488147419103231");
        check("Сколько будет 14 умножить на 3?", "14 умножить на 3 = 42");
        check("计算 7 乘以 6", "7 乘以 6 = 42");
        check("(3+4)*2 =", "(3+4)*2 = 14");
        check("sqrt(144) + 2^10", "sqrt(144) + 2^10 = 1036");
        check("add 20% to 150", "add 20% to 150 = 180");
        check("take 10% off 200", "take 10% off 200 = 180");
        check("mean of 3, 5 and 10", "mean of 3, 5 and 10 = 6");
        check("what is the sum of 1 and 2?", "the sum of 1 and 2 = 3");
        check("сколько будет два плюс два?", "два плюс два = 4");
        check("2,5 * 4", "2,5 * 4 = 10");
        assert_eq!(sum("2,500 * 4"), None);
    }
}
