//! The model of `--bert-model` as what BERTScore asks.

use jarvis_taskbench::evaluate::similarity::{Similarity, SimilarityError};

use super::super::wrong_use;
use crate::config::Config;
use crate::failure::Failure;

/// Loads a model by its folder or as `local/NAME`. `layer` is the layer whose output is compared, counted from 1; without it the one
/// that the package takes for models of this size.
#[cfg(all(feature = "experts", feature = "llm"))]
pub(super) fn load(name: &str, layer: Option<usize>, config: &Config) -> Result<Box<dyn Similarity>, Failure> {
    use jarvis_experts::Resources;

    let files = crate::wiring::encoder_files(name, config)?;
    let limits = crate::wiring::limits(config);
    let resources = Resources::new(limits.threads, limits.max_memory).map_err(Failure::work)?;
    Ok(Box::new(with_encoder::open(&files, layer, &resources).map_err(wrong_use(SimilarityError::hint))?))
}

#[cfg(not(all(feature = "experts", feature = "llm")))]
pub(super) fn load(_: &str, _: Option<usize>, _: &Config) -> Result<Box<dyn Similarity>, Failure> {
    Err(wrong_use(SimilarityError::hint)(SimilarityError::NotBuilt))
}

#[cfg(all(feature = "experts", feature = "llm"))]
mod with_encoder {
    use jarvis_experts::{Call, Depth, ExpertError, ModelFiles, Resources, TokenEncoder};
    use jarvis_taskbench::evaluate::similarity::{BertScore, SimilarityError, TokenVectors, Tokens, usual_layer};

    pub(super) struct Model(TokenEncoder);

    impl TokenVectors for Model {
        fn tokens(&self, text: &str) -> Result<Tokens, SimilarityError> {
            let states = self.0.states(text, &Call::default());
            let states = states.map_err(|error| SimilarityError::Failed(error.to_string()))?;
            Ok(Tokens { width: states.width, values: states.values, is_special: states.is_special })
        }
    }

    pub(super) fn open(
        files: &ModelFiles,
        layer: Option<usize>,
        resources: &Resources,
    ) -> Result<BertScore<Model>, SimilarityError> {
        let open = || -> Result<TokenEncoder, ExpertError> {
            let depth = Depth::of(files)?;
            let layer = layer.unwrap_or_else(|| usual_layer(depth.is_roberta, depth.layers));
            TokenEncoder::open(files, layer, resources)
        };
        let bad = |error: ExpertError| SimilarityError::Model {
            dir: files.folder.display().to_string(),
            reason: error.to_string(),
        };
        open().map(|encoder| BertScore(Model(encoder))).map_err(bad)
    }

    /// Against the package `bert-score`, on tiny models with random weights.
    #[cfg(test)]
    mod tests {
        use std::path::Path;

        use jarvis_taskbench::evaluate::similarity::Similarity as _;
        use serde_json::Value;

        use super::*;

        fn fixture(name: &str) -> ModelFiles {
            ModelFiles::new(name, Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bertscore").join(name))
        }

        fn resources() -> Resources {
            Resources::new(1, 1 << 30).unwrap()
        }

        #[test]
        fn equals_the_package() {
            let expected: Value = fixture("").json("expected.json").unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let pairs: Vec<(String, String)> =
                expected["pairs"].as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
            for (name, scores) in expected["scores"].as_object().unwrap() {
                let (model, layer) = name.split_once('-').unwrap();
                let bert = open(&fixture(model), Some(layer.parse().unwrap()), &resources()).unwrap();
                let told = std::cell::Cell::new(0);
                let found = bert.score(&pairs, &|done| told.set(done)).unwrap();
                assert_eq!(told.get(), pairs.len());
                for ((pair, found), expected) in pairs.iter().zip(&found).zip(scores.as_array().unwrap()) {
                    for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
                        let expected = expected.as_f64().unwrap();
                        assert!((found - expected).abs() < 2e-5, "{name} {pair:?}: {found}, not {expected}");
                    }
                }
            }
        }

        #[test]
        fn says_what_is_wrong_with_a_directory() {
            let cases = [
                ("nowhere", None, "config.json"),
                ("bert", Some(4), "layers 1 to 3"),
                ("bert", Some(0), "layers 1 to 3"),
            ];
            for (name, layer, word) in cases {
                let error = open(&fixture(name), layer, &resources()).err().unwrap().to_string();
                assert!(error.contains(word), "{error}");
            }
        }
    }
}
