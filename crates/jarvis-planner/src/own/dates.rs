//! Days that a request names: those of a calendar, and those that only today tells.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::lex::What;
use crate::words::pattern;

const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
const RUSSIAN: &str = "янв фев мар апр ма июн июл авг сен окт ноя дек";

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?xi)
        (?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})(?:[T\ ](?P<clock>\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})))?
        |(?P<y2>\d{4})年(?P<m2>\d{1,2})月(?P<d2>\d{1,2})[日号]?
        |(?-u:\b)(?P<d3>\d{1,2})(?:st|nd|rd|th)?\ (?:of\ )?(?P<m3>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)\.?,?(?:\ (?P<y3>\d{4}))?\b
        |\b(?P<m4>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?\ (?P<d4>\d{1,2})(?:st|nd|rd|th)?\b(?:,?\ (?P<y4>\d{4}))?
        |(?-u:\b)(?P<d5>\d{1,2})\.(?P<m5>\d{1,2})\.(?P<y5>\d{4})(?-u:\b)
        |(?-u:\b)(?P<a6>\d{1,2})/(?P<b6>\d{1,2})/(?P<y6>\d{4})(?-u:\b)
        |(?P<day>\b(?:the\ day\ after\ tomorrow|today|tomorrow|yesterday|tonight|(?:next|this|coming|last)\ (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week(?:end)?|month|year)|(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?|сегодня|завтра|послезавтра|вчера|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье)\b|今天|明天|后天|昨天|(?:下周|这周|本周|周|星期)[一二三四五六日天])",
    )
});

/// Where days stand, and what they are.
pub(super) fn find(text: &str) -> Vec<(usize, usize, What)> {
    let mut found = Vec::new();
    for hit in DATE.captures_iter(text) {
        let Some(whole) = hit.get(0) else { continue };
        found.push((whole.start(), whole.end(), of(&hit)));
    }
    found
}

fn of(hit: &Captures<'_>) -> What {
    let number = |name: &str| hit.name(name).and_then(|part| part.as_str().parse::<u32>().ok());
    let month = |name: &str| hit.name(name).and_then(|part| named(part.as_str()));
    let day = (1..=5).find_map(|at| {
        let month = number(&format!("m{at}")).or_else(|| month(&format!("m{at}")))?;
        Some((number(&format!("y{at}"))?, month, number(&format!("d{at}"))?))
    });
    // 3/4/2027 is another day on each side of the ocean.
    let day = day.or_else(|| match (number("a6")?, number("b6")?) {
        (a, b) if a > 12 => Some((number("y6")?, b, a)),
        (a, b) if b > 12 || a == b => Some((number("y6")?, a, b)),
        _ => None,
    });
    let clock = hit.name("clock").map(|clock| format!("T{}", clock.as_str())).unwrap_or_default();
    match day {
        Some((year, month, day)) if (1..=12).contains(&month) && (1..=31).contains(&day) => {
            What::Date(format!("{year:04}-{month:02}-{day:02}{clock}"))
        }
        Some(_) | None => What::Day,
    }
}

fn named(month: &str) -> Option<u32> {
    let lower = month.to_lowercase();
    let of = |list: &str| {
        let at = list.split(' ').position(|one| lower.starts_with(one));
        at.and_then(|at| u32::try_from(at + 1).ok())
    };
    // "мар" and "ма" begin alike; the longer stands first.
    of(MONTHS).or_else(|| of(RUSSIAN))
}

#[cfg(test)]
mod tests {
    use super::{What, find};

    #[test]
    fn days_become_what_a_calendar_calls_them() {
        for (text, want) in [
            ("on 2027-03-03", Some("2027-03-03")),
            ("on 3 March 2027", Some("2027-03-03")),
            ("on March 3rd, 2027", Some("2027-03-03")),
            ("3 марта 2027", Some("2027-03-03")),
            ("5 мая 2027", Some("2027-05-05")),
            ("2027年3月3日", Some("2027-03-03")),
            ("03.04.2027", Some("2027-04-03")),
            ("25/12/2027", Some("2027-12-25")),
            ("3/4/2027", None),
            ("3 March", None),
            ("tomorrow", None),
            ("on Friday", None),
        ] {
            let found = find(text);
            let (_, _, what) = found.first().expect("a day");
            assert_eq!(what, &want.map_or(What::Day, |day| What::Date(day.to_owned())), "{text}");
        }
        assert!(find("two seats in may be enough").is_empty());
    }
}
