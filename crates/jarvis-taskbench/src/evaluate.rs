//! Scoring plans against gold plans: the original's figures ([`legacy`]), ours without its flaws ([`strict`]), and those of
//! GNN4TaskPlan.
//!
//! Each gold plan and its prediction are read once and reduced to a few counts; groups (by shape, by size) are sums of
//! them in file order. So the figures are the same bytes for any number of threads.
//!
//! ```no_run
//! use jarvis_taskbench::data::{DependencyType, Domain, Lines};
//! use jarvis_taskbench::evaluate::{Options, Predictions, Profile, evaluate};
//!
//! # fn main() -> Result<(), jarvis_taskbench::DataError> {
//! let domain = Domain::open("data_multimedia")?;
//! let (gold, tools) = (domain.gold()?, domain.tools()?);
//! let lines = Lines::read(&domain.path("predictions/gpt-4.json"))?;
//! let options = Options::new(&tools, DependencyType::Resource, Profile::Both);
//! let metrics = evaluate(&gold, &Predictions::of(&lines), &options);
//! for (group, figures) in &metrics.strict {
//!     println!("{group}: {:?}", figures.nodes);
//! }
//! # Ok(())
//! # }
//! ```

pub mod gnn4taskplan;
pub mod groups;
pub mod legacy;
#[cfg(feature = "planning")]
pub mod output;
pub mod predictions;
pub mod rouge;
mod run;
pub mod similarity;
pub mod strict;
pub mod table;

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

pub use groups::{Group, Grouping, Mode, Size, Split};
pub use predictions::{Prediction, Predictions};
pub use rouge::{Rouge, RougeF};
pub use run::{Coverage, Evaluation, Options, Profile, Sample, evaluate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Nodes and arguments (`f1` and `argument` each mean both).
    pub nodes: bool,
    pub edit_distance: bool,
    pub links: bool,
    pub rouge: bool,
    /// BERTScore of the steps (`bertscore`); only with an embedding model.
    pub bertscore: bool,
}

impl Wanted {
    /// Everything: `-m all`.
    pub const ALL: Wanted = Wanted { nodes: true, edit_distance: true, links: true, rouge: true, bertscore: true };

    pub const WORDS: [&str; 7] = ["all", "f1", "ed", "link", "argument", "rouge", "bertscore"];

    /// What the words of `-m` mean. With a prompting other than `cot`, `all` has no figures about steps.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>, prompting: &str) -> Result<Wanted, String> {
        let mut wanted = Wanted { nodes: false, edit_distance: false, links: false, rouge: false, bertscore: false };
        for word in words {
            match word {
                "all" if prompting == "cot" => wanted = Wanted::ALL,
                "all" => {
                    wanted = Wanted { nodes: true, edit_distance: true, links: true, ..wanted };
                }
                "f1" | "argument" => wanted.nodes = true,
                "ed" => wanted.edit_distance = true,
                "link" => wanted.links = true,
                "rouge" => wanted.rouge = true,
                "bertscore" => wanted.bertscore = true,
                other => {
                    return Err(crate::words::unknown("metric", other, &Wanted::WORDS));
                }
            }
        }
        Ok(wanted)
    }

    /// True when the texts of steps are compared.
    pub fn steps(self) -> bool {
        self.rouge || self.bertscore
    }
}

/// How many items a prediction and its gold plan have: pooled over samples they give precision, recall and F1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub common: u64,
    pub predicted: u64,
    pub gold: u64,
}

impl Counts {
    pub(crate) fn of<T: Ord>(gold: &BTreeSet<T>, predicted: &BTreeSet<T>) -> Counts {
        Counts {
            common: gold.intersection(predicted).count() as u64,
            predicted: predicted.len() as u64,
            gold: gold.len() as u64,
        }
    }

    /// Common over predicted; 0 when nothing was predicted.
    pub fn precision(self) -> f64 {
        ratio(self.common, self.predicted)
    }

    /// Common over gold; 0 when there is no gold.
    pub fn recall(self) -> f64 {
        ratio(self.common, self.gold)
    }

    /// The harmonic mean of precision and recall; 0 when both are.
    pub fn f1(self) -> f64 {
        harmonic(self.precision(), self.recall())
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.common += other.common;
        self.predicted += other.predicted;
        self.gold += other.gold;
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(crate) fn harmonic(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// 2 × the longest common subsequence over the sum of lengths: 1 for equal sequences, and for two empty ones.
pub(crate) fn sequence_ratio<T: Eq + Hash>(a: &[T], b: &[T]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    // A few cells are counted sooner than set up.
    const FEW: usize = 4096;
    let common = if a.len().saturating_mul(b.len()) <= FEW { common_by_cell(a, b) } else { common_by_word(a, b) };
    ratio(2 * common as u64, (a.len() + b.len()) as u64)
}

/// The length of the longest common subsequence, cell by cell.
fn common_by_cell<T: Eq>(a: &[T], b: &[T]) -> usize {
    // One row of the table: the longest common subsequence of `a` so far with each start of `b`.
    let mut row = vec![0; b.len() + 1];
    for left in a {
        let mut diagonal = 0;
        let mut before = 0;
        for (cell, right) in row.iter_mut().skip(1).zip(b) {
            let above = *cell;
            *cell = if left == right { diagonal + 1 } else { above.max(before) };
            diagonal = above;
            before = *cell;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The same, 64 cells at a time (Hyyrö, Bit-parallel LCS-length computation revisited, 2004): a bit that is 0 marks where
/// the row of the table grows.
fn common_by_word<T: Eq + Hash>(a: &[T], b: &[T]) -> usize {
    // Where each item of `b` stands, by word and bits in it.
    let mut places: HashMap<&T, Vec<(usize, u64)>> = HashMap::new();
    for (at, item) in b.iter().enumerate() {
        let (word, bit) = (at / 64, 1u64 << (at % 64));
        let list = places.entry(item).or_default();
        match list.last_mut() {
            Some((last, bits)) if *last == word => *bits |= bit,
            Some(_) | None => list.push((word, bit)),
        }
    }
    let mut row = vec![u64::MAX; b.len().div_ceil(64)];
    for item in a {
        let Some(list) = places.get(item) else { continue };
        let mut matches = list.iter().copied().peekable();
        let mut carry = false;
        // Before the first word with a match nothing changes.
        let first = list.first().map_or(0, |(word, _)| *word);
        for (word, cells) in row.iter_mut().enumerate().skip(first) {
            let bits = matches.next_if(|(place, _)| *place == word).map_or(0, |(_, bits)| bits);
            if bits == 0 && !carry {
                continue;
            }
            let hits = *cells & bits;
            let (sum, over) = cells.overflowing_add(hits);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            carry = over || again;
            *cells = sum | (*cells & !bits);
        }
    }
    // Bits beyond the end never match and stay 1.
    row.iter().map(|word| word.count_zeros() as usize).sum()
}

/// The kind of a literal argument in both profiles: the first class of which a file ending occurs anywhere in it, in lower
/// case; else `text`.
pub(crate) fn kind_of(text: &str) -> &'static str {
    const KINDS: [(&str, &[&str]); 3] = [
        ("image", &[".jpg", ".png", ".jpeg", ".gif", ".bmp", ".tiff", ".svg", ".ico"]),
        ("audio", &[".mp3", ".wav", ".wma", ".ogg", ".aac", ".flac", ".aiff", ".au"]),
        ("video", &[".mp4", ".avi", ".mov", ".flv", ".wmv", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg"]),
    ];
    if !text.contains('.') {
        return "text";
    }
    let found = KINDS.iter().find(|(_, endings)| endings.iter().any(|ending| text.contains(ending)));
    found.map_or("text", |(kind, _)| kind)
}

/// The cases of a test, which stand in `cases.json` under its name.
#[cfg(test)]
fn cases<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    jarvis_testing::rows(include_str!("evaluate/cases.json"), name)
}

#[cfg(test)]
mod tests {
    use super::{common_by_cell, common_by_word, kind_of, sequence_ratio};

    #[test]
    fn words_of_cells_give_what_cells_give() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for (a, b, letters) in
            [(0, 5, 3), (5, 0, 3), (1, 1, 1), (64, 64, 2), (63, 65, 4), (200, 129, 3), (300, 257, 40), (128, 700, 900)]
        {
            for _ in 0..20 {
                let mut text = |length: u64| (0..length).map(|_| next(letters)).collect::<Vec<u64>>();
                let (a, b) = (text(a), text(b));
                assert_eq!(common_by_word(&a, &b), common_by_cell(&a, &b), "{a:?} {b:?}");
            }
        }
        let up: Vec<u32> = (0..5_000).collect();
        let down: Vec<u32> = up.iter().rev().map(|number| number % 7).collect();
        assert!((sequence_ratio(&up, &up) - 1.0).abs() < 1e-12);
        assert!(sequence_ratio(&up, &down) < 2e-3);
    }

    #[test]
    fn kinds_of_literals() {
        let cases = [
            ("example.jpg", "image"),
            ("'a.wav'", "audio"),
            ("https://x.org/v.mp4?t=1", "video"),
            ("www.movies.com", "video"),
            ("x.audio.txt", "audio"),
            ("clip.mpeg", "video"),
            ("a.mp4 and b.jpg", "image"),
            ("X.JPG", "text"),
            ("", "text"),
            ("plain words", "text"),
        ];
        for (text, kind) in cases {
            assert_eq!(kind_of(text), kind, "{text}");
        }
    }
}
