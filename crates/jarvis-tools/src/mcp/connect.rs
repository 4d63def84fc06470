//! Connections to MCP servers: how they are made, and the errors when they fail.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::Ordering;

use jarvis_net::http::{ClientOptions, Redirects, Route, client};
use jarvis_net::text::{Secret, shorten};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, ErrorCode, Implementation, ProtocolVersion, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientCacheConfig, ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tracing::Instrument as _;
use url::Url;

use super::faults::{self, redact};
use super::program::{Back, Pipes, Said, not_started, read_stderr};
use super::{McpServer, Signals, expand};
use crate::{ToolError, ToolErrorKind};

/// The longest answer over HTTP, in bytes; that of programs is bounded by the protocol's own crate.
const MAX_ANSWER: usize = 16 << 20;

/// Variables that programs need to work at all, and that hold no keys.
const PASSED_ON: &str = "PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE LC_ALL LC_CTYPE TZ TMPDIR TMP TEMP XDG_CACHE_HOME \
                         XDG_CONFIG_HOME XDG_DATA_HOME SYSTEMROOT COMSPEC PATHEXT APPDATA USERPROFILE";

pub(super) struct Connection {
    service: RunningService<RoleClient, Listener>,
    signals: Signals,
    secrets: Vec<Secret>,
    /// The address of a server over HTTP, as messages show it.
    place: Option<String>,
    /// What follows the server's news, and what reads the stderr of a program.
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Connection {
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.signals.broken.load(Ordering::Acquire) || self.service.is_closed() || self.peer().is_transport_closed()
    }

    pub(super) fn changes(&self) -> u64 {
        self.signals.changes.load(Ordering::Acquire)
    }

    pub(super) fn redact(&self, text: &str) -> String {
        redact(text, &self.secrets)
    }

    pub(super) fn failed(&self, server: &str, error: &ServiceError) -> ToolError {
        let (kind, what) = match error {
            ServiceError::McpError(error) => {
                let words = shorten(&error.message, 400);
                let lower = words.to_lowercase();
                let unknown = lower.contains("unknown tool") || lower.contains("tool not found");
                let kind = match error.code {
                    ErrorCode::METHOD_NOT_FOUND => ToolErrorKind::UnknownTool,
                    ErrorCode::INVALID_PARAMS if unknown || lower.contains("not found") => ToolErrorKind::UnknownTool,
                    ErrorCode::INVALID_PARAMS => ToolErrorKind::InvalidInput,
                    _ if unknown => ToolErrorKind::UnknownTool,
                    _ => ToolErrorKind::Failed,
                };
                (kind, format!("answers with an error: {words}"))
            }
            ServiceError::TransportSend(error) => {
                self.signals.break_off();
                faults::transport(error.error.as_ref(), self.place.as_deref(), "broke the connection off")
            }
            ServiceError::TransportClosed => {
                self.signals.break_off();
                (ToolErrorKind::Transport, "broke the connection off".to_owned())
            }
            ServiceError::Cancelled { .. } => (ToolErrorKind::Transport, "cancelled the call".to_owned()),
            ServiceError::Timeout { .. } => (ToolErrorKind::Timeout, "gave no answer in time".to_owned()),
            other => {
                (ToolErrorKind::Transport, format!("gives no usable answer: {}", shorten(&other.to_string(), 200)))
            }
        };
        ToolError::new(kind, self.redact(&format!("the MCP server `{server}` {what}")))
    }
}

/// Our side of a connection: says who we are, and listens for news. It offers the server nothing.
struct Listener(Signals);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("jarvis", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.change();
    }
}

/// A connection that was not made, and whether the server may be one of those that only know the earlier protocol and do not
/// say so as they should.
struct NotMade {
    error: ToolError,
    maybe_old: bool,
}

impl From<ToolError> for NotMade {
    fn from(error: ToolError) -> NotMade {
        NotMade { error, maybe_old: false }
    }
}

impl McpServer {
    /// Starts or reaches the server. Servers of both generations of the protocol are spoken with; the newer is tried first.
    pub(super) async fn connect(&self) -> Result<Connection, ToolError> {
        // The connection outlives the run that is the first to need it, and so must not be a part of it.
        let span = tracing::error_span!(parent: None, "mcp_connection", server = self.name());
        self.connect_either().instrument(span).await
    }

    async fn connect_either(&self) -> Result<Connection, ToolError> {
        let either = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        match self.connect_by(either).await {
            Ok(connection) => Ok(connection),
            Err(NotMade { maybe_old: true, .. }) => {
                self.connect_by(ClientLifecycleMode::Initialize).await.map_err(|not_made| not_made.error)
            }
            Err(NotMade { error, .. }) => Err(error),
        }
    }

    async fn connect_by(&self, lifecycle: ClientLifecycleMode) -> Result<Connection, NotMade> {
        let signals = Signals::default();
        let mut secrets = Vec::new();
        let listener = Listener(signals.clone());
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        let mut place = None;
        let service = match (&self.entry.command, &self.entry.url) {
            (Some(program), None) => {
                let (path, command) = self.command(program, &mut secrets)?;
                let (process, stderr) = TokioChildProcess::builder(command)
                    .stderr(Stdio::piped())
                    .spawn()
                    .map_err(|error| self.refused(ToolErrorKind::Unavailable, &not_started(program, &path, &error)))?;
                let said = self.listen_anew();
                let reading = stderr.map(|stderr| {
                    tokio::spawn(read_stderr(self.name().to_owned(), stderr, said.clone(), secrets.clone()))
                });
                tasks.extend(reading);
                let (pipes, back) = Pipes::of(process);
                match listener.serve_with_lifecycle(pipes, lifecycle).await {
                    Ok(service) => service,
                    Err(error) => {
                        let words = if gave_up(&error) {
                            self.ended(program, back, &said).await
                        } else {
                            format!("it {}", faults::handshake(&error, None).1)
                        };
                        for task in tasks {
                            task.abort();
                        }
                        let words = redact(&format!("does not work: {words}{}", said.words()), &secrets);
                        let maybe_old = is_old(&error) || matches!(error, ClientInitializeError::ConnectionClosed(_));
                        return Err(NotMade { error: self.refused(ToolErrorKind::Unavailable, &words), maybe_old });
                    }
                }
            }
            (None, Some(url)) => {
                let (address, transport) = self.over_http(url, &mut secrets)?;
                place = Some(faults::place(&address));
                listener.serve_with_lifecycle(transport, lifecycle).await.map_err(|error| {
                    let (kind, words) = faults::handshake(&error, place.as_deref());
                    NotMade { maybe_old: is_old(&error), error: self.refused(kind, &redact(&words, &secrets)) }
                })?
            }
            (Some(_), Some(_)) | (None, None) => {
                let words = "needs either `command` or `url` in the configuration";
                return Err(self.refused(ToolErrorKind::Unavailable, words).into());
            }
        };
        // What is compared with the approvals must come from the server itself.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        if service.peer().peer_info().is_some_and(|info| !info.protocol_version.has_initialize()) {
            tasks.push(tokio::spawn(follow(service.peer().clone(), signals.clone())));
        }
        Ok(Connection { service, signals, secrets, place, tasks })
    }

    fn refused(&self, kind: ToolErrorKind, what: &str) -> ToolError {
        ToolError::new(kind, format!("the MCP server `{}` {what}", self.name()))
    }

    fn expanded(&self, text: &str, secrets: &mut Vec<Secret>) -> Result<String, ToolError> {
        expand(text, &self.env, secrets).map_err(|name| {
            self.refused(
                ToolErrorKind::Unavailable,
                &format!("needs the environment variable {name}, which is not set"),
            )
        })
    }

    /// The program, as a path or as a name that is looked for on `PATH`, and the command that starts it.
    fn command(&self, program: &str, secrets: &mut Vec<Secret>) -> Result<(PathBuf, Command), ToolError> {
        let path = Path::new(program);
        let relative = path.is_relative() && path.components().count() > 1;
        let path = if relative { self.base.join(path) } else { path.to_owned() };
        let mut command = Command::new(&path);
        command.args(&self.entry.args).env_clear().kill_on_drop(true);
        for name in PASSED_ON.split_whitespace() {
            if let Some(value) = (self.env)(name) {
                command.env(name, value);
            }
        }
        for (name, value) in &self.entry.env {
            command.env(name, self.expanded(value, secrets)?);
        }
        Ok((path, command))
    }

    /// How a program ended that closed its pipes before it answered.
    async fn ended(&self, program: &str, back: Back, said: &Said) -> String {
        let ended = back.ended().await;
        // It tells why on stderr, a moment later.
        said.end().await;
        let how = match ended {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".to_owned(),
        };
        let silent = if said.words().is_empty() {
            ", and wrote nothing to stderr; is it an MCP server that speaks over stdin and stdout?"
        } else {
            ""
        };
        format!("its program `{}` {how} before it answered{silent}", shorten(program, 200))
    }

    fn over_http(
        &self,
        url: &str,
        secrets: &mut Vec<Secret>,
    ) -> Result<(Url, StreamableHttpClientTransport<reqwest::Client>), ToolError> {
        let address = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let address = address.ok_or_else(|| {
            self.refused(ToolErrorKind::Unavailable, "has no usable `url`: it must begin with http:// or https://")
        })?;
        // Errors of the transport may hold the address, and some addresses hold a key.
        secrets.extend([address.password(), address.query()].into_iter().flatten().filter_map(Secret::new));
        let mut headers = HashMap::new();
        for (name, value) in &self.entry.headers {
            let value = self.expanded(value, secrets)?;
            secrets.extend(Secret::new(&value));
            let pair = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let Some((name, mut value)) = pair else {
                let words = format!("has a header `{}` that cannot be sent", shorten(name, 80));
                return Err(self.refused(ToolErrorKind::Unavailable, &words));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let options = ClientOptions {
            route: Route::to(&address, None),
            redirects: Redirects::SameOriginAndMethod,
            keep_alive: false,
            ..ClientOptions::default()
        };
        let client = client(options).map_err(|error| ToolError::new(ToolErrorKind::Unavailable, error.to_string()))?;
        tracing::debug!(server = self.name(), address = faults::place(&address), "connecting to an MCP server");
        let config = StreamableHttpClientTransportConfig::with_uri(String::from(address.clone()))
            .custom_headers(headers)
            .max_sse_event_size(MAX_ANSWER);
        Ok((address, StreamableHttpClientTransport::with_client(client, config)))
    }
}

/// Whether a server knows the newer protocol only well enough to refuse it.
fn is_old(error: &ClientInitializeError) -> bool {
    matches!(error, ClientInitializeError::NoCompatibleProtocolVersion { .. })
}

/// Whether a program closed its pipes in place of an answer.
fn gave_up(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => true,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => gave_up(fallback),
        _ => false,
    }
}

/// Follows the news of a server of the newer protocol, which are sent to who asks for them.
async fn follow(peer: Peer<RoleClient>, signals: Signals) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    // A server that has no news to give says so with an error.
    let Ok(mut news) = peer.listen(filter).await else { return };
    while let Ok(Some(_)) = news.next().await {
        signals.change();
    }
    // Nobody would tell of later changes: what is offered is asked for once more.
    signals.change();
}
