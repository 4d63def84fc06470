//! Slots: values for named parameters, found in a clause by type, by the words beside them, and by meaning of the name.
//!
//! [`values`] finds what a clause holds, [`wants`] reads what a parameter asks for from its name, description and
//! schema, [`fit`] weighs the one against the other. This module hands each value out once, the best match first.

mod fit;
mod found;
mod measures;
mod phrases;
mod values;
mod wants;

use jarvis_plan::{Param, Tool};
use serde_json::Value;

use crate::clauses::Clause;
use crate::numerals::{self, Marks};
use crate::words;

use fit::Candidate;
use found::Shape;
use values::find;
use wants::Want;
use wants::wanted;

/// The least that a value must score for a parameter that a call needs, and for one that may be left out.
const LEAST_REQUIRED: f32 = 0.3;
const LEAST_OPTIONAL: f32 = 0.55;

/// Values for those of `params` that something in the clause fits, each value used once.
pub(crate) fn fill(tool: &Tool, params: &[&Param], clause: &Clause, request: &str) -> Vec<(String, String)> {
    if params.is_empty() {
        return Vec::new();
    }
    let found = find(clause, request);
    let nouns = fit::tool_nouns(tool);
    let wants: Vec<Want> = params.iter().map(|param| Want::of(tool, param)).collect();
    let mut values: Vec<Option<String>> = params.iter().map(|param| by_schema(param, clause, request)).collect();
    let mut fits: Vec<(usize, Candidate)> = Vec::new();
    for (p, want) in wants.iter().enumerate() {
        if values.get(p).is_some_and(Option::is_none) {
            fits.extend(fit::candidates(want, &nouns, &found, clause, request).into_iter().map(|fit| (p, fit)));
        }
    }
    if wants.iter().any(|want| matches!(want.shape, Some(Shape::Date | Shape::Time))) {
        fits.iter_mut().for_each(|(_, candidate)| candidate.cut_date(&found));
    }
    fits.sort_by(|(p, a), (q, b)| b.score.total_cmp(&a.score).then(p.cmp(q)).then(a.start.cmp(&b.start)));
    let mut used: Vec<(usize, usize)> = Vec::new();
    for (p, candidate) in fits {
        let (Some(param), Some(slot)) = (params.get(p), values.get_mut(p)) else { continue };
        let least = if param.required { LEAST_REQUIRED } else { LEAST_OPTIONAL };
        let free = used.iter().all(|(start, end)| candidate.end <= *start || *end <= candidate.start);
        if slot.is_none() && free && candidate.score >= least {
            used.push((candidate.start, candidate.end));
            *slot = Some(written(param, candidate.text, request));
        }
    }
    // What is quoted or attached belongs to the call: the one left over goes where one value is still missing.
    let mut missing = params.iter().zip(&wants).zip(&mut values).filter(|((param, want), value)| {
        value.is_none() && param.required && want.shape.is_none() && want.takes_any_text()
    });
    if let (Some((_, slot)), None) = (missing.next(), missing.next()) {
        let mut left = found.iter().filter(|value| {
            matches!(value.shape, Shape::Quote | Shape::Path | Shape::Url)
                && used.iter().all(|(start, end)| value.end <= *start || *end <= value.start)
        });
        if let (Some(value), None) = (left.next(), left.next()) {
            *slot = Some(value.text.clone());
        }
    }
    params.iter().zip(values).filter_map(|(param, value)| Some((param.name.clone(), value?))).collect()
}

/// The same of numbers alone, each with a unit that the parameter measures in.
pub(crate) fn measured(tool: &Tool, params: &[&Param], clause: &Clause, request: &str) -> Vec<(String, String)> {
    let measures = |param: &&&Param| counts(param) && Want::of(tool, param).measure.is_some();
    let params: Vec<&Param> = params.iter().filter(measures).copied().collect();
    if params.is_empty()
        || !clause.text(request).contains(|c: char| c.is_ascii_digit())
        || !find(clause, request).iter().any(|value| value.measure.is_some())
    {
        return Vec::new();
    }
    fill(tool, &params, clause, request)
}

/// Whether each of two texts holds one number of the same sort and says more of it: "350 degrees in Celsius", "77 kelvin in Fahrenheit"; but
/// neither "2 hours" and "30 minutes" nor "4 metres long" and "3 metres wide".
pub(crate) fn measure_alike(one: &str, two: &str) -> bool {
    matches!((measures::only(one), measures::only(two)), (Some(one), Some(two)) if one.is_like(&two))
}

/// Whether a parameter takes a name or other words, and nothing of a form such as a date or a number.
pub(crate) fn takes_words(param: &Param) -> bool {
    wanted(param).is_none() && param.schema.as_ref().is_none_or(|schema| schema.get("enum").is_none())
}

/// Whether a parameter takes a number.
pub(crate) fn counts(param: &Param) -> bool {
    wanted(param) == Some(Shape::Number)
}

/// An enumerated value that the clause speaks, or a yes where a flag's own name is spoken.
fn by_schema(param: &Param, clause: &Clause, request: &str) -> Option<String> {
    let schema = param.schema.as_ref()?;
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let text = clause.text(request).to_lowercase();
        let stems: Vec<&str> = clause.tokens.iter().map(|token| token.stem.as_str()).collect();
        // "Extra large" says more than "large".
        let matched_words = |option: &str| {
            let lower = option.to_lowercase();
            let spoken = words::stems(&words::spell_out(&lower));
            let all = !spoken.is_empty() && spoken.iter().all(|word| stems.contains(&word.as_str()));
            (all || (!lower.is_ascii() && text.contains(&lower))).then_some(spoken.len())
        };
        let options = options.iter().filter_map(Value::as_str).rev();
        return options
            .filter_map(|option| Some((matched_words(option)?, option)))
            .max_by_key(|(words, _)| *words)
            .map(|(_, option)| option.to_owned());
    }
    if schema.get("type").and_then(Value::as_str) == Some("boolean") {
        let words = words::stems(&words::spell_out(&param.name));
        return words
            .iter()
            .all(|word| clause.tokens.iter().any(|token| token.stem == *word))
            .then(|| "true".to_owned());
    }
    None
}

/// A value as the parameter wants it written: numbers without signs and thousands separators.
fn written(param: &Param, text: String, request: &str) -> String {
    if wanted(param) == Some(Shape::Number) {
        let sign = if text.starts_with("minus ") { "-" } else { "" };
        return format!("{sign}{}", numerals::plain(&text, Marks::of(request)));
    }
    text
}

#[cfg(test)]
mod tests;
