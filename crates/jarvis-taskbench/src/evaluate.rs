//! Scoring plans against gold plans: the original's figures ([`legacy`]), ours without its flaws ([`strict`]), and those of
//! GNN4TaskPlan.
//!
//! Each gold plan and its prediction are read once and reduced to a few counts; groups (by shape, by size) are sums of
//! them in file order. So the figures are the same bytes for any number of threads.

pub mod gnn4taskplan;
pub mod groups;
pub mod legacy;
pub mod output;
pub mod predictions;
pub mod rouge;
mod run;
pub mod similarity;
pub mod strict;
pub mod table;

use std::collections::BTreeSet;

pub use groups::{Group, Grouping, Mode, Size, Split};
pub use predictions::{Prediction, Predictions};
pub use rouge::{Rouge, RougeF};
pub use run::{Coverage, Evaluation, Options, Profile, Sample, evaluate};

/// Which figures are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Nodes and arguments (`f1` and `argument` each mean both).
    pub nodes: bool,
    /// Edit distance (`ed`).
    pub edit_distance: bool,
    /// Links (`link`).
    pub links: bool,
    /// ROUGE of the steps (`rouge`).
    pub rouge: bool,
    /// BERTScore of the steps (`bertscore`); only with an embedding model.
    pub bertscore: bool,
}

impl Wanted {
    /// Everything: `-m all`.
    pub const ALL: Wanted = Wanted { nodes: true, edit_distance: true, links: true, rouge: true, bertscore: true };

    /// The words that `-m` takes.
    pub const WORDS: [&str; 7] = ["all", "f1", "ed", "link", "argument", "rouge", "bertscore"];

    /// What the words of `-m` mean. With a prompting other than `cot`, `all` has no figures about steps.
    ///
    /// # Errors
    /// Names a word that means nothing.
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
                    return Err(format!("`{other}` is no metric; they are {}", Wanted::WORDS.join(", ")));
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
    /// In both.
    pub common: u64,
    /// Predicted.
    pub predicted: u64,
    /// Gold.
    pub gold: u64,
}

impl Counts {
    /// Counts two sets.
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

/// 2PR / (P + R), 0 when both are 0.
pub(crate) fn harmonic(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// 2 × the longest common subsequence over the sum of lengths: 1 for equal sequences, and for two empty ones.
pub(crate) fn sequence_ratio<T: PartialEq>(a: &[T], b: &[T]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    // One row of the table: the longest common subsequence of `a` so far with each start of `b`.
    let mut row = vec![0u64; b.len() + 1];
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
    let common = row.last().copied().unwrap_or(0);
    ratio(2 * common, (a.len() + b.len()) as u64)
}
