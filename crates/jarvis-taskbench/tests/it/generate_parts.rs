//! The parts of Back-Instruct alone: folders, replies, critics.

use jarvis_taskbench::data::DependencyType;
use jarvis_taskbench::generate::{Critics, Folder, FolderError, format_line, judge, prepare, read_reply, teacher_says};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::data::example;
use crate::support::any_json;

#[test]
fn folders_are_not_mixed() {
    let temp = tempfile::tempdir().unwrap();
    let (studio, errands) = (example("data_studio"), example("data_errands"));
    let (graph, tools) = (studio.join("graph_desc.json"), studio.join("tool_desc.json"));
    let other_tools = errands.join("tool_desc.json");
    let new = |name: &str| temp.path().join(name);
    let missing = |result: Result<Folder, FolderError>| matches!(result, Err(FolderError::Missing { .. }));
    let mixed = |result: Result<Folder, FolderError>| matches!(result, Err(FolderError::Mixed { .. }));

    assert!(missing(prepare(&new("a"), None, None, None)));
    assert!(missing(prepare(&new("a"), Some(&graph), None, None)));
    assert!(missing(prepare(&new("a"), None, Some(&tools), None)));
    assert!(mixed(prepare(&new("a"), Some(&graph), Some(&other_tools), None)));
    let temporal = errands.join("graph_desc.json");
    assert!(mixed(prepare(&new("a"), Some(&temporal), Some(&other_tools), Some(DependencyType::Resource))));
    assert!(!new("a").exists(), "nothing is made in vain");

    let made = prepare(&new("a"), Some(&graph), Some(&tools), None).unwrap();
    assert_eq!((made.dependency, made.notes.len()), (DependencyType::Resource, 0));
    assert_eq!(std::fs::read(new("a").join("graph_desc.json")).unwrap(), std::fs::read(&graph).unwrap());
    let again = prepare(&new("a"), Some(&temporal), Some(&other_tools), None).unwrap();
    assert_eq!((again.graph.links.len(), again.notes.len()), (38, 1), "the folder's own files are used");

    std::fs::write(new("a").join("data_raw.json"), "{\"id\":\"1\",\"sampled_nodes\":[{\"id\":\"Nobody\"}]}\n").unwrap();
    assert!(mixed(prepare(&new("a"), None, None, None)));
    std::fs::create_dir(new("b")).unwrap();
    std::fs::write(new("b").join("data_raw.json"), "").unwrap();
    assert!(missing(prepare(&new("b"), Some(&graph), Some(&tools), None)), "whose samples are these?");
}

#[test]
fn replies_are_read_and_checked() {
    let good = r#"{"task_steps":["a"],"user_request":"say \"hi\"","invoking_graph":{"nodes":[{"id":"A"}],"links":[]}}"#;
    let fine = [
        good.to_owned(),
        format!("```json\n{good}\n```"),
        format!("Sure, {{here}} it is: {good} Bye."),
        good.replace("]}}", "],}}"),
    ];
    for reply in fine {
        let read = read_reply(&reply).unwrap_or_else(|error| panic!("{reply}: {error}"));
        assert_eq!(read["user_request"], "say \"hi\"");
    }
    let wrong = [
        "",
        "no",
        "{}",
        r#"{"invoking_graph": {}}"#,
        r#"{"invoking_graph": {"nodes": {}, "links": []}}"#,
        r#"{"invoking_graph": {"nodes": [{"task": "A"}], "links": []}}"#,
        r#"{"invoking_graph": {"nodes": [{"id": 3}], "links": []}}"#,
        r#"{"invoking_graph": {"nodes": [{"id": "A"}]}}"#,
        r#"{"task_steps": ["a"], "invoking_graph": {"nodes": [{"id": "A"}], "links": [{"source": "A", "#,
    ];
    for reply in wrong {
        assert!(read_reply(reply).is_err(), "{reply}");
    }
}

#[test]
fn critics_judge() {
    let record = |nodes: &[&str], links: &[(&str, &str)], check: Value| {
        let link = |(a, b): &(&str, &str)| json!({"source": a, "target": b});
        let mut record = json!({
            "sampled_nodes": [{"id": "A_x"}, {"id": "B"}],
            "sampled_links": [{"source": "A_x", "target": "B"}],
            "result": {"invoking_graph": {
                "nodes": nodes.iter().map(|id| json!({"id": id})).collect::<Vec<_>>(),
                "links": links.iter().map(link).collect::<Vec<_>>(),
            }},
        });
        if !check.is_null() {
            record["result"]["check_by_teacher"] = check;
        }
        record
    };
    let yes = json!("Conclusion: Executable: yes, Correct: yes");
    let no = json!("Conclusion: Executable: yes, Correct: no");
    let cases = [
        (record(&["B", "A_x"], &[("A_x", "B")], yes.clone()), (true, true, Some(true))),
        (record(&["B", "A x"], &[("A x", "B")], no), (true, true, Some(false))),
        (record(&["B", "B", "A_x"], &[("A_x", "B")], Value::Null), (false, true, None)),
        (record(&["B", "A_x"], &[("B", "A_x")], yes), (true, false, Some(true))),
        (record(&["B"], &[], json!(3)), (false, false, None)),
        (json!({}), (false, false, None)),
    ];
    for (record, (node, link, self_check)) in cases {
        assert_eq!(judge(&record, DependencyType::Resource), Critics { node, link, self_check }, "{record}");
    }
    let blank = record(&["B", "A x"], &[("A x", "B")], Value::Null);
    assert!(!judge(&blank, DependencyType::Temporal).node, "temporal names are compared as they are");

    let says = [
        ("Executable: yes, Correct: yes", Some(true)),
        ("… Conclusion: Executable: no, Correct: no.", Some(false)),
        ("Executable: no at first. Conclusion: Executable: **yes**, Correct: Yes", Some(true)),
        ("executable:YES correct : no", Some(false)),
        ("It looks fine to me", None),
        ("Executable: yes", None),
        ("Executable: yes, Incorrect: yes", None),
        ("Schlüssig. Executable: yes – Correct:\u{a0}yes", Some(true)),
        ("", None),
    ];
    for (text, wanted) in says {
        assert_eq!(teacher_says(text), wanted, "{text}");
    }
}

/// Any JSON made of the words that raw samples are made of.
fn any_sample() -> impl Strategy<Value = Value> {
    any_json(
        &["id", "A", "B_c", "<node-0>", "<output_of_A>", "Executable: yes, Correct: no", "", "\u{1F600}<"],
        &[
            "id",
            "result",
            "invoking_graph",
            "nodes",
            "links",
            "source",
            "target",
            "input",
            "arguments",
            "task_steps",
            "user_request",
            "sampled_nodes",
            "sampled_links",
            "check_by_teacher",
            "method",
        ],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_record_and_no_reply_panics(nodes in any_sample(), links in any_sample(), steps in any_sample(), other in any_sample()) {
        let record = json!({
            "id": "1", "sampled_nodes": nodes, "sampled_links": links, "check_by_teacher": other,
            "result": {"task_steps": steps, "user_request": "x", "invoking_graph": {"nodes": nodes, "links": links}},
        });
        for dependency in [DependencyType::Resource, DependencyType::Temporal] {
            for record in [&record, &nodes, &other] {
                judge(record, dependency);
                if let Ok(sample) = format_line(record, dependency, false) {
                    prop_assert_eq!(&sample["id"], &record["id"]);
                }
            }
        }
        let _ = read_reply(&other.to_string());
        let _ = read_reply(&record["result"].to_string());
    }
}
