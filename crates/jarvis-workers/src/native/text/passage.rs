//! Answers from a passage: the sentence that shares most with the question, narrowed to the name, date or figure that
//! the question asks for. It finds words; it does not reason.

mod heard;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

pub use heard::Heard;

use super::entities::{self, Group};
use super::language::language;
use super::pattern;
use super::segment::{sentences, terms};

/// An answer as a range of the passage, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    /// The weight of the question's words that the sentence holds, as a share from 0 to 1; less where the sentence has
    /// nothing of the kind asked for.
    pub(super) score: f64,
    /// Whether the question asks for a name, date or figure that the sentence does not have.
    pub(super) lacks: bool,
    /// Whether another of the kind asked for may be meant.
    pub(super) rivalled: bool,
    /// What of the question the sentence takes up.
    pub(super) heard: Heard,
}

/// What kind of thing answers the question, best kind first, by how it asks.
static ASKED: LazyLock<Vec<(Regex, Vec<Group>)>> = LazyLock::new(|| {
    use Group::{Date, Email, Location, Money, Number, Organisation, Other, Percent, Person, Phone, Time, Url};
    let rules: [(&str, &[Group]); 12] = [
        (r"(?i)\be-?mail\b(?: address\b)?|почт[аыу]\b|邮箱|邮件地址", &[Email]),
        (r"(?i)\b(?:phone|telephone)\b(?: numbers?\b)?|(?:номер\p{L}* )?телефон|电话(?:号码)?", &[Phone, Number]),
        (r"(?i)\b(?:web ?site|url|web address)\b|сайт|网址|网站", &[Url]),
        (r"(?i)\bwhat (?:time|hour)\b|во сколько|котор(?:ом|ый) час|几点|什么时间", &[Time, Date]),
        (r"(?i)\bpercent(?:age)?\b|процент|百分之", &[Percent, Number]),
        (
            r"(?i)how much (?:does|did|do|is|was|money)|\b(?:price|cost)s?\b|сколько стои|цена|стоимост|多少钱|价格",
            &[Money, Number],
        ),
        (
            r"(?i)\bhow (?:many|much|old|long|tall|far|high|big)\b|сколько|多少|几[个名位人本次岁座]|多[大高长远]",
            &[Number, Percent, Money],
        ),
        (
            r"(?i)\bwhen\b|(?:which|what) (?:year|date|day|month)|когда|каком году|какого числа|什么时候|何时|哪一?年|哪天|几月",
            &[Date, Time],
        ),
        (r"(?i)\bwho(?:m|se)?\b|\bкто\b|\bкого\b|\bкому\b|\bкем\b|谁|哪位", &[Person, Organisation]),
        (
            r"(?i)\bwhere\b|(?:which|what) (?:city|country|place|town)|\bгде\b|\bкуда\b|\bоткуда\b|каком городе|какой стране|哪里|哪儿|在哪|什么地方|哪个城市|哪个国家|哪国",
            &[Location, Organisation],
        ),
        (
            r"(?i)(?:which|what) (?:company|organi[sz]ation|university|bank)|какая (?:компания|организация)|哪家|什么公司",
            &[Organisation],
        ),
        (
            r"(?i)\bwhat is the name\b|как(?:ое|ово)? (?:имя|зовут|называется)|叫什么",
            &[Person, Location, Organisation, Other],
        ),
    ];
    rules.into_iter().map(|(text, groups)| (pattern(text), groups.to_vec())).collect()
});

/// Splits a text that holds both: a question on its first or last line, and the passage around it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let ranges = sentences(text);
    let is_question =
        |range: &Range<usize>| text.get(range.clone()).is_some_and(|sentence| sentence.ends_with(['?', '？']));
    let (first, last) = (ranges.first()?, ranges.last()?);
    let (question, context) = if is_question(first) {
        (first.clone(), first.end..text.len())
    } else if is_question(last) {
        (last.clone(), 0..last.start)
    } else {
        return None;
    };
    let context = text.get(context)?.trim();
    (!context.is_empty()).then_some((text.get(question)?, context))
}

/// The answer; `None` when no sentence shares a word with the question.
pub(super) fn answer(question: &str, context: &str) -> Option<Found> {
    let language = language(context);
    // A question is short; what is not is read from its beginning.
    let end = question.char_indices().nth(2_000).map_or(question.len(), |(at, _)| at);
    let question = question.get(..end).unwrap_or(question);
    let mut asked: HashSet<String> = HashSet::new();
    for term in terms(question, language) {
        if !term.is_function && asked.len() < 64 {
            asked.insert(term.stem);
        }
    }
    let kind = ASKED.iter().find(|(rule, _)| rule.is_match(question));
    let groups = kind.map(|(_, groups)| groups.as_slice());
    let ranges = sentences(context);
    let rows: Vec<Row> =
        ranges.iter().map(|range| Row::new(context.get(range.clone()).unwrap_or_default(), language, &asked)).collect();
    let mean = rows.iter().map(|row| row.length).sum::<usize>() as f64 / rows.len().max(1) as f64;
    let weight = |stem: &String| {
        let holding = rows.iter().filter(|row| row.counts.contains_key(stem)).count() as f64;
        // Smoothed idf of BM25; never zero, since in a short passage every sentence may hold the word.
        (1.0 + (rows.len() as f64 - holding + 0.5) / (holding + 0.5)).ln()
    };
    let weights: HashMap<&String, f64> = asked.iter().map(|stem| (stem, weight(stem))).collect();
    let mut scored: Vec<(usize, f64)> =
        rows.iter().enumerate().map(|(at, row)| (at, row.bm25(&weights, mean))).collect();
    scored.retain(|(_, score)| *score > 0.0);
    // What says no more than the question does, such as a heading, answers it only where nothing else may.
    let bare = |at: usize| rows.get(at).is_some_and(|row| row.bare);
    if scored.iter().any(|(at, _)| !bare(*at)) {
        scored.retain(|(at, _)| !bare(*at));
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let top = scored.first()?.1;
    let total: f64 = weights.values().sum();
    let share = |at: usize| {
        let held: f64 = rows.get(at).map_or(0.0, |row| {
            weights.iter().filter(|(stem, _)| row.counts.contains_key(**stem)).map(|(_, weight)| weight).sum()
        });
        (held / total.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let sentence = |at: usize| ranges.get(at).and_then(|range| context.get(range.clone())).unwrap_or_default();
    let heard = |at: usize, rule: Option<&Regex>| {
        let mut heard = heard::Question::new(question, language, rule).heard(&rows, at, sentence(at));
        heard.bare = bare(at);
        heard
    };
    // Among the sentences nearly as good as the best, the first that holds what is asked for.
    if let (Some(groups), Some((rule, _))) = (groups, kind) {
        let candidates = || scored.iter().take(5).filter(|(_, score)| *score >= 0.4 * top).map(|(at, _)| *at);
        let narrowed = |at: usize| narrow(context, ranges.get(at)?, question, groups, &asked, language);
        for at in candidates() {
            let Some(Narrowed { range, best, mut rivalled }) = narrowed(at) else { continue };
            let word = context.get(range.clone());
            let others = candidates().filter(|other| *other != at && share(*other) + 1e-6 >= share(at));
            rivalled |= others.filter_map(narrowed).any(|other| context.get(other.range) != word);
            // The words that name the kind are answered by what is of that kind.
            let heard = heard(at, Some(rule).filter(|_| best));
            return Some(Found { range, score: share(at), lacks: false, rivalled, heard });
        }
    }
    let (at, _) = scored.first()?;
    let certainty = if groups.is_some() { 0.5 } else { 0.8 };
    let range = ranges.get(*at)?.clone();
    let heard = heard(*at, None);
    Some(Found { range, score: certainty * share(*at), lacks: groups.is_some(), rivalled: false, heard })
}

/// How often each word of the question stands in a sentence.
struct Row {
    counts: HashMap<String, usize>,
    length: usize,
    /// Whether it is a heading or the like that says nothing that the question does not.
    bare: bool,
}

impl Row {
    fn new(sentence: &str, language: &str, asked: &HashSet<String>) -> Row {
        let found = terms(sentence, language);
        let length = found.len();
        let mut counts = HashMap::new();
        let mut bare = !sentence.ends_with(['.', '!', '?', '。', '！', '？']);
        for term in found {
            if asked.contains(&term.stem) {
                *counts.entry(term.stem).or_default() += 1;
            } else {
                bare &= term.is_function;
            }
        }
        Row { counts, length, bare }
    }

    /// BM25 with the usual k1 = 1.2 and b = 0.75.
    fn bm25(&self, weights: &HashMap<&String, f64>, mean: f64) -> f64 {
        let length = 0.25 + 0.75 * self.length as f64 / mean.max(1.0);
        self.counts
            .iter()
            .map(|(stem, count)| {
                let count = *count as f64;
                weights.get(stem).copied().unwrap_or(0.0) * count * 2.2 / (count + 1.2 * length)
            })
            .sum()
    }
}

/// An entity of a sentence that is of the kind asked for.
struct Narrowed {
    range: Range<usize>,
    /// Whether it is of the best kind.
    best: bool,
    /// Whether another may be meant.
    rivalled: bool,
}

/// The entity of a sentence that is of the kind asked for, is not in the question, and stands nearest to its words.
fn narrow(
    context: &str,
    sentence: &Range<usize>,
    question: &str,
    groups: &[Group],
    asked: &HashSet<String>,
    language: &str,
) -> Option<Narrowed> {
    use Group::{Date, Location, Organisation, Person, Time};
    let text = context.get(sentence.clone())?;
    let found = entities::find(text);
    let places: Vec<usize> = terms(text, language)
        .into_iter()
        .filter(|term| asked.contains(&term.stem))
        .map(|term| (term.range.start + term.range.end) / 2)
        .collect();
    let folded = question.to_lowercase();
    let said = |entity: &entities::Entity| folded.contains(&entity.word(text).to_lowercase());
    for group in groups {
        let near = found.iter().filter(|entity| entity.group == *group && !said(entity)).min_by_key(|entity| {
            let middle = (entity.range.start + entity.range.end) / 2;
            places.iter().map(|place| place.abs_diff(middle)).min().unwrap_or(usize::MAX)
        });
        let Some(entity) = near else { continue };
        let best = groups.first() == Some(group);
        let alike = |other: Group| {
            other == *group
                || matches!(
                    (*group, other),
                    (Date, Time) | (Time, Date) | (Person, Organisation) | (Organisation, Person)
                )
        };
        // A name in the question may be the one who does what is asked about, or the one to whom it is done.
        let named = matches!(group, Person | Organisation);
        let another = |other: &entities::Entity| {
            other.word(text) != entity.word(text) && alike(other.group) && (named || !said(other))
        };
        // What is no person may be the thing that is spoken of, rather than who did it, or where.
        let doubtful = *group == Organisation && matches!(groups.first(), Some(Person | Location));
        let range = sentence.start + entity.range.start..sentence.start + entity.range.end;
        return Some(Narrowed { range, best, rivalled: doubtful || found.iter().any(another) });
    }
    None
}
