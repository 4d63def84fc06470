//! The JSON Schema of a message, and an input made up after it.

use jarvis_catalogue::openapi::Schema;
use jarvis_plan::Effect;
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};
use serde_json::{Map, Value, json};

use crate::untrusted::{self, Found};

/// How deep messages are described. What lies deeper is an object without properties.
const MAX_DEPTH: usize = 6;

/// The most fields that are described of one message, nested ones included.
const MAX_FIELDS: usize = 400;

/// The longest comment that is taken over, in characters.
const MAX_COMMENT: usize = 400;

/// The JSON Schema of a message, as its JSON form is: names of the `.proto` file, 64-bit numbers as numbers or texts, bytes
/// in base64.
pub fn schema_of(message: &MessageDescriptor) -> Value {
    Teller { open: Vec::new(), fields: 0, one_choice: false }.message(message)
}

/// What a method does to the world: nothing where it says so (`idempotency_level = NO_SIDE_EFFECTS`), else it writes.
pub fn effect_of(method: &MethodDescriptor) -> Effect {
    let proto = method.method_descriptor_proto();
    match proto.options.as_ref().map(|options| options.idempotency_level()) {
        Some(IdempotencyLevel::NoSideEffects) => Effect::Reads,
        Some(IdempotencyLevel::IdempotencyUnknown | IdempotencyLevel::Idempotent) | None => Effect::Writes,
    }
}

/// An input that a message can be made of; `{}` where none can be made up.
pub fn example_of(message: &MessageDescriptor) -> Value {
    let schema = Teller { open: Vec::new(), fields: 0, one_choice: true }.message(message);
    let example = Schema::of_json_schema(&schema).full_sample("");
    match DynamicMessage::deserialize(message.clone(), &example) {
        Ok(_) => example,
        Err(_) => json!({}),
    }
}

struct Teller {
    /// The messages being described, to detect cycles.
    open: Vec<String>,
    fields: usize,
    /// Describes only the first field of a oneof.
    one_choice: bool,
}

impl Teller {
    fn message(&mut self, message: &MessageDescriptor) -> Value {
        let name = message.full_name();
        if let Some(known) = well_known(name) {
            return known;
        }
        if self.open.len() >= MAX_DEPTH || self.open.iter().any(|open| open == name) || self.fields >= MAX_FIELDS {
            return json!({"type": "object"});
        }
        self.open.push(name.to_owned());
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in message.fields() {
            let later = field.containing_oneof().is_some_and(|oneof| {
                oneof.fields().next().is_some_and(|first| first.number() != field.number()) && !is_optional(&field)
            });
            if (later && self.one_choice) || self.fields >= MAX_FIELDS {
                continue;
            }
            self.fields += 1;
            let mut schema = self.field(&field);
            if let (Some(comment), Some(fields)) = (comment(&field), schema.as_object_mut()) {
                fields.entry("description").or_insert(comment.into());
            }
            properties.insert(field.name().to_owned(), schema);
            if field.is_required() {
                required.push(Value::from(field.name()));
            }
        }
        self.open.pop();
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if let (false, Some(fields)) = (required.is_empty(), schema.as_object_mut()) {
            fields.insert("required".into(), required.into());
        }
        schema
    }

    fn field(&mut self, field: &FieldDescriptor) -> Value {
        if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
            let value = self.kind(&entry.map_entry_value_field().kind());
            return json!({"type": "object", "additionalProperties": value});
        }
        let one = self.kind(&field.kind());
        if field.is_list() { json!({"type": "array", "items": one}) } else { one }
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Double | Kind::Float => json!({"type": "number"}),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                json!({"type": "integer"})
            }
            Kind::Uint32 | Kind::Fixed32 | Kind::Uint64 | Kind::Fixed64 => json!({"type": "integer", "minimum": 0}),
            Kind::Bool => json!({"type": "boolean"}),
            Kind::String => json!({"type": "string"}),
            Kind::Bytes => json!({"type": "string", "format": "byte", "contentEncoding": "base64"}),
            Kind::Enum(of) => {
                let names: Vec<String> = of.values().take(200).map(|value| value.name().to_owned()).collect();
                json!({"type": "string", "enum": names})
            }
            Kind::Message(of) => self.message(of),
        }
    }
}

/// Whether a field stands in a oneof of its own, as `optional` fields do.
fn is_optional(field: &FieldDescriptor) -> bool {
    field.containing_oneof().is_some_and(|oneof| oneof.fields().len() == 1)
}

/// Messages whose JSON form is not that of their fields.
fn well_known(name: &str) -> Option<Value> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "Timestamp" => json!({"type": "string", "format": "date-time"}),
        "Duration" => json!({"type": "string", "examples": ["1.5s"], "description": "seconds, followed by `s`"}),
        "FieldMask" => json!({"type": "string"}),
        "Struct" => json!({"type": "object"}),
        "Value" => json!({}),
        "ListValue" => json!({"type": "array"}),
        "Empty" => json!({"type": "object", "properties": {}, "additionalProperties": false}),
        "Any" => json!({"type": "object", "properties": {"@type": {"type": "string"}}, "required": ["@type"]}),
        "BoolValue" => json!({"type": ["boolean", "null"]}),
        "StringValue" => json!({"type": ["string", "null"]}),
        "BytesValue" => json!({"type": ["string", "null"], "format": "byte", "contentEncoding": "base64"}),
        "FloatValue" | "DoubleValue" => json!({"type": ["number", "null"]}),
        "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" => json!({"type": ["integer", "null"]}),
        _ => return None,
    })
}

/// The comment before a field, where the descriptors have comments.
fn comment(field: &FieldDescriptor) -> Option<String> {
    let file = field.parent_file();
    let source = file.file_descriptor_proto().source_code_info.as_ref()?;
    let location = source.location.iter().find(|location| location.path == field.path())?;
    let text = location.leading_comments.as_deref().or(location.trailing_comments.as_deref())?;
    let text = untrusted::clean(text, MAX_COMMENT, &mut Found::default());
    (!text.is_empty()).then_some(text)
}
