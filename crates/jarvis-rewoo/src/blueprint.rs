//! What the planner writes: steps of a plan line and a call, read into a checked [`Plan`].

use std::sync::LazyLock;

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Fault, Limits, Piece, Plan, TaskId, check, pattern};
use jarvis_prompt::reader::{Want, read_json, without_reasoning};
use regex::Regex;
use serde_json::Value;

use crate::Offer;

/// The planner's reply, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    pub steps: Vec<Step>,
    /// The steps as a task graph: the task of a step has its id.
    pub plan: Plan,
    /// Why the plan cannot be carried out as it stands, in words for the planner. Empty for a sound plan.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of its variable: 1 for `#E1`.
    pub number: u32,
    /// What the step is for; empty where the planner gave no plan line of its own.
    pub plan: String,
    pub tool: String,
    pub input: String,
    pub task: TaskId,
}

impl Step {
    pub fn call(&self) -> String {
        format!("#E{} = {}[{}]", self.number, self.tool, self.input)
    }
}

/// Beginning of a call, up to the bracket before its input.
static CALL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t>*-]*#E([0-9]{1,6})[ \t*]*=[ \t]*([^\[\]\n=]{1,128}?)[ \t]*\["));

static PLAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^[ \t>*#-]*plan(?:[ \t]*[0-9]+)?[ \t*]*:[ \t*]*"));

static VARIABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"#E([0-9]{1,6})"));

/// Reads a planner's reply. A plan with faults is a plan all the same: its faulty tasks fail when it runs.
///
/// # Errors
/// When the reply holds no step, in words for the planner.
pub fn read(reply: &str, offer: &Offer, limits: Limits) -> Result<Blueprint, String> {
    let reply = without_reasoning(reply);
    let mut faults = Vec::new();
    let mut steps = steps(reply, &mut faults);
    if steps.is_empty() {
        faults.push("it has no step; a step has a line such as #E1 = LLM[input]".to_owned());
        return Err(faults.join("; "));
    }
    let mut draft = Draft { raw: reply.to_owned(), ..Draft::default() };
    for step in &steps {
        let task = drafted(step, offer, &mut faults);
        // Named here, because the check gives ids of its own.
        for to in task.args.values().flat_map(Arg::references).filter_map(|reference| reference.0) {
            if !steps.iter().any(|step| i64::from(step.number) == to) {
                faults.push(format!("#E{} uses #E{to}, which no step defines", step.number));
            }
        }
        draft.tasks.push(task);
    }
    let plan = check(&draft, offer.vocabulary(), limits);
    if steps.len() > limits.max_tasks {
        faults.push(format!("it has {} steps, more than {}", steps.len(), limits.max_tasks));
        steps.truncate(limits.max_tasks);
    }
    for (step, task) in steps.iter_mut().zip(plan.tasks()) {
        step.task = task.id;
        for fault in &task.faults {
            match fault {
                // Names of tools and variables were looked at when the task was drafted.
                Fault::UnknownTask { .. } | Fault::DanglingReference { .. } => {}
                Fault::ReferenceCycle => faults.push(format!("#E{} depends on its own result", step.number)),
                fault => faults.push(format!("#E{}: {fault}", step.number)),
            }
        }
    }
    Ok(Blueprint { steps, plan, faults })
}

/// The calls of a reply, each with the plan lines before it. Later definitions of a variable are left out.
fn steps(reply: &str, faults: &mut Vec<String>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut at = 0;
    while let Some(found) = CALL.captures_at(reply, at) {
        let (Some(whole), Some(number), Some(tool)) = (found.get(0), found.get(1), found.get(2)) else { break };
        let before = reply.get(at..whole.start()).expect("a match begins behind the one before");
        let rest = reply.get(whole.end()..).expect("a match ends within the reply");
        let Some(length) = input_length(rest) else {
            faults.push(format!("the input of #E{} has no closing bracket", number.as_str()));
            at = whole.end();
            continue;
        };
        let number = number.as_str().parse().expect("six digits fit");
        if steps.iter().any(|step| step.number == number) {
            faults.push(format!("#E{number} is defined twice"));
        } else {
            let input = rest.get(..length).expect("the bracket stands at that length").trim().to_owned();
            let tool = tool.as_str().trim_matches(['`', '*', ' ']).to_owned();
            steps.push(Step { number, plan: plan_line(before), tool, input, task: TaskId(0) });
        }
        at = whole.end() + length + 1;
    }
    steps
}

/// Bytes before the bracket that closes an input. Where brackets are not balanced, the last one of the line closes it.
fn input_length(rest: &str) -> Option<usize> {
    // The input ends before the next call, wherever its bracket is.
    let end = CALL.find(rest).map_or(rest.len(), |next| next.start());
    let rest = rest.get(..end)?;
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    rest.lines().next()?.rfind(']')
}

fn plan_line(before: &str) -> String {
    let text = PLAN.find_iter(before).last().and_then(|found| before.get(found.end()..)).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn drafted(step: &Step, offer: &Offer, faults: &mut Vec<String>) -> DraftTask {
    let mut task = DraftTask::new(i64::from(step.number), step.tool.as_str());
    let mut fault = |what: String| faults.push(format!("#E{}: {what}", step.number));
    let tool = match offer.meant(&step.tool) {
        Ok(tool) => tool,
        Err(unknown) => {
            fault(unknown);
            task.args.insert(crate::offer::INPUT.to_owned(), Arg::literal(step.input.as_str()));
            return task;
        }
    };
    task.task = tool.to_owned();
    let object = Some(step.input.as_str()).filter(|input| tool != crate::LLM && input.starts_with('{'));
    if let Some(Value::Object(fields)) =
        object.and_then(|input| read_json(input, Want::Object).ok()).map(|read| read.value)
    {
        if let Some(missing) = offer.missing(tool, |name| fields.contains_key(name)) {
            fault(format!("`{tool}` needs `{missing}`"));
        }
        task.args = fields.iter().map(|(name, value)| (name.clone(), argument(value))).collect();
        return task;
    }
    let name = offer.text_argument(tool).unwrap_or_else(|why| {
        fault(why);
        crate::offer::INPUT
    });
    task.args.insert(name.to_owned(), text(&step.input));
    task
}

fn text(input: &str) -> Arg<DraftRef> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for found in VARIABLE.captures_iter(input) {
        let (Some(whole), Some(number)) = (found.get(0), found.get(1)) else { continue };
        pieces
            .push(Piece::Text(input.get(end..whole.start()).expect("a match begins behind the one before").to_owned()));
        pieces.push(Piece::Output(DraftRef(number.as_str().parse().ok())));
        end = whole.end();
    }
    pieces.push(Piece::Text(input.get(end..).expect("a match ends within the input").to_owned()));
    Arg::text(pieces)
}

fn argument(value: &Value) -> Arg<DraftRef> {
    match value {
        Value::String(input) => text(input),
        nested => Arg::of(&spelled(nested)),
    }
}

/// A value with its variables spelled as [`Arg::of`] reads them.
fn spelled(value: &Value) -> Value {
    match value {
        Value::String(input) => VARIABLE.replace_all(input, "<GENERATED-$1>").into_owned().into(),
        Value::Array(items) => items.iter().map(spelled).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), spelled(field))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
