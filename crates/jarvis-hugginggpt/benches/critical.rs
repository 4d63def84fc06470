//! The wall time of runs against their critical path: a model call takes 300 ms, an expert 200 ms. With a planner that
//! writes its plan token by token, also when the first task starts after its closing brace.
//!
//! `cargo bench -p jarvis-hugginggpt --bench critical`

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self};
use jarvis_catalogue::{Catalogue, Deployment, Host, InferenceMode, Model, TaskOutput, Wanted};
use jarvis_chat::{ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, ChatStream};
use jarvis_engine::{Events, Job, Worker};
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_hugginggpt::{HuggingGpt, Settings, Sources};
use jarvis_plan::{Request, RunId, TaskError};
use tokio_util::sync::CancellationToken;

const CALL: Duration = Duration::from_millis(300);
const EXPERT: Duration = Duration::from_millis(200);
/// Tokens of a task, and the time that the planner takes to write one.
const TASK_TOKENS: usize = 60;
const TOKEN: Duration = Duration::from_nanos(1_000_000_000 / 30);

/// Task types of which each takes a picture and gives one.
const NAMES: [&str; 2] = ["image-to-image", "canny-control"];

type Times = Arc<Mutex<Vec<Instant>>>;

/// Takes its time over each call, and writes plans token by token where it is asked to.
struct Planner {
    tasks: Vec<String>,
    /// When the closing brace of each task was written.
    written: Times,
}

#[async_trait]
impl ChatModel for Planner {
    fn model_name(&self, _stage: &str) -> String {
        "planner".into()
    }

    fn context_tokens(&self, _stage: &str) -> usize {
        128_000
    }

    fn count_tokens(&self, _stage: &str, text: &str) -> usize {
        text.len() / 4
    }

    fn token_ids(&self, _stage: &str, _text: &str) -> Vec<u32> {
        Vec::new()
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        String::new()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        tokio::time::sleep(CALL).await;
        let text = match request.stage.as_str() {
            "parse_task" => format!("[{}]", self.tasks.join(",")),
            "choose_model" => r#"{"id": "org/best", "reason": "it is the best"}"#.to_owned(),
            _ => "Done.".to_owned(),
        };
        Ok(ChatReply { text, ..ChatReply::default() })
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        if request.stage != "parse_task" {
            #[allow(clippy::disallowed_methods)]
            let reply = self.complete(request).await?;
            return Ok(stream::iter([Ok(ChatChunk { text: reply.text, ..ChatChunk::default() })]).boxed());
        }
        let mut pieces: Vec<(String, bool)> = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            pieces.extend(tokens(&format!("{}{task}", if at == 0 { "[" } else { "," })));
        }
        pieces.push(("]".to_owned(), false));
        let written = Arc::clone(&self.written);
        let first = tokio::time::Instant::now() + CALL;
        let pieces = stream::iter(pieces.into_iter().enumerate()).then(move |(at, (text, closes))| {
            let written = Arc::clone(&written);
            async move {
                tokio::time::sleep_until(first + TOKEN * u32::try_from(at).unwrap()).await;
                if closes {
                    written.lock().unwrap().push(Instant::now());
                }
                Ok(ChatChunk { text, ..ChatChunk::default() })
            }
        });
        Ok(pieces.boxed())
    }
}

/// The tokens of a task, and whether each closes it: the brace comes last.
fn tokens(task: &str) -> Vec<(String, bool)> {
    let (head, brace) = task.split_at(task.len() - 1);
    let size = head.len().div_ceil(TASK_TOKENS - 1);
    let mut tokens: Vec<String> =
        head.as_bytes().chunks(size).map(|token| String::from_utf8_lossy(token).into_owned()).collect();
    tokens.resize(TASK_TOKENS - 1, String::new());
    tokens.into_iter().map(|token| (token, false)).chain([(brace.to_owned(), true)]).collect()
}

struct Expert(Times);

#[async_trait]
impl Worker for Expert {
    async fn perform(&self, _job: &Job) -> Result<serde_json::Value, TaskError> {
        self.0.lock().unwrap().push(Instant::now());
        tokio::time::sleep(EXPERT).await;
        Ok(TaskOutput::image("/images/a.png").into())
    }
}

/// The tasks of a shape, by what each depends on, and how many experts stand behind each other on its critical path.
fn shape(name: &str) -> (Vec<Vec<usize>>, u32) {
    match name {
        "one task" => (vec![vec![]], 1),
        "fan-out of 8" => (vec![vec![]; 8], 1),
        "chain of 4" => (vec![vec![], vec![0], vec![1], vec![2]], 4),
        _ => (vec![vec![], vec![0], vec![0], vec![1, 2]], 3),
    }
}

fn task((id, dep): (usize, &Vec<usize>)) -> String {
    let image = dep.last().map_or_else(|| format!("/images/{id}.png"), |of| format!("<GENERATED>-{of}"));
    let dep = if dep.is_empty() { vec![-1] } else { dep.iter().map(|of| i64::try_from(*of).unwrap()).collect() };
    let name = NAMES[id % NAMES.len()];
    format!(r#"{{"task":"{name}","id":{id},"dep":{dep:?},"args":{{"image":"{image}"}}}}"#)
}

async fn run(name: &str, settings: Settings) -> (Duration, Option<Duration>) {
    let (dependencies, _) = shape(name);
    let tasks = dependencies.iter().enumerate().map(task).collect();
    let (written, started) = (Times::default(), Times::default());
    let chat = Arc::new(Planner { tasks, written: Arc::clone(&written) });
    let model = |name: &&str| Model::new("org/best", name, Host::Huggingface, "a model");
    let catalogue = Catalogue::with_models(NAMES.iter().map(model).collect(), Vec::new());
    let sources = Sources {
        huggingface: true,
        ..Sources::new(catalogue, Wanted::remote(InferenceMode::Huggingface, Deployment::Minimal))
    };
    let prompts = Arc::new(Prompts::builtin().unwrap());
    let pipeline = HuggingGpt {
        settings,
        ..HuggingGpt::new(Some(chat), sources, Arc::new(Expert(Arc::clone(&started))), prompts)
    };
    let (events, receiver) = Events::channel(RunId("r".into()));
    let began = Instant::now();
    let first = dependencies.iter().enumerate().filter(|(_, dep)| dep.is_empty());
    let files: Vec<String> = first.map(|(id, _)| format!("/images/{id}.png")).collect();
    let request = Arc::new(Request::new(format!("change {}", files.join(" and "))));
    let run = pipeline.run(request, &events, CancellationToken::new()).await.unwrap();
    let took = began.elapsed();
    assert!(run.ok(), "{:?}", run.not_done);
    drop(receiver);
    let (written, started) = (written.lock().unwrap(), started.lock().unwrap());
    (took, written.first().zip(started.first()).map(|(brace, start)| start.saturating_duration_since(*brace)))
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        // What is made once in a process is none of a run's.
        run("one task", Settings { stream_plan: false, ..Settings::default() }).await;
        println!("the whole plan at once: a call 300 ms, an expert 200 ms; bound = plan + critical path + answer");
        for name in ["one task", "fan-out of 8", "chain of 4", "diamond"] {
            let bound = CALL + EXPERT * shape(name).1 + CALL;
            let (took, _) = run(name, Settings { stream_plan: false, ..Settings::default() }).await;
            let times = took.as_secs_f64() / bound.as_secs_f64();
            println!("{name:<14} {took:>7.1?} of {bound:?}, {times:.4} times");
        }
        println!("written at 30 tokens/s, 60 tokens a task, 300 ms to the first");
        for name in ["one task", "fan-out of 8", "chain of 4", "diamond"] {
            let (dependencies, depth) = shape(name);
            let plan = CALL + TOKEN * u32::try_from(dependencies.len() * TASK_TOKENS).unwrap();
            let in_a_row = plan + EXPERT * depth + CALL;
            let (took, start) = run(name, Settings::default()).await;
            let start = start.unwrap_or_default();
            println!("{name:<14} {took:>7.1?}, in a row {in_a_row:.1?}; first task {start:.1?} after its brace");
        }
    });
}
