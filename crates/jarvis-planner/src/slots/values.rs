//! What a clause holds: dates, times, numbers, phone numbers, addresses and quotations by their form; other phrases by
//! [`super::phrases`].

use std::sync::LazyLock;

use regex::Regex;

use super::found::{Found, Shape, add};
use super::measures::{Measure, is_unit};
use super::phrases;
use crate::clauses::Clause;
use crate::numerals;
use crate::resources::SpanKind;
use crate::words::{pattern, slice};

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?xi)(?-u:\b)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?-u:\b) | (?-u:\b)\d{1,2}[/.]\d{1,2}[/.]\d{2,4}(?-u:\b)
        | (?:\d{4}年)?\d{1,2}月\d{1,2}[日号] | 今天|明天|后天|(?:下周|周|星期)[一二三四五六日]
        | \b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?\ \d{1,2}(?:st|nd|rd|th)?(?:,?\ \d{4})?\b
        | \b\d{1,2}(?:st|nd|rd|th)?\ (?:of\ )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:,?\ \d{4})?\b
        | \b\d{1,2}\ (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)(?:\ \d{4})?\b
        | \b(?:today|tomorrow|tonight|(?:next|this|coming)\ (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month|weekend)|monday|tuesday|wednesday|thursday|friday|saturday|sunday|christmas(?:\ (?:day|eve))?|new\ year['’]s\ (?:day|eve)|valentine['’]s\ day)\b
        | \b(?:сегодня|завтра|послезавтра|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье)\b",
    )
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?|\b\d{1,2} o['’]clock\b|\b(?:half past|quarter (?:past|to)) \w+\b|\b(?:noon|midnight|полдень|полночь)\b|\b\d{1,2} (?:час(?:ов|а)? )?(?:утра|вечера)\b|(?:早上|上午|中午|下午|晚上)?\d{1,2}点(?:\d{1,2}分|半)?",
    )
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?:\bminus )?[$€£¥₽]?{}%?", numerals::DIGITS)));
/// Seven digits or more, in groups or not, with what belongs to the number before them.
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\+\d[\d\-. ()]{5,}\d|\(\d{2,4}\) ?\d{2,4}[-. ]\d{2,4}(?:[-. ]\d{2,4})?|(?-u:\b)\d{1,4}(?:[-. ]\(?\d{2,4}\)?){2,4}(?-u:\b)|(?-u:\b)\d{7,19}(?-u:\b)",
    )
});
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b\d{1,5}[A-Za-z]? (?:[NSEW]\.? )?(?:[A-Z0-9][\w'.-]* ){1,4}",
        r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Ln|Lane|Dr|Drive|Way|Court|Ct|Place|Pl|Square|Sq|Highway|Hwy|Terrace|Parkway)\b",
        r"(?:,? (?:Apt|Suite|Unit|Floor)\.? ?\w+)?(?:, [A-Z][\w.]*(?: [A-Z][\w.]*){0,3}(?: \d{5})?){0,3}",
        r"|\b(?:[A-Z]\w+ ){1,3}(?:Street|Avenue|Road|St) \d{1,4}\b",
        r"|\b(?:ул\.?|улиц[аеуы]|пр\.?|проспекте?|пер\.?|переулок|площадь)\s[А-ЯЁ][\p{Cyrillic}-]+(?:\s[А-ЯЁ][\p{Cyrillic}-]+)?,?\s(?:д\.?\s?|дом\s)?\d+\p{Cyrillic}?",
        r"|\p{Han}{2,14}[路街道]\d+号",
    ))
});
static EMAIL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$"));
/// What introduces words to be passed on as they stand, to the end of the clause.
static SAYING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:saying|stating|that says|which says|that reads|reading|with the (?:message|text|content|words|body)|со? словами|с текстом|говоря)(?: (?:saying|stating))?(?: that| of)?[:,]?\s+|\btelling (?:him|her|them|me|everyone) (?:that )?|(?:@[\w.-]+|\d{4,})\x27? that\s+|[说道](?:：|，)?",
    )
});

/// Every value of a clause, in the order written. Words may overlap the numbers within them.
pub(crate) fn find(clause: &Clause, request: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for span in &clause.spans {
        let whole = |regex: &Regex| regex.find(&span.text).is_some_and(|hit| hit.as_str() == span.text);
        let shape = match span.what {
            SpanKind::Email => Shape::Email,
            SpanKind::Url => Shape::Url,
            SpanKind::Path => Shape::Path,
            SpanKind::Quote if whole(&EMAIL) => Shape::Email,
            SpanKind::Quote if whole(&PHONE) && !whole(&DATE) => Shape::Phone,
            SpanKind::Quote if whole(&ADDRESS) => Shape::Address,
            SpanKind::Quote | SpanKind::Payload => Shape::Quote,
        };
        add(&mut found, clause, shape, span.text.clone(), span.start, span.end, None);
    }
    quoted_speech(&mut found, clause, request);
    let text = clause.text(request);
    let kinds = [
        (&*DATE, Shape::Date),
        (&*ADDRESS, Shape::Address),
        (&*PHONE, Shape::Phone),
        (&*TIME, Shape::Time),
        (&*NUMBER, Shape::Number),
    ];
    for (regex, shape) in kinds {
        // A date may be cut at its comma: "December 1st, 2022".
        let tail = if shape == Shape::Date { ", 2022".len() } else { 0 };
        let text = request.get(clause.start..clause.end + tail).unwrap_or(text);
        for hit in regex.find_iter(text).filter(|hit| clause.start + hit.start() < clause.end) {
            if shape == Shape::Number && is_in_code(slice(text, 0, hit.start()))
                || shape == Shape::Date && goes_on(text, hit.start(), hit.end())
            {
                continue;
            }
            let value = hit.as_str().trim_end_matches([',', '.', ' ']);
            // "送到北京路123号".
            let led = if shape == Shape::Address { value.rfind(['到', '在', '去', '往', '给']) } else { None };
            let led = led.map_or(0, |at| at + '到'.len_utf8());
            let value = value.get(led..).unwrap_or(value);
            let start = clause.start + hit.start() + led;
            add(&mut found, clause, shape, value.to_owned(), start, start + value.len(), None);
        }
    }
    phrases::find(&mut found, clause, request);
    for value in found.iter_mut().filter(|value| value.shape == Shape::Number) {
        let end = clause.end - clause.start;
        let within = |at: usize| (at - clause.start).min(end);
        value.measure = Measure::of_number(clause.text(request), within(value.start), within(value.end));
    }
    found.sort_by_key(|value| (value.start, value.end));
    found
}

/// The first three numbers of "45.33.32.156" are no day.
fn goes_on(text: &str, start: usize, end: usize) -> bool {
    let digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    let before = slice(text, 0, start).strip_suffix('.').and_then(|before| before.chars().next_back());
    let after = slice(text, end, text.len()).strip_prefix('.').and_then(|after| after.chars().next());
    digit(before) || digit(after)
}

/// The digits of "TR-0417" and "RX2290" count nothing; those of "EUR50" do.
fn is_in_code(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
    match word.strip_suffix('-') {
        Some(word) => word.ends_with(|letter: char| letter.is_ascii_uppercase()),
        None => word.ends_with(|letter: char| letter.is_ascii_alphabetic()) && !is_unit(&word.to_lowercase()),
    }
}

/// "… saying I will be late": all that follows, where nothing is quoted.
fn quoted_speech(found: &mut Vec<Found>, clause: &Clause, request: &str) {
    let text = clause.text(request);
    let outside = |at: usize| found.iter().all(|value| at < value.start || at >= value.end);
    let Some(hit) = SAYING.find_iter(text).find(|hit| outside((clause.start + hit.end()).saturating_sub(1))) else {
        return;
    };
    let from = clause.start + hit.end();
    let rest = slice(request, from, clause.end);
    if rest.trim().is_empty() || found.iter().any(|value| value.shape == Shape::Quote && value.end > from) {
        return;
    }
    let value = rest.trim_end_matches(['.', ' ', ',', '。', '，']);
    add(found, clause, Shape::Quote, value.to_owned(), from, from + value.len(), Some("saying"));
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, EMAIL, PHONE, SAYING};

    #[test]
    fn numbers_and_addresses_are_found_whole() {
        for (text, expected) in [
            ("call +1-234-567-8910.", "+1-234-567-8910"),
            ("call +1 123 456 7890 now", "+1 123 456 7890"),
            ("call 123-456-7890", "123-456-7890"),
            ("call (555) 123-4567", "(555) 123-4567"),
            ("call +7 (495) 123-45-67", "+7 (495) 123-45-67"),
            ("打给13800138000吧", "13800138000"),
            ("a table for 2 in 2023", ""),
        ] {
            assert_eq!(PHONE.find(text).map_or("", |hit| hit.as_str()), expected, "{text}");
        }
        for (text, expected) in [
            ("to 123 Main St, New York, NY", "123 Main St, New York, NY"),
            ("at 1234 Example St, then go", "1234 Example St"),
            ("to Main Street 123 now", "Main Street 123"),
            ("на ул. Ленина, 5 к шести", "ул. Ленина, 5"),
            ("在北京路123号", "在北京路123号"),
            ("for 2 people", ""),
        ] {
            assert_eq!(ADDRESS.find(text).map_or("", |hit| hit.as_str()), expected, "{text}");
        }
        assert!(EMAIL.is_match("bob@x.org") && SAYING.is_match("saying hello"));
    }
}
