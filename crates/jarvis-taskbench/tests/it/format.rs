//! Raw samples to gold plans: what is accepted, what becomes a reference, what is rejected and why.

use jarvis_taskbench::data::{DependencyType, Domain};
use jarvis_taskbench::generate::{FormatError, FormatOptions, Reject, format, format_line};
use serde_json::{Value, json};

fn raw(steps: Value, request: Value, nodes: Value, links: Value) -> Value {
    json!({
        "id": "12345678", "seed": 5, "method": "chain", "number_of_tools": 2,
        "sampled_nodes": [{"id": "Text_Finder", "input-type": ["text"], "output-type": ["text"]}],
        "sampled_links": [{"source": "Text_Finder", "target": "Narrator"}],
        "result": {
            "task_steps": steps, "user_request": request, "invoking_graph": {"nodes": nodes, "links": links},
        },
        "critics": {"node": true},
    })
}

fn with_nodes(nodes: Value) -> Value {
    let steps: Vec<String> = (0..nodes.as_array().map_or(0, Vec::len)).map(|at| format!("Step {at}")).collect();
    raw(json!(steps), json!("do it"), nodes, json!([]))
}

fn cases() -> Value {
    serde_json::from_str(include_str!("format_cases.json")).unwrap()
}

#[test]
fn a_sample_has_its_keys_in_order() {
    let mut record = raw(
        json!(["Find it", "Read it"]),
        json!("Find it and read it"),
        json!([
            {"id": "Text_Finder", "input": ["something"], "output": "a text"},
            {"id": "Narrator", "input": ["Text_Finder"]},
        ]),
        json!([{"source": "Text_Finder", "target": "Narrator", "type": "text"}]),
    );
    let formatted = format_line(&record, DependencyType::Resource, false).unwrap();
    let wanted = r#"{"id":"12345678","seed":5,"type":"chain","n_tools":2,"sampled_nodes":[{"task":"Text Finder","input-type":["text"],"output-type":["text"]}],"sampled_links":[{"source":"Text Finder","target":"Narrator"}],"user_request":"Find it and read it","task_steps":["Find it","Read it"],"task_nodes":[{"task":"Text Finder","arguments":["something"],"output":"a text"},{"task":"Narrator","arguments":["<node-0>"]}],"task_links":[{"source":"Text Finder","target":"Narrator"}]}"#;
    assert_eq!(formatted.to_string(), wanted);
    assert_eq!(format_line(&record, DependencyType::Resource, true), Err(Reject::Teacher));
    for place in ["/result", "/result/invoking_graph"] {
        let mut judged = record.clone();
        judged.pointer_mut(place).unwrap()["check_by_teacher"] = json!("fine");
        let formatted = format_line(&judged, DependencyType::Resource, true).unwrap();
        assert_eq!(formatted.as_object().unwrap().values().next_back().unwrap(), "fine");
    }
    record["result"]["check_by_teacher"] = json!(["fine"]);
    assert_eq!(format_line(&record, DependencyType::Resource, true), Err(Reject::Teacher));
    assert!(format_line(&record, DependencyType::Resource, false).is_ok());
    // The older release's keys of sampled tools.
    record["sampled_nodes"] = json!([{"id": "A_b", "input": ["text"], "output": ["url"]}]);
    let formatted = format_line(&record, DependencyType::Resource, false).unwrap();
    assert_eq!(formatted["sampled_nodes"], json!([{"task": "A b", "input-type": ["text"], "output-type": ["url"]}]));
}

#[test]
fn temporal_samples_keep_their_names() {
    let mut record = with_nodes(json!([
        {"id": "book_car", "arguments": [{"name": "date", "value": "2027-01-01"}]},
        {"id": "send_note", "arguments": [{"name": "text", "value": "book_car"}, {"name": "n", "value": 3}, 4]},
    ]));
    record["sampled_nodes"] = json!([{"id": "book_car", "parameters": [{"name": "date"}]}]);
    record["sampled_links"] = json!([]);
    let formatted = format_line(&record, DependencyType::Temporal, false).unwrap();
    assert_eq!(formatted["sampled_nodes"], json!([{"task": "book_car", "arguments": [{"name": "date"}]}]));
    assert_eq!(formatted["task_nodes"][1]["task"], "send_note");
    assert_eq!(formatted["task_nodes"][1]["arguments"], record["result"]["invoking_graph"]["nodes"][1]["arguments"]);
}

#[test]
fn only_whole_names_become_references() {
    // The arguments of tool C, whose plan is A_tool, B tool, C, A_tool.
    for [given, wanted] in serde_json::from_value::<Vec<[Value; 2]>>(cases()["references"].clone()).unwrap() {
        let record = with_nodes(json!([
            {"id": "A_tool", "input": []}, {"id": "B tool", "input": []}, {"id": "C", "input": given},
            {"id": "A_tool", "input": []},
        ]));
        let formatted = format_line(&record, DependencyType::Resource, false).unwrap();
        assert_eq!(formatted["task_nodes"][2]["arguments"], wanted, "{given}");
    }
    // Of two of a name, a tool means the other one.
    let record = with_nodes(json!([{"id": "A", "input": ["A"]}, {"id": "A", "input": ["A"]}]));
    let formatted = format_line(&record, DependencyType::Resource, false).unwrap();
    assert_eq!(formatted["task_nodes"][0]["arguments"], json!(["<node-1>"]));
    assert_eq!(formatted["task_nodes"][1]["arguments"], json!(["<node-0>"]));
}

#[test]
fn what_is_not_well_formed_is_rejected() {
    let good = raw(json!(["a"]), json!("do it"), json!([{"id": "A", "input": ["x"]}]), json!([]));
    // What stands at a place of the record instead, and why it is rejected.
    let cases = serde_json::from_value::<Vec<(String, Value, String)>>(cases()["rejected"].clone()).unwrap();
    for (place, value, reason) in cases {
        let mut record = good.clone();
        *record.pointer_mut(&place).unwrap() = value;
        let rejected = format_line(&record, DependencyType::Resource, false).unwrap_err();
        assert_eq!(format!("{rejected:?}"), reason, "{record}");
    }
    assert!(format_line(&good, DependencyType::Resource, false).is_ok());
}

#[test]
fn rejected_lines_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let good = with_nodes(json!([{"id": "A", "input": ["naïve \u{1F600}"]}])).to_string();
    let odd = "{\"id\" : \"87654321\",\"result\":{\"user_request\":\"caf\\u00e9\"}}";
    let text = format!("{good}\n\n{odd}\nnot JSON at all\n{good}\n{{\"id\": \"1\", \"resu");
    std::fs::write(dir.path().join("data_raw.json"), &text).unwrap();
    std::fs::write(dir.path().join("data.json"), "old").unwrap();
    let overwrite = FormatOptions { overwrite: true, ..FormatOptions::default() };
    let formatted = format(&Domain::open(dir.path()).unwrap(), overwrite).unwrap();
    assert_eq!((formatted.total, formatted.accepted, formatted.repeated_ids), (5, 2, 1));
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("data_error.json"), format!("{odd}\nnot JSON at all\n{{\"id\": \"1\", \"resu\n"));
    assert_eq!(read("user_requests.json"), "{\"id\":\"12345678\",\"user_request\":\"do it\"}\n".repeat(2));
    assert!(read("data.json").starts_with("{\"id\":\"12345678\"") && read("data.json").contains("naïve \u{1F600}"));
    let lines: Vec<(usize, Option<&str>, Reject)> =
        formatted.rejected.iter().map(|line| (line.line, line.id.as_deref(), line.reason)).collect();
    let wanted = [(3, Some("87654321"), Reject::Incomplete), (4, None, Reject::NotJson), (6, None, Reject::NotJson)];
    assert_eq!(lines, wanted);
    assert_eq!(
        formatted.reasons().into_iter().collect::<Vec<_>>(),
        [("not a JSON object", 2), ("no id, result or invoking graph", 1)]
    );
    // Nothing of the writing is left behind.
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["alignment_ids.json", "data.json", "data_error.json", "data_raw.json", "user_requests.json"]);
}

#[test]
fn gold_from_elsewhere_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let good = with_nodes(json!([{"id": "A", "input": []}])).to_string();
    std::fs::write(dir.path().join("data_raw.json"), format!("{good}\n")).unwrap();
    let gold = "{\"id\":\"1\"}\n{\"id\":\"12345678\"}\n";
    std::fs::write(dir.path().join("data.json"), gold).unwrap();
    let domain = Domain::open(dir.path()).unwrap();
    let error = format(&domain, FormatOptions::default()).unwrap_err();
    assert!(matches!(error, FormatError::Foreign { count: 1, .. }), "{error}");
    assert_eq!(std::fs::read_to_string(dir.path().join("data.json")).unwrap(), gold);
    assert!(!dir.path().join("data_error.json").exists());
    // Requests from elsewhere are not ours either.
    std::fs::remove_file(dir.path().join("data.json")).unwrap();
    let requests = dir.path().join("user_requests.json");
    std::fs::write(&requests, "{\"id\":\"1\",\"user_request\":\"x\"}\n").unwrap();
    let error = format(&domain, FormatOptions::default()).unwrap_err();
    assert!(matches!(&error, FormatError::Foreign { path, count: 1 } if *path == requests), "{error}");
    assert!(std::fs::read_to_string(&requests).unwrap().contains("\"x\""));
    let overwrite = FormatOptions { overwrite: true, ..FormatOptions::default() };
    assert_eq!(format(&domain, overwrite).unwrap().accepted, 1);
    assert_eq!(format(&domain, FormatOptions::default()).unwrap().accepted, 1, "what was formatted may be again");
}

#[test]
fn corrections_by_hand_are_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let good = with_nodes(json!([{"id": "A", "input": ["B_c"]}, {"id": "B_c", "input": []}])).to_string();
    std::fs::write(path("data_raw.json"), format!("{good}\n")).unwrap();
    let domain = Domain::open(dir.path()).unwrap();
    let temporal = FormatOptions { dependency: Some(DependencyType::Temporal), ..FormatOptions::default() };
    format(&domain, FormatOptions::default()).unwrap();
    format(&domain, temporal).unwrap();
    format(&domain, FormatOptions::default()).unwrap();
    type Edit = fn(&str) -> String;
    let edits: [(&str, Edit, &str); 4] = [
        ("data.json", |text| text.replace("do it", "do it well"), "data.json differs in 1 sample from what"),
        ("user_requests.json", |text| text.replace("do it", "do it well"), "user_requests.json differs in 1 sample"),
        (
            "user_requests.json",
            |text| format!("{text}{{\"id\":\"9\",\"user_request\":\"x\"}}\n"),
            "holds 1 sample that is not",
        ),
        ("user_requests.json", |text| format!("{text}a remark\nanother\n"), "holds 2 samples that are not"),
    ];
    for (name, edit, said) in edits {
        let before = std::fs::read_to_string(path(name)).unwrap();
        let edited = edit(&before);
        assert_ne!(edited, before);
        std::fs::write(path(name), &edited).unwrap();
        let error = format(&domain, FormatOptions::default()).unwrap_err();
        assert!(error.to_string().contains(said) && error.hint().contains("--overwrite"), "{error}");
        assert_eq!(std::fs::read_to_string(path(name)).unwrap(), edited);
        format(&domain, FormatOptions { overwrite: true, ..FormatOptions::default() }).unwrap();
        assert_eq!(std::fs::read_to_string(path(name)).unwrap(), before);
    }
}
