//! Cases counted by hand.

use std::path::Path;

use serde_json::{Value, json};

use super::{Figures, Mode, Options, evaluate_file, f1, link_list, node_list, step_list};
use crate::data::Domain;
use crate::json::parse;

fn write(folder: &Path, name: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(folder.join(name), text.join("\n")).unwrap();
}

/// A folder of three tools in a row, gold plans, lists of ids and predictions.
fn figures(gold: Option<&[Value]>, split: Option<Value>, predicted: &[Value], options: Options) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    let nodes = json!([{"id": "a"}, {"id": "b"}, {"id": "c"}]);
    write(folder.path(), "tool_desc.json", &[json!({"nodes": nodes})]);
    let links = json!([{"source": "a", "target": "b"}, {"source": "b", "target": "c"}, {"source": "b", "target": "c"}]);
    write(folder.path(), "graph_desc.json", &[json!({"nodes": nodes, "links": links})]);
    if let Some(gold) = gold {
        write(folder.path(), "data.json", gold);
    }
    if let Some(split) = split {
        write(folder.path(), "split_ids.json", &[split]);
    }
    write(folder.path(), "predicted.json", predicted);
    let domain = Domain::open(folder.path()).unwrap();
    evaluate_file(&domain, &domain.path("predicted.json"), options).unwrap()
}

fn plan(id: u32, nodes: &[&str], links: &[(&str, &str)]) -> Value {
    let nodes: Vec<Value> = nodes.iter().map(|name| json!({"task": name})).collect();
    let links: Vec<Value> = links.iter().map(|(a, b)| json!({"source": a, "target": b})).collect();
    json!({"id": id.to_string(), "type": "chain", "task_steps": ["Step 1 do it"], "task_nodes": nodes, "task_links": links})
}

fn close(found: Option<f64>, expected: f64) {
    assert!((found.unwrap() - expected).abs() < 1e-8, "{found:?}, not {expected}");
}

#[test]
fn counted_by_hand() {
    let gold = [
        plan(1, &["a", "b", "c"], &[("a", "b"), ("b", "c")]),
        plan(2, &["a", "b"], &[("a", "b")]),
        plan(3, &["a", "b", "a"], &[("a", "b"), ("b", "a")]),
        plan(4, &["b", "c"], &[("b", "c")]),
    ];
    let predicted = [
        plan(1, &["a", "b", "x"], &[("a", "b"), ("a", "x"), ("b", "c"), ("c", "a")]),
        plan(2, &["b", "a"], &[("a", "b")]),
        plan(3, &["a", "b", "a"], &[("a", "b"), ("b", "a")]),
        plan(9, &["a"], &[]),
    ];
    let made = figures(Some(&gold), None, &predicted, Options { steps: true, ..Options::default() });
    assert_eq!((made.samples, made.errors.len(), made.notes.len()), (3, 0, 1));
    // Node F: 2/3, 1, and 2/3 for the repeated node. Link F: p 2/4, r 2/2; 1; 1.
    close(made.nf, (2.0 / 3.0 + 1.0 + 2.0 / 3.0) / 3.0);
    close(made.lf, (2.0 / 3.0 + 1.0 + 1.0) / 3.0);
    close(made.acc, 1.0 / 3.0);
    close(made.nh1, 1.0 / 9.0);
    close(made.nh2, 1.0 / 3.0);
    // Links off the graph: two of four, none, one of two.
    close(made.lh1, (0.5 + 0.5) / 3.0);
    close(made.lh2, 2.0 / 3.0);
    assert_eq!(made.rouge, Some([1.0, 1.0]));

    let kept = figures(Some(&gold), None, &predicted, Options { remove_non_pred: false, ..Options::default() });
    assert_eq!(kept.samples, 4);
    close(kept.nf, (2.0 / 3.0 + 1.0 + 2.0 / 3.0) / 4.0);
    close(kept.nh2, 0.25);

    let split = json!({"test_ids": {"chain": ["2", "9", "7"]}});
    let some = figures(Some(&gold), Some(split.clone()), &predicted, Options::default());
    assert_eq!((some.samples, some.errors.len()), (2, 1));
    close(some.nf, 1.0);
    close(some.lh1, 0.0);

    let single = figures(Some(&gold), Some(split), &predicted, Options { mode: Mode::Single, ..Options::default() });
    assert_eq!((single.samples, &single.to_value()["LF"], &single.to_value()["NF"]), (0, &json!("N/A"), &Value::Null));

    let without = figures(None, None, &predicted, Options::default());
    assert_eq!((without.samples, without.nf), (4, None));
    close(without.nh2, 0.25);
    insta::assert_snapshot!(without.to_value(), @r#"{"mode":"chain","samples":4,"NF":null,"LF":null,"Acc":null,"NH-1":0.0833,"NH-2":0.25,"LH-1":0.25,"LH-2":0.5,"notes":["there is no data.json: NF, LF and Acc need gold plans","neither split_ids.json nor data.json: every prediction counts"],"errors":[]}"#);
}

#[test]
fn unreadable_samples_are_told_and_count_nothing() {
    let gold = [plan(1, &["a"], &[]), plan(2, &["a", "b"], &[("a", "b")])];
    let predicted = [
        json!({"id": "1", "task_steps": [], "task_nodes": {"task": "a"}}),
        json!({"id": "2", "result": {"task_nodes": [{"task": "a"}, {"task": "b"}], "task_links": "a, b"}}),
        json!(["no", "id"]),
    ];
    let made = figures(Some(&gold), None, &predicted, Options::default());
    let told: Vec<String> = made.errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "sample 1: its `task_nodes` is an object, not a list",
            "sample 1: its prediction has no `task_links`",
            "sample 2: its `task_links` is text, not a list",
        ]
    );
    close(made.nf, 0.5);
    close(made.lf, 0.0);
}

#[test]
fn nodes_links_and_steps_of_all_shapes() {
    let nodes = parse(
        br#"[{"task": "a"}, {"task": ["b", "c", 1]}, {"name": "d"}, {"task": 5, "name": "e"}, "f", 7, {}, null]"#,
    )
    .unwrap();
    let names = node_list(Some(&nodes));
    assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
    let links = parse(
        br#"[{"source": "a", "target": "b"}, {"source": "", "target": "b"}, {"source": "a"}, {"source": 1, "target": 2},
            ["Step 1", "Step 2"], [3, "4"], [0, 1], ["1", "9"], ["__import__('os')", 1], ["a", "b"], [1, 2, 3], "a, b", null]"#,
    )
    .unwrap();
    assert_eq!(link_list(Some(&links), &names), ["a, b", "a, b", "c, d"]);
    let steps = [
        (r#"["Step 1: x", "Step 2: y"]"#, "1: x, 2: y"),
        (r#"[{"description": "Step 1: x", "n": 1}, {"description": "y"}]"#, "1: x, y"),
        (r#"[{"n": 1, "what": "x"}]"#, "1. x"),
        (r#"[["x", 1], []]"#, "x, "),
        ("null", ""),
    ];
    for (json, text) in steps {
        assert_eq!(step_list(Some(&parse(json.as_bytes()).unwrap())), text);
    }
}

#[test]
fn its_own_f1() {
    let list = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let cases = [("", "", 0.0), ("a", "", 0.0), ("ab", "ab", 1.0), ("aab", "aab", 2.0 / 3.0), ("abc", "ad", 0.4)];
    for (predicted, gold, expected) in cases {
        assert!((f1(&list(predicted), &list(gold)) - expected).abs() < 1e-8, "{predicted} {gold}");
    }
}
