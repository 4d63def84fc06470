//! `jarvis taskbench inspect`, as people and programs see it.

use crate::harness::Harness;

/// A small domain: two tools, three gold plans with something odd each, and a prediction file cut short.
fn domain(harness: &Harness) {
    let folder = harness.work().join("data_tiny");
    std::fs::create_dir_all(folder.join("predictions")).expect("a folder");
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("writable");
    let tools = r#"[{"id": "Read", "desc": "reads", "input-type": ["image"], "output-type": ["text"]}, {"id": "Draw", "desc": "draws", "input-type": ["text"], "output-type": ["Image"]}]"#;
    write("tool_desc.json", format!(r#"{{"nodes": {tools}}}"#));
    let links = r#"[{"source": "Read", "target": "Draw", "type": "text"}]"#;
    write("graph_desc.json", format!(r#"{{"nodes": {tools}, "links": {links}}}"#));
    let plan = |id: usize, nodes: &str, links: &str| {
        format!(
            r#"{{"id": "{id}", "type": "chain", "n_tools": 2, "task_steps": ["a", "b"], "task_nodes": [{nodes}], "task_links": [{links}]}}"#
        )
    };
    let read = r#"{"task": "Read", "arguments": ["scan.jpg"]}"#;
    let draw = r#"{"task": "Draw", "arguments": ["<node-0>"]}"#;
    let mut gold = vec![
        plan(1, &format!("{read}, {draw}"), r#"{"source": "Read", "target": "Draw"}"#),
        plan(2, &format!("{draw}, {read}"), r#"{"source": "Draw", "target": "Read"}"#),
        plan(3, r#"{"task": "Fly", "arguments": []}"#, ""),
    ];
    gold.extend((10..20).map(|id| plan(id, read, "")));
    write("data.json", gold.join("\n"));
    write("predictions/offline.json", format!("{{\"id\": \"1\", \"result\": {}}}\n{{\"id\": \"2\", \"resu", gold[0]));
}

#[test]
fn a_folder_is_told_in_words() {
    let harness = Harness::new();
    domain(&harness);
    insta::assert_snapshot!("a_folder_is_told_in_words", harness.told(&["taskbench", "inspect", "data_tiny"]));
}

#[test]
fn the_folder_is_named_either_way() {
    let harness = Harness::new();
    domain(&harness);
    let bare = harness.run(&["taskbench", "inspect", "data_tiny"]);
    let named = harness.run(&["taskbench", "inspect", "--data-dir", "data_tiny"]);
    assert_eq!((named.code, &named.stdout), (0, &bare.stdout));
    assert_eq!(harness.run(&["taskbench", "inspect", "data_tiny", "--data-dir", "data_tiny"]).code, 2);
    assert_eq!(harness.run(&["taskbench", "inspect"]).code, 2);
    let above = harness.run(&["taskbench", "inspect", "."]);
    assert_eq!(above.code, 2);
    assert!(above.stderr.contains("hint: name the folder of one domain; below it: data_tiny\n"), "{}", above.stderr);
}

#[test]
fn a_folder_is_told_as_a_document() {
    let harness = Harness::new();
    domain(&harness);
    let (code, found) = harness.json(&["taskbench", "inspect", "data_tiny", "--json"]);
    assert_eq!(code, 0);
    let gold = &found["files"]["data.json"];
    assert_eq!((&found["dependency_type"], &gold["plans"]), (&"resource".into(), &13.into()));
    let odd = gold["odd"].as_array().expect("a list");
    let steps = odd.iter().find(|odd| odd["what"] == "plans with another number of steps than of nodes").expect("told");
    assert_eq!((&steps["count"], steps["which"].as_array().expect("a list").len()), (&11.into(), 11));
    assert_eq!(found["files"]["user_requests.json"]["state"], "missing");
}

#[test]
fn what_is_no_domain_is_wrong_use() {
    let harness = Harness::new();
    insta::assert_snapshot!("what_is_no_domain_is_wrong_use", harness.told(&["taskbench", "inspect", "."]));
    let nowhere = harness.run(&["taskbench", "inspect", "nowhere"]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("hint: "), "{nowhere:?}");
    let help = harness.run(&["taskbench", "inspect", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Example"), "{help:?}");
}
