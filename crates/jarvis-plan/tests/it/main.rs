//! What the words promise: drafts in, plans out, and facts about them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod checking;
mod drawings;
mod exports;
mod graphs;
mod properties;
mod reading;
mod words;

use jarvis_plan::{Kind, Limits, Param, Plan, Tool, Vocabulary, check, dialect};

/// A small vocabulary with every shape of tool: text to text, picture to text, picture to picture, mixed, sound.
fn vocabulary() -> Vocabulary {
    let mut caption = Tool::typed("image-to-text", "Says what a picture shows", &[Kind::Image], &[Kind::Text]);
    caption.aliases = vec!["captioning".into(), "ocr".into()];
    let mut speech = Tool::typed("text-to-speech", "Reads a text aloud", &[Kind::Text], &[Kind::Audio]);
    speech.aliases = vec!["tts".into()];
    let mut change = Tool::typed("image-to-image", "Changes a picture", &[Kind::Image], &[Kind::Image]);
    change.params.push(Param::optional("text", Kind::Text));
    Vocabulary::new(vec![
        caption,
        speech,
        Tool::typed("object-detection", "Finds objects", &[Kind::Image], &[Kind::Image, Kind::Json]),
        Tool::typed("visual-question-answering", "Answers", &[Kind::Image, Kind::Text], &[Kind::Text]),
        change,
        Tool::typed("translation", "Translates", &[Kind::Text], &[Kind::Text]),
        Tool::typed("automatic-speech-recognition", "Writes down speech", &[Kind::Audio], &[Kind::Text]),
    ])
}

/// Reads tasks as a model writes them and checks them.
fn planned(json: &str) -> Plan {
    let value = serde_json::from_str(json).expect("the case is JSON");
    check(&dialect::read(&value).expect("the case is a list of tasks"), &vocabulary(), Limits::default())
}

/// The plan in one line: `id:task<dep,dep>(arg=value)`, then `!fault` where there is one.
fn compact(plan: &Plan) -> String {
    plan.tasks()
        .iter()
        .map(|task| {
            let dep: Vec<String> = task.dep.iter().map(ToString::to_string).collect();
            let args: Vec<String> = task.args.iter().map(|(name, arg)| format!("{name}={arg}")).collect();
            let faults: String = task.faults.iter().map(|fault| format!(" !{fault:?}")).collect();
            format!("{}:{}<{}>({}){faults}", task.id, task.task, dep.join(","), args.join(" "))
        })
        .collect::<Vec<_>>()
        .join("\n")
}
