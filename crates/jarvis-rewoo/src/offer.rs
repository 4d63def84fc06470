//! The tools that a plan may use.

use std::sync::Arc;

use jarvis_plan::{Kind, Param, Request, Source, Tool, Vocabulary};
use jarvis_tools::{Registry, ToolSpec, local};
use serde::Serialize;
use serde_json::{Value, json};

pub const LLM: &str = "LLM";

/// Argument of [`LLM`], and of a text for a tool that takes none.
pub(crate) const INPUT: &str = "input";

const SEARCH: &str = "search_document";

/// The tools that a plan may use: those of the registry, and [`LLM`].
#[derive(Debug, Clone)]
pub struct Offer {
    tools: Registry,
    vocabulary: Arc<Vocabulary>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Shown<'a> {
    name: &'a str,
    about: String,
    example: String,
}

impl Offer {
    /// The tools of a registry that can serve this request. The hub's functions are left out, since the calculator does what
    /// they do, and so is document search where no text is attached.
    pub fn of(registry: &Registry, request: &Request) -> Offer {
        let has_text = request.attachments.iter().any(|file| matches!(file.source, Source::Inline(_)));
        let serves = |spec: &ToolSpec| !local::is_of_hub(spec) && (has_text || spec.name != SEARCH);
        let tools = registry.only(serves);
        let known = tools.specs().map(|spec| planned(&spec.name, properties(spec)));
        let vocabulary = Arc::new(Vocabulary::new(known.chain([planned(LLM, [INPUT].into_iter())]).collect()));
        Offer { tools, vocabulary }
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The name of the tool that the planner means, or why there is none.
    pub(crate) fn meant(&self, name: &str) -> Result<&str, String> {
        if name.eq_ignore_ascii_case(LLM) {
            return Ok(LLM);
        }
        self.tools.meant(name).map(|spec| spec.name.as_str()).ok_or_else(|| self.tools.unknown(name).message)
    }

    /// The argument that takes an input of text, or why the tool takes none.
    pub(crate) fn text_argument(&self, tool: &str) -> Result<&str, String> {
        let Some(spec) = self.tools.spec(tool) else { return Ok(INPUT) };
        match (required(spec).as_slice(), properties(spec).collect::<Vec<_>>().as_slice()) {
            ([only], _) | ([], [only]) => Ok(only),
            _ => Err(format!("the input of `{tool}` is a JSON object, such as {}", spec.example)),
        }
    }

    /// A required argument that is not among `given`.
    pub(crate) fn missing(&self, tool: &str, given: impl Fn(&str) -> bool) -> Option<&str> {
        required(self.tools.spec(tool)?).into_iter().find(|name| !given(name))
    }

    pub(crate) fn shown(&self) -> Vec<Shown<'_>> {
        let specs = self.tools.specs();
        specs.map(|spec| Shown { name: &spec.name, about: about(spec), example: self.example(spec) }).collect()
    }

    /// An example as a plan would have it: the text alone where that is enough.
    fn example(&self, spec: &ToolSpec) -> String {
        let fields = spec.example.as_object().filter(|fields| fields.len() == 1);
        let text = self.text_argument(&spec.name).ok().and_then(|name| fields?.get(name)?.as_str());
        text.map_or_else(|| spec.example.to_string(), str::to_owned)
    }
}

fn about(spec: &ToolSpec) -> String {
    format!("{} Use it when {}.", spec.description, spec.when.trim_end_matches('.'))
}

fn properties(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str())
}

fn required(spec: &ToolSpec) -> Vec<&str> {
    let names = spec.input_schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A tool for the check of plans. Its parameters take lists, because several variables in one input are one input: the check
/// would otherwise run the step once for each of them.
fn planned<'a>(name: &str, params: impl Iterator<Item = &'a str>) -> Tool {
    let list = Some(json!({"type": ["array", "string"]}));
    let params = params.map(|name| Param { schema: list.clone(), ..Param::optional(name, Kind::Text) });
    Tool { params: params.collect(), ..Tool::typed(name, "", &[], &[Kind::Text]) }
}
