//! Templates of observations: fields of the answer in braces, filled in one pass.

use serde_json::Value;

/// The template with each `{field}` replaced by that field of the answer; `{a.b}` and `{rows.0}` go deeper. What is no field
/// of the answer stays as it is, and values are not expanded again.
pub(crate) fn fill(template: &str, answer: &Value) -> String {
    let mut told = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        told.push_str(before);
        match after.split_once('}').and_then(|(name, tail)| Some((field(answer, name)?, tail))) {
            Some((value, tail)) => {
                match value {
                    Value::String(text) => told.push_str(text),
                    other => told.push_str(&other.to_string()),
                }
                rest = tail;
            }
            None => {
                told.push('{');
                rest = after;
            }
        }
    }
    told.push_str(rest);
    told
}

fn field<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    if let Some(found) = answer.get(name) {
        return Some(found);
    }
    name.split('.').try_fold(answer, |value, step| match value {
        Value::Array(rows) => rows.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_filled_in_once() {
        let answer = json!({"result": 15, "text": "{result}", "a": {"b": [true, null]}, "x.y": 1});
        for (template, told) in [
            ("Addition Result: {result}", "Addition Result: 15"),
            ("{text} and {result}", "{result} and 15"),
            ("{a.b.0} {a.b.1} {a.b.2} {x.y}", "true null {a.b.2} 1"),
            ("{unknown} {} {{result}}", "{unknown} {} {15}"),
            ("open {result", "open {result"),
            ("", ""),
        ] {
            assert_eq!(fill(template, &answer), told);
        }
    }
}
