//! Scores of logs. Pure functions; only [`toolbench`]'s judge asks a model.
//!
//! Every question of the data counts: one that the log lacks is wrong, and listed as missing. How rows of a log are matched to
//! questions is in [`matching`].

pub mod funcqa;
pub mod matching;
pub mod numbers;
pub mod restbench;
pub mod retrieval;
pub mod toolbench;

use serde::Serialize;

/// The normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// So many of so many. The rate and its bounds are shares of 1; none where there is nothing to count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    pub count: usize,
    pub n: usize,
    pub rate: Option<f64>,
    /// The lower end of the 95 % interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Rate {
    pub fn new(count: usize, n: usize) -> Rate {
        if n == 0 {
            return Rate { count, n, rate: None, low: None, high: None };
        }
        let (hits, of) = (count as f64, n as f64);
        let p = hits / of;
        let z2 = Z * Z;
        let middle = (p + z2 / (2.0 * of)) / (1.0 + z2 / of);
        let half = Z / (1.0 + z2 / of) * (p * (1.0 - p) / of + z2 / (4.0 * of * of)).sqrt();
        // At both ends the formula gives the end itself, but for rounding.
        let low = if count == 0 { 0.0 } else { (middle - half).max(0.0) };
        let high = if count == n { 1.0 } else { (middle + half).min(1.0) };
        Rate { count, n, rate: Some(p), low: Some(low), high: Some(high) }
    }

    pub fn of<T>(rows: &[T], of: impl Fn(&T) -> bool) -> Rate {
        Rate::new(rows.iter().filter(|row| of(row)).count(), rows.len())
    }
}

#[cfg(test)]
mod wilson_tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // Computed by hand with the formula, and known from tables (8 of 10: 0.4902 to 0.9433).
        for (count, n, low, high) in [
            (8, 10, 0.490_162, 0.943_318),
            (33, 68, 0.370_509, 0.601_652),
            (0, 10, 0.0, 0.277_533),
            (10, 10, 0.722_467, 1.0),
            (1, 1, 0.206_549, 1.0),
        ] {
            let rate = Rate::new(count, n);
            assert!((rate.low.unwrap() - low).abs() < 1e-5, "{rate:?}");
            assert!((rate.high.unwrap() - high).abs() < 1e-5, "{rate:?}");
            assert_eq!(rate.rate.unwrap(), count as f64 / n as f64);
        }
        assert_eq!(Rate::new(0, 0).rate, None);
    }
}
