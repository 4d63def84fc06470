//! Language models: replies, grammars, streams, limits, and files that lie. Fixtures: `tests/models/make_llm.py`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, reason = "tests")]

mod chat;
mod hostile;
mod installed;
mod replies;
mod templates;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jarvis_experts::{
    Call, ChatInput, ChatOutput, ChatTurn, ExpertError, Input, LocalModels, LocalModelsConfig, ModelFiles, Output,
};

const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "phi3", "gemma3"];
const TASK: &str = "conversational";

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/llm"))
}

fn files(architecture: &str) -> ModelFiles {
    ModelFiles { weights: vec![format!("{architecture}.gguf")], ..ModelFiles::new(architecture, folder()) }
}

fn models() -> LocalModels {
    let (max_memory, keep_alive) = (1 << 30, Duration::from_secs(60));
    LocalModels::new(LocalModelsConfig { max_memory, keep_alive, threads: 1, at_once: 2 }).unwrap()
}

fn turn(role: &str, text: &str) -> ChatTurn {
    ChatTurn { role: role.to_owned(), text: text.to_owned() }
}

/// A call that goes on until its limit: tokens that end a reply never come.
fn endless(text: &str, max_tokens: u32) -> ChatInput {
    let ends = [0, 1, 2].map(|token| (token, -1000.0));
    ChatInput {
        turns: vec![turn("user", text)],
        max_tokens: Some(max_tokens),
        temperature: Some(1.0),
        seed: Some(3),
        logit_bias: BTreeMap::from(ends),
        ..ChatInput::default()
    }
}

async fn reply(
    models: &LocalModels,
    architecture: &str,
    input: ChatInput,
    call: Call,
) -> Result<ChatOutput, ExpertError> {
    match models.run(&files(architecture), TASK, Input::Chat(input), call).await? {
        Output::Chat(output) => Ok(output),
        other => panic!("no chat output: {other:?}"),
    }
}
