//! What a question about a text asks for: the words that a sentence must hold to be about the same thing, and the kind of
//! thing that answers.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jarvis_plan::{is_han, pattern};
use regex::Regex;

use super::entities::{self, Group};
use super::language::{is_function_word, language};
use super::lists::list;
use super::requests;
use super::segment::{Stemmers, fold};
use unicode_segmentation::UnicodeSegmentation;

/// The part of a question that is read, in characters, and the most words of it that are compared.
const MAX_QUESTION: usize = 2_000;
const MAX_WORDS: usize = 64;

/// A kind of answer: a row of `data/text_answers.tsv`.
pub(super) struct Kind {
    /// What it is in words: "a name".
    pub(super) words: &'static str,
    groups: Vec<Group>,
    question: Regex,
    answer: Option<Regex>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let rows = include_str!("../../../data/text_answers.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let mut columns = line.split('\t').skip(1);
        let (words, groups) = (columns.next()?, columns.next()?);
        let (question, answer) = (columns.next()?, columns.next()?);
        Some(Kind {
            words,
            groups: Group::ALL.into_iter().filter(|group| groups.split(',').any(|it| it == group.as_str())).collect(),
            question: pattern(question),
            answer: (answer != "-").then(|| pattern(answer)),
        })
    })
    .collect()
});

/// What can only be answered with yes or no.
static YES_NO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:and|so|but|please|then|ok)[ ,]+)*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|shall|may|might|must|isn't|aren't|wasn't|didn't|doesn't|don't)\b|\bwhether\b|\byes or no\b|(?:^|\s)ли(?:\s|$|\?)|吗|是否|是不是|有没有|对不对",
    )
});

/// Forms of irregular verbs and nouns to the first of them.
static FORMS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    list("irregular")
        .flat_map(|forms| {
            let base = forms.split('_').next().unwrap_or(forms);
            forms.split('_').map(move |form| (form, base))
        })
        .collect()
});

static APART: LazyLock<HashSet<&str>> = LazyLock::new(|| list("asking_en").chain(list("asking_ru")).collect());

static REFERRING: LazyLock<HashSet<&str>> = LazyLock::new(|| list("refers_back").collect());

/// The words of a text that are compared.
pub(super) struct Words {
    pub(super) stems: HashSet<String>,
    /// The text in lower case, where Chinese is looked for.
    folded: String,
    /// Whether a word of it stands for something that was told before.
    pub(super) refers_back: bool,
}

impl Words {
    pub(super) fn of(text: &str, stemmers: &Stemmers) -> Words {
        let words: Vec<String> = text.unicode_words().map(fold).collect();
        Words {
            stems: words.iter().map(|word| base(word, stemmers)).collect(),
            refers_back: words.iter().any(|word| REFERRING.contains(word.as_str()))
                || text.contains(['他', '她', '它', '其']),
            folded: text.to_lowercase(),
        }
    }
}

fn base(word: &str, stemmers: &Stemmers) -> String {
    let word = FORMS.get(word).copied().unwrap_or(word);
    stemmers.stem(word)
}

/// A word that must stand in the answer.
pub(super) enum Asked {
    Word {
        shown: String,
        stem: String,
    },
    /// A run of Chinese characters, which nothing parts into words.
    Run(String),
}

impl Asked {
    pub(super) fn shown(&self) -> &str {
        match self {
            Asked::Word { shown, .. } => shown,
            Asked::Run(run) => run,
        }
    }

    pub(super) fn is_in(&self, words: &Words) -> bool {
        match self {
            Asked::Word { stem, .. } => words.stems.contains(stem),
            Asked::Run(run) => holds_run(&words.folded, run),
        }
    }
}

/// Whether a text holds a run of Chinese characters, in pairs of neighbours; between two pairs one may stand alone.
fn holds_run(text: &str, run: &str) -> bool {
    let letters: Vec<char> = run.chars().collect();
    let mut covered = vec![letters.len() == 1; letters.len()];
    for (at, pair) in letters.windows(2).enumerate() {
        if text.contains(&pair.iter().collect::<String>()) {
            covered.iter_mut().skip(at).take(2).for_each(|covered| *covered = true);
        }
    }
    letters.iter().all(|letter| text.contains(*letter))
        && covered.contains(&true)
        && !covered.windows(2).any(|pair| pair == [false, false])
}

/// A question, read.
pub(super) struct Question {
    pub(super) asked: Vec<Asked>,
    pub(super) kinds: Vec<&'static Kind>,
    pub(super) is_yes_no: bool,
    /// In lower case.
    plain: String,
}

impl Question {
    pub(super) fn read(question: &str, stemmers: &Stemmers) -> Question {
        let end = question.char_indices().nth(MAX_QUESTION).map_or(question.len(), |(at, _)| at);
        let question = question.get(..end).unwrap_or(question).trim();
        let plain = question.to_lowercase().replace('ё', "е").replace('’', "'");
        let mut kinds: Vec<&Kind> = Vec::new();
        let mut left = plain.clone();
        for kind in KINDS.iter() {
            // A narrower kind stands before a wider one, and takes its words away.
            if kind.question.is_match(&left) {
                kinds.push(kind);
                left = match kind.words {
                    // The verb of "how much does it cost" must stand in the answer.
                    "an amount" => left.replacen("how much", " ", 1).replace("多少钱", " "),
                    _ => kind.question.replace_all(&left, " ").into_owned(),
                };
            }
        }
        let is_yes_no = kinds.is_empty() && YES_NO.is_match(&plain);
        let code = language(&left);
        let other = (!matches!(code, "en" | "ru" | "zh" | "und")).then_some(code);
        let mut asked: Vec<Asked> = Vec::new();
        for word in left.split(|ch: char| is_han(ch) || ch.is_whitespace()).flat_map(UnicodeSegmentation::unicode_words)
        {
            let folded = fold(word);
            if APART.contains(folded.as_str()) || other.is_some_and(|code| is_function_word(code, &folded)) {
                continue;
            }
            // As it was written, where that can be told.
            let mut written = question.unicode_words();
            let shown = written.find(|written| written.to_lowercase() == word).unwrap_or(word).to_owned();
            asked.push(Asked::Word { shown, stem: base(&folded, stemmers) });
        }
        asked.extend(runs(&left).into_iter().map(Asked::Run));
        asked.truncate(MAX_WORDS);
        Question { asked, kinds, is_yes_no, plain }
    }

    /// Whether what a thing is is asked, or no more than that: the first that is told of it answers.
    pub(super) fn is_plain(&self) -> bool {
        static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"^(?:what|which|who|how|where|when)(?:'s| is| are| was| were)\b|^(?:is|are|was|were)\b|что такое|какой|какая|какое|каков|是什么|什么是|是谁|怎么样",
            )
        });
        self.is_yes_no || PLAIN.is_match(&self.plain)
    }

    /// Whether the question asks for what is not.
    pub(super) fn denies(&self) -> bool {
        denies(&self.plain)
    }

    /// The first kind of thing that is asked for and that a text does not tell, beyond what the question says itself.
    pub(super) fn lacks(&self, text: &str) -> Option<&'static Kind> {
        let found = if self.kinds.is_empty() { Vec::new() } else { entities::find(text) };
        let folded = text.to_lowercase().replace('ё', "е");
        let is_new = |word: &str| !self.plain.contains(word.to_lowercase().replace('ё', "е").trim());
        // Bytes that are a date or a telephone number are no number of things.
        let is_time = |at: usize| {
            let group = found.iter().find(|entity| entity.range.contains(&at)).map(|entity| entity.group);
            matches!(group, Some(Group::Date | Group::Time | Group::Phone | Group::Email | Group::Url))
        };
        self.kinds.iter().copied().find(|kind| {
            let named = found.iter().any(|entity| kind.groups.contains(&entity.group) && is_new(entity.word(text)));
            let counts = kind.groups.contains(&Group::Number);
            let told = |pattern: &Regex| {
                let mut all = pattern.find_iter(&folded);
                all.any(|found| {
                    is_new(found.as_str()) && !(counts && folded.len() == text.len() && is_time(found.start()))
                })
            };
            !named && !kind.answer.as_ref().is_some_and(told)
        })
    }
}

/// Whether a question is how many there are of something.
pub(super) fn counts_things(question: &str) -> bool {
    let read = Question::read(question, &Stemmers::new("en"));
    read.kinds.iter().any(|kind| kind.groups.contains(&Group::Number))
}

/// Whether a text denies something.
pub(super) fn denies(text: &str) -> bool {
    static DENIES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:not|no|never|nobody|none|without|neither|absent|except|cannot)\b|n['’]t\b|\b(?:не|нет|никто|никогда|без|кроме|отсутств\p{L}*)\b|不|没|未|无|缺席|除了",
        )
    });
    DENIES.is_match(text)
}

/// The groups of entities of which a question asks what the text mentions.
pub(super) fn mentioned(question: &str) -> Option<Vec<Group>> {
    let read = Question::read(question, &Stemmers::new("en"));
    let asked: Vec<String> = read.asked.iter().map(|asked| asked.shown().to_lowercase()).collect();
    requests::mentioned_groups(&requests::plain(question, ""), asked.iter().map(String::as_str))
}

/// The runs of Chinese characters between words that only ask or join.
fn runs(question: &str) -> Vec<String> {
    let mut left = question.to_owned();
    for word in list("asking_zh") {
        left = left.replace(word, " ");
    }
    let runs = left.split(|ch: char| !is_han(ch)).filter(|run| !run.is_empty());
    runs.map(str::to_owned).collect()
}
