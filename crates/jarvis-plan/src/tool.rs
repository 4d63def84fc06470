//! Tools: what can be called, and the vocabulary that a plan's task names are checked against.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Kind;

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
            cost: None,
            example: None,
        }
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

/// The kind an argument name means where no tool declares it: `image` an image, and so on; text otherwise.
pub(crate) fn arg_name_kind(name: &str) -> Kind {
    name.parse().unwrap_or(Kind::Text)
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

/// The tools a plan may use, looked up by name or alias without regard to case, spaces and underscores.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    tools: Vec<Tool>,
    /// By the name itself: names that differ only in what is disregarded are different tools.
    exact: HashMap<String, usize>,
    index: HashMap<String, usize>,
}

impl Vocabulary {
    /// Builds the lookup. Where two tools claim a name, a proper name wins over an alias, the earlier over the later.
    pub fn new(tools: Vec<Tool>) -> Vocabulary {
        let mut index = HashMap::new();
        let mut exact = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            exact.entry(tool.name.clone()).or_insert(at);
            index.entry(fold(&tool.name)).or_insert(at);
        }
        for (at, tool) in tools.iter().enumerate() {
            for alias in &tool.aliases {
                index.entry(fold(alias)).or_insert(at);
            }
        }
        Vocabulary { tools, exact, index }
    }

    /// Tools of which only the names are known.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vocabulary {
        Vocabulary::new(names.into_iter().map(|name| Tool::typed(name, "", &[], &[])).collect())
    }

    /// The tools, in the order given.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool a model means by `name`.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        let at = self.exact.get(name).or_else(|| self.index.get(&fold(name)))?;
        self.tools.get(*at)
    }
}

/// The form in which names are compared: lower case, with blanks and underscores as hyphens.
fn fold(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '_'], "-")
}
