//! How the server is set up. Defaults are for one person on one machine.

use std::collections::BTreeSet;
use std::time::Duration;

use jarvis_net::{Secret, UrlPolicy};

use crate::links::LinkKey;
use tokio_util::sync::CancellationToken;

use crate::listen::Connections;
use crate::pace::Pace;
use crate::runs::Bounds;
use crate::tls::Tls;
use crate::users::User;

#[derive(Debug, Clone)]
pub struct Options {
    /// The bearer token that requests must carry; none on a loopback address only.
    pub token: Option<Secret>,
    /// The bearer token of administrators, who may pull models; without one nobody may over HTTP.
    pub admin_token: Option<Secret>,
    /// The users, where there are several; then neither of the tokens above is set.
    pub users: Vec<User>,
    /// Origins of other sites whose pages may call the server, such as `https://tools.example.org`.
    pub cors_origins: Vec<String>,
    /// Names by which the server may be called beside those of this machine, such as `jarvis.example.org`.
    pub allowed_hosts: BTreeSet<String>,
    /// Where clients outside reach the server, such as `https://jarvis.example.org`; the name that they call it by unless set.
    pub public_url: Option<String>,
    /// Where the webhooks of callers may be.
    pub urls: UrlPolicy,
    /// Whether, and to where, a caller may name a chat endpoint and key of their own.
    pub caller: CallerPolicy,
    /// Answer failed decisions as the originals did: status 500 and `{"error": "…"}`.
    pub compat_errors: bool,
    /// Whether runs that were cut off go on by themselves.
    pub resume: bool,
    /// How long runs that have ended stay.
    pub keep: Retention,
    /// How long files stay that nothing speaks of any more.
    pub keep_media: Retention,
    /// Serve the models of this machine and nothing else: no pipelines, no runs, no files but those that models make.
    pub models_only: bool,
    pub max_running: usize,
    /// Of these, the most of one user or, where there are no several, of one address: somebody else's run then finds a slot at once.
    /// Seven eighths unless set.
    pub max_running_per_caller: Option<usize>,
    /// Runs that may wait for a slot; the next one is refused.
    pub max_waiting: usize,
    /// Of these, the most of one user or address. Half unless set.
    pub max_waiting_per_caller: Option<usize>,
    /// Connections at once. A further one takes the place of the one that has been idle for longest, and waits where none is.
    pub max_connections: usize,
    /// Connections of one address; an IPv6 network of 64 bits is one. Unless set, a quarter of all for an address of another machine, and
    /// all for this machine, where a proxy may speak for everybody.
    pub max_connections_per_address: Option<usize>,
    /// How long a body may take.
    pub pace: Pace,
    /// Bytes of a JSON body.
    pub max_body: usize,
    /// Bytes of an uploaded file, and of a chat request that carries files inside it.
    pub max_upload: usize,
    pub max_messages: usize,
    /// HTTPS, where it is spoken.
    pub tls: Option<Tls>,
    /// Signs the links to files in answers that leave by a chat protocol, where callers need a token.
    pub link_key: LinkKey,
    /// How long such a link is good.
    pub link_time: Duration,
    /// Cancelled when the server is about to stop: `/ready` says so, so that nobody sends more to it, and all else goes on.
    pub leaving: CancellationToken,
    /// How long the runs in flight may go on when the server is asked to stop.
    pub drain: Duration,
    /// After how long a connection that takes nothing is cut.
    pub write_timeout: Duration,
    /// How often an idle event stream sends a comment, so that proxies keep it open.
    pub heartbeat: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            token: None,
            admin_token: None,
            users: Vec::new(),
            cors_origins: Vec::new(),
            allowed_hosts: BTreeSet::new(),
            public_url: None,
            urls: UrlPolicy::default(),
            caller: CallerPolicy::default(),
            compat_errors: false,
            resume: true,
            keep: Retention::default(),
            keep_media: Retention::default(),
            models_only: false,
            max_running: 64,
            max_running_per_caller: None,
            max_waiting: 1024,
            max_waiting_per_caller: None,
            max_connections: 4096,
            max_connections_per_address: None,
            pace: Pace::default(),
            max_body: 1 << 20,
            max_upload: 64 << 20,
            max_messages: 1000,
            tls: None,
            link_key: LinkKey::random(),
            link_time: Duration::from_secs(24 * 60 * 60),
            leaving: CancellationToken::new(),
            drain: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
        }
    }
}

impl Options {
    /// The places for the connections of one listener.
    pub(crate) fn connections(&self) -> Connections {
        Connections::new(self.max_connections, self.max_connections_per_address)
    }

    /// How many runs go on and wait.
    pub(crate) fn bounds(&self) -> Bounds {
        let (running, waiting) = (self.max_running.max(1), self.max_waiting);
        let others = running.div_ceil(8).min(running - 1);
        Bounds {
            running,
            running_each: self.max_running_per_caller.unwrap_or(running - others),
            waiting,
            waiting_each: self.max_waiting_per_caller.unwrap_or(waiting.div_ceil(2)),
        }
    }
}

/// How long something is kept that nobody removes; for ever unless bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// For so long.
    pub time: Option<Duration>,
    /// The oldest go while all of it takes more.
    pub bytes: Option<u64>,
}

impl Retention {
    pub(crate) fn is_bounded(&self) -> bool {
        self.time.is_some() || self.bytes.is_some()
    }
}

/// Whether a caller may name a chat endpoint and key of their own (`api_endpoint`, `api_key`).
#[derive(Debug, Clone, Default)]
pub struct CallerPolicy {
    pub allow: bool,
    /// The hosts that may be named, as `host` or `host:port`. None means none.
    pub hosts: BTreeSet<String>,
}
