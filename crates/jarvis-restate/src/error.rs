//! What can go wrong on this side of a run.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use jarvis_net::http::ClientError;

/// Why something of Restate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A socket cannot be opened.
    #[error("{address} cannot be listened on")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The identity key is none.
    #[error("the identity key is invalid: {0}")]
    IdentityKey(String),
    /// A name that Restate does not take.
    #[error("the service cannot be described: {0}")]
    Name(String),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Restate does not answer.
    #[error("Restate at {url} is unreachable: {reason}")]
    Unreachable {
        /// What was asked.
        url: String,
        /// Why.
        reason: String,
    },
    /// Restate refuses.
    #[error("Restate answers {url} with {status}: {message}")]
    Refused {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// What Restate answers cannot be understood.
    #[error("the answer of Restate to {url} cannot be read: {reason}")]
    BadReply {
        /// What was asked.
        url: String,
        /// Why.
        reason: String,
    },
    /// A run needs what nobody serves.
    #[error("no worker serves {}", list(capabilities))]
    NotServed {
        /// What the run needs.
        capabilities: BTreeSet<String>,
    },
    /// Nobody hosts runs.
    #[error("no server hosts runs: the workflow `{workflow}` is not registered")]
    NoHost {
        /// The workflow.
        workflow: String,
    },
    /// There is no such run, or it is no longer kept.
    #[error("there is no run `{run}`")]
    NoRun {
        /// Its id.
        run: String,
    },
    /// The run was ended from outside before it could report its end.
    #[error("the run `{run}` was ended before its end: {message}")]
    Ended {
        /// Its id.
        run: String,
        /// What Restate says.
        message: String,
    },
}

impl Error {
    /// What to try, where something can be tried.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::NotServed { .. } => Some("start a worker that serves it: `jarvis worker`"),
            Error::NoHost { .. } => Some("start a server that hosts runs: `jarvis serve --restate`"),
            Error::Unreachable { .. } => Some("start Restate, or give its address: docs/scale.md"),
            Error::IdentityKey(_) => Some("give the public key as the server logs it: `publickeyv1_…`"),
            Error::Client(error) => Some(error.hint()),
            Error::Listen { .. } => Some(
                "another process may have it: give an address of its own with --listen (of `serve`: --restate-listen)",
            ),
            Error::Name(_)
            | Error::Refused { .. }
            | Error::BadReply { .. }
            | Error::NoRun { .. }
            | Error::Ended { .. } => None,
        }
    }
}

fn list(capabilities: &BTreeSet<String>) -> String {
    capabilities.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
