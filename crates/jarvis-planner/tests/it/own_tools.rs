//! Requests over tools that a user brings, from `own_tools.yaml`.

use jarvis_plan::{Effect, Example, Fault, Kind, Limits, Medium, NoteKind, Param, Request, Tool, Vocabulary, medium};
use jarvis_planner::{Offline, ToolIndex};
use jarvis_testing::rows;
use serde::Deserialize;
use serde_json::{Value, json};

const TABLE: &str = include_str!("own_tools.yaml");

#[derive(Deserialize)]
struct Service {
    name: String,
    tools: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default = "writes")]
    effect: Effect,
    input: Value,
}

fn writes() -> Effect {
    Effect::Writes
}

/// As `jarvis_workers::planned_tool` makes it.
fn tool(described: Described) -> Tool {
    let Described { name, description, effect, input } = described;
    let required = |name: &str| input["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let param = |(name, schema): (&String, &Value)| Param {
        name: name.clone(),
        kind: match medium(name, schema) {
            Medium::Kind(kind) => kind,
            Medium::Document | Medium::Path | Medium::None => Kind::Text,
        },
        required: required(name),
        description: schema["description"].as_str().unwrap_or_default().to_owned(),
        schema: Some(schema.clone()),
    };
    Tool {
        params: input["properties"].as_object().into_iter().flatten().map(param).collect(),
        effect,
        example: Some(Example { scenario: String::new(), parameters: json!({}) }),
        ..Tool::typed(&name, &description, &[], &[Kind::Text])
    }
}

/// The tasks of this machine, with the tools of some services behind them.
fn tools_of(services: &str, table: &str) -> Vec<Tool> {
    let vocabulary = jarvis_catalogue::vocabulary();
    let native = vocabulary.tools().iter().cloned();
    let own = rows::<Service>(table, "services")
        .into_iter()
        .filter(|service| services.split('+').any(|name| name == service.name));
    native.chain(own.flat_map(|service| service.tools).map(tool)).collect()
}

/// The calls of a request, each with the questions that it leaves.
fn planned(tools: &[Tool], text: &str) -> String {
    let draft = Offline::draft_with(&ToolIndex::new(tools), &Request::new(text));
    let plan = jarvis_plan::check(&draft, &Vocabulary::new(tools.to_vec()), Limits::default());
    let mut calls: Vec<String> = Vec::new();
    for task in plan.tasks() {
        let args: serde_json::Map<String, Value> =
            task.args.iter().map(|(name, arg)| (name.clone(), arg.to_value())).collect();
        // In the order in which the tool declares them.
        let order = tools.iter().find(|tool| tool.name == task.task).map(|tool| &tool.params);
        let args: Vec<String> = order
            .into_iter()
            .flatten()
            .filter_map(|param| Some(format!("{}:{}", json!(param.name), args.get(&param.name)?)))
            .collect();
        let mut call = format!("{} {{{}}}", task.task, args.join(","));
        for fault in &task.faults {
            match fault {
                Fault::MissingArgument { arg, .. } => call.push_str(&format!(" ?{arg}")),
                Fault::BadValue { arg, .. } => call.push_str(&format!(" !{arg}")),
                Fault::AmbiguousTask { candidates } => call = format!("either: {}", candidates.join(", ")),
                Fault::NotOrdered { .. } => call.push_str(" !order"),
                other => call.push_str(&format!(" !!{other}")),
            }
        }
        calls.push(call);
    }
    let rest = plan.notes().iter().any(|note| note.kind == NoteKind::LeftOut);
    match (calls.is_empty(), rest) {
        (true, _) => "nothing".to_owned(),
        (false, true) => format!("{} + rest", calls.join(" ; ")),
        (false, false) => calls.join(" ; "),
    }
}

/// A call that `expected` does not hold, made although nothing is asked back: what must never be.
fn is_wrong(found: &str, expected: &str) -> bool {
    let made =
        found.trim_end_matches(" + rest").split(" ; ").filter(|call| !call.contains(" ?") && !call.contains(" !"));
    let calls: Vec<&str> = expected.trim_end_matches(" + rest").split(" ; ").collect();
    let made: Vec<&str> = made.filter(|call| *call != "nothing" && !call.starts_with("either:")).collect();
    let dropped = !found.contains(['?', '!'])
        && !found.contains("+ rest")
        && made.len() < calls.len()
        && found != "nothing"
        && !found.starts_with("either:");
    made.iter().any(|call| !calls.contains(call)) || dropped
}

fn check(table: &str) {
    let (mut differ, mut wrong, mut count) = (Vec::new(), 0, 0);
    for (services, text, expected) in rows::<(String, String, String)>(table, "cases") {
        let found = planned(&tools_of(&services, table), &text);
        count += 1;
        if found != expected {
            let mark = if is_wrong(&found, &expected) { "WRONG " } else { "" };
            wrong += usize::from(!mark.is_empty());
            differ.push(format!("{mark}request:  {text}\nexpected: {expected}\nfound:    {found}"));
        }
    }
    assert!(differ.is_empty(), "{} of {count} differ, {wrong} of them wrong\n\n{}", differ.len(), differ.join("\n\n"));
}

#[test]
fn requests_become_typed_calls_or_questions() {
    check(TABLE);
}

#[test]
fn services_by_other_hands_are_read_alike() {
    check(include_str!("own_more.yaml"));
}

#[test]
fn services_written_after_the_planner_are_read_alike() {
    check(include_str!("own_held.yaml"));
}

#[test]
fn what_changes_something_is_called_only_for_an_order() {
    check(include_str!("own_orders.yaml"));
}

#[test]
fn words_that_no_argument_takes_keep_a_call_from_being_made() {
    check(include_str!("own_words.yaml"));
}

/// The calls that would be made, without those that are asked back about.
fn made(found: &str) -> Vec<&str> {
    let calls = found.trim_end_matches(" + rest").split(" ; ");
    let is_made = |call: &&str| {
        *call != "nothing" && !call.starts_with("either:") && !call.contains(" ?") && !call.contains(" !")
    };
    calls.filter(is_made).collect()
}

#[test]
fn what_narrows_repeats_or_measures_is_never_dropped() {
    let table = include_str!("own_whole.yaml");
    check(table);
    let mut wrong: Vec<String> = Vec::new();
    for (services, text) in rows::<(String, String)>(table, "never") {
        let found = planned(&tools_of(&services, table), &text);
        if !made(&found).is_empty() {
            wrong.push(format!("{text}: {found}"));
        }
    }
    for (services, text, first) in rows::<(String, String, String)>(table, "first") {
        let found = planned(&tools_of(&services, table), &text);
        let whole = !found.contains("+ rest") && !found.contains(" ?") && !found.contains(" !");
        if made(&found).iter().any(|call| **call != *first) || !made(&found).is_empty() && whole {
            wrong.push(format!("{text}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
