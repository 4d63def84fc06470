//! What `inspect` reports about small odd folders.

use std::path::Path;

use jarvis_taskbench::data::Domain;
use jarvis_taskbench::inspect::{FileReport, inspect};
use serde_json::Value;

/// Inspects a folder of these files; a line for each finding.
fn inspected(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    lines(folder.path())
}

pub(crate) fn lines(folder: &Path) -> String {
    let found = inspect(&Domain::open(folder).unwrap()).unwrap();
    let mut out = format!("{:?}\n", found.dependency_type);
    for (name, file) in &found.files {
        let contents = match file {
            FileReport::Read(contents) => contents,
            FileReport::Missing => {
                out.push_str(&format!("{name}: missing\n"));
                continue;
            }
            FileReport::Unusable { reason } => {
                out.push_str(&format!("{name}: unusable: {reason}\n"));
                continue;
            }
        };
        out.push_str(&format!("{name}\n"));
        for (fact, value) in &contents.facts {
            let value = match value {
                Value::Object(counts) => {
                    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
                }
                count => count.to_string(),
            };
            out.push_str(&format!("  {}: {value}\n", fact.replace('_', " ")));
        }
        for odd in &contents.odd {
            out.push_str(&format!("  odd: {} {}: {}\n", odd.count, odd.what, odd.which.join("; ")));
        }
    }
    out
}

#[test]
fn odd_and_unusable_folders_are_reported() {
    for name in ["resource", "unusable"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inspect").join(name);
        insta::assert_snapshot!(name, lines(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let error = inspect(&Domain::open(folder.path()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("this folder holds no domain"), "{error}");
}

#[test]
fn hostile_files_are_reported_and_harm_nothing() {
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let nodes: Vec<String> =
        (0..2_000).map(|at| format!(r#"{{"task": "t{at}", "arguments": "<node-{at}"}}"#)).collect();
    let many = format!(r#"{{"id": "1", "task_nodes": [{}]}}"#, nodes.join(","));
    let odd = [
        deep.as_str(),
        many.as_str(),
        r#"{"id": [1]}"#,
        r#"{"id": null, "type": 7, "n_tools": -1, "task_nodes": "[1, 2", "task_links": {"source": "a"}, "task_steps": {"a": []}}"#,
        r#"{"id": 1e300, "task_nodes": [{"task": "", "arguments": {"": [[{"a": "<node-0>"}]]}}], "task_links": [[1, 1], [99999999999999999999, -1]]}"#,
        "\u{0}",
        "{\"id\": \"\u{202e}\u{1b}[2J\", \"task_nodes\": []}",
    ];
    let lines = odd.join("\n");
    for name in ["data.json", "user_requests.json", "predictions/m.json"] {
        assert!(inspected(&[(name, &lines)]).contains("lines that cannot be used"), "{name}");
    }
    for name in ["tool_desc.json", "graph_desc.json", "alignment_ids.json", "split_ids.json"] {
        for line in odd {
            assert!(
                inspected(&[(name, line), ("data.json", "")]).contains(&format!("{name}: unusable")),
                "{name}: {line:.80}"
            );
        }
    }
}
