//! A registry out of a configuration: each entry checked, what services describe derived, what others describe compared with
//! what was approved.
//!
//! An entry that cannot be used leaves out its own tools, with a warning; a service that is down is a warning too, for it may be
//! up when it is called.

#[cfg(feature = "grpc")]
mod grpc;
#[cfg(not(feature = "grpc"))]
#[path = "open/no_grpc.rs"]
mod grpc;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(not(feature = "mcp"))]
#[path = "open/no_mcp.rs"]
mod mcp;
mod openapi;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use jarvis_catalogue::openapi::ApiError;
use jarvis_plan::Effect;
use serde::Serialize;

use crate::approvals::{Approval, Approvals, ApprovalsError, Change, added, changed, grpc_source, mcp_source};
use crate::config::{ToolEntry, ToolsConfig};
#[cfg(feature = "grpc")]
use crate::grpc::GrpcError;
use crate::registry::missing;
use crate::{CALL_TIMEOUT, Registry, RegistryError, Tool, ToolSource, ToolSpec};
use jarvis_net::causes::in_one;
use jarvis_net::text::Secret;

/// How many servers are asked at once.
const AT_ONCE: usize = 8;

/// The longest that a call may be given, in seconds.
const MAX_TIMEOUT_S: u64 = 3_600;

/// Reads a variable of the environment.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What opening a registry needs beside the configuration.
#[derive(Clone)]
pub struct OpenOptions {
    /// The file of approvals; it need not be there yet.
    pub approvals: PathBuf,
    /// Reads a variable of the environment.
    pub env: Env,
    /// What relative paths of the configuration are relative to.
    pub base: PathBuf,
    /// Asks all servers what they offer, also those that are known.
    pub refresh: bool,
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions")
            .field("approvals", &self.approvals)
            .field("base", &self.base)
            .field("refresh", &self.refresh)
            .finish_non_exhaustive()
    }
}

impl OpenOptions {
    /// The environment of this process, paths relative to a folder, and servers asked only where nothing is known of them.
    pub fn new(approvals: impl Into<PathBuf>, base: impl Into<PathBuf>) -> OpenOptions {
        let env: Env = Arc::new(|name| std::env::var(name).ok());
        OpenOptions { approvals: approvals.into(), env, base: base.into(), refresh: false }
    }
}

/// A tool that is offered to plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// Its name in the registry.
    pub name: String,
    /// The task type that it serves, beside being a task of its own name.
    pub serves: Option<String>,
}

/// A tool, or the tools of a server, that the configuration names and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// Its name, as far as the configuration says one.
    pub name: String,
    /// Why, in words.
    pub reason: String,
}

/// An opened registry.
#[derive(Debug)]
pub struct Opened {
    /// The tools: those that were given, those of `tools` in the configuration's order, those of MCP servers by name.
    pub registry: Registry,
    /// What a person should know: servers that are down, descriptions that changed or hide something.
    pub warnings: Vec<String>,
    /// What was approved just now because it was seen for the first time.
    pub notes: Vec<String>,
    /// The tools that are offered to plans.
    pub planned: Vec<Planned>,
    /// What the configuration names and there is not; each has a warning.
    pub unavailable: Vec<Unavailable>,
    /// What was approved of tools that others describe.
    pub approvals: Arc<Approvals>,
}

impl Opened {
    /// What is approved of a tool that others describe, and what is offered now where that differs.
    pub fn approval(&self, name: &str) -> Option<Approval> {
        let (source, tool) = self.source(name);
        self.approvals.get(&source, &tool?)
    }

    /// The tools that differ from their approval: the tool of that name or, failing that, all tools of the MCP server
    /// of that name. `NAME/` always means the server.
    ///
    /// # Errors
    /// When nothing of that name is known, or the file cannot be read.
    pub fn changes(&self, name: &str) -> Result<Vec<Change>, ApprovalsError> {
        let (source, tool) = self.source(name);
        let changes = self.approvals.changes(&source, tool.as_deref())?;
        changes.ok_or_else(|| ApprovalsError::Unknown(jarvis_net::text::shorten(name, 80)))
    }

    /// The warnings for who approves what `name` means, as [`Opened::changes`] reads it: all but those that ask for just that.
    pub fn warnings_beside(&self, name: &str) -> impl Iterator<Item = &str> {
        let (source, tool) = self.source(name);
        let tools = tool.map_or_else(|| self.approvals.names(&source), |tool| vec![tool]);
        let asked: Vec<String> = tools.iter().flat_map(|tool| [changed(tool).message, added(tool).message]).collect();
        self.warnings.iter().filter(move |warning| !asked.contains(warning)).map(String::as_str)
    }

    /// The source in the file of approvals that a name means, and the tool unless all of its tools are meant.
    fn source(&self, name: &str) -> (String, Option<String>) {
        if self.registry.spec(name).is_some_and(|spec| spec.source == ToolSource::Grpc) {
            return (grpc_source(name), Some(name.to_owned()));
        }
        match name.split_once('/') {
            None => (mcp_source(name), None),
            Some((server, "")) => (mcp_source(server), None),
            Some((server, _)) => (mcp_source(server), Some(name.to_owned())),
        }
    }
}

/// Why an entry cannot be used, or that there can be no registry at all.
#[allow(missing_docs, reason = "each message says what its variant is")]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{entry} lacks {missing}")]
    Missing { entry: String, missing: String },
    #[error("{entry} must have exactly one of {of}")]
    OneOf { entry: String, of: &'static str },
    #[error("{entry} names no built-in tool; there are: {known}")]
    NotNative { entry: String, known: String },
    #[error("{entry}: {reason}")]
    Invalid { entry: String, reason: String },
    #[error("{entry} needs a build of jarvis with the feature `{feature}`")]
    NotBuilt { entry: String, feature: &'static str },
    #[cfg(feature = "grpc")]
    #[error("{entry} cannot be used")]
    Grpc { entry: String, source: GrpcError },
    #[error("{entry}: the document {} cannot be used", .path.display())]
    Document { entry: String, path: PathBuf, source: ApiError },
    #[error("{entry}: {reason}")]
    Registry { entry: String, reason: RegistryError },
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
}

/// Opens the tools of a configuration beside those that a registry already has: the built-in ones. Where the file of approvals
/// cannot be used, the tools that need an approval are left out, with a warning, and the file stays as it is.
///
/// An entry that cannot be used is left out with a warning, and listed as unavailable.
///
/// # Errors
/// When the file of approvals cannot even be looked for.
pub fn open<'a>(
    config: &'a ToolsConfig,
    registry: Registry,
    options: OpenOptions,
) -> BoxFuture<'a, Result<Opened, OpenError>> {
    async move {
        let path = options.approvals.clone();
        let (approvals, unusable) = match tokio::task::spawn_blocking(move || Approvals::open(path)).await {
            Ok(Ok(approvals)) => (approvals, None),
            Ok(Err(error)) => (Approvals::unknown(options.approvals.clone()), Some(in_one(&error))),
            Err(error) => {
                let source = std::io::Error::other(error.to_string());
                return Err(ApprovalsError::Read { path: options.approvals.clone(), source }.into());
            }
        };
        let approvals = Arc::new(approvals);
        let mut opening = Opening {
            options,
            approvals: Arc::clone(&approvals),
            unusable,
            left_out: Vec::new(),
            registry,
            warnings: Vec::new(),
            notes: Vec::new(),
            planned: Vec::new(),
            unavailable: Vec::new(),
            endpoints: Vec::new(),
        };
        for (at, entry) in config.tools.iter().enumerate() {
            let before = opening.mark_of();
            let added = opening.add(&called(at, entry), entry).await;
            opening.look_at(&name_of(at, entry), before, added);
        }
        // Servers are asked at once, and their tools added in order of their names.
        let mut asked = Vec::new();
        for (name, entry) in &config.mcp_servers {
            match mcp::ask(name, entry, opening.options.clone(), Arc::clone(&approvals)) {
                Ok(_) if opening.unusable.is_some() => {
                    opening.left_out.push(format!("those of the MCP server `{name}`"));
                }
                Ok(asking) => asked.push(asking.map(move |offer| (name, entry, offer))),
                Err(error) => opening.leave_out(name, &error),
            }
        }
        let offers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        for (name, entry, offer) in offers {
            let before = opening.mark_of();
            let added = opening.add_server(name, entry, offer);
            opening.look_at(&format!("{name}/"), before, added);
        }
        opening.tell_left_out();
        let Opening { registry, warnings, notes, planned, unavailable, .. } = opening;
        Ok(Opened { registry, warnings, notes, planned, unavailable, approvals })
    }
    .boxed()
}

/// An entry of `tools`, as messages call it.
fn called(at: usize, entry: &ToolEntry) -> String {
    let name = entry.native.as_deref().unwrap_or(&entry.name);
    match name.trim() {
        "" => format!("entry {} of `tools`", at + 1),
        name => format!("entry {} of `tools` (`{}`)", at + 1, jarvis_net::text::shorten(name, 80)),
    }
}

/// The name of an entry in the list of tools.
fn name_of(at: usize, entry: &ToolEntry) -> String {
    match entry.native.as_deref().unwrap_or(&entry.name).trim() {
        "" => format!("entry {}", at + 1),
        name => jarvis_net::text::shorten(name, 80),
    }
}

struct Opening {
    options: OpenOptions,
    approvals: Arc<Approvals>,
    /// Why the file of approvals cannot be used, in words.
    unusable: Option<String>,
    /// The tools that are left out because of that, as messages call them.
    left_out: Vec<String>,
    registry: Registry,
    warnings: Vec<String>,
    notes: Vec<String>,
    planned: Vec<Planned>,
    unavailable: Vec<Unavailable>,
    /// The gRPC services so far, with what makes them the same.
    endpoints: Vec<grpc::Shared>,
}

impl Opening {
    /// How many tools, warnings and left-out tools there are so far.
    fn mark_of(&self) -> (usize, usize, usize) {
        (self.planned.len(), self.warnings.len(), self.left_out.len())
    }

    /// Notes what adding an entry came to: no tool of it, where it failed or its service could not be asked.
    fn look_at(&mut self, name: &str, before: (usize, usize, usize), added: Result<(), OpenError>) {
        let (planned, warned, left_out) = before;
        match added {
            Err(error) => self.leave_out(name, &error),
            Ok(()) if self.planned.len() > planned => {}
            Ok(()) => {
                let unapproved = self.unusable.clone().filter(|_| self.left_out.len() > left_out);
                let told = self.warnings.get(warned..).and_then(|new| new.first()).cloned();
                if let Some(reason) = unapproved.or(told) {
                    self.unavailable.push(Unavailable { name: name.to_owned(), reason });
                }
            }
        }
    }

    fn leave_out(&mut self, name: &str, error: &OpenError) {
        let reason = in_one(error);
        self.warnings.push(format!("{reason}; it is left out"));
        self.unavailable.push(Unavailable { name: name.to_owned(), reason });
    }

    async fn add(&mut self, called: &str, entry: &ToolEntry) -> Result<(), OpenError> {
        if let Some(reason) = &entry.unreadable {
            return Err(OpenError::Invalid { entry: called.to_owned(), reason: reason.clone() });
        }
        if let Some(task) = entry.serves.as_deref().filter(|task| jarvis_catalogue::find(task).is_none()) {
            let reason = format!("a tool is to serve `{task}`, which is no task type");
            return Err(OpenError::Invalid { entry: called.to_owned(), reason });
        }
        match (&entry.native, &entry.grpc, &entry.openapi) {
            (Some(name), None, None) => self.mark(called, entry, name),
            (None, Some(method), None) => self.add_grpc(called, entry, method).await,
            (None, None, Some(api)) => self.add_openapi(called, entry, api).await,
            _ => Err(OpenError::OneOf { entry: called.to_owned(), of: "`native`, `grpc` and `openapi`" }),
        }
    }

    /// Tells of the tools that need an approval when there can be none, once for all.
    fn tell_left_out(&mut self) {
        if let (Some(reason), false) = (&self.unusable, self.left_out.is_empty()) {
            let words = format!("these tools are left out: {}, for {reason}", self.left_out.join(", "));
            self.warnings.insert(0, words);
        }
    }

    fn mark(&mut self, called: &str, entry: &ToolEntry, name: &str) -> Result<(), OpenError> {
        if self.registry.spec(name).is_none() {
            let known: Vec<&str> = self.registry.specs().map(|spec| spec.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(OpenError::NotNative { entry: called.to_owned(), known });
        }
        self.plan(name, entry.serves.clone());
        Ok(())
    }

    fn plan(&mut self, name: &str, serves: Option<String>) {
        self.planned.push(Planned { name: name.to_owned(), serves });
    }

    fn take(
        &mut self,
        called: &str,
        tool: Arc<dyn Tool>,
        timeout: Duration,
        serves: Option<String>,
    ) -> Result<(), OpenError> {
        let name = tool.spec().name.clone();
        self.registry
            .add_with(tool, timeout)
            .map_err(|reason| OpenError::Registry { entry: called.to_owned(), reason })?;
        self.plan(&name, serves);
        Ok(())
    }

    /// The value of a variable that holds a token; a warning where it is not set.
    fn token(&mut self, called: &str, variable: Option<&str>) -> Option<Secret> {
        let variable = variable?;
        let token = (self.options.env)(variable).as_deref().and_then(Secret::new);
        if token.is_none() {
            self.warnings.push(format!("{called}: the environment variable {variable} is not set; no key is sent"));
        }
        token
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.options.base.join(path)
    }
}

fn timeout_of(called: &str, seconds: Option<u64>) -> Result<Duration, OpenError> {
    match seconds {
        None => Ok(CALL_TIMEOUT),
        Some(seconds @ 1..=MAX_TIMEOUT_S) => Ok(Duration::from_secs(seconds)),
        Some(_) => {
            let reason = format!("`timeout_s` must be from 1 to {MAX_TIMEOUT_S}");
            Err(OpenError::Invalid { entry: called.to_owned(), reason })
        }
    }
}

fn spec_of(entry: &ToolEntry, source: ToolSource) -> ToolSpec {
    ToolSpec {
        name: entry.name.trim().to_owned(),
        description: entry.description.clone(),
        when: entry.when.clone(),
        input_schema: entry.input_schema.clone().unwrap_or_default(),
        example: entry.example.clone().unwrap_or_default(),
        output_schema: None,
        effect: entry.effect.unwrap_or(Effect::Writes),
        source,
    }
}

fn complete(called: &str, spec: &ToolSpec) -> Result<(), OpenError> {
    let missing = missing(spec);
    if missing.is_empty() {
        return Ok(());
    }
    Err(OpenError::Missing { entry: called.to_owned(), missing: missing.join(", ") })
}

/// Runs work on files off the runtime's threads.
async fn blocking<T: Send + 'static, E: Send + 'static>(
    called: &str,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
    failed: impl FnOnce(E) -> OpenError,
) -> Result<T, OpenError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failed),
        Err(_) => Err(OpenError::Invalid {
            entry: called.to_owned(),
            reason: "its files could not be read to the end".into(),
        }),
    }
}
