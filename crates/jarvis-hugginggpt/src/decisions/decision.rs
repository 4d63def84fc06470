//! A decision as a value: the plan, who is to perform each task, and what it took to decide.

use jarvis_plan::{Plan, Selection, TaskError, TaskId, Usage};

#[derive(Debug, Clone, PartialEq)]
pub struct TaskChoice {
    pub task: TaskId,
    /// The model that is to perform it, or why there is none.
    pub result: Result<Selection, TaskError>,
    /// Among how many models the choice was made; 0 when there is none.
    pub available: usize,
}

/// A task name that was taken to mean another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    pub task: TaskId,
    pub from: String,
    pub to: String,
}

/// What was decided for a request. Nothing of it has been executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub request: String,
    /// The plan's id: that of the run that decided it.
    pub plan_id: String,
    /// The plan. Empty when the request calls for no task.
    pub plan: Plan,
    pub choices: Vec<TaskChoice>,
    pub mapped: Vec<Mapped>,
    /// What a reader should know: what was mended, guessed or could not be saved.
    pub warnings: Vec<String>,
    pub description: Option<String>,
    pub usage: Usage,
    pub ms: u64,
    /// Where the plan was saved, relative to the folder that holds the plans' folder.
    pub saved: Option<String>,
    /// Why the plan could not be saved, when that was tried.
    pub unsaved: Option<String>,
    /// Where the prompts were written down, likewise.
    pub prompt_logs: Option<String>,
}

impl Decision {
    pub fn choice(&self, task: TaskId) -> Option<&TaskChoice> {
        self.choices.iter().find(|choice| choice.task == task)
    }

    pub fn mapped_from(&self, task: TaskId) -> Option<&str> {
        self.mapped.iter().find(|mapped| mapped.task == task).map(|mapped| mapped.from.as_str())
    }
}
