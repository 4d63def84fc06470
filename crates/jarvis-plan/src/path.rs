//! Paths into results: `.flights[0].number`.

use std::fmt;

use serde_json::Value;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An element of a list, from 0.
    Index(usize),
}

/// A path into a JSON value; never empty where a reference has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldPath(pub Vec<Step>);

/// A path leads nowhere: what is missing, and what there is instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no `{wanted}`{}", there_is(.there))]
pub struct NoSuchField {
    /// The path as far as it was followed, its last step the one that is missing.
    pub wanted: String,
    /// What is there: names of fields, or the length of the list.
    pub there: Vec<String>,
}

fn there_is(there: &[String]) -> String {
    match there {
        [] => String::new(),
        there => format!("; there is {}", there.join(", ")),
    }
}

/// The most steps that are read; longer ones are text.
const MAX_STEPS: usize = 16;

/// The most names of an error.
const SHOWN: usize = 12;

impl FieldPath {
    /// Reads the path at the start of a text: the path, empty where there is none, and its length in bytes.
    pub fn at_start(text: &str) -> (FieldPath, usize) {
        let mut steps = Vec::new();
        let mut at = 0;
        while steps.len() < MAX_STEPS
            && let Some((step, length)) = text.get(at..).and_then(step)
        {
            steps.push(step);
            at += length;
        }
        (FieldPath(steps), at)
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that it leads to.
    ///
    /// # Errors
    /// When a step leads nowhere.
    pub fn get<'v>(&self, value: &'v Value) -> Result<&'v Value, NoSuchField> {
        let mut here = value;
        for (at, step) in self.0.iter().enumerate() {
            let next = match step {
                Step::Field(name) => here.get(name),
                Step::Index(index) => here.get(index),
            };
            here = next.ok_or_else(|| NoSuchField {
                wanted: FieldPath(self.0.iter().take(at + 1).cloned().collect()).to_string(),
                there: what_there_is(here),
            })?;
        }
        Ok(here)
    }
}

fn what_there_is(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().take(SHOWN).map(|name| format!("`{name}`")).collect(),
        Value::Array(items) => vec![format!("a list of {}", items.len())],
        Value::Null => vec!["nothing".to_owned()],
        Value::Bool(_) | Value::Number(_) | Value::String(_) => vec!["a single value".to_owned()],
    }
}

/// `.name` or `[3]` at the start of a text, and its length.
fn step(text: &str) -> Option<(Step, usize)> {
    if let Some(rest) = text.strip_prefix('[') {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let index = rest.get(..digits)?.parse().ok()?;
        return rest.get(digits..)?.starts_with(']').then_some((Step::Index(index), digits + 2));
    }
    let rest = text.strip_prefix('.')?;
    let letters = |c: char| c.is_alphanumeric() || c == '_';
    let name = rest.split(|c| !letters(c)).next().filter(|name| !name.is_empty())?;
    // `.0` is the other spelling of `[0]`.
    let step = match name.parse() {
        Ok(index) => Step::Index(index),
        Err(_) if name.starts_with(|c: char| c.is_ascii_digit()) => return None,
        Err(_) => Step::Field(name.to_owned()),
    };
    Some((step, 1 + name.len()))
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_read_and_followed() {
        let value = json!({"flights": [{"number": "LH1", "ok": null}, {"number": "LH2"}], "größe": 3});
        let check = |text: &str, length: usize, found: Result<Value, &str>| {
            let (path, read) = FieldPath::at_start(text);
            assert_eq!(read, length, "{text}");
            let got = path.get(&value).cloned().map_err(|error| error.to_string());
            assert_eq!(got, found.map_err(str::to_owned), "{text}");
        };
        check("", 0, Ok(value.clone()));
        check(".flights[1].number", 18, Ok(json!("LH2")));
        check(".flights.0.number.", 17, Ok(json!("LH1")));
        check(".größe is", 8, Ok(json!(3)));
        check(". Then", 0, Ok(value.clone()));
        check("[x]", 0, Ok(value.clone()));
        check(".5kg", 0, Ok(value.clone()));
        check(".price", 6, Err("there is no `.price`; there is `flights`, `größe`"));
        check(".flights[7]", 11, Err("there is no `.flights[7]`; there is a list of 2"));
        check(".flights[0].ok.x", 16, Err("there is no `.flights[0].ok.x`; there is nothing"));
    }
}
