//! Outcomes in the original's shape: the results map that stage 4, the logs and `/results` show.
//!
//! Source: microsoft/JARVIS `hugginggpt/server/awesome_chat.py`, `collect_result` (the keys with spaces are its own).

use jarvis_catalogue::TaskOutput;
use jarvis_plan::{Outcome, Plan, Task};
use serde_json::{Map, Value, json};

/// Task id to Result, in ascending id, keys as strings.
pub fn results_map(plan: &Plan, outcomes: &[Outcome]) -> Map<String, Value> {
    let mut rows: Vec<&Outcome> = outcomes.iter().collect();
    rows.sort_by_key(|outcome| outcome.id);
    rows.into_iter().map(|outcome| (outcome.id.to_string(), result(plan.task(outcome.id), outcome))).collect()
}

/// One Result: `task` after argument resolution, `inference result`, `choose model result`. An error takes the object
/// form; a task without a chosen model has the empty string as its choice. Beyond the original: `effective_task`
/// where another task stood in, `attempts` where the first choice failed, `notes`.
pub fn result(task: Option<&Task>, outcome: &Outcome) -> Value {
    let mut fields = Map::new();
    fields.insert("task".into(), task_after(task, outcome));
    let output = match (&outcome.output, &outcome.error) {
        (Some(output), _) => output.clone(),
        (None, Some(error)) => TaskOutput::error(error).0,
        (None, None) => Value::Null,
    };
    fields.insert("inference result".into(), output);
    fields.insert("choose model result".into(), choice(outcome));
    if let Some(performer) = outcome.performer().filter(|performer| performer.effective_task != outcome.task) {
        fields.insert("effective_task".into(), performer.effective_task.clone().into());
    }
    if outcome.attempts.len() > 1 {
        let tried: Vec<Value> = outcome
            .attempts
            .iter()
            .map(|attempt| {
                let error = attempt.error.as_ref().map(|error| error.message.clone());
                json!({"id": attempt.candidate.id, "host": attempt.candidate.host, "error": error})
            })
            .collect();
        fields.insert("attempts".into(), tried.into());
    }
    if !outcome.notes.is_empty() {
        fields.insert("notes".into(), outcome.notes.clone().into());
    }
    Value::Object(fields)
}

fn task_after(task: Option<&Task>, outcome: &Outcome) -> Value {
    let dep: Vec<i64> = match task {
        Some(task) if !task.dep.is_empty() => task.dep.iter().map(|id| i64::from(id.0)).collect(),
        _ => vec![-1],
    };
    json!({"task": outcome.task, "id": outcome.id, "dep": dep, "args": outcome.args})
}

fn choice(outcome: &Outcome) -> Value {
    let (Some(selection), Some(performer)) = (&outcome.selection, outcome.performer()) else {
        return Value::String(String::new());
    };
    json!({"id": performer.id, "reason": reason(outcome).unwrap_or(&selection.reason)})
}

/// Why the model that performed a task did: the reason of the choice, or, for a fallback, that the choice failed.
pub fn reason(outcome: &Outcome) -> Option<&str> {
    let selection = outcome.selection.as_ref()?;
    let chosen = outcome.performer().is_none_or(|performer| *performer == selection.chosen);
    Some(if chosen { &selection.reason } else { "the model chosen first failed; this was the next candidate" })
}

/// Makes a results map small enough to show to a model: the longest strings and lists are shortened until the whole,
/// measured by `size`, is at most `limit`. Returns how many values were shortened.
pub fn shorten(results: &mut Value, limit: usize, size: impl Fn(&Value) -> usize) -> usize {
    let mut shortened = 0;
    let mut longest = usize::MAX;
    // Each round cuts what is longer than half the last cut, so a few rounds suffice whatever the values are.
    while longest > 40 && size(results) > limit {
        longest = longest_string(results).min(longest).div_ceil(2).max(40);
        shortened += cut(results, longest);
    }
    shortened
}

fn longest_string(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest_string).max().unwrap_or(0).max(items.len() * 20),
        Value::Object(fields) => fields.values().map(longest_string).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Cuts strings longer than `longest` bytes and lists of more than `longest / 20` elements, each with a mark.
fn cut(value: &mut Value, longest: usize) -> usize {
    match value {
        Value::String(text) if text.len() > longest => {
            let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            let left = text.len() - end;
            text.truncate(end);
            text.push_str(&format!("… [{left} bytes left out]"));
            1
        }
        Value::Array(items) => {
            let keep = (longest / 20).max(2);
            let mut count = 0;
            if items.len() > keep + 1 {
                let left = items.len() - keep;
                items.truncate(keep);
                items.push(format!("… [{left} elements left out]").into());
                count += 1;
            }
            count + items.iter_mut().map(|item| cut(item, longest)).sum::<usize>()
        }
        Value::Object(fields) => fields.values_mut().map(|field| cut(field, longest)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;
    use serde_json::json;

    #[test]
    fn the_longest_values_are_shortened_first() {
        let mut results = json!({"0": {"short": "stays", "long": "x".repeat(5_000), "list": vec![1; 900]}});
        let shortened = shorten(&mut results, 600, |value| value.to_string().len());
        assert!(shortened >= 2);
        assert!(results.to_string().len() <= 600);
        assert_eq!(results["0"]["short"], "stays");
        assert!(results["0"]["long"].as_str().expect("a string").contains("left out"));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut results = json!({"0": {"text": "x".repeat(100)}});
        let before = results.clone();
        assert_eq!(shorten(&mut results, 1_000, |value| value.to_string().len()), 0);
        assert_eq!(results, before);
    }
}
