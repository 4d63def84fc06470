//! The registry against the names and rules that plans rely on.

use std::collections::HashSet;

use jarvis_testing::rows;

use super::*;

const CASES: &str = include_str!("tests.json");

/// The planner's list of the original, in its order.
const PLANNER: &str = "token-classification text2text-generation summarization translation question-answering \
    conversational text-generation sentence-similarity tabular-classification object-detection \
    image-classification image-to-image image-to-text text-to-image text-to-video \
    visual-question-answering document-question-answering image-segmentation depth-estimation text-to-speech \
    automatic-speech-recognition audio-to-audio audio-classification canny-control hed-control \
    mlsd-control normal-control openpose-control canny-text-to-image depth-text-to-image \
    hed-text-to-image mlsd-text-to-image normal-text-to-image openpose-text-to-image seg-text-to-image";

#[test]
fn every_name_is_there_once() {
    let listed: HashSet<&str> = task_types().iter().filter(|task| task.planner_listed).map(|task| task.name).collect();
    assert_eq!(listed, PLANNER.split(' ').collect());
    let others: Vec<&str> = task_types().iter().filter(|task| !task.planner_listed).map(|task| task.name).collect();
    assert_eq!(
        others,
        [
            "text-classification",
            "image-collage",
            "audio-editing",
            "audio-joining",
            "audio-information",
            "video-to-audio",
            "scribble-control",
            "midas-control",
            "scribble-text-to-image"
        ]
    );
    assert_eq!(task_types().len(), 44);
}

#[test]
fn no_alias_means_two_things() {
    let mut seen = HashSet::new();
    for task in task_types() {
        for name in std::iter::once(&task.name).chain(&task.aliases) {
            assert!(seen.insert(*name), "`{name}` is claimed twice");
            assert_eq!(*name, name.to_lowercase().replace([' ', '_'], "-"), "`{name}` is not in the compared form");
        }
    }
}

#[test]
fn names_and_aliases_are_found() {
    let check = |said: &str, meant: Option<&str>| {
        assert_eq!(find(said).map(|task| task.name), meant, "{said}");
        assert_eq!(vocabulary().find(said).map(|tool| tool.name.as_str()), meant, "{said}");
    };
    for name in PLANNER.split(' ') {
        check(name, Some(name));
    }
    for (said, meant) in rows::<(String, Option<String>)>(CASES, "names") {
        check(&said, meant.as_deref());
    }
}

#[test]
fn arguments_have_the_default_shapes() {
    let check = |task: &str, args: &[(&str, Kind, bool)]| {
        let task = find(task).unwrap();
        let found: Vec<_> = task.args.iter().map(|arg| (arg.name, arg.kind, arg.required)).collect();
        assert_eq!(found, args, "{}", task.name);
        let tool = task.tool();
        assert_eq!(tool.params.len(), args.len());
        assert!(tool.params.iter().all(|param| !param.description.is_empty()));
    };
    check("question-answering", &[("text", Kind::Text, true), ("context", Kind::Text, false)]);
    check("tabular-classification", &[("data", Kind::Json, true)]);
    check("image-to-image", &[("image", Kind::Image, true), ("text", Kind::Text, false)]);
    check("canny-text-to-image", &[("image", Kind::Image, true), ("text", Kind::Text, false)]);
    check("canny-control", &[("image", Kind::Image, true)]);
    check("visual-question-answering", &[("image", Kind::Image, true), ("text", Kind::Text, true)]);
    check("audio-to-audio", &[("audio", Kind::Audio, true)]);
    for task in task_types().iter().filter(|task| task.family == Family::ChatServed) {
        check(task.name, &[("text", Kind::Text, true)]);
    }
}

#[test]
fn missing_arguments_are_named() {
    for (task, given, missing) in rows::<(String, Vec<String>, Option<String>)>(CASES, "missing") {
        let found = find(&task).unwrap().missing(|name| given.iter().any(|given| given == name));
        assert_eq!(found, missing, "{task} {given:?}");
    }
}

#[test]
fn examples_fit_their_own_task() {
    for task in task_types() {
        let tool = task.tool();
        let example = tool.example.as_ref().unwrap();
        let given = example.parameters.as_object().unwrap();
        assert_eq!(task.missing(|name| given.contains_key(name)), None, "{}", task.name);
        assert!(given.keys().all(|name| tool.param(name).is_some()), "{}", task.name);
        assert!(!example.scenario.is_empty() && task.description.ends_with('.'), "{}", task.name);
        assert!(!task.outputs.is_empty());
    }
}

#[test]
fn the_five_chat_served() {
    let five: Vec<&str> = task_types().iter().filter(|task| task.is_chat_served()).map(|task| task.name).collect();
    assert_eq!(five, ["text2text-generation", "summarization", "translation", "conversational", "text-generation"]);
}

#[test]
fn control_generation_without_text() {
    let check = |task: &str, without: &str, model: &str| {
        let task = find(task).unwrap();
        assert_eq!(task.effective(false), without);
        assert_eq!(task.effective(true), task.name);
        assert_eq!(task.control_model().as_deref(), Some(model));
        assert!(find(without).is_some_and(|other| other.missing(|name| name == "image").is_none()));
    };
    check("seg-text-to-image", "image-segmentation", "lllyasviel/sd-controlnet-seg");
    check("depth-text-to-image", "depth-estimation", "lllyasviel/sd-controlnet-depth");
    check("canny-text-to-image", "canny-control", "lllyasviel/sd-controlnet-canny");
    check("normal-text-to-image", "normal-control", "lllyasviel/sd-controlnet-normal");
    check("scribble-text-to-image", "scribble-control", "lllyasviel/sd-controlnet-scribble");
    let plain = find("text-to-image").unwrap();
    assert_eq!((plain.control_model(), plain.effective(false)), (None, "text-to-image"));
    assert_eq!(find("canny-control").unwrap().control_model().as_deref(), Some("canny-control"));
}

#[test]
fn filtered_vocabularies() {
    let listed = tools(|task| task.planner_listed);
    assert_eq!(listed.tools().len(), 35);
    assert!(listed.find("sentiment").is_none());
    assert!(tools(|_| false).tools().is_empty());
}
