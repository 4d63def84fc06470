//! Replies of planners and the plans that they must become, or the faults: the cases of `jarvis_testing::replies`.

use std::collections::BTreeSet;

use jarvis_plan::{Fault, Kind, Limits, Plan, Request, Resource, Source, Vocabulary, check};
use jarvis_prompt::plan::{Scope, read_plan};
use jarvis_testing::replies::{self, Case, cases};
use serde_json::{Map, Value};

pub(crate) fn request(case: &Case) -> Request {
    let attachment = |name: &String| {
        let kind = Kind::of_name(name).expect("the ending says what it is");
        let source = match kind.folder() {
            Some(folder) => Source::Public(format!("/{folder}/{name}")),
            None => Source::Inline(format!("What {name} holds.")),
        };
        Resource { kind, source, name: Some(name.clone()) }
    };
    let attachments = case.attachments.iter().map(attachment).collect();
    Request { text: case.request.clone(), attachments, ..Request::default() }
}

fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::UnknownTask { .. } => "unknown_task",
        Fault::AmbiguousTask { .. } => "ambiguous_task",
        Fault::MissingArgument { .. } => "missing_argument",
        Fault::BadValue { .. } => "bad_value",
        Fault::NoSuchFile { .. } => "no_such_file",
        Fault::UnresolvedReference { .. } | Fault::DanglingReference { .. } | Fault::UnboundReference { .. } => {
            "unresolved_reference"
        }
        Fault::NotGiven { .. } => "not_given",
        Fault::Ambiguous { .. } => "ambiguous",
        Fault::NoSuchField { .. } => "no_such_field",
        Fault::NotEach { .. } => "not_each",
        Fault::Withheld { .. } | Fault::WithheldBeside { .. } => "withheld",
        Fault::NotOrdered { .. } => "not ordered",
        Fault::ReferenceCycle => "cycle",
    }
}

fn arg(fault: &Fault) -> Option<&str> {
    match fault {
        Fault::MissingArgument { arg, .. }
        | Fault::BadValue { arg, .. }
        | Fault::NoSuchFile { arg, .. }
        | Fault::UnresolvedReference { arg, .. }
        | Fault::NotGiven { arg, .. }
        | Fault::Ambiguous { arg, .. }
        | Fault::NoSuchField { arg, .. }
        | Fault::UnboundReference { arg } => Some(arg),
        Fault::UnknownTask { .. }
        | Fault::AmbiguousTask { .. }
        | Fault::DanglingReference { .. }
        | Fault::NotEach { .. }
        | Fault::Withheld { .. }
        | Fault::WithheldBeside { .. }
        | Fault::NotOrdered { .. }
        | Fault::ReferenceCycle => None,
    }
}

/// What differs between a plan and the wanted one; empty when nothing does.
fn differences(case: &Case, plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let wanted = case.plan.as_deref().unwrap_or_default();
    let names: Vec<&str> = plan.tasks().iter().map(|task| task.task.as_str()).collect();
    let wanted_names: Vec<&str> = wanted.iter().map(|task| task.task.as_str()).collect();
    if names != wanted_names {
        return vec![format!("tasks {names:?}, wanted {wanted_names:?}")];
    }
    let mut faulty = BTreeSet::new();
    for fault in &case.faults {
        let replies::Fault::Of { task: at, kind: wanted, arg: of } = fault else {
            found.push("a plan, where none was wanted".to_owned());
            continue;
        };
        faulty.insert(*at);
        let faults = plan.tasks().get(*at as usize).map(|task| task.faults.as_slice()).unwrap_or_default();
        let is_wanted = |fault: &Fault| {
            kind(fault) == wanted && (of.is_none() || arg(fault).is_none() || of.as_deref() == arg(fault))
        };
        if !faults.iter().any(is_wanted) {
            found.push(format!("task {at} lacks the fault {wanted} {of:?}; it has {faults:?}"));
        }
    }
    for (task, wanted) in plan.tasks().iter().zip(wanted) {
        if faulty.contains(&task.id.0) {
            continue;
        }
        if !task.faults.is_empty() {
            found.push(format!("task {} has faults: {:?}", task.id, task.faults));
        }
        let args: Map<String, Value> = task.args.iter().map(|(name, arg)| (name.clone(), arg.to_value())).collect();
        if args != wanted.args {
            found.push(format!("task {}: {}, wanted {}", task.id, Value::from(args), Value::from(wanted.args.clone())));
        }
        let dep: Vec<u32> = task.dep.iter().map(|dep| dep.0).collect();
        if wanted.dep.as_ref().is_some_and(|wanted| *wanted != dep) {
            found.push(format!("task {} waits for {dep:?}, wanted {:?}", task.id, wanted.dep));
        }
    }
    found
}

fn differs(case: &Case) -> Vec<String> {
    let vocabulary = Vocabulary::new(replies::tools(&case.tools));
    let request = request(case);
    match read_plan(&case.reply, Scope { tools: &vocabulary, request: &request, exists: &|_| false }) {
        Ok(draft) => differences(case, &check(&draft, &vocabulary, Limits::default())),
        Err(_) if case.is_unreadable() => Vec::new(),
        Err(error) => vec![format!("unreadable: {error}")],
    }
}

#[test]
fn every_reply_becomes_the_plan_that_it_means() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let found = differs(case);
        if !found.is_empty() {
            wrong.push(format!(
                "{} ({}, {}):\n  {}\n{}",
                case.name,
                case.class,
                case.family,
                found.join("\n  "),
                case.reply
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} replies\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

#[test]
fn the_table_is_wide_enough() {
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "names are unique");
    for family in ["llama", "qwen", "gemma", "phi", "mistral"] {
        assert!(cases.iter().filter(|case| case.family == family).count() >= 45, "{family}");
    }
}
