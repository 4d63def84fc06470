//! BERTScore: how alike two texts are by the meaning of their words, as an embedding model sees it (package `bert-score`: no idf, no
//! rescaling).
//!
//! The model is whatever gives vectors of a text's tokens ([`TokenVectors`]); none is here.

use std::collections::HashMap;

use super::harmonic;

/// Texts whose vectors are kept while there is hope to meet them again; those of one pair are some megabytes at most.
const KEPT: usize = 64;

pub trait Similarity: Sync {
    /// For each pair (gold, predicted) precision, recall and F1. `progress` is called with how many pairs are done.
    fn score(&self, pairs: &[(String, String)], progress: &dyn Fn(usize)) -> Result<Vec<[f64; 3]>, SimilarityError>;
}

/// A model that sees the tokens of a text.
pub trait TokenVectors: Sync {
    fn tokens(&self, text: &str) -> Result<Tokens, SimilarityError>;
}

/// A text as a model sees it: a vector for each token.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tokens {
    /// Numbers of one token.
    pub width: usize,
    /// Token by token.
    pub values: Vec<f32>,
    /// For each token whether it stands for no word, as `[CLS]`.
    pub is_special: Vec<bool>,
}

#[derive(Debug, thiserror::Error)]
pub enum SimilarityError {
    #[error("this build of jarvis has no BERTScore")]
    NotBuilt,
    #[error("{dir} holds no embedding model that can be read: {reason}")]
    Model { dir: String, reason: String },
    #[error("the embedding model failed: {0}")]
    Failed(String),
}

impl SimilarityError {
    pub fn hint(&self) -> &'static str {
        match self {
            SimilarityError::NotBuilt => "build it with `cargo build --release --features experts,llm`",
            SimilarityError::Model { .. } => {
                "the directory needs config.json, tokenizer.json and model.safetensors of a BERT or RoBERTa model"
            }
            SimilarityError::Failed(_) => "try another model, or leave BERTScore out with -m",
        }
    }
}

/// The layer that the package takes: 17 of the 24 of `roberta-large`, 10 of 12, 5 of 6; 9 of BERT's 12, 18 of its 24.
pub fn usual_layer(is_roberta: bool, layers: usize) -> usize {
    match (is_roberta, layers) {
        (true, 24) => 17,
        (true, 12) => 10,
        (false, 24) => 18,
        (false, 12) => 9,
        (_, 6) => 5,
        (_, layers) => layers,
    }
}

/// BERTScore by the vectors of a model.
#[derive(Debug)]
pub struct BertScore<M>(pub M);

impl<M: TokenVectors> Similarity for BertScore<M> {
    fn score(&self, pairs: &[(String, String)], progress: &dyn Fn(usize)) -> Result<Vec<[f64; 3]>, SimilarityError> {
        // Gold texts come back for each run, and many predictions are equal to them.
        let mut seen: HashMap<&str, Tokens> = HashMap::new();
        let mut scores = Vec::with_capacity(pairs.len());
        for (done, (gold, predicted)) in pairs.iter().enumerate() {
            for text in [gold, predicted] {
                if !seen.contains_key(text.as_str()) {
                    seen.insert(text, self.0.tokens(text)?.with_length_one());
                }
            }
            if let (Some(gold), Some(predicted)) = (seen.get(gold.as_str()), seen.get(predicted.as_str())) {
                scores.push(compare(gold, predicted));
            }
            if seen.len() > KEPT {
                seen.clear();
            }
            progress(done + 1);
        }
        Ok(scores)
    }
}

impl Tokens {
    fn vectors(&self) -> impl Iterator<Item = (&[f32], bool)> {
        self.values.chunks_exact(self.width.max(1)).zip(self.is_special.iter().copied())
    }

    fn with_length_one(mut self) -> Tokens {
        for vector in self.values.chunks_exact_mut(self.width.max(1)) {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
            vector.iter_mut().for_each(|value| *value /= length);
        }
        self
    }
}

/// Each token meets the most similar one of the other text; special tokens are met, but not counted.
fn compare(gold: &Tokens, predicted: &Tokens) -> [f64; 3] {
    // A text without words is like nothing.
    if [gold, predicted].iter().any(|text| text.is_special.iter().all(|special| *special)) {
        return [0.0; 3];
    }
    let (precision, recall) = (met(predicted, gold), met(gold, predicted));
    [precision, recall, harmonic(precision, recall)]
}

/// How well the words of a text are met by another, on average.
#[allow(clippy::cast_precision_loss, reason = "texts have some hundred tokens")]
fn met(text: &Tokens, by: &Tokens) -> f64 {
    let best = |vector: &[f32]| by.vectors().map(|(other, _)| dot(vector, other)).fold(f32::NEG_INFINITY, f32::max);
    let counted: Vec<f64> =
        text.vectors().filter(|(_, special)| !special).map(|(vector, _)| f64::from(best(vector))).collect();
    if counted.is_empty() { 0.0 } else { counted.iter().sum::<f64>() / counted.len() as f64 }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    /// Sums that the processor adds at once.
    const LANES: usize = 8;
    let (ones, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0_f32; LANES];
    for (ones, others) in ones.zip(others) {
        for ((sum, one), other) in sums.iter_mut().zip(ones).zip(others) {
            *sum += one * other;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with vectors of their own, between two special tokens.
    struct Words;

    impl TokenVectors for Words {
        fn tokens(&self, text: &str) -> Result<Tokens, SimilarityError> {
            if text == "bad" {
                return Err(SimilarityError::Failed("bad".to_owned()));
            }
            let vector = |word: &str| match word {
                "" => [0.0, 0.0, 5.0],
                "cat" => [2.0, 0.0, 0.0],
                "lion" => [3.0, 4.0, 0.0],
                _ => [0.0, 1.0, 0.0],
            };
            let words: Vec<&str> = [""].into_iter().chain(text.split_whitespace()).chain([""]).collect();
            let is_special = words.iter().map(|word| word.is_empty()).collect();
            Ok(Tokens { width: 3, values: words.iter().flat_map(|word| vector(word)).collect(), is_special })
        }
    }

    #[test]
    fn words_meet_the_most_similar_ones() {
        let cases = [
            ("cat", "cat", [1.0, 1.0]),
            ("cat", "lion", [0.6, 0.6]),
            ("cat rain", "lion", [0.8, 0.7]),
            ("lion", "cat rain", [0.7, 0.8]),
            ("cat", "rain", [0.0, 0.0]),
            ("", "cat", [0.0, 0.0]),
            ("cat", "  ", [0.0, 0.0]),
        ];
        for (gold, predicted, [precision, recall]) in cases {
            let told = std::cell::Cell::new(0);
            let pair = (gold.to_owned(), predicted.to_owned());
            let found = BertScore(Words).score(&[pair], &|done| told.set(done)).unwrap();
            let expected = [precision, recall, harmonic(precision, recall)];
            assert!(
                found[0].iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6),
                "{gold}, {predicted}: {found:?}"
            );
            assert_eq!(told.get(), 1);
        }
        assert!(BertScore(Words).score(&[("cat".to_owned(), "bad".to_owned())], &|_| ()).is_err());
    }

    #[test]
    fn layers_are_those_of_the_package() {
        for (is_roberta, layers, expected) in [
            (true, 24, 17),
            (true, 12, 10),
            (true, 6, 5),
            (false, 24, 18),
            (false, 12, 9),
            (false, 6, 5),
            (false, 3, 3),
        ] {
            assert_eq!(usual_layer(is_roberta, layers), expected);
        }
    }
}
