//! The keys of `jarvis serve`. A build without it takes them and reads none.

use std::path::PathBuf;

use jarvis_server::{GrpcOptions, Options};
use serde::Deserialize;

/// The server.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct ServerConfig {
    /// The environment variable that holds the token that callers must send.
    pub(crate) token_env: Option<String>,
    /// Origins of other sites whose pages may call.
    pub(crate) cors_origins: Vec<String>,
    /// Names by which the server may be called beside those of this machine.
    pub(crate) allowed_hosts: Vec<String>,
    /// Whether callers may name a chat endpoint and key of their own.
    pub(crate) caller_endpoints: CallerConfig,
    /// Runs at once.
    pub(crate) max_running: usize,
    /// Runs that may wait for a place.
    pub(crate) max_waiting: usize,
    /// Connections at once.
    pub(crate) max_connections: usize,
    /// Messages of a conversation.
    pub(crate) max_messages: usize,
    /// Bytes of a JSON body.
    pub(crate) max_body_bytes: usize,
    /// Seconds for which runs may go on when the server is asked to stop.
    pub(crate) drain_s: u64,
    /// Seconds after which a connection that takes nothing is cut.
    pub(crate) write_timeout_s: u64,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        let options = Options::default();
        ServerConfig {
            token_env: None,
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            caller_endpoints: CallerConfig::default(),
            max_running: options.max_running,
            max_waiting: options.max_waiting,
            max_connections: options.max_connections,
            max_messages: options.max_messages,
            max_body_bytes: options.max_body,
            drain_s: options.drain.as_secs(),
            write_timeout_s: options.write_timeout.as_secs(),
        }
    }
}

/// Whether callers may name a chat endpoint and key of their own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallerConfig {
    /// Whether they may at all.
    pub(crate) allow: bool,
    /// The hosts that may be named, as `host` or `host:port`.
    pub(crate) hosts: Vec<String>,
}

/// The gRPC service.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct GrpcConfig {
    /// Where it listens; it does not unless this is set or asked for.
    pub(crate) listen: Option<String>,
    /// Bytes of a document.
    pub(crate) max_file_bytes: usize,
    /// The file of the certificate chain (PEM); calls are in the clear unless set.
    pub(crate) tls_cert: Option<PathBuf>,
    /// The file of its private key (PEM).
    pub(crate) tls_key: Option<PathBuf>,
    /// The file of certificates (PEM) that sign those of callers; callers need none unless set.
    pub(crate) tls_client_ca: Option<PathBuf>,
}

impl Default for GrpcConfig {
    fn default() -> GrpcConfig {
        let GrpcOptions { max_file, .. } = GrpcOptions::default();
        GrpcConfig { listen: None, max_file_bytes: max_file, tls_cert: None, tls_key: None, tls_client_ca: None }
    }
}
