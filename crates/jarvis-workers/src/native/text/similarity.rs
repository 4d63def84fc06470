//! How alike two texts are: the cosine of their weighted terms, with a share of letter trigrams for forms and slips.

use std::collections::HashMap;

use super::language::language;
use super::segment::{fold, terms};
use jarvis_plan::is_han;

/// How much the terms count beside the trigrams.
const TERMS: f64 = 0.75;

/// The likeness of `source` and each of `others`, from 0 (nothing in common) to 1 (the same terms).
pub(super) fn compare(source: &str, others: &[String]) -> Vec<f64> {
    let texts: Vec<&str> = std::iter::once(source).chain(others.iter().map(String::as_str)).collect();
    let words = weighted(texts.iter().map(|text| words(text)).collect());
    let letters = weighted(texts.iter().map(|text| trigrams(text)).collect());
    let score = |rows: &[HashMap<String, f64>], at: usize| match (rows.first(), rows.get(at)) {
        (Some(first), Some(other)) => cosine(first, other),
        _ => 0.0,
    };
    (1..texts.len())
        .map(|at| (TERMS * score(&words, at) + (1.0 - TERMS) * score(&letters, at)).clamp(0.0, 1.0))
        .collect()
}

fn words(text: &str) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    for term in terms(text, language(text)) {
        *counts.entry(term.stem).or_default() += if term.is_function { 0.25 } else { 1.0 };
    }
    counts
}

/// Three letters in a row inside words; single characters where one is a word.
fn trigrams(text: &str) -> HashMap<String, f64> {
    let mut counts = HashMap::new();
    let folded = fold(text);
    for word in folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters: Vec<char> = word.chars().collect();
        let size = if letters.iter().any(|letter| is_han(*letter)) { 1 } else { 3.min(letters.len()) };
        for window in letters.windows(size) {
            *counts.entry(window.iter().collect()).or_default() += 1.0;
        }
    }
    counts
}

/// Counts to weights: damped, and smaller for what most of the texts share (smoothed idf, at least 1).
fn weighted(mut rows: Vec<HashMap<String, f64>>) -> Vec<HashMap<String, f64>> {
    let mut within: HashMap<String, usize> = HashMap::new();
    for key in rows.iter().flat_map(HashMap::keys) {
        *within.entry(key.clone()).or_default() += 1;
    }
    let all = rows.len() as f64;
    for row in &mut rows {
        for (key, count) in row.iter_mut() {
            let texts = within.get(key).copied().unwrap_or(1) as f64;
            let damped = if *count > 1.0 { 1.0 + count.ln() } else { *count };
            *count = damped * (((1.0 + all) / (1.0 + texts)).ln() + 1.0);
        }
    }
    rows
}

fn cosine(a: &HashMap<String, f64>, b: &HashMap<String, f64>) -> f64 {
    let norm = |row: &HashMap<String, f64>| row.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let length = norm(a) * norm(b);
    if length == 0.0 {
        return 0.0;
    }
    // Summed in the order of the terms, so that the same texts give the same bits.
    let mut shared: Vec<(&String, f64)> =
        a.iter().filter_map(|(key, weight)| Some((key, weight * b.get(key)?))).collect();
    shared.sort_by(|x, y| x.0.cmp(y.0));
    // A sum of nothing is -0.0.
    shared.into_iter().fold(0.0, |sum, (_, product)| sum + product) / length
}
