//! The dispatcher: what it takes, what it refuses, and what it does when nobody waits.

use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_engine::{Events, Job, Worker};
use jarvis_plan::{Candidate, ErrorCode, Host, Request, RunId, Task, TaskId};
use jarvis_store::Media;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{InputLimits, UrlPolicy};

fn native(programs: Programs) -> (tempfile::TempDir, Native) {
    let root = tempfile::tempdir().unwrap();
    let media = Arc::new(Media::open(root.path()).unwrap());
    let inputs = Inputs::new(media, UrlPolicy::default(), InputLimits::default()).unwrap();
    (root, Native::new(Arc::new(inputs), programs))
}

fn job(id: &str, request: &str, args: &[(&str, &str)]) -> Job {
    let (events, _) = Events::channel(RunId("run".to_owned()));
    let task = Task {
        task: "a-task".to_owned(),
        id: TaskId(0),
        dep: Vec::new(),
        args: IndexMap::new(),
        unfolded_from: None,
        fault: None,
    };
    Job {
        request: Arc::new(Request::new(request)),
        task: Arc::new(task),
        args: args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        candidate: Candidate { id: id.to_owned(), host: Host::Native, effective_task: "a-task".to_owned() },
        events,
        cancel: CancellationToken::new(),
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_said_with_a_code() {
    type Args<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, &str, Args<'_>, ErrorCode); 9] = [
        ("native/no-such-model", "x", &[], ErrorCode::UnsupportedTask),
        ("native/canny", "edges", &[], ErrorCode::MissingArgument),
        ("native/canny", "edges", &[("image", "  ")], ErrorCode::MissingArgument),
        ("native/title-card", "draw", &[], ErrorCode::MissingArgument),
        ("native/audio-measure", "what is it", &[], ErrorCode::MissingArgument),
        ("native/image-edit", "add a hat", &[("image", "/images/a.png")], ErrorCode::CannotDo),
        ("native/image-edit", "half size", &[("image", "/images/a.png"), ("text", "add a hat")], ErrorCode::CannotDo),
        ("native/espeak-ng", "say", &[("text", "hello")], ErrorCode::NotConfigured),
        ("native/ocr", "read", &[("image", "/images/a.png")], ErrorCode::NotConfigured),
    ];
    let (_root, native) = native(Programs::none());
    for (id, request, args, code) in cases {
        let error = native.perform(&job(id, request, args)).await.unwrap_err();
        assert_eq!(error.code, code, "{id}: {error}");
        assert!(!error.message.ends_with('.'), "{error}");
    }
}

#[tokio::test]
async fn missing_programs_are_named_before_they_are_needed() {
    let (_root, native) = native(Programs::none());
    for (id, program) in
        [("native/espeak-ng", "espeak-ng"), ("native/ocr", "tesseract"), ("native/ocr-qa", "tesseract")]
    {
        let error = native.available(id).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotConfigured);
        assert!(error.message.contains(program) && error.hint.is_some(), "{error}");
    }
    assert_eq!(native.available("native/canny"), Ok(()));
}

#[tokio::test]
async fn a_card_says_what_it_is() {
    let (_root, native) = native(Programs::none());
    for (text, note) in
        [("a cat", "not a generated picture"), ("кот на крыше", "не созданная"), ("屋顶上的猫", "并非根据文字生成")]
    {
        let result = native.perform(&job("native/title-card", text, &[("text", text)])).await.unwrap();
        assert!(result.media(jarvis_plan::Kind::Image).is_some());
        assert!(result.0["note"].as_str().unwrap().contains(note), "{result:?}");
    }
}

#[tokio::test]
async fn cancelled_work_and_broken_work_end_well() {
    let (_root, native) = native(Programs::none());
    let cancelled = job("native/title-card", "x", &[("text", "hello")]);
    cancelled.cancel.cancel();
    assert_eq!(native.perform(&cancelled).await.unwrap_err().code, ErrorCode::Cancelled);
    let token = CancellationToken::new();
    let broken = native.heavy(&token, |_| -> Result<(), TaskError> { panic!("broken on purpose") });
    assert_eq!(broken.await.unwrap_err().code, ErrorCode::Panic);
}
