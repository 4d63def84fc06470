//! The most similar vectors of a matrix, by cosine, exactly.
//!
//! A row is kept twice: as it came, and as small integers with a bound of what they lose. One pass over the integers leaves
//! the few rows that can be among the best, and only these are compared in double precision. So a search reads a byte for
//! each component, and its result is that of comparing all rows in double precision.

#[cfg(test)]
mod tests;

use super::{Hit, best};

pub const MAX_DIMENSION: usize = 1 << 16;

/// Scores that differ by less are equal: it is more than what adding in another order changes. So vectors that differ only
/// in length keep the order of rows.
const GRAIN: f64 = 1e-12;

/// The largest code of a row's component.
const ROW_CODES: f64 = 127.0;

/// Components that the pass takes in one step; rows of codes are filled up to a multiple of it.
const STEP: usize = 32;

/// Vectors that no index can be built from, or no search be made with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// A row has another length than the first.
    #[error("vector {row} has {found} components, and the first has {expected}")]
    Ragged { row: usize, found: usize, expected: usize },
    /// A row holds infinity, something that is not a number, or something too large for 32 bits.
    #[error("vector {row} holds a component that is not a finite 32-bit number")]
    NotFinite { row: usize },
    /// Longer than [`MAX_DIMENSION`].
    #[error("vectors of {found} components are too long; at most {MAX_DIMENSION} are taken")]
    TooLong { found: usize },
    /// The query has another length than the rows.
    #[error("the query's vector has {found} components, and the index is of {expected}")]
    QueryDimension { found: usize, expected: usize },
    /// The query holds infinity, something that is not a number, or something too large for 32 bits.
    #[error("the query's vector holds a component that is not a finite 32-bit number")]
    QueryNotFinite,
}

/// Vectors that can be searched. Five bytes for each component, nine where single precision would round what came.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    dimension: usize,
    rows: Vec<Row>,
    exact: Exact,
    /// Rows of codes, one after the other, each filled up with zeros to whole steps.
    codes: Vec<i8>,
}

/// What is known of a row beside its components.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Its length in the sense of geometry; 0 for a row of zeros.
    norm: f64,
    /// What a code stands for, over the norm.
    unit: f64,
    /// How long the part is that the codes lose, over the norm.
    lost: f64,
}

/// The components as they came, row after row.
#[derive(Debug, Clone)]
enum Exact {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl VectorIndex {
    /// Takes the vectors of all rows; the first sets their length.
    ///
    /// # Errors
    /// When a vector is longer or shorter than the first, is longer than [`MAX_DIMENSION`], or holds what is not a finite
    /// 32-bit number.
    pub fn build<T, R>(vectors: impl IntoIterator<Item = R>) -> Result<VectorIndex, VectorError>
    where
        T: Copy + Into<f64>,
        R: AsRef<[T]>,
    {
        let mut index =
            VectorIndex { dimension: 0, rows: Vec::new(), exact: Exact::Single(Vec::new()), codes: Vec::new() };
        let mut values = Vec::new();
        for (row, vector) in vectors.into_iter().enumerate() {
            let vector = vector.as_ref();
            let found = vector.len();
            if row == 0 {
                if found > MAX_DIMENSION {
                    return Err(VectorError::TooLong { found });
                }
                index.dimension = found;
            }
            if found != index.dimension {
                return Err(VectorError::Ragged { row, found, expected: index.dimension });
            }
            values.clear();
            values.extend(vector.iter().map(|value| (*value).into()));
            if !values.iter().all(fits) {
                return Err(VectorError::NotFinite { row });
            }
            index.exact.extend(&values);
            let coded = Coded::new(&values, ROW_CODES);
            #[allow(clippy::cast_possible_truncation, reason = "codes are within ±127")]
            index.codes.extend(coded.codes.iter().map(|code| *code as i8));
            index.rows.push(coded.row);
        }
        Ok(index)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The `k` rows with the largest cosine to the query, or all rows when there are fewer. Best first; equal cosines keep
    /// the order of rows. A vector of zeros has the cosine 0 with everything.
    ///
    /// # Errors
    /// When the query has another length than the rows, or holds what is not a finite 32-bit number.
    pub fn top_k<T: Copy + Into<f64>>(&self, query: &[T], k: usize) -> Result<Vec<Hit>, VectorError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        if query.len() != self.dimension {
            return Err(VectorError::QueryDimension { found: query.len(), expected: self.dimension });
        }
        let query: Vec<f64> = query.iter().map(|value| (*value).into()).collect();
        if !query.iter().all(fits) {
            return Err(VectorError::QueryNotFinite);
        }
        let norm = norm(&query);
        let exact = |row: usize| Hit { row, score: self.cosine(row, &query, norm) };
        if k >= self.len() {
            return Ok(best((0..self.len()).map(exact).collect(), k));
        }
        let mut found = Vec::new();
        // The least of the best `k` so far.
        let mut bar = f64::NEG_INFINITY;
        for (row, most) in self.candidates(&query, k) {
            if most < bar {
                break;
            }
            found.push(exact(row));
            if found.len() >= 2 * k {
                found = best(found, k);
                bar = found.last().map_or(bar, |hit| hit.score);
            }
        }
        Ok(best(found, k))
    }

    /// The rows that may be among the best `k`, which are fewer than the rows, each with the largest cosine that it can
    /// have for all that the codes tell; by this cosine, largest first.
    fn candidates(&self, query: &[f64], k: usize) -> Vec<(usize, f64)> {
        if k == 0 {
            return Vec::new();
        }
        #[allow(clippy::cast_precision_loss, reason = "at most MAX_DIMENSION")]
        let longest = query.len().max(1) as f64;
        // No sum of products of codes leaves 32 bits.
        let largest = (f64::from(i32::MAX) / (ROW_CODES * longest)).floor().min(f64::from(i16::MAX));
        let coded = Coded::new(query, largest);
        #[allow(clippy::cast_possible_truncation, reason = "codes are within 16 bits")]
        let codes: Vec<i16> = coded.codes.iter().map(|code| *code as i16).collect();
        let width = codes.len().max(STEP);
        let rough: Vec<f64> = if self.codes.is_empty() {
            vec![0.0; self.len()]
        } else {
            let rows = self.codes.chunks_exact(width).zip(&self.rows);
            rows.map(|(row, known)| f64::from(product(row, &codes)) * known.unit * coded.row.unit).collect()
        };
        // Rows and query lose parts of known length, so a cosine is no further off than this.
        let off = |row: &Row| coded.row.lost + (1.0 + coded.row.lost) * row.lost + GRAIN;
        let rows = || rough.iter().zip(&self.rows);
        let mut least: Vec<f64> = rows().map(|(rough, row)| rough - off(row)).collect();
        let (_, bar, _) = least.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
        let most = rows().map(|(rough, row)| rough + off(row)).enumerate();
        let mut candidates: Vec<(usize, f64)> = most.filter(|(_, most)| *most >= *bar).collect();
        candidates.sort_unstable_by(|(_, a), (_, b)| b.total_cmp(a));
        candidates
    }

    /// The cosine in double precision, on the grain.
    fn cosine(&self, row: usize, query: &[f64], query_norm: f64) -> f64 {
        let Some(Row { norm, .. }) = self.rows.get(row) else { return 0.0 };
        if *norm == 0.0 || query_norm == 0.0 {
            return 0.0;
        }
        let place = row * self.dimension..(row + 1) * self.dimension;
        let held = "each row has `dimension` values";
        let product = match &self.exact {
            Exact::Single(values) => dot(values.get(place).expect(held), query),
            Exact::Double(values) => dot(values.get(place).expect(held), query),
        };
        let score = (product / (norm * query_norm) / GRAIN).round() * GRAIN;
        // No negative zero, which would be sorted below zero.
        if score == 0.0 { 0.0 } else { score }
    }
}

impl Exact {
    fn extend(&mut self, values: &[f64]) {
        match self {
            #[allow(clippy::cast_possible_truncation, reason = "only where nothing is lost")]
            Exact::Single(kept) if values.iter().all(|value| f64::from(*value as f32) == *value) => {
                kept.extend(values.iter().map(|value| *value as f32));
            }
            Exact::Single(kept) => {
                let mut kept: Vec<f64> = kept.iter().map(|value| f64::from(*value)).collect();
                kept.extend(values);
                *self = Exact::Double(kept);
            }
            Exact::Double(kept) => kept.extend(values),
        }
    }
}

/// A vector in whole numbers.
struct Coded {
    /// Its codes, filled up with zeros to whole steps.
    codes: Vec<i32>,
    row: Row,
}

impl Coded {
    fn new(values: &[f64], largest: f64) -> Coded {
        let norm = norm(values);
        let peak = values.iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
        let mut codes = vec![0; values.len().next_multiple_of(STEP)];
        if norm == 0.0 {
            return Coded { codes, row: Row { norm, unit: 0.0, lost: 0.0 } };
        }
        let unit = peak / largest;
        let mut lost = 0.0;
        for (code, value) in codes.iter_mut().zip(values) {
            let nearest = (value / unit).round().clamp(-largest, largest);
            #[allow(clippy::cast_possible_truncation, reason = "within 16 bits")]
            {
                *code = nearest as i32;
            }
            lost += (value - nearest * unit).powi(2);
        }
        // A little more than what it is, for what this computation itself rounds.
        Coded { codes, row: Row { norm, unit: unit / norm, lost: lost.sqrt() / norm * 1.000_001 } }
    }
}

fn fits(value: &f64) -> bool {
    value.abs() <= f64::from(f32::MAX)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The sum of products of codes.
fn product(row: &[i8], query: &[i16]) -> i32 {
    let (row, _) = row.as_chunks::<STEP>();
    let (query, _) = query.as_chunks::<STEP>();
    let mut total = 0;
    for (row, query) in row.iter().zip(query) {
        let mut step = 0;
        // Iterators instead cost five times the time where they are not inlined.
        #[allow(clippy::indexing_slicing, clippy::needless_range_loop, reason = "both have STEP components")]
        for at in 0..STEP {
            step += i32::from(i16::from(row[at])) * i32::from(query[at]);
        }
        total += step;
    }
    total
}

/// The sum of products in double precision, in eight sums.
fn dot<T: Copy + Into<f64>>(row: &[T], query: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (rows, row_rest) = row.as_chunks::<SUMS>();
    let (queries, query_rest) = query.as_chunks::<SUMS>();
    let mut sums = [0.0_f64; SUMS];
    for (row, query) in rows.iter().zip(queries) {
        #[allow(clippy::indexing_slicing, clippy::needless_range_loop, reason = "all have SUMS components")]
        for at in 0..SUMS {
            sums[at] += row[at].into() * query[at];
        }
    }
    let rest: f64 = row_rest.iter().zip(query_rest).map(|(a, b)| (*a).into() * b).sum();
    sums.iter().sum::<f64>() + rest
}
