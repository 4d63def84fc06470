//! Questions that counting answers: how many words, characters, sentences, lines or paragraphs a text has, and how often a
//! word stands in it; different words, a letter, and lines that hold something. A question that says more ("how many words does Anna
//! say") is not one of them.

use std::collections::HashSet;
use std::sync::LazyLock;

use jarvis_plan::{Language, is_han, is_path, pattern};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::super::unread::rest;
use super::segment::sentences;
use crate::native::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Words,
    Characters,
    Letters,
    Sentences,
    Lines,
    Paragraphs,
}

const UNITS: [(Unit, &str); 6] = [
    (Unit::Words, "WORDS"),
    (Unit::Characters, "CHARACTERS"),
    (Unit::Letters, "LETTERS"),
    (Unit::Sentences, "SENTENCES"),
    (Unit::Lines, "LINES"),
    (Unit::Paragraphs, "PARAGRAPHS"),
];

fn row(name: &str) -> &'static str {
    words::row(include_str!("../../../data/text_questions.tsv"), name)
}

static PATTERNS: LazyLock<Vec<(Unit, Regex)>> = LazyLock::new(|| {
    let (before, after) = row("ASKED").split_once('\t').expect("the row has two ends");
    let whole = |unit: &str| pattern(&format!("{before}(?:{unit}){after}"));
    UNITS.iter().map(|(unit, name)| (*unit, whole(row(name)))).collect()
});

// A test runs it.
static OCCURRENCES: LazyLock<Regex> = LazyLock::new(|| pattern(row("OCCURRENCES")));

// A test runs both.
static LISTED: LazyLock<Regex> = LazyLock::new(|| pattern(row("LISTED")));
static LISTING: LazyLock<Regex> = LazyLock::new(|| pattern(row("LISTING")));

/// Where a word is counted, if it is all of a text.
static WHERE: LazyLock<Regex> = LazyLock::new(|| pattern(row("WHERE")));
static PARTS: LazyLock<Regex> = LazyLock::new(|| pattern(row("PARTS")));
static DIFFERENT: LazyLock<Regex> = LazyLock::new(|| pattern(row("DIFFERENT")));
static LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(row("LETTER")));
static LINES_WITH: LazyLock<Regex> = LazyLock::new(|| pattern(row("LINES_WITH")));
static BEYOND: LazyLock<Regex> = LazyLock::new(|| pattern(row("BEYOND")));

/// The question in lower case, without names of files and marks at its ends.
pub(super) fn plain(question: &str) -> String {
    let words: Vec<&str> = question.split_whitespace().filter(|word| !is_path(word)).collect();
    let plain = words.join(" ").to_lowercase().replace('ё', "е");
    plain.trim_matches(|ch: char| ch.is_whitespace() || "?!.,:;？！。，：\"'“”«»‘’".contains(ch)).to_owned()
}

/// Whether a question is how often a word stands in a text.
pub(super) fn asks_for_occurrences(question: &str) -> bool {
    OCCURRENCES.is_match(&plain(question))
}

/// Whether a question is how many words or the like of some kind there are, which nothing here counts: "how many words longer
/// than five letters"; or how often a word stands in some of a text.
pub(super) fn is_beyond(question: &str) -> bool {
    let asked = plain(question);
    (BEYOND.is_match(&asked) || OCCURRENCES.is_match(&asked)) && answer(question, "").is_none()
}

/// Whether what stands around the question how often a word occurs says no more than that it is about this text.
fn is_about_all(asked: &str) -> bool {
    let Some(found) = OCCURRENCES.find(asked) else { return true };
    let around = [asked.get(..found.start()), asked.get(found.end()..)];
    // Behind a joint another clause begins.
    let own = |part: &str| LISTING.split(part).next().is_none_or(|part| rest(part, &WHERE, &[]).is_none());
    let is_told = |part: &str| listed(part).next().is_some() || own(part);
    let said = around.into_iter().flatten().all(is_told);
    said && !PARTS.is_match(asked)
}

/// The word whose occurrences a plain question asks for.
fn word_of(asked: &str) -> Option<&str> {
    let word = OCCURRENCES.captures(asked)?.iter().skip(1).flatten().next()?.as_str();
    let word = word.trim_matches(|ch: char| ch.is_whitespace() || "\"“”«»「」『』'`".contains(ch));
    let points = ["这", "这个", "那", "那个", "该", "此", "it", "this", "that", "оно", "это"].contains(&word);
    (!word.is_empty() && !points).then_some(word)
}

/// Whether a question is how often a word occurs, and leaves the word to the request: "这个词出现了几次".
pub(super) fn lacks_word(question: &str) -> bool {
    let asked = plain(question);
    OCCURRENCES.is_match(&asked) && word_of(&asked).is_none()
}

/// What follows the word that is counted, where it is other words to count: ", and Bergen".
fn listed(others: &str) -> impl Iterator<Item = &str> {
    let is_list = LISTED.is_match(others);
    let parts = LISTING.split(others).map(|part| part.trim_matches(|ch: char| !ch.is_alphanumeric()));
    parts.filter(move |part| is_list && !part.is_empty())
}

/// What a request counts beside the word that the question of the plan holds; `None` where it asks for nothing more. A wish that
/// is no list of words is another clause, and planned apart.
pub(super) fn also(request: &str, question: &str) -> Option<String> {
    let (request, question) = (plain(request), plain(question));
    let found = OCCURRENCES.find(&request)?;
    let rest = request.get(found.end()..)?;
    (!question.contains(rest) && listed(rest).next().is_some()).then(|| format!("{question}{rest}"))
}

/// The answer to a question that counting answers, with what was counted: `97 words`.
pub(super) fn answer(question: &str, text: &str) -> Option<String> {
    let language = Language::of(question);
    let asked = plain(question);
    let asked = asked.as_str();
    if let Some(word) = word_of(asked) {
        if !is_about_all(asked) {
            return None;
        }
        // A planner may take the quoted word for the text.
        if text.trim().to_lowercase() == word {
            return None;
        }
        let mut words = vec![word];
        if let Some(others) = OCCURRENCES.find(asked).and_then(|found| asked.get(found.end()..)) {
            words.extend(listed(others));
        }
        let told = |word: &str| {
            let count = occurrences(word, text);
            match language {
                Language::English => format!("{count} {}", if count == 1 { "time" } else { "times" }),
                Language::Russian => format!("{count} {}", russian(count, ["раз", "раза", "раз"])),
                Language::Chinese => format!("{count} 次"),
            }
        };
        return Some(match words.as_slice() {
            [word] => told(word),
            words => words.iter().map(|word| format!("{word}: {}", told(word))).collect::<Vec<_>>().join(", "),
        });
    }
    some(asked, question, text, language).or_else(|| {
        let unit = |asked: &str| PATTERNS.iter().find(|(_, pattern)| pattern.is_match(asked)).map(|(unit, _)| *unit);
        let told = |unit| named(count(unit, text), unit, language);
        if let Some(unit) = unit(asked) {
            return Some(told(unit));
        }
        // "How many words and how many sentences?", "count the lines and the words".
        let parts: Vec<&str> = LISTING.split(asked).map(str::trim).filter(|part| !part.is_empty()).collect();
        let units: Option<Vec<Unit>> = parts.iter().map(|part| unit(part)).collect();
        units.filter(|units| units.len() > 1).map(|units| units.into_iter().map(told).collect::<Vec<_>>().join(", "))
    })
}

/// Some of a text that is counted by its form: different words, one letter, the lines that hold something.
fn some(asked: &str, question: &str, text: &str, language: Language) -> Option<String> {
    if DIFFERENT.is_match(asked) {
        let runs = text.split_whitespace().map(|run| run.trim_matches(|ch: char| !ch.is_alphanumeric()));
        let han = text.chars().filter(|ch| is_han(*ch)).map(String::from);
        let apart = runs.filter(|run| !run.is_empty() && !run.contains(is_han)).map(str::to_lowercase);
        let words: HashSet<String> = apart.chain(han).collect();
        return Some(language.pick(
            format!("{} different words", words.len()),
            format!("{} {}", words.len(), russian(words.len(), ["разное слово", "разных слова", "разных слов"])),
            format!("{} 个不同的词", words.len()),
        ));
    }
    if let Some(letter) = LETTER.captures(asked).and_then(|found| found.iter().skip(1).flatten().next()) {
        let count = text.to_lowercase().matches(letter.as_str()).count();
        return Some(named(count, Unit::Letters, language));
    }
    let lines = LINES_WITH.captures(asked)?;
    // As it is written in the question.
    let lower = lines.name("what").or(lines.name("ru"))?.as_str();
    let what = question.find(lower).or_else(|| question.to_lowercase().find(lower));
    let what = what.and_then(|at| question.get(at..at + lower.len())).unwrap_or(lower);
    let holds = |line: &&str| line.contains(what) != lines.name("not").is_some();
    let count = text.lines().filter(|line| !line.trim().is_empty()).filter(holds).count();
    Some(named(count, Unit::Lines, language))
}

fn count(unit: Unit, text: &str) -> usize {
    let lines = || text.lines().map(str::trim);
    match unit {
        Unit::Words => text.split_whitespace().map(words).sum(),
        Unit::Characters => text.graphemes(true).filter(|grapheme| !matches!(*grapheme, "\n" | "\r\n" | "\r")).count(),
        Unit::Letters => text.chars().filter(|ch| ch.is_alphabetic()).count(),
        Unit::Sentences => sentences(text).len(),
        Unit::Lines => lines().filter(|line| !line.is_empty()).count(),
        Unit::Paragraphs => {
            let mut blank = true;
            let starts = lines().filter(|line| std::mem::replace(&mut blank, line.is_empty()) && !line.is_empty());
            starts.count()
        }
    }
}

/// The words between two blanks: one, or as many as there are ideographs, which are written without blanks.
fn words(run: &str) -> usize {
    let ideographs = run.chars().filter(|ch| is_han(*ch)).count();
    let rest = run.split(is_han).filter(|part| part.contains(char::is_alphanumeric)).count();
    ideographs + rest
}

/// How often a word, or a phrase, stands in the text by itself, whatever its letter case.
fn occurrences(word: &str, text: &str) -> usize {
    let text = text.to_lowercase().replace('ё', "е");
    let is_part = |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric() && !is_han(ch));
    text.match_indices(word)
        .filter(|(at, found)| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
            !is_part(before) && !is_part(after)
        })
        .count()
}

/// So many lines, in words.
pub(super) fn lines(count: usize, language: Language) -> String {
    named(count, Unit::Lines, language)
}

fn named(count: usize, unit: Unit, language: Language) -> String {
    let (one, many, russian_forms, chinese) = match unit {
        Unit::Words => ("word", "words", ["слово", "слова", "слов"], "字"),
        Unit::Characters => ("character", "characters", ["символ", "символа", "символов"], "个字符"),
        Unit::Letters => ("letter", "letters", ["буква", "буквы", "букв"], "个字母"),
        Unit::Sentences => ("sentence", "sentences", ["предложение", "предложения", "предложений"], "句"),
        Unit::Lines => ("line", "lines", ["строка", "строки", "строк"], "行"),
        Unit::Paragraphs => ("paragraph", "paragraphs", ["абзац", "абзаца", "абзацев"], "段"),
    };
    match language {
        Language::English => format!("{count} {}", if count == 1 { one } else { many }),
        Language::Russian => format!("{count} {}", russian(count, russian_forms)),
        Language::Chinese => format!("{count} {chinese}"),
    }
}

/// The form of a Russian noun behind a number: `1 слово`, `2 слова`, `5 слов`.
fn russian(count: usize, [one, few, many]: [&str; 3]) -> &str {
    match (count % 10, count % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The cat sat. The well-known dog ran - fast!\nCatalogue of 3 cats.\n\nLast line: the end?";

    #[test]
    fn what_can_be_counted_is_counted_and_other_questions_are_left_alone() {
        let check =
            |question: &str, want: Option<&str>| assert_eq!(answer(question, TEXT).as_deref(), want, "{question}");
        check("how many words are in notes.txt?", Some("16 words"));
        check("how many words are?", Some("16 words"));
        check("How many words does have", Some("16 words"));
        check("how many words are in this text", Some("16 words"));
        check("count the words", Some("16 words"));
        check("word count", Some("16 words"));
        check("number of words", Some("16 words"));
        check("how many lines does have", Some("3 lines"));
        check("how many paragraphs are there?", Some("2 paragraphs"));
        check("how many sentences are there in the text?", Some("4 sentences"));
        check("how many letters are there", Some("60 letters"));
        check("count the characters", Some("82 characters"));
        check("how often does the word \"cat\" occur?", Some("1 time"));
        check("how many times does the word the appear in the text?", Some("3 times"));
        check("сколько слов?", Some("16 слов"));
        check("посчитай количество строк", Some("3 строки"));
        check("сколько абзацев в тексте?", Some("2 абзаца"));
        check("А сколько в нём слов?", Some("16 слов"));
        check("сколько раз встречается слово «cats»?", Some("1 раз"));
        check("有多少字？", Some("16 字"));
        check("这篇文章有多少个字？", Some("16 字"));
        check("“cat”出现了几次？", Some("1 次"));
        check("how often does \"cat\" occur, and \"dog\"?", Some("cat: 1 time, dog: 1 time"));
        check("how many times is the mentioned, and end?", Some("the: 3 times, end: 1 time"));
        check("how many times is cat mentioned and who said it?", Some("1 time"));
        check("is \"dog\" in notes.txt?", Some("1 time"));
        check("how many words and how many sentences?", Some("16 words, 4 sentences"));
        check("count the paragraphs and the lines", Some("2 paragraphs, 3 lines"));
        check("how many different words are there in the text?", Some("14 different words"));
        check("how many letters e are in the text?", Some("7 letters"));
        check("how many lines contain \"cat\"?", Some("2 lines"));
        check("how many lines do not contain cat?", Some("1 line"));
        check("how often does the word the occur, capital T only?", None);
        check("how often does the word cat occur in the first line?", None);
        check("how often does \" \" occur?", None);
        check("how many words does Anna say?", None);
        check("how many cats are there?", None);
        check("who is the last word of the law?", None);
        check("сколько кошек?", None);
    }

    #[test]
    fn ideographs_count_as_words() {
        assert_eq!(answer("字数", "今天用Rust写程序。").as_deref(), Some("7 字"));
        assert_eq!(answer("сколько слов", "один").as_deref(), Some("1 слово"));
        assert_eq!(answer("how many words", "").as_deref(), Some("0 words"));
        assert_eq!(answer("how often does the word cat occur?", "cat"), None);
        let more = |request, question| also(request, question);
        let question = "how often does Oslo occur";
        assert_eq!(
            more("how often does Oslo occur, and Rome?", question).as_deref(),
            Some("how often does oslo occur, and rome")
        );
        assert_eq!(more("how often does Oslo occur, and read it aloud", question), None);
        assert_eq!(more("how often does Oslo occur?", question), None);
    }
}
