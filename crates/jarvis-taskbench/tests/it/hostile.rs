//! Any two files give figures: whatever lines they hold, however they are damaged.

use jarvis_taskbench::data::{DependencyType, Gold, Lines, ToolList};
use jarvis_taskbench::evaluate::{Evaluation, Grouping, Options, Predictions, Profile, evaluate};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::any_json;

fn tools() -> ToolList {
    let nodes = json!({"nodes": [
        {"id": "a", "desc": "", "input-type": ["text"], "output-type": ["image"]},
        {"id": "b b", "desc": "", "input-type": ["image", "text"], "output-type": []},
        {"id": "c_c", "desc": "", "input-type": [], "output-type": ["audio"]},
        {"id": "a", "desc": "", "input-type": ["text"], "output-type": ["text"]},
    ]});
    ToolList::parse(nodes.to_string().as_bytes()).unwrap()
}

fn run(gold: &[u8], said: &[u8], dependency: DependencyType) -> Evaluation {
    let tools = tools();
    let gold = Gold { lines: Lines::of("gold", gold.to_vec()) };
    let said = Lines::of("said", said.to_vec());
    let options = Options { groups: Grouping::all().groups(), ..Options::new(&tools, dependency, Profile::Both) };
    evaluate(&gold, &Predictions::of(&said), &options)
}

/// Values as they occur where text, a list or an object is wanted.
fn value() -> impl Strategy<Value = Value> {
    any_json(
        &["a", "b_b", "c c", "<node-0>", "<node--1>", "> <node-1>"],
        &["task", "arguments", "name", "value", "source", "target"],
    )
}

/// A plan that is mostly one.
fn plan() -> impl Strategy<Value = Value> {
    let node = prop_oneof![
        6 => ("[abc]|b b|c_c", prop::collection::vec(value(), 0..3)).prop_map(|(task, arguments)| json!({"task": task, "arguments": arguments})),
        1 => value(),
    ];
    let nodes = prop_oneof![6 => prop::collection::vec(node, 0..5).prop_map(Value::from), 1 => value()];
    let links = prop_oneof![
        4 => prop::collection::vec(("[abc]", "[abc]").prop_map(|(source, target)| json!({"source": source, "target": target})), 0..3).prop_map(Value::from),
        1 => value(),
    ];
    (value(), nodes, links)
        .prop_map(|(steps, nodes, links)| json!({"task_steps": steps, "task_nodes": nodes, "task_links": links}))
}

fn dependency() -> impl Strategy<Value = DependencyType> {
    prop_oneof![Just(DependencyType::Resource), Just(DependencyType::Temporal)]
}

/// The figures that are shares stay shares.
fn bounded(value: &Value, path: &str) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| bounded(value, &format!("{path}.{key}"))),
        Value::Array(items) => items.iter().for_each(|value| bounded(value, path)),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap();
            assert!((0.0..=1.0 + 1e-12).contains(&number), "{path} is {number}");
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn plans_of_any_shape_give_figures(
        pairs in prop::collection::vec((plan(), plan()), 1..5),
        dependency in dependency(),
    ) {
        let (mut gold, mut said) = (String::new(), String::new());
        for (at, (wanted, result)) in pairs.iter().enumerate() {
            let mut line = wanted.clone();
            line["id"] = at.to_string().into();
            line["type"] = "dag".into();
            gold.push_str(&format!("{line}\n"));
            said.push_str(&format!("{}\n", json!({"id": at.to_string(), "result": result})));
        }
        let done = run(gold.as_bytes(), said.as_bytes(), dependency);
        prop_assert_eq!(done.coverage.gold, pairs.len());
        for (_, figures) in &done.legacy {
            prop_assert!(figures.node_supports <= figures.argument_supports && figures.argument_supports <= figures.all_samples);
            bounded(&figures.to_value(), "legacy");
        }
        for (_, figures) in &done.strict {
            bounded(&figures.to_value(), "strict");
        }
        for sample in &done.samples {
            prop_assert!(sample.to_value().is_object());
        }
    }

    #[test]
    fn damaged_files_give_figures(
        gold in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0usize..400,
        flip in 0usize..400,
        dependency in dependency(),
    ) {
        let good = br#"{"id": "1", "type": "chain", "task_steps": ["x"], "task_nodes": "[{\"task\": \"a\", \"arguments\": [\"<node-1>\"]}]", "task_links": [{"source": "a", "target": "b b"}]}"#;
        let mut said = br#"{"id": "1", "result": {"task_steps": ["x"], "task_nodes": [{"task": "a", "arguments": ["\ud83d", {"k": NaN}]}], "task_links": []}}"#.to_vec();
        if let Some(byte) = said.get_mut(flip) {
            *byte ^= 0x11;
        }
        said.truncate(cut);
        let both = [good.as_slice(), b"\n", &gold].concat();
        // The whole first line counts, whatever follows it.
        prop_assert!(run(&both, &said, dependency).coverage.gold >= 1);
        let done = run(&gold, &both, dependency);
        prop_assert!(done.coverage.predicted <= done.coverage.gold);
    }
}
