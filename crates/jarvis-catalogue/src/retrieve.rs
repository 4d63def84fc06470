//! Which texts of a catalogue fit a text best: by vectors, exactly, or by words.
//!
//! Knows rows, not tools: a row is the place of a text in the list that an index was built from. Makes no vectors and does
//! no I/O.

mod bm25;
mod vectors;
mod words;

pub use bm25::Bm25Index;
pub use vectors::{MAX_DIMENSION, VectorError, VectorIndex};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place in the list that the index was built from, from 0.
    pub row: usize,
    /// How well it fits; more is better. A cosine in −1..1 for vectors, a BM25 score above 0 for words.
    pub score: f64,
}

/// The best `k`, best first; equal scores keep the order of rows. Scores must be numbers.
fn best(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    let order = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row));
    if k == 0 {
        return Vec::new();
    }
    if k < hits.len() {
        hits.select_nth_unstable_by(k - 1, order);
        hits.truncate(k);
    }
    hits.sort_unstable_by(order);
    hits
}
