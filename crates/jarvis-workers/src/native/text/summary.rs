//! Extractive summaries: the sentences that share most with the others, in their order. Nothing is rephrased.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use jarvis_plan::{cardinal, pattern};
use regex::Regex;

use super::language::language;
use super::segment::{is_heading, sentences, terms};

/// How long a summary the person wants, read from the request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SummaryOptions {
    pub(super) sentences: Option<usize>,
    /// How many words (characters in Chinese) it may have.
    pub(super) words: Option<Bound>,
    /// How many characters it may have.
    pub(super) characters: Option<Bound>,
    /// One line a sentence, with a dash.
    pub(super) points: bool,
    /// Shorter (`Less`) or longer than usual.
    pub(super) length: Option<std::cmp::Ordering>,
}

/// A length that a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Most(usize),
    Least(usize),
    Exactly(usize),
}

impl Bound {
    /// The most that it allows.
    fn most(self) -> Option<usize> {
        match self {
            Bound::Most(most) | Bound::Exactly(most) => Some(most),
            Bound::Least(_) => None,
        }
    }

    fn is_met(self, length: usize) -> bool {
        match self {
            Bound::Most(most) => length <= most,
            Bound::Least(least) => length >= least,
            Bound::Exactly(exactly) => length == exactly,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::Most(most) => write!(f, "at most {most}"),
            Bound::Least(least) => write!(f, "at least {least}"),
            Bound::Exactly(exactly) => write!(f, "exactly {exactly}"),
        }
    }
}

// Requests are read in lower case.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(\d{1,3}|\p{L}+|[一二两三四五六七八九十])[\s-]*(?:short |key |main |bullet |brief |коротк\p{L}+ |главн\p{L}+ |ключев\p{L}+ |个|条|大)*\s*(sentences?|lines?|points?|bullets?|предложени\p{L}+|фраз\p{L}*|строк\p{L}*|пункт\p{L}*|тезис\p{L}*|句|点|要点)",
    )
});
static CHINESE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(\d{1,3}|[一二两三四五六七八九十])\s*(?:个|条|大)?(?:核心|主要)?(句|点|要点)"));
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(\d{1,4}|\p{L}+)[\s-]*(?:words?\b|слов\p{L}*)|(\d{1,4}|[一二两三四五六七八九十])(?:个)?字(?:[^符]|$)")
});
static CHARACTERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(\d{1,5})[\s-]*(?:characters?|chars?\b|letters?|символ\p{L}*|знак\p{L}*|букв\p{L}*|个?字符)")
});
static EXACTLY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:exactly|precisely|ровно|точно)\s*$|(?:正好|刚好|恰好)\s*$"));
static NO_MORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:no(?:t)? (?:more|over)(?: than)?|не (?:более|больше))\s*$|(?:不超过|不多于)\s*$"));
static LEAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:at least|no(?:t)? (?:less|fewer) than|more than|over|минимум|не (?:менее|меньше)|более|больше)\s*$|(?:至少|不少于|超过)\s*$",
    )
});
static SHORTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:brief(?:ly)?|short(?:ly|er)?|concise(?:ly)?|tl;?dr|in a nutshell|кратк\p{L}*|коротк\p{L}*|вкратце|сжато)\b|简短|简要|简洁|简单|一句话",
    )
});
static COMPARED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bshorter\b|\bкороче\b|(?:再|更)(?:简)?短"));
static LONGER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:detailed|in detail|long(?:er)?|thorough(?:ly)?|подробн\p{L}*|развернут\p{L}*|детальн\p{L}*)\b|详细|详尽|全面",
    )
});
static POINTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bbullets?\b|\b(?:key|main|bullet) points\b|по пунктам|тезисн|тезисы|要点|列出"));

impl SummaryOptions {
    /// The default where a request says nothing about length or form.
    pub(super) fn read(request: &str) -> SummaryOptions {
        let end = request.char_indices().nth(2_000).map_or(request.len(), |(at, _)| at);
        let request = &request.get(..end).unwrap_or(request).to_lowercase();
        let mut options = SummaryOptions { points: POINTS.is_match(request), ..SummaryOptions::default() };
        for found in NUMBERED.captures_iter(request).chain(CHINESE.captures_iter(request)) {
            let (Some(number), Some(unit)) = (found.get(1), found.get(2)) else { continue };
            if let Some(count) = number_of(number.as_str()) {
                options.sentences = Some(count);
                options.points |=
                    ["point", "bullet", "пункт", "тезис", "点"].iter().any(|word| unit.as_str().contains(word));
                break;
            }
        }
        options.words = bound(&WORDS, request);
        options.characters = bound(&CHARACTERS, request);
        options.length = if SHORTER.is_match(request) {
            Some(std::cmp::Ordering::Less)
        } else if LONGER.is_match(request) {
            Some(std::cmp::Ordering::Greater)
        } else {
            None
        };
        options
    }

    /// Takes fewer sentences than the summary before had, where a shorter one is asked for; gives the wish where there are no fewer.
    pub(super) fn shorten(&mut self, text: &str, before: &str, request: &str) -> Option<String> {
        let request = request.to_lowercase();
        let found = COMPARED.find(&request).filter(|_| self.sentences.is_none() && self.words.is_none())?;
        let told = |range: &Range<usize>| {
            let sentence = text.get(range.clone()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            !sentence.is_empty() && before.contains(&sentence)
        };
        match sentences(text).iter().filter(|range| told(range)).count() {
            0 => None,
            1 => Some(found.as_str().to_owned()),
            many => {
                self.sentences = Some(many - 1);
                None
            }
        }
    }

    /// How many sentences of `all`.
    fn count(&self, all: usize) -> usize {
        let usual = ((all as f64).sqrt().round() as usize).clamp(1, 8);
        let count = match (self.sentences, self.length) {
            (Some(count), _) => count,
            (None, Some(std::cmp::Ordering::Less)) => usual.div_ceil(2).min(2),
            (None, Some(std::cmp::Ordering::Greater)) => usual * 2,
            (None, _) if self.words.is_some() || self.characters.is_some() => all,
            (None, _) => usual,
        };
        count.min(all)
    }
}

/// The length that a pattern finds in a request, with what stands before it.
fn bound(pattern: &Regex, request: &str) -> Option<Bound> {
    let number = |found: &regex::Captures<'_>| {
        let number = found.iter().skip(1).flatten().next()?;
        let count = number.as_str().parse().ok().or_else(|| number_of(number.as_str())).filter(|count| *count > 0)?;
        Some((count, number.start()))
    };
    // "In so many words" names none; the next may.
    let (count, at) = pattern.captures_iter(request).find_map(|found| number(&found))?;
    let before = request.get(..at).unwrap_or_default();
    // "Not more than" ends like "more than".
    Some(match () {
        () if LEAST.is_match(before) && !NO_MORE.is_match(before) => Bound::Least(count),
        () if EXACTLY.is_match(before) => Bound::Exactly(count),
        () => Bound::Most(count),
    })
}

/// A number in figures or words, from 1 to 100.
pub(super) fn number_of(word: &str) -> Option<usize> {
    // Other forms than those that count.
    const WORDS: [&[&str]; 10] = [
        &["single", "a", "одно", "одном", "одним", "одну", "одной", "одного"],
        &["couple", "двух", "двумя", "двум"],
        &["трех", "трёх", "тремя", "трем"],
        &["четырех", "четырёх", "четырьмя"],
        &["пяти", "пятью"],
        &["шести", "шестью"],
        &["семи", "семью"],
        &["восьми", "восемью"],
        &["девяти", "девятью"],
        &["десяти", "десятью"],
    ];
    if let Ok(number) = word.parse::<usize>() {
        return (1..=100).contains(&number).then_some(number);
    }
    let word = word.to_lowercase();
    let counted = cardinal(&word).filter(|number| (1..=100).contains(number));
    counted.or_else(|| WORDS.iter().position(|words| words.contains(&word.as_str())).map(|at| at + 1))
}

pub(super) fn summarize(text: &str, options: &SummaryOptions) -> String {
    let all = sentences(text);
    // A heading tells nothing by itself, and is no sentence of so many.
    let told: Vec<_> = all.iter().filter(|range| !is_heading(text, range)).cloned().collect();
    let ranges = if told.is_empty() { all } else { told };
    let language = language(text);
    let table =
        Table::new(ranges.iter().map(|range| text.get(range.clone()).expect("sentences lie in the text")), language);
    let most = (options.words.and_then(Bound::most), options.characters.and_then(Bound::most));
    let chosen = table.choose(options.count(ranges.len()), most);
    let pieces = chosen.iter().filter_map(|at| ranges.get(*at)).filter_map(|range| text.get(range.clone()));
    let pieces: Vec<String> = pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    if options.points && pieces.len() > 1 {
        return pieces
            .iter()
            .map(|piece| format!("- {}", piece.trim_start_matches(['-', '*', '•', ' '])))
            .collect::<Vec<_>>()
            .join("\n");
    }
    pieces.join(if matches!(language, "zh" | "ja") { "" } else { " " })
}

/// What of the length that was asked for a summary does not keep: sentences are taken whole.
pub(super) fn unmet(summary: &str, options: &SummaryOptions) -> Option<String> {
    let words = terms(summary, language(summary)).len();
    let characters = summary.chars().count();
    let unmet = |bound: Option<Bound>, length: usize, unit: &str| {
        let bound = bound.filter(|bound| !bound.is_met(length))?;
        Some(format!("{bound} {unit}: sentences are taken whole here, and these have {length}"))
    };
    unmet(options.words, words, "words").or_else(|| unmet(options.characters, characters, "characters"))
}

/// What is read of how a summary is to be.
pub(super) fn patterns() -> [&'static Regex; 5] {
    [&*WORDS, &*CHARACTERS, &*SHORTER, &*LONGER, &*POINTS]
}

/// One sentence as a row of unit length over terms.
struct Row {
    weights: Vec<(usize, f64)>,
    /// Terms with a subject of their own.
    content: usize,
    words: usize,
    characters: usize,
    is_whole: bool,
}

struct Table {
    rows: Vec<Row>,
    terms: usize,
}

impl Table {
    fn new<'a>(texts: impl Iterator<Item = &'a str>, language: &str) -> Table {
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut within: Vec<usize> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for text in texts {
            let found = terms(text, language);
            let mut counts: HashMap<usize, f64> = HashMap::new();
            let mut content = 0;
            for term in found.iter().filter(|term| !term.is_function) {
                let next = index.len();
                let at = *index.entry(term.stem.clone()).or_insert(next);
                *counts.entry(at).or_default() += 1.0;
                content += 1;
            }
            within.resize(index.len(), 0);
            for at in counts.keys() {
                if let Some(count) = within.get_mut(*at) {
                    *count += 1;
                }
            }
            let ends = text.ends_with(['.', '!', '…', '。', '！', '"', '”', '»', '」', ')', '）']);
            let mut weights: Vec<(usize, f64)> = counts.into_iter().collect();
            weights.sort_by_key(|(at, _)| *at);
            rows.push(Row { weights, content, words: found.len(), characters: text.chars().count(), is_whole: ends });
        }
        let all = rows.len() as f64;
        for row in &mut rows {
            for (at, weight) in &mut row.weights {
                let count = within.get(*at).copied().unwrap_or(1) as f64;
                *weight *= ((all + 1.0) / (count + 0.5)).ln();
            }
            let norm = row.weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
            if norm > 0.0 {
                row.weights.iter_mut().for_each(|(_, weight)| *weight /= norm);
            }
        }
        Table { rows, terms: index.len() }
    }

    /// How central each sentence is: PageRank over the graph whose edges are cosines (TextRank, Mihalcea and Tarau
    /// 2004). The graph is never built: its matrix is the product of the rows with themselves.
    fn ranks(&self) -> Vec<f64> {
        const DAMPING: f64 = 0.85;
        let all = self.rows.len().max(1) as f64;
        let dot = |row: &Row, sum: &[f64]| -> f64 {
            row.weights.iter().map(|(at, weight)| weight * sum.get(*at).copied().unwrap_or(0.0)).sum()
        };
        let gather = |factors: &[f64]| {
            let mut sum = vec![0.0; self.terms];
            for (row, factor) in self.rows.iter().zip(factors) {
                for (at, weight) in &row.weights {
                    if let Some(cell) = sum.get_mut(*at) {
                        *cell += factor * weight;
                    }
                }
            }
            sum
        };
        let sum = gather(&vec![1.0; self.rows.len()]);
        // What a sentence shares with the others, itself left out.
        let degrees: Vec<f64> = self.rows.iter().map(|row| (dot(row, &sum) - 1.0).max(0.0)).collect();
        let mut ranks = vec![1.0 / all; self.rows.len()];
        for _ in 0..30 {
            let flow: Vec<f64> = ranks
                .iter()
                .zip(&degrees)
                .map(|(rank, degree)| if *degree > 1e-9 { rank / degree } else { 0.0 })
                .collect();
            let sum = gather(&flow);
            ranks = self
                .rows
                .iter()
                .zip(&flow)
                .map(|(row, own)| (1.0 - DAMPING) / all + DAMPING * (dot(row, &sum) - own).max(0.0))
                .collect();
        }
        ranks
    }

    /// At most `count` sentences with at most so many words and characters, by rank, without repetitions, in the order of the
    /// text. One at least, even where none is short enough.
    fn choose(&self, count: usize, (words, characters): (Option<usize>, Option<usize>)) -> Vec<usize> {
        let all = self.rows.len();
        let mut scored: Vec<(usize, f64)> = self
            .ranks()
            .into_iter()
            .zip(&self.rows)
            .enumerate()
            .map(|(at, (rank, row))| {
                // Openings tell what a text is about; headings and scraps are no sentences.
                let place = if at == 0 { 1.8 } else { 1.0 + 0.3 * (1.0 - at as f64 / all as f64) };
                let size = if row.content < 3 { 0.4 } else { 1.0 };
                let shape = if row.is_whole { 1.0 } else { 0.6 };
                (at, rank * place * size * shape)
            })
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut chosen: Vec<usize> = Vec::new();
        let mut left: Vec<usize> = Vec::new();
        let (mut spent, mut written) = (0, 0);
        for (at, _) in &scored {
            let Some(row) = self.rows.get(*at) else { continue };
            let fits = words.is_none_or(|limit| spent + row.words <= limit)
                && characters.is_none_or(|limit| written + row.characters <= limit);
            if chosen.len() == count || !fits {
                continue;
            }
            if chosen.iter().filter_map(|other| self.rows.get(*other)).any(|other| cosine(row, other) > 0.75) {
                left.push(*at);
                continue;
            }
            spent += row.words;
            // A blank stands between two sentences.
            written += row.characters + 1;
            chosen.push(*at);
        }
        // A person who asked for so many sentences gets them, even if they repeat each other.
        if words.is_none() && characters.is_none() {
            let places = count.saturating_sub(chosen.len());
            chosen.extend(left.into_iter().take(places));
        }
        if chosen.is_empty() {
            chosen.extend(scored.first().map(|(at, _)| *at));
        }
        chosen.sort_unstable();
        chosen
    }
}

fn cosine(a: &Row, b: &Row) -> f64 {
    let (mut left, mut right) = (a.weights.iter().peekable(), b.weights.iter().peekable());
    let mut sum = 0.0;
    while let (Some((x, p)), Some((y, q))) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal => {
                sum += p * q;
                left.next();
                right.next();
            }
        }
    }
    sum
}
