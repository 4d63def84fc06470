//! Replies of models, good and bad: what is read out of them.

use jarvis_taskbench::data::DependencyType;
use jarvis_taskbench::infer::{NoPlan, check_plan, read_plan};
use proptest::prelude::*;
use serde_json::{Value, json};

const PLAN: &str = r#"{"task_steps": ["Step 1: a"], "task_nodes": [{"task": "A", "arguments": ["x.png"]}]}"#;

/// Reads a reply with resource dependencies; the plan as compact JSON, or the kind of failure and the reason.
fn resource(reply: &str) -> String {
    told(reply, DependencyType::Resource)
}

fn replies(group: &str) -> Vec<String> {
    let all: Value = serde_json::from_str(include_str!("infer_replies.json")).unwrap();
    serde_json::from_value(all[group].clone()).unwrap()
}

fn told(reply: &str, dependency: DependencyType) -> String {
    match read_plan(reply, dependency) {
        Ok(plan) => plan.result.to_string(),
        Err(NoPlan::ContentFormat(why)) => format!("ContentFormat: {why}"),
        Err(NoPlan::Schema(why)) => format!("Schema: {why}"),
    }
}

#[test]
fn one_plan_is_found_wherever_it_stands() {
    let plan = resource(PLAN);
    assert!(plan.starts_with('{'), "{plan}");
    let fenced = format!("Here you are:\n```json\n{PLAN}\n```\nGood luck!");
    let spread = PLAN.replace(", ", ",\n\t");
    for reply in [
        PLAN.to_owned(),
        format!("\u{feff}  {PLAN}\n\n"),
        fenced.clone(),
        spread,
        format!("# RESULT #: {PLAN}"),
        format!("The tools {{A, B}} and [C] are of use. {PLAN} I used {{A}}."),
        format!("<think>Maybe {{\"task_steps\": [], \"task_nodes\": []}}?</think>{PLAN}"),
        format!("<think>It never ends: {PLAN}"),
        format!("[{PLAN}]"),
        format!("{{\"result\": {PLAN}}}"),
        // The schema, repeated before the answer, and a draft that was thought better of.
        format!("{{\"task_steps\": [\"…\"], \"task_nodes\": [\"…\"]}} {PLAN}"),
        format!("{{\"task_steps\": [\"old\"], \"task_nodes\": []}}\nBetter:\n{PLAN}"),
        // A model that goes on with requests of its own, or repeats the prompt first.
        format!("{PLAN}\n\n# USER REQUEST #: More\n# RESULT #: {{\"task_steps\": [], \"task_nodes\": []}}"),
        format!("# EXAMPLE #:\n# RESULT #: {{\"task_steps\": [], \"task_nodes\": []}}\n# USER REQUEST #: Do\n{PLAN}"),
        // Parts of it, listed or one after the other.
        r#"[{"task_steps": ["Step 1: a"]}, {"task_nodes": [{"task": "A", "arguments": ["x.png"]}]}]"#.to_owned(),
        r#"{"task_steps": ["Step 1: a"]} and {"task_nodes": [{"task": "A", "arguments": ["x.png"]}]}"#.to_owned(),
        // What needs mending.
        PLAN.replace("task_", "task\\_"),
        fenced.replace("task_", "task\\_"),
        PLAN.replace('"', "'"),
        PLAN.replace("}]}", "},],}"),
        PLAN.replace("}]}", "}]"),
        PLAN.replace("}]}", "}] // done\n}"),
        format!("Note {{this}}: {}", PLAN.replace("}]}", "},]}")),
    ] {
        assert_eq!(resource(&reply), plan, "{reply}");
    }
}

#[test]
fn backslashes_are_kept() {
    for (text, read) in
        [(r#"say \"hi\" to C:\\dir"#, r#"say "hi" to C:\dir"#), (r"caf\u00e9\nline", "café\nline"), (r"a\\_b", r"a\_b")]
    {
        let reply = PLAN.replace("x.png", text);
        let plan = read_plan(&reply, DependencyType::Resource).unwrap();
        assert_eq!(plan.result["task_nodes"][0]["arguments"][0], read, "{reply}");
        assert!(plan.notes.is_empty(), "{:?}", plan.notes);
    }
}

#[test]
fn lists_of_parts_are_put_together() {
    let one = r#"{"task_steps":["a"],"task_nodes":[{"task":"A","arguments":[]}]}"#;
    let two = r#"{"task_steps":["b"],"task_nodes":[{"task":"B","arguments":["<node-0>"]}]}"#;
    insta::assert_snapshot!(resource(&format!("[{one}, {two}]")), @r#"{"task_steps":["a","b"],"task_nodes":[{"task":"A","arguments":[]},{"task":"B","arguments":["<node-0>"]}]}"#);
    // Two whole plans in prose are a first and a second thought.
    assert_eq!(resource(&format!("{one} or {two}")), two);
}

#[test]
fn what_the_evaluator_reads_passes_unchanged() {
    for plan in replies("passing") {
        assert_eq!(resource(&plan), plan);
    }
}

#[test]
fn other_shapes_are_told() {
    let told: Vec<String> = replies("other").iter().map(|reply| format!("{reply:?} → {}", resource(reply))).collect();
    insta::assert_snapshot!("other_shapes_are_told", told.join("\n"));
}

#[test]
fn temporal_plans_have_links_and_named_arguments() {
    let told: Vec<String> = replies("temporal").iter().map(|reply| told(reply, DependencyType::Temporal)).collect();
    insta::assert_snapshot!("temporal_plans_have_links_and_named_arguments", told.join("\n"));
}

#[test]
fn hostile_replies_end() {
    for reply in ["{".repeat(200_000), "[{\"".repeat(50_000), "{\"task_steps\":[".repeat(20_000), "\\_{".repeat(50_000)]
    {
        assert!(read_plan(&reply, DependencyType::Resource).is_err());
    }
}

fn plans() -> impl Strategy<Value = Value> {
    let text = || "\\PC{0,12}";
    let node = (text(), prop::collection::vec(text(), 0..3))
        .prop_map(|(task, arguments)| json!({"task": task, "arguments": arguments}));
    (prop::collection::vec(text(), 0..4), prop::collection::vec(node, 0..4))
        .prop_map(|(steps, nodes)| json!({"task_steps": steps, "task_nodes": nodes}))
}

proptest! {
    /// Whatever words stand around a plan, and however it is laid out, it is read as it is.
    #[test]
    fn prose_around_a_plan_does_no_harm(plan in plans(), before in "[^{\\[<#]{0,40}", after in "[^{\\[<#]{0,40}", fenced: bool) {
        let json = if fenced { serde_json::to_string_pretty(&plan).unwrap() } else { plan.to_string() };
        let reply = if fenced { format!("{before}\n```json\n{json}\n```\n{after}") } else { format!("{before}{json}{after}") };
        prop_assert_eq!(read_plan(&reply, DependencyType::Resource).unwrap().result, plan);
    }

    /// What is read always has the shape of a plan, whatever is left of the reply.
    #[test]
    fn what_is_read_is_a_plan(plan in plans(), cut in 0usize..400, junk in "[{}\\[\\],:\"\\\\a_ ]{0,12}", at in 0usize..400) {
        let mut reply: String = plan.to_string().chars().take(cut).collect();
        let at = reply.char_indices().nth(at).map_or(reply.len(), |(at, _)| at);
        reply.insert_str(at, &junk);
        if let Ok(read) = read_plan(&reply, DependencyType::Resource) {
            prop_assert_eq!(check_plan(&read.result, DependencyType::Resource), Ok(()));
        }
    }
}
