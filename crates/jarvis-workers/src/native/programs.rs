//! Installed programs: where they are, how they are run. Found once, run without a shell, killed when the caller goes away.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use jarvis_plan::{ErrorCode, TaskError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::OnceCell;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    EspeakNg,
    Tesseract,
    Ffmpeg,
}

impl Program {
    pub const ALL: [Program; 3] = [Program::EspeakNg, Program::Tesseract, Program::Ffmpeg];

    pub fn name(self) -> &'static str {
        match self {
            Program::EspeakNg => "espeak-ng",
            Program::Tesseract => "tesseract",
            Program::Ffmpeg => "ffmpeg",
        }
    }

    pub fn hint(self) -> &'static str {
        match self {
            Program::EspeakNg => "install it, for example with `apt-get install espeak-ng`",
            Program::Ffmpeg => "install it, for example with `apt-get install ffmpeg`",
            Program::Tesseract => {
                "install it, for example with `apt-get install tesseract-ocr`, \
                 and its languages with packages such as `tesseract-ocr-rus` or `tesseract-ocr-chi-sim`"
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Programs {
    found: BTreeMap<Program, PathBuf>,
    languages: OnceCell<Vec<String>>,
    variants: OnceCell<Vec<String>>,
}

impl Programs {
    pub fn find() -> Programs {
        Programs::find_in(std::env::var_os("PATH").as_deref().unwrap_or_default())
    }

    /// Looks for each program in the folders of a value like that of `PATH`. Relative folders are passed over.
    pub fn find_in(path: &OsStr) -> Programs {
        let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
        let locate = |program: Program| {
            let file = format!("{}{}", program.name(), std::env::consts::EXE_SUFFIX);
            folders.iter().map(|folder| folder.join(&file)).find(|path| is_executable(path))
        };
        let found = Program::ALL.into_iter().filter_map(|program| Some((program, locate(program)?))).collect();
        Programs { found, ..Programs::default() }
    }

    pub fn none() -> Programs {
        Programs::default()
    }

    /// Where a program is; otherwise an error that says how to install it.
    pub fn path(&self, program: Program) -> Result<&Path, TaskError> {
        self.found.get(&program).map(PathBuf::as_path).ok_or_else(|| {
            TaskError::new(ErrorCode::NotConfigured, format!("the program `{}` is not installed", program.name()))
                .hint(program.hint())
        })
    }

    /// The languages that tesseract has data for, kept once it has listed them.
    ///
    /// # Errors
    /// When tesseract is missing or fails; the next call asks again.
    pub(super) async fn ocr_languages(&self) -> Result<&[String], TaskError> {
        let ask = || async {
            let call = Call { args: &["--list-langs"], stdin: &[], limit: 1 << 16, timeout: Duration::from_secs(10) };
            let listed = self.run(Program::Tesseract, call).await?;
            let listed = String::from_utf8_lossy(&listed);
            Ok(listed.lines().skip(1).map(|line| line.trim().to_owned()).filter(|name| !name.is_empty()).collect())
        };
        self.languages.get_or_try_init(ask).await.map(Vec::as_slice)
    }

    /// Whether espeak-ng has this variant of its voices. Asked for one it lacks, it speaks with the plain voice and says nothing.
    ///
    /// # Errors
    /// When espeak-ng is missing or fails; the next call asks again.
    pub(super) async fn has_variant(&self, name: &str) -> Result<bool, TaskError> {
        let ask = || async {
            let args = ["--voices=variant"];
            let call = Call { args: &args, stdin: &[], limit: 1 << 16, timeout: Duration::from_secs(10) };
            let listed = self.run(Program::EspeakNg, call).await?;
            let files = String::from_utf8_lossy(&listed);
            let files = files.lines().flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix("!v/"));
            Ok::<Vec<String>, TaskError>(files.map(str::to_owned).collect())
        };
        let variants = self.variants.get_or_try_init(ask).await?;
        Ok(variants.iter().any(|variant| variant == name))
    }

    /// Runs a program without a shell, feeds it, and returns what it wrote. It is killed when the time is over, when it
    /// writes more than the limit, and when the future is dropped.
    pub(super) async fn run(&self, program: Program, call: Call<'_>) -> Result<Vec<u8>, TaskError> {
        let path = self.path(program)?;
        let name = program.name();
        let mut child = Command::new(path)
            .args(call.args)
            .env("OMP_THREAD_LIMIT", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|cause| TaskError::new(ErrorCode::Unavailable, format!("cannot start `{name}`: {cause}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program may stop reading early; what it says then is in its exit status.
                let _ = stdin.write_all(call.stdin).await;
                let _ = stdin.shutdown().await;
            }
        };
        let work = async {
            let ((), written, complaint) = tokio::join!(feed, read(stdout, call.limit), read(stderr, 4096));
            (written, complaint, child.wait().await)
        };
        let Ok((written, complaint, status)) = tokio::time::timeout(call.timeout, work).await else {
            let seconds = call.timeout.as_secs();
            return Err(TaskError::new(ErrorCode::Timeout, format!("`{name}` did not finish within {seconds} s")));
        };
        let failed = |cause: String| TaskError::new(ErrorCode::Upstream, format!("`{name}` failed: {cause}"));
        let (written, whole) = written.map_err(|cause| failed(cause.to_string()))?;
        if !whole {
            let limit = call.limit;
            return Err(TaskError::new(ErrorCode::TooLarge, format!("`{name}` wrote more than {limit} bytes")));
        }
        let status = status.map_err(|cause| failed(cause.to_string()))?;
        if !status.success() {
            let complaint = complaint.map(|(bytes, _)| bytes).unwrap_or_default();
            let complaint = String::from_utf8_lossy(&complaint);
            let first = complaint.lines().map(str::trim).find(|line| !line.is_empty());
            return Err(failed(first.map_or_else(|| status.to_string(), str::to_owned)));
        }
        Ok(written)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) args: &'a [&'a str],
    pub(super) stdin: &'a [u8],
    /// The most it may write, in bytes.
    pub(super) limit: usize,
    pub(super) timeout: Duration,
}

/// Reads to the end, or until there is more than `limit`: then the second value is false, and the pipe is closed.
async fn read<R: AsyncRead + Unpin>(pipe: Option<R>, limit: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(limit as u64 + 1).read_to_end(&mut bytes).await?;
    }
    let whole = bytes.len() <= limit;
    bytes.truncate(limit);
    Ok((bytes, whole))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
