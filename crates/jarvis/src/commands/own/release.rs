//! Downloads from a release server, with limits on size and time.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use jarvis_net::UrlPolicy;
use jarvis_net::http::{CappedBody, ClientOptions, LazyClient, Route, cause, is_loopback, join};
use jarvis_net::policy::{shown, without_secrets};
use jarvis_net::text::shorten;
use reqwest::Response;
use reqwest::header::LOCATION;
use semver::Version;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use url::Url;

use crate::failure::Failure;

/// Largest `version.txt` and hash, in bytes.
const MAX_LINE: u64 = 4 << 10;
/// Largest archive, in bytes: several times the size of a release.
const MAX_ARCHIVE: u64 = 512 << 20;
/// GitHub redirects twice.
const MAX_REDIRECTS: usize = 5;
/// The longest wait for an answer, or for the next piece of one.
const STALL: Duration = Duration::from_secs(60);
/// Prefix of temporary files beside the program.
const PREFIX: &str = ".jarvis-update-";

/// Where GitHub has the latest release, and where one of a version.
const LATEST: &str = "/latest/download";

pub(super) struct Releases {
    base: Url,
    client: LazyClient,
    policy: UrlPolicy,
    stall: Duration,
}

impl Releases {
    /// The latest release, or that of a version where the address tells versions apart.
    ///
    /// # Errors
    /// When the address may not be used.
    pub(super) fn at(base: &str, version: Option<&Version>) -> Result<Releases, Failure> {
        let base = base.trim().trim_end_matches('/');
        let of_version = version.zip(base.strip_suffix(LATEST));
        let base = of_version.map_or_else(|| base.to_owned(), |(version, base)| format!("{base}/download/v{version}"));
        let refused = |reason: &str| {
            Failure::usage(format!("releases are not fetched from `{}`: {reason}", without_secrets(&base)))
                .hint("give an https address with --from URL, or run install.sh again")
        };
        let url = Url::parse(&base).map_err(|error| refused(&error.to_string()))?;
        // The user chose the address, so it may be private; a redirect target may not.
        let policy = UrlPolicy { allow_private: is_loopback(&url), use_proxy: true, ..UrlPolicy::default() };
        let own = UrlPolicy { allow_private: true, ..UrlPolicy::default() };
        own.check(&url).map_err(|error| refused(&error.to_string()))?;
        is_safe(&url).map_err(refused)?;
        let client = LazyClient::new(ClientOptions { route: Route::to(&url, None), ..ClientOptions::default() });
        Ok(Releases { base: url, client, policy, stall: STALL })
    }

    pub(super) fn address(&self) -> String {
        shown(&self.base)
    }

    /// Reads `version.txt`.
    pub(super) async fn version(&self) -> Result<Version, Failure> {
        let name = "version.txt";
        let text = self.line(name).await?;
        let plain = text.strip_prefix('v').unwrap_or(&text);
        Version::parse(plain).map_err(|error| {
            let error = format!("{name} of {} holds no version, but `{}`: {error}", self.address(), shorten(&text, 60));
            Failure::work(error).hint("see that the address is that of releases of jarvis")
        })
    }

    /// Downloads the archive for a target into a temporary file beside the program and verifies its hash.
    pub(super) async fn archive(&self, target: &str, beside: &Path) -> Result<NamedTempFile, Failure> {
        let name = format!("jarvis-{target}.tar.gz");
        let wanted = self.hash(&name).await?;
        let folder = beside.parent().unwrap_or(Path::new("."));
        sweep(folder);
        let mut file = temporary(folder)?;
        let response = self.get(&name).await?;
        let announced = response.content_length();
        let mut body = CappedBody::new(response, MAX_ARCHIVE);
        let (mut hasher, mut length) = (Sha256::new(), 0_u64);
        loop {
            let piece = tokio::time::timeout(self.stall, body.next()).await.map_err(|_| self.stalled(&name))?;
            let Some(piece) = piece.map_err(|error| self.failed(&name, &error.to_string()))? else { break };
            hasher.update(&piece);
            length += piece.len() as u64;
            file.write_all(&piece).map_err(|error| not_written(folder, &error))?;
        }
        file.flush().map_err(|error| not_written(folder, &error))?;
        let found = hex(&hasher.finalize());
        if found != wanted {
            let announced = announced.filter(|announced| *announced != length);
            let size = announced.map_or_else(String::new, |announced| format!(" ({length} bytes of {announced})"));
            return Err(Failure::work(format!(
                "{name} of {} is not what its hash says{size}: SHA-256 {found}, not {wanted}; nothing was installed",
                self.address()
            ))
            .hint("try again; if it stays so, tell whoever runs that server"));
        }
        Ok(file)
    }

    async fn hash(&self, archive: &str) -> Result<String, Failure> {
        let name = format!("{archive}.sha256");
        let line = self.line(&name).await?;
        let (hash, of) = line.split_once(char::is_whitespace).unwrap_or((&line, archive));
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash || of.trim().trim_start_matches('*') != archive {
            let error = format!("{name} of {} holds no hash of it, but `{}`", self.address(), shorten(&line, 60));
            return Err(Failure::work(error).hint("see that the address is that of releases of jarvis"));
        }
        Ok(hash.to_ascii_lowercase())
    }

    /// The first line of a small file.
    async fn line(&self, name: &str) -> Result<String, Failure> {
        let response = self.get(name).await?;
        let read = tokio::time::timeout(self.stall, CappedBody::new(response, MAX_LINE).read()).await;
        let body = read.map_err(|_| self.stalled(name))?.map_err(|(error, _)| self.failed(name, &error.to_string()))?;
        let text = String::from_utf8_lossy(&body);
        Ok(text.trim().lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Follows redirects by hand: GitHub redirects to other hosts, and each hop must be https too.
    async fn get(&self, name: &str) -> Result<Response, Failure> {
        let client = self.client.get().await.map_err(|error| {
            let hint = error.hint();
            Failure::work(error).hint(hint)
        })?;
        let mut url = join(&self.base, [name]).ok_or_else(|| self.failed(name, "the address has no path"))?;
        for _ in 0..=MAX_REDIRECTS {
            let sent = tokio::time::timeout(self.stall, client.get(url.clone()).send()).await;
            let response = sent.map_err(|_| self.stalled(name))?.map_err(|error| self.failed(name, &cause(&error)))?;
            if response.status().is_success() {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
            let Some(to) = to else {
                return Err(self.failed(name, &format!("the server answered {}", response.status())));
            };
            let to = to.to_str().ok().and_then(|to| url.join(to).ok());
            let to = to.ok_or_else(|| self.failed(name, "it redirects to what is no address"))?;
            let refused = |reason: &str| self.failed(name, &format!("it redirects to {}: {reason}", shown(&to)));
            is_safe(&to).map_err(refused)?;
            if to.origin() != self.base.origin() {
                self.policy.check(&to).map_err(|error| refused(&error.to_string()))?;
            }
            url = to;
        }
        Err(self.failed(name, "it redirects too often"))
    }

    fn stalled(&self, name: &str) -> Failure {
        self.failed(name, &format!("nothing came for {} s", self.stall.as_secs_f32()))
    }

    fn failed(&self, name: &str, reason: &str) -> Failure {
        let error = format!("cannot download {name} from {}: {reason}; nothing was changed", self.address());
        Failure::work(error).hint("try again later, or name other releases with --from URL")
    }
}

/// The download will be executed, so plain http is allowed on loopback only.
fn is_safe(url: &Url) -> Result<(), &'static str> {
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        _ => Err("it is not https"),
    }
}

/// A temporary file in the program's folder, so that the final rename is atomic. Removed on drop.
pub(super) fn temporary(folder: &Path) -> Result<NamedTempFile, Failure> {
    tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder).map_err(|error| not_written(folder, &error))
}

/// Removes temporary files of updates that were killed.
fn sweep(folder: &Path) {
    let is_left = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(is_left) {
        // What cannot be removed does no harm.
        let _ = std::fs::remove_file(entry.path());
    }
}

pub(super) fn not_written(folder: &Path, error: &std::io::Error) -> Failure {
    let kind = error.kind();
    let failure = Failure::work(format!("cannot write to {}: {kind}; nothing was changed", folder.display()));
    failure.hint(match kind {
        std::io::ErrorKind::PermissionDenied => "run it as the user who installed jarvis",
        _ => "make room on the disk, or mend the folder, and try again",
    })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
