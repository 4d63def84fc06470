//! The server under test: a child process with its data in a temporary folder, measured through `/proc`.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

/// How long the server may take to start, and to stop.
const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    pid: u32,
    lines: mpsc::UnboundedReceiver<String>,
    _data: tempfile::TempDir,
}

impl Server {
    pub(crate) async fn start(binary: &Path, model: &[String], more: &[String]) -> Result<Server> {
        let data = tempfile::tempdir()?;
        // Absolute, since the server runs in another folder.
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
            .with_context(|| format!("{} cannot start; build it: cargo build --release", binary.display()))?;
        let mut stderr = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let (sender, mut lines) = mpsc::unbounded_channel();
        // Reads to the end, so that the server never waits for a reader.
        tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                // Fails once the server is dropped.
                let _ = sender.send(line);
            }
        });
        let pid = child.id().context("the server ended at once")?;
        let address = find(&mut lines, address).await?;
        Ok(Server { address, child, pid, lines, _data: data })
    }

    pub(crate) async fn grpc(&mut self) -> Result<String> {
        find(&mut self.lines, |line| Some(line.split_once("gRPC at ")?.1.trim().to_owned())).await
    }

    pub(crate) fn memory(&self) -> Result<Memory> {
        let status = self.proc("status")?;
        let mib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            kib.map(|kib| kib / 1024.0).with_context(|| format!("/proc/{}/status has no {name}", self.pid))
        };
        Ok(Memory { resident: mib("VmRSS:")?, anonymous: mib("RssAnon:")?, peak: mib("VmHWM:")? })
    }

    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = self.proc("stat")?;
        // The name in brackets may hold blanks. Behind it, `utime` and `stime` are the 12th and 13th field (proc(5)).
        let (_, fields) = stat.rsplit_once(") ").context("an unknown /proc/PID/stat")?;
        let ticks: u64 = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 10))
    }

    fn proc(&self, file: &str) -> Result<String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid))
            .context("the server is gone, or this is not Linux")
    }

    /// Stops the server and returns what was wrong with how it ended.
    pub(crate) async fn stop(mut self) -> Result<Vec<String>> {
        let ended = match self.child.try_wait()? {
            Some(status) => format!("the server ended by itself ({status})"),
            None => {
                Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await?;
                match tokio::time::timeout(DEADLINE, self.child.wait()).await {
                    Ok(status) if status.as_ref().is_ok_and(|status| status.success()) => return Ok(Vec::new()),
                    Ok(status) => format!("the server ended with {status:?}"),
                    Err(_) => format!("the server did not stop within {DEADLINE:?} of SIGTERM"),
                }
            }
        };
        let lines: Vec<String> = std::iter::from_fn(|| self.lines.try_recv().ok()).collect();
        Ok(vec![format!("{ended}:\n{}", lines.join("\n"))])
    }
}

/// The first line that `pick` takes something from.
async fn find<T>(lines: &mut mpsc::UnboundedReceiver<String>, pick: impl Fn(&str) -> Option<T>) -> Result<T> {
    let mut seen = Vec::new();
    while let Ok(Some(line)) = tokio::time::timeout(DEADLINE, lines.recv()).await {
        if let Some(found) = pick(&line) {
            return Ok(found);
        }
        seen.push(line);
    }
    bail!("the server ended, or does not print its address:\n{}", seen.join("\n"))
}

/// The address in a line such as `listening on http://127.0.0.1:8004`.
fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    let end = rest.find(|c: char| !(c.is_ascii_hexdigit() || "[].:".contains(c))).unwrap_or(rest.len());
    rest.get(..end)?.trim_end_matches('.').parse().ok()
}

/// Memory in MiB. Resident but not anonymous are pages of the program's file, of which the system maps more or fewer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    resident: f64,
    anonymous: f64,
    peak: f64,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB ({:.1} anonymous, peak {:.1})", self.resident, self.anonymous, self.peak)
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
        ];
        for (line, wanted) in cases {
            assert_eq!(address(line).map(|address| address.to_string()).as_deref(), wanted, "{line}");
        }
    }
}
