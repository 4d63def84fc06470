//! An MCP server of our own: over HTTP within the test, or as a program, which is the test binary itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::request::Parts;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    DiscoverRequestMethod, DiscoverResult, ErrorCode, ErrorData, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData as McpError, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The variable that makes the test binary the server, and says of which kind.
pub(crate) const KIND: &str = "JARVIS_TEST_MCP_SERVER";

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Kind {
    #[default]
    Usual,
    /// It speaks the earlier generation of the protocol only.
    Old,
    /// Its list of tools has no end.
    Endless,
    /// It has more tools than anyone can need.
    Flood,
    Silent,
}

#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) kind: Kind,
    /// The description of `echo`; a change is told to those who listen.
    pub(crate) described: watch::Sender<String>,
    pub(crate) more: Arc<AtomicBool>,
    pub(crate) listed: Arc<AtomicUsize>,
    pub(crate) called: Arc<Mutex<Vec<String>>>,
    /// The next who asks for the tools gets no answer.
    pub(crate) stalls: Arc<AtomicBool>,
    /// Tells that somebody gets none.
    pub(crate) stalled: Arc<Notify>,
}

impl StandIn {
    pub(crate) fn new(kind: Kind) -> StandIn {
        let (described, _) = watch::channel("Echoes the message. It adds nothing.".to_owned());
        StandIn {
            kind,
            described,
            more: Arc::default(),
            listed: Arc::default(),
            called: Arc::default(),
            stalls: Arc::default(),
            stalled: Arc::default(),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let object = |properties: Value, required: Value| -> JsonObject {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            schema.as_object().unwrap().clone()
        };
        let none = || object(json!({}), json!([]));
        let echo = object(json!({"message": {"type": "string", "description": "what to say"}}), json!(["message"]));
        let mut tools = vec![
            Tool::new("echo", self.described.borrow().clone(), echo),
            Tool::new("picture", "Gives a picture.", none()),
            Tool::new("fail", "Fails.", none()),
            Tool::new("refuse", "Answers with an error of the protocol.", none()),
            Tool::new("hang", "Never answers.", none()),
            Tool::new("die", "Ends the server.", none()),
            Tool::new("see", "Tells the variables or the headers that it sees.", none()),
            Tool::new("hidden", "Adds\u{e0041}\u{e0042}\u{200b} numbers.", none()),
            Tool::new("bad name", "Has a name with a blank.", none()),
            Tool::new("mute", "", none()),
        ];
        if self.more.load(Ordering::SeqCst) {
            tools.push(Tool::new("more", "Came later.", none()));
        }
        if self.kind == Kind::Flood {
            tools.extend((0..2_000).map(|at| Tool::new(format!("t{at}"), "One of many.", none())));
        }
        tools
    }
}

impl ServerHandler for StandIn {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("stand-in", "1"))
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        match self.kind {
            Kind::Old => vec![ProtocolVersion::V_2025_06_18].into(),
            _ => vec![ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_06_18].into(),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, McpError> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        if self.stalls.swap(false, Ordering::SeqCst) {
            self.stalled.notify_one();
            std::future::pending::<()>().await;
        }
        if self.kind == Kind::Silent {
            // From here on only deadlines can pass; the test need not wait for them.
            tokio::time::pause();
            std::future::pending::<()>().await;
        }
        let start: usize = request.and_then(|params| params.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        // A page has three tools, so that there are several.
        let all = self.tools();
        let size = if self.kind == Kind::Flood { 700 } else { 3 };
        let end = (start + size).min(all.len());
        let next_cursor = match self.kind {
            Kind::Endless => Some((start + 1).to_string()),
            _ => (end < all.len()).then(|| end.to_string()),
        };
        let tools = if self.kind == Kind::Endless { Vec::new() } else { all[start..end].to_vec() };
        Ok(ListToolsResult { next_cursor, tools, ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, McpError> {
        self.called.lock().unwrap().push(request.name.clone().into_owned());
        let text = |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match &*request.name {
            "echo" => {
                let message = request.arguments.as_ref().and_then(|fields| fields.get("message")?.as_str());
                let message = message.unwrap_or_default();
                if message == "swap" {
                    self.described.send_replace("Echoes something else.".into());
                    // Who speaks the newer protocol hears of it by its subscription.
                    if self.kind == Kind::Old {
                        context.peer.notify_tool_list_changed().await.unwrap();
                    }
                }
                text(format!("Echo: {message}"))
            }
            "picture" => Ok(CallToolResult::success(vec![
                ContentBlock::text("Here it is."),
                ContentBlock::image("iVBORw0KGgo=", "image/png"),
            ])
            .into()),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("no such city")]).into()),
            "refuse" => Err(ErrorData::new(ErrorCode::INVALID_PARAMS, "the city must be a text", None)),
            "hang" => std::future::pending().await,
            "die" => std::process::exit(3),
            "see" => match context.extensions.get::<Parts>() {
                Some(parts) => {
                    let header = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
                    text(format!("{:?} {:?}", header("authorization"), header("x-team")))
                }
                None => {
                    let mut names: Vec<String> =
                        std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                    names.sort();
                    text(names.join("\n"))
                }
            },
            _ => Err(McpError::method_not_found::<CallToolRequestMethod>()),
        }
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, McpError> {
        match self.kind {
            Kind::Old => Err(McpError::method_not_found::<DiscoverRequestMethod>()),
            _ => Ok(DiscoverResult::new(self.supported_protocol_versions().to_vec(), self.get_info().capabilities)),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), McpError> {
        let mut described = self.described.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = described.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// A server over HTTP; it ends when dropped.
pub(crate) struct OverHttp {
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn over_http(server: StandIn) -> OverHttp {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service: StreamableHttpService<StandIn, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), StreamableHttpServerConfig::default());
    let router = axum::Router::new().nest_service("/mcp", service);
    OverHttp { url, task: tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }) }
}

/// The arguments that make the test binary run [`stand_in`] alone.
pub(crate) fn arguments() -> Vec<String> {
    ["mcp_server::stand_in", "--exact", "--nocapture", "--test-threads=2"].map(str::to_owned).to_vec()
}

/// The server as a program. In a usual run of the tests it does nothing.
#[tokio::test]
async fn stand_in() {
    let Ok(kind) = std::env::var(KIND) else { return };
    // Whoever listens there sees the end of this process.
    let _watched = std::env::var("WATCH").ok().map(|address| std::net::TcpStream::connect(address).unwrap());
    let stubborn = kind == "stubborn";
    let kind = match kind.as_str() {
        "old" => Kind::Old,
        "endless" => Kind::Endless,
        _ => Kind::Usual,
    };
    // Ends the line that the test runner may have begun; what is no message is skipped.
    println!();
    eprintln!("the stand-in starts");
    let server = StandIn::new(kind);
    let running = server.serve(rmcp::transport::stdio()).await.unwrap();
    running.waiting().await.unwrap();
    if stubborn {
        // The end of its input does not end it.
        std::future::pending::<()>().await;
    }
}
