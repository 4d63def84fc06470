//! What a request holds, for own tools: words with what they mean in English, and values with their types.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::{cardinal, is_cyrillic, is_han};
use regex::Regex;
use serde_json::Number;

use super::dates;
use crate::data;
use crate::numerals::{self, Marks};
use crate::resources::{self, SpanKind};
use crate::words::{self, listed, pattern, slice};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Word,
    /// A number, and the currency whose sign stands at it.
    Number(Number, Option<&'static str>),
    /// LH12, A-17, #42: a mark with a digit, written without the sign.
    Code(String),
    Quote(String),
    Email,
    Url,
    Path,
    /// A day of a calendar, in ISO 8601.
    Date(String),
    /// A day that only today tells: "tomorrow", "on Friday", "3 March".
    Day,
    Time,
    /// Punctuation.
    Mark(char),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) what: What,
    pub(super) text: String,
    pub(super) lower: String,
    /// Its stem, and the English stems that it may stand for.
    pub(super) keys: Vec<String>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Written as names are: with a capital that no sentence asks for, or Chinese that no list knows.
    pub(super) name: bool,
}

impl Word {
    pub(super) fn is(&self, list: &str) -> bool {
        listed(list, &self.lower)
    }

    pub(super) fn has(&self, stem: &str) -> bool {
        self.keys.iter().any(|key| key == stem)
    }

    pub(super) fn is_word(&self) -> bool {
        self.what == What::Word
    }

    pub(super) fn is_value(&self) -> bool {
        !matches!(self.what, What::Word | What::Mark(_))
    }

    pub(super) fn mark(&self) -> Option<char> {
        match self.what {
            What::Mark(mark) => Some(mark),
            _ => None,
        }
    }
}

struct Glossary {
    by_stem: HashMap<String, Vec<String>>,
    han: HashMap<&'static str, Vec<String>>,
    longest: usize,
}

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| {
    let mut glossary = Glossary { by_stem: HashMap::new(), han: HashMap::new(), longest: 4 };
    for (english, others) in data::rows(include_str!("../../data/glossary.tsv")) {
        let key = words::stem(english.trim_end_matches("_noun"));
        for other in others.split(' ') {
            let keys = if other.chars().any(is_han) {
                glossary.longest = glossary.longest.max(other.chars().count());
                glossary.han.entry(other).or_default()
            } else {
                glossary.by_stem.entry(words::stem(other)).or_default()
            };
            if !keys.contains(&key) {
                keys.push(key.clone());
            }
        }
    }
    glossary
});

/// Chinese words that only tie others together; they end a name.
pub(super) const HAN_TIES: &str = "从 到 去 在 把 将 给 的 和 与 成 为 了 吗 呢 吧 是 我 你 请 帮 帮我 请帮我 往 至 关于 用 怎么样 \
    什么 多少 一下 这 那 由 向 里的 说 叫 名为 并 然后 再 个 张 条 第 号 以及 我的 一个 出发 抵达 到达 到底 今天 明天 后天 昨天 位 人 间 份";

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        (?P<code>\#\s?[A-Za-z0-9][A-Za-z0-9_-]*|(?-u:\b)[A-Z]{2}\ \d{2,4}(?-u:\b)|(?-u:\b)[A-Za-z]{1,6}-?\d[A-Za-z0-9_-]*|(?-u:\b)\d+[A-Za-z][A-Za-z0-9-]*\d[A-Za-z0-9_-]*|(?-u:\b)[A-Z0-9]+(?:-[A-Z0-9]+)+(?-u:\b))
        |(?P<number>\d{1,3}(?:\ \d{3})+,\d{1,2}(?-u:\b)|[$€£¥₽]?\ ?\d{1,3}(?:\.\d{3})+,\d{1,2}(?-u:\b)\ ?[€£₽]?|[$€£¥₽]\ ?\d[\d,]*(?:\.\d+)?|-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d{1,3}(?:\.\d{3})+(?-u:\b)\ ?[€£₽]?|-?\d+(?:\.\d+|,\d{2}(?-u:\b))?\ ?[€£₽]?)
        |(?P<han>\p{Han}+)
        |(?P<word>[[\p{L}_]--\p{Han}]+(?:['’\-.][[\p{L}_]--\p{Han}]+)*(?:\d+)?)
        |(?P<mark>\S)",
    )
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?-u:\b)\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?|(?-u:\b)\d{1,2}\s?[ap]m\b"));
/// A folder or a file without an ending.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:^|[\s(])((?:~|\.{1,2})?/[A-Za-z0-9_.\-/]*|[A-Za-z0-9_.\-]+/[A-Za-z0-9_.\-/]*|[A-Za-z]:\\[^\s]+)")
});

static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)[A-Za-z0-9_~][A-Za-z0-9_.\-]*\.(?:docx?|xlsx?|pptx?|od[tsp]|zip|tar|gz|7z|jsonl?|ya?ml|toml|xml|html?|css|js|ts|py|rs|go|java|cpp|sh|sql|log|ini|cfg|conf|bak|tmp|db|svg|epub|rtf|tsv|csv|md|txt|pdf)(?-u:\b)",
    )
});

/// The words and values of a part of a request; places are those of the whole.
pub(super) fn read(request: &str, start: usize, end: usize) -> Vec<Word> {
    let text = slice(request, start, end);
    let mut found: Vec<Word> = Vec::new();
    let mut typed: Vec<(usize, usize, What)> = Vec::new();
    let mut add = |start: usize, end: usize, what: What| {
        if start < end && !typed.iter().any(|(from, to, _)| *from < end && start < *to) {
            typed.push((start, end, what));
        }
    };
    for span in resources::spans(text) {
        let what = match span.what {
            SpanKind::Email => What::Email,
            SpanKind::Url => What::Url,
            SpanKind::Path => What::Path,
            SpanKind::Quote | SpanKind::Payload => What::Quote(span.text.clone()),
        };
        add(span.start, span.end, what);
    }
    for (from, to, what) in dates::find(text) {
        add(from, to, what);
    }
    for hit in TIME.find_iter(text) {
        add(hit.start(), hit.end(), What::Time);
    }
    for hit in FILE.find_iter(text) {
        add(hit.start(), hit.end(), What::Path);
    }
    for hit in PLACE.captures_iter(text).filter_map(|hit| hit.get(1)) {
        let whole = hit.as_str().trim_end_matches(['.', ',']);
        let units = whole.split('/').all(|part| part.chars().all(|c| c.is_ascii_digit()));
        if whole.len() > 1 && !units {
            add(hit.start(), hit.start() + whole.len(), What::Path);
        }
    }
    typed.sort_by_key(|(start, _, _)| *start);
    // Which language it is takes reading all of it: once, and only for numbers.
    let marks = LazyCell::new(|| Marks::of(request));
    let mut at = 0;
    for (from, to, what) in typed {
        plain(&mut found, slice(text, at, from), start + at, request, &marks);
        let shown = match &what {
            What::Quote(text) => text.clone(),
            _ => slice(text, from, to).trim_matches(|c| "\"'“”«»`".contains(c)).to_owned(),
        };
        found.push(word(what, &shown, start + from, start + to, false));
        at = to;
    }
    plain(&mut found, slice(text, at, text.len()), start + at, request, &marks);
    found
}

fn word(what: What, text: &str, start: usize, end: usize, name: bool) -> Word {
    let lower = text.to_lowercase();
    Word { what, text: text.to_owned(), keys: Vec::new(), lower, start, end, name }
}

fn plain(
    found: &mut Vec<Word>,
    text: &str,
    offset: usize,
    request: &str,
    marks: &LazyCell<Marks, impl FnOnce() -> Marks>,
) {
    for hit in TOKEN.captures_iter(text) {
        let Some(whole) = hit.get(0) else { continue };
        let (start, end) = (offset + whole.start(), offset + whole.end());
        let said = whole.as_str();
        if hit.name("han").is_some() {
            chinese(found, said, start);
        } else if hit.name("code").is_some() {
            let mark = said.trim_start_matches('#').trim();
            found.push(word(What::Code(mark.to_owned()), said, start, end, false));
        } else if hit.name("number").is_some() {
            let trimmed = said.trim_end();
            if let Some((number, currency)) = number(trimmed, **marks) {
                found.push(word(What::Number(number, currency), trimmed, start, start + trimmed.len(), false));
            }
        } else if hit.name("word").is_some() {
            spoken(found, said, start, request);
        } else if let Some(mark) = said.chars().next() {
            found.push(word(What::Mark(mark), said, start, end, false));
        }
    }
}

fn spoken(found: &mut Vec<Word>, said: &str, start: usize, request: &str) {
    let bare = said.strip_suffix("'s").or_else(|| said.strip_suffix("’s")).unwrap_or(said);
    let behind = slice(request, start + said.len(), request.len()).trim_start();
    // "At Luigi's on 3 May", "Joe's Bar": where nothing follows that is owned, it is part of the name.
    let name = bare.len() < said.len() && bare.chars().next().is_some_and(char::is_uppercase) && names_itself(behind);
    let own = if name { said } else { bare };
    let lower = own.to_lowercase();
    let one = lower == "one" && listed(ONE_OF, behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default());
    if let Some(value) = spelled(&lower).or(one.then_some(1)) {
        found.push(Word {
            text: own.to_owned(),
            ..word(What::Number(value.into(), None), own, start, start + own.len(), false)
        });
        return;
    }
    let before = slice(request, 0, start).trim_end();
    // "Dr. Weber": a short word with a point ends no sentence.
    let short = before.strip_suffix('.').is_some_and(|rest| {
        let last = rest.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        last.chars().next().is_some_and(char::is_uppercase) && last.len() <= 4
    });
    let opens = !short && (before.is_empty() || before.ends_with(['.', '!', '?', '。', '！', '？']));
    let capital = own.chars().next().is_some_and(char::is_uppercase);
    let all_upper = own.chars().count() > 1 && own.chars().all(|c| c.is_uppercase() || c.is_ascii_digit());
    let i = matches!(lower.as_str(), "i" | "i'm" | "i'd" | "i'll" | "i've" | "i’m" | "i’d" | "i’ll" | "i’ve");
    let mut word = word(What::Word, own, start, start + own.len(), capital && (!opens || all_upper) && !i);
    let stem = words::stem(&lower);
    if lower.chars().any(is_cyrillic) {
        word.keys = GLOSSARY.by_stem.get(&stem).cloned().unwrap_or_default();
    }
    // A name such as `find_article` is its words too.
    word.keys.extend(words::stems(&words::spell_out(own)));
    word.keys.insert(0, stem);
    found.push(word);
}

/// What "one" counts: behind it "one" is a number.
const ONE_OF: &str = "adult child kid infant baby person guest passenger seat ticket piece copy night";

/// Whether what follows a name is nothing that it could own.
fn names_itself(behind: &str) -> bool {
    let next = behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let first = behind.chars().next();
    next.is_empty()
        || first.is_some_and(char::is_uppercase)
        || listed("on at in for with from to by and or tomorrow today next", next)
}

/// Chinese is cut where words of the glossary and of ties stand; what is between them is a name.
fn chinese(found: &mut Vec<Word>, said: &str, start: usize) {
    let letters: Vec<(usize, char)> = said.char_indices().collect();
    let end_of = |at: usize| letters.get(at).map_or(said.len(), |(at, _)| *at);
    let (mut at, mut from) = (0, 0);
    let known = |at: usize| {
        (1..=GLOSSARY.longest).rev().find_map(|long| {
            let part = (at + long <= letters.len()).then(|| slice(said, end_of(at), end_of(at + long)))?;
            let keys = GLOSSARY.han.get(part).cloned();
            (keys.is_some() || listed(HAN_TIES, part) || counted(part).is_some())
                .then(|| (long, part, keys.unwrap_or_default()))
        })
    };
    while at < letters.len() {
        let Some((long, part, keys)) = known(at) else {
            at += 1;
            continue;
        };
        // A single character inside an unknown word is part of it more often than not: "海南" is no "南".
        if from < at {
            unknown(found, slice(said, end_of(from), end_of(at)), start + end_of(from));
        }
        let what = counted(part).map_or(What::Word, |value| What::Number(value.into(), None));
        found.push(Word { keys, ..word(what, part, start + end_of(at), start + end_of(at + long), false) });
        at += long;
        from = at;
    }
    if from < letters.len() {
        unknown(found, slice(said, end_of(from), said.len()), start + end_of(from));
    }
}

fn unknown(found: &mut Vec<Word>, part: &str, start: usize) {
    found.push(Word { keys: vec![part.to_owned()], ..word(What::Word, part, start, start + part.len(), true) });
}

fn counted(part: &str) -> Option<i64> {
    Some(match part {
        "两" | "两个" | "两张" | "两位" => 2,
        "三个" | "三张" | "三位" => 3,
        "四个" | "四张" | "四位" => 4,
        _ => return None,
    })
}

fn number(text: &str, marks: Marks) -> Option<(Number, Option<&'static str>)> {
    let currency = text.chars().find_map(|c| match c {
        '$' => Some("USD"),
        '€' => Some("EUR"),
        '£' => Some("GBP"),
        '¥' => Some("JPY"),
        '₽' => Some("RUB"),
        _ => None,
    });
    let digits = numerals::plain(text, marks);
    let number = match digits.parse::<i64>() {
        Ok(whole) => whole.into(),
        Err(_) => Number::from_f64(digits.parse().ok()?)?,
    };
    Some((number, currency))
}

/// Numbers that are spelled out. "One" is no number: "find one".
fn spelled(lower: &str) -> Option<i64> {
    let form = match lower {
        "двух" | "двоих" | "двое" => 2,
        "трёх" | "трех" | "троих" => 3,
        "четырёх" | "четырех" => 4,
        "dozen" | "дюжина" | "дюжину" => 12,
        "couple" => 2,
        "hundred" => 100,
        _ => return cardinal(lower).filter(|number| *number > 1).and_then(|number| i64::try_from(number).ok()),
    };
    Some(form)
}
