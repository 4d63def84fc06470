//! Plans out of arbitrary replies: the reader never panics, and no task that is free of faults holds a reference as text.
//! The replies of `crates/jarvis-testing/data/replies` are seeds: `cargo +nightly fuzz run plan fuzz/corpus/plan`.

#![no_main]

use std::sync::LazyLock;

use jarvis_plan::{Kind, Limits, Request, Resource, Source, Tool, Vocabulary, check};
use jarvis_prompt::plan::{Scope, read_plan};
use libfuzzer_sys::fuzz_target;

static TOOLS: LazyLock<Vocabulary> = LazyLock::new(|| {
    use Kind::{Audio, Image, Text};
    Vocabulary::new(vec![
        Tool::typed("image-to-text", "Describes a picture.", &[Image], &[Text]),
        Tool::typed("text-to-speech", "Speaks a text.", &[Text], &[Audio]),
        Tool::typed("files/read_text_file", "Reads a file.", &[Text], &[Text]),
        Tool::typed("summarization", "Sums a text up.", &[Text], &[Text]),
    ])
});

fuzz_target!(|reply: &str| {
    let photo =
        Resource { kind: Kind::Image, source: Source::Public("/images/photo.jpg".into()), name: Some("photo.jpg".into()) };
    let request = Request { attachments: vec![photo], ..Request::new("describe photo.jpg and read it aloud") };
    let scope = Scope { tools: &TOOLS, request: &request, exists: &|_| false };
    match read_plan(reply, scope) {
        Ok(draft) => {
            let plan = check(&draft, &TOOLS, Limits::default());
            assert!(plan.tasks().len() <= Limits::default().max_tasks);
            for task in plan.tasks().iter().filter(|task| task.faults.is_empty()) {
                for value in task.args.values().filter_map(|arg| arg.as_value()).filter_map(|value| value.as_str()) {
                    assert!(!value.trim().starts_with("<GENERATED>"), "{value}");
                }
            }
        }
        Err(error) => assert!(error.reply == reply && !error.to_string().is_empty()),
    }
});
