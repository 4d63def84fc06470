//! Shared by the tests of inference and generation: small domains, a model in this process, any JSON.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use jarvis_batch::Summary;
use jarvis_chat::{ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, TokenUsage};
use jarvis_taskbench::data::Domain;
use jarvis_taskbench::infer::{Job, Outputs, PlanBy};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const GOOD: &str =
    r#"{"task_steps": ["Step 1: read it"], "task_nodes": [{"task": "Image-to-Text", "arguments": ["a.png"]}]}"#;

/// A small domain of typed tools with these requests, and two gold plans.
pub(crate) fn studio(requests: &[(Value, &str)]) -> (tempfile::TempDir, Domain) {
    let tools = json!({"nodes": [
        {"id": "Image-to-Text", "desc": "Extracts text from an image.", "input-type": ["image"], "output-type": ["text"]},
        {"id": "Text Translator", "desc": "Translates a text.", "input-type": ["text"], "output-type": ["text"]},
        {"id": "Audio Splicer", "desc": "Combines two audio files.", "input-type": ["audio", "audio"], "output-type": ["audio"]},
    ]});
    let gold = |id: &str, request: &str| {
        json!({"id": id, "type": "chain", "n_tools": 2, "user_request": request,
            "task_steps": ["Step 1: Read \"b.png\"", "Step 2: Translate"],
            "task_nodes": [{"task": "Image-to-Text", "arguments": ["b.png"]}, {"task": "Text Translator", "arguments": ["<node-0>"]}],
            "task_links": [{"source": "Image-to-Text", "target": "Text Translator"}]})
    };
    let gold = [gold("d2", "Read b.png and translate it"), gold("d1", "Join the sounds")];
    domain("data_studio", &tools, requests, &gold)
}

/// A small domain of tools with named parameters, one of them without any, and one gold plan.
pub(crate) fn everyday(requests: &[(Value, &str)]) -> (tempfile::TempDir, Domain) {
    let tools = json!({"nodes": [
        {"id": "book_flight", "desc": "Book a flight on a day", "parameters": [
            {"name": "date", "type": "date", "desc": "The day"}, {"name": "from", "type": "string", "desc": "Where it starts"},
            {"name": "to", "type": "string", "desc": "Where it goes"}]},
        {"id": "send_email", "desc": "Send an email to somebody", "parameters": [
            {"name": "to", "type": "email", "desc": "The address"}, {"name": "body", "type": "string", "desc": "The text"}]},
        {"id": "bare", "desc": "A tool without parameters"},
    ]});
    let gold = [json!({"id": "d1", "user_request": "Fly", "task_steps": ["Step 1: Call book_flight with to: 'Rome'"],
        "task_nodes": [{"task": "book_flight", "arguments": [{"name": "to", "value": "Rome"}]}], "task_links": []})];
    domain("data_everyday", &tools, requests, &gold)
}

/// A domain folder of this name.
pub(crate) fn domain(
    name: &str,
    tools: &Value,
    requests: &[(Value, &str)],
    gold: &[Value],
) -> (tempfile::TempDir, Domain) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("tool_desc.json"), tools.to_string()).unwrap();
    let requests: Vec<String> =
        requests.iter().map(|(id, text)| json!({"id": id, "user_request": text}).to_string() + "\n").collect();
    std::fs::write(path.join("user_requests.json"), requests.concat()).unwrap();
    let gold: Vec<String> = gold.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(path.join("data.json"), gold.concat()).unwrap();
    let domain = Domain::open(path).unwrap();
    (dir, domain)
}

/// A model in this process: an answer for each stage and prompt.
pub(crate) struct Scripted<F> {
    answer: F,
    stages: Mutex<Vec<String>>,
    /// Calls under way, and the most there were at once.
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A call under way, also when it is given up.
struct Underway<'a>(&'a AtomicUsize);

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<F: Fn(&str, &str) -> Result<String, ChatError> + Send + Sync> Scripted<F> {
    pub(crate) fn new(answer: F) -> Arc<Scripted<F>> {
        Arc::new(Scripted { answer, stages: Mutex::default(), now: 0.into(), most: 0.into() })
    }

    pub(crate) fn stages(&self) -> Vec<String> {
        self.stages.lock().unwrap().clone()
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl<F: Fn(&str, &str) -> Result<String, ChatError> + Send + Sync> ChatModel for Scripted<F> {
    fn model_name(&self, _: &str) -> String {
        "scripted".into()
    }

    fn context_tokens(&self, _: &str) -> usize {
        8192
    }

    fn count_tokens(&self, _: &str, text: &str) -> usize {
        text.len() / 4
    }

    fn token_ids(&self, _: &str, _: &str) -> Vec<u32> {
        Vec::new()
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        String::new()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.stages.lock().unwrap().push(request.stage.clone());
        self.most.fetch_max(self.now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let _underway = Underway(&self.now);
        let prompt = request.messages[0].joined_text();
        let text = (self.answer)(&request.stage, &prompt);
        // Replies come in another order than requests; tests pause the time.
        tokio::time::sleep(Duration::from_millis(prompt.bytes().map(u64::from).sum::<u64>() % 97)).await;
        let text = text?;
        Ok(ChatReply {
            text,
            finish_reason: "stop".into(),
            usage: TokenUsage { prompt: 10, completion: 1, ..TokenUsage::default() },
            ..ChatReply::default()
        })
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatChunk, ChatError>>, ChatError> {
        panic!("nothing here streams")
    }
}

pub(crate) async fn run(job: &Job, by: &PlanBy, dir: &Path) -> Summary {
    let mut outputs = Outputs::open(dir, "m").unwrap();
    job.run(by, &mut outputs, &(), &CancellationToken::new()).await.unwrap()
}

pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Any JSON of these words and keys, and of others.
pub(crate) fn any_json(words: &'static [&str], keys: &'static [&str]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c _<>node0-9-]{0,12}".prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 50, 5, move |inner| {
        let object = prop::collection::vec((prop::sample::select(keys), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            object.prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}
