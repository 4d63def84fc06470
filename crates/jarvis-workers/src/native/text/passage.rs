//! The sentence of a passage that answers a question: it holds every word of it, and the kind of thing that is asked for.

use std::ops::Range;

use super::asking::{Asked, Question, Words};
use super::language::language;
use super::segment::{Stemmers, is_heading, sentences};

/// Splits a text that holds both: a question on its first or last line, and the passage around it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let ranges = sentences(text);
    let (first, last) = (ranges.first()?, ranges.last()?);
    let (question, context) = if is_question(text, first) {
        (first.clone(), first.end..text.len())
    } else if is_question(text, last) {
        (last.clone(), 0..last.start)
    } else {
        return None;
    };
    let context = text.get(context)?.trim();
    (!context.is_empty()).then_some((text.get(question)?, context))
}

/// Whether a text is rows of short fields, the same number of them in each.
pub(super) fn is_table(text: &str) -> bool {
    let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_short = |row: &&str, separator: char| row.chars().count() <= 60 * (row.matches(separator).count() + 1);
    rows.len() >= 3
        && ['\t', ';', ',', '|'].iter().any(|separator| {
            let fields = |row: &str| row.matches(*separator).count();
            let first = rows.first().map_or(0, |row| fields(row));
            first > 0 && rows.iter().all(|row| fields(row) == first && is_short(row, *separator) && !row.ends_with('.'))
        })
}

/// Whether a text is JSON, which no sentence is cut out of.
pub(super) fn is_data(text: &str) -> bool {
    let text = text.trim();
    let is_closed = |open, close| text.starts_with(open) && text.ends_with(close);
    (is_closed('[', ']') || is_closed('{', '}')) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn is_question(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|sentence| sentence.ends_with(['?', '？']))
}

#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// Where it stands, in bytes: a sentence, with the one before where it only refers back to that, and with the one after
    /// where it is a question itself.
    pub range: Range<usize>,
    /// The share of the question's words that the sentence holds by itself, from 0 to 1.
    pub score: f64,
}

/// Why nothing is quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The question has no word that says what it is about.
    Empty,
    /// A sentence is no yes and no no.
    YesOrNo,
    /// Words of the question that no sentence holds.
    Untold(Vec<String>),
    /// Words of the question that stand in the text, but in no one sentence.
    Apart(Vec<String>),
    /// A word that several sentences hold, and nothing that tells which is meant.
    Several(String),
    /// The question denies something, and no sentence about it does.
    NotDenied,
    /// The sentences that are about it do not tell this, in words: "a name".
    Lacks(&'static str),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        match self {
            Unanswered::Empty => write!(f, "the question does not say what it is about"),
            Unanswered::YesOrNo => write!(f, "sentences are quoted here, and none of them is a yes or a no"),
            Unanswered::Untold(words) => write!(f, "no sentence tells of {}", shown(words)),
            Unanswered::Apart(words) => write!(f, "no sentence tells of {} together", shown(words)),
            Unanswered::Several(word) => {
                write!(f, "several sentences tell of `{word}`, and the question does not say more")
            }
            Unanswered::NotDenied => write!(f, "the question says `not`, and no sentence about it does"),
            Unanswered::Lacks(what) => write!(f, "no sentence about it tells {what}"),
        }
    }
}

/// How many sentences a chain of "it" and "he" is followed back.
const CHAIN: usize = 2;

/// The sentence of a passage that answers a question: one that holds all its words, and the kind of thing that is asked for.
/// One shared word is no answer. It reads a passage of a page or so; search a longer text first.
///
/// # Errors
/// Why none does.
pub fn quote(question: &str, passage: &str) -> Result<Quote, Unanswered> {
    let stemmers = Stemmers::new(language(passage));
    let question = Question::read(question, &stemmers);
    if question.asked.is_empty() {
        return Err(Unanswered::Empty);
    }
    let (headings, ranges): (Vec<Range<usize>>, Vec<Range<usize>>) =
        sentences(passage).into_iter().partition(|range| is_heading(passage, range));
    let text = |range: &Range<usize>| passage.get(range.clone()).expect("sentences lie in the passage");
    let words: Vec<Words> = ranges.iter().map(|range| Words::of(text(range), &stemmers)).collect();
    // What the title names all of the text is about.
    let title =
        headings.first().filter(|title| passage.get(..title.start).is_some_and(|before| before.trim().is_empty()));
    let title = title.map(|title| Words::of(text(title), &stemmers));
    let of_title = |asked: &Asked| title.as_ref().is_some_and(|title| asked.is_in(title));
    let mut by_title: Vec<Quote> = Vec::new();
    let mut best: Option<Quote> = None;
    let (mut lacking, mut is_question_only, mut undenied) = (None, false, false);
    // "What does Dana have to do?" asks for more than a sentence with the name.
    if let ([only], [], false) = (question.asked.as_slice(), question.kinds.as_slice(), question.is_plain())
        && words.iter().filter(|words| only.is_in(words)).count() > 1
    {
        return Err(Unanswered::Several(only.shown().to_owned()));
    }
    for (at, (range, own)) in ranges.iter().zip(&words).enumerate() {
        let held = question.asked.iter().filter(|asked| asked.is_in(own)).count();
        if held == 0 {
            continue;
        }
        // What stands before is read as far as this only refers back to it.
        let mut start = at;
        let covers = |start: usize| {
            let chain = words.get(start..=at).unwrap_or_default();
            question.asked.iter().all(|asked| chain.iter().any(|words| asked.is_in(words)))
        };
        while !covers(start)
            && at - start < CHAIN
            && start > 0
            && words.get(start).is_some_and(|words| words.refers_back)
        {
            start -= 1;
        }
        let by_itself = covers(start);
        let rest = || question.asked.iter().filter(|asked| !of_title(asked));
        if !by_itself && (rest().next().is_none() || !rest().all(|asked| asked.is_in(own))) {
            continue;
        }
        if !by_itself {
            start = at;
        }
        // The answer to a question of the passage is the sentence after it.
        let next = ranges.get(at + 1).filter(|_| is_question(passage, range));
        let end = next.map_or(range.end, |next| next.end);
        if question.is_yes_no && next.is_none() {
            is_question_only = true;
            continue;
        }
        let answer = text(&(range.start..end));
        if question.denies() && !super::asking::denies(answer) {
            undenied = true;
            continue;
        }
        if let Some(kind) = question.lacks(answer) {
            lacking.get_or_insert(kind.words);
            continue;
        }
        let score = held as f64 / question.asked.len() as f64;
        let start = ranges.get(start).map_or(range.start, |first| first.start);
        if !by_itself {
            by_title.push(Quote { range: start..end, score });
            continue;
        }
        if best.as_ref().is_none_or(|best| score > best.score) {
            best = Some(Quote { range: start..end, score });
        }
    }
    // Two sentences that hold what the title does not leave it open which is meant.
    let only = match by_title.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    best.or(only).ok_or_else(|| {
        let is_told = |asked: &&Asked| words.iter().any(|words| asked.is_in(words));
        let shown = |asked: &Asked| asked.shown().to_owned();
        let untold: Vec<String> = question.asked.iter().filter(|asked| !is_told(asked)).map(shown).collect();
        match lacking {
            Some(what) => Unanswered::Lacks(what),
            None if undenied => Unanswered::NotDenied,
            None if is_question_only => Unanswered::YesOrNo,
            None if !untold.is_empty() => Unanswered::Untold(untold),
            None => Unanswered::Apart(question.asked.iter().map(shown).collect()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARBOUR: &str = "The harbour\n\nThe harbour was built in 1887 by Henry Martin. It lies in the north of Norway. \
        A ticket costs 15 euros. Is the harbour open in winter? Rarely. Anna wants a second boat, because the first one \
        leaks. The regatta was held twice. Lucy Gray won it with her sister. 1. Budget. The budget is 900 dollars. The \
        master lives in Bergen. The committee has spent 610 dollars of the\nbudget since Friday.";
    const MUSEUM: &str = "Музей открылся 3 июня 1998 года в Казани. Его основал Пётр Смирнов. Билет стоит 300 рублей. Ирина \
        привела в музей сестру Марию.";
    const SCHOOL: &str =
        "这所学校成立于1952年。校长叫李明。学校有3000名学生。王芳给她的妹妹买了一本书，因为她喜欢读书。";

    #[test]
    fn the_sentence_of_the_question_is_quoted() {
        for (passage, question, expected) in [
            (HARBOUR, "When was the harbour built?", "The harbour was built in 1887 by Henry Martin."),
            (HARBOUR, "who built the harbour", "The harbour was built in 1887 by Henry Martin."),
            (HARBOUR, "How much does a ticket cost?", "A ticket costs 15 euros."),
            (HARBOUR, "Is the harbour open?", "Is the harbour open in winter? Rarely."),
            (HARBOUR, "Why does Anna want a boat?", "Anna wants a second boat, because the first one leaks."),
            (HARBOUR, "Who won the regatta?", "The regatta was held twice. Lucy Gray won it with her sister."),
            (HARBOUR, "where does the master live?", "The master lives in Bergen."),
            (HARBOUR, "what is the budget?", "The budget is 900 dollars."),
            (
                HARBOUR,
                "how much of the budget has the committee spent?",
                "The committee has spent 610 dollars of the\nbudget since Friday.",
            ),
            ("Notes\n\nPresent: Ann Lee\nAbsent: Tim Roe\n\nAll came.", "who was absent?", "Absent: Tim Roe"),
            (MUSEUM, "Сколько стоит билет?", "Билет стоит 300 рублей."),
            (MUSEUM, "Как зовут сестру Ирины?", "Ирина привела в музей сестру Марию."),
            (SCHOOL, "学校是什么时候成立的？", "这所学校成立于1952年。"),
            (SCHOOL, "学校有多少名学生？", "学校有3000名学生。"),
            (SCHOOL, "王芳为什么给妹妹买了书？", "王芳给她的妹妹买了一本书，因为她喜欢读书。"),
        ] {
            let quote = quote(question, passage);
            let found = quote.as_ref().map(|quote| passage.get(quote.range.clone()).unwrap_or_default());
            assert_eq!(found, Ok(expected), "{question}");
            assert!(quote.is_ok_and(|quote| (0.0..=1.0).contains(&quote.score)), "{question}");
        }
    }

    const CLUB: &str = "Notes - Garden Club committee\nDate: Tuesday, 18 June 2024\n\nThe fair takes place on 13 July. Lena \
        will order the tents. Lena suggested a newsletter.\n\nTotal due 246.00 GBP\n\nNext meeting: Tuesday, 23 July 2024";

    #[test]
    fn the_title_says_what_a_text_is_about() {
        let check = |question: &str, want: Option<&str>| {
            let found = quote(question, CLUB).ok().and_then(|quote| CLUB.get(quote.range));
            assert_eq!(found, want, "{question}");
        };
        check("when is the next meeting of the garden club?", Some("Next meeting: Tuesday, 23 July 2024"));
        check("what is the total?", Some("Total due 246.00 GBP"));
        check("when is the next meeting of the chess club?", None);
        check("when was the garden club founded?", None);
        check("what does Lena do for the garden club?", None);
        check("when does the garden club committee meet in Paris?", None);
    }

    #[test]
    fn a_shared_word_is_no_answer() {
        for (passage, question, why) in [
            (SCHOOL, "Who discovered penicillin?", "no sentence tells of `discovered`, `penicillin`"),
            (SCHOOL, "王芳的弟弟叫什么名字？", "no sentence tells of `弟弟`"),
            (SCHOOL, "学校有多高？", "no sentence about it tells a height"),
            (HARBOUR, "What is the depth of the harbour?", "no sentence tells of `depth`"),
            (HARBOUR, "who won the regatta in 2010?", "no sentence tells of `2010`"),
            (HARBOUR, "How much did the boat cost?", "no sentence tells of `boat`, `cost` together"),
            (HARBOUR, "How much money is left of the budget?", "no sentence tells of `money`, `left`"),
            (HARBOUR, "who lives in Bergen?", "no sentence about it tells a name"),
            (HARBOUR, "why was the regatta held?", "no sentence about it tells a reason"),
            (HARBOUR, "how many regattas were held?", "no sentence about it tells a number"),
            (
                HARBOUR,
                "does the master live in Bergen?",
                "sentences are quoted here, and none of them is a yes or a no",
            ),
            (HARBOUR, "what does Anna not want?", "no sentence tells of `not`"),
            (
                HARBOUR,
                "what about the harbour?",
                "several sentences tell of `harbour`, and the question does not say more",
            ),
            (HARBOUR, "what is it?", "the question does not say what it is about"),
            (MUSEUM, "Как зовут брата Ирины?", "no sentence tells of `брата`"),
            (MUSEUM, "Где стоит музей?", "no sentence tells of `стоит`, `музей` together"),
        ] {
            let found = quote(question, passage).map_err(|why| why.to_string());
            assert_eq!(found, Err(why.to_owned()), "{question}");
        }
    }

    #[test]
    fn tables_are_told_from_texts() {
        let check = |text: &str, is: bool| assert_eq!(is_table(text), is, "{text}");
        check("product,region,units\nlamp,North,12\nlamp,South,5\n", true);
        check("a\tb\n1\t2\n3\t4\n", true);
        check("product,region\nlamp,North\n", false);
        check("One, two.\nThree, four.\nFive, six.", false);
        check("A line\nAnother line\nA third line", false);
        assert!(is_data(r#"[{"town": "Oslo", "people": 7}]"#) && !is_data("[A remark.] It rains.") && !is_data("{}s"));
    }

    #[test]
    fn question_and_passage_are_split() {
        assert_eq!(split("Who built it? Henry built it."), Some(("Who built it?", "Henry built it.")));
        assert_eq!(split("李明建的。谁建的？"), Some(("谁建的？", "李明建的。")));
        assert_eq!(split("Who built it?"), None);
        assert_eq!(split("Henry built it."), None);
    }
}
