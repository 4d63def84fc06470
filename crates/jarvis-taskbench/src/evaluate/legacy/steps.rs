//! The text of steps that ROUGE compares.

use std::borrow::Cow;

use crate::json::{Json, Look, printed};

/// The gold steps, one a line; `None` when they are not a list of text.
pub(crate) fn gold_text(steps: &Json<'_>) -> Option<String> {
    joined(steps.list()?.iter().map(Look::text))
}

/// The predicted steps, whatever they are: texts or objects one a line, the letters of a text one a line, and anything
/// else as it is printed.
pub(crate) fn predicted_text<'v>(steps: &'v Json<'_>) -> Cow<'v, str> {
    let text = match steps.list() {
        Some(items) => match items.first() {
            Some(first) if first.text().is_some() => joined(items.iter().map(Look::text)),
            Some(first) if first.pairs().is_some() => {
                let key = ["task", "step", "id", "step_name"]
                    .into_iter()
                    .find(|key| first.look(key).is_some())
                    .unwrap_or("description");
                joined(items.iter().map(|item| item.look(key).and_then(Look::text)))
            }
            Some(_) | None => None,
        },
        None => steps.text().map(|text| {
            let letters: Vec<String> = text.chars().map(String::from).collect();
            letters.join("\n")
        }),
    };
    text.map_or_else(|| printed(steps), Cow::Owned)
}

fn joined<'v>(texts: impl Iterator<Item = Option<&'v str>>) -> Option<String> {
    let texts: Option<Vec<&str>> = texts.collect();
    Some(texts?.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::predicted_text;
    use crate::evaluate::cases;
    use crate::json::parse;

    #[test]
    fn makes_text_of_any_steps() {
        for (json, expected) in cases::<(String, String)>("legacy_steps") {
            assert_eq!(predicted_text(&parse(json.as_bytes()).unwrap()), expected, "{json}");
        }
    }
}
