//! Questions about the calendar: days between two dates, a date so many days off, the day of the week. Days from 1970 on are known.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jarvis_plan::{Language, pattern};
use regex::Regex;

const DAY: u64 = 86_400;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const RUSSIAN: [&str; 12] = ["янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"];
const WEEK: [[&str; 3]; 7] = [
    ["Thursday", "четверг", "星期四"],
    ["Friday", "пятница", "星期五"],
    ["Saturday", "суббота", "星期六"],
    ["Sunday", "воскресенье", "星期日"],
    ["Monday", "понедельник", "星期一"],
    ["Tuesday", "вторник", "星期二"],
    ["Wednesday", "среда", "星期三"],
];

/// A date: `2024-03-03`, `3.3.2024`, `3 march 2024`, `march 3rd, 2024`; the year may stand with the other date alone.
const DATE: &str = r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}年\d{1,2}月\d{1,2}[日号]|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? \p{L}+\.?,?(?: \d{4}(?: года?)?)?|\p{L}+\.? \d{1,2}(?:st|nd|rd|th)?,?(?: \d{4})?)";

fn about_dates(text: &str) -> Regex {
    pattern(&text.replace("DATE", DATE))
}

// A test runs each.
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    about_dates(
        r"^(?:how many days (?:(?:are|is) (?:it|there|they) )?(?:from|between)|(?:the )?(?:number of )?days (?:from|between)|сколько дней (?:с|от|между)|从) ?(?P<from>DATE) ?(?:until|till|to|and|through|up to|до|по|и|到) ?(?P<to>DATE)(?:(?:有|是)?多少天)?$",
    )
});
static OFF: LazyLock<Regex> = LazyLock::new(|| {
    about_dates(
        r"^(?:what|which) (?:date|day) (?:is|was|will be) (?P<count>\d{1,5}) (?P<unit>days?|weeks?) (?:(?P<after>after|from)|before) (?P<date>DATE)$",
    )
});
static WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    about_dates(
        r"^(?:(?:what|which) (?:weekday|day of the week) (?:is|was|will be)|on (?:what|which) (?:weekday|day of the week) (?:is|was|does|did|will) (?:fall )?|какой день недели(?: был| будет)?) ?(?P<date>DATE)(?: (?:be|fall))?$|^(?P<zh>DATE)是?(?:星期几|周几)$",
    )
});
static PARTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+|\p{L}+"));

/// The answer to a question in lower case that is nothing but one about dates.
pub(super) fn answer(plain: &str, language: Language) -> Option<String> {
    // The patterns of dates are expensive to compile; each date has a digit.
    if !plain.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let asked = plain.trim_end_matches(['?', '？', '!', '.', '。', ' ']);
    if let Some(found) = BETWEEN.captures(asked) {
        let (from, to) = (found.name("from")?.as_str(), found.name("to")?.as_str());
        let (from, to) = (day(from, year(to))?, day(to, year(from))?);
        let count = from.abs_diff(to);
        let (from, to) = (written(from)?, written(to)?);
        let unit = language.pick(if count == 1 { "day" } else { "days" }, "дн.", "天");
        return Some(format!("{from} – {to}: {count} {unit}"));
    }
    if let Some(found) = OFF.captures(asked) {
        let start = day(found.name("date")?.as_str(), None)?;
        let count: u64 = found.name("count")?.as_str().parse().ok()?;
        let days = if found.name("unit")?.as_str().starts_with("week") { count * 7 } else { count };
        let end = if found.name("after").is_some() { start + days } else { start.checked_sub(days)? };
        return Some(format!("{}, {}", written(end)?, weekday(end, language)?));
    }
    let found = WEEKDAY.captures(asked)?;
    let date = day(found.name("date").or(found.name("zh"))?.as_str(), None)?;
    Some(format!("{}, {}", written(date)?, weekday(date, language)?))
}

/// The year that a date names.
fn year(date: &str) -> Option<u32> {
    PARTS.find_iter(date).filter(|part| part.len() == 4).find_map(|part| part.as_str().parse().ok())
}

/// A date as days since 1970; `None` for one that is not in the calendar. A date without a year has this one.
fn day(date: &str, other_year: Option<u32>) -> Option<u64> {
    let parts: Vec<&str> = PARTS.find_iter(date).map(|part| part.as_str()).collect();
    let year = year(date).or(other_year)?;
    let numbers: Vec<u32> = parts
        .iter()
        .filter(|part| part.len() != 4)
        .filter_map(|part| part.trim_end_matches(char::is_alphabetic).parse().ok())
        .collect();
    let named = parts.iter().find_map(|part| month(part));
    let (month, day) = match (named, numbers.as_slice()) {
        (Some(month), [day]) => (month, *day),
        // The day comes first before dots, and the month else.
        (None, [day, month]) if date.contains('.') => (*month, *day),
        (None, [month, day]) => (*month, *day),
        _ => return None,
    };
    let time = humantime::parse_rfc3339(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z")).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs() / DAY)
}

/// The month that a word names: with three letters at least, and no other word that begins so.
fn month(word: &str) -> Option<u32> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let english = || {
        MONTHS.iter().zip(NAMES).position(|(short, name)| {
            word.starts_with(short) && name.starts_with(word) || word == "sept" && *short == "sep"
        })
    };
    let russian = || {
        let is_russian = word.chars().all(|ch| !ch.is_ascii()) && word.chars().count() >= 3;
        // "Марта" begins as "мая" does.
        RUSSIAN
            .iter()
            .enumerate()
            .filter(|(_, stem)| is_russian && word.starts_with(**stem))
            .max_by_key(|(_, stem)| stem.len())
            .map(|(at, _)| at)
    };
    english().or_else(russian).and_then(|at| u32::try_from(at + 1).ok())
}

fn time(day: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(day.checked_mul(DAY)?))
}

/// `2024-03-03`.
fn written(day: u64) -> Option<String> {
    // Years beyond 9999 have no such form.
    let last = day < 2_932_896;
    let text = humantime::format_rfc3339_seconds(time(day).filter(|_| last)?).to_string();
    Some(text.get(..10)?.to_owned())
}

fn weekday(day: u64, language: Language) -> Option<&'static str> {
    let [english, russian, chinese] = *WEEK.get(usize::try_from(day % 7).ok()?)?;
    Some(language.pick(english, russian, chinese))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_reckoned_with() {
        let check = |text: &str, want: Option<&str>| {
            assert_eq!(answer(&text.to_lowercase(), Language::of(text)).as_deref(), want, "{text}");
        };
        check("how many days from 3 march 2024 until 25 dec 2024", Some("2024-03-03 – 2024-12-25: 297 days"));
        check("How many days are there between 2024-02-28 and 2024-03-01?", Some("2024-02-28 – 2024-03-01: 2 days"));
        check("how many days is it from March 3rd to 4 March 2024?", Some("2024-03-03 – 2024-03-04: 1 day"));
        check("Сколько дней с 3 марта 2024 до 25 мая 2024?", Some("2024-03-03 – 2024-05-25: 83 дн."));
        check("从2024年3月3日到2024年12月25日有多少天？", Some("2024-03-03 – 2024-12-25: 297 天"));
        check("days from 3.4.2024 to 5.4.2024", Some("2024-04-03 – 2024-04-05: 2 days"));
        check("what date is 45 days after 2024-05-20?", Some("2024-07-04, Thursday"));
        check("what date is 2 weeks before 1 march 2024", Some("2024-02-16, Friday"));
        check("which weekday was 29 Feb 1984?", Some("1984-02-29, Wednesday"));
        check("what day of the week is 1 January 1970", Some("1970-01-01, Thursday"));
        for text in [
            "how many days from 30 february 2024 until 25 dec 2024",
            "how many days from 3 march until 25 dec",
            "how many days from 3/4/2024 until 5/4/2024",
            "how many days from 3 mango 2024 until 25 dec 2024",
            "how many working days from 3 march 2024 until 25 dec 2024",
            "how many days from 3 march 2024 until 25 dec 2024 without sundays",
            "which weekday was 29 Feb 1884?",
            "what date is 99999 days after 9999-12-31?",
            "how many days are mentioned in notes.txt?",
        ] {
            check(text, None);
        }
    }
}
