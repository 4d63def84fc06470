//! The registry of task types: names, aliases, arguments, outputs. The rows are in `data/tasks.json`; models are not here.

use std::sync::LazyLock;

use jarvis_plan::{Example, Kind, Param, Tool, Vocabulary};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgSpec {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether a call without it must fail. Where either of two sets will do, see [`TaskType::one_of`].
    #[serde(default = "required")]
    pub required: bool,
    pub meaning: &'static str,
}

fn required() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// By a model of the catalogue.
    #[default]
    Ordinary,
    /// By the chat model itself, unless configured otherwise: summarization, translation, conversational,
    /// text-generation, text2text-generation.
    ChatServed,
    /// By a detector that turns a picture into a control picture (`canny-control`): local or native only.
    Control,
    /// By a picture generator that follows a control picture (`canny-text-to-image`): local only.
    ControlGeneration,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskType {
    pub name: &'static str,
    pub aliases: Vec<&'static str>,
    pub args: Vec<ArgSpec>,
    /// Sets of arguments of which at least one must be complete; empty when [`ArgSpec::required`] says all.
    #[serde(default)]
    pub one_of: Vec<Vec<&'static str>>,
    pub outputs: Vec<Kind>,
    pub description: &'static str,
    #[serde(default)]
    pub family: Family,
    /// The Hub's word for it in `pipeline_tag`; `None` where the Hub has none.
    #[serde(default)]
    pub hub_pipeline_tag: Option<&'static str>,
    /// For control generation: the task that stands in when there is no text.
    #[serde(default)]
    pub without_text: Option<&'static str>,
    /// Whether HuggingGPT's planner lists it. The others are known to its catalogue or its model server only.
    pub planner_listed: bool,
    /// A situation that calls for it.
    pub scenario: &'static str,
    /// Arguments that fit the situation.
    pub example: Map<String, Value>,
}

impl TaskType {
    /// The record that planners and prompts use.
    pub fn tool(&self) -> Tool {
        let params = self.args.iter().map(|arg| Param {
            name: arg.name.to_owned(),
            kind: arg.kind,
            required: arg.required,
            description: arg.meaning.to_owned(),
            schema: None,
        });
        Tool {
            aliases: self.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            params: params.collect(),
            example: Some(Example {
                scenario: self.scenario.to_owned(),
                parameters: Value::Object(self.example.clone()),
            }),
            ..Tool::typed(self.name, self.description, &[], &self.outputs)
        }
    }

    /// What a call with these arguments lacks, in words such as `image` or `text1, text2 or text, sentences`; `None`
    /// when nothing. `has` says whether an argument is given and not empty.
    pub fn missing(&self, has: impl Fn(&str) -> bool) -> Option<String> {
        let lacking: Vec<&str> =
            self.args.iter().filter(|arg| arg.required && !has(arg.name)).map(|arg| arg.name).collect();
        if !lacking.is_empty() {
            return Some(lacking.join(", "));
        }
        if self.one_of.is_empty() || self.one_of.iter().any(|set| set.iter().all(|name| has(name))) {
            return None;
        }
        let sets: Vec<String> = self.one_of.iter().map(|set| set.join(", ")).collect();
        Some(sets.join(" or "))
    }

    /// The task that is really run: for control generation without text the one that stands in, else this one.
    pub fn effective(&self, has_text: bool) -> &'static str {
        match self.without_text {
            Some(other) if !has_text => other,
            _ => self.name,
        }
    }

    /// The one model that serves control tasks: `lllyasviel/sd-controlnet-{X}` for `X-text-to-image`, the task's own
    /// name for `X-control`; `None` for other families.
    pub fn control_model(&self) -> Option<String> {
        match self.family {
            Family::Control => Some(self.name.to_owned()),
            Family::ControlGeneration => {
                Some(format!("lllyasviel/sd-controlnet-{}", self.name.strip_suffix("-text-to-image")?))
            }
            Family::Ordinary | Family::ChatServed => None,
        }
    }

    /// True when tasks of this type are served by the chat model itself unless configured otherwise.
    pub fn is_chat_served(&self) -> bool {
        self.family == Family::ChatServed
    }
}

/// Every task type, in the order of the planner's list; the types that the planner of the original does not list come
/// beside their kin.
pub fn task_types() -> &'static [TaskType] {
    static TASKS: LazyLock<Vec<TaskType>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../data/tasks.json")).expect("the tests read the same bytes")
    });
    &TASKS
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| tools(|_| true));

/// The task type of that name or alias, without regard to case, spaces and underscores.
pub fn find(name: &str) -> Option<&'static TaskType> {
    let name = &VOCABULARY.find(name)?.name;
    task_types().iter().find(|task| task.name == name)
}

/// The vocabulary of the task types that `keep` accepts, such as those that can be run in the present mode.
pub fn tools(keep: impl Fn(&TaskType) -> bool) -> Vocabulary {
    Vocabulary::new(task_types().iter().filter(|task| keep(task)).map(TaskType::tool).collect())
}

pub fn vocabulary() -> Vocabulary {
    VOCABULARY.clone()
}

#[cfg(test)]
mod tests;
