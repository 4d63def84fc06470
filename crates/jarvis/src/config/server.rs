//! The keys of `jarvis serve`. A build without it takes them and reads none.

use std::path::{Path, PathBuf};

use jarvis_net::Secret;
use jarvis_plan::Budget;
use jarvis_server::{GrpcOptions, May, Options, User};
use serde::Deserialize;

use crate::failure::Failure;
use crate::wiring::secret;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
// A key that is misspelt must not leave the server open.
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerConfig {
    /// The environment variable that holds the token callers must send; required on an address that other machines can
    /// reach. Default: `JARVIS_TOKEN`.
    pub(crate) token_env: Option<String>,
    /// A file that holds it instead; it is read anew on SIGHUP and by `POST /admin/reload`.
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable that holds the token of administrators, who may also pull models. Default:
    /// `JARVIS_ADMIN_TOKEN`; without it nobody pulls over HTTP.
    pub(crate) admin_token_env: Option<String>,
    /// A file that holds it instead, as `token_file`.
    pub(crate) admin_token_file: Option<PathBuf>,
    /// The users, where there are several: `{name, env or file, may, budget: {max_tokens, max_calls, max_cost}, max_runs}` each, see
    /// [server.md](server.md#several-users). Then neither of the variables above may be set.
    pub(crate) tokens: Vec<TokenConfig>,
    /// Origins of other sites whose pages may call, such as `https://tools.example.org`.
    pub(crate) cors_origins: Vec<String>,
    /// Names by which the server may be called beside `localhost` and loopback addresses. With a token and no names,
    /// any.
    pub(crate) allowed_hosts: Vec<String>,
    /// Where clients outside reach the server, such as `https://jarvis.example.org`: it stands in the agent card and in links to files.
    /// Default: the name that a client calls it by.
    pub(crate) public_url: Option<String>,
    pub(crate) caller_endpoints: CallerConfig,
    /// The file of the certificates by which HTTPS is spoken, PEM, the server's own first; with `tls_key`. HTTP/2 comes with it.
    pub(crate) tls_cert: Option<PathBuf>,
    /// The file of their private key, PEM.
    pub(crate) tls_key: Option<PathBuf>,
    /// Hours for which a link to a file opens without a token, in an answer that left by a chat protocol.
    pub(crate) link_hours: u32,
    /// The environment variable that holds what such links are signed with: the same on all servers that answer under one name. Default:
    /// the file `link.key` in the data folder, which is made.
    pub(crate) link_key_env: Option<String>,
    /// Runs at the same time.
    pub(crate) max_running: usize,
    /// Of these, the most of one user, or of one address of another machine where there are no several users: the rest is for others.
    /// Default: seven eighths of `max_running`.
    pub(crate) max_running_per_caller: Option<usize>,
    /// Runs that may wait for a place; the next is refused with 503 and `Retry-After`.
    pub(crate) max_waiting: usize,
    /// Of these, the most of one user or address of another machine; the next is refused with 429. Default: half of `max_waiting`.
    pub(crate) max_waiting_per_caller: Option<usize>,
    /// Connections at the same time. One more takes the place of the one that has been idle for longest.
    pub(crate) max_connections: usize,
    /// Connections of one address at the same time; one more is refused with 429. Default: a quarter of `max_connections`, and no bound for
    /// this machine, since a proxy on it speaks for everybody: behind one, leave this unset and bound them there.
    pub(crate) max_connections_per_address: Option<usize>,
    /// The most messages of a conversation in a request.
    pub(crate) max_messages: usize,
    /// The largest request. Uploads, and chat requests with files inside, may have `limits.max_input_bytes`.
    pub(crate) max_body_bytes: usize,
    /// Seconds after SIGTERM in which `/ready` says that the server stops and all else goes on as before, so that whoever balances load
    /// sends no more.
    pub(crate) ready_grace_s: u64,
    /// Seconds that a body may take, and for which it may stand still; each `body_bytes_per_s` bytes of it bring one second more.
    pub(crate) body_time_s: u64,
    /// Bytes a second that a client must send on the whole.
    pub(crate) body_bytes_per_s: u32,
    /// Seconds for which runs may go on when the server is told to stop.
    pub(crate) drain_s: u64,
    /// Seconds after which a connection that takes nothing is cut.
    pub(crate) write_timeout_s: u64,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        let options = Options::default();
        ServerConfig {
            token_env: None,
            token_file: None,
            admin_token_env: None,
            admin_token_file: None,
            tokens: Vec::new(),
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            public_url: None,
            tls_cert: None,
            tls_key: None,
            link_hours: u32::try_from(options.link_time.as_secs() / 3600).unwrap_or(u32::MAX),
            link_key_env: None,
            caller_endpoints: CallerConfig::default(),
            max_running: options.max_running,
            max_running_per_caller: options.max_running_per_caller,
            max_waiting: options.max_waiting,
            max_waiting_per_caller: options.max_waiting_per_caller,
            max_connections: options.max_connections,
            max_connections_per_address: options.max_connections_per_address,
            ready_grace_s: 1,
            body_time_s: options.pace.time.as_secs(),
            body_bytes_per_s: options.pace.bytes_per_second,
            max_messages: options.max_messages,
            max_body_bytes: options.max_body,
            drain_s: options.drain.as_secs(),
            write_timeout_s: options.write_timeout.as_secs(),
        }
    }
}

/// A user of the server.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenConfig {
    /// The user: 1 to 64 letters, digits, `-`, `_` and `.`, not `.` first.
    pub(crate) name: String,
    /// The environment variable that holds the user's token.
    #[serde(default)]
    pub(crate) env: Option<String>,
    /// Or the file that does; it is read anew on SIGHUP and by `POST /admin/reload`.
    #[serde(default)]
    pub(crate) file: Option<PathBuf>,
    /// What the user may do: `run` (requests, files, models), `approve` (answer what runs wait for), `admin` (pull models, and do
    /// the others with what belongs to anybody).
    #[serde(default = "usual_rights")]
    pub(crate) may: Vec<MayConfig>,
    /// What all runs of the user may take together in a day (UTC). Default: no bounds.
    #[serde(default)]
    pub(crate) budget: DailyConfig,
    /// Runs of the user at the same time, those that wait for a place among them. Default: no bound of their own.
    #[serde(default)]
    pub(crate) max_runs: Option<usize>,
}

fn usual_rights() -> Vec<MayConfig> {
    vec![MayConfig::Run, MayConfig::Approve]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum MayConfig {
    Run,
    Approve,
    Admin,
}

/// What all runs of a user may take together in a day.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DailyConfig {
    /// Tokens of all model calls, sent and received.
    pub(crate) max_tokens: Option<u64>,
    /// Model calls.
    pub(crate) max_calls: Option<u32>,
    /// Cost of all model calls, in the currency of `prices`.
    pub(crate) max_cost: Option<f64>,
}

/// The token in a file.
pub(crate) fn token_in(file: &Path) -> Result<Secret, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("the token in {} cannot be read: {error}", file.display()))
            .hint("make one with `openssl rand -hex 32`")
    })?;
    Secret::new(text.trim()).ok_or_else(|| {
        Failure::usage(format!("there is no token in {}", file.display())).hint("make one with `openssl rand -hex 32`")
    })
}

impl TokenConfig {
    /// The user, with the token that the environment has.
    pub(crate) fn user(&self) -> Result<User, Failure> {
        let TokenConfig { name, env, file, may, budget, max_runs } = self;
        let token = match (env, file) {
            (Some(env), None) => secret(&[env.as_str()]).ok_or_else(|| {
                Failure::usage(format!("the token of the user `{name}` is not set"))
                    .hint(format!("set the environment variable `{env}`, which `server.tokens` names"))
            }),
            (None, Some(file)) => token_in(file),
            (Some(_), Some(_)) | (None, None) => {
                Err(Failure::usage(format!("it is not said where the token of the user `{name}` is"))
                    .hint("name one of `env` and `file` in its entry of `server.tokens`"))
            }
        }?;
        let DailyConfig { max_tokens, max_calls, max_cost } = *budget;
        let a_day = Budget { max_tokens, max_calls, max_cost, max_time_s: None };
        if let Some(problem) = a_day.problem() {
            return Err(Failure::usage(format!("the budget of the user `{name}` cannot be used: {problem}")));
        }
        let has = |right| may.contains(&right);
        let may = May { run: has(MayConfig::Run), approve: has(MayConfig::Approve), admin: has(MayConfig::Admin) };
        Ok(User { name: name.clone(), token, may, max_runs: *max_runs, a_day })
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct CallerConfig {
    /// Whether callers may send `api_endpoint` and `api_key`.
    pub(crate) allow: bool,
    /// The hosts that they may name, as `host` or `host:port`.
    pub(crate) hosts: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct GrpcConfig {
    /// Where `jarvis serve` serves gRPC too. Also `--grpc`. Default: none.
    pub(crate) listen: Option<String>,
    /// The largest document of a question over gRPC.
    pub(crate) max_file_bytes: usize,
    /// PEM file of the certificate chain. Unset: calls are not encrypted.
    pub(crate) tls_cert: Option<PathBuf>,
    /// PEM file of its private key.
    pub(crate) tls_key: Option<PathBuf>,
    /// PEM file of the authorities that sign the certificates of callers. Unset: callers need no certificate.
    pub(crate) tls_client_ca: Option<PathBuf>,
}

impl Default for GrpcConfig {
    fn default() -> GrpcConfig {
        let GrpcOptions { max_file, .. } = GrpcOptions::default();
        GrpcConfig { listen: None, max_file_bytes: max_file, tls_cert: None, tls_key: None, tls_client_ca: None }
    }
}
