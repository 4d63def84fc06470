//! The model as a chat model.
#![allow(clippy::disallowed_methods, reason = "the calls themselves are tested")]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures::StreamExt as _;
use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, Part, ReplySchema, ToolOffer};
use jarvis_experts::llm::LocalChat;
use jarvis_experts::{Call, Input, LocalModels, ModelFiles};
use jarvis_plan::Role;
use serde_json::json;

use super::{TASK, endless, files, folder, models};

fn request(text: &str) -> ChatRequest {
    let messages = vec![Message::text(Role::System, "Be brief."), Message::text(Role::User, text)];
    let logit_bias = [0, 1, 2].map(|token| (token, -1000.0)).into_iter().collect();
    ChatRequest { max_tokens: Some(20), logit_bias, ..ChatRequest::exact("chitchat", messages) }
}

fn chat(models: &LocalModels) -> LocalChat {
    LocalChat::open(models.clone(), files("qwen3")).unwrap()
}

#[tokio::test]
async fn facts() {
    let models = models();
    let chat = chat(&models);
    assert_eq!(chat.model_name("any"), "local/qwen3");
    assert_eq!(chat.context_tokens("any"), 512);
    assert!(!chat.can_see("any"));
    assert_eq!(chat.count_tokens("any", ""), 0);
    assert_eq!(chat.count_tokens("any", "12 34"), 5);
    assert_eq!(chat.token_ids("any", "1 1"), {
        let mut ids = chat.token_ids("any", "1");
        ids.extend(chat.token_ids("any", " "));
        ids.extend(chat.token_ids("any", " 1"));
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| chat.token_ids("any", "1 1").contains(id));
        ids
    });
    assert!(models.loaded().is_empty(), "facts need no weights");
}

#[tokio::test]
async fn replies_whole_and_streamed_are_the_same() {
    let models = models();
    let chat = chat(&models);
    for schema in [
        None,
        Some(ReplySchema { name: "answer".to_owned(), schema: std::sync::Arc::new(json!({ "enum": ["yes", "no"] })) }),
    ] {
        let request = ChatRequest { schema, ..request("Is it far?") };
        let whole = chat.complete(&request).await.unwrap();
        let chunks: Vec<_> = chat.stream(&request).await.unwrap().map(Result::unwrap).collect().await;
        let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        let last = chunks.last().unwrap();
        assert_eq!(
            (text, last.finish_reason.clone(), last.usage),
            (whole.text.clone(), Some(whole.finish_reason.clone()), Some(whole.usage))
        );
        if request.schema.is_some() {
            assert!(["\"yes\"", "\"no\""].contains(&whole.text.as_str()), "{}", whole.text);
        } else {
            assert_eq!((whole.usage.completion, whole.finish_reason.as_str()), (20, "length"));
            assert!(chunks.len() > 5);
        }
    }
}

#[tokio::test]
async fn errors() {
    let models = models();
    let picture = Message { role: Role::User, parts: vec![Part::Image("data:,".to_owned())] };
    let tool = ToolOffer { name: "t".to_owned(), description: String::new(), schema: json!({}) };
    let cases = [
        (ChatRequest { messages: vec![picture], ..request("") }, "take no pictures"),
        (ChatRequest { tools: vec![tool], ..request("") }, "call no tools"),
        (request(&"rain ".repeat(500)), "the context of the model `qwen3` has 512"),
        (ChatRequest { timeout: Some(Duration::ZERO), ..request("Hi") }, "did not answer within"),
        (
            ChatRequest {
                schema: Some(ReplySchema { name: "x".to_owned(), schema: std::sync::Arc::new(json!(7)) }),
                ..request("Hi")
            },
            "the schema of the reply",
        ),
    ];
    let chat = chat(&models);
    for (request, part) in cases {
        let error = chat.complete(&request).await.unwrap_err();
        assert!(error.to_string().contains(part), "{part}: {error}");
        let streamed = match chat.stream(&request).await {
            Ok(mut stream) => stream.next().await.unwrap().unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(streamed, error);
    }
    assert!(matches!(chat.complete(&request(&"rain ".repeat(500))).await, Err(ChatError::Api { status: 400, .. })));
    let folder = tempfile::tempdir().unwrap();
    let error = LocalChat::open(models, ModelFiles::new("none", folder.path())).unwrap_err();
    assert_eq!(error.to_string(), "the model `none` lacks the file *.gguf");
}

/// Waits until no use of a model goes on.
async fn until_unused(models: &LocalModels) {
    while models.loaded().iter().any(|loaded| loaded.users > 0) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn work_ends_when_nobody_waits() {
    let models = models();
    let mut stream = chat(&models).stream(&ChatRequest { max_tokens: None, ..request("Go on") }).await.unwrap();
    let first = stream.next().await.unwrap();
    drop(stream);
    assert!(first.is_ok());
    until_unused(&models).await;

    // The listener holds the work at its first piece until the future is dropped.
    let (started, wait_started) = channel();
    let (go_on, wait_go_on) = channel::<()>();
    let wait_go_on = std::sync::Mutex::new(wait_go_on);
    let count = Arc::new(std::sync::Mutex::new(0));
    let counted = Arc::clone(&count);
    let on_text = move |_: &str| {
        *counted.lock().unwrap() += 1;
        let _ = started.send(());
        let _ = wait_go_on.lock().unwrap().recv();
    };
    let call = Call { on_text: Some(Box::new(on_text)), ..Call::default() };
    let files = ModelFiles { weights: vec!["qwen3.gguf".to_owned()], ..ModelFiles::new("qwen3", folder()) };
    let mut run = Box::pin(models.run(&files, TASK, Input::Chat(endless("Go on", 400)), call));
    while wait_started.try_recv().is_err() {
        let pending = futures::poll!(&mut run);
        assert!(pending.is_pending());
        tokio::task::yield_now().await;
    }
    drop(run);
    drop(go_on);
    until_unused(&models).await;
    assert_eq!(*count.lock().unwrap(), 1);
}
