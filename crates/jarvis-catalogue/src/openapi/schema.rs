//! What values may be: the part of a JSON Schema that calls need, references followed.

use serde_json::{Map, Value};

use super::refs::{name, number, resolve, text, truth};

/// How deep schemas are read. What lies deeper may be anything.
const MAX_DEPTH: usize = 8;

/// The most schemas that are read for one parameter or reply. What is beyond may be anything.
const MAX_NODES: usize = 4000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaKind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    #[default]
    Any,
}

/// The word of the specification for each type, and the words of messages.
const WORDS: [(SchemaKind, &str, &str); 7] = [
    (SchemaKind::Text, "string", "a text"),
    (SchemaKind::Integer, "integer", "an integer"),
    (SchemaKind::Number, "number", "a number"),
    (SchemaKind::Boolean, "boolean", "true or false"),
    (SchemaKind::List, "array", "a list"),
    (SchemaKind::Object, "object", "an object"),
    (SchemaKind::Any, "", "a value"),
];

impl SchemaKind {
    fn words(self) -> (&'static str, &'static str) {
        WORDS.iter().find(|(kind, ..)| *kind == self).map_or(("", "a value"), |(_, word, wanted)| (word, wanted))
    }

    /// The word of the specification; empty for anything.
    pub fn word(self) -> &'static str {
        self.words().0
    }

    fn of_word(word: &str) -> SchemaKind {
        // Swagger's word for an upload.
        let word = if word.trim() == "file" { "string" } else { word.trim() };
        WORDS.iter().find(|(_, known, _)| *known == word).map(|(kind, ..)| *kind).unwrap_or_default()
    }

    fn of_value(value: &Value) -> SchemaKind {
        match value {
            Value::Null => SchemaKind::Any,
            Value::Bool(_) => SchemaKind::Boolean,
            Value::Number(number) if number.is_f64() => SchemaKind::Number,
            Value::Number(_) => SchemaKind::Integer,
            Value::String(_) => SchemaKind::Text,
            Value::Array(_) => SchemaKind::List,
            Value::Object(_) => SchemaKind::Object,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    pub kind: SchemaKind,
    /// It may be of another type too: the document gives several.
    pub loose: bool,
    pub nullable: bool,
    /// A closer word for the type, such as `date`; empty where there is none.
    pub format: String,
    /// `contentMediaType` and `contentEncoding`, which say what bytes a text stands for; empty where they say nothing.
    pub media_type: String,
    pub encoding: String,
    pub description: String,
    /// The only values that it may have; empty when any may be.
    pub enumeration: Vec<Value>,
    /// What it is when it is not given; of its type.
    pub default: Option<Value>,
    /// A value that it could have; of its type.
    pub example: Option<Value>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    /// What else it says of values, word for word: `pattern`, `minLength` and the like. Calls are checked by it.
    pub checks: Map<String, Value>,
    pub items: Option<Box<Schema>>,
    /// What an object holds, in the document's order.
    pub properties: Vec<(String, Schema)>,
    /// Which of them an object always has.
    pub required: Vec<String>,
}

impl Schema {
    /// Reads a JSON Schema that stands alone, references within it followed.
    pub fn of_json_schema(schema: &Value) -> Schema {
        Schema::read(schema, schema)
    }

    pub(super) fn read(root: &Value, value: &Value) -> Schema {
        Reader { root, open: Vec::new(), nodes: 0 }.schema(value, 0)
    }

    pub fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.iter().find(|(key, _)| key == name).map(|(_, schema)| schema)
    }

    /// The value as this type has it: `"20"` becomes 20 for an integer, 5 becomes `"5"` for a text, `"a,b"` a list.
    ///
    /// # Errors
    /// Says what is wanted, and what is there.
    pub fn accept(&self, value: &Value) -> Result<Value, String> {
        if value.is_null() && self.nullable {
            return Ok(Value::Null);
        }
        let converted = match self.converted(value) {
            Some(converted) => converted,
            None if self.loose => value.clone(),
            None => return Err(format!("should be {}, not {}", self.wanted(), shown(value))),
        };
        if !self.enumeration.is_empty() && !self.enumeration.iter().any(|one| same(one, &converted)) {
            return Err(format!("should be {}, not {}", self.wanted(), shown(value)));
        }
        if let Some(number) = converted.as_f64() {
            let low = self.minimum.filter(|least| number < *least).map(|least| format!("at least {least}"));
            let high = self.maximum.filter(|most| number > *most).map(|most| format!("at most {most}"));
            if let Some(bound) = low.or(high) {
                return Err(format!("should be {bound}, not {number}"));
            }
        }
        match (&converted, &self.items) {
            (Value::Array(rows), Some(items)) => {
                let rows: Result<Vec<Value>, String> = rows.iter().map(|row| items.accept(row)).collect();
                rows.map(Value::Array).map_err(|reason| format!("holds an element that {reason}"))
            }
            (Value::Object(fields), _) if !self.properties.is_empty() => {
                for name in self.required.iter().filter(|name| self.property(name).is_some()) {
                    if !fields.contains_key(name) {
                        return Err(format!("lacks `{name}`"));
                    }
                }
                let mut accepted = Map::new();
                for (name, field) in fields {
                    let field = match self.property(name) {
                        Some(schema) => {
                            schema.accept(field).map_err(|reason| format!("has a `{name}` that {reason}"))?
                        }
                        None => field.clone(),
                    };
                    accepted.insert(name.clone(), field);
                }
                Ok(Value::Object(accepted))
            }
            _ => Ok(converted),
        }
    }

    pub fn wanted(&self) -> String {
        if !self.enumeration.is_empty() {
            let all: Vec<String> = self.enumeration.iter().take(20).map(shown).collect();
            return format!("one of {}", all.join(", "));
        }
        self.kind.words().1.into()
    }

    fn converted(&self, value: &Value) -> Option<Value> {
        let plain = |value: &Value| value.as_str().map(str::trim).map(str::to_owned);
        match self.kind {
            SchemaKind::Any => Some(value.clone()),
            SchemaKind::Text => match value {
                Value::String(_) => Some(value.clone()),
                Value::Number(number) => Some(number.to_string().into()),
                Value::Bool(truth) => Some(truth.to_string().into()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            },
            SchemaKind::Integer => match value {
                Value::Number(number) => match number.as_f64() {
                    Some(_) if !number.is_f64() => Some(value.clone()),
                    Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => Some((float as i64).into()),
                    Some(_) | None => None,
                },
                _ => {
                    let text = plain(value)?;
                    let digits = text.strip_prefix('-').unwrap_or(&text);
                    // Longer ones stay a text, so that no digit is lost.
                    let long = (19..=400).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
                    text.parse::<i64>().ok().map(Value::from).or(long.then(|| text.into()))
                }
            },
            SchemaKind::Number => match value {
                Value::Number(_) => Some(value.clone()),
                _ => {
                    let text = plain(value)?;
                    match text.parse::<i64>() {
                        Ok(whole) => Some(whole.into()),
                        Err(_) => text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Value::from),
                    }
                }
            },
            SchemaKind::Boolean => truth(Some(value)).map(Value::Bool),
            SchemaKind::List => match value {
                Value::Array(_) => Some(value.clone()),
                Value::String(text) => Some(Value::Array(
                    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::from).collect(),
                )),
                Value::Number(_) | Value::Bool(_) => Some(Value::Array(vec![value.clone()])),
                Value::Null | Value::Object(_) => None,
            },
            SchemaKind::Object => value.is_object().then(|| value.clone()),
        }
    }

    /// Takes what another schema says where this one says nothing: the parts of `allOf`.
    fn merge(&mut self, other: Schema) {
        if self.kind == SchemaKind::Any {
            self.kind = other.kind;
        }
        self.nullable |= other.nullable;
        self.loose |= other.loose;
        let fill = |own: &mut String, theirs: String| {
            if own.is_empty() {
                *own = theirs;
            }
        };
        fill(&mut self.format, other.format);
        fill(&mut self.description, other.description);
        if self.enumeration.is_empty() {
            self.enumeration = other.enumeration;
        }
        self.default = self.default.take().or(other.default);
        self.example = self.example.take().or(other.example);
        self.minimum = self.minimum.or(other.minimum);
        self.maximum = self.maximum.or(other.maximum);
        for (word, value) in other.checks {
            self.checks.entry(word).or_insert(value);
        }
        self.items = self.items.take().or(other.items);
        for (name, schema) in other.properties {
            match self.properties.iter_mut().find(|(own, _)| *own == name) {
                Some((_, own)) => own.merge(schema),
                None => self.properties.push((name, schema)),
            }
        }
        self.required.extend(other.required);
    }
}

/// The words that bound values and of which no other field of a [`Schema`] tells. What is no such word is left out: it would
/// make the whole schema check nothing.
fn checks(fields: &Map<String, Value>) -> Map<String, Value> {
    const WORDS: [&str; 8] =
        ["pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "multipleOf", "exclusiveMinimum"];
    let mut checks = Map::new();
    for word in WORDS.into_iter().chain(["exclusiveMaximum"]) {
        let Some(value) = fields.get(word) else { continue };
        // In OpenAPI 3.0 `exclusiveMinimum: true` says how `minimum` is meant.
        let value = match (word, value) {
            ("exclusiveMinimum", Value::Bool(true)) => fields.get("minimum").cloned(),
            ("exclusiveMaximum", Value::Bool(true)) => fields.get("maximum").cloned(),
            _ => Some(value.clone()),
        };
        let sound = |value: &Value| {
            let alone: Map<String, Value> = [(word.to_owned(), value.clone())].into_iter().collect();
            jarvis_plan::schema::Checker::new(&Value::Object(alone)).is_some()
        };
        if let Some(value) = value.filter(sound) {
            checks.insert(word.to_owned(), value);
        }
    }
    checks
}

/// Whether two values are the same where `5` and `"5"` are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            *text == number.to_string()
        }
        (one, other) => one == other,
    }
}

/// A value in a message: short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(&text)),
        None => text,
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// The references that are being read, to see circles.
    open: Vec<String>,
    nodes: usize,
}

impl Reader<'_> {
    fn schema(&mut self, value: &Value, depth: usize) -> Schema {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Schema::default();
        }
        let Some(reference) = name(value) else {
            return self.fields(value, depth);
        };
        if self.open.iter().any(|open| open == reference) {
            return Schema::default();
        }
        let Some(target) = resolve(self.root, value) else {
            return Schema::default();
        };
        self.open.push(reference.to_owned());
        let schema = self.fields(target, depth);
        self.open.pop();
        schema
    }

    fn fields(&mut self, value: &Value, depth: usize) -> Schema {
        let Some(fields) = value.as_object() else {
            return Schema::default();
        };
        let mut schema = Schema {
            nullable: truth(fields.get("nullable")).unwrap_or(false),
            format: text(fields.get("format")),
            media_type: text(fields.get("contentMediaType")),
            encoding: text(fields.get("contentEncoding")),
            description: text(fields.get("description")),
            enumeration: fields.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            minimum: number(fields.get("minimum")).or_else(|| number(fields.get("exclusiveMinimum"))),
            maximum: number(fields.get("maximum")).or_else(|| number(fields.get("exclusiveMaximum"))),
            checks: checks(fields),
            ..Schema::default()
        };
        match fields.get("type") {
            Some(Value::Array(kinds)) => {
                let words = || kinds.iter().filter_map(Value::as_str);
                schema.nullable |= words().any(|word| word == "null");
                let mut others = words().filter(|word| *word != "null").map(SchemaKind::of_word);
                schema.kind = others.next().unwrap_or_default();
                schema.loose = others.next().is_some();
            }
            kind => schema.kind = SchemaKind::of_word(&text(kind)),
        }
        if let Some(constant) = fields.get("const") {
            schema.enumeration = vec![constant.clone()];
        }
        schema.nullable |= schema.enumeration.iter().any(Value::is_null);
        schema.required = fields
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        for (name, property) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let property = self.schema(property, depth + 1);
            schema.properties.push((name.clone(), property));
        }
        if let Some(items) = fields.get("items") {
            schema.items = Some(Box::new(self.schema(items, depth + 1)));
        }
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let part = self.schema(part, depth + 1);
            schema.merge(part);
        }
        for word in ["oneOf", "anyOf"] {
            self.alternatives(&mut schema, fields.get(word), depth);
        }
        if schema.kind == SchemaKind::Any {
            let first = schema.enumeration.iter().find(|one| !one.is_null());
            schema.kind = match () {
                () if !schema.properties.is_empty() => SchemaKind::Object,
                () if schema.items.is_some() => SchemaKind::List,
                () => first.map(SchemaKind::of_value).unwrap_or_default(),
            };
        }
        let first = || fields.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
        let example = fields.get("example").or_else(first).filter(|example| !example.is_null());
        schema.example = example.and_then(|example| schema.accept(example).ok()).or(schema.example);
        let default = fields.get("default").filter(|default| !default.is_null());
        schema.default = default.and_then(|default| schema.accept(default).ok()).or(schema.default);
        schema
    }

    /// Takes the first of several alternatives, and lets others pass.
    fn alternatives(&mut self, schema: &mut Schema, all: Option<&Value>, depth: usize) {
        let mut read = Vec::new();
        for one in all.and_then(Value::as_array).into_iter().flatten() {
            if one.get("type").and_then(Value::as_str) == Some("null") {
                schema.nullable = true;
            } else {
                read.push(self.schema(one, depth + 1));
            }
        }
        let several = read.len() > 1;
        if let Some(mut first) = (!read.is_empty()).then(|| read.swap_remove(0)) {
            if several {
                // Only the type of the first is known to hold, and of others nothing.
                schema.loose = true;
                first.required = Vec::new();
                first.enumeration = Vec::new();
                first.checks = Map::new();
            }
            schema.merge(first);
        }
    }
}
