//! Entities that are known by their form: addresses, phones, dates, times, money, percentages, numbers.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Group, Page};
use jarvis_plan::{is_cyrillic, is_han, pattern};

/// A form: what it is, how sure it makes, and its pattern. The first group of the pattern, where it has one, is the entity.
pub(super) struct Form {
    group: Group,
    score: f64,
    regex: Regex,
}

const MONTH: &str = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)";
const MONTH_RU: &str = r"(?:январ[яьею]|феврал[яьею]|март[ае]?|апрел[яьею]|ма[яйе]|июн[яьею]|июл[яьею]|август[ае]?|сентябр[яьею]|октябр[яьею]|ноябр[яьею]|декабр[яьею])";
const AMOUNT: &str = r"\d+(?:[ ,\u{a0}\u{202f}.]\d{3})*(?:[.,]\d+)?";
const SCALE: &str = r"(?:\s?(?:hundred|thousand|million|billion|trillion|bn|mln|тыс(?:яч\p{L}*|\.)?|млн|млрд|миллион\p{L}*|миллиард\p{L}*|万亿|百万|千万|万|亿))";

/// Earlier forms win over later ones. Boundaries are those of ASCII: Unicode's make the search many times slower on text
/// that is not ASCII.
pub(super) static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |group, score, text: &str| Form { group, score, regex: pattern(text) };
    vec![
        form(
            Group::Url,
            0.99,
            r#"(?i)(?:https?|ftp)://[^\s<>"'«»“”，。；！？（）()\[\]{}\p{Han}]+|(?-u:\b)www\.[a-z0-9-]+\.[^\s<>"'«»“”，。；！？（）()\p{Han}]+"#,
        ),
        form(Group::Email, 0.99, r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}"),
        form(Group::Phone, 0.9, r"\+\d{1,3}[\s-]?(?:\(\d{1,5}\)[\s-]?)?\d{1,4}(?:[\s-]?\d{2,4}){1,5}"),
        form(Group::Phone, 0.9, r"(?-u:\b)8[\s-]?\(?\d{3}\)?[\s-]?\d{3}[\s-]?\d{2}[\s-]?\d{2}"),
        form(Group::Phone, 0.85, r"(?:\(\d{3}\)\s?|(?-u:\b)\d{3}[-.])\d{3}[-.]\d{4}"),
        form(Group::Phone, 0.85, r"1[3-9]\d{9}|0\d{2,3}-\d{7,8}"),
        form(Group::Date, 0.95, r"\d{4}-\d{2}-\d{2}"),
        form(
            Group::Date,
            0.95,
            r"公元前?\d{1,4}(?:世纪|年)|\d{1,2}世纪|\d{3,4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号]|[一二三四五六七八九十]{1,3}月[一二三四五六七八九十]{1,3}[日号]",
        ),
        form(
            Group::Date,
            0.95,
            &format!(r"(?i)(?-u:\b){MONTH}\.?[ \t\u{{a0}}]+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?(?-u:\b)"),
        ),
        form(
            Group::Date,
            0.95,
            &format!(r"(?i)(?-u:\b)\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}(?-u:\b)(?:,?\s+\d{{4}}(?-u:\b))?"),
        ),
        form(Group::Date, 0.95, &format!(r"(?-u:\b){MONTH}\.?,?\s+\d{{4}}(?-u:\b)")),
        form(
            Group::Date,
            0.95,
            &format!(r"(?i)(?-u:\b)\d{{1,2}}\s+{MONTH_RU}(?:\s+\d{{4}}(?:\s*(?:года|году|г\.))?)?"),
        ),
        form(Group::Date, 0.9, &format!(r"(?i){MONTH_RU}\s+\d{{4}}(?:\s*(?:года|году|г\.))?")),
        form(Group::Date, 0.9, r"(?i)(?-u:\b)\d{4}(?:[-–—]\d{4})?\s*(?:году|года|год|годах|гг\.|г\.)"),
        form(Group::Date, 0.9, r"(?-u:\b)\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})(?-u:\b)"),
        form(
            Group::Date,
            0.85,
            r"(?i)(?-u:\b)(?:last |next |this )?(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?(?-u:\b)",
        ),
        form(
            Group::Date,
            0.85,
            r"(?i)(?:понедельник|вторник|среду|четверг|пятниц[ауы]|суббот[ауы]|воскресень[ея])|星期[一二三四五六日天]|周[一二三四五六日]",
        ),
        form(
            Group::Date,
            0.7,
            r"(?i)(?-u:\b)(?:today|tomorrow|yesterday|tonight)(?-u:\b)|послезавтра|позавчера|сегодня|завтра|вчера|今天|明天|昨天|后天|前天|今年|去年|明年",
        ),
        form(
            Group::Date,
            0.7,
            r"(?i)(?-u:\b)(?:in|since|by|from|until|before|after|during|of)\s+((?:1[0-9]|20)\d\d)(?-u:\b)",
        ),
        form(
            Group::Date,
            0.7,
            r"(?i)(?-u:\b)(?:1[5-9]|20)\d0s(?-u:\b)|(?-u:\b)\d{1,2}(?:st|nd|rd|th)\s+century(?-u:\b)",
        ),
        form(
            Group::Time,
            0.9,
            r"(?i)(?:上午|下午|晚上|早上|中午)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?(?:[ap]\.m\.|[ap]m(?-u:\b)))?",
        ),
        form(
            Group::Time,
            0.9,
            r"(?i)(?-u:\b)\d{1,2}\s?(?:[ap]\.m\.|[ap]m(?-u:\b))|(?-u:\b)\d{1,2}\s+(?:o'clock|часов|часа|час)",
        ),
        form(
            Group::Time,
            0.85,
            r"(?:上午|下午|晚上|早上|中午|凌晨)?(?:\d{1,2}|[一二三四五六七八九十]{1,2})点(?:半|\d{1,2}分)?",
        ),
        form(Group::Money, 0.95, &format!(r"(?i)(?:US\$|[$€£¥₽￥₴])\s?{AMOUNT}(?:{SCALE}|[kmb](?-u:\b))?")),
        form(
            Group::Money,
            0.95,
            &format!(
                r"(?i)(?-u:\b){AMOUNT}{SCALE}?\s?(?:(?:(?:US )?dollars?|euros?|cents|pounds|yuan|rubles?|roubles?|USD|EUR|GBP|RUB|CNY|RMB)(?-u:\b)|рубл\p{{L}}+|руб\.?|долл\p{{L}}*\.?|евро|юан\p{{L}}+)|(?-u:\b){AMOUNT}{SCALE}?\s?[€₽$£₴]"
            ),
        ),
        form(
            Group::Money,
            0.95,
            &format!(r"(?:{AMOUNT}|[一二三四五六七八九十百千]+){SCALE}?\s?(?:美元|欧元|英镑|日元|人民币|卢布|元)"),
        ),
        form(
            Group::Percent,
            0.95,
            r"(?i)\d+(?:[.,]\d+)?\s?(?:%|％|percent(?-u:\b)|per cent(?-u:\b)|процент\p{L}*)|百分之[一二三四五六七八九十百零点]+",
        ),
        form(Group::Number, 0.9, &format!(r"(?i){AMOUNT}{SCALE}?")),
    ]
});

pub(super) fn find(page: &mut Page<'_>) {
    for form in FORMS.iter() {
        for found in form.regex.captures_iter(page.text) {
            let Some(place) = found.get(1).or_else(|| found.get(0)) else { continue };
            let mut range = place.range();
            if form.group == Group::Url {
                range.end -=
                    place.as_str().len() - place.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', '…']).len();
            }
            if stands_alone(page.text, &range, form.group) {
                page.add(form.group, range, form.score);
            }
        }
    }
}

/// Whether figures are not cut out of something longer, such as a version or a serial number.
fn stands_alone(text: &str, range: &Range<usize>, group: Group) -> bool {
    let word = text.get(range.clone()).expect("a match lies in the text");
    let mut before = text.get(..range.start).expect("a match lies in the text").chars().rev();
    let mut after = text.get(range.end..).expect("a match lies in the text").chars();
    let (previous, second) = (before.next(), before.next());
    let (next, then) = (after.next(), after.next());
    let is_letter = |letter: char| letter.is_alphabetic() && !is_han(letter);
    // Words in Cyrillic are whole; the patterns see to it for Latin ones.
    let is_open =
        |inner: Option<char>, outer: Option<char>| inner.is_some_and(is_cyrillic) && outer.is_some_and(is_cyrillic);
    if matches!(group, Group::Date | Group::Time)
        && (is_open(word.chars().next(), previous) || is_open(word.chars().next_back(), next))
    {
        return false;
    }
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    if word.starts_with(|letter: char| letter.is_ascii_digit())
        && (previous.is_some_and(|letter| is_letter(letter) || letter == '_')
            || is_digit(previous)
            || (matches!(previous, Some('.' | ',' | '/' | ':')) && is_digit(second)))
    {
        return false;
    }
    if word.ends_with(|letter: char| letter.is_ascii_digit()) {
        // `5km` is a number; `5` in `2024x1` is not.
        let joined = group != Group::Number && next.is_some_and(is_letter);
        return !(joined || is_digit(next) || (matches!(next, Some('.' | ',' | '/' | ':')) && is_digit(then)));
    }
    true
}
