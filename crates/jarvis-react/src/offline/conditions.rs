//! Conditions of a question that are more than names of rows and columns: ranks, negation, and what is out of reach
//! without a language model.

use std::ops::Range;

use super::matching::Question;
use super::rules::{Rule, fits};

/// What a question asks for besides a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Conditions {
    /// The place in the order: 2 for the second highest.
    pub(super) rank: Option<usize>,
    /// How many of the first in the order are wanted.
    pub(super) top: Option<usize>,
    /// Whether something is to be left out, or not to be so.
    pub(super) negated: bool,
    /// Whether there is a comparison that is not understood.
    pub(super) unclear: bool,
    /// Whether the ends of the whole column are meant.
    pub(super) range: bool,
}

rule!(
    RANK,
    r"\b(second|third|fourth|fifth|2nd|3rd|4th|5th)[ -](?:to |from )?(?:the )?(?:max|min|high|low|larg|small|bigg|great|best|worst|most|least|old|young|cheap|long|short|tall|heav|light|top|few|last)|\b(втор|трет|четв[её]рт|пят)\w*\s+(?:по\b|мест|сам|сверху|снизу|с конца)|第([二三四五2345])(?:高|大|多|贵|低|小|少|便宜|长|短|重|轻|好|名)"
);
rule!(
    TOP,
    r"\b(?:top|bottom|первые|топ|лучшие|худшие)[ -]?(\d{1,3}|two|three|four|five|ten|два|две|три|четыре|пять)\b|\b(\d{1,2}|two|three|four|five|ten|два|две|три|четыре|пять)\s+(?:most\b|least\b|highest|lowest|largest|smallest|biggest|cheapest|oldest|youngest|best\b|worst|сам\w+)|[前后]([二两三四五十\d]{1,2})[名个位项种大]?"
);
rule!(
    NOT,
    r"\b(not|never|except|excluding|exclude|without|besides|other than|apart from)\b|n['’]t\b|\b(не|кроме|без|исключая|помимо|за исключением)\b|除了|除去|除|不|没有|没|非|并非"
);
rule!(NOT_NOT, r"не менее|не более|不同|差不多|不管|不论|是不是|有没有|不超过|不低于|不少于|не только|not only");
rule!(
    COMPARED,
    r"\b([a-z]+er|more|less|more \w+|less \w+) than\b|\bчем\b|\b(старше|моложе|младше|дороже|дешевле|выше|ниже|больше|меньше)\s+(?:[а-я]|[a-z])|比.+(?:高|低|多|少|大|小|贵|便宜|长|短|年轻|重|轻)|\bbetween\s+[$€£¥]?\d|\b(?:от|между)\s+\d[\d ]*\s+(?:до|и)\s+\d|\d\S{0,3}(?:到|至|和)\d.*之间"
);
rule!(OF_ALL, r"\b(больше|меньше|дороже|дешевле|выше|ниже|старше|моложе|младше)\s+(всех|всего)");
rule!(
    RANGE,
    r"\brange\b|\bspread\b|(?:highest|largest|max\w*|most|best|oldest|biggest|greatest).+(?:lowest|smallest|min\w*|least|worst|youngest|cheapest)|(?:lowest|smallest|min\w*|least|worst|youngest|cheapest).+(?:highest|largest|max\w*|most|best|oldest|biggest|greatest)|макс.+мин|мин.+макс|наибол.+наимен|наимен.+наибол|сам\w+.+сам\w+|размах|最.+最|极差"
);

fn without(rule: &Rule, text: &str) -> String {
    rule.as_ref().map_or_else(|| text.to_owned(), |rule| rule.replace_all(text, " ").into_owned())
}

impl Conditions {
    /// The conditions of a question, whose bounds and wishes for no chart were taken out.
    pub(super) fn read(rest: &str, bounded: bool) -> Conditions {
        let found = |rule: &Rule| {
            let found = rule.as_ref()?.captures(rest)?;
            let word = found.iter().skip(1).flatten().next()?.as_str().to_owned();
            number(&word)
        };
        let compared = without(&OF_ALL, rest);
        Conditions {
            rank: found(&RANK),
            top: found(&TOP),
            negated: negates(rest),
            unclear: fits(&COMPARED, &compared) && !bounded,
            range: fits(&RANGE, rest),
        }
    }
}

/// Where a question sets conditions, as ranges of bytes.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let rules = [&RANK, &TOP, &NOT, &NOT_NOT, &OF_ALL].into_iter().filter_map(|rule| rule.as_ref());
    rules.flat_map(|rule| rule.find_iter(text)).map(|found| found.range()).collect()
}

/// Whether a text says that something is not so.
pub(super) fn negates(text: &str) -> bool {
    fits(&NOT, &without(&NOT_NOT, text))
}

/// The number that a word says.
fn number(word: &str) -> Option<usize> {
    let known: [(&[&str], usize); 7] = [
        (&["second", "2nd", "two", "втор", "два", "две", "二", "两"], 2),
        (&["third", "3rd", "three", "трет", "три", "三"], 3),
        (&["fourth", "4th", "four", "четверт", "четверт", "четыре", "四"], 4),
        (&["fifth", "5th", "five", "пят", "пять", "五"], 5),
        (&["ten", "十"], 10),
        (&["1"], 1),
        (&["0"], 0),
    ];
    let named = known.iter().find(|(names, _)| names.contains(&word)).map(|(_, number)| *number);
    named.or_else(|| word.parse().ok()).filter(|number| *number > 0)
}

/// A name or year of the question that the document does not hold anywhere.
pub(super) fn unknown<'q>(question: &'q Question, document: &str) -> Option<&'q str> {
    let raw = question.raw.as_str();
    let is_part = |c: char| c.is_alphanumeric();
    let mut words = Vec::new();
    for sentence in raw.split(['.', '?', '!', ';', '。', '？', '！']) {
        words.extend(sentence.split(|c| !is_part(c)).filter(|word| !word.is_empty()).skip(1));
    }
    let capital = |word: &&&str| word.starts_with(char::is_uppercase);
    // Where all words are written so, capitals say nothing.
    let telling = words.iter().filter(capital).count() * 2 <= words.len();
    let known = ["chart", "bar", "line", "pie", "csv", "json", "excel", "pdf", "total", "average", "please", "i", "id"];
    let named = |word: &&str| {
        telling
            && word.starts_with(char::is_uppercase)
            && word.chars().nth(1).is_some()
            && !known.contains(&word.to_lowercase().as_str())
    };
    let years = raw.split(|c: char| !c.is_ascii_digit()).filter(|word| super::data::is_year(word));
    let years = years.filter(|year| !raw.contains(&format!("\"{year}")));
    let absent = |word: &&str| {
        let lower = word.to_lowercase();
        let cut = |text: &str| {
            let keep = match text.chars().count() {
                count if text.is_ascii() && count > 3 => count - usize::from(text.ends_with('s')),
                count if text.is_ascii() => count,
                count if count > 5 => count - 3,
                count => count.saturating_sub(1).max(2),
            };
            text.chars().take(keep).collect::<String>()
        };
        !document.contains(&cut(word)) && !document.contains(&cut(&lower)) && !document.contains(&word.to_uppercase())
    };
    words.iter().copied().filter(named).chain(years).find(absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_understood() {
        let none = Conditions::default();
        for (question, expected) in [
            ("who has the second highest salary", Conditions { rank: Some(2), ..none }),
            ("вторая по величине зарплата", Conditions { rank: Some(2), ..none }),
            ("谁的工资第三高", Conditions { rank: Some(3), ..none }),
            ("top 3 by price", Conditions { top: Some(3), ..none }),
            ("the two most expensive", Conditions { top: Some(2), ..none }),
            ("три самых дорогих", Conditions { top: Some(3), ..none }),
            ("销售额前三名", Conditions { top: Some(3), ..none }),
            ("who does not live in berlin", Conditions { negated: true, ..none }),
            ("кто не живет в москве", Conditions { negated: true, ..none }),
            ("除了苹果以外", Conditions { negated: true, ..none }),
            ("几种不同的水果", none),
            ("who is older than bob", Conditions { unclear: true, ..none }),
            ("кто старше ивана", Conditions { unclear: true, ..none }),
            ("谁比张三年轻", Conditions { unclear: true, ..none }),
            ("between 30 and 40", Conditions { unclear: true, ..none }),
            ("кто старше всех", none),
            ("difference between the highest and the lowest", Conditions { range: true, ..none }),
            ("what is the total", none),
        ] {
            assert_eq!(Conditions::read(question, false), expected, "{question}");
        }
        assert!([&RANK, &TOP, &NOT, &NOT_NOT, &COMPARED, &OF_ALL, &RANGE].iter().all(|rule| rule.is_some()));
        for (question, document, expected) in [
            ("What is the total in Paris?", "Oslo 5", Some("Paris")),
            ("What is the total in Oslo in 2019?", "Oslo 2018: 5", Some("2019")),
            ("Сколько продано в Казани?", "Казань: 5", None),
            ("Сколько продано в Казани?", "Москва: 5", Some("Казани")),
            ("Draw a Bar chart of Apples", "apple: 5", None),
            ("What Is The Total?", "5", None),
        ] {
            assert_eq!(unknown(&Question::new(question), document), expected, "{question}");
        }
    }
}
