//! Plans out of damaged replies: the replies of `jarvis_testing::replies` cut, doubled and mixed, and text without end. Nothing
//! panics or runs away, and no task that is free of faults holds a reference as text.

use std::sync::LazyLock;

use jarvis_plan::{Limits, Vocabulary, check};
use jarvis_prompt::plan::{Scope, read_plan};
use jarvis_testing::replies::{self, Case, cases};
use proptest::prelude::*;
use serde_json::Value;

use crate::replies::request;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

/// Words by which models mean another task's result; none is data.
const REFERENCES: [&str; 5] = ["<GENERATED>", "<node-", "<resource-", "{{tasks", "{{0"];

/// Reads a reply as one to the request of a case, and checks what it became.
fn read(case: &Case, reply: &str) -> Result<(), TestCaseError> {
    let vocabulary = Vocabulary::new(replies::tools(&case.tools));
    let request = request(case);
    let Ok(draft) = read_plan(reply, Scope { tools: &vocabulary, request: &request, exists: &|_| false }) else {
        return Ok(());
    };
    let plan = check(&draft, &vocabulary, Limits::default());
    for task in plan.tasks().iter().filter(|task| task.faults.is_empty()) {
        for (name, arg) in &task.args {
            let Some(Value::String(text)) = arg.as_value() else { continue };
            let said = request.text.contains(text.trim());
            let is_reference = REFERENCES.iter().any(|mark| text.trim().starts_with(mark));
            prop_assert!(said || !is_reference, "`{}` of `{}` is {text:?}", name, task.task);
        }
    }
    Ok(())
}

/// The byte of the character nearest a share of a text.
fn place(text: &str, share: f64) -> usize {
    let mut at = (text.len() as f64 * share) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_and_stained(nth in any::<prop::sample::Index>(), cut in 0.0..1.0f64, at in 0.0..1.0f64,
                       with in "[\\[\\]{}<>(),:\"'`$\n-]{0,4}") {
        let case = nth.get(&CASES);
        let kept = &case.reply[..place(&case.reply, cut)];
        read(case, kept)?;
        let mut stained = case.reply.clone();
        stained.insert_str(place(&case.reply, at), &with);
        read(case, &stained)?;
    }

    #[test]
    fn mixed(one in any::<prop::sample::Index>(), two in any::<prop::sample::Index>(), at in 0.0..1.0f64) {
        let (one, two) = (one.get(&CASES), two.get(&CASES));
        let at = place(&one.reply, at);
        read(one, &format!("{}{}{}", &one.reply[..at], two.reply, &one.reply[at..]))?;
    }

    #[test]
    fn anything(text in "\\PC*", near in "[\\[\\]{}<>(),:\"'`a-z0-9_=$|/.\n -]{0,200}") {
        read(&CASES[0], &text)?;
        read(&CASES[0], &near)?;
    }
}

#[test]
fn a_reference_that_is_broken_is_a_fault() {
    let case = &CASES[0];
    for broken in ["{{0.text\nmore}}", "{{tasks[0].te{x}t}}", "<node-0 or so\n>", "<node-the first> and more"] {
        let reply = serde_json::json!([
            {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "photo.jpg"}},
            {"task": "text-to-speech", "id": 1, "dep": [0], "args": {"text": broken}},
        ]);
        let vocabulary = Vocabulary::new(replies::tools(&case.tools));
        let request = request(case);
        let scope = Scope { tools: &vocabulary, request: &request, exists: &|_| false };
        let draft = read_plan(&reply.to_string(), scope).expect("it is a plan");
        let plan = check(&draft, &vocabulary, Limits::default());
        assert!(!plan.tasks()[1].faults.is_empty(), "{broken:?} is data: {:?}", plan.tasks()[1].args);
    }
}

#[test]
fn text_without_end_ends_soon() {
    let task = r#"{"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "photo.jpg"}}"#;
    let units = [
        "[",
        "{",
        "(",
        "<",
        "\"",
        "'",
        "`",
        "```json\n",
        "<tool_call>",
        "<tool_call>{",
        "</tool_call>",
        "<think>",
        "caption(",
        "image-to-text(image=",
        "task: ",
        "- task: a\n",
        "  - ",
        "$0",
        "{{0}}",
        "<node-0>",
        "<GENERATED>-0",
        "1. ",
        "[[",
        "{\"tasks\": [",
        "{\"args\": {",
        "Action: image-to-text\n",
        "function=",
        "<function=a>",
        "[TOOL_CALLS]",
        "<|python_tag|>",
        "photo.jpg ",
        "\\",
        "{\"name\": \"image-to-text\", \"arguments\": \"",
        task,
    ];
    for unit in units {
        let reply = unit.repeat((1 << 17) / unit.len());
        read(&CASES[0], &reply).expect("no reference is left");
    }
}
