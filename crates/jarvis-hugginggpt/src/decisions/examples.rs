//! Example pipelines with the scenarios they were made for: few-shots for planning, and the truth that plans are
//! measured against.

use std::collections::HashSet;
use std::path::Path;

use jarvis_plan::Request;
use serde::Serialize;
use serde_json::{Value, json};

use super::pipeline::{PipelineTask, read};
use crate::json::{JsonFileError, load};
use crate::untrusted::clean;

/// The largest file, in bytes.
const MAX_FILE: u64 = 16 << 20;
const MAX_EXAMPLES: usize = 10_000;
/// The longest description, in characters.
const DESCRIPTION: usize = 20_000;
/// The longest name of an object, and the most objects.
const OBJECT: usize = 100;
const OBJECTS: usize = 100;

/// What stands before the objects of a scenario in the request that it is.
pub(crate) const OBJECTS_SEEN: &str = "\nObjects seen: ";
/// What stands in a prompt for objects that are not listed.
pub(crate) const INFER_OBJECTS: &str = "not listed: infer them from the description";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Scenario {
    /// Its id; empty when it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What is in the picture; empty when unknown.
    #[serde(rename = "objects-seen")]
    pub objects_seen: Vec<String>,
    #[serde(rename = "sample-description")]
    pub sample_description: String,
}

impl Scenario {
    /// A scenario that is a text alone.
    pub fn described(text: &str) -> Scenario {
        Scenario { sample_description: text.to_owned(), ..Scenario::default() }
    }

    /// Reads `{"objects-seen": […], "sample-description": "…"}`; underscores are read as well, and one text with commas
    /// for the list.
    pub fn read(value: &Value) -> Result<Scenario, String> {
        let fields = value.as_object().ok_or("`scenario` must be an object")?;
        let field = |name: &str| fields.get(name).or_else(|| fields.get(&name.replace('-', "_")));
        let description = match field("sample-description") {
            Some(Value::String(text)) if !text.trim().is_empty() => text.trim(),
            Some(Value::String(_)) | None => return Err("`scenario.sample-description` is missing or empty".to_owned()),
            Some(_) => return Err("`scenario.sample-description` must be a string".to_owned()),
        };
        if description.chars().count() > DESCRIPTION {
            return Err(format!("`scenario.sample-description` is longer than {DESCRIPTION} characters"));
        }
        let objects: Vec<&str> = match field("objects-seen") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => text.split(',').collect(),
            Some(Value::Array(items)) => match items.iter().map(Value::as_str).collect() {
                Some(items) => items,
                None => return Err("`scenario.objects-seen` must be a list of strings".to_owned()),
            },
            Some(_) => return Err("`scenario.objects-seen` must be a list of strings".to_owned()),
        };
        let objects = objects.into_iter().map(|object| clean(object, OBJECT)).filter(|object| !object.is_empty());
        Ok(Scenario {
            id: field("id").and_then(Value::as_str).map(|id| clean(id, OBJECT)).unwrap_or_default(),
            objects_seen: objects.take(OBJECTS).collect(),
            sample_description: description.to_owned(),
        })
    }

    /// The objects with commas between, or words that say to infer them.
    pub fn objects(&self) -> String {
        if self.objects_seen.is_empty() { INFER_OBJECTS.to_owned() } else { self.objects_seen.join(", ") }
    }

    /// The request that a scenario is in the general form: the description, and what is to be seen.
    pub fn request(&self) -> Request {
        if self.objects_seen.is_empty() {
            return Request::new(&self.sample_description);
        }
        Request::new(format!("{}{OBJECTS_SEEN}{}", self.sample_description, self.objects()))
    }

    /// The two fields that a planner sees, on one line.
    pub fn shown(&self) -> String {
        json!({"objects-seen": self.objects_seen, "sample-description": self.sample_description}).to_string()
    }
}

/// A scenario and the pipeline that is right for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Example {
    /// Such as `campus-normal-example-1`.
    pub id: String,
    /// The category, such as `campus-normal`.
    pub base_pipeline_id: String,
    pub scenario: Scenario,
    pub tasks: Vec<PipelineTask>,
}

impl Example {
    pub fn read(value: &Value) -> Result<Example, String> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(|text| clean(text, OBJECT));
        let id = text("id").filter(|id| !id.is_empty()).ok_or("`id` is missing")?;
        let scenario = Scenario::read(value.get("scenario").unwrap_or(&Value::Null))?;
        let tasks =
            read::value(value.get("tasks").unwrap_or(&Value::Null)).map_err(|error| format!("`tasks`: {error}"))?;
        if let Some(note) = tasks.notes.first() {
            return Err(format!("`tasks`: {note}"));
        }
        let category = text("base_pipeline_id").filter(|id| !id.is_empty()).unwrap_or_else(|| {
            id.rsplit_once("-example-").map_or_else(|| id.clone(), |(category, _)| category.to_owned())
        });
        Ok(Example { base_pipeline_id: category, scenario, tasks: tasks.tasks, id })
    }

    /// The six planned fields of its tasks, with or without the reasons, as a planner should write them.
    pub fn answer(&self, reasons: bool) -> Value {
        self.tasks.iter().map(|task| if reasons { task.planned() } else { task.structure() }).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    pub index: usize,
    pub base_pipeline_id: String,
    pub example_ids: Vec<String>,
}

/// Examples by category. Every id that a category names is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examples {
    /// In the order in which they were given.
    pub all: Vec<Example>,
    pub categories: Vec<Category>,
}

impl Examples {
    /// Groups examples by category, in the order in which the categories first occur.
    pub fn new(all: Vec<Example>) -> Examples {
        let mut ids = HashSet::new();
        let all: Vec<Example> = all.into_iter().filter(|example| ids.insert(example.id.clone())).collect();
        let mut categories: Vec<Category> = Vec::new();
        for example in &all {
            match categories.iter_mut().find(|category| category.base_pipeline_id == example.base_pipeline_id) {
                Some(category) => category.example_ids.push(example.id.clone()),
                None => categories.push(Category {
                    index: categories.len(),
                    base_pipeline_id: example.base_pipeline_id.clone(),
                    example_ids: vec![example.id.clone()],
                }),
            }
        }
        Examples { all, categories }
    }

    /// Loads a JSON array of examples and, where there is one, the file that numbers the categories. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read, holds something else, or the two do not fit each other.
    pub fn load(examples: &Path, categories: Option<&Path>) -> Result<Examples, JsonFileError> {
        let value = load(examples, MAX_FILE)?;
        let rows = value.as_array().or_else(|| value.get("examples")?.as_array());
        let rows = rows.ok_or_else(|| JsonFileError::content(examples, "expected a JSON array of examples"))?;
        let mut all = Vec::with_capacity(rows.len().min(MAX_EXAMPLES));
        for (at, row) in rows.iter().enumerate().take(MAX_EXAMPLES) {
            all.push(
                Example::read(row)
                    .map_err(|reason| JsonFileError::content(examples, format!("example {at}: {reason}")))?,
            );
        }
        let mut loaded = Examples::new(all);
        if let Some(path) = categories {
            loaded.categories = loaded
                .read_categories(&load(path, MAX_FILE)?)
                .map_err(|reason| JsonFileError::content(path, reason))?;
        }
        Ok(loaded)
    }

    /// Reads `{"categories":[{"index","base_pipeline_id","example_ids":[…]}]}`.
    fn read_categories(&self, value: &Value) -> Result<Vec<Category>, String> {
        let rows = value.get("categories").and_then(Value::as_array).ok_or("expected an object with `categories`")?;
        let mut categories: Vec<Category> = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let index = row.get("index").and_then(Value::as_u64).map_or(at, |index| index as usize);
            let name = row
                .get("base_pipeline_id")
                .and_then(Value::as_str)
                .ok_or(format!("category {at} has no `base_pipeline_id`"))?;
            if categories.iter().any(|category| category.index == index) {
                return Err(format!("two categories have the index {index}"));
            }
            let ids: Vec<String> = match row.get("example_ids").and_then(Value::as_array) {
                Some(ids) => ids.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                None => self.of(name).map(|example| example.id.clone()).collect(),
            };
            if let Some(id) = ids.iter().find(|id| self.get(id).is_none()) {
                return Err(format!("category {index} names `{id}`, which is not among the examples"));
            }
            categories.push(Category { index, base_pipeline_id: name.to_owned(), example_ids: ids });
        }
        Ok(categories)
    }

    fn of<'a>(&'a self, category: &'a str) -> impl Iterator<Item = &'a Example> {
        self.all.iter().filter(move |example| example.base_pipeline_id == category)
    }

    pub fn category(&self, index: usize) -> Option<&Category> {
        self.categories.iter().find(|category| category.index == index)
    }

    pub fn get(&self, id: &str) -> Option<&Example> {
        self.all.iter().find(|example| example.id == id)
    }

    pub fn in_category<'a>(&'a self, category: &'a Category) -> impl Iterator<Item = &'a Example> {
        category.example_ids.iter().filter_map(|id| self.get(id))
    }

    /// One example of each category, the first or the one numbered 0: what a planner is shown.
    pub fn few_shots(&self) -> Vec<Example> {
        let first = |category: &Category| {
            let numbered = self.in_category(category).find(|example| example.id.ends_with("-example-0"));
            numbered.or_else(|| self.in_category(category).next()).cloned()
        };
        self.categories.iter().filter_map(first).collect()
    }
}

#[cfg(test)]
mod tests;
