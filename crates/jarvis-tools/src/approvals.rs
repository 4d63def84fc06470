//! What was approved of tools that others describe: name, description and schema as they were when they were approved.
//!
//! The first sight of a server approves its tools, for it is in the configuration. A description that changes later, or a tool
//! that comes later, may be an attempt to give a model orders, so it is not called until a person approves it. The file also spares
//! connections: what is known of a server need not be asked for when a registry is opened.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jarvis_net::causes::in_one;
use jarvis_plan::Effect;
use jarvis_store::files::{FileError, replace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::NewTools;
use crate::{ToolError, ToolErrorKind};

const VERSION: u32 = 1;

const MAX_FILE: u64 = 64 << 20;

/// What others say of a tool, cleaned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Described {
    /// Its title, where it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its description.
    pub description: String,
    /// The JSON Schema of its input.
    pub schema: Value,
    /// The JSON Schema of its result, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does to the world, where they say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What else they say of calls, such as whether a second one changes nothing more: the hints of an MCP server, as it names
    /// them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hints: BTreeMap<String, bool>,
}

impl Described {
    /// The SHA-256 of the canonical form, in hexadecimal: name, title, description, schemas, effect and hints as JSON without blanks,
    /// keys sorted.
    pub fn sha256(&self, name: &str) -> String {
        let mut whole = json!({"name": name, "description": self.description, "schema": self.schema});
        let title = (!self.title.is_empty()).then(|| self.title.clone().into());
        let effect = self.effect.map(|effect| effect.to_string().into());
        let hints = (!self.hints.is_empty()).then(|| json!(self.hints));
        let more =
            [("title", title), ("output_schema", self.output_schema.clone()), ("effect", effect), ("hints", hints)];
        if let Some(fields) = whole.as_object_mut() {
            fields.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        sha256(sorted(&whole).to_string().as_bytes())
    }
}

impl Described {
    /// Without what it gives and does.
    fn said(&self) -> Described {
        Described { output_schema: None, effect: None, hints: BTreeMap::new(), ..self.clone() }
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The same value, keys sorted at every level.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let ordered: BTreeMap<&String, Value> = fields.iter().map(|(name, field)| (name, sorted(field))).collect();
            Value::Object(ordered.into_iter().map(|(name, field)| (name.clone(), field)).collect::<Map<_, _>>())
        }
        Value::Array(rows) => Value::Array(rows.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// What the file says of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The SHA-256 of what was approved.
    pub sha256: String,
    /// What was approved.
    pub approved: Described,
    /// What is offered now, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Described>,
    /// It came to a source that was known, and waits for a person: nothing of it is approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unapproved: bool,
    /// What it gives and does was looked at too; records of before that know nothing of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// The server does not offer it any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A tool that differs from its approval, as it was when it was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The source in the file.
    source: String,
    /// The tool's name in the registry.
    pub name: String,
    /// What was approved.
    pub approved: Described,
    /// What is offered.
    pub offered: Described,
}

/// The name of an MCP server in the file.
pub(crate) fn mcp_source(server: &str) -> String {
    format!("mcp:{server}")
}

/// The name of a gRPC tool's own source in the file.
pub(crate) fn grpc_source(tool: &str) -> String {
    format!("grpc:{tool}")
}

/// What is known of a source of tools: an MCP server, or one gRPC method.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Source {
    /// A digest of its location, so that another source of the same name is asked again.
    origin: String,
    /// Its tools, by their names in the registry.
    #[serde(default)]
    tools: BTreeMap<String, Approval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Contents {
    version: u32,
    #[serde(default)]
    sources: BTreeMap<String, Source>,
}

/// Result of checking a tool against its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is as it was approved.
    Known,
    /// It was seen for the first time, with its source, and is approved by that.
    New,
    /// It came to a source that was known, and nobody has approved it.
    Added,
    /// It is not as it was approved.
    Changed,
}

/// Approvals that cannot be used.
#[allow(missing_docs, reason = "each message says what its variant is")]
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    #[error("the approvals of tools in {} cannot be read", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "the approvals of tools in {} are damaged ({reason}); move the file away, and all tools are approved anew at first use",
        .path.display()
    )]
    Broken { path: PathBuf, reason: String },
    #[error(transparent)]
    Write(#[from] FileError),
    #[error("no tool `{0}` is described from outside; see `jarvis tools list`")]
    Unknown(String),
}

/// The approvals in a file. It may be used by several at once, and by several processes.
#[derive(Debug)]
pub struct Approvals {
    path: PathBuf,
    contents: Mutex<Contents>,
}

impl Approvals {
    /// Reads the file; one that is not there holds nothing.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was written.
    pub fn open(path: impl Into<PathBuf>) -> Result<Approvals, ApprovalsError> {
        let path = path.into();
        let contents = read(&path)?;
        Ok(Approvals { path, contents: Mutex::new(contents) })
    }

    /// Those in a file that cannot be used: nothing is known, and nothing is approved before the file can be read.
    pub(crate) fn unknown(path: PathBuf) -> Approvals {
        Approvals { path, contents: Mutex::new(Contents { version: VERSION, sources: BTreeMap::new() }) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of a tool of a source. Two sources may have tools of the same name.
    pub(crate) fn get(&self, source: &str, name: &str) -> Option<Approval> {
        self.lock().sources.get(source)?.tools.get(name).cloned()
    }

    /// The tools of a source that are known, offered or not.
    pub(crate) fn names(&self, source: &str) -> Vec<String> {
        self.lock().sources.get(source).map(|known| known.tools.keys().cloned().collect()).unwrap_or_default()
    }

    /// The tools that wait until a person approves of them: the source of each, its name, and what is known of it.
    pub fn waiting(&self) -> Vec<(String, String, Approval)> {
        let contents = self.lock();
        let all =
            contents.sources.iter().flat_map(|(source, known)| known.tools.iter().map(move |tool| (source, tool)));
        let waits = all.filter(|(_, (_, approval))| approval.offered.is_some() && !approval.gone);
        waits.map(|(source, (name, approval))| (source.clone(), name.clone(), approval.clone())).collect()
    }

    /// The tools of a source that are known and offered, when it is still where it was.
    pub(crate) fn known(&self, source: &str, origin: &str) -> Option<Vec<(String, Approval)>> {
        let contents = self.lock();
        let source = contents.sources.get(source).filter(|source| source.origin == origin)?;
        let offered = source.tools.iter().filter(|(_, approval)| !approval.gone);
        Some(offered.map(|(name, approval)| (name.clone(), approval.clone())).collect())
    }

    /// Takes note of all that a source offers, and returns the verdict on each tool. A tool that is not offered any more
    /// stays known, so that it cannot come back as another.
    pub(crate) fn listed(
        &self,
        source: &str,
        origin: &str,
        tools: &[(String, Described)],
        new_tools: NewTools,
    ) -> Result<Vec<Verdict>, ApprovalsError> {
        self.change(|contents| {
            let is_asked = new_tools == NewTools::Ask;
            let was_known = is_asked && contents.sources.get(source).is_some_and(|known| known.origin == origin);
            let known = contents.sources.entry(source.to_owned()).or_default();
            origin.clone_into(&mut known.origin);
            for (name, approval) in &mut known.tools {
                approval.gone = !tools.iter().any(|(offered, _)| offered == name);
            }
            if !is_asked {
                // Those that waited are new once more.
                known.tools.retain(|_, approval| !approval.unapproved);
            }
            tools.iter().map(|(name, described)| look(known, was_known, name, described)).collect()
        })
    }

    /// What is not as it was approved, as the file has it now: one tool of a source, or all of them. `None` when nothing of
    /// that name is known.
    pub(crate) fn changes(&self, source: &str, tool: Option<&str>) -> Result<Option<Vec<Change>>, ApprovalsError> {
        let fresh = read(&self.path)?;
        let mut held = self.lock();
        *held = fresh;
        let Some(known) = held.sources.get(source) else { return Ok(None) };
        let mut found = false;
        let mut changes = Vec::new();
        for (name, approval) in known.tools.iter().filter(|(name, _)| tool.is_none_or(|tool| tool == *name)) {
            found = true;
            if let Some(offered) = &approval.offered {
                changes.push(Change {
                    source: source.to_owned(),
                    name: name.clone(),
                    approved: approval.approved.clone(),
                    offered: offered.clone(),
                });
            }
        }
        Ok(found.then_some(changes))
    }

    /// Approves changes as they were shown, and returns the names of the tools. What is offered differently by now stays as
    /// it is.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn accept(&self, changes: &[Change]) -> Result<Vec<String>, ApprovalsError> {
        self.change(|contents| {
            let mut accepted = Vec::new();
            for Change { source, name, offered, .. } in changes {
                let tool = contents.sources.get_mut(source).and_then(|known| known.tools.get_mut(name));
                let Some(approval) = tool.filter(|approval| approval.offered.as_ref() == Some(offered)) else {
                    continue;
                };
                approval.sha256 = offered.sha256(name);
                approval.approved = offered.clone();
                approval.offered = None;
                approval.unapproved = false;
                accepted.push(name.clone());
            }
            accepted
        })
    }

    /// Whether what a source offers now is what is approved; asks the file again before it says no, for a person may have
    /// approved it meanwhile.
    pub(crate) fn is_approved(&self, source: &str, name: &str, offered: &Described) -> Result<bool, ApprovalsError> {
        let sha256 = offered.sha256(name);
        let fits = |contents: &Contents| {
            let known = contents.sources.get(source).and_then(|source| source.tools.get(name));
            known.is_some_and(|approval| !approval.unapproved && approval.sha256 == sha256)
        };
        if fits(&self.lock()) {
            return Ok(true);
        }
        let fresh = read(&self.path)?;
        let approved = fits(&fresh);
        *self.lock() = fresh;
        Ok(approved)
    }

    /// Changes the contents as the file has them now, and writes them when they differ.
    fn change<T>(&self, change: impl FnOnce(&mut Contents) -> T) -> Result<T, ApprovalsError> {
        let mut held = self.lock();
        let _lock = lock_file(&self.path);
        let mut contents = read(&self.path)?;
        let before = contents.clone();
        let result = change(&mut contents);
        if contents != before {
            let text = serde_json::to_string_pretty(&contents).expect("approvals are texts and maps of texts");
            replace(&self.path, format!("{text}\n").as_bytes())?;
        }
        *held = contents;
        Ok(result)
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        // Contents are put in place whole.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(source: &mut Source, was_known: bool, name: &str, described: &Described) -> Verdict {
    let sha256 = described.sha256(name);
    match source.tools.get_mut(name) {
        None => {
            let approved = described.clone();
            // What is offered is what a person is asked to approve.
            let offered = was_known.then(|| described.clone());
            let approval = Approval { sha256, approved, offered, unapproved: was_known, whole: true, gone: false };
            source.tools.insert(name.to_owned(), approval);
            if was_known { Verdict::Added } else { Verdict::New }
        }
        Some(known) if known.unapproved => {
            let (approved, offered) = (described.clone(), Some(described.clone()));
            *known = Approval { sha256, approved, offered, unapproved: true, whole: true, gone: false };
            Verdict::Added
        }
        Some(known) if known.sha256 == sha256 => {
            known.offered = None;
            known.whole = true;
            Verdict::Known
        }
        // An older record is completed once.
        Some(known) if !known.whole && known.sha256 == described.said().sha256(name) => {
            let approved = described.clone();
            *known = Approval { sha256, approved, offered: None, unapproved: false, whole: true, gone: false };
            Verdict::Known
        }
        Some(known) => {
            known.offered = Some(described.clone());
            Verdict::Changed
        }
    }
}

/// Keeps other processes out while the file is changed. Where files cannot be locked, the last one wins.
fn lock_file(path: &Path) -> Option<File> {
    let mut name = path.file_name()?.to_owned();
    name.push(".lock");
    let beside = path.with_file_name(name);
    std::fs::create_dir_all(path.parent()?).ok()?;
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(beside).ok()?;
    file.lock().ok()?;
    Some(file)
}

fn read(path: &Path) -> Result<Contents, ApprovalsError> {
    let failed = |source| ApprovalsError::Read { path: path.to_owned(), source };
    let broken = |reason: String| ApprovalsError::Broken { path: path.to_owned(), reason };
    match std::fs::metadata(path) {
        Ok(file) if file.len() > MAX_FILE => return Err(broken("it is too large".into())),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Contents { version: VERSION, sources: BTreeMap::new() });
        }
        Err(error) => return Err(failed(error)),
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    let contents: Contents = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
    if contents.version != VERSION {
        return Err(broken(format!("its version is {}, not {VERSION}", contents.version)));
    }
    for (name, approval) in contents.sources.values().flat_map(|source| &source.tools) {
        if approval.approved.sha256(name) != approval.sha256 {
            return Err(broken(format!("what is approved of `{name}` does not fit its SHA-256")));
        }
    }
    Ok(contents)
}

pub(crate) fn changed(name: &str) -> ToolError {
    let message = format!(
        "the description of `{name}` changed since it was approved; look at it with `jarvis tools show {name}`, then \
         `jarvis tools approve {name}`"
    );
    ToolError::new(ToolErrorKind::Unauthorized, message)
}

pub(crate) fn added(name: &str) -> ToolError {
    let message = format!(
        "`{name}` is new at a known server and waits for approval: look at it with `jarvis tools show {name}`, then `jarvis tools \
         approve {name}`"
    );
    ToolError::new(ToolErrorKind::Unauthorized, message)
}

pub(crate) fn unusable(error: &ApprovalsError) -> ToolError {
    ToolError::new(ToolErrorKind::Unavailable, in_one(error))
}

/// Runs work on the file off the runtime's threads.
pub(crate) async fn off_thread<T: Send + 'static>(
    approvals: &Arc<Approvals>,
    work: impl FnOnce(&Approvals) -> Result<T, ApprovalsError> + Send + 'static,
) -> Result<T, ApprovalsError> {
    let shared = Arc::clone(approvals);
    match tokio::task::spawn_blocking(move || work(&shared)).await {
        Ok(done) => done,
        Err(error) => {
            Err(ApprovalsError::Read { path: approvals.path.clone(), source: std::io::Error::other(error.to_string()) })
        }
    }
}

/// Checks, when a tool is called, that what its service describes is what was approved.
pub(crate) struct Guard {
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) source: String,
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) description: String,
}

impl Guard {
    /// Looks at the schema that the service gives now.
    ///
    /// # Errors
    /// When it is not what was approved.
    pub(crate) async fn check(&self, schema: &Value, effect: Effect) -> Result<(), ToolError> {
        match self.look(schema, effect).await.map_err(|error| unusable(&error))? {
            Verdict::Known | Verdict::New | Verdict::Added => Ok(()),
            Verdict::Changed => Err(changed(&self.name)),
        }
    }

    pub(crate) async fn look(&self, schema: &Value, effect: Effect) -> Result<Verdict, ApprovalsError> {
        let (description, schema) = (self.description.clone(), schema.clone());
        let described = Described { description, schema, effect: Some(effect), ..Described::default() };
        let (source, origin, name) = (self.source.clone(), self.origin.clone(), self.name.clone());
        off_thread(&self.approvals, move |approvals| {
            if approvals.known(&source, &origin).is_some() && approvals.is_approved(&source, &name, &described)? {
                return Ok(Verdict::Known);
            }
            let verdicts = approvals.listed(&source, &origin, &[(name, described)], NewTools::Ask)?;
            Ok(verdicts.first().copied().unwrap_or(Verdict::Changed))
        })
        .await
    }
}

#[cfg(test)]
mod tests;
