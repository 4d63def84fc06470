//! BERTScore against the package `bert-score`, on tiny models with random weights.

use std::path::{Path, PathBuf};

use jarvis_taskbench::evaluate::similarity::load;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bertscore").join(name)
}

#[test]
fn equals_the_package() {
    let expected: Value = serde_json::from_slice(&std::fs::read(fixture("expected.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pairs: Vec<(String, String)> =
        expected["pairs"].as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    for (name, scores) in expected["scores"].as_object().unwrap() {
        let (model, layer) = name.split_once('-').unwrap();
        let bert = load(&fixture(model), Some(layer.parse().unwrap())).unwrap();
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
        (fixture("nowhere"), None, "config.json"),
        (fixture("bert"), Some(4), "layers 1 to 3"),
        (fixture("bert"), Some(0), "layers 1 to 3"),
    ];
    for (dir, layer, word) in cases {
        let error = load(&dir, layer).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    }
}
