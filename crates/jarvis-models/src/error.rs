//! What can go wrong with models on this machine, and what to try.

use std::path::PathBuf;

use jarvis_net::http::ClientError;

use crate::ids::InvalidName;

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("unknown model `{name}`")]
    UnknownName { name: String, similar: Vec<String> },
    #[error("invalid model name: {0}")]
    InvalidName(#[from] InvalidName),
    #[error("{what} needs the network, and this is offline")]
    Offline { what: String },
    #[error("`{name}` is not on this machine")]
    NotLocal { name: String },

    #[error("`{repo}` does not exist at {hub}, or is private")]
    NoRepository { repo: String, hub: String, has_token: bool },
    #[error("`{repo}` has no revision `{revision}`")]
    NoRevision { repo: String, revision: String },
    #[error("`{repo}` no longer has the file {file}")]
    FileGone { repo: String, file: String },
    #[error("`{repo}` is gated: its authors ask you to accept conditions first")]
    Gated { repo: String, hub: String, has_token: bool },
    #[error("{hub} refused the token")]
    Unauthorized { hub: String, has_token: bool },
    #[error("{hub} refused `{repo}`: {reason}")]
    Forbidden { repo: String, hub: String, reason: String },
    #[error("{what} failed: {hub} answered {status}")]
    Status { what: String, hub: String, status: u16 },
    #[error("{what} failed: {hub} asks to wait {seconds} s")]
    RateLimited { what: String, hub: String, seconds: u64 },
    #[error("{what} failed: {host} is unreachable: {reason}")]
    Unreachable { what: String, host: String, reason: String },
    #[error("{what} stalled: nothing came for {seconds} s")]
    Stalled { what: String, seconds: u64 },
    #[error("{what} broke off after {received} of {size} bytes")]
    Cut { what: String, received: u64, size: u64 },
    #[error("{hub} sent an invalid reply about {what}: {reason}")]
    BadReply { what: String, hub: String, reason: String },
    #[error("the redirect of {what} to {to} was not followed: {reason}")]
    BadRedirect { what: String, to: String, reason: String },
    #[error("`{repo}` lists more than {max} files")]
    TooManyFiles { repo: String, max: usize },
    #[error(transparent)]
    Client(#[from] ClientError),

    #[error("{file} has {found} bytes instead of {expected}; nothing of it was kept")]
    WrongSize { file: String, found: u64, expected: u64 },
    #[error("{file} is not the file that was announced: its hash is {found} instead of {expected}; it was removed")]
    WrongHash { file: String, found: String, expected: String },
    #[error("{file} of `{repo}` differs from what the catalogue pins: {found} instead of {expected}")]
    PinMismatch { repo: String, file: String, found: String, expected: String },
    #[error("{needed} bytes are needed in {}, {free} are free", .folder.display())]
    NoSpace { needed: u64, free: u64, folder: PathBuf },

    #[error("`{repo}` has no {what}")]
    NoSuchFile { repo: String, what: String, there: Vec<String> },
    #[error("`{repo}` has weights only in formats that can run code ({})", .files.join(", "))]
    OnlyUnsafe { repo: String, files: Vec<String> },
    #[error("`{repo}` has no weights that jarvis can run (safetensors, ONNX or GGUF)")]
    NoWeights { repo: String },
    #[error("{} cannot be imported: {reason}", .path.display())]
    Import { path: PathBuf, reason: String },
    #[error("`{name}` was not pulled or imported by jarvis, so it is not removed")]
    NotOurs { name: String },
    #[error("`{name}` is in use by another jarvis")]
    Busy { name: String },

    #[error("the list of pulled models, {}, is invalid: {reason}", .path.display())]
    Ledger { path: PathBuf, reason: String },
    #[error("cannot write {}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot read {}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
}

impl ModelError {
    /// What to try.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            ModelError::UnknownName { similar, .. } if !similar.is_empty() => {
                format!("did you mean {}? `jarvis models suggest --all` lists the names", quoted(similar))
            }
            ModelError::UnknownName { .. } => {
                "give a name of the catalogue (`jarvis models suggest --all` lists them), a task type, or `org/repo`"
                    .into()
            }
            ModelError::InvalidName(_) => "write `org/repo`, `org/repo@revision` or `org/repo:file`".into(),
            ModelError::Offline { .. } => "leave out `--offline`, and unset HF_HUB_OFFLINE".into(),
            ModelError::NotLocal { .. } => {
                "`jarvis models ls` lists what is here, `jarvis models suggest --all` what can be pulled".into()
            }
            ModelError::NoRepository { has_token: false, .. } => {
                "check the spelling; if the repository is private, set HF_TOKEN".into()
            }
            ModelError::NoRepository { .. } => "check the spelling, and whether the token may read it".into(),
            ModelError::NoRevision { .. } => "check the branch, tag or commit after the `@`".into(),
            ModelError::FileGone { .. } => "pull again: the repository may have changed".into(),
            ModelError::Gated { repo, hub, has_token: false } => {
                format!("accept the conditions at {hub}/{repo}, then set HF_TOKEN to a token of that account")
            }
            ModelError::Gated { repo, hub, .. } => {
                format!(
                    "accept the conditions at {hub}/{repo} with the account of the token; some authors approve by hand"
                )
            }
            ModelError::Unauthorized { has_token: true, .. } => "the token in HF_TOKEN is invalid or expired".into(),
            ModelError::Unauthorized { .. } => "set HF_TOKEN".into(),
            ModelError::Forbidden { .. } => "check what the token may read".into(),
            ModelError::Status { .. } | ModelError::RateLimited { .. } | ModelError::Stalled { .. } => {
                "try again later; what was downloaded is kept".into()
            }
            ModelError::Cut { .. } => "pull again: the download goes on where it stopped".into(),
            ModelError::Unreachable { .. } => {
                "check the connection, the proxy and HF_ENDPOINT; what was downloaded is kept".into()
            }
            ModelError::BadReply { .. } | ModelError::BadRedirect { .. } => {
                "check HF_ENDPOINT and the proxy: something else than the Hub may have answered".into()
            }
            ModelError::Client(error) => error.hint().into(),
            ModelError::WrongSize { .. } | ModelError::WrongHash { .. } => {
                "pull again; if it stays so, something between here and the Hub changes the files".into()
            }
            ModelError::PinMismatch { .. } => {
                "the repository was changed; `org/repo@revision` pulls a revision that you trust".into()
            }
            ModelError::NoSpace { .. } => {
                "free some space, `jarvis models prune`, or set HF_HUB_CACHE to a larger disk".into()
            }
            ModelError::NoSuchFile { there, .. } if !there.is_empty() => format!("there are {}", quoted(there)),
            ModelError::OnlyUnsafe { .. } => {
                "look for a conversion to safetensors, ONNX or GGUF, for example at `onnx-community` or `Xenova`".into()
            }
            ModelError::Ledger { .. } => "move that file away; the weights themselves are not touched".into(),
            ModelError::Busy { .. } => "wait until it has ended".into(),
            ModelError::NotOurs { .. } => {
                "remove it with the program that downloaded it, such as `hf cache delete`".into()
            }
            ModelError::NoSuchFile { .. }
            | ModelError::TooManyFiles { .. }
            | ModelError::NoWeights { .. }
            | ModelError::Import { .. }
            | ModelError::Write { .. }
            | ModelError::Read { .. } => return None,
        };
        Some(hint)
    }

    pub(crate) fn write(path: impl Into<PathBuf>, source: std::io::Error) -> ModelError {
        ModelError::Write { path: path.into(), source }
    }

    pub(crate) fn read(path: impl Into<PathBuf>, source: std::io::Error) -> ModelError {
        ModelError::Read { path: path.into(), source }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().take(12).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
