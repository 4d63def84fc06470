//! The server under test: a child process with its data in a temporary folder, and what the system says of it.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// How long the server may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(20);
/// Lines of its stderr that are kept, to be shown when it fails.
const KEPT: usize = 60;

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    pid: u32,
    data: tempfile::TempDir,
    told: Arc<Mutex<VecDeque<String>>>,
}

impl Server {
    /// Starts it and waits until it says where it listens.
    pub(crate) async fn start(binary: &Path, model: &[String], more: &[String]) -> Result<Server> {
        let data = tempfile::tempdir()?;
        // It runs in a folder of its own.
        let binary = std::path::absolute(binary)?;
        let mut child = Command::new(&binary)
            .args(["serve", "--http", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .args(model)
            .args(more)
            .env_remove("OPENAI_API_KEY")
            .env_remove("OPENAI_BASE_URL")
            .env_remove("JARVIS_CONFIG")
            .current_dir(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} does not start; build it: cargo build --release", binary.display()))?;
        let stderr = child.stderr.take().context("no stderr")?;
        let told: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let (found, address) = oneshot::channel();
        tokio::spawn(listen(stderr, Arc::clone(&told), found));
        let pid = child.id().context("the server ended at once")?;
        match tokio::time::timeout(PATIENCE, address).await {
            Ok(Ok(address)) => Ok(Server { address, child, pid, data, told }),
            Ok(Err(_)) => bail!("the server ended before it listened:\n{}", lines(&told)),
            Err(_) => bail!("the server does not say where it listens:\n{}", lines(&told)),
        }
    }

    /// Where it serves gRPC, once it has said so.
    pub(crate) async fn grpc(&self) -> Option<String> {
        let said = || {
            let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.iter().find_map(|line| Some(line.split_once("gRPC at ")?.1.trim().to_owned()))
        };
        for _ in 0..100 {
            if let Some(address) = said() {
                return Some(address);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }

    /// Its memory now.
    pub(crate) fn memory(&self) -> Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid))
            .context("the server is gone, or this is not Linux")?;
        let field = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().find_map(|word| word.parse::<f64>().ok()).unwrap_or_default() / 1024.0
        };
        Ok(Memory {
            now: field("VmRSS:"),
            own: field("RssAnon:"),
            peak: field("VmHWM:"),
            threads: field("Threads:") * 1024.0,
        })
    }

    /// The processor time it has used.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        // The name in brackets may hold blanks; the fields after it are counted from `state`, the third.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split_whitespace().collect();
        let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// The bytes of all files it has written.
    pub(crate) fn data_bytes(&self) -> u64 {
        bytes_under(self.data.path())
    }

    /// Asks it to stop, and says what was wrong with how it did.
    pub(crate) async fn stop(mut self) -> Result<Vec<String>> {
        let ended = self.child.try_wait()?;
        if let Some(status) = ended {
            return Ok(vec![format!("the server ended by itself ({status}):\n{}", lines(&self.told))]);
        }
        let asked = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await?;
        if !asked.success() {
            bail!("the server cannot be asked to stop");
        }
        Ok(match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(status) if status.as_ref().is_ok_and(|status| status.success()) => Vec::new(),
            Ok(status) => vec![format!("the server stopped with {status:?}:\n{}", lines(&self.told))],
            Err(_) => vec![format!("the server did not stop within {PATIENCE:?} of SIGTERM:\n{}", lines(&self.told))],
        })
    }
}

/// Reads the server's stderr to its end: keeps the last lines, and finds the address.
async fn listen(
    stderr: tokio::process::ChildStderr,
    told: Arc<Mutex<VecDeque<String>>>,
    found: oneshot::Sender<SocketAddr>,
) {
    let mut found = Some(found);
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(address) = address(&line)
            && let Some(found) = found.take()
        {
            // Nobody waits when the program is being stopped.
            let _ = found.send(address);
        }
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() == KEPT {
            told.pop_front();
        }
        told.push_back(line);
    }
}

/// The address in a line such as `listening on http://127.0.0.1:8004`.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    let end = rest.find(|c: char| !(c.is_ascii_hexdigit() || "[].:".contains(c))).unwrap_or(rest.len());
    rest.get(..end)?.trim_end_matches('.').parse().ok()
}

fn lines(told: &Mutex<VecDeque<String>>) -> String {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    told.iter().map(|line| format!("    {line}\n")).collect()
}

fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = folder.read_dir() else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(file) if file.is_dir() => bytes_under(&entry.path()),
            Ok(file) => file.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Resident memory in MiB, and the number of threads. What is not its own are pages of the program's file, of which the
/// system maps more or fewer as it likes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    now: f64,
    own: f64,
    peak: f64,
    threads: f64,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB ({:.1} its own, peak {:.1}, {:.0} threads)", self.now, self.own, self.peak, self.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn the_address_is_found_in_a_line() {
        let cases = [
            ("listening on http://127.0.0.1:8004", Some("127.0.0.1:8004")),
            ("jarvis is at http://127.0.0.1:41234/ (Ctrl-C stops it)", Some("127.0.0.1:41234")),
            ("http://[::1]:80/docs", Some("[::1]:80")),
            ("see http://127.0.0.1:1234.", Some("127.0.0.1:1234")),
            ("model at https://example.org", None),
            ("nothing", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(address(line).map(|address| address.to_string()).as_deref(), wanted, "{line}");
        }
    }
}
