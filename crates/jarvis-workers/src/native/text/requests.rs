//! What a request wants to know of a text, where the built-in models tell several things: patterns of
//! `data/text_requests.tsv`.

use std::sync::LazyLock;

use jarvis_plan::{is_path, pattern};
use regex::Regex;

use unicode_segmentation::UnicodeSegmentation;

use super::entities::Group;
use super::language::is_function_word;
use super::summary::number_of;
use crate::native::words;

/// A pattern of `data/text_requests.tsv`.
pub(super) fn row(name: &str) -> Regex {
    pattern(words::row(include_str!("../../../data/text_requests.tsv"), name))
}

// A test runs each.
static MOOD: LazyLock<Regex> = LazyLock::new(|| row("MOOD"));
static OTHER_KIND: LazyLock<Regex> = LazyLock::new(|| row("OTHER_KIND"));
static KEYWORDS: LazyLock<Regex> = LazyLock::new(|| row("KEYWORDS"));
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| row("SUMMARY"));
static EXPLAINED: LazyLock<Regex> = LazyLock::new(|| row("EXPLAINED"));
static LANGUAGE: LazyLock<Regex> = LazyLock::new(|| row("LANGUAGE"));
static COUNT: LazyLock<Regex> = LazyLock::new(|| row("COUNT"));
static MOOD_BEYOND: LazyLock<Regex> = LazyLock::new(|| row("MOOD_BEYOND"));
static IRONY: LazyLock<Regex> = LazyLock::new(|| row("IRONY"));
static TURNED: LazyLock<Regex> = LazyLock::new(|| row("TURNED"));
static MENTIONED: LazyLock<Regex> = LazyLock::new(|| row("MENTIONED"));
static NAMES: LazyLock<Regex> = LazyLock::new(|| row("NAMES"));
static GROUPS: LazyLock<Vec<(Group, Regex)>> = LazyLock::new(|| {
    Group::ALL.into_iter().filter(|group| *group != Group::Other).map(|group| (group, row(group.as_str()))).collect()
});

/// A request in lower case, without names of files and without `text`, which may be part of it: what it says is no wish.
pub(super) fn plain(request: &str, text: &str) -> String {
    let request = match text.trim() {
        "" => request.to_owned(),
        text => request.replace(text, " "),
    };
    let words: Vec<&str> = request.split_whitespace().filter(|word| !is_path(word)).collect();
    words.join(" ").to_lowercase().replace('ё', "е")
}

/// What of a text is to be explained rather than told: "explain why it failed". The request is plain.
pub(super) fn explained(request: &str) -> Option<&str> {
    EXPLAINED.find(request).map(|found| found.as_str())
}

/// Whether another kind of text is wanted than its mood. The request is plain.
pub(super) fn wants_other_kind(request: &str) -> bool {
    OTHER_KIND.is_match(request) && !MOOD.is_match(request)
}

/// What of a mood is wanted that is not told here: why it is so, or how much of it there is. The request is plain.
pub(super) fn beyond_mood(request: &str) -> Option<&str> {
    MOOD_BEYOND.find(request).map(|found| found.as_str())
}

/// Whether a text praises in words that are seldom meant.
pub(super) fn is_ironic(text: &str) -> bool {
    IRONY.is_match(&text.to_lowercase())
}

/// Whether a short text turns on a comparison that is denied, which says another thing than its words.
pub(super) fn is_turned(text: &str) -> bool {
    TURNED.is_match(&text.to_lowercase())
}

/// Whether the keywords alone are wanted. The request is plain.
pub(super) fn wants_keywords(request: &str) -> bool {
    KEYWORDS.is_match(request) && !SUMMARY.is_match(request)
}

/// How many keywords are wanted. The request is plain.
pub(super) fn count(request: &str) -> Option<usize> {
    let number = COUNT.captures(request)?.iter().skip(1).flatten().next()?.as_str();
    number_of(number).filter(|count| (1..=50).contains(count))
}

/// Whether the language of a text is asked for. The question is plain.
pub(super) fn asks_language(question: &str) -> bool {
    LANGUAGE.is_match(question)
}

/// What a plain request says is not wanted: "no companies", "but not Oslo".
static TAKEN_OUT: LazyLock<Regex> = LazyLock::new(|| row("TAKEN_OUT"));

/// The groups of entities that are wanted; all of them when the request names none, but for those that it takes out. The request
/// is plain.
pub(super) fn groups(request: &str) -> Vec<Group> {
    let wanted = named_groups(&TAKEN_OUT.replace_all(request, " "));
    let out: Vec<Group> = TAKEN_OUT.find_iter(request).flat_map(|part| part_groups(part.as_str())).collect();
    wanted.into_iter().filter(|group| !out.contains(group)).collect()
}

/// What takes groups out, where it names nothing else.
pub(super) fn taken_out() -> &'static Regex {
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| row("TAKEN_OUT_WHOLE"));
    &WHOLE
}

fn part_groups(part: &str) -> Vec<Group> {
    GROUPS.iter().filter(|(_, pattern)| pattern.is_match(part)).map(|(group, _)| *group).collect()
}

fn named_groups(request: &str) -> Vec<Group> {
    let mut wanted = part_groups(request);
    // "Phone numbers" are no numbers.
    if wanted.contains(&Group::Phone) {
        wanted.retain(|group| *group != Group::Number);
    }
    if NAMES.is_match(request) {
        wanted.extend([Group::Person, Group::Organisation, Group::Location, Group::Other]);
    }
    if wanted.is_empty() { Group::ALL.to_vec() } else { wanted }
}

/// Whether a text has no words but those that ask for kinds of entities: "the names".
pub(super) fn names_only_kinds(text: &str) -> bool {
    let plain = plain(text, "");
    let mut words = plain.unicode_words().peekable();
    let says = |word: &str| {
        is_function_word("en", word)
            || is_function_word("ru", word)
            || group_patterns().iter().any(|pattern| pattern.find(word).is_some_and(|found| found.len() == word.len()))
    };
    words.peek().is_some() && words.all(says)
}

/// What names groups of entities.
pub(super) fn group_patterns() -> Vec<&'static Regex> {
    GROUPS.iter().map(|(_, pattern)| pattern).chain([&*NAMES]).collect()
}

/// The groups of which a question asks what the text mentions, and nothing more: "which companies are mentioned?" The question
/// is plain; `asked` are its words that ask for something.
pub(super) fn mentioned_groups<'a>(question: &str, asked: impl Iterator<Item = &'a str>) -> Option<Vec<Group>> {
    let wanted = groups(question);
    let (mut says, mut other) = (false, false);
    for word in asked {
        let is_mention = MENTIONED.is_match(word);
        says |= is_mention;
        other |= !is_mention && !group_patterns().iter().any(|pattern| pattern.is_match(word));
    }
    (says && !other && wanted.len() < Group::ALL.len()).then_some(wanted)
}

/// The groups that a question asks for and that have a form of their own. The question is plain.
pub(super) fn plain_groups(question: &str) -> Option<Vec<Group>> {
    let formed = [Group::Email, Group::Url, Group::Phone];
    let wanted: Vec<Group> = GROUPS
        .iter()
        .filter(|(group, pattern)| formed.contains(group) && pattern.is_match(question))
        .map(|(group, _)| *group)
        .collect();
    (!wanted.is_empty()).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        for request in
            ["classify it as sports or politics", "is this spam", "what is the topic", "это спам?", "这是垃圾邮件吗"]
        {
            assert!(wants_other_kind(&plain(request, "")), "{request}");
        }
        for request in
            ["is it positive or negative", "classify the text", "как он относится к еде, позитивно или негативно"]
        {
            assert!(!wants_other_kind(&plain(request, "")), "{request}");
        }
        assert!(!wants_other_kind(&plain("tell the mood of: is this spam", "is this spam")));
        assert!(wants_keywords("give me three keywords for") && !wants_keywords("a summary with keywords"));
        assert_eq!(["three keywords", "5 key words", "keywords"].map(count), [Some(3), Some(5), None]);
        assert!(explained("explain why it failed").is_some() && explained("объясни, почему").is_some());
        assert!(explained("explain it to me").is_none() && explained("解释一下为什么").is_some());
        assert!(asks_language(&plain("Which language is notes.txt in?", "")) && !asks_language("what is a language"));
    }

    #[test]
    fn what_is_mentioned_is_told_from_other_questions() {
        let check = |question: &str, asked: &[&str], want: Option<&[Group]>| {
            let found = mentioned_groups(&plain(question, ""), asked.iter().copied());
            assert_eq!(found.as_deref(), want, "{question}");
        };
        check("which companies are named?", &["companies", "named"], Some(&[Group::Organisation]));
        check("кто упомянут в тексте?", &["упомянут"], Some(&[Group::Person]));
        check("which companies does Anna mention?", &["companies", "anna", "mention"], None);
        check("what is the price?", &["price"], None);
    }

    #[test]
    fn why_and_how_much_are_no_moods() {
        for request in ["why is the guest so sad?", "how angry is she?", "почему клиент зол?", "作者为什么高兴"]
        {
            assert!(beyond_mood(&plain(request, "")).is_some(), "{request}");
        }
        assert_eq!(beyond_mood("how does the writer feel?"), None);
        assert!(is_ironic("Oh great, it rains again") && is_ironic("Thanks a lot for nothing!"));
        assert!(!is_ironic("This is a great book. Thanks!"));
    }

    #[test]
    fn groups_are_those_named() {
        let check = |request: &str, want: &[Group]| assert_eq!(groups(&plain(request, "")), want, "{request}");
        check("which dates are in notes.txt", &[Group::Date]);
        check("find the e-mail addresses", &[Group::Email]);
        check("list the places and the companies", &[Group::Organisation, Group::Location]);
        check("какие даты в тексте", &[Group::Date]);
        check("提取电话", &[Group::Phone]);
        check("extract names", &[Group::Person, Group::Organisation, Group::Location, Group::Other]);
        check("find the entities", &Group::ALL);
        check("the people, no companies", &[Group::Person]);
        check("организации, но не даты", &[Group::Organisation]);
        let kept: Vec<Group> = Group::ALL.into_iter().filter(|group| *group != Group::Date).collect();
        check("everything without the dates", &kept);
    }
}
