//! Vectors of an endpoint: requests on the wire, batches, order, what is refused, repeats.

use std::time::Duration;

use jarvis_chat::{ChatError, EmbedError, Embedder, OpenAiConfig, OpenAiEmbeddings};
use jarvis_testing::chat::{DIMENSION, FakeChat, Reply, Script, fake_vector};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::{CASES, KEY, config};

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("text number {at} of {count}")).collect()
}

fn embeddings(fake: &FakeChat) -> OpenAiEmbeddings {
    OpenAiEmbeddings::new(OpenAiConfig { model: "embed-small".into(), ..config(fake.url()) }).unwrap()
}

#[tokio::test]
async fn a_call_carries_stage_key_model_and_texts() {
    let fake = FakeChat::start(Script::new()).await;
    let client = embeddings(&fake);
    assert_eq!(client.dimension(), None);
    let vectors = client.embed(&texts(3)).await.unwrap();
    let expected: Vec<Vec<f64>> = texts(3).iter().map(|text| fake_vector(text, DIMENSION)).collect();
    let vectors: Vec<Vec<f64>> =
        vectors.iter().map(|vector| vector.iter().map(|value| f64::from(*value)).collect()).collect();
    assert_eq!(vectors, expected);
    assert_eq!(client.dimension(), Some(DIMENSION));

    let [sent] = fake.requests().try_into().unwrap();
    assert_eq!((sent.target.as_str(), sent.stage()), ("/v1/embeddings", "embed"));
    assert_eq!(sent.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(sent.body, json!({"model": "embed-small", "input": texts(3), "encoding_format": "float"}));

    assert_eq!(client.embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(fake.requests().len(), 1);
    assert_eq!(client.embed(&[String::new()]).await.unwrap(), [[0.0; DIMENSION]]);
}

#[tokio::test]
async fn many_texts_go_in_batches_and_come_in_order() {
    let fake = FakeChat::start(Script::new()).await;
    let client = embeddings(&fake).batch(7);
    let vectors = client.embed(&texts(33)).await.unwrap();
    for (text, vector) in texts(33).iter().zip(&vectors) {
        let expected = fake_vector(text, DIMENSION);
        assert!(vector.iter().map(|value| f64::from(*value)).eq(expected), "{text}");
    }
    let mut sizes: Vec<usize> = fake.requests().iter().map(|request| request.inputs().len()).collect();
    sizes.sort_unstable();
    assert_eq!((vectors.len(), sizes), (33, vec![5, 7, 7, 7, 7]));
}

#[tokio::test]
async fn ids_tell_model_endpoint_and_settings_but_no_key() {
    let named = |base: &str, extra: Value| {
        let extra_body = extra.as_object().cloned().unwrap_or_default();
        let config = OpenAiConfig { model: " m ".into(), extra_body, ..config(base.to_owned()) };
        OpenAiEmbeddings::new(config).map_or_else(|error| error.to_string(), |client| client.id())
    };
    for (base, extra, expected) in rows::<(String, Value, String)>(CASES, "embedder ids") {
        assert_eq!(named(&base, extra), expected, "{base}");
    }
}

#[tokio::test]
async fn replies_are_checked_and_troubles_repeated() {
    for (replies, expected, requests) in rows::<(Vec<Reply>, String, usize)>(CASES, "embeddings") {
        let shown = format!("{replies:?}");
        let fake = FakeChat::start(Script::new().on("embed", replies)).await;
        let got = match embeddings(&fake).embed(&texts(2)).await {
            Ok(vectors) if expected.ends_with("vectors") => format!("{} vectors", vectors.len()),
            Ok(vectors) => format!("{vectors:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!((got, fake.requests().len()), (expected, requests), "{shown}");
    }
}

#[tokio::test]
async fn lengths_stay_the_same_from_call_to_call() {
    let row = |values: Value| Reply::json(200, json!({"data": [{"embedding": values}]}));
    let fake = FakeChat::start(Script::new().on("embed", [row(json!([1, 2])), row(json!([1, 2, 3]))])).await;
    let client = embeddings(&fake);
    client.embed(&texts(1)).await.unwrap();
    let error = client.embed(&texts(1)).await.unwrap_err();
    assert!(error.to_string().ends_with("a vector has 3 components, and others have 2"), "{error}");
}

#[tokio::test]
async fn a_wait_ends_and_keys_stay_out() {
    let quoting = Reply::error(400, &format!("your key {KEY} is odd"));
    let fake = FakeChat::start(Script::new().on("embed", [quoting, Reply::never()])).await;
    let mut config = config(fake.url());
    config.timeout = Duration::from_millis(50);
    config.retries.max = 0;
    let client = OpenAiEmbeddings::new(config).unwrap();
    let error = client.embed(&texts(1)).await.unwrap_err();
    assert_eq!(
        error,
        EmbedError::Endpoint(ChatError::Api { status: 400, message: "your key [redacted] is odd".into() })
    );
    let late = ChatError::Timeout { after: Duration::from_millis(50) };
    assert_eq!(client.embed(&texts(1)).await.unwrap_err(), EmbedError::Endpoint(late));
    assert!(!format!("{client:?}").contains(KEY));
}
