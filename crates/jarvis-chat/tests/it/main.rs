//! The chat models against a fake endpoint on a real socket, and against recordings on disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![allow(clippy::disallowed_methods, reason = "the calls themselves are tested")]

mod client;
mod discover;
mod embeddings;
mod fake;
mod recording;
mod streaming;

use std::time::Duration;

use jarvis_chat::{ChatRequest, Message, OpenAi, OpenAiConfig, Retries, Secret};
use jarvis_plan::Role;
use jarvis_testing::chat::FakeChat;

const CASES: &str = include_str!("cases.yaml");

/// No message may ever hold it; the test cases quote it.
const KEY: &str = "sk-very-secret-0123456789";

/// Settings with a key and repeats without pauses.
fn config(base_url: impl Into<String>) -> OpenAiConfig {
    let mut config = OpenAiConfig::new(base_url, "gpt-4o-mini");
    config.api_key = Secret::new(KEY);
    let pause = Duration::from_millis(1);
    config.retries = Retries { max: 2, first_pause: pause, longest_pause: pause };
    config
}

fn client(fake: &FakeChat) -> OpenAi {
    OpenAi::new(config(fake.url())).unwrap()
}

fn request(stage: &str, text: &str) -> ChatRequest {
    ChatRequest::exact(stage, vec![Message::text(Role::System, "Be brief."), Message::text(Role::User, text)])
}
