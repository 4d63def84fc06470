//! The texts that share the rarest words with a text: BM25 with Lucene's weights (k1 = 1.2, b = 0.75).

use std::fmt;

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

use super::words::terms;
use super::{Hit, best};

/// Texts that can be searched by words. Asks nothing and needs no model.
pub struct Bm25Index {
    embedder: Embedder<u64, Terms>,
    scorer: Scorer<usize, u64>,
    rows: usize,
}

struct Terms;

impl Tokenizer for Terms {
    fn tokenize(&self, text: &str) -> Vec<String> {
        terms(text)
    }
}

impl Bm25Index {
    pub fn build<S: AsRef<str>>(texts: &[S]) -> Bm25Index {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let embedder = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Terms, &texts).build();
        let mut scorer = Scorer::new();
        for (row, text) in texts.iter().enumerate() {
            scorer.upsert(&row, embedder.embed(text));
        }
        Bm25Index { embedder, scorer, rows: texts.len() }
    }

    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The `k` rows that fit best, best first; equal scores keep the order of rows. Rows that share no word with the text
    /// are not found, so there may be fewer.
    pub fn top_k(&self, text: &str, k: usize) -> Vec<Hit> {
        let found = self.scorer.matches(&self.embedder.embed(text));
        best(found.into_iter().map(|found| Hit { row: found.id, score: f64::from(found.score) }).collect(), k)
    }
}

impl fmt::Debug for Bm25Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bm25Index").field("rows", &self.rows).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 6] = [
        "Search for movies by their title",
        "Get the keywords of a movie",
        "Get the weather of a city",
        "查询城市的天气预报",
        "Узнать погоду в городе",
        "Get the weather of a city",
    ];

    #[test]
    fn rare_words_count_more_and_ties_keep_their_order() {
        let index = Bm25Index::build(&TEXTS);
        for (text, k, expected) in [
            ("Which films? movies!", 5, vec![0, 1]),
            ("the keyword of movies", 1, vec![1]),
            ("WEATHER in the cities", 2, vec![2, 5]),
            ("明天的天气", 5, vec![3]),
            ("погода в городах", 5, vec![4]),
            ("zebra", 5, vec![]),
            ("weather", 0, vec![]),
            ("", 5, vec![]),
        ] {
            let rows: Vec<usize> = index.top_k(text, k).iter().map(|hit| hit.row).collect();
            assert_eq!(rows, expected, "{text}");
        }
        assert_eq!(Bm25Index::build::<&str>(&[]).top_k("weather", 5), []);
    }

    #[test]
    fn scores_are_those_of_lucene() {
        let index = Bm25Index::build(&["a b", "a c c", "d"]);
        // Of 3 texts with 2 words on average, 2 hold `a` and 1 holds `c`.
        let idf = |n: f64| (1.0 + (3.0 - n + 0.5) / (n + 0.5)).ln();
        let weight = |count: f64, length: f64| count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / 2.0));
        let expected =
            [(1, idf(2.0) * weight(1.0, 3.0) + idf(1.0) * weight(2.0, 3.0)), (0, idf(2.0) * weight(1.0, 2.0))];
        let found = index.top_k("a c", 3);
        assert_eq!(found.len(), 2);
        for (found, (row, score)) in found.iter().zip(expected) {
            assert_eq!(found.row, row);
            assert!((found.score - score).abs() < 1e-5, "{found:?}, not {score}");
        }
    }
}
