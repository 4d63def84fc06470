//! Sentence vectors made in this process, against a forward pass written apart in numpy and double precision, of a tiny model
//! with random weights.

use std::path::{Path, PathBuf};

use jarvis_chat::Embedder as _;
use jarvis_easytool::retrieval::{MiniLm, Retriever};
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/minilm").join(name)
}

pub(crate) fn expected(name: &str) -> Vec<Value> {
    let rows: Value = serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap();
    rows.as_array().unwrap().clone()
}

pub(crate) fn texts(rows: &[Value]) -> Vec<String> {
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

pub(crate) fn furthest(found: &[f32], expected: &[f64]) -> f64 {
    found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

#[tokio::test]
async fn a_tiny_model_gives_the_reference_vectors() {
    let model = MiniLm::open(&fixture("tiny")).unwrap();
    assert_eq!(model.dimension(), Some(8));
    assert_eq!(model.id(), MiniLm::open(&fixture("tiny")).unwrap().id());
    let rows = expected("tiny.json");
    // More texts than a batch, of all lengths.
    let many: Vec<String> = texts(&rows).iter().cycle().take(75).cloned().collect();
    let vectors = model.embed(&many).await.unwrap();
    assert_eq!(vectors.len(), 75);
    for ((text, vector), row) in many.iter().zip(&vectors).zip(rows.iter().cycle()) {
        assert_eq!(vector.len(), 8);
        let off = furthest(vector, &numbers(&row["vector"]));
        assert!(off < 5e-6, "{text}: off by {off}");
    }
    assert_eq!(model.embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
}

#[tokio::test]
async fn tools_are_found_with_it() {
    let model = std::sync::Arc::new(MiniLm::open(&fixture("tiny")).unwrap());
    let tools: Vec<(i64, String)> = (0..).zip(texts(&expected("tiny.json"))).collect();
    let dir = tempfile::tempdir().unwrap();
    let retriever = Retriever::by_vectors(tools, model, Some(dir.path().to_owned())).await.unwrap();
    let found = retriever.retrieve("weather in a city?", 2).await.unwrap();
    assert_eq!((found[0].id, (found[0].score * 1e5).round()), (1, 1e5));
}

#[test]
fn says_what_is_wrong_with_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = |name: &str| std::fs::read(fixture("tiny").join(name)).unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    let check = |expected: &str| {
        let error = MiniLm::open(dir.path()).unwrap_err().to_string();
        assert!(error.starts_with("the model in ") && error.contains(expected), "{error}");
    };
    check("config.json: ");
    put("config.json", br#"{"model_type": "roberta"}"#);
    check("its type is `roberta`, not `bert`");
    put("config.json", &tiny("config.json"));
    put("modules.json", br#"[{"type": "sentence_transformers.models.Dense"}]"#);
    check("its vectors also go through `Dense`");
    put("modules.json", br#"[{"type": "sentence_transformers.models.Pooling"}]"#);
    check("tokenizer.json: ");
    put("tokenizer.json", &tiny("tokenizer.json"));
    check("model.safetensors: ");
    put("model.safetensors", b"no tensors");
    check("model.safetensors: ");
    put("model.safetensors", &tiny("model.safetensors"));
    assert!(MiniLm::open(dir.path()).is_ok());
}
