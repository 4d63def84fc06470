//! Text models: whole pipelines against what transformers' pipelines gave, see `../models/make_text.py`.

use std::path::PathBuf;

use jarvis_experts::{Call, Input, ModelFiles, Output, Resources, open};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) task: String,
    pub(crate) input: Input,
    pub(crate) expected: Value,
}

pub(crate) fn model(name: &str) -> ModelFiles {
    ModelFiles::new(name, PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name))
}

pub(crate) fn resources() -> Resources {
    Resources::new(1, 1 << 30).unwrap()
}

/// Numbers within the tolerance, everything else equal; the largest difference of numbers.
fn difference(found: &Value, expected: &Value, path: &str) -> f64 {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) if !path.ends_with("start") && !path.ends_with("end") => {
            (found.as_f64().unwrap() - expected.as_f64().unwrap()).abs()
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert!(found.len() == expected.len(), "{path}: {} entries, not {}", found.len(), expected.len());
            let pairs = found.iter().zip(expected).enumerate();
            pairs.map(|(index, (one, other))| difference(one, other, &format!("{path}.{index}"))).fold(0.0, f64::max)
        }
        (Value::Object(found), Value::Object(expected)) => {
            let pairs = expected.iter().map(|(name, value)| (found.get(name), name, value));
            pairs
                .map(|(found, name, value)| difference(found.unwrap_or(&Value::Null), value, &format!("{path}.{name}")))
                .fold(0.0, f64::max)
        }
        _ => {
            assert_eq!(found, expected, "{path}");
            0.0
        }
    }
}

/// All cases of a fixture; the largest difference.
#[track_caller]
pub(crate) fn check(files: &ModelFiles, tolerance: f64) {
    let cases: Vec<Case> = files.json("expected.json").unwrap();
    assert!(!cases.is_empty());
    let mut largest: f64 = 0.0;
    for case in &cases {
        let model = open(files, &case.task, &resources()).unwrap();
        let output = model.run(&case.input, &Call::default()).unwrap();
        let output = match output {
            Output::Text(text) => Output::Text(text.trim().to_owned()),
            other => other,
        };
        let found = serde_json::to_value(output).unwrap();
        let path = format!("{} {} {:?}", files.id, case.task, case.input);
        largest = largest.max(difference(&found, &case.expected, &path));
    }
    println!("{}: {} cases, largest difference {largest:.1e}", files.id, cases.len());
    assert!(largest <= tolerance, "{}: {largest}", files.id);
}

#[test]
fn classifiers_equal_the_reference() {
    for name in [
        "text-bert-classification",
        "text-distilbert-classification",
        "text-distilbert-mnli",
        "text-xlmr-classification",
        "text-deberta-classification",
        "text-mobilebert-classification",
    ] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn taggers_equal_the_reference() {
    for name in ["text-bert-entities", "text-xlmr-entities"] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn readers_equal_the_reference() {
    for name in ["text-distilbert-answers", "text-roberta-squad2"] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn masks_are_filled_as_by_the_reference() {
    for name in ["text-bert-mask", "text-roberta-mask"] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn vectors_equal_the_reference() {
    for name in ["text-minilm", "text-multilingual-e5-small", "text-bge-tiny", "text-mpnet"] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn translations_equal_the_reference() {
    for name in ["text-opus-mt-en-de", "text-nllb", "text-mbart50", "text-mbart"] {
        check(&model(name), 1e-4);
    }
}

#[test]
fn texts_are_written_as_by_the_reference() {
    for name in ["text-bart", "text-t5", "text-gpt2"] {
        check(&model(name), 1e-4);
    }
}
