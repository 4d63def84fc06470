//! How the writer of a text feels: VADER for English; for Russian and Chinese a small lexicon of clear words with
//! negation, degree and contrast. Few words found means low scores, not guesses; what cannot be told is said to be unsure.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::{ErrorCode, TaskError};
use vader_parity::SentimentIntensityAnalyzer;

use super::language::language;
use super::lists::feelings;
use super::requests::{is_ironic, is_turned};
use super::segment::{Stemmers, fold, sentences};
use jarvis_plan::is_cyrillic;
use unicode_segmentation::UnicodeSegmentation;

/// VADER's normalisation: how fast many words saturate the score.
const ALPHA: f64 = 15.0;
/// What a negation leaves of a word, as in VADER.
const NEGATED: f64 = -0.74;

static VADER: LazyLock<SentimentIntensityAnalyzer> = LazyLock::new(SentimentIntensityAnalyzer::new);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mood {
    /// `POSITIVE`, `NEGATIVE` and `NEUTRAL` with scores that sum to 1, best first.
    pub(super) rows: Vec<(&'static str, f64)>,
    pub(super) doubt: Option<Doubt>,
}

/// Why the best label may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// No word that shows a feeling was found.
    Silent,
    /// The feeling is too weak to tell.
    Faint,
    /// Good and bad are about as strong.
    Mixed,
    /// Kind words that are seldom meant.
    Ironic,
    /// A turn of phrase that says another thing than its words: "nothing is worse".
    Turned,
}

/// How strong a text is, -1 to 1, and how strong its good and its bad are apart.
#[derive(Debug, Clone, Copy, Default)]
struct Feeling {
    score: f64,
    good: f64,
    bad: f64,
}

/// A feeling weaker than this is unsure.
const FAINT: f64 = 0.25;
/// Where the weaker side has this share of the stronger, the text is mixed.
const MIXED: f64 = 0.5;

impl Feeling {
    fn doubt(self) -> Option<Doubt> {
        let (weak, strong) = (self.good.min(self.bad), self.good.max(self.bad));
        match () {
            () if strong == 0.0 => Some(Doubt::Silent),
            () if weak >= MIXED * strong => Some(Doubt::Mixed),
            () if self.score.abs() < FAINT => Some(Doubt::Faint),
            () => None,
        }
    }
}

/// How the writer of a text feels, and whether that can be told.
///
/// # Errors
/// `CannotDo` for a language without a lexicon.
pub(super) fn classify(text: &str) -> Result<Mood, TaskError> {
    let english = |sentence: &str| {
        let scores = VADER.polarity_scores(sentence);
        by_clauses(sentence, Feeling { score: scores.compound, good: scores.pos, bad: scores.neg })
    };
    let feeling = match language(text) {
        // What has no letters may still have faces in it.
        "en" | "und" => mean(text, english),
        "ru" => mean(text, |sentence| normalised(sentence, &russian(sentence))),
        "zh" => mean(text, |sentence| normalised(sentence, &chinese(sentence))),
        other => {
            let message = format!(
                "the built-in sentiment model reads English, Russian and Chinese, and this looks like `{other}`"
            );
            return Err(TaskError::new(ErrorCode::CannotDo, message)
                .hint("translate the text first, or configure a chat model (`llm.model`)"));
        }
    };
    let score = feeling.score;
    // Even odds between neutral and a feeling at a compound score of 0.2.
    let weights = [("POSITIVE", (5.0 * score).exp()), ("NEGATIVE", (-5.0 * score).exp()), ("NEUTRAL", 1f64.exp())];
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut rows: Vec<(&'static str, f64)> = weights.into_iter().map(|(label, weight)| (label, weight / sum)).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ironic = || (score > 0.0 && is_ironic(text)).then_some(Doubt::Ironic);
    let turned = || is_turned(text).then_some(Doubt::Turned);
    Ok(Mood { rows, doubt: feeling.doubt().or_else(ironic).or_else(turned) })
}

/// A sentence whose clauses agree feels as they do, however often it denies; praise beside a plain complaint is mixed.
fn by_clauses(sentence: &str, whole: Feeling) -> Feeling {
    let parts = sentence.split([',', ';', '—']).filter(|part| !part.trim().is_empty());
    let felt: Vec<f64> = parts.map(|part| VADER.polarity_scores(part).compound).filter(|score| *score != 0.0).collect();
    if felt.len() < 2 {
        return whole;
    }
    let (good, bad) = (felt.iter().copied().fold(0.0, f64::max), -felt.iter().copied().fold(0.0, f64::min));
    match (good, bad) {
        (_, 0.0) => Feeling { bad: 0.0, ..whole },
        (0.0, _) => {
            let mean = felt.iter().sum::<f64>() / felt.len() as f64;
            Feeling { score: whole.score.min(mean), good: 0.0, bad: whole.bad.max(bad) }
        }
        (good, bad) if whole.score > 0.0 && good >= STRONG && bad >= FAINT => Feeling { good, bad: good, ..whole },
        _ => whole,
    }
}

/// Praise at least this strong beside a complaint is not taken at its word.
const STRONG: f64 = 0.5;

/// The score of a short text as a whole; of a longer one, the mean over the sentences that feel anything, drawn towards
/// zero when those are few.
fn mean(text: &str, score: impl Fn(&str) -> Feeling) -> Feeling {
    let ranges = sentences(text);
    if ranges.len() <= 2 {
        return score(text);
    }
    let feelings: Vec<Feeling> = ranges.iter().filter_map(|range| text.get(range.clone())).map(score).collect();
    let felt: Vec<f64> = feelings.iter().map(|feeling| feeling.score).filter(|score| score.abs() > 0.05).collect();
    if felt.is_empty() {
        return Feeling::default();
    }
    let share = felt.len() as f64 / feelings.len() as f64;
    Feeling {
        score: felt.iter().sum::<f64>() / felt.len() as f64 * share.sqrt(),
        good: felt.iter().filter(|score| **score > 0.0).sum(),
        bad: -felt.iter().filter(|score| **score < 0.0).sum::<f64>(),
    }
}

/// Word values, and marks of exclamation, to a score between -1 and 1, as VADER does it.
fn normalised(text: &str, values: &[f64]) -> Feeling {
    let shouts = text.matches(['!', '！']).count().min(4) as f64 * 0.29;
    let sum: f64 = values.iter().sum();
    let sum = if sum == 0.0 { 0.0 } else { sum + shouts * sum.signum() };
    Feeling {
        score: sum / (sum * sum + ALPHA).sqrt(),
        good: values.iter().filter(|value| **value > 0.0).sum(),
        bad: -values.iter().filter(|value| **value < 0.0).sum::<f64>(),
    }
}

static RUSSIAN: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    let stemmers = Stemmers::new("ru");
    feelings("ru").map(|(word, value)| (stemmers.stem(&fold(word)), value)).collect()
});

fn russian(text: &str) -> Vec<f64> {
    let stemmers = Stemmers::new("ru");
    let words: Vec<String> = text.unicode_words().map(fold).collect();
    let mut values: Vec<f64> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        // A contrast turns the weight to what comes after it.
        if matches!(word.as_str(), "но" | "однако" | "зато") {
            values.iter_mut().for_each(|value| *value *= 0.5);
        }
        if !word.chars().all(is_cyrillic) {
            continue;
        }
        let Some(value) = RUSSIAN.get(&stemmers.stem(word)) else { continue };
        let mut value = *value;
        if word == "лучшего" && at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|before| before == "желать")
        {
            // `оставляет желать лучшего`
            value *= NEGATED;
        }
        for before in words.iter().take(at).rev().take(3) {
            match before.as_str() {
                "не" | "ни" | "нет" | "без" | "никогда" | "нельзя" | "вовсе" | "отнюдь" =>
                {
                    value *= NEGATED;
                    break;
                }
                "очень" | "крайне" | "совершенно" | "абсолютно" | "невероятно" | "самый" | "самая" | "самое" =>
                {
                    value *= 1.3;
                }
                "немного" | "слегка" | "чуть" | "довольно" | "местами" => value *= 0.7,
                "но" | "однако" | "и" => break,
                _ => {}
            }
        }
        values.push(value);
    }
    values
}

/// Words of the Chinese lexicon by their first character, longest first.
static CHINESE: LazyLock<HashMap<char, Vec<(&'static str, f64)>>> = LazyLock::new(|| {
    let mut words: HashMap<char, Vec<(&'static str, f64)>> = HashMap::new();
    for (word, value) in feelings("zh") {
        let first = word.chars().next().expect("no word of a list is empty");
        words.entry(first).or_default().push((word, value));
    }
    words.values_mut().for_each(|list| list.sort_by_key(|(word, _)| std::cmp::Reverse(word.len())));
    words
});

fn chinese(text: &str) -> Vec<f64> {
    const DEGREES: [(&str, f64); 14] = [
        ("非常", 1.3),
        ("特别", 1.3),
        ("十分", 1.3),
        ("极其", 1.4),
        ("太", 1.3),
        ("很", 1.1),
        ("超级", 1.3),
        ("最", 1.3),
        ("真", 1.2),
        ("有点", 0.7),
        ("稍微", 0.6),
        ("比较", 0.8),
        ("还算", 0.6),
        ("一般", 0.5),
    ];
    const NEGATIONS: [&str; 9] = ["并不", "不是", "没有", "从不", "不", "没", "无", "未", "毫无"];
    let mut values: Vec<f64> = Vec::new();
    let mut at = 0;
    // Where the last word ended: what modifies it stands behind that.
    let mut free = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if rest.starts_with("但") || rest.starts_with("不过") || rest.starts_with("然而") {
            values.iter_mut().for_each(|value| *value *= 0.5);
        }
        let known = CHINESE.get(&first).and_then(|list| list.iter().find(|(word, _)| rest.starts_with(word)));
        let Some((word, value)) = known else {
            at += first.len_utf8();
            if "，。！？；,.!?; \n".contains(first) {
                free = at;
            }
            continue;
        };
        let before = text.get(free..at).expect("both positions are borders of characters");
        let start = before.char_indices().rev().nth(4).map_or(0, |(start, _)| start);
        let before = before.get(start..).expect("a character starts here");
        let degree = DEGREES.iter().find(|(degree, _)| before.contains(degree)).map_or(1.0, |(_, factor)| *factor);
        let negated = NEGATIONS.iter().any(|word| before.contains(word));
        values.push(value * degree * if negated { NEGATED } else { 1.0 });
        at += word.len();
        free = at;
    }
    values
}
