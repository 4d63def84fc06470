//! Real weights of a sentence encoder, where they are installed: below `JARVIS_TEST_MODELS`, see `../models/make_text_real.py`.

use std::path::Path;

use jarvis_experts::{Call, Input, ModelFiles, Output, open};
use serde_json::Value;

use crate::text::resources;

/// all-MiniLM-L6-v2 gives the vectors that sentence-transformers gives, to the six digits that the fixture keeps.
#[test]
fn the_installed_minilm_gives_the_published_vectors() {
    let name = "all-MiniLM-L6-v2";
    let folder = std::env::var_os("JARVIS_TEST_MODELS").map(|folder| Path::new(&folder).join(name));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: no folder {name} in JARVIS_TEST_MODELS (see tests/models/make_text_real.py)");
        return;
    };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/real/all-MiniLM-L6-v2.json");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(fixture).unwrap()).unwrap();
    let texts: Vec<String> = rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    let check = |weights: &str, tolerance: f64| {
        let mut files = ModelFiles::new(name, &folder);
        files.weights = vec![weights.to_owned()];
        let model = open(&files, "feature-extraction", &resources()).unwrap();
        let Output::Vectors(vectors) = model.run(&Input::Texts(texts.clone()), &Call::default()).unwrap() else {
            panic!("no vectors")
        };
        for (row, vector) in rows.iter().zip(&vectors) {
            for (expected, found) in row["start"].as_array().unwrap().iter().zip(vector) {
                let difference = (expected.as_f64().unwrap() - f64::from(*found)).abs();
                assert!(difference < tolerance, "{}: {difference}", row["text"]);
            }
        }
    };
    check("onnx/model.onnx", 1e-5);
    // Eight bits keep the direction of a vector, not its digits.
    check("onnx/model_quantized.onnx", 0.1);
}
