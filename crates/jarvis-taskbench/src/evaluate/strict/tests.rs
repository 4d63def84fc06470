//! Cases counted by hand; what must hold for any plan is in `any_plan`.

mod any_plan;

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{Bootstrap, Catalogue, StrictSample, pool, score};
use crate::data::{DependencyType, GoldRecord, ToolList};
use crate::evaluate::rouge::Rouge;
use crate::evaluate::{Wanted, cases};
use crate::json::parse;

/// Three tools that make an image, a text and nothing, and one whose name has a `_`.
fn catalogue(dependency: DependencyType) -> Catalogue {
    static TOOLS: LazyLock<ToolList> = LazyLock::new(tools);
    Catalogue::new(&TOOLS, dependency)
}

fn tools() -> ToolList {
    let tool = |id: &str, makes: &[&str]| json!({"id": id, "desc": "", "input-type": [], "output-type": makes});
    let tools = json!({"nodes": [tool("Draw", &["image", "text"]), tool("Read", &["text"]), tool("Send", &[]), tool("Look Up", &["text"]), tool("Cut_Out", &["image"])]});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool_desc.json");
    std::fs::write(&path, tools.to_string()).unwrap();
    ToolList::read(&path).unwrap()
}

/// Scores a prediction (`None`: missing) against a gold plan given by its fields.
fn scored(dependency: DependencyType, gold: &Value, said: Option<&str>) -> StrictSample {
    let mut line = json!({"id": "1", "type": "chain"});
    line.as_object_mut().unwrap().extend(gold.as_object().unwrap().clone());
    let line = line.to_string();
    let gold = GoldRecord::read(1, line.as_bytes()).unwrap();
    let said = said.map(|said| parse(said.as_bytes()));
    let said = said.as_ref().map(|said| said.as_ref().map_err(|_| "not JSON"));
    score(&gold, said, &catalogue(dependency), Some(&Rouge::new()))
}

fn resource(gold: Value, said: &str) -> StrictSample {
    scored(DependencyType::Resource, &gold, Some(said))
}

fn temporal(gold: Value, said: &str) -> StrictSample {
    scored(DependencyType::Temporal, &gold, Some(said))
}

/// A gold chain: read a file, draw what it says, send the drawing and the text.
fn chain() -> Value {
    json!({
        "task_steps": ["Step 1: read", "Step 2: draw", "Step 3: send both"],
        "task_nodes": [
            {"task": "Read", "arguments": ["scan.jpg"]},
            {"task": "Draw", "arguments": ["<node-0>"]},
            {"task": "Send", "arguments": ["<node-1>", "<node-0>"]},
        ],
    })
}

fn counts(sample: &StrictSample) -> [[u64; 3]; 4] {
    [sample.nodes, sample.links, sample.argument_names, sample.argument_values]
        .map(|counts| [counts.common, counts.predicted, counts.gold])
}

fn lost(sample: &StrictSample) -> String {
    sample.lost.join("\n")
}

#[test]
fn a_sample_counted_by_hand() {
    let said = r#"{"task_steps": ["Step 1: read"], "task_nodes": [
        {"task": "Read", "arguments": ["other.jpg"]},
        {"task": "Look_Up", "arguments": ["<node-0>"]},
        {"task": "Send", "arguments": ["<node-0>", "<node-7>"]},
        {"task": "Fly", "arguments": []}]}"#;
    let sample = resource(chain(), said);
    // Nodes: Read and Send of 4 and 3. Links: Read → Send of 2 and 3.
    // Argument kinds: gold {Read image, Draw text, Send image, Send text}; said {Read image, Look Up text, Send text,
    // Send dangling}.
    assert_eq!(counts(&sample), [[2, 4, 3], [1, 2, 3], [2, 4, 4], [1, 4, 4]]);
    assert_eq!((sample.unknown_tools, sample.dangling_references, sample.exact_nodes), (1, 1, false));
    // Read, Send in common of 3 and 4.
    assert!((sample.edit_distance[0] - (1.0 - 4.0 / 7.0)).abs() < 1e-12);
    insta::assert_snapshot!("a_sample_counted_by_hand", lost(&sample));
}

#[test]
fn nothing_predicted_scores_nothing() {
    for said in [None, Some("{"), Some("[]"), Some("{}"), Some(r#"{"task_nodes": 5}"#), Some(r#"{"task_nodes": []}"#)] {
        let sample = scored(DependencyType::Resource, &chain(), said);
        assert_eq!(counts(&sample), [[0, 0, 3], [0, 0, 3], [0, 0, 4], [0, 0, 4]], "{said:?}");
        assert_eq!(sample.edit_distance, [1.0, 1.0], "{said:?}");
        assert_eq!(sample.rouge.unwrap().values(), [0.0; 4], "{said:?}");
        assert!(!sample.exact_nodes);
    }
}

#[test]
fn causes_of_malformed_predictions() {
    for (said, cause) in cases::<(String, String)>("causes") {
        let sample = resource(chain(), &said);
        assert_eq!(sample.malformed.map(super::Cause::as_str), Some(cause.as_str()), "{said}");
        assert!(lost(&sample).starts_with("malformed prediction: "), "{}", lost(&sample));
    }
    let many = json!({"task_nodes": vec![json!({"task": "Read"}); super::plan::MOST_NODES + 1]}).to_string();
    assert_eq!(resource(chain(), &many).malformed, Some(super::Cause::TooManyNodes));
}

#[test]
fn resource_repairs_make_the_plan_whole() {
    let repaired = [
        (r#"{"task": "Read", "arguments": "scan.jpg"}"#, "single_argument"),
        (r#"{"task": "Read", "arguments": [{"name": "file", "value": "scan.jpg"}]}"#, "named_arguments"),
        (r#"{"task": "Read", "arguments": {"name": "file", "value": "scan.jpg"}}"#, "named_arguments"),
        (r#"{"task": "Read", "arguments": {"file": "scan.jpg"}}"#, "named_arguments"),
    ];
    for (node, kind) in repaired {
        let said = format!(
            r#"{{"task_steps": [{{"step": 1, "description": "Step 1: read"}}, {{"description": "Step 2: draw"}}, ["Step 3: send both", 3]],
            "task_nodes": [{node}, {{"task": "Draw", "arguments": ["<output_of_Read>"]}},
            {{"task": "Send", "arguments": ["Send <node-1> and <node-0>!"]}}]}}"#
        );
        let sample = resource(chain(), &said);
        assert_eq!(counts(&sample), [[3, 3, 3], [3, 3, 3], [4, 4, 4], [4, 4, 4]], "{node}: {}", lost(&sample));
        assert_eq!(sample.rouge.unwrap().values(), [1.0; 4]);
        let mut repairs = [(kind, 1), ("named_references", 1), ("steps", 1)];
        repairs.sort_unstable();
        assert_eq!(*sample.repaired, repairs);
    }
    let one = json!({"task_nodes": [{"task": "Read", "arguments": ["a"]}]});
    let sample = resource(one, r#"{"task_nodes": {"task": "Read", "arguments": ["a"]}}"#);
    assert_eq!((counts(&sample)[3], &*sample.repaired), ([1, 1, 1], &[("single_node", 1)][..]));
}

#[test]
fn references_that_lead_nowhere_dangle() {
    // An argument of the second of two nodes, and whether it links the first to it.
    for (argument, links, dangling) in cases::<(String, u64, u32)>("references") {
        let said = json!({"task_nodes": [{"task": "Look_Up"}, {"task": "Send", "arguments": [argument]}]});
        let sample = resource(chain(), &said.to_string());
        assert_eq!((sample.links.predicted, sample.dangling_references), (links, dangling), "{argument}");
    }
    // Two nodes of the name: which one is meant is not plain.
    let said =
        r#"{"task_nodes": [{"task": "Read"}, {"task": "Read"}, {"task": "Send", "arguments": ["<output_of_Read>"]}]}"#;
    assert_eq!(resource(chain(), said).dangling_references, 1);
}

#[test]
fn temporal_links_and_arguments() {
    let gold = json!({
        "task_nodes": [
            {"task": "Read", "arguments": [{"name": "n", "value": "5"}]},
            {"task": "Cut_Out", "arguments": [{"name": "what", "value": {"b": 1, "a": 2.0}}]},
        ],
        "task_links": [{"source": "Read", "target": "Cut_Out"}],
    });
    // The links, and: scored links, malformed ones, repairs.
    for (links, [common, predicted], malformed, repairs) in cases::<(String, [u64; 2], u32, String)>("links") {
        let said = format!(
            r#"{{"task_nodes": [{{"task": "Read", "arguments": [{{"name": "n", "value": 5.0}}]}},
            {{"task": "Cut Out", "arguments": [{{"name": "what", "value": {{"a": 2, "b": 1e0}}}}]}}], "task_links": {links}}}"#
        );
        let sample = temporal(gold.clone(), &said);
        assert_eq!(counts(&sample), [[2, 2, 2], [common, predicted, 1], [2, 2, 2], [2, 2, 2]], "{links}");
        assert_eq!(sample.malformed_links, malformed, "{links}");
        let told: Vec<String> = sample
            .repaired
            .iter()
            .map(|(kind, times)| if *times == 1 { (*kind).to_owned() } else { format!("{kind} {times}") })
            .collect();
        assert_eq!(told.join(", "), repairs, "{links}");
    }
    let many = json!({"task_nodes": [], "task_links": vec![json!(["Read", "Cut_Out"]); 2_001]}).to_string();
    let sample = temporal(gold.clone(), &many);
    assert_eq!((sample.links.predicted, sample.malformed_links), (0, 1));
    // Arguments as an object of names; one that is no argument counts against precision alone.
    let said = r#"{"task_nodes": [{"task": "Read", "arguments": {"n": "5"}}, {"task": "Cut_Out", "arguments": ["5", {"name": "x"}]}]}"#;
    let sample = temporal(gold, said);
    assert_eq!((counts(&sample)[3], sample.malformed_arguments), ([1, 3, 2], 2));
}

#[test]
fn parts_of_a_joined_name_do_not_run_together() {
    let gold = json!({"task_nodes": [{"task": "a-b", "arguments": [{"name": "c", "value": "d"}]}]});
    let sample = temporal(gold, r#"{"task_nodes": [{"task": "a", "arguments": [{"name": "b-c", "value": "d"}]}]}"#);
    assert_eq!(counts(&sample)[2], [0, 1, 1]);
}

#[test]
fn listed_links_of_resource_plans_need_both_sides() {
    let mut gold = chain();
    gold["task_links"] = json!([{"source": "Read", "target": "Draw"}]);
    let said =
        r#"{"task_nodes": [{"task": "Draw"}], "task_links": [{"source": "Read", "target": "Draw"}, ["a", "b"]]}"#;
    let sample = resource(gold.clone(), said);
    let listed = sample.listed_links.unwrap();
    assert_eq!([listed.common, listed.predicted, listed.gold], [1, 2, 1]);
    assert_eq!(sample.links.predicted, 0);
    assert_eq!(resource(gold, r#"{"task_nodes": []}"#).listed_links, None);
    assert_eq!(resource(chain(), said).listed_links, None);
}

#[test]
fn order_counts_in_the_order_of_the_links() {
    // The gold lists its nodes by name, the prediction in the order of work.
    let gold =
        json!({"task_nodes": [{"task": "Draw", "arguments": ["<node-1>"]}, {"task": "Look Up", "arguments": ["x"]}]});
    let said =
        r#"{"task_nodes": [{"task": "Look Up", "arguments": ["x"]}, {"task": "Draw", "arguments": ["<node-0>"]}]}"#;
    let sample = resource(gold, said);
    assert_eq!(sample.edit_distance, [0.5, 0.0]);
    assert_eq!(lost(&sample), "the tools are listed in another order");
    // Two unknown names are not one.
    let gold = json!({"task_nodes": [{"task": "Fly"}]});
    assert_eq!(resource(gold.clone(), r#"{"task_nodes": [{"task": "Swim"}]}"#).edit_distance, [1.0, 1.0]);
    assert_eq!(resource(gold, r#"{"task_nodes": [{"task": "Fly"}]}"#).edit_distance, [0.0, 0.0]);
}

#[test]
fn pooled_by_hand() {
    let samples = [
        scored(DependencyType::Resource, &chain(), None),
        resource(chain(), &chain().to_string()),
        resource(chain(), r#"{"task_nodes": [{"task": "Fly"}, {"task": "Read"}]}"#),
    ];
    let catalogue = catalogue(DependencyType::Resource);
    let pooled = pool(samples.iter(), &catalogue, Wanted::ALL, None);
    let value = pooled.to_value();
    // Nodes: 4 in common of 5 predicted and 9 wanted.
    assert_eq!(value["nodes"]["precision"], json!(0.8));
    assert_eq!(value["nodes"]["recall"], json!(4.0 / 9.0));
    assert_eq!(value["nodes"]["f1"], json!(8.0 / 14.0));
    // Three tools occur: Read found twice of three, Draw and Send once of three.
    assert_eq!(value["nodes"]["macro"]["tools"], 3);
    let recall = value["nodes"]["macro"]["recall"].as_f64().unwrap();
    assert!((recall - (2.0 / 3.0 + 1.0 / 3.0 + 1.0 / 3.0) / 3.0).abs() < 1e-12);
    assert_eq!(value["nodes"]["exact"], json!(1.0 / 3.0));
    assert_eq!(value["links"]["recall"], json!(1.0 / 3.0));
    assert_eq!(value["listed_links"]["f1"], Value::Null);
    assert_eq!((&value["missing"], &value["unknown_tools"], &value["samples"]), (&json!(1), &json!(1), &json!(3)));
    // Samples 1, 0, and one of LCS 1 in 3 and 2.
    let list = value["edit_distance"]["list"].as_f64().unwrap();
    assert!((list - (1.0 + 0.0 + 0.6) / 3.0).abs() < 1e-12);
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "samples missing malformed malformed_links malformed_arguments dangling_references unknown_tools repaired gold nodes \
         links listed_links argument_names argument_values edit_distance rouge"
    );
    let none =
        pool([].iter(), &catalogue, Wanted::ALL, Some(Bootstrap { all: true, ..Bootstrap::default() })).to_value();
    assert_eq!(
        (&none["samples"], &none["nodes"]["f1"], &none["edit_distance"]["list"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
}

#[test]
fn intervals_hold_their_figures() {
    let samples: Vec<StrictSample> = (0..60)
        .map(|at| match at % 3 {
            0 => scored(DependencyType::Resource, &chain(), None),
            1 => resource(chain(), &chain().to_string()),
            _ => resource(chain(), r#"{"task_steps": ["read and draw"], "task_nodes": [{"task": "Read", "arguments": ["scan.jpg"]}, {"task": "Draw", "arguments": ["<node-0>"]}]}"#),
        })
        .collect();
    let catalogue = catalogue(DependencyType::Resource);
    let all = Bootstrap { resamples: 400, seed: 3, all: true };
    let pooled = pool(samples.iter(), &catalogue, Wanted::ALL, Some(all)).to_value();
    for (family, figure) in [
        ("nodes", "recall"),
        ("nodes", "exact"),
        ("links", "f1"),
        ("argument_values", "recall"),
        ("edit_distance", "list"),
        ("rouge", "rougeLsum"),
    ] {
        let value = pooled[family][figure].as_f64().unwrap();
        let [low, high] = [0, 1].map(|end| pooled[family][format!("{figure}_interval")][end].as_f64().unwrap());
        assert!(low < value && value < high && high - low < 0.4, "{family} {figure}: {low} {value} {high}");
    }
    // ROUGE alone has the same interval whether or not the others have one.
    let few = pool(samples.iter(), &catalogue, Wanted::ALL, Some(Bootstrap { all: false, ..all })).to_value();
    assert_eq!(few["rouge"], pooled["rouge"]);
    assert!(few["nodes"].get("recall_interval").is_none());
}

#[test]
fn reasons_stay_short_whatever_was_said() {
    let arguments: Vec<String> = (0..1_000).map(|at| format!("value {at}")).collect();
    let said = json!({"task_nodes": [{"task": "Draw", "arguments": arguments}]}).to_string();
    let gold = json!({"task_nodes": [{"task": "Draw", "arguments": ["x"]}]});
    let lost = scored(DependencyType::Resource, &gold, Some(&said)).lost;
    let told = lost.iter().find(|why| why.starts_with("wrong argument")).unwrap();
    assert!(told.contains("`value 106` and 990 more, wanted `x`"), "{told}");
}
