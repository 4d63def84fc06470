//! What is kept of a run: what was asked, and the plan as it travels whole. A line of JSON of it is what is exported.

use jarvis_net::Secret;
use jarvis_plan::{Kind, Plan, Request, Source};
use jarvis_store::{ExperienceRow, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clean::Cleaner;

/// The longest request that is taken in from a file, in bytes.
const LONGEST: usize = 64 * 1024;
/// The most tasks of a plan that is taken in from a file.
const MOST_TASKS: usize = 1_000;

/// A request with its plan. Neither holds secrets or what attached files hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What was asked, with files by their paths.
    pub request: String,
    /// Files that were given with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachedFile>,
    /// Whether it followed earlier turns, without which its words may mean nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
    /// What the plan calls, each name once.
    pub tools: Vec<String>,
    /// The plan, without notes.
    #[serde(with = "jarvis_plan::kept::plan")]
    pub plan: Plan,
}

/// A file that a request came with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    pub kind: Kind,
    /// How plans name it: its path, its address, or the name of a text.
    pub arg: String,
    /// What the person called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An entry with the run that it is of, and whether it was good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The id of the run.
    pub id: String,
    /// When it was kept, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Whether it is planned by.
    pub good: bool,
    /// Why.
    pub verdict: Verdict,
    /// What is kept.
    #[serde(flatten)]
    pub entry: Entry,
}

/// Why something is no entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("{0}")]
    NotJson(String),
    #[error("`id` is empty, or longer than 200 bytes")]
    Id,
    #[error("`request` is empty, or longer than {LONGEST} bytes")]
    Request,
    #[error("`plan` has no tasks, or more than {MOST_TASKS}")]
    Tasks,
    #[error("task {0} of `plan` has faults")]
    Faulty(String),
    #[error("`tools` are not the tools that `plan` calls: {0}")]
    Tools(String),
    #[error("a plan that {0} cannot be {1}")]
    Verdict(&'static str, &'static str),
}

/// The files of a request, as plans name them.
pub(super) fn attached(request: &Request) -> Vec<AttachedFile> {
    let files = request.attachments.iter().map(|file| {
        let arg = match (&file.source, &file.name) {
            // What it holds is not kept.
            (Source::Inline(_), Some(name)) => name.clone(),
            (Source::Inline(_), None) => String::new(),
            (Source::Public(path), _) => path.clone(),
            (Source::Url(url), _) => url.clone(),
        };
        AttachedFile { kind: file.kind, arg, name: file.name.clone() }
    });
    files.collect()
}

impl Entry {
    /// What is kept of a request and its plan; `None` where nothing of it can be.
    pub(super) fn new(request: &Request, plan: &Plan, secrets: &[Secret]) -> Option<Entry> {
        let cleaner = Cleaner::new(secrets, request);
        let mut attachments = attached(request);
        for file in &mut attachments {
            file.arg = cleaner.text(&file.arg);
            file.name = file.name.as_deref().map(|name| cleaner.text(name));
        }
        let mut tasks = plan.tasks().to_vec();
        for task in &mut tasks {
            task.faults.clear();
            task.args.iter_mut().for_each(|(name, arg)| *arg = cleaner.named(name, arg));
        }
        let plan = Plan::restored(tasks, Vec::new(), false).ok()?;
        let (text, follows) = (cleaner.request(&request.text), !request.history.is_empty());
        Some(Entry { request: text, attachments, follows, tools: tools(&plan), plan })
    }

    /// The request as the person wrote it: files by their names, where they have one.
    pub fn as_written(&self) -> String {
        let named = self.attachments.iter().filter(|file| !file.arg.is_empty());
        named.fold(self.request.clone(), |request, file| match &file.name {
            Some(name) => request.replace(&file.arg, name),
            None => request,
        })
    }

    /// Equal for entries of the same plan for the same request.
    pub(super) fn same(&self) -> String {
        let tasks = serde_json::to_string(self.plan.tasks()).unwrap_or_default();
        format!("{}\u{0}{tasks}", self.request)
    }

    fn check(&self) -> Result<(), EntryError> {
        if self.request.trim().is_empty() || self.request.len() > LONGEST {
            return Err(EntryError::Request);
        }
        if self.plan.tasks().is_empty() || self.plan.tasks().len() > MOST_TASKS {
            return Err(EntryError::Tasks);
        }
        if let Some(task) = self.plan.tasks().iter().find(|task| !task.faults.is_empty()) {
            return Err(EntryError::Faulty(task.id.to_string()));
        }
        let called = tools(&self.plan);
        match called == self.tools {
            true => Ok(()),
            false => Err(EntryError::Tools(called.join(", "))),
        }
    }
}

/// What a plan calls, each name once, in the order of its tasks.
fn tools(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for task in plan.tasks() {
        if !names.contains(&task.task) {
            names.push(task.task.clone());
        }
    }
    names
}

impl Remembered {
    /// What a row of the journal holds.
    ///
    /// # Errors
    /// When it is not what is written now.
    pub fn of(row: ExperienceRow) -> Result<Remembered, EntryError> {
        let entry = serde_json::from_str(&row.body).map_err(|error| EntryError::NotJson(error.to_string()))?;
        Ok(Remembered { id: row.id, at_ms: row.at_ms, good: row.good, verdict: row.verdict, entry })
    }

    /// Reads a line of an export, and checks all of it. What looks like a secret is taken out.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(line: &str) -> Result<Remembered, EntryError> {
        // Its own error for a line that is no JSON; what is flattened loses the place.
        let value: Value = serde_json::from_str(line).map_err(|error| EntryError::NotJson(error.to_string()))?;
        let mut read: Remembered =
            serde_json::from_value(value).map_err(|error| EntryError::NotJson(error.to_string()))?;
        if read.id.trim().is_empty() || read.id.len() > 200 {
            return Err(EntryError::Id);
        }
        if read.verdict != Verdict::Rated && read.good != read.verdict.is_good() {
            return Err(EntryError::Verdict(read.verdict.as_str(), if read.good { "good" } else { "bad" }));
        }
        read.entry.check()?;
        let cleaner = Cleaner::default();
        read.entry.request = cleaner.request(&read.entry.request);
        let mut tasks = read.entry.plan.tasks().to_vec();
        tasks.iter_mut().flat_map(|task| &mut task.args).for_each(|(name, arg)| *arg = cleaner.named(name, arg));
        for file in &mut read.entry.attachments {
            file.arg = cleaner.text(&file.arg);
            file.name = file.name.as_deref().map(|name| cleaner.text(name));
        }
        read.entry.plan = Plan::restored(tasks, Vec::new(), false).map_err(|_| EntryError::Tasks)?;
        Ok(read)
    }

    /// The row of the journal.
    pub fn row(&self) -> ExperienceRow {
        let body = serde_json::to_string(&self.entry).unwrap_or_default();
        let Remembered { id, at_ms, good, verdict, .. } = self;
        ExperienceRow { id: id.clone(), at_ms: *at_ms, good: *good, verdict: *verdict, body }
    }

    /// A line of an export.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
