//! 95 % intervals by bootstrap: samples are drawn with replacement, as many as there are, again and again.
//!
//! Every resample has its own stream of the same seed, so the same seed gives the same intervals whatever the threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// How many times the samples are drawn anew; 1,000 is usual.
    pub resamples: u32,
    pub seed: u64,
    /// Intervals for every figure, not for ROUGE alone.
    pub all: bool,
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { resamples: 1000, seed: 0, all: false }
    }
}

/// For each figure made from the sums of the rows' columns, the interval that holds 95 % of its values over the resamples.
/// Resamples in which a figure is undefined are left out of its interval; `None` where there are no others.
pub(crate) fn intervals<const COLUMNS: usize, const FIGURES: usize>(
    rows: &[[f64; COLUMNS]],
    how: Bootstrap,
    figures: impl Fn([f64; COLUMNS]) -> [Option<f64>; FIGURES] + Sync,
) -> [Option<[f64; 2]>; FIGURES] {
    let drawn: Vec<[Option<f64>; FIGURES]> =
        (0..how.resamples).into_par_iter().map(|resample| figures(resampled(rows, how.seed, resample))).collect();
    std::array::from_fn(|figure| {
        let mut values: Vec<f64> = drawn.iter().filter_map(|figures| figures.get(figure).copied().flatten()).collect();
        values.sort_unstable_by(f64::total_cmp);
        Some([quantile(&values, 0.025)?, quantile(&values, 0.975)?])
    })
}

/// The sums of the columns over as many rows as there are, drawn with replacement.
fn resampled<const COLUMNS: usize>(rows: &[[f64; COLUMNS]], seed: u64, resample: u32) -> [f64; COLUMNS] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(resample));
    let count = rows.len() as u64;
    let mut sums = [0.0; COLUMNS];
    for _ in 0..rows.len() {
        // The high half of the product is a place; the bias is below 1e-5 for any file that fits a disk.
        let place = (u64::from(random.next_u32()) * count) >> 32;
        if let Some(row) = rows.get(usize::try_from(place).unwrap_or(0)) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
    sums
}

/// The value below which this share of the sorted values lies, between two of them in proportion.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = sorted.get(place.floor() as usize)?;
    let above = sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::{Bootstrap, intervals, quantile};

    fn mean([sum, count]: [f64; 2]) -> [Option<f64>; 1] {
        [(count > 0.0).then(|| sum / count)]
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.025), Some(3.0));
        assert_eq!(quantile(&[0.0, 1.0, 2.0, 3.0, 4.0], 0.25), Some(1.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.975), Some(9.75));
    }

    #[test]
    fn an_interval_covers_what_theory_says() {
        // Zeros and ones: the mean of n draws spreads by sqrt(p(1-p)/n).
        let rows: Vec<[f64; 2]> = (0..2_000).map(|at| [f64::from(u8::from(at % 4 == 0)), 1.0]).collect();
        let how = Bootstrap { resamples: 2_000, seed: 7, all: false };
        let [Some([low, high])] = intervals(&rows, how, mean) else { panic!("an interval") };
        let spread = 1.96 * (0.25_f64 * 0.75 / 2_000.0).sqrt();
        assert!((low - (0.25 - spread)).abs() < 0.002, "{low}");
        assert!((high - (0.25 + spread)).abs() < 0.002, "{high}");
    }

    #[test]
    fn threads_change_nothing_and_the_seed_does() {
        let rows: Vec<[f64; 2]> = (0..97).map(|at| [f64::from(at * at % 13) / 13.0, 1.0]).collect();
        let how = Bootstrap { resamples: 300, seed: 1, all: false };
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        let first = alone.install(|| intervals(&rows, how, mean));
        assert_eq!(first, many.install(|| intervals(&rows, how, mean)));
        assert_ne!(first, intervals(&rows, Bootstrap { seed: 2, ..how }, mean));
        assert_eq!(intervals(&[], how, mean), [None]);
    }
}
