//! Paths into results: `.flights[0].number`, and of each element of a list: `.flights[].number`.

use std::fmt;

use serde_json::Value;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An element of a list, from 0.
    Index(usize),
    /// Each element of a list: a task that refers to one runs once for each.
    Each,
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

    /// The path to the list whose elements are meant one by one, if there is such a step.
    pub fn list(&self) -> Option<FieldPath> {
        let at = self.0.iter().position(|step| *step == Step::Each)?;
        Some(FieldPath(self.0.iter().take(at).cloned().collect()))
    }

    /// Whether elements of elements are meant.
    pub(crate) fn is_nested(&self) -> bool {
        self.0.iter().filter(|step| **step == Step::Each).count() > 1
    }

    /// The same path for one element, counted from 0.
    #[must_use]
    pub fn element(&self, index: usize) -> FieldPath {
        let step = |step: &Step| if *step == Step::Each { Step::Index(index) } else { step.clone() };
        FieldPath(self.0.iter().map(step).collect())
    }

    /// The value that it leads to.
    ///
    /// # Errors
    /// When a step leads nowhere; to each element no path leads.
    pub fn get<'v>(&self, value: &'v Value) -> Result<&'v Value, NoSuchField> {
        let mut here = value;
        for (at, step) in self.0.iter().enumerate() {
            let next = match step {
                Step::Field(name) => here.get(name),
                Step::Index(index) => here.get(index),
                Step::Each => None,
            };
            here = next.ok_or_else(|| NoSuchField {
                wanted: FieldPath(self.0.iter().take(at + 1).cloned().collect()).to_string(),
                there: what_there_is(here),
            })?;
        }
        Ok(here)
    }
}

impl FieldPath {
    /// Whether values of a JSON Schema have what the path leads to, as far as the schema says: what it leaves open may be there.
    ///
    /// # Errors
    /// When a step leads to what the schema does not have.
    pub fn fits(&self, schema: &Value) -> Result<(), NoSuchField> {
        self.followed(schema, schema, 0, &mut { MOST_SCHEMAS })
    }

    /// `left` counts down the schemas that may still be looked at: one may lead back to itself, or fork again and again.
    fn followed(&self, root: &Value, schema: &Value, at: usize, left: &mut u32) -> Result<(), NoSuchField> {
        let Some(step) = self.0.get(at) else { return Ok(()) };
        let Some(fewer) = left.checked_sub(1) else { return Ok(()) };
        *left = fewer;
        // References to references would be followed as long as they are followed.
        let schema = schema.get("$ref").and_then(Value::as_str).map_or(Some(schema), |name| definition(root, name));
        let Some(schema) = schema else { return Ok(()) };
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(choices)) = schema.get(key) {
                let mut tries = choices.iter().map(|choice| self.followed(root, choice, at, left));
                let first = tries.next().unwrap_or(Ok(()));
                return if first.is_ok() || tries.any(|found| found.is_ok()) { Ok(()) } else { first };
            }
        }
        let missing = |there: Vec<String>| {
            let wanted = FieldPath(self.0.iter().take(at + 1).cloned().collect()).to_string();
            Err(NoSuchField { wanted, there })
        };
        let named = |name: &str| match schema.get("type") {
            Some(Value::String(own)) => own == name,
            Some(Value::Array(names)) => names.iter().any(|own| own == name),
            _ => true,
        };
        match step {
            Step::Field(_) if !named("object") => {
                missing(vec![if named("array") { "a list" } else { "a single value" }.into()])
            }
            Step::Field(name) => match schema.get("properties").and_then(Value::as_object) {
                Some(fields) if fields.contains_key(name) => {
                    self.followed(root, fields.get(name).unwrap_or(root), at + 1, left)
                }
                Some(fields) if !fields.is_empty() && !is_open(schema) => {
                    missing(fields.keys().take(SHOWN).map(|name| format!("`{name}`")).collect())
                }
                Some(_) | None => Ok(()),
            },
            Step::Index(_) | Step::Each if !named("array") => {
                missing(vec![if named("object") { "an object" } else { "a single value" }.into()])
            }
            Step::Index(_) | Step::Each => {
                schema.get("items").map_or(Ok(()), |items| self.followed(root, items, at + 1, left))
            }
        }
    }
}

/// How many schemas a path is followed through; what lies behind them is left open. Few enough for the stack.
const MOST_SCHEMAS: u32 = 200;

/// Whether a schema says that its objects have more fields than it names.
fn is_open(schema: &Value) -> bool {
    match schema.get("additionalProperties") {
        None | Some(Value::Bool(false)) => schema.get("patternProperties").is_some(),
        Some(_) => true,
    }
}

/// What `#/$defs/name` stands for.
fn definition<'v>(root: &'v Value, name: &str) -> Option<&'v Value> {
    let found = root.pointer(name.strip_prefix('#')?)?;
    found.get("$ref").is_none().then_some(found)
}

fn what_there_is(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().take(SHOWN).map(|name| format!("`{name}`")).collect(),
        Value::Array(items) => vec![format!("a list of {}", items.len())],
        Value::Null => vec!["nothing".to_owned()],
        Value::Bool(_) | Value::Number(_) | Value::String(_) => vec!["a single value".to_owned()],
    }
}

/// `.name`, `[3]` or `[]` at the start of a text, and its length. `[*]` is the other spelling of `[]`.
fn step(text: &str) -> Option<(Step, usize)> {
    if let Some(each) = ["[]", "[*]"].into_iter().find(|each| text.starts_with(each)) {
        return Some((Step::Each, each.len()));
    }
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
            Step::Each => f.write_str("[]"),
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
        check(".flights[*].number", 18, Err("there is no `.flights[]`; there is a list of 2"));
        check(".5kg", 0, Ok(value.clone()));
        check(".price", 6, Err("there is no `.price`; there is `flights`, `größe`"));
        check(".flights[7]", 11, Err("there is no `.flights[7]`; there is a list of 2"));
        check(".flights[0].ok.x", 16, Err("there is no `.flights[0].ok.x`; there is nothing"));
    }

    #[test]
    fn a_path_of_each_element_is_one_of_an_element() {
        let path = FieldPath::at_start(".legs[].flights[2].number").0;
        assert_eq!(path.to_string(), ".legs[].flights[2].number");
        assert_eq!(path.list().map(|list| list.to_string()).as_deref(), Some(".legs"));
        assert_eq!(path.element(4).to_string(), ".legs[4].flights[2].number");
        assert_eq!(FieldPath::at_start(".legs").0.list(), None);
    }

    #[test]
    fn paths_are_held_against_what_a_schema_says() {
        let flight =
            json!({"type": "object", "properties": {"number": {"type": "string"}, "seat": {"$ref": "#/$defs/seat"}}});
        let schema = json!({
            "type": "object",
            "properties": {
                "flights": {"type": "array", "items": flight},
                "extra": {"type": "object", "properties": {"a": {}}, "additionalProperties": true},
                "any": {},
                "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {}}}]},
            },
            "$defs": {"seat": {"type": "object", "properties": {"row": {"type": "integer"}, "next": {"$ref": "#/$defs/seat"}}}},
        });
        let check = |text: &str, problem: Option<&str>| {
            let found = FieldPath::at_start(text).0.fits(&schema).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), problem, "{text}");
        };
        check(".flights[3].number", None);
        check(".flights[0].seat.next.next.row", None);
        check(".extra.b.c", None);
        check(".any[0].thing", None);
        check(".either.x", None);
        check(".flights[].number", None);
        check(".extra[]", Some("there is no `.extra[]`; there is an object"));
        check(".flight", Some("there is no `.flight`; there is `flights`, `extra`, `any`, `either`"));
        check(".flights.number", Some("there is no `.flights.number`; there is a list"));
        // Schemas that lead back to themselves, or fork at every step, end.
        let forks = json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}]},
                      "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}});
        for schema in [json!({"anyOf": [{"anyOf": [{"$ref": "#"}]}]}), forks] {
            assert_eq!(FieldPath::at_start(".x").0.fits(&schema), Ok(()), "{schema}");
        }
        check(".flights[0].price", Some("there is no `.flights[0].price`; there is `number`, `seat`"));
        check(".flights[0].number.x", Some("there is no `.flights[0].number.x`; there is a single value"));
        check("[0]", Some("there is no `[0]`; there is an object"));
        check(".either.y", Some("there is no `.either.y`; there is a single value"));
    }
}
