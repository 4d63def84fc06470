//! The text of a plan's steps, whatever shape they have: what ROUGE is measured on.

use super::canonical::value_text;
use crate::json::{Json, Look, entries};

/// Where the text of a step given as an object is looked for, in this order; else all its texts count.
const KEYS: [&str; 9] =
    ["description", "text", "content", "instruction", "task_step", "step", "task", "step_name", "name"];

/// The steps, one a line, and whether they had to be repaired: a list of texts needs none.
pub(super) fn step_text(steps: &Json<'_>) -> (String, bool) {
    match steps {
        Json::Null => (String::new(), false),
        Json::Array(items) => {
            let plain = items.iter().all(|item| item.text().is_some());
            let lines: Vec<String> = items.iter().map(one).filter(|line| !line.is_empty()).collect();
            (lines.join("\n"), !plain)
        }
        Json::Str(text) => (text.to_string(), !text.is_empty()),
        // One step, or steps by number or name.
        Json::Object(pairs) if KEYS.iter().all(|key| steps.look(key).is_none()) => {
            let lines: Vec<String> = entries(pairs).into_values().map(one).filter(|line| !line.is_empty()).collect();
            (lines.join("\n"), !pairs.is_empty())
        }
        Json::Object(_) => (one(steps), true),
        Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => (value_text(steps).into_owned(), true),
    }
}

fn one(step: &Json<'_>) -> String {
    match step {
        Json::Null => String::new(),
        Json::Str(text) => text.to_string(),
        Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => value_text(step).into_owned(),
        Json::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Look::text).collect();
            texts.join(" ")
        }
        Json::Object(pairs) => match KEYS.iter().find_map(|key| step.look(key)?.text()) {
            Some(text) => text.to_owned(),
            None => {
                let texts: Vec<&str> = entries(pairs).into_values().filter_map(Look::text).collect();
                texts.join(" ")
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::step_text;
    use crate::evaluate::cases;
    use crate::json::parse;

    #[test]
    fn texts_of_all_shapes() {
        for (json, text, repaired) in cases::<(String, String, bool)>("strict_steps") {
            assert_eq!(step_text(&parse(json.as_bytes()).unwrap()), (text, repaired), "{json}");
        }
    }
}
