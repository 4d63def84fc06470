//! The report as one JSON document.

use serde_json::{Value, json};

use super::{Report, Row, notes};

/// `{"planner", "rows": [{"set", "form", "plans", "floor", "samples", "missing", "figures", …}], "notes"}`; with
/// `with_samples` also `samples`, a line for each with its reasons.
pub fn document(report: &Report, with_samples: bool) -> Value {
    let row = |row: &Row| {
        let mut made = json!({"set": row.set, "form": row.form.map(|form| form.as_str()), "plans": row.plans,
            "floor": row.is_floor, "samples": row.figures.samples, "missing": row.figures.missing,
            "figures": row.figures.to_value(row.form)});
        if let (Some(spent), Some(fields)) = (&row.spent, made.as_object_mut()) {
            fields.insert("plans_per_second".into(), spent.rate().into());
            fields.insert("calls".into(), spent.calls.into());
            fields.insert("prompt_tokens".into(), spent.prompt_tokens.into());
            fields.insert("completion_tokens".into(), spent.completion_tokens.into());
            fields.insert("cost".into(), report.cost(spent).into());
        }
        made
    };
    let rows: Vec<Value> = report.rows.iter().map(row).collect();
    let mut made = json!({"planner": report.planner, "rows": rows, "notes": notes(report)});
    if let (true, Some(fields)) = (with_samples, made.as_object_mut()) {
        let samples = report.samples.iter().flat_map(|(set, scores)| scores.iter().map(|score| score.to_value(set)));
        fields.insert("samples".into(), samples.collect());
    }
    made
}
