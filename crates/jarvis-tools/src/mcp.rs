//! Tools of MCP servers: programs that are started, and servers over HTTP.
//!
//! A server is connected when one of its tools is first called, and once for all of them. What it says of its tools is not
//! trusted: it is cleaned, bounded, and must be as it was approved before anything is called.

mod connect;
mod faults;
mod list;
mod program;
mod result;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::approvals::{self, Approvals, Described, Verdict};
use crate::config::McpEntry;
use crate::{Env, Observation, Scope, Tool, ToolAddress, ToolError, ToolErrorKind, ToolSpec};
use connect::Connection;
use jarvis_net::text::{Secret, shorten};
use jarvis_net::trace::TraceContext;
use program::Said;

pub(crate) use list::Listing;

/// The longest that connecting to a server and listing its tools may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A server, connected or not. It is stopped or left when it is dropped.
pub struct McpServer {
    name: String,
    entry: McpEntry,
    /// What a relative program is relative to.
    base: PathBuf,
    env: Env,
    approvals: Arc<Approvals>,
    connection: Mutex<Option<Held>>,
    /// What the program says that was started last.
    said: std::sync::Mutex<Said>,
}

/// A connection with what was offered when it was last asked.
struct Held {
    connection: Arc<Connection>,
    listing: Arc<Listing>,
    /// How many changes the server had announced before it was asked.
    seen: u64,
}

impl McpServer {
    /// The server of a configuration's entry. Nothing is started yet.
    pub fn new(name: &str, entry: McpEntry, base: PathBuf, env: Env, approvals: Arc<Approvals>) -> McpServer {
        let name = name.to_owned();
        McpServer { name, entry, base, env, approvals, connection: Mutex::default(), said: std::sync::Mutex::default() }
    }

    fn said(&self) -> Said {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets what an earlier program said, for another one is started.
    fn listen_anew(&self) -> Said {
        let said = Said::default();
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said.clone();
        said
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn source(&self) -> String {
        approvals::mcp_source(&self.name)
    }

    /// A digest of where it is: another program or address is another server. Secrets in it cannot be read back.
    pub(crate) fn origin(&self) -> String {
        let entry = &self.entry;
        let whole = serde_json::json!([entry.command, entry.args, entry.env, entry.url]);
        approvals::sha256(whole.to_string().as_bytes())
    }

    /// What it offers now, with the verdict on each tool. Connects if necessary.
    pub(crate) async fn listing(&self) -> Result<Arc<Listing>, ToolError> {
        Ok(self.held().await?.1)
    }

    /// The connection, and what is offered over it. A closed connection is opened again once.
    async fn held(&self) -> Result<(Arc<Connection>, Arc<Listing>), ToolError> {
        let mut held = self.connection.lock().await;
        if held.as_ref().is_some_and(|held| held.connection.is_closed()) {
            *held = None;
        }
        let within = async {
            match held.as_mut() {
                Some(held) => {
                    let told = held.connection.changes();
                    if told != held.seen {
                        // A listing that fails, or that nobody waits for any more, leaves the change to the next call.
                        held.listing = self.list(&held.connection).await?;
                        held.seen = told;
                    }
                    Ok((Arc::clone(&held.connection), Arc::clone(&held.listing)))
                }
                None => {
                    let connection = Arc::new(self.connect().await?);
                    let seen = connection.changes();
                    let listing = self.list(&connection).await?;
                    *held = Some(Held { connection: Arc::clone(&connection), listing: Arc::clone(&listing), seen });
                    Ok((connection, listing))
                }
            }
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, within).await {
            Ok(done) => done,
            Err(_) => {
                let waited = CONNECT_TIMEOUT.as_secs();
                let said = self.said().words();
                let message =
                    format!("the MCP server `{}` did not say what it offers within {waited} s{said}", self.name);
                Err(ToolError::new(ToolErrorKind::Timeout, message))
            }
        }
    }

    async fn list(&self, connection: &Connection) -> Result<Arc<Listing>, ToolError> {
        let (tools, warnings) = list::tools(&self.name, connection).await?;
        let (source, origin, new_tools) = (self.source(), self.origin(), self.entry.new_tools);
        let offered: Vec<(String, Described)> =
            tools.iter().map(|(own, described)| (self.full(own), described.clone())).collect();
        let verdicts = approvals::off_thread(&self.approvals, move |approvals| {
            approvals.listed(&source, &origin, &offered, new_tools)
        })
        .await
        .map_err(|error| approvals::unusable(&error))?;
        for ((own, _), _) in tools.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Added) {
            tracing::warn!("{}", approvals::added(&self.full(own)).message);
        }
        Ok(Arc::new(Listing::new(tools, verdicts, warnings)))
    }

    pub(crate) fn full(&self, own: &str) -> String {
        format!("{}/{own}", self.name)
    }

    /// Calls one of its tools, when it is as it was approved.
    async fn call(&self, own: &str, input: &Value, timeout: Duration) -> Result<Observation, ToolError> {
        let (connection, listing) = self.held().await?;
        let Some((described, verdict)) = listing.get(own) else {
            let message = format!("the MCP server `{}` does not offer `{}` any more", self.name, shorten(own, 80));
            return Err(ToolError::new(ToolErrorKind::UnknownTool, message));
        };
        if matches!(verdict, Verdict::Changed | Verdict::Added) {
            let (source, full, described) = (self.source(), self.full(own), described.clone());
            let looked = approvals::off_thread(&self.approvals, move |approvals| {
                approvals.is_approved(&source, &full, &described)
            });
            if !looked.await.map_err(|error| approvals::unusable(&error))? {
                let full = self.full(own);
                return Err(if verdict == Verdict::Added {
                    approvals::added(&full)
                } else {
                    approvals::changed(&full)
                });
            }
        }
        let mut params = CallToolRequestParams::new(own.to_owned());
        params.arguments = input.as_object().cloned();
        for (field, value) in TraceContext::current().fields() {
            let meta = params.meta.get_or_insert_default();
            meta.insert(field.to_owned(), value.into());
        }
        let answered = tokio::time::timeout(timeout, connection.peer().call_tool_once(params)).await;
        let response = match answered {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let error = connection.failed(&self.name, &error);
                if self.entry.command.is_none() || !connection.is_closed() {
                    return Err(error);
                }
                let said = self.said();
                said.end().await;
                return Err(ToolError { message: format!("{}{}", error.message, said.words()), ..error });
            }
            Err(_) => {
                let waited = timeout.as_secs_f64();
                let message =
                    format!("`{}` gave no answer within {waited} s; `timeout_s` raises the limit", self.full(own));
                return Err(ToolError::new(ToolErrorKind::Timeout, message));
            }
        };
        let asks_back = || {
            let message = format!("`{}` asks back, or answers later, which is not supported here", self.full(own));
            Err(ToolError::new(ToolErrorKind::Unavailable, message))
        };
        let done = match response {
            CallToolResponse::Complete(result) => result::observation(result),
            CallToolResponse::InputRequired(_) | CallToolResponse::Task(_) => asks_back(),
            // The crate may come to know more kinds.
            _ => asks_back(),
        };
        match done {
            Ok(observation) => Ok(observation.cleaned(|text| connection.redact(text))),
            Err(error) => Err(ToolError { message: connection.redact(&error.message), ..error }),
        }
    }
}

/// A tool of a server.
pub struct McpTool {
    spec: ToolSpec,
    server: Arc<McpServer>,
    /// Its name at the server.
    own: String,
    timeout: Duration,
}

impl McpTool {
    pub(crate) fn new(spec: ToolSpec, server: Arc<McpServer>, own: String, timeout: Duration) -> McpTool {
        McpTool { spec, server, own, timeout }
    }

    /// The longest a call may take when the server must be connected first.
    pub(crate) fn longest(timeout: Duration) -> Duration {
        timeout + CONNECT_TIMEOUT + Duration::from_secs(1)
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
        self.server.call(&self.own, input, self.timeout).await
    }

    fn address(&self) -> ToolAddress {
        match &self.server.entry.url {
            Some(url) => ToolAddress::Url(url.clone()),
            None => ToolAddress::Program(self.server.name.clone()),
        }
    }
}

/// What the server announces while a connection lasts.
#[derive(Debug, Clone, Default)]
struct Signals {
    /// How often the server said that its tools changed.
    changes: Arc<AtomicU64>,
    /// Nothing comes through any more.
    broken: Arc<AtomicBool>,
}

impl Signals {
    fn break_off(&self) {
        self.broken.store(true, Ordering::Release);
    }

    fn change(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

/// Replaces `${NAME}` in a text by the variable of that name, and adds the values to `secrets`. `Err` is the name of one
/// that is not set.
fn expand(text: &str, env: &Env, secrets: &mut Vec<Secret>) -> Result<String, String> {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        whole.push_str(before);
        let Some((name, tail)) = after.split_once('}') else {
            whole.push_str("${");
            rest = after;
            continue;
        };
        let value = env(name).filter(|value| !value.is_empty()).ok_or_else(|| shorten(name, 80))?;
        secrets.extend(Secret::new(&value));
        whole.push_str(&value);
        rest = tail;
    }
    whole.push_str(rest);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_once() {
        let env: Env = Arc::new(|name| match name {
            "KEY" => Some("sk-${KEY}".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        for (text, whole) in [
            ("Bearer ${KEY}", Ok("Bearer sk-${KEY}")),
            ("plain $KEY {KEY}", Ok("plain $KEY {KEY}")),
            ("open ${KEY", Ok("open ${KEY")),
            ("${NONE}", Err("NONE")),
            ("${EMPTY}", Err("EMPTY")),
        ] {
            let mut secrets = Vec::new();
            let expanded = expand(text, &env, &mut secrets);
            assert_eq!(expanded.as_deref().map_err(String::as_str), whole);
            assert_eq!(secrets.len(), usize::from(text.contains("${KEY}")), "{text}");
        }
    }
}
