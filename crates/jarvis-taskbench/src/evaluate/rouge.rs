//! ROUGE between two texts of steps: F of `rouge1`, `rouge2`, `rougeL` and `rougeLsum`, without stemming, as the reference
//! package `rouge-score` computes them for one sample (crate `rougers`). Means over samples are made elsewhere.

use std::borrow::Cow;

use rougers::{RougeScorer, RougeType};

/// The most cells of the tables that two texts are compared in, four bytes each: their words multiplied. The longest published
/// plans have some thousands.
const MOST_CELLS: usize = 100_000_000;

/// Measures pairs of texts. Clones and threads share it.
#[derive(Debug, Clone)]
pub struct Rouge {
    scorer: RougeScorer,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RougeF {
    pub rouge1: f64,
    pub rouge2: f64,
    /// The longest common subsequence of the whole texts.
    pub rouge_l: f64,
    /// The union of the longest common subsequences line by line.
    pub rouge_lsum: f64,
}

impl RougeF {
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
    pub fn new() -> Rouge {
        let scorer = RougeScorer::new(ROUGE_NAMES, false).expect("names of ROUGE variants");
        Rouge { scorer }
    }

    /// The F values of a predicted text against the gold text; lines are separated by `\n`. Of texts so long that their
    /// words multiplied exceed 100 million only the starts are compared.
    pub fn score(&self, gold: &str, predicted: &str) -> RougeF {
        let (gold, predicted) = within(gold, predicted, MOST_CELLS);
        let scores = self.scorer.score(&gold, &predicted);
        let f = |kind| scores.get(kind).map_or(0.0, |score| score.fmeasure);
        RougeF {
            rouge1: f(RougeType::N(1)),
            rouge2: f(RougeType::N(2)),
            rouge_l: f(RougeType::L),
            rouge_lsum: f(RougeType::LSum),
        }
    }
}

/// The texts, the longer one cut where their table would have more cells than `most`, both where that is not enough.
fn within<'t>(gold: &'t str, predicted: &'t str, most: usize) -> (Cow<'t, str>, Cow<'t, str>) {
    // A piece takes a letter and what parts it from the next, so that short texts need no counting.
    let bound = |text: &str| text.len() / 2 + 1;
    if bound(gold).saturating_mul(bound(predicted)) <= most {
        return (gold.into(), predicted.into());
    }
    let (own, other) = (pieces(gold).count(), pieces(predicted).count());
    if own.saturating_mul(other) <= most {
        return (gold.into(), predicted.into());
    }
    let short = own.min(other).min(most.isqrt()).max(1);
    let long = most / short;
    let (own, other) = if own <= other { (short, long) } else { (long, short) };
    (start(gold, own), start(predicted, other))
}

/// Where words and lines begin: what tables have rows and columns for, or are made for.
fn pieces(text: &str) -> impl Iterator<Item = usize> {
    let mut before = '\n';
    text.char_indices().filter_map(move |(at, letter)| {
        // The two letters beyond ASCII whose small forms are ASCII begin words too.
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '\u{212a}' | '\u{130}');
        let begins = before == '\n' || is_word(letter) && !is_word(before);
        before = letter;
        begins.then_some(at)
    })
}

fn start(text: &str, most: usize) -> Cow<'_, str> {
    let end = pieces(text).nth(most).unwrap_or(text.len());
    text.get(..end).unwrap_or(text).into()
}

#[cfg(test)]
mod tests {
    use super::{MOST_CELLS, Rouge, pieces, within};

    #[test]
    fn giant_texts_are_cut_to_what_a_table_can_hold() {
        // Gold, predicted, the most cells, and what is left of both.
        let cases = [
            ("a b c", "d e f", 9, ("a b c", "d e f")),
            ("a b", "c d e f g", 6, ("a b", "c d e ")),
            ("a b c d e", "f g", 6, ("a b c ", "f g")),
            ("a b c d e", "f g h i j", 4, ("a b ", "f g ")),
            ("a", "-\n-\n-\n", 2, ("a", "-\n-\n")),
            ("\u{212a} \u{e9}\u{e9} x", "a b c d", 6, ("\u{212a} \u{e9}\u{e9} x", "a b c ")),
            // Nothing needs no table.
            ("", "a b c d e f g h i j", 3, ("", "a b c d e f g h i j")),
        ];
        for (gold, predicted, most, (own, other)) in cases {
            assert_eq!(within(gold, predicted, most), (own.into(), other.into()), "{gold:?} / {predicted:?}");
        }
        let (gold, predicted) = ("word x ".repeat(200_000), "word y ".repeat(200_000));
        let (own, other) = within(&gold, &predicted, MOST_CELLS);
        assert_eq!((pieces(&own).count(), pieces(&other).count()), (10_000, 10_000));
    }

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
