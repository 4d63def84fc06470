//! The doors of jarvis: HTTP with event streams, the OpenAI protocol, and the web page.
//!
//! A door turns what came over the wire into the words of `jarvis-plan`, calls a pipeline, and turns what comes back into
//! its wire twin. What a request means, and how it is carried out, is decided below.

mod app;
mod error;
mod extract;
mod guard;
mod listen;
mod metrics;
mod options;
mod routes;
mod runs;
mod sessions;
mod sse;
mod state;
mod wire;

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use listen::bind;
pub use options::{CallerPolicy, Options};
pub use state::{CallerModel, Check, Parts};

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would be open to everyone.
    #[error("{address} can be reached from other machines, and no token is set")]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// An origin that pages may call from is not one.
    #[error("`{0}` is not an origin such as https://tools.example.org")]
    Origin(String),
    /// The socket failed.
    #[error("cannot serve at the address: {0}")]
    Socket(#[from] std::io::Error),
}

impl ServeError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            ServeError::Open { .. } => "set a token in the environment variable JARVIS_TOKEN, or listen on 127.0.0.1",
            ServeError::Origin(_) => {
                "list each origin in `server.cors_origins` by scheme, host and port, without a path; `*` is not taken"
            }
            ServeError::Socket(_) => "choose another address with --http",
        }
    }
}

/// Whether a server may listen there: on a loopback address always, elsewhere only with a token; and whether the origins
/// that may call are origins.
///
/// # Errors
/// [`ServeError::Open`], [`ServeError::Origin`].
pub fn check(address: SocketAddr, options: &Options) -> Result<(), ServeError> {
    for origin in &options.cors_origins {
        if !url::Url::parse(origin).is_ok_and(|url| url.origin().ascii_serialization() == *origin) {
            return Err(ServeError::Origin(origin.clone()));
        }
    }
    let here = address.ip().to_canonical().is_loopback();
    if here || options.token.is_some() { Ok(()) } else { Err(ServeError::Open { address }) }
}

/// Serves until `stop` is cancelled: then no more connections and runs are taken, those in flight go on for
/// [`Options::drain`], and what is left is cancelled in good order.
///
/// # Errors
/// As [`check`], or when the socket has no address.
pub async fn serve(
    listener: TcpListener,
    parts: Parts,
    options: Options,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    check(listener.local_addr()?, &options)?;
    let (connections, write, drain) = (options.max_connections, options.write_timeout, options.drain);
    let server = state::Server::new(parts, options);
    let app = app::app(server.clone());
    listen::serve(listener, app, connections, write, stop, server.runs.drain(drain)).await;
    Ok(())
}
