//! PDFs, office files and web pages, read in a process of its own: one that loops is ended, one that eats memory ends
//! itself, and none takes the server with it.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use jarvis_document::{DocumentError, DocumentReader, Extracted, MAX_FILE, READ_TIME, extract};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::Semaphore;

/// Readings at once.
const AT_ONCE: usize = 4;

/// The most memory that a reading may have, in bytes.
const MAX_MEMORY: u64 = 2 << 30;

/// The longest text that is taken, in bytes.
const MAX_TEXT: u64 = 64 << 20;

/// The subcommand by which this program reads a document from its input, and writes its format in a line and then its text
/// to its output.
pub(crate) const SUBCOMMAND: &str = "document-text";

/// Reads documents by starting this program anew.
pub(super) struct OwnProcess {
    /// The program to start; jarvis itself.
    program: io::Result<PathBuf>,
    places: Semaphore,
    /// The longest that a reading may take, its waiting for a place included.
    time: Duration,
}

impl OwnProcess {
    pub(super) fn new() -> Arc<OwnProcess> {
        Arc::new(OwnProcess { program: std::env::current_exe(), places: Semaphore::new(AT_ONCE), time: READ_TIME })
    }

    async fn read(&self, bytes: Bytes) -> Result<Extracted, DocumentError> {
        let _place = self.places.acquire().await.map_err(|_| DocumentError::Broken)?;
        let broken = |_| DocumentError::Broken;
        let program = self.program.as_ref().map_err(|_| DocumentError::Broken)?;
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            .env_clear()
            .envs([crate::SMALL_ARENAS])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(broken)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(DocumentError::Broken);
        };
        let (mut text, mut complaint) = (String::new(), String::new());
        let mut stdout = stdout.take(MAX_TEXT);
        let mut stderr = stderr.take(4_096);
        let sent = async {
            // A reader that gave up takes no more; the reason is in its complaint.
            let _ = stdin.write_all(&bytes).await;
            drop(stdin);
        };
        let ((), read) = tokio::join!(sent, stdout.read_to_string(&mut text));
        if text.len() as u64 >= MAX_TEXT {
            // It may wait for us to take more; it ends when it is dropped.
            return Err(too_much());
        }
        let read_complaint = stderr.read_to_string(&mut complaint).await;
        let status = child.wait().await.map_err(broken)?;
        if status.success() && read.is_ok() {
            let (format, text) = text.split_once('\n').ok_or(DocumentError::Broken)?;
            return Ok(Extracted { format: format.parse()?, text: text.to_owned() });
        }
        let complaint = complaint.trim().to_owned();
        match (status.code(), read_complaint) {
            (Some(UNREADABLE), Ok(_)) if !complaint.is_empty() => Err(DocumentError::Unreadable(complaint)),
            (Some(NOT_TEXT), Ok(_)) if !complaint.is_empty() => Err(DocumentError::NotText(complaint)),
            _ => Err(DocumentError::Broken),
        }
    }
}

#[async_trait]
impl DocumentReader for OwnProcess {
    async fn text(&self, bytes: Bytes) -> Result<Extracted, DocumentError> {
        if bytes.len() > MAX_FILE {
            return Err(DocumentError::Size { bytes: bytes.len(), most: MAX_FILE });
        }
        tokio::time::timeout(self.time, self.read(bytes)).await.unwrap_or(Err(DocumentError::Time(self.time)))
    }
}

/// The exit statuses of the child whose error output is the reason.
const UNREADABLE: i32 = 1;
const NOT_TEXT: i32 = 4;

fn too_much() -> DocumentError {
    DocumentError::Unreadable(format!("the document: it holds more than {} MiB of text", MAX_TEXT >> 20))
}

/// The child's side: a document from the input; its format in a line, and its text, to the output; what is wrong, in one
/// line, to the error output.
pub(crate) fn child() -> std::process::ExitCode {
    use std::io::{Read, Write};
    use std::process::ExitCode;
    #[cfg(unix)]
    let _ = rlimit::setrlimit(rlimit::Resource::AS, MAX_MEMORY, MAX_MEMORY);
    // The exit code reports a panic; its message could quote the document.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bytes = Vec::new();
    if std::io::stdin().lock().take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).is_err() {
        return ExitCode::from(2);
    }
    let complain = |reason: &str, code: i32| {
        let _ = writeln!(std::io::stderr().lock(), "{reason}");
        ExitCode::from(code.to_le_bytes().first().copied().unwrap_or(1))
    };
    match extract(&bytes) {
        Ok(read) => match write!(std::io::stdout().lock(), "{}\n{}", read.format, read.text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(2),
        },
        Err(DocumentError::Unreadable(reason)) => complain(&reason, UNREADABLE),
        Err(DocumentError::NotText(reason)) => complain(&reason, NOT_TEXT),
        Err(_) => ExitCode::from(3),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn ended(program: &str, places: usize, time: Duration) -> Option<DocumentError> {
        let reader = OwnProcess { program: Ok(program.into()), places: Semaphore::new(places), time };
        reader.text(Bytes::from_static(b"%PDF-")).await.err()
    }

    #[tokio::test]
    async fn a_reader_that_loops_dies_or_writes_too_much_is_an_error() {
        let late = Some(DocumentError::Time(Duration::ZERO));
        let too_much = Some(too_much());
        let broken = Some(DocumentError::Broken);
        // `yes` writes without end, and `false` ends without a word.
        assert_eq!(ended("yes", 1, Duration::ZERO).await, late);
        assert_eq!(ended("yes", 0, Duration::ZERO).await, late, "waiting for a place counts");
        assert_eq!(ended("yes", 1, READ_TIME).await, too_much);
        assert_eq!(ended("false", 1, READ_TIME).await, broken);
        assert_eq!(ended("/nowhere/jarvis", 1, READ_TIME).await, broken);
    }
}
