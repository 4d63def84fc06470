//! The tools of a question: of many, the prompt shows those that fit it best and one that finds the others; and, once there is a
//! long result, the one that reads it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jarvis_catalogue::Bm25Index;
use jarvis_plan::Effect;
use jarvis_tools::{Observation, Registry, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};
use serde_json::{Value, json};

use super::results::{ReadResult, Results};
use crate::settings::PromptLanguage;

/// The most tools that one search gives.
const MOST: usize = 10;

/// What a question may use of many tools.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    /// Every tool, the one that finds them, and the one that reads long results.
    pub(super) registry: Arc<Registry>,
    /// Those that the prompt shows.
    shown: Arc<Registry>,
    found: Found,
    /// Long results, where a prompt shows them shortened.
    results: Option<Results>,
}

/// The names of the tools that searches found.
type Found = Arc<Mutex<Vec<String>>>;

impl Offer {
    /// All of a registry, shown as it is where it has no more than `most` tools.
    pub(super) fn of(registry: Arc<Registry>, question: &str, most: usize) -> Offer {
        let specs: Vec<ToolSpec> = registry.specs().cloned().collect();
        if specs.len() <= most.max(1) {
            return Offer { shown: Arc::clone(&registry), registry, found: Found::default(), results: None };
        }
        let index = Arc::new(Bm25Index::build(&specs.iter().map(told).collect::<Vec<_>>()));
        let name = registry.free_name("search_tools");
        let found = Found::default();
        let search = SearchTools { spec: spec(&name, specs.len()), specs, index, found: Arc::clone(&found) };
        let fitting: Vec<usize> = search.index.top_k(question, most).into_iter().map(|hit| hit.row).collect();
        // Words that no tool has leave room for the first ones.
        let others = (0..search.specs.len()).filter(|at| !fitting.contains(at));
        let kept: Vec<&str> = (fitting.iter().copied().chain(others).take(most))
            .filter_map(|at| search.specs.get(at).map(|spec| spec.name.as_str()))
            .collect();
        let mut shown = registry.only(|spec| kept.contains(&spec.name.as_str()));
        let mut all = Registry::clone(&registry);
        let search: Arc<dyn Tool> = Arc::new(search);
        for registry in [&mut shown, &mut all] {
            registry.add(Arc::clone(&search)).expect("the name is free, and the description complete");
        }
        Offer { registry: Arc::new(all), shown: Arc::new(shown), found, results: None }
    }

    /// Shortens results to `most` characters, and adds the tool that reads the rest of them.
    pub(super) fn with_results(self, most: usize) -> Offer {
        let mut all = Registry::clone(&self.registry);
        let results = Results::new(&all.free_name("read_result"), most);
        let tool = Arc::new(ReadResult::of(results.clone()));
        all.add(tool).expect("the name is free, and the description complete");
        Offer { registry: Arc::new(all), results: Some(results), ..self }
    }

    /// A result of a step as a prompt shows it.
    pub(super) fn result(&self, step: u32, text: String, language: PromptLanguage) -> String {
        match &self.results {
            Some(results) => results.shown(step, text, language),
            None => text,
        }
    }

    /// The tools that a prompt lists.
    pub(super) fn listed(&self) -> Registry {
        self.registry.only(|spec| self.lists(&spec.name))
    }

    /// The tools that are listed, and those that were found since.
    pub(super) fn now(&self) -> Registry {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        self.registry.only(|spec| self.lists(&spec.name) || found.contains(&spec.name))
    }

    fn lists(&self, tool: &str) -> bool {
        self.shown.spec(tool).is_some() || self.results.as_ref().is_some_and(|results| results.offers(tool))
    }
}

fn told(spec: &ToolSpec) -> String {
    format!("{} {} {}", spec.name.replace(['_', '-', '.', '/'], " "), spec.description, spec.when)
}

fn spec(name: &str, all: usize) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Finds tools by words, among all {all}: their names, what they do and what they take."),
        when: "no tool that you see does what is needed; what it finds can be called from then on".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "what the tool should do, in a few words"},
                "top": {"type": "integer", "minimum": 1, "maximum": MOST, "default": 5},
            },
            "required": ["query"],
        }),
        example: json!({"query": "weather forecast of a city"}),
        output_schema: None,
        effect: Effect::Reads,
        source: ToolSource::Native,
    }
}

struct SearchTools {
    spec: ToolSpec,
    specs: Vec<ToolSpec>,
    index: Arc<Bm25Index>,
    found: Found,
}

#[async_trait]
impl Tool for SearchTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _: &Scope) -> Result<Observation, ToolError> {
        let query = input.get("query").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if query.is_empty() {
            return Err(ToolError::new(ToolErrorKind::InvalidInput, "`query` must be a text of one word or more"));
        }
        let top = input.get("top").and_then(Value::as_u64).and_then(|top| usize::try_from(top).ok()).unwrap_or(5);
        let hits = self.index.top_k(query, top.clamp(1, MOST));
        let specs: Vec<&ToolSpec> = hits.iter().filter_map(|hit| self.specs.get(hit.row)).collect();
        if specs.is_empty() {
            let none = Observation::text("No tool shares a word with the query.");
            return Ok(none.with_value(json!({"tools": []})));
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.extend(specs.iter().map(|spec| spec.name.clone()));
        let line = |spec: &&ToolSpec| {
            format!(
                "{}: {} Use it when {}. Input (JSON Schema): {}",
                spec.name,
                spec.description.trim(),
                spec.when.trim(),
                spec.input_schema
            )
        };
        let value = |spec: &&ToolSpec| json!({"name": spec.name, "description": spec.description, "input_schema": spec.input_schema});
        let text = specs.iter().map(line).collect::<Vec<_>>().join("\n");
        Ok(Observation::text(text).with_value(json!({"tools": specs.iter().map(value).collect::<Vec<_>>()})))
    }
}
