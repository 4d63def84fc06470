//! The servers of jarvis: HTTP with event streams, the OpenAI protocol and the web page; gRPC; MCP; Agent2Agent; AG-UI.
//!
//! Each protocol turns requests into the types of `jarvis-plan`, calls a pipeline, and turns the result into its wire types.
//! What a request means, and how it is executed, is the pipelines' business.

mod a2a;
mod ag_ui;
mod answers;
mod api;
mod app;
mod audit;
mod desk;
mod elsewhere;
mod error;
mod extract;
mod files;
mod grpc;
mod guard;
mod links;
mod listen;
mod log;
mod mcp;
mod metrics;
mod offered;
mod options;
mod pace;
mod parts;
mod pulls;
mod reload;
mod request;
mod routes;
mod runs;
mod served;
mod sessions;
mod sse;
mod state;
mod tls;
mod users;
mod wire;
mod wrong_tokens;

use std::net::SocketAddr;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use audit::Audit;
pub use desk::Desk;
pub use elsewhere::{Elsewhere, NotSaid, Waiting};
pub use grpc::{GrpcOptions, GrpcTls};
pub use links::LinkKey;
pub use listen::bind;
pub use metrics::{METRICS, MetricsSink, ProcessUse};
pub use offered::{ChatModels, ListTools, OfferedTool, ToolApproval};
pub use options::{CallerPolicy, Options, Retention};
pub use pace::Pace;
pub use parts::{CallerModel, Check, CheckCall, Kept, KeptItem, MakeContext, MakePipeline, Named, Parts, Reach, Setup};
pub use pulls::{KeptModel, ModelStore, PlannedPull, PullFailure, PullFault, PullRequest, SuggestedModel};
pub use reload::{Configured, Reload};
pub use served::{LoadedModel, NoModels, ServedModel, ServedModels};
pub use tls::Tls;
pub use users::{May, User};

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would be open to everyone.
    #[error("{address} can be reached from other machines, and no token is set")]
    Open { address: SocketAddr },
    /// Somebody could guess it.
    #[error("{address} can be reached from other machines, and {whose} token is too weak: {why}")]
    WeakToken { address: SocketAddr, whose: String, why: &'static str },
    /// Every caller would be an administrator.
    #[error("the administrator's token is that of every caller")]
    SameToken,
    /// The users cannot be told apart, or cannot be served.
    #[error("the users of `server.tokens` cannot be used: {0}")]
    Users(String),
    /// An origin that pages may call from is not one.
    #[error("`{0}` is not an origin such as https://tools.example.org")]
    Origin(String),
    #[error("the certificate or its key cannot be used: {0}")]
    Tls(String),
    #[error("gRPC cannot be served: {0}")]
    Grpc(String),
    #[error("MCP cannot be served: {0}")]
    Mcp(String),
    #[error("cannot serve at the address: {0}")]
    Socket(#[from] std::io::Error),
}

impl ServeError {
    pub fn hint(&self) -> &'static str {
        match self {
            ServeError::Open { .. } => "set a token in the environment variable JARVIS_TOKEN, or listen on 127.0.0.1",
            ServeError::WeakToken { .. } => "make one with `openssl rand -hex 32`, or listen on 127.0.0.1",
            ServeError::SameToken => "set another one in JARVIS_ADMIN_TOKEN, or none",
            ServeError::Users(_) => {
                "give each user a name and a token of their own in `server.tokens`, set neither JARVIS_TOKEN nor \
                 JARVIS_ADMIN_TOKEN beside them, and keep a journal; without users, JARVIS_TOKEN is of one who has everything"
            }
            ServeError::Origin(_) => {
                "list each origin in `server.cors_origins` by scheme, host and port, without a path; `*` is not taken"
            }
            ServeError::Tls(_) => "name a certificate chain and its private key, both in PEM",
            ServeError::Grpc(_) => "choose another address with --grpc",
            ServeError::Mcp(_) => "start `jarvis mcp` from an MCP client, which speaks its protocol",
            ServeError::Socket(_) => "choose another address with --http",
        }
    }
}

/// Whether a server may listen there: on a loopback address always, elsewhere only with a token; and whether the origins
/// that may call are origins.
///
/// # Errors
/// [`ServeError::Open`], [`ServeError::WeakToken`], [`ServeError::SameToken`], [`ServeError::Users`], [`ServeError::Origin`].
pub fn check(address: SocketAddr, options: &Options) -> Result<(), ServeError> {
    for origin in &options.cors_origins {
        if !url::Url::parse(origin).is_ok_and(|url| url.origin().ascii_serialization() == *origin) {
            return Err(ServeError::Origin(origin.clone()));
        }
    }
    let is_same =
        |admin: &jarvis_net::Secret| options.token.as_ref().is_some_and(|token| guard::is_token(token, admin.expose()));
    if options.admin_token.as_ref().is_some_and(is_same) {
        return Err(ServeError::SameToken);
    }
    check_users(options)?;
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    if options.token.is_none() && options.users.is_empty() {
        return Err(ServeError::Open { address });
    }
    let own = |whose: &str, token: &jarvis_net::Secret| (whose.to_owned(), token.clone());
    let tokens = options.token.iter().map(|token| own("the", token));
    let tokens = tokens.chain(options.admin_token.iter().map(|token| own("the administrator's", token)));
    let mut tokens = tokens.chain(options.users.iter().map(|user| own(&format!("`{}`'s", user.name), &user.token)));
    match tokens.find_map(|(whose, token)| Some((whose, guard::weakness(token.expose())?))) {
        Some((whose, why)) => Err(ServeError::WeakToken { address, whose, why }),
        None => Ok(()),
    }
}

fn check_users(options: &Options) -> Result<(), ServeError> {
    let refused = |reason: String| Err(ServeError::Users(reason));
    if !options.users.is_empty() && (options.token.is_some() || options.admin_token.is_some()) {
        return refused("a token without a name is set too (`server.token_file`, `server.admin_token_file`, JARVIS_TOKEN or JARVIS_ADMIN_TOKEN), and it is not known whose it is".to_owned());
    }
    for (at, user) in options.users.iter().enumerate() {
        let name = &user.name;
        if !users::is_name(name) {
            return refused(format!("`{name}` is no name: 1 to 64 letters, digits, `-`, `_` and `.`, not `.` first"));
        }
        if user.may == (May { run: false, approve: false, admin: false }) {
            return refused(format!("`{name}` may do nothing"));
        }
        for other in options.users.iter().take(at) {
            // Their names are folders, which some disks do not tell apart by case.
            if other.name.eq_ignore_ascii_case(name) {
                return refused(format!("`{name}` is there twice"));
            }
            if guard::is_token(&other.token, user.token.expose()) {
                return refused(format!("`{}` and `{name}` have the same token", other.name));
            }
        }
    }
    Ok(())
}

/// The sockets to serve on; at least one.
#[derive(Debug, Default)]
pub struct Listeners {
    pub http: Option<TcpListener>,
    pub grpc: Option<(TcpListener, GrpcOptions)>,
}

/// Serves until `stop` is cancelled: then no more connections and runs are taken, those in flight go on for
/// [`Options::drain`], and what is left is cancelled in good order.
///
/// # Errors
/// As [`check`], when a socket has no address, or a service cannot be started.
pub fn serve(
    listeners: Listeners,
    parts: Parts,
    setup: Setup,
    options: Options,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), ServeError>> {
    async move {
        let http = listeners.http.as_ref().map(TcpListener::local_addr).transpose()?;
        let grpc = listeners.grpc.as_ref().map(|(listener, _)| listener.local_addr()).transpose()?;
        let listens = state::Listens { http, grpc };
        for address in listens.all() {
            check(address, &options)?;
        }
        if !options.users.is_empty() && parts.journal.is_none() {
            return Err(ServeError::Users("without a journal nobody knows what belongs to whom".to_owned()));
        }
        let is_open = options.users.is_empty() && options.token.is_none();
        if let Some(journal) = parts.journal.clone().filter(|_| is_open) {
            let has_users = tokio::task::spawn_blocking(move || journal.has_users()).await;
            if has_users.is_ok_and(|has| has.unwrap_or(false)) {
                let reason = "the data folder has runs of several users, and whoever calls would need no token";
                return Err(ServeError::Users(reason.to_owned()));
            }
        }
        let (connections, drain) = (options.connections(), options.drain);
        let manner = listen::Manner { write_timeout: options.write_timeout, tls: options.tls.clone() };
        let server = state::Server::new(parts, setup, options);
        server.listens.set(listens).expect("the server was made just now");
        server.look().await;
        let looking = server.clone();
        let looked_after = tokio::spawn({
            let stop = stop.clone();
            async move { tokio::join!(looking.look_after_runs(stop), looking.reload_when_asked()) }
        });
        let _looked_after = tokio_util::task::AbortOnDropHandle::new(looked_after);
        let (runs, stopped) = (Arc::clone(&server.runs), stop.clone());
        let drained = async move {
            stopped.cancelled().await;
            runs.drain(drain).await;
        };
        let drained = drained.boxed().shared();
        let http = async {
            if let Some(listener) = listeners.http {
                let closed = CancellationToken::new();
                let app = app::app(server.clone(), closed.clone());
                listen::serve(listener, app, connections, manner, stop.clone(), drained.clone()).await;
                closed.cancel();
            }
            Ok(())
        };
        let grpc = async {
            match listeners.grpc {
                Some((listener, options)) => {
                    grpc::serve(listener, server.clone(), options, stop.clone(), drained.clone()).await
                }
                None => Ok(()),
            }
        };
        // When one service fails, the other stops too.
        let (http, grpc): (Result<(), ServeError>, _) = tokio::join!(http, async {
            let ended = grpc.await;
            if ended.is_err() {
                stop.cancel();
            }
            ended
        });
        http.and(grpc)
    }
    .boxed()
}

/// Serves one MCP client over standard input and output, until it closes them or `stop` is cancelled; what still runs then
/// is cancelled. Nothing else may be written to standard output meanwhile.
///
/// # Errors
/// When what comes is not the protocol, or a part of it breaks.
pub fn mcp_stdio(
    parts: Parts,
    setup: Setup,
    options: Options,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), ServeError>> {
    // Whoever started it is at home here, and needs no token.
    let options = Options { token: None, users: Vec::new(), ..options };
    async move { mcp::stdio(state::Server::new(parts, setup, options), stop).await }.boxed()
}
