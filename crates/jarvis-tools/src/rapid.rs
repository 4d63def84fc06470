//! ToolBench's server, which calls tools at RapidAPI: each API of its tools is a tool here.
//!
//! One call is one `POST <base>/rapidapi`. The answer of the service is either text that a model may read or an
//! error; transient errors are retried after a pause. The key goes into the request and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_plan::ErrorCode;
use jarvis_prompt::literal::Literal;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use super::bodies::{describe_media, fault_of, is_lasting};
use super::names::{api_function_name, category_name, change_name, standardize};
use crate::service::{Reply, Service, join};
use crate::{Observation, Scope, Tool, ToolError, ToolErrorKind, ToolSpec};
use jarvis_net::http::Route;
use jarvis_net::retry::Retries;
use jarvis_net::text::{Secret, shorten};
use jarvis_store::sniff;

/// The largest reply that is read, in bytes. What a model gets of it is far less.
const MAX_BYTES: u64 = 16 << 20;

const WORDS: usize = 300;

/// How the server is called.
#[derive(Debug, Clone)]
pub struct RapidConfig {
    /// The server's address; `/rapidapi` is added.
    pub base: Url,
    /// The key for the server.
    pub key: Option<Secret>,
    /// Whether the key is one for RapidAPI itself, which the server passes on.
    pub direct: bool,
    /// How the server shortens long responses: `truncate`, `filter`, `random`.
    pub strip: String,
    /// The longest one try may take.
    pub timeout: Duration,
    /// The most characters of a result.
    pub limit: usize,
    /// The most calls a minute, evenly spaced; none for no limit.
    pub per_minute: Option<u32>,
    /// Retries of a call after a transient failure.
    pub retries: Retries,
    /// The proxy on the way; none for the environment's.
    pub proxy: Option<Secret>,
}

impl RapidConfig {
    /// The defaults of ToolBench: 15 s a try, 2,048 characters a result, three further tries, no spacing.
    pub fn new(base: Url, key: Option<Secret>) -> RapidConfig {
        RapidConfig {
            base,
            key,
            direct: false,
            strip: "truncate".to_owned(),
            timeout: Duration::from_secs(15),
            limit: 2_048,
            per_minute: None,
            retries: Retries { max: 3, first_pause: Duration::from_secs(1), ..Retries::default() },
            proxy: None,
        }
    }
}

/// ToolBench's observation code of a failure.
pub fn observation_code(kind: ToolErrorKind) -> u8 {
    match kind {
        ToolErrorKind::UnknownTool => 1,
        ToolErrorKind::InvalidInput => 2,
        ToolErrorKind::Timeout => 5,
        ToolErrorKind::Unavailable => 6,
        ToolErrorKind::Unauthorized => 7,
        ToolErrorKind::Unsubscribed => 8,
        ToolErrorKind::TooManyRequests => 9,
        ToolErrorKind::RateLimited => 10,
        ToolErrorKind::Failed => 11,
        ToolErrorKind::Transport => 12,
    }
}

/// ToolBench's server.
#[derive(Debug)]
pub struct RapidServer {
    config: RapidConfig,
    url: Url,
    header: Option<HeaderValue>,
    service: Service,
    /// When the next call may start, where calls are spaced.
    next: Mutex<Option<Instant>>,
}

/// A failure, and whether the same call may do better a little later.
#[derive(Debug)]
struct Failed {
    error: ToolError,
    passing: bool,
}

impl RapidServer {
    /// A server that is called like this. Nothing is sent before the first call.
    ///
    /// # Errors
    /// When the address cannot be one of a service, or the key cannot be sent.
    pub fn new(config: RapidConfig) -> Result<RapidServer, ToolError> {
        let url = join(&config.base, ["rapidapi"])
            .map_err(|error| ToolError::new(ToolErrorKind::Transport, error.to_string()))?;
        let header = match &config.key {
            Some(key) => {
                let mut value = HeaderValue::from_str(key.expose()).map_err(|_| {
                    ToolError::new(
                        ToolErrorKind::Unauthorized,
                        "the tool server's key has characters that cannot be sent",
                    )
                })?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let service = Service::new("the tool server", config.timeout, MAX_BYTES)
            .route(Route::to(&config.base, config.proxy.as_ref()));
        Ok(RapidServer { config, url, header, service, next: Mutex::new(None) })
    }

    /// Waits for the call's turn, where calls are spaced.
    async fn turn(&self) {
        let Some(per_minute) = self.config.per_minute.filter(|calls| *calls > 0) else { return };
        let space = Duration::from_secs(60) / per_minute;
        let start = {
            let mut next = self.next.lock().await;
            let start = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(start + space);
            start
        };
        tokio::time::sleep_until(start).await;
    }

    async fn call_with(&self, api: &RapidApi, arguments: &IndexMap<String, Literal>) -> Result<String, ToolError> {
        let attempt = || async {
            self.turn().await;
            self.once(api, arguments).await
        };
        let pause = |failed: &Failed, scheduled| failed.passing.then_some(scheduled);
        self.config.retries.run(attempt, pause).await.map_err(|failed| failed.error)
    }

    async fn once(&self, api: &RapidApi, arguments: &IndexMap<String, Literal>) -> Result<String, Failed> {
        let input = if arguments.is_empty() { String::new() } else { Literal::Map(arguments.clone()).to_string() };
        let mut body = json!({
            "category": api.category,
            "tool_name": api.tool,
            "api_name": api.api,
            "tool_input": input,
            "strip": self.config.strip,
        });
        if let (Some(fields), Some(key)) = (body.as_object_mut(), &self.config.key) {
            let name = if self.config.direct { "rapidapi_key" } else { "toolbench_key" };
            fields.insert(name.to_owned(), key.expose().into());
        }
        let request =
            self.service.post(self.url.clone()).await.map_err(|error| self.failed(&error.message, error.code))?;
        let request = match &self.header {
            Some(header) => request.header("toolbench_key", header.clone()),
            None => request,
        };
        let reply =
            self.service.send(request.json(&body)).await.map_err(|error| self.failed(&error.message, error.code))?;
        self.read(&reply)
    }

    /// A failure of the way there and back.
    fn failed(&self, message: &str, code: ErrorCode) -> Failed {
        let kind = if code == ErrorCode::Timeout { ToolErrorKind::Timeout } else { ToolErrorKind::Transport };
        // Too long an answer will not be shorter next time.
        let passing = kind.is_retryable() && !matches!(code, ErrorCode::TooLarge | ErrorCode::NotConfigured);
        Failed { error: self.error(kind, message), passing }
    }

    /// A failure of a kind; what is said loses the key.
    fn error(&self, kind: ToolErrorKind, message: &str) -> ToolError {
        ToolError::new(kind, self.redact(message))
    }

    fn fault(&self, kind: ToolErrorKind, message: &str) -> Failed {
        Failed { error: self.error(kind, message), passing: kind.is_retryable() }
    }

    fn redact(&self, text: &str) -> String {
        Secret::redact_from(self.config.key.as_ref(), text)
    }

    fn read(&self, reply: &Reply) -> Result<String, Failed> {
        let status = reply.status.as_u16();
        if !reply.status.is_success() {
            let kind = match status {
                401 | 403 => ToolErrorKind::Unauthorized,
                404 => ToolErrorKind::UnknownTool,
                408 => ToolErrorKind::Timeout,
                429 => ToolErrorKind::TooManyRequests,
                _ => ToolErrorKind::Transport,
            };
            let message = format!("request invalid, data error. status_code={status}");
            let passing = kind.is_retryable() && (matches!(status, 408 | 429) || status >= 500);
            return Err(Failed { error: self.error(kind, &message), passing });
        }
        let fields = reply.json.as_ref().and_then(Value::as_object);
        let Some(fields) = fields.filter(|fields| fields.contains_key("error") || fields.contains_key("response"))
        else {
            let found = sniff::describe(&reply.body);
            let message = format!(
                "the tool server should have answered with `error` and `response`, but its answer is {found} of {} bytes",
                reply.body.len()
            );
            return Err(Failed { error: self.error(ToolErrorKind::Transport, &message), passing: false });
        };
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let (error, response) = (text("error"), text("response"));
        let media = describe_media(&response);
        if !error.trim().is_empty() {
            let response = media.unwrap_or_else(|| shorten(&response, WORDS));
            let words = if response.is_empty() {
                shorten(&error, WORDS)
            } else {
                format!("{}: {response}", shorten(&error, WORDS))
            };
            let mut failed = self.fault(kind_of(&error), &words);
            failed.passing |= starts(&error, "gateway error");
            failed.passing &= !is_lasting(&words);
            return Err(failed);
        }
        if let Some(media) = media {
            return Ok(self.redact(&media));
        }
        if let Some(kind) = fault_of(&response) {
            let mut failed = self.fault(kind, &shorten(&response, WORDS));
            failed.passing &= !is_lasting(&response);
            return Err(failed);
        }
        Ok(cut(&self.redact(&response), self.config.limit))
    }
}

fn starts(error: &str, with: &str) -> bool {
    error.trim_start().to_ascii_lowercase().starts_with(with)
}

/// The kind of a failure that the server names in `error`.
fn kind_of(error: &str) -> ToolErrorKind {
    let is = |with: &str| starts(error, with);
    match () {
        () if is("api not working error") || is("api temporarily not working error") => ToolErrorKind::Unavailable,
        () if is("unauthorized error") || is("blocked error") => ToolErrorKind::Unauthorized,
        () if is("unsubscribed error") => ToolErrorKind::Unsubscribed,
        () if is("too many requests error") => ToolErrorKind::TooManyRequests,
        () if is("rate limit") => ToolErrorKind::RateLimited,
        () if is("timeout error") => ToolErrorKind::Timeout,
        () if is("gateway error") || is("request invalid") => ToolErrorKind::Transport,
        () if is("tool input parse error") => ToolErrorKind::InvalidInput,
        () if is("no such function name") || is("no such api") => ToolErrorKind::UnknownTool,
        () if is("function executing") => {
            // The tool's code tells in its own language that the arguments are not its own.
            let about_arguments = ["unexpected keyword argument", "required positional argument", "invalid syntax"];
            match about_arguments.iter().any(|words| error.contains(words)) {
                true => ToolErrorKind::InvalidInput,
                false => ToolErrorKind::Unavailable,
            }
        }
        () => ToolErrorKind::Failed,
    }
}

/// The text within so many characters; a mark shows where it was cut.
fn cut(text: &str, limit: usize) -> String {
    let all = text.chars().count();
    if all <= limit {
        return text.to_owned();
    }
    let mark = format!("… [cut, {all} characters in all]");
    let kept = limit.saturating_sub(mark.chars().count());
    text.chars().take(kept).chain(mark.chars()).collect()
}

/// The arguments as they are tried, one after another, while the tool does not take them: names as given; in lower case
/// and no keywords; with `_` for `-`; without backslashes. Each builds on the one before.
fn variants(arguments: &IndexMap<String, Literal>) -> Vec<IndexMap<String, Literal>> {
    let renamed = |from: &IndexMap<String, Literal>, to: fn(&str) -> String| -> IndexMap<String, Literal> {
        from.iter().map(|(name, value)| (to(name), value.clone())).collect()
    };
    let plain = renamed(arguments, |name| change_name(&name.to_lowercase()));
    let joined = renamed(&plain, |name| name.replace('-', "_"));
    let bare = renamed(&joined, |name| name.replace('\\', ""));
    let mut tried: Vec<IndexMap<String, Literal>> = Vec::new();
    for variant in [arguments.clone(), plain, joined, bare] {
        // Two names that become one would lose a value.
        if variant.len() == arguments.len() && !tried.contains(&variant) {
            tried.push(variant);
        }
    }
    tried
}

/// One API of a tool at ToolBench's server.
#[derive(Debug)]
pub struct RapidApi {
    spec: ToolSpec,
    server: Arc<RapidServer>,
    category: String,
    tool: String,
    api: String,
}

impl RapidApi {
    /// The API of a tool of a category (empty where unknown), by their names in RapidAPI's or in ToolBench's spelling.
    pub fn new(spec: ToolSpec, server: Arc<RapidServer>, category: &str, tool: &str, api: &str) -> RapidApi {
        let (category, tool, api) = (category_name(category), standardize(tool), api_function_name(api));
        RapidApi { spec, server, category, tool, api }
    }

    /// How the server names an API: its category, its tool and itself.
    pub fn path(category: &str, tool: &str, api: &str) -> String {
        format!("{}/{}/{}", category_name(category), standardize(tool), api_function_name(api))
    }

    /// The arguments as the server reads them: integers beyond 64 bits, which are strings in JSON, are numbers again where
    /// the schema asks for one.
    fn arguments(&self, input: &Value) -> IndexMap<String, Literal> {
        let wants_number = |name: &str| {
            let kind =
                self.spec.input_schema.pointer("/properties").and_then(|all| all.get(name)?.get("type")?.as_str());
            matches!(kind, Some("integer" | "number"))
        };
        let literal = |(name, value): (&String, &Value)| {
            let literal = match value.as_str().map(Literal::parse) {
                Some(Ok(int @ Literal::Int(_))) if wants_number(name) => int,
                Some(_) | None => Literal::from(value),
            };
            (name.clone(), literal)
        };
        input.as_object().into_iter().flatten().map(literal).collect()
    }
}

#[async_trait]
impl Tool for RapidApi {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
        let mut first = None;
        for arguments in variants(&self.arguments(input)) {
            match self.server.call_with(self, &arguments).await {
                Ok(text) => {
                    return Ok(Observation { value: serde_json::from_str(&text).ok(), ..Observation::text(text) });
                }
                // Only the names of arguments are at fault here.
                Err(error) if error.kind == ToolErrorKind::InvalidInput => {
                    first.get_or_insert(error);
                }
                Err(error) => return Err(first.unwrap_or(error)),
            }
        }
        Err(first.unwrap_or_else(|| ToolError::new(ToolErrorKind::InvalidInput, "there is nothing to call with")))
    }
}

#[cfg(test)]
mod tests;
