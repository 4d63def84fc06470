//! Models in processes of their own. The engines bound neither the memory nor the time of a graph, and cannot be stopped in the
//! middle of a layer; a process can be limited and ended, and its end gives all memory back.
//!
//! [`serve`] is the child's side: it loads one model and runs it, one use after the other. [`Processes`] is the parent's: an
//! opener for [`crate::LocalModels`] whose models live in children. The two speak MessagePack in frames with their length before
//! them, over the child's standard input and output.

mod child;
mod frame;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

pub use child::serve;

/// The longest that a model may take to load.
const LOAD_TIME: Duration = Duration::from_secs(300);
/// How long a child that was told to stop may go on until it is killed.
const STOP_TIME: Duration = Duration::from_millis(500);
/// Bytes of a child's last words that are kept.
const LAST_WORDS: usize = 4096;

/// To a child.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    Load { files: ModelFiles, task: String, threads: usize, max_memory: u64 },
    Run { input: Box<Input>, deadline_ms: Option<u64>, streams: bool },
    Stop,
}

/// [`Request::Run`] without a copy of its input.
#[derive(Serialize)]
enum Run<'a> {
    Run { input: &'a Input, deadline_ms: Option<u64>, streams: bool },
}

/// From a child.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Loaded {
        memory: u64,
    },
    Failed(ExpertError),
    /// A piece of text, as it is written.
    Text(String),
    Done(Box<Output>),
}

/// Starts a process for each model that is loaded.
#[derive(Debug, Clone)]
pub struct Processes {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
    threads: usize,
}

impl Processes {
    /// Children are this program with these arguments, which must end in [`serve`]. Each computes on so many threads.
    pub fn new(program: PathBuf, args: Vec<OsString>, threads: usize) -> Processes {
        Processes { program, args, env: Vec::new(), threads }
    }

    /// Gives children a variable of the environment, of which they have none of their parent's.
    #[must_use]
    pub fn with_env(mut self, (name, value): (&'static str, &'static str)) -> Processes {
        self.env.push((name, value));
        self
    }

    /// Loads a model in a new process. Blocks; to be called on a thread of a tokio runtime that may block.
    ///
    /// # Errors
    /// When the process cannot be started or the model not be loaded.
    pub fn open(
        &self,
        files: &ModelFiles,
        task: &str,
        resources: &Resources,
        call: &Call,
    ) -> Result<Box<dyn LocalModel>, ExpertError> {
        let failed = |error: std::io::Error| files.failed(format!("its process cannot be started: {error}"));
        let runtime = Handle::try_current().map_err(|_| files.failed("there is no runtime to start its process on"))?;
        let load = async {
            let mut link = Link::start(self, files).map_err(failed)?;
            let request = Request::Load {
                files: files.clone(),
                task: task.to_owned(),
                threads: self.threads,
                max_memory: resources.max_memory,
            };
            link.send(&request).await?;
            // Loading may compute already: what does not depend on the input. Dropping the link ends the process.
            let reply = tokio::select! {
                reply = link.receive() => reply?,
                why = call.is_over() => return Err(why),
                () = tokio::time::sleep(LOAD_TIME) => return Err(ExpertError::Timeout),
            };
            match reply {
                Reply::Loaded { memory } => Ok((link, memory)),
                Reply::Failed(error) => Err(error),
                Reply::Text(_) | Reply::Done(_) => Err(files.failed("its process answered out of turn")),
            }
        };
        let (link, memory) = runtime.block_on(load)?;
        let link = tokio::sync::Mutex::new(link);
        Ok(Box::new(Remote { link, memory, is_alive: AtomicBool::new(true), runtime }))
    }
}

/// A model in another process. Dropping it ends the process.
struct Remote {
    /// One use at a time.
    link: tokio::sync::Mutex<Link>,
    memory: u64,
    is_alive: AtomicBool,
    runtime: Handle,
}

impl LocalModel for Remote {
    fn memory(&self) -> u64 {
        self.memory
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        self.runtime.block_on(async {
            let mut link = tokio::select! {
                link = self.link.lock() => link,
                () = call.cancel.cancelled() => return Err(ExpertError::Cancelled),
            };
            let result = link.run(input, call).await;
            if link.is_dead {
                self.is_alive.store(false, Ordering::Release);
            }
            result
        })
    }

    fn is_alive(&self) -> bool {
        self.is_alive.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("memory", &self.memory).field("is_alive", &self.is_alive).finish_non_exhaustive()
    }
}

/// A child and the pipes to it.
struct Link {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_words: Arc<Mutex<Vec<u8>>>,
    model: ModelFiles,
    is_dead: bool,
}

impl Link {
    fn start(processes: &Processes, files: &ModelFiles) -> std::io::Result<Link> {
        let mut child = Command::new(&processes.program)
            .args(&processes.args)
            .env_clear()
            // candle has a pool of its own for quantised weights, whose threads spin: on a busy machine two of them do a fifth of
            // the work of one. With one thread it leaves the work to ours.
            .env("CANDLE_NUM_THREADS", "1")
            .envs(processes.env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let last_words = Arc::<Mutex<Vec<u8>>>::default();
        tokio::spawn(listen(child.stderr.take().ok_or_else(missing)?, Arc::clone(&last_words)));
        Ok(Link { child, stdin, stdout, last_words, model: files.clone(), is_dead: false })
    }

    async fn send(&mut self, request: &impl Serialize) -> Result<(), ExpertError> {
        if frame::write(&mut self.stdin, request).await.is_err() {
            return Err(self.died().await);
        }
        Ok(())
    }

    async fn receive(&mut self) -> Result<Reply, ExpertError> {
        match frame::read(&mut self.stdout).await {
            Ok(reply) => Ok(reply),
            Err(_) => Err(self.died().await),
        }
    }

    async fn run(&mut self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        call.check()?;
        let left = call.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let deadline_ms = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        self.send(&Run::Run { input, deadline_ms, streams: call.on_text.is_some() }).await?;
        let over = call.is_over();
        tokio::pin!(over);
        loop {
            let reply = tokio::select! {
                reply = self.receive() => reply?,
                why = &mut over => {
                    self.stop().await;
                    return Err(why);
                }
            };
            match reply {
                Reply::Text(text) => call.tell(&text),
                Reply::Done(output) => return Ok(*output),
                Reply::Failed(error) => return Err(error),
                Reply::Loaded { .. } => return Err(self.model.failed("its process answered out of turn")),
            }
        }
    }

    /// Tells the child to stop its work, and ends it where it does not: a layer cannot be left in the middle.
    async fn stop(&mut self) {
        let stopped = async {
            frame::write(&mut self.stdin, &Request::Stop).await?;
            loop {
                // A reply that was cut off in the middle makes the rest unreadable, which is as good as dead.
                match frame::read(&mut self.stdout).await? {
                    Reply::Done(_) | Reply::Failed(_) => return std::io::Result::Ok(()),
                    Reply::Text(_) | Reply::Loaded { .. } => {}
                }
            }
        };
        if !matches!(tokio::time::timeout(STOP_TIME, stopped).await, Ok(Ok(()))) {
            self.is_dead = true;
            let _ = self.child.start_kill();
        }
    }

    /// Why the child ended.
    async fn died(&mut self) -> ExpertError {
        self.is_dead = true;
        let _ = self.child.start_kill();
        let status = self.child.wait().await;
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let words = String::from_utf8_lossy(&words).into_owned();
        let reason = match (status, words.trim()) {
            (_, words) if words.contains("memory allocation of") => {
                "it needed more memory than `local.max_memory_mb` allows".to_owned()
            }
            (Ok(status), "") => format!("its process ended ({status})"),
            (Ok(status), words) => format!("its process ended ({status}): {words}"),
            (Err(error), _) => format!("its process ended: {error}"),
        };
        self.model.failed(reason)
    }
}

/// Keeps the last that a child writes to its error output.
async fn listen(mut stderr: impl AsyncRead + Unpin, last_words: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 1024];
    while let Ok(length @ 1..) = stderr.read(&mut piece).await {
        let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(piece.get(..length).unwrap_or_default());
        let too_many = words.len().saturating_sub(LAST_WORDS);
        words.drain(..too_many);
    }
}

#[cfg(test)]
mod tests;
