//! Programs as MCP servers: what they say on stderr, why they cannot be started, and how they ended. What is spoken with them
//! is not known here.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jarvis_net::text::{Secret, shorten};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::{TokioChildProcess, Transport};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::faults::redact;
use crate::untrusted::{self, Found};

/// The longest line of a program's stderr that is read to the end, in bytes.
const MAX_LINE: usize = 8_000;

/// The longest line that is kept, in characters.
const MAX_KEPT: usize = 200;

const KEPT: usize = 20;

/// How many of them are shown.
const TOLD: usize = 8;

/// How long a program that closed its pipes is waited for, and what it says last.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The pipes of a program as a transport. When the transport is not needed any more the process goes to who waits for it, so
/// that its end can be reported; if nothing waits, it is stopped.
pub(super) struct Pipes {
    process: Option<TokioChildProcess>,
    back: Option<oneshot::Sender<TokioChildProcess>>,
}

/// A process that comes back when its transport is not needed any more.
pub(super) struct Back(oneshot::Receiver<TokioChildProcess>);

impl Pipes {
    pub(super) fn of(process: TokioChildProcess) -> (Pipes, Back) {
        let (sender, receiver) = oneshot::channel();
        (Pipes { process: Some(process), back: Some(sender) }, Back(receiver))
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        if let (Some(process), Some(back)) = (self.process.take(), self.back.take()) {
            // A process that nobody takes is dropped here, which stops it.
            drop(back.send(process));
        }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sending = self.process.as_mut().map(|process| process.send(item));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.process.as_mut()?.receive().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        match &mut self.process {
            Some(process) => process.close().await,
            None => Ok(()),
        }
    }
}

impl Back {
    /// How a program ended that closed its pipes; `None` when it still runs, and then it is stopped.
    pub(super) async fn ended(mut self) -> Option<ExitStatus> {
        let mut child = self.0.try_recv().ok()?.into_inner()?;
        tokio::time::timeout(LAST_WORDS, child.wait()).await.ok()?.ok()
    }
}

/// Why a program cannot be started, and what can be done. `path` is what was tried; it has a folder where the program was not
/// looked for on `PATH`.
pub(super) fn not_started(program: &str, path: &Path, error: &io::Error) -> String {
    let named = shorten(program, 200);
    let tried = shorten(&path.components().collect::<PathBuf>().display().to_string(), 200);
    let start = format!("cannot be started: its program `{named}`");
    let looked_for = path.components().count() == 1;
    match error.kind() {
        io::ErrorKind::NotFound if looked_for => {
            format!("{start} is not on PATH; is it installed? `command` may also be its whole path")
        }
        io::ErrorKind::NotFound if path.exists() => {
            format!("{start} is there ({tried}), but not what its first line (`#!`) names")
        }
        io::ErrorKind::NotFound if Path::new(program).is_relative() => format!(
            "{start} is not at {tried}; a relative `command` is relative to the folder of the configuration file: name it \
             with its whole path, or by its name alone when it is on PATH"
        ),
        io::ErrorKind::NotFound => format!("{start} is not there; is it installed?"),
        io::ErrorKind::PermissionDenied => {
            format!("{start} may not be run ({error}); is it a program, and marked as one (`chmod +x`)?")
        }
        _ => format!("{start}: {error}"),
    }
}

/// What a program says on stderr: its last lines, cleaned, and without what is secret.
#[derive(Clone, Default)]
pub(super) struct Said {
    lines: Arc<Mutex<Lines>>,
    /// Nothing more comes.
    ended: CancellationToken,
}

#[derive(Default)]
struct Lines {
    /// The last lines that tell something.
    telling: VecDeque<String>,
    /// The last line, whatever it is.
    last: String,
}

impl Said {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        // Lines are put in place whole.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for what a program says when it ends.
    pub(super) async fn end(&self) {
        let _ = tokio::time::timeout(LAST_WORDS, self.ended.cancelled()).await;
    }

    /// What it said, to be put behind other words; empty when it said nothing.
    pub(super) fn words(&self) -> String {
        let lines = self.lock();
        let telling: Vec<&str> = lines.telling.iter().map(String::as_str).collect();
        let (before, told) = telling.split_at(telling.len().saturating_sub(TOLD));
        // What went wrong may stand before a long tail.
        let head =
            if told.iter().any(|line| is_grave(line)) { None } else { before.iter().rfind(|line| is_grave(line)) };
        let mut shown: Vec<&str> = head.into_iter().copied().collect();
        if head.is_some() {
            shown.push("…");
        }
        shown.extend(told);
        if shown.is_empty() && !lines.last.is_empty() {
            shown.push(&lines.last);
        }
        if shown.is_empty() { String::new() } else { format!("; it wrote: {}", shown.join(" | ")) }
    }

    fn take(&self, line: &[u8], secrets: &[Secret]) -> Option<String> {
        let whole = String::from_utf8_lossy(line);
        // What a progress bar wrote over is gone.
        let bare = without_colours(whole.trim_end().rsplit('\r').next().expect("a split has a last part"));
        let text = redact(&untrusted::clean(&bare, MAX_LINE, &mut Found::default()), secrets);
        let text = shorten(&text, MAX_KEPT);
        if text.is_empty() {
            return None;
        }
        let mut lines = self.lock();
        if is_telling(&bare) {
            if lines.telling.len() == KEPT {
                lines.telling.pop_front();
            }
            lines.telling.push_back(text.clone());
        }
        lines.last.clone_from(&text);
        Some(text)
    }
}

pub(super) async fn read_stderr(server: String, mut stderr: impl AsyncRead + Unpin, said: Said, secrets: Vec<Secret>) {
    let mut piece = [0_u8; 4_096];
    let mut line: Vec<u8> = Vec::new();
    let tell = |line: &mut Vec<u8>| {
        if let Some(text) = said.take(line, &secrets) {
            tracing::debug!(server, "{text}");
        }
        line.clear();
    };
    while let Ok(count) = stderr.read(&mut piece).await {
        if count == 0 {
            break;
        }
        for byte in piece.iter().take(count) {
            if *byte == b'\n' {
                tell(&mut line);
            } else if line.len() < MAX_LINE {
                line.push(*byte);
            }
        }
    }
    tell(&mut line);
    said.ended.cancel();
}

/// Whether a line is informative: stack frames, braces, and the version of what ran the program do not.
fn is_telling(line: &str) -> bool {
    let text = line.trim();
    let frame = line.starts_with(char::is_whitespace) && (text.starts_with("at ") || text.starts_with("... "));
    !frame && !text.starts_with("Node.js v") && text.chars().any(char::is_alphanumeric)
}

fn is_grave(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["error", "exception", "panic", "fatal", "cannot", "not found"].iter().any(|word| lower.contains(word))
}

/// The text without the sequences that colour terminals and move their cursors.
fn without_colours(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            kept.push(c);
            continue;
        }
        match rest.next() {
            // `ESC [ … letter`
            Some('[') => while rest.next().is_some_and(|c| !matches!(c, '@'..='~')) {},
            // `ESC ] … BEL` or `ESC ] … ESC \`
            Some(']') => while rest.next().is_some_and(|c| !matches!(c, '\u{7}' | '\\')) {},
            Some(_) | None => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    async fn told(stderr: &str, secrets: &[&str]) -> String {
        let said = Said::default();
        let secrets = secrets.iter().filter_map(|secret| Secret::new(secret)).collect();
        read_stderr("s".into(), stderr.as_bytes(), said.clone(), secrets).await;
        said.end().await;
        said.words()
    }

    #[tokio::test]
    async fn the_last_lines_that_tell_something_are_told() {
        for (stderr, words) in rows::<(String, String)>(include_str!("program.json"), "told") {
            assert_eq!(told(&stderr, &[]).await, words, "{stderr:?}");
        }
        let flood = told(&format!("{}\n", "я".repeat(100_000)).repeat(30), &[]).await;
        assert_eq!(flood.matches('…').count(), TOLD);
        assert!(flood.chars().count() < TOLD * (MAX_KEPT + 10), "{flood}");
    }

    #[tokio::test]
    async fn secrets_are_blacked_out_wherever_they_are() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----";
        for (stderr, secret) in [
            ("key sk-5ecret is bad", "sk-5ecret"),
            ("key sk-5e\u{1b}[0mcret is bad", "sk-5ecret"),
            (&*format!("{} sk-5ecret", "x".repeat(MAX_KEPT - 6)), "sk-5ecret"),
            (&*format!("the key\n{key}\nis bad"), key),
        ] {
            let words = told(stderr, &[secret]).await;
            assert!(!words.contains("sk-5") && !words.contains("MIIE") && words.contains("[reda"), "{words}");
        }
    }

    #[test]
    fn a_program_that_cannot_be_started_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
        let missing = folder.path().join("bin/no-server");
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        for (program, path, error, words) in [
            ("npx", Path::new("npx"), not_found(), "its program `npx` is not on PATH; is it installed?"),
            (
                "./no-server",
                Path::new("/etc/./no-server"),
                not_found(),
                "`./no-server` is not at /etc/no-server; a relative",
            ),
            ("bin/no-server", &missing, not_found(), "relative to the folder of the configuration file"),
            (
                "/opt/no-server",
                Path::new("/opt/no-server"),
                not_found(),
                "`/opt/no-server` is not there; is it installed?",
            ),
            ("./script", &script, not_found(), "but not what its first line (`#!`) names"),
            (
                "./script",
                &script,
                io::ErrorKind::PermissionDenied.into(),
                "`./script` may not be run (permission denied)",
            ),
            ("./script", &script, io::Error::other("too many files"), "its program `./script`: too many files"),
        ] {
            let told = not_started(program, path, &error);
            assert!(told.starts_with("cannot be started: ") && told.contains(words), "{words}: {told}");
        }
    }
}
