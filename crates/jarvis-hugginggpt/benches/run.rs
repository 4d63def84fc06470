//! What a whole run costs beyond the waits on models and workers: both answer at once, in this process.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self};
use jarvis_catalogue::TaskOutput;
use jarvis_catalogue::{Catalogue, Deployment, InferenceMode, Wanted};
use jarvis_chat::{ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, ChatStream};
use jarvis_engine::{Events, Job, Worker};
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_hugginggpt::{HuggingGpt, Sources};
use jarvis_plan::{Request, RunId, TaskError};
use tokio_util::sync::CancellationToken;

fn main() {
    divan::main();
}

/// Replies at once by stage.
struct Instant {
    plan: String,
}

#[async_trait]
impl ChatModel for Instant {
    fn model_name(&self, _stage: &str) -> String {
        "instant".into()
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
        let text = if request.stage == "parse_task" { self.plan.clone() } else { "Done.".into() };
        Ok(ChatReply { text, ..ChatReply::default() })
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        #[allow(clippy::disallowed_methods)]
        let reply = self.complete(request).await?;
        Ok(stream::iter([Ok(ChatChunk { text: reply.text, ..ChatChunk::default() })]).boxed())
    }
}

struct NoWork;

#[async_trait]
impl Worker for NoWork {
    async fn perform(&self, _job: &Job) -> Result<serde_json::Value, TaskError> {
        Ok(TaskOutput::image("/images/a.png").into())
    }
}

fn pipeline(chat: Option<Arc<dyn ChatModel>>) -> HuggingGpt {
    let wanted = Wanted::remote(InferenceMode::Hybrid, Deployment::Full);
    let prompts = Arc::new(Prompts::builtin().unwrap());
    HuggingGpt::new(chat, Sources::new(Catalogue::builtin(), wanted), Arc::new(NoWork), prompts)
}

fn bench(bencher: divan::Bencher<'_, '_>, pipeline: &HuggingGpt, request: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let request = Arc::new(Request::new(request));
    bencher.bench_local(|| {
        let (events, receiver) = Events::channel(RunId("r".into()));
        let run = runtime.block_on(pipeline.run(Arc::clone(&request), &events, CancellationToken::new())).unwrap();
        assert!(run.ok());
        drop(receiver);
    });
}

/// Plan, check, choose, run, answer: a chain of `tasks` planned by a model.
#[divan::bench(args = [1, 4, 16])]
fn with_a_model(bencher: divan::Bencher<'_, '_>, tasks: usize) {
    let plan: Vec<String> = (0..tasks)
        .map(|id| match id {
            0 => r#"{"task":"canny-control","id":0,"dep":[-1],"args":{"image":"/images/a.png"}}"#.to_owned(),
            id => format!(
                r#"{{"task":"canny-control","id":{id},"dep":[{before}],"args":{{"image":"<GENERATED>-{before}"}}}}"#,
                before = id - 1
            ),
        })
        .collect();
    let chat = Instant { plan: format!("[{}]", plan.join(",")) };
    bench(bencher, &pipeline(Some(Arc::new(chat))), "edges again and again");
}

/// The same without a model: the offline planner and the template.
#[divan::bench]
fn offline(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, &pipeline(None), "segment /images/a.png, then find the edges of the result");
}
