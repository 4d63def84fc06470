//! The MCP endpoint: any client of the Model Context Protocol uses jarvis by the tools `run`, `plan` and `ask`, and reads runs and files as
//! resources, over HTTP at `/mcp` or over standard input and output.
//!
//! Both generations of the protocol are spoken: 2026-07-28, where each request stands for itself, and the earlier ones,
//! which begin with `initialize`. Calls become runs like those of the other protocols. Nothing is sent unasked, so there is
//! no stream to listen to.

mod args;
mod calls;
mod content;
mod leave;
mod progress;
mod resources;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post_service};
use futures::StreamExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::ServeError;
use crate::error::ApiError;
use crate::guard;
use crate::state::Server;
use crate::users::Caller;

/// Sessions of the earlier protocol at once.
const MOST_SESSIONS: usize = 1_024;

/// How long a session may lie idle; a call that tells nothing on its way is idle too.
const IDLE: Duration = Duration::from_secs(30 * 60);

const INSTRUCTIONS: &str = "jarvis does work with expert models on its own: pictures (describe, segment, detect, edges, \
    depth, generate), sound (transcribe, speak), video and text (summarise, translate, classify, extract). `run` plans \
    a request into tasks, chooses a model for each, runs them and answers; pictures and sounds that were made come back \
    with the answer. `plan` only decides, and nothing is carried out. `ask` answers a question about one document, by \
    search, counting and arithmetic, and draws charts. Give a whole request in plain words rather than one step at a \
    time; name the files that it is about as you name them in `files`.";

/// Where a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// On this machine, and it started us: it may know where files are on the disk.
    Here,
    /// Anywhere.
    There,
}

#[derive(Clone)]
pub(crate) struct Jarvis {
    server: Server,
    client: Client,
}

impl ServerHandler for Jarvis {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("jarvis", env!("CARGO_PKG_VERSION"))
            .with_title("jarvis")
            .with_description("Plans a request into tasks, runs a model for each, and answers");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(&self.server.working_pipelines())))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.runs(request, &context).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read(&request.uri, &context).await.map(ReadResourceResponse::from)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all(&self.server.working_pipelines()).into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = args::Call::read(&request.name, request.arguments)?;
        let gone = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Gone>()).cloned();
        let left = async {
            match gone {
                Some(Gone(gone)) => gone.cancelled().await,
                None => std::future::pending().await,
            }
        };
        // What is dropped here cancels its run.
        tokio::select! {
            biased;
            result = self.carry_out(call, &context) => result.map(CallToolResponse::from),
            () = context.ct.cancelled() => Err(cancelled()),
            () = left => Err(cancelled()),
        }
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

/// Says that the connection which a request came over is closed.
#[derive(Debug, Clone)]
struct Gone(CancellationToken);

/// The sessions of the earlier protocol, each of the user who opened it.
#[derive(Clone)]
struct Sessions {
    open: Arc<LocalSessionManager>,
    /// The users by the ids of their sessions.
    users: Arc<Mutex<HashMap<String, String>>>,
}

impl Sessions {
    /// Whether a session is this user's; one that nobody opened is refused further on.
    fn is_of(&self, id: &str, user: &str) -> bool {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).get(id).is_none_or(|of| of == user)
    }

    /// Remembers who opened a session, and forgets those that have ended.
    async fn opened(&self, id: &str, user: &str) {
        let open = self.open.sessions.read().await;
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|id, _| open.contains_key(id.as_str()));
        users.insert(id.to_owned(), user.to_owned());
    }
}

/// The route `/mcp`. Where a request comes from, and whether it carries the token, is checked before. `closed` ends the
/// sessions.
pub(crate) fn route(server: &Server, closed: CancellationToken) -> MethodRouter<Server> {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE);
    config.sse_retry = None;
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = config;
    let sessions = Sessions { open: Arc::new(sessions), users: Arc::default() };
    // Hosts and origins were checked by then, as those of every route.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_sse_keep_alive(Some(server.options.heartbeat))
        // A stream that broke off is not taken up again: its run is cancelled.
        .with_sse_retry(None)
        .with_max_request_body_bytes(guard::most_with_files(&server.options))
        .with_cancellation_token(closed);
    let handler = Jarvis { server: server.clone(), client: Client::There };
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions.open), config);
    post_service(service.clone()).delete_service(service).layer(middleware::from_fn_with_state(sessions, watched))
}

/// Notices when the caller goes away, and keeps the number of sessions within bounds.
async fn watched(State(sessions): State<Sessions>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    // Only a request that opens a session has neither.
    let opens = !headers.contains_key("mcp-session-id") && !headers.contains_key("mcp-method");
    if opens && sessions.open.sessions.read().await.len() >= MOST_SESSIONS {
        let message = format!("the limit of {MOST_SESSIONS} open sessions is reached");
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
            .hint("end sessions with DELETE, or use the protocol of 2026-07-28, which needs none")
            .into_response();
    }
    let id = |headers: &HeaderMap| headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let user = request.extensions().get::<Caller>().map(|caller| caller.name().to_owned()).unwrap_or_default();
    if id(request.headers()).is_some_and(|id| !sessions.is_of(&id, &user)) {
        return ApiError::not_found("there is no such session").into_response();
    }
    let gone = CancellationToken::new();
    request.extensions_mut().insert(Gone(gone.clone()));
    let held = gone.drop_guard();
    let response = next.run(request).await;
    if let Some(id) = id(response.headers()).filter(|_| opens) {
        sessions.opened(&id, &user).await;
    }
    response.map(|body| {
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let _held = &held;
            piece
        }))
    })
}

/// Serves a client over standard input and output until it closes them, or `stop` is cancelled; what still runs then is
/// cancelled.
pub(crate) async fn stdio(server: Server, stop: CancellationToken) -> Result<(), ServeError> {
    let handler = Jarvis { server: server.clone(), client: Client::Here };
    let served = async {
        let transport = rmcp::transport::stdio();
        match rmcp::service::serve_server_with_ct(handler, transport, stop.clone()).await {
            Ok(service) => service.waiting().await.map(drop).map_err(|error| ServeError::Mcp(error.to_string())),
            // A client that leaves before it sent anything, or a stop.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_))
            | Err(rmcp::service::ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(ServeError::Mcp(error.to_string())),
        }
    };
    let ended = Box::pin(served).await;
    server.runs.cancel_all().await;
    ended
}
