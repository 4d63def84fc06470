//! ROUGE between two texts of steps: F of `rouge1`, `rouge2`, `rougeL` and `rougeLsum`, without stemming, as the reference
//! package `rouge-score` computes them for one sample (crate `rougers`). Means over samples are made elsewhere.

use rougers::{RougeScorer, RougeType};

/// Measures pairs of texts. Clones and threads share it.
#[derive(Debug, Clone)]
pub struct Rouge {
    scorer: RougeScorer,
}

/// The F values of one pair, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RougeF {
    /// Overlap of words.
    pub rouge1: f64,
    /// Overlap of pairs of words.
    pub rouge2: f64,
    /// The longest common subsequence of the whole texts.
    pub rouge_l: f64,
    /// The union of the longest common subsequences line by line.
    pub rouge_lsum: f64,
}

impl RougeF {
    /// The four values in the order of the files.
    pub fn values(self) -> [f64; 4] {
        [self.rouge1, self.rouge2, self.rouge_l, self.rouge_lsum]
    }
}

/// What the four values are called, in the order of [`RougeF::values`].
pub const ROUGE_NAMES: [&str; 4] = ["rouge1", "rouge2", "rougeL", "rougeLsum"];

impl Default for Rouge {
    fn default() -> Rouge {
        Rouge::new()
    }
}

impl Rouge {
    /// A measure of the four.
    #[allow(clippy::expect_used, reason = "the names are constants, and the tests make a measure")]
    pub fn new() -> Rouge {
        let scorer = RougeScorer::new(ROUGE_NAMES, false).expect("names of ROUGE variants");
        Rouge { scorer }
    }

    /// The F values of a predicted text against the gold text; lines are separated by `\n`.
    pub fn score(&self, gold: &str, predicted: &str) -> RougeF {
        let scores = self.scorer.score(gold, predicted);
        let f = |kind| scores.get(kind).map_or(0.0, |score| score.fmeasure);
        RougeF {
            rouge1: f(RougeType::N(1)),
            rouge2: f(RougeType::N(2)),
            rouge_l: f(RougeType::L),
            rouge_lsum: f(RougeType::LSum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rouge;

    #[test]
    fn scores_by_hand() {
        // Gold, predicted, then F of 1, 2, L and Lsum counted by hand.
        let cases = [
            ("a b c d", "a b c d", [1.0, 1.0, 1.0, 1.0]),
            ("a b c d", "", [0.0, 0.0, 0.0, 0.0]),
            ("", "", [0.0, 0.0, 0.0, 0.0]),
            ("a b c", "c b a", [1.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]),
            ("a a a b", "a b", [2.0 / 3.0, 0.5, 2.0 / 3.0, 2.0 / 3.0]),
            // Lines in another order: L of the whole text is one line, Lsum both.
            ("a b\nc d", "c d\na b", [1.0, 2.0 / 3.0, 0.5, 1.0]),
            // The Kelvin sign and the dotted capital I become letters; other scripts separate.
            ("\u{212a}\u{130}x", "ki x", [1.0, 1.0, 1.0, 1.0]),
            ("шаг a 步骤 b", "a b", [1.0, 1.0, 1.0, 1.0]),
            ("Step 1: Running", "step 1 run", [2.0 / 3.0, 0.5, 2.0 / 3.0, 2.0 / 3.0]),
        ];
        let rouge = Rouge::new();
        for (gold, predicted, expected) in cases {
            let found = rouge.score(gold, predicted).values();
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{gold:?} / {predicted:?}: value {at} is {found}, not {expected}"
                );
            }
        }
    }
}
