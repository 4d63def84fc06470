//! A Restate server of a test: on free ports of loopback, killed when dropped. It is ready when its log says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use url::Url;

/// The partitions of a server, each of which must have a leader.
const PARTITIONS: usize = 4;

/// How lines end that tell of a port.
const LISTENING: &str = " listening";

/// The path of the server's binary; without one it is said that a test is skipped.
#[allow(clippy::print_stdout, reason = "a test says why it does nothing")]
pub fn binary() -> Option<PathBuf> {
    let binary = std::env::var_os("JARVIS_RESTATE_SERVER").filter(|path| !path.is_empty());
    if binary.is_none() {
        println!("skipped: JARVIS_RESTATE_SERVER names no Restate server");
    }
    binary.map(PathBuf::from)
}

pub struct Server {
    binary: PathBuf,
    pub name: String,
    dir: TempDir,
    /// By what listens there: `message-fabric-server`, `http-ingress-server`, `admin-api-server`.
    pub ports: BTreeMap<String, u16>,
    env: Vec<(String, String)>,
    pub log: Vec<Value>,
    child: Option<Child>,
}

impl Server {
    pub async fn start(binary: &Path) -> Server {
        let mut server = Server::new(binary, "n1");
        server.run().await;
        server
    }

    pub fn new(binary: &Path, name: &str) -> Server {
        Server {
            binary: binary.to_owned(),
            name: name.to_owned(),
            dir: TempDir::new().expect("a folder for the server"),
            ports: BTreeMap::new(),
            env: Vec::new(),
            log: Vec::new(),
            child: None,
        }
    }

    pub fn env(&mut self, name: &str, value: impl Into<String>) {
        self.env.push((name.to_owned(), value.into()));
    }

    /// Starts it, or starts it again on the same ports, and waits until it leads its partitions.
    pub async fn run(&mut self) {
        let mut lines = self.spawn();
        let mut leaders = 0;
        while leaders < PARTITIONS || self.ports.len() < 3 {
            let message = self.read(&mut lines).await;
            leaders += usize::from(message.starts_with("Processor became Leader"));
        }
        self.drain(lines);
    }

    /// Starts it and waits until all of its ports are open.
    pub async fn listen(&mut self) {
        let mut lines = self.spawn();
        let mut open = 0;
        while open < 3 {
            open += usize::from(self.read(&mut lines).await.ends_with(LISTENING));
        }
        self.drain(lines);
    }

    fn spawn(&mut self) -> Lines<BufReader<ChildStdout>> {
        let mut command = Command::new(&self.binary);
        command
            .args(["--no-logo", "--node-name", &self.name, "--base-dir"])
            .arg(self.dir.path())
            .env_clear()
            .envs([
                ("RESTATE_DISABLE_TELEMETRY", "true"),
                ("DO_NOT_TRACK", "1"),
                ("RESTATE_BIND_IP", "127.0.0.1"),
                ("RESTATE_LISTEN_MODE", "tcp"),
                ("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MB"),
                ("RESTATE_DEFAULT_NUM_PARTITIONS", "4"),
                ("RESTATE_LOG_FORMAT", "json"),
                ("RESTATE_LOG_DISABLE_ANSI_CODES", "true"),
            ])
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        if self.ports.is_empty() {
            command.args(["--use-random-ports", "true"]);
        } else {
            for (server, name) in [
                ("message-fabric-server", "RESTATE_BIND_PORT"),
                ("http-ingress-server", "RESTATE_INGRESS__BIND_PORT"),
                ("admin-api-server", "RESTATE_ADMIN__BIND_PORT"),
            ] {
                command.env(name, self.ports.get(server).expect("it listened there").to_string());
            }
        }
        let mut child = command.spawn().expect("the server starts");
        let stdout = child.stdout.take().expect("it is piped");
        self.child = Some(child);
        BufReader::new(stdout).lines()
    }

    /// Reads a line of the log; gives its message.
    async fn read(&mut self, lines: &mut Lines<BufReader<ChildStdout>>) -> String {
        let line = lines.next_line().await.expect("the log can be read");
        let line = line.expect("the server runs on");
        let Ok(entry) = serde_json::from_str::<Value>(&line) else { return String::new() };
        let text = |at: &str| entry.pointer(at).and_then(Value::as_str);
        let message = text("/fields/message").unwrap_or_default().to_owned();
        if let (Some(server), Some(port), true) = (
            text("/span/server_name"),
            entry.pointer("/span/server.port").and_then(Value::as_u64),
            message.ends_with(LISTENING),
        ) {
            self.ports.insert(server.to_owned(), u16::try_from(port).expect("a port"));
        }
        self.log.push(entry);
        message
    }

    /// Reads on, so that the server never waits for a reader.
    fn drain(&self, mut lines: Lines<BufReader<ChildStdout>>) {
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    }

    /// Kills it as a crash would.
    pub async fn kill(&mut self) {
        let child = self.child.as_mut().expect("it runs");
        child.kill().await.expect("it can be killed");
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().and_then(Child::id).expect("it runs")
    }

    fn url(&self, server: &str) -> Url {
        let port = self.ports.get(server).expect("it listens there");
        Url::parse(&format!("http://127.0.0.1:{port}")).expect("an address")
    }

    pub fn admin(&self) -> Url {
        self.url("admin-api-server")
    }

    pub fn ingress(&self) -> Url {
        self.url("http-ingress-server")
    }
}
