//! Reproducible random numbers: the same seed and number give the same draws on every machine and with any number of
//! workers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A stream of draws. The bits are those of ChaCha with 8 rounds, a published cipher; how they become draws is written
/// here, because random-number libraries change that between versions.
#[derive(Debug, Clone)]
pub struct SeededRng(ChaCha8Rng);

impl SeededRng {
    /// The stream of the sample with this number in the run with this seed.
    pub fn new(seed: u64, number: u64) -> SeededRng {
        let mut key = [0; 32];
        let words = [seed.to_le_bytes(), number.to_le_bytes(), *b"taskbenc", *b"h sample"];
        for (place, byte) in key.iter_mut().zip(words.as_flattened()) {
            *place = *byte;
        }
        SeededRng(ChaCha8Rng::from_seed(key))
    }

    /// A number from 0 up to, but not, `end`; 0 when `end` is 0. The bias is below `end`/2⁶⁴.
    pub fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.0.next_u64()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// One of the items; `None` of nothing.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// True in `per_mille` of 1,000 cases.
    pub fn chance(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// One of the items, in proportion to its weight; `None` when no weight is above 0.
    pub fn weighted<'a, T>(&mut self, items: &'a [(T, usize)]) -> Option<&'a T> {
        let total = items.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(total);
        for (item, weight) in items {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return Some(item),
            }
        }
        None
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
