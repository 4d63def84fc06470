//! Tools: what can be called.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Kind, Medium, medium, schema};

/// A catalogue record of something callable. A *model* is a tool that serves a task type; in a plan the task type
/// itself is the tool, and the model is chosen later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// The name a plan uses, unique in its list.
    pub name: String,
    /// Other names that mean the same, such as `asr` for `automatic-speech-recognition`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What it does, in a sentence or two.
    pub description: String,
    /// What it takes, in order.
    #[serde(default)]
    pub params: Vec<Param>,
    /// What it gives; empty when unknown.
    #[serde(default)]
    pub outputs: Vec<Kind>,
    /// What it does to the world.
    #[serde(default)]
    pub effect: Effect,
    /// The JSON Schema of its result, where it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What a call costs, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// A situation and the arguments that fit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

impl Tool {
    /// A tool whose parameters are named after the kinds it takes, as HuggingGPT's task types are.
    pub fn typed(name: &str, description: &str, inputs: &[Kind], outputs: &[Kind]) -> Tool {
        Tool {
            name: name.to_owned(),
            aliases: Vec::new(),
            description: description.to_owned(),
            params: inputs.iter().map(|kind| Param::required(kind.as_str(), *kind)).collect(),
            outputs: outputs.to_vec(),
            effect: Effect::Reads,
            output_schema: None,
            cost: None,
            example: None,
        }
    }

    /// A tool with a parameter for each property of the JSON Schema of its arguments, which takes a picture, a sound or a video where
    /// the property says so. It gives text.
    pub fn of_schema(name: &str, description: &str, schema: &Value) -> Tool {
        let names = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| names.is_some_and(|names| names.iter().any(|one| one == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let param = |(name, own): (&String, &Value)| Param {
            name: name.clone(),
            kind: match medium(name, own) {
                Medium::Kind(kind) => kind,
                Medium::Document | Medium::Path | Medium::None => Kind::Text,
            },
            required: is_required(name),
            description: own.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            schema: Some(with_definitions(own, schema)),
        };
        let params = properties.into_iter().flatten().map(param).collect();
        Tool { params, ..Tool::typed(name, description, &[], &[Kind::Text]) }
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The kind of the argument called `name`: as declared, else what the name itself says, else text.
    pub fn arg_kind(&self, name: &str) -> Kind {
        self.param(name).map_or_else(|| arg_name_kind(name), |param| param.kind)
    }

    /// True when the tool gives resources of this kind.
    pub fn gives(&self, kind: Kind) -> bool {
        self.outputs.contains(&kind)
    }
}

/// What a tool does to the world beyond its answer.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Effect {
    /// Nothing: calling it twice is as good as once.
    #[default]
    Reads,
    /// It adds or changes something.
    Writes,
    /// It removes something, or what it does cannot be undone.
    Destroys,
}

/// The kind an argument name means where no tool declares it: `image` an image, and so on; text otherwise.
pub(crate) fn arg_name_kind(name: &str) -> Kind {
    name.parse().unwrap_or(Kind::Text)
}

/// The schema of a property with what its whole schema defines, to which it may refer.
fn with_definitions(schema: &Value, whole: &Value) -> Value {
    let mut schema = schema.clone();
    for key in ["$defs", "definitions"] {
        if let (Some(fields), Some(definitions)) = (schema.as_object_mut(), whole.get(key)) {
            fields.entry(key).or_insert_with(|| definitions.clone());
        }
    }
    schema
}

/// One named parameter of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name in `args`.
    pub name: String,
    /// What kind of resource it takes.
    pub kind: Kind,
    /// Whether a call without it must fail.
    #[serde(default)]
    pub required: bool,
    /// What it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its JSON Schema, for tools with named parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl Param {
    /// A parameter that must be given.
    pub fn required(name: &str, kind: Kind) -> Param {
        Param { name: name.to_owned(), kind, required: true, description: String::new(), schema: None }
    }

    /// What it takes, in words: of the schema, else of the kind, and what it means.
    pub fn takes(&self) -> String {
        let takes = match &self.schema {
            Some(schema) => schema::in_words(schema),
            None if !self.description.trim().is_empty() => return self.description.trim().to_owned(),
            None => match self.kind {
                Kind::Text => "text".to_owned(),
                Kind::Json => "data".to_owned(),
                Kind::Image => "a picture".to_owned(),
                Kind::Audio => "a sound".to_owned(),
                Kind::Video => "a video".to_owned(),
            },
        };
        match self.description.trim() {
            "" => takes,
            meaning => format!("{takes}, {meaning}"),
        }
    }

    /// Whether its schema asks for an array, so that a list given to it is one argument.
    pub fn takes_list(&self) -> bool {
        let types = self.schema.as_ref().and_then(|schema| schema.get("type"));
        types.is_some_and(|types| {
            types == "array" || types.as_array().is_some_and(|types| types.contains(&"array".into()))
        })
    }

    /// A parameter that may be left out.
    pub fn optional(name: &str, kind: Kind) -> Param {
        Param { required: false, ..Param::required(name, kind) }
    }
}

/// What a call costs, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Typical time of one call, in milliseconds.
    pub ms: u32,
}

/// A situation in words and the arguments that fit it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// What a person might want.
    pub scenario: String,
    /// The arguments that do it.
    pub parameters: Value,
}
