//! Reading domain folders.

use std::path::{Path, PathBuf};

use jarvis_taskbench::data::{AlignmentIds, Gold, ToolGraph, ToolList};
use jarvis_taskbench::json::Look;
use serde_json::Value;

/// A sample domain of the repository, or one of the tests' own.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder = if name.starts_with("data_") { "../../examples/taskbench" } else { "tests/data" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name)
}

/// Figures of a sample domain, by the independent implementation in `tests/data/reference.py`.
pub(crate) fn expected(name: &str) -> Value {
    let figures: Value = serde_json::from_str(include_str!("../data/expected.json")).unwrap();
    figures[name].clone()
}

pub(crate) fn assert_near(found: &Value, expected: &Value, what: &str) {
    let (a, b) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!((a - b).abs() < 1e-9, "{what}: {a}, not {b}");
}

/// What all shapes of one record must agree in.
pub(crate) fn essence(path: &Path) -> Vec<String> {
    let gold = Gold::read(path).unwrap();
    let records = gold.records().map(|record| {
        let record = record.unwrap();
        let json =
            |value: &Option<jarvis_taskbench::json::Json<'_>>| value.as_ref().map(|value| value.to_serde().to_string());
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            record.id,
            record.shape,
            record.n(),
            json(&record.task_steps),
            json(&record.task_nodes),
            json(&record.task_links),
            json(&record.sampled_nodes),
            json(&record.sampled_links),
        )
    });
    records.collect()
}

/// The same two plans as each release writes them: real JSON, JSON as text under older names, some of each.
#[test]
fn released_shapes_give_equal_samples() {
    let nodes = r#"[{"task": "Trim", "arguments": ["a.wav"]}, {"task": "Mix", "arguments": ["<node-0>"]}]"#;
    let links = r#"[{"source": "Trim", "target": "Mix"}]"#;
    let plan = |id: usize, fields: &str| format!(r#"{{"id": "{id}", "type": "chain", "n_tools": 2, {fields}}}"#);
    let text = |json: &str| serde_json::Value::from(json).to_string();
    let bare = r#"{"task": "Trim", "arguments": []}"#;
    let a =
        format!(r#""user_request": "x", "task_steps": ["trim", "mix"], "task_nodes": {nodes}, "task_links": {links}"#);
    let b = format!(
        r#""instruction": "x", "tool_steps": "[\"trim\", \"mix\"]", "tool_nodes": {}, "tool_links": {}"#,
        text(nodes),
        text(links)
    );
    let mixed = format!(
        r#""user_request": "x", "tool_steps": ["trim", "mix"], "task_nodes": {}, "task_links": {links}"#,
        text(nodes)
    );
    let single = |nodes: &str| plan(2, &format!(r#""task_steps": ["trim"], "task_nodes": {nodes}, "task_links": []"#));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.json");
    let read = |lines: &[String]| {
        std::fs::write(&path, lines.join("\n")).unwrap();
        essence(&path)
    };
    let wanted = read(&[plan(1, &a), single(&format!("[{bare}]"))]);
    assert_eq!(wanted.len(), 2);
    assert!(wanted[0].contains(r#"Some(2) Some("[\"trim\",\"mix\"]")"#), "{}", wanted[0]);
    for fields in [b, mixed] {
        assert_eq!(read(&[plan(1, &fields), single(bare)]), wanted, "{fields}");
    }
}

#[test]
fn the_mark_of_an_editor_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("marked.json");
    let write = |text: &str| std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
    write(r#"{"nodes": [{"id": "Trim"}], "links": []}"#);
    assert_eq!(ToolList::read(&path).unwrap().tools.len(), 1);
    assert_eq!(ToolGraph::read(&path).unwrap().nodes.tools.len(), 1);
    write(r#"{"node_alignment_id": {"single": ["1"]}}"#);
    assert_eq!(AlignmentIds::read(&path).unwrap().lists.len(), 1);
}

#[test]
fn file_names_stay_in_their_folder() {
    let cases = [
        ("gpt-4", "gpt-4"),
        ("offline", "offline"),
        ("mistralai/Mixtral-8x7B", "mistralai_Mixtral-8x7B"),
        ("qwen3:8b", "qwen3_8b"),
        ("../../etc/passwd", "_._.._etc_passwd"),
        ("..", "_."),
        ("", "_"),
        ("replay:some/where/answers.jsonl", "replay-answers"),
    ];
    for (llm, stem) in cases {
        assert_eq!(jarvis_taskbench::data::file_stem(llm), stem, "{llm}");
    }
}
