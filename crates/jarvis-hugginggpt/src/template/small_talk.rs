//! What is said back to small talk, to a sum (`sums`) and to a question about dates (`dates`), where no chat model is there to talk. A request that is more than that
//! is an order, and goes to the planner.

use std::sync::LazyLock;

use jarvis_plan::{Language, Request, pattern};
use regex::Regex;

use super::{dates, sums};

/// The most words of small talk without a mark between.
const MOST_WORDS: usize = 8;

/// What is said, and the answers.
struct Row {
    said: Regex,
    answers: [&'static str; 3],
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("small_talk.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut columns = line.split('\t');
            let said = columns.next()?;
            // A test runs each.
            let said = pattern(&format!("^(?:{said})$"));
            Some(Row { said, answers: [columns.next()?, columns.next()?, columns.next()?] })
        })
        .collect()
});

/// The answer to a request that is nothing but small talk or arithmetic.
pub(crate) fn answer(request: &Request) -> Option<String> {
    let text = request.text.trim();
    if text.chars().nth(200).is_some() {
        return None;
    }
    let plain = text.to_lowercase().replace('ё', "е").replace('’', "'");
    let language = Language::of(text);
    talk(&plain, language).or_else(|| sums::sum(&plain)).or_else(|| dates::answer(&plain, language))
}

fn talk(plain: &str, language: Language) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    let parts = plain.split(|c: char| ",.!?;:，。！？；…)(\n".contains(c)).map(str::trim);
    for part in parts.filter(|part| part.chars().any(char::is_alphanumeric)) {
        for row in rows(part)? {
            let [english, russian, chinese] = row.answers;
            let answer = language.pick(english, russian, chinese);
            if !said.contains(&answer) {
                said.push(answer);
            }
        }
    }
    // A greeting before something else says no more than that.
    (!said.is_empty()).then(|| said.join(language.pick(" ", " ", "")))
}

/// The rows that a part is made of: one, or several with nothing but blanks between ("thx bye").
fn rows(part: &str) -> Option<Vec<&'static Row>> {
    if let Some(row) = ROWS.iter().find(|row| row.said.is_match(part)) {
        return Some(vec![row]);
    }
    // Beyond a few words the ways to part them are too many, and it is no small talk.
    if part.split(' ').nth(MOST_WORDS).is_some() {
        return None;
    }
    // The longest beginning that is a row by itself.
    part.match_indices(' ').rev().find_map(|(at, _)| {
        let (first, rest) = (part.get(..at)?, part.get(at + 1..)?.trim_start());
        let row = ROWS.iter().find(|row| row.said.is_match(first))?;
        Some([vec![row], rows(rest)?].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_talk_is_answered_in_its_language() {
        let check = |text: &str, want: &str| {
            let found = answer(&Request::new(text)).unwrap_or_default();
            assert!(found.starts_with(want) && !want.is_empty(), "{text}: {found}");
        };
        check("Hi!", "Hello.");
        check("hello, how are you?", "Hello.");
        check("Thanks a lot", "You are welcome.");
        check("good night", "Goodbye.");
        check("thx bye", "You are welcome. Goodbye.");
        check("ok thanks a lot bye bye", "All right. You are welcome. Goodbye.");
        check("how many days from 3 march 2024 until 25 dec 2024", "2024-03-03");
        check("Never mind.", "Nothing is running.");
        check("forget it", "Nothing is running.");
        check("Who are you?", "I am jarvis");
        check("do you speak Russian?", "I read and answer requests in English, Russian and Chinese.");
        check("can you speak?", "I read and answer");
        check("I hate you", "I am a program");
        check("привет", "Здравствуйте.");
        check("спасибо, хватит", "Пожалуйста. Ничего не выполняется.");
        check("Ты говоришь по-русски?", "Я читаю запросы");
        check("你好", "你好。");
        check("谢谢！", "不客气。");
        check("你会说俄语吗?", "我能读懂");
    }

    #[test]
    fn an_order_stays_one() {
        for text in [
            "hi, summarise notes.txt",
            "thanks, now read it aloud",
            "stop the music in a.wav",
            "say hello",
            "hello say it",
            "do you know Anna?",
            "do you speak to my boss?",
            "2024-05-01",
            "+47 55 12 34 56",
            "12/0",
            "5 miles",
            "what is 17% 240",
            "17",
            "",
            "?",
        ] {
            assert_eq!(answer(&Request::new(text)), None, "{text}");
        }
    }
}
