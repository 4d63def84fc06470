//! The chat worker against a scripted model: what is asked, what comes back, which events are sent.

use jarvis_catalogue::Host;
use jarvis_plan::{EventKind, TaskId};

use super::*;
use crate::testkit::{inputs, job, job_and_events, png, scripted};
use jarvis_chat::Scripted;

fn worker(model: &Arc<Scripted>) -> (tempfile::TempDir, ChatWorker) {
    let (folder, inputs) = inputs();
    let prompt: TaskPrompt =
        Arc::new(|request, task| Ok(vec![Message::text(Role::User, format!("{} | {task}", request.text))]));
    let model: Arc<dyn ChatModel> = Arc::<Scripted>::clone(model);
    (folder, ChatWorker::new(model, inputs, prompt))
}

#[tokio::test]
async fn text_tasks_give_a_response() {
    let model = scripted(false, Ok("Bonjour"));
    let (_folder, worker) = worker(&model);
    let (job, mut events) = job_and_events(Host::Llm, "ChatGPT", "translation", &[("text", "Hello")]);
    let inference = worker.output(&job).await.unwrap();
    assert_eq!(inference.0, json!({"response": "Bonjour"}));
    let asked = model.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].stage.as_str(), asked[0].temperature), ("task_llm", None));
    insta::assert_snapshot!(asked[0].messages[0].joined_text(), @r#"do it | {"task":"translation","id":3,"dep":[1],"args":{"text":"Hello"}}"#);
    let EventKind::ModelCall { stage, task, prompt_tokens, completion_tokens, reply, ok, .. } =
        events.recv().await.unwrap().kind
    else {
        panic!("no call was reported")
    };
    assert_eq!((stage.as_str(), task, prompt_tokens, completion_tokens), ("task_llm", Some(TaskId(3)), 7, 2));
    assert_eq!((reply.as_str(), ok), ("Bonjour", true));
    assert_eq!(job.events.usage().calls.get("task_llm"), Some(&1));
}

#[tokio::test]
async fn pictures_are_sent_small_and_upright() {
    let model = scripted(true, Ok("a red square"));
    let (_folder, worker) = worker(&model);
    let stored = worker.inputs.store(Kind::Image, "png", png(2000, 500)).await.unwrap();
    let cases = [
        ("image-to-text", None, json!({"generated text": "a red square"})),
        ("visual-question-answering", Some("what?"), json!([{"answer": "a red square", "score": 1.0}])),
        ("document-question-answering", Some("what?"), json!([{"answer": "a red square", "score": 1.0}])),
    ];
    for (task, question, expected) in cases {
        let mut args = vec![("image", stored.as_str())];
        args.extend(question.map(|question| ("text", question)));
        let (job, _events) = job_and_events(Host::Llm, "ChatGPT", task, &args);
        assert!(worker.serves(task));
        assert_eq!(worker.output(&job).await.unwrap().0, expected, "{task}");
        let asked = model.requests().pop().unwrap();
        let [Part::Text(text), Part::Image(url)] = asked.messages[0].parts.as_slice() else { panic!("{asked:?}") };
        assert_eq!(text.contains("what?"), question.is_some());
        let file = STANDARD.decode(url.strip_prefix("data:image/jpeg;base64,").unwrap()).unwrap();
        let sent = picture::decode(&file, u64::MAX >> 8).unwrap();
        assert_eq!((sent.width(), sent.height()), (1024, 256));
    }
}

#[tokio::test]
async fn reasoning_is_no_part_of_a_result() {
    let model = scripted(true, Ok("<think>\nIs it red?\n</think>\n\nred"));
    let (_folder, worker) = worker(&model);
    let stored = worker.inputs.store(Kind::Image, "png", png(8, 8)).await.unwrap();
    let cases = [
        ("translation", json!({"response": "red"})),
        ("image-to-text", json!({"generated text": "red"})),
        ("visual-question-answering", json!([{"answer": "red", "score": 1.0}])),
    ];
    for (task, expected) in cases {
        let job = job(Host::Llm, "ChatGPT", task, &[("image", &stored), ("text", "rouge")]);
        assert_eq!(worker.output(&job).await.unwrap().0, expected, "{task}");
    }
}

#[tokio::test]
async fn long_arguments_are_shortened_to_the_context() {
    // Four bytes are a token: 4096 tokens less 800 are 13,184 bytes.
    let book = format!("Into French: {}. The end", "é".repeat(200_000));
    let short = "kept as it is ".repeat(10);
    for (sees, task, args) in [
        (false, "translation", vec![("text", book.as_str()), ("note", short.as_str())]),
        (true, "visual-question-answering", vec![("image", "IMAGE"), ("text", book.as_str())]),
    ] {
        let model = scripted(sees, Ok("x"));
        let (_folder, worker) = worker(&model);
        let stored = worker.inputs.store(Kind::Image, "png", png(8, 8)).await.unwrap();
        let args: Vec<_> =
            args.into_iter().map(|(name, value)| (name, if value == "IMAGE" { &stored } else { value })).collect();
        let (job, mut events) = job_and_events(Host::Llm, "ChatGPT", task, &args);
        worker.output(&job).await.unwrap();
        let sent = model.requests().pop().unwrap().messages[0].joined_text();
        assert!((12_000..=13_184).contains(&sent.len()), "{task}: {}", sent.len());
        assert!(sent.contains("Into French: éé") && sent.contains("é. The end"), "{task}");
        let EventKind::Note { level, message } = events.recv().await.unwrap().kind else { panic!("no note") };
        assert_eq!(level, jarvis_plan::Level::Info);
        let kept = sent.matches('é').count();
        assert!(message.ends_with(&format!("{} characters were left out", 200_000 - kept)), "{task}: {message}");
        assert!(sent.contains(&format!("[… {} characters left out …]", 200_000 - kept)), "{task}");
        assert_eq!(sent.contains(&short), !sees);
    }
}

#[tokio::test]
async fn what_cannot_be_made_to_fit_is_not_sent() {
    let model = scripted(false, Ok("x"));
    let (_folder, worker) = worker(&model);
    let worker =
        ChatWorker { prompt: Arc::new(|_, _| Ok(vec![Message::text(Role::User, "x".repeat(14_000))])), ..worker };
    let job = job(Host::Llm, "ChatGPT", "summarization", &[("text", "x")]);
    let error = worker.output(&job).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert!(error.message.contains("3500 tokens") && model.requests().is_empty(), "{error}");
}

#[tokio::test]
async fn failures_are_errors_and_nothing_is_asked_in_vain() {
    let api = ChatError::Api { status: 500, message: "boom".to_owned() };
    let cases = [
        (Err(api), true, "summarization", vec![("text", "x")], ErrorCode::Upstream, 1),
        (Ok(""), true, "summarization", vec![("text", "x")], ErrorCode::BadReply, 1),
        (Ok("<think>what now"), true, "summarization", vec![("text", "x")], ErrorCode::BadReply, 1),
        (Ok("x"), true, "summarization", vec![("text", " ")], ErrorCode::MissingArgument, 0),
        (Ok("x"), true, "image-to-text", vec![], ErrorCode::MissingArgument, 0),
        (Ok("x"), true, "visual-question-answering", vec![("image", "/images/a.png")], ErrorCode::MissingArgument, 0),
        (Ok("x"), true, "image-to-text", vec![("image", "/images/none.png")], ErrorCode::NotFound, 0),
        (Ok("x"), false, "image-to-text", vec![("image", "/images/a.png")], ErrorCode::CannotDo, 0),
        (Ok("x"), true, "text-to-speech", vec![("text", "x")], ErrorCode::CannotDo, 0),
    ];
    for (answer, sees, task, args, code, calls) in cases {
        let model = scripted(sees, answer);
        let (_folder, worker) = worker(&model);
        let (job, _events) = job_and_events(Host::Llm, "ChatGPT", task, &args);
        let error = worker.output(&job).await.unwrap_err();
        assert_eq!((error.code, model.requests().len()), (code, calls), "{task}: {error}");
        assert_eq!(job.events.usage().total_calls(), calls as u32, "failed calls are reported too");
    }
}

#[tokio::test]
async fn a_prompt_that_cannot_be_made_fails_the_task() {
    let model = scripted(false, Ok("x"));
    let (_folder, worker) = worker(&model);
    let broken = || TemplateError::Demos { template: "task_llm".into(), line: 1, message: "broken".into() };
    let worker = ChatWorker { prompt: Arc::new(move |_, _| Err(broken())), ..worker };
    let (job, _events) = job_and_events(Host::Llm, "ChatGPT", "summarization", &[("text", "x")]);
    assert_eq!(worker.output(&job).await.unwrap_err().code, ErrorCode::Internal);
    assert!(model.requests().is_empty());
}
