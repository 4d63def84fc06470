//! What of a request's wishes nothing read: "summarise notes.txt for a child". A model of rules that passes over such words
//! gives something else than was asked, so it says them as not done.
//!
//! Wishes stand behind what they are about ("notes.txt as a poem"), and in the clause that follows. What stands before it says
//! which thing is meant, and is not looked at, but for words that pick some of what is found. What a request takes out ("without
//! the title") is a wish wherever it stands.

use std::ops::Range;
use std::sync::LazyLock;

use crate::native::words;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{is_han, is_path, pattern};
use regex::Regex;
use serde_json::Value;

/// The models of rules that read a request for how their work is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skill {
    Summary,
    Keywords,
    Mood,
    Entities,
    Described,
    Regions,
    Speech,
}

/// What asks for a skill, and the words that it reads.
struct Rows {
    key: Regex,
    read: Regex,
}

fn row(name: &str) -> Regex {
    pattern(words::row(include_str!("../../data/wishes.tsv"), name))
}

fn rows(name: &str) -> Rows {
    Rows { key: row(name), read: row(&format!("{name}_READ")) }
}

// A test runs each.
static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| row("SEPARATOR"));
static GOES_ON: LazyLock<Regex> = LazyLock::new(|| row("GOES_ON"));
static ENDS: LazyLock<Regex> = LazyLock::new(|| row("ENDS"));
static NEUTRAL: LazyLock<Regex> = LazyLock::new(|| row("NEUTRAL"));
static NEUTRAL_HAN: LazyLock<Regex> = LazyLock::new(|| row("NEUTRAL_HAN"));
static NEUTRAL_THING: LazyLock<Regex> = LazyLock::new(|| row("NEUTRAL_THING"));
static ONE_BY_ONE: LazyLock<Regex> = LazyLock::new(|| row("ONE_BY_ONE"));
static SOME: LazyLock<Regex> = LazyLock::new(|| row("SOME"));
static SOME_BOUND: LazyLock<Regex> = LazyLock::new(|| row("SOME_BOUND"));
static EXCLUDES: LazyLock<Regex> = LazyLock::new(|| row("EXCLUDES"));
static COUNTING: LazyLock<Regex> = LazyLock::new(|| row("COUNTING"));
static SPOKEN: LazyLock<Regex> = LazyLock::new(|| row("SPOKEN"));
static SUMMARY: LazyLock<Rows> = LazyLock::new(|| rows("SUMMARY"));
static KEYWORDS: LazyLock<Rows> = LazyLock::new(|| rows("KEYWORDS"));
static MOOD: LazyLock<Rows> = LazyLock::new(|| rows("MOOD"));
static ENTITIES: LazyLock<Rows> = LazyLock::new(|| rows("ENTITIES"));
static DESCRIBED: LazyLock<Rows> = LazyLock::new(|| rows("DESCRIBED"));
static REGIONS: LazyLock<Rows> = LazyLock::new(|| rows("REGIONS"));
static SPEECH: LazyLock<Rows> = LazyLock::new(|| rows("SPEECH"));

impl Skill {
    fn rows(self) -> &'static Rows {
        match self {
            Skill::Summary => &SUMMARY,
            Skill::Keywords => &KEYWORDS,
            Skill::Mood => &MOOD,
            Skill::Entities => &ENTITIES,
            Skill::Described => &DESCRIBED,
            Skill::Regions => &REGIONS,
            Skill::Speech => &SPEECH,
        }
    }
}

/// Stands for a file or a text in what is left of a request.
const THING: char = '\u{fffc}';

/// Words of wishes in a row, beyond which they are rather a text that the request holds.
const LONGEST: usize = 12;

/// The wishes that `skill` does not read, in the words of the request. `things` are the names of its files and the texts that
/// it works on, which wish nothing themselves; `read` is what the skill's own patterns read.
pub(super) fn unread(request: &str, things: &[&str], skill: Skill, read: &[&Regex]) -> Vec<String> {
    let Rows { key, read: words } = skill.rows();
    let plain = plain(request, things);
    let mut unread: Vec<String> = Vec::new();
    let mut follows = false;
    // From the clause that asks on, up to where a text begins.
    let mut may_exclude = false;
    let mut is_text = false;
    // A summary may be asked for in words that nobody foresaw, or that are mistyped: then every clause may wish something.
    let is_unforeseen = skill == Skill::Summary && !key.is_match(&plain);
    for clause in SEPARATOR.split(&plain) {
        let found =
            if is_unforeseen { first_word(clause, words, read) } else { key.find(clause).map(|found| found.range()) };
        may_exclude |= found.is_some();
        if may_exclude && !is_text {
            let begins = ENDS.find(clause).filter(|end| end.as_str().chars().all(|ch| !ch.is_alphabetic()));
            is_text = begins.is_some();
            let told = begins.map_or(clause, |begins| clause.get(..begins.start()).unwrap_or(clause));
            unread.extend(taken_out(told, &[read, &[words]].concat()));
        }
        if found.is_none() && !(follows && GOES_ON.is_match(clause)) {
            follows = false;
            continue;
        }
        follows = true;
        let thing = clause.rfind(THING).map_or(0, |at| at + THING.len_utf8());
        let behind = found.map_or(0, |found| found.end).max(thing);
        if skill == Skill::Summary {
            unread.extend(COUNTING.find(clause).map(|found| shown(found.as_str())));
        }
        if skill == Skill::Entities {
            unread.extend(SOME.find(clause).map(|found| shown(found.as_str())));
        }
        if skill != Skill::Summary {
            unread.extend(ONE_BY_ONE.find(clause).map(|found| shown(found.as_str())));
        }
        let zone = clause.get(behind..).expect("matches end at characters");
        // The mark that closes a quoted text opens no other.
        let closed = zone.trim_start().trim_start_matches(['"', '”', '»', '」']);
        let zone = if skill == Skill::Speech { closed } else { zone };
        let zone = ENDS.find(zone).and_then(|end| zone.get(..end.start())).unwrap_or(zone);
        let zone = if skill == Skill::Speech { zone.into() } else { SPOKEN.replace(zone, "") };
        unread.extend(rest(&zone, words, &[read, &[key]].concat()));
    }
    if skill == Skill::Entities {
        unread.extend(SOME_BOUND.find(&plain).map(|found| shown(found.as_str())));
    }
    unread.dedup();
    unread
}

/// What a clause takes out of what is to be done, where nothing reads that: "without the first sentence".
fn taken_out(clause: &str, read: &[&Regex]) -> Option<String> {
    let is_read = |at: usize| {
        let mut all = read.iter().flat_map(|pattern| pattern.find_iter(clause));
        all.any(|found| found.range().contains(&at))
    };
    let found = EXCLUDES.find_iter(clause).find(|found| !is_read(found.start()))?;
    clause.get(found.start()..).map(shown)
}

/// Where the first word stands that nothing reads, which is the verb of the clause.
fn first_word(clause: &str, words: &Regex, read: &[&Regex]) -> Option<Range<usize>> {
    let is_read = |word: &Range<usize>| {
        let word = clause.get(word.clone()).unwrap_or_default();
        rest(word, words, read).is_none()
    };
    let thing = clause.find(THING).unwrap_or(clause.len());
    let first = spoken(clause).into_iter().find(|word| !is_read(word));
    Some(first.filter(|word| word.start < thing).unwrap_or(0..0))
}

/// What a request takes out of what is asked, beside `things`.
pub(super) fn excluded(request: &str, things: &[&str]) -> Option<String> {
    SEPARATOR.split(&plain(request, things)).find_map(|clause| taken_out(clause, &[]))
}

/// The clauses of a request that ask for a skill, in lower case; all of it where none does.
pub(super) fn asking_for(request: &str, things: &[&str], skill: Skill) -> String {
    let plain = plain(request, things);
    let key = &skill.rows().key;
    let asking: Vec<&str> = SEPARATOR.split(&plain).filter(|clause| key.is_match(clause)).collect();
    if asking.is_empty() { plain.replace(THING, " ") } else { asking.join(", ").replace(THING, " ") }
}

/// What a job is asked to do by an order of its own, or by the clauses of the request that hold one of `keys`, and that nothing
/// reads. `written` are texts that the order quotes.
pub(super) fn of_edit(job: &Job, keys: &[&Regex], words: &Regex, read: &[&Regex], written: &[&str]) -> Vec<String> {
    let files = job.request.attachments.iter().filter_map(|file| file.name.as_deref());
    let things: Vec<&str> = files.chain(written.iter().copied()).collect();
    match job.arg("text") {
        Some(order) => of_order(order, &things, Clauses::All, words, read),
        None => of_order(&job.request.text, &things, Clauses::With(keys), words, read),
    }
}

/// What the request of a job wishes and `skill` does not read.
pub(super) fn of(job: &Job, skill: Skill, read: &[&Regex]) -> Vec<String> {
    let files = job.request.attachments.iter().filter_map(|file| file.name.as_deref());
    let things: Vec<&str> = files.chain(job.args.values().filter_map(Value::as_str)).collect();
    unread(&job.request.text, &things, skill, read)
}

/// A result with what it leaves undone.
pub(super) fn with_rest(made: TaskOutput, left: Vec<String>) -> TaskOutput {
    if left.is_empty() { made } else { made.with(TaskOutput::NOT_DONE, left) }
}

/// The request in lower case, with a sign for each of `things`.
fn plain(request: &str, things: &[&str]) -> String {
    let mut whole = request.to_owned();
    let sign = format!(" {THING} ");
    let mut things: Vec<&str> = things.iter().map(|thing| thing.trim()).filter(|thing| thing.len() > 2).collect();
    things.sort_by_key(|thing| std::cmp::Reverse(thing.len()));
    for thing in things {
        whole = whole.replace(thing, &sign);
    }
    let words: Vec<&str> = whole
        .split_inclusive([' ', '\t', '\r', '\n'])
        .map(|word| if is_path(word.trim()) { &sign } else { word })
        .collect();
    words.concat().to_lowercase().replace('ё', "е").replace('’', "'")
}

/// What of a wish neither the patterns nor the words of no weight read, a word at least; a pattern that meets a part of a word
/// reads all of it.
pub(super) fn rest(zone: &str, words: &Regex, read: &[&Regex]) -> Option<String> {
    let mut known = vec![false; zone.len()];
    for pattern in
        read.iter().copied().chain([words, &*super::audio::LANGUAGES, &*NEUTRAL, &*NEUTRAL_HAN, &*NEUTRAL_THING])
    {
        for found in pattern.find_iter(zone) {
            known.get_mut(found.range()).expect("matches lie in the text").fill(true);
        }
    }
    let is_known = |range: &Range<usize>| known.get(range.clone()).expect("words lie in the text").contains(&true);
    let unknown: Vec<Range<usize>> = spoken(zone).into_iter().filter(|word| !is_known(word)).collect();
    let (first, last) = (unknown.first()?, unknown.last()?);
    // One sign of Chinese is as good as none.
    let is_sign = zone.get(first.clone()).is_some_and(|word| word.starts_with(is_han));
    if is_sign && unknown.len() < 2 {
        return None;
    }
    let start = zone.get(..first.start).and_then(|before| before.rfind(THING)).map_or(0, |at| at + THING.len_utf8());
    let wish = zone.get(start..last.end)?;
    (wish.split_whitespace().count() <= LONGEST).then(|| shown(wish))
}

/// Which clauses of a text an order is in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clauses<'a> {
    /// The text is the order, and nothing else.
    All,
    /// Those in which one of these is met, and what goes on with them; the others are the business of other tasks.
    With(&'a [&'a Regex]),
}

/// A row of `data/wishes.tsv` for skills that bring patterns of their own.
pub(super) fn words_of(name: &str) -> Regex {
    row(name)
}

/// What of an order nothing reads, clause by clause. An edit does what its words say, so each word of its clauses is to be read:
/// by the patterns that were used (`read`), by the words that go with such edits (`words`), or it wishes nothing by itself.
pub(super) fn of_order(
    order: &str,
    things: &[&str],
    clauses: Clauses<'_>,
    words: &Regex,
    read: &[&Regex],
) -> Vec<String> {
    let plain = plain(order, things);
    // A time may hold an "and": patterns are looked for in the whole, not in its clauses.
    let marked = |patterns: &[&Regex]| {
        let mut known = vec![false; plain.len()];
        for found in patterns.iter().flat_map(|pattern| pattern.find_iter(&plain)) {
            known.get_mut(found.range()).expect("matches lie in the text").fill(true);
        }
        known
    };
    let weighty = marked(&[read, &[words]].concat());
    let light = marked(&[&*super::audio::LANGUAGES, &*NEUTRAL, &*NEUTRAL_HAN, &*NEUTRAL_THING]);
    let is_in = |known: &[bool], word: &Range<usize>| known.get(word.clone()).is_some_and(|part| part.contains(&true));
    let mut left = Vec::new();
    let (mut start, mut follows) = (0, false);
    let borders = SEPARATOR.find_iter(&plain).map(|border| border.range());
    for border in borders.chain(std::iter::once(plain.len()..plain.len())) {
        let clause = start..border.start;
        start = border.end;
        let Some(text) = plain.get(clause.clone()) else { continue };
        let begins = text.trim_start();
        let goes_on = || {
            GOES_ON.is_match(text) || begins.starts_with(THING) || begins.starts_with(|ch: char| ch.is_ascii_digit())
        };
        follows = match clauses {
            Clauses::All => true,
            Clauses::With(keys) => keys.iter().any(|key| key.is_match(text)) || follows && goes_on(),
        };
        if !follows {
            continue;
        }
        let said = spoken(text).into_iter().map(|word| word.start + clause.start..word.end + clause.start);
        let said: Vec<Range<usize>> = said.collect();
        let unknown: Vec<&Range<usize>> =
            said.iter().filter(|word| !is_in(&weighty, word) && !is_in(&light, word)).collect();
        let (Some(first), Some(last)) = (unknown.first(), unknown.last()) else { continue };
        let is_sign = plain.get((*first).clone()).is_some_and(|word| word.starts_with(is_han));
        if is_sign && unknown.len() < 2 {
            continue;
        }
        // Small words right before belong to the wish: "at 64 kbps".
        let before = said.iter().rev().skip_while(|word| word.start >= first.start);
        let small = before.take_while(|word| !is_in(&weighty, word)).last();
        let from = small.map_or(first.start, |word| word.start);
        left.extend(plain.get(from..last.end).map(shown));
    }
    left.dedup();
    left
}

/// The words of a text; signs of Chinese one by one.
fn spoken(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (at, ch) in text.char_indices() {
        let end = at + ch.len_utf8();
        match words.last_mut() {
            Some(word) if open && ch.is_alphanumeric() && !is_han(ch) => word.end = end,
            _ if ch.is_alphanumeric() => words.push(at..end),
            _ => {}
        }
        open = ch.is_alphanumeric() && !is_han(ch);
    }
    words
}

fn shown(wish: &str) -> String {
    wish.replace(THING, "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_reads_is_said() {
        let check = |skill: Skill, request: &str, want: &[&str]| {
            assert_eq!(unread(request, &["a.txt", "b.jpg"], skill, &[]), want, "{request}");
        };
        use Skill::*;
        check(Summary, "summarise a.txt for a five year old", &["for a five year old"]);
        check(Summary, "summarise a.txt without names", &["without names"]);
        check(Entities, "list the people in a.txt, but not Maria", &["not maria"]);
        check(Entities, "выпиши имена из a.txt, кроме Анны", &["кроме анны"]);
        check(Mood, "the mood of a.txt, not counting the title", &["not counting the title"]);
        check(Summary, "summarise a.txt in the style of Hemingway", &["in the style of hemingway"]);
        check(Summary, "Summarise a.txt, in rhymes", &["in rhymes"]);
        check(Summary, "перескажи a.txt простыми словами", &["простыми словами"]);
        check(Summary, "把 a.txt 总结成一首诗", &["成一首诗"]);
        check(Summary, "explain a.txt to a five year old", &["to a five year old"]);
        check(Summary, "sumarize a.txt in 2 sentances", &["in 2 sentances"]);
        check(Summary, "summarise a.txt for my boss in a friendly tone", &["for my boss in a friendly tone"]);
        check(Entities, "dates after 1 May 2024 in a.txt", &["dates after 1 may 2024 in"]);
        check(Entities, "dates in a.txt as ISO dates", &["as iso"]);
        check(Entities, "first three names in a.txt", &["first three names in"]);
        check(Speech, "read a.txt aloud in 10 seconds", &["aloud in 10 seconds"]);
        check(Speech, "read \"a.txt\" with a robotic male voice", &["with a robotic"]);
        check(Speech, "say a.txt three times, with music", &["three times", "with music"]);
        check(Entities, "list the people who live in Paris in a.txt", &["people who live in paris in"]);
        check(Entities, "list the people in a.txt in alphabetical order", &["in alphabetical order"]);
        check(Mood, "how angry is a.txt on a scale from 1 to 10", &["on a scale from 1 to 10"]);
        check(Mood, "rate the mood of each sentence in a.txt", &["each sentence"]);
        check(Described, "describe b.jpg as a poem", &["as a poem"]);
        check(Regions, "segment b.jpg into 3 regions", &["into 3"]);
    }

    #[test]
    fn each_word_of_an_order_is_read_or_said() {
        let read = [pattern(r"\bto (?:mp3|ogg)\b|\bjoin\b|склей|合并")];
        let read: Vec<&Regex> = read.iter().collect();
        let words = words_of("SOUND_READ");
        let check = |order: &str, want: &[&str]| {
            let all = of_order(order, &["a.wav", "b.wav"], Clauses::All, &words, &read);
            assert_eq!(all, want, "{order}");
            let some = of_order(order, &["a.wav", "b.wav"], Clauses::With(&read), &words, &read);
            assert_eq!(some, want, "{order}");
        };
        check("convert a.wav to mp3 please", &[]);
        check("convert a.wav to mp3 at 96 kbps", &["at 96 kbps"]);
        check("convert the recording to ogg, 16000 Hz", &["16000 hz"]);
        check("join a.wav and b.wav with 3 beeps between them", &["with 3 beeps between"]);
        check("join a.wav and b.wav", &[]);
        check("склей a.wav и b.wav с паузой", &["с паузой"]);
        check("合并 a.wav 和 b.wav", &[]);
        let (card, words) = (words_of("CARD"), words_of("CARD_READ"));
        let check = |order: &str, want: &[&str]| {
            let left = of_order(order, &["Open Day"], Clauses::With(&[&card]), &words, &[&card]);
            assert_eq!(left, want, "{order}");
        };
        check("make a title card with the words Open Day", &[]);
        check("draw a poster that says Open Day in blue on yellow", &["in blue on yellow"]);
        check("make a poster \"Open Day\" with a purple background, 640x480", &["a purple background", "640x480"]);
        check("сделай плакат «Open Day» на красном фоне", &["на красном фоне"]);
        let words = words_of("SOUND_READ");
        let others = of_order("join a.wav and b.wav, then count the birds", &[], Clauses::With(&read), &words, &read);
        assert_eq!(others, [""; 0], "another task counts");
    }

    #[test]
    fn what_is_read_or_wishes_nothing_is_not() {
        let check = |skill: Skill, request: &str| {
            assert_eq!(unread(request, &["a.txt", "b.jpg"], skill, &[]), [""; 0], "{request}");
        };
        use Skill::*;
        for request in [
            "summarise a.txt please",
            "Summarise a.txt in three bullet points, thanks",
            "summarise the minutes of the meeting in a.txt",
            "summarise a.txt in one sentence and read it aloud in a deep voice",
            "read the summary of a.txt aloud slowly",
            "a 2 sentence summary of a.txt in French",
            "translate the summary of a.txt into Spanish",
            "summarise a.txt for my boss",
            "condense a.txt please",
            "recap it in two sentences",
            "summarise: It rained for a week in the style of November.",
            "I do not understand a.txt, summarise it",
            "summarise a.txt in not more than 2 sentences",
            "summarise: It did not rain, and nobody came.",
            "кратко перескажи a.txt в двух предложениях",
            "Кратко перескажи текст в двух предложениях",
            "summarise the minutes in 50 words max",
            "用三句话总结 a.txt",
            "总结 a.txt 的主要内容",
        ] {
            check(Summary, request);
        }
        for request in [
            "read a.txt aloud",
            "read a.txt aloud slowly in a female voice",
            "Read a.txt aloud in Russian, fast",
            "say a.txt with a French accent",
            "прочитай a.txt вслух женским голосом медленно",
            "用女声朗读 a.txt",
            "read a.txt to me please",
        ] {
            check(Speech, request);
        }
        for request in [
            "is a.txt positive or negative?",
            "is a.txt positive or not?",
            "what is the mood of a.txt",
            "the mood of my house",
            "a.txt 的情感是什么",
        ] {
            check(Mood, request);
        }
        for request in [
            "pull out every phone number please",
            "выпиши все адреса электронной почты",
            "who is mentioned in a.txt",
            "list all the names in a.txt",
            "list all the names of people in these minutes",
            "which dates are mentioned in the mail?",
            "какие имена упомянуты в a.txt",
        ] {
            check(Entities, request);
        }
        check(Described, "describe b.jpg in detail");
        check(Described, "describe b.jpg and tell me how wide it is");
        check(Regions, "split b.jpg into regions, segment it");
    }
}
