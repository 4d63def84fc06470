//! A clean place: a folder of its own with a home in it, and programs that know nothing of this machine but `/usr/bin`.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::dist::{Release, shown};
use crate::setup::as_root;

/// Where programs are in a clean place.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A folder that is emptied before use, and kept after it for whoever wants to look.
pub(super) struct Place {
    pub(super) folder: PathBuf,
}

impl Place {
    pub(super) fn new(release: &Release, name: &str) -> Result<Place> {
        let folder = release.root.join("target/dist-check").join(name);
        if folder.exists() {
            remove(&folder)?;
        }
        let home = folder.join("home");
        fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
        Ok(Place { folder })
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", self.home())
            .env("SHELL", "/bin/bash")
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }

    /// Tries a binary: its version, and a request that needs neither key nor network.
    pub(super) fn try_jarvis(&self, release: &Release, jarvis: impl AsRef<OsStr>) -> Result<()> {
        let jarvis = jarvis.as_ref();
        let version = succeeds(self.command(jarvis).arg("--version"))?;
        expect(version.trim() == format!("jarvis {}", release.version), || format!("--version printed {version:?}"))?;
        let request = "tell the mood of: what a lovely day";
        let answer = succeeds(self.command(jarvis).args(["run", "--offline", "--json", request]))?;
        let answer: serde_json::Value = serde_json::from_str(&answer).context("run --json printed no JSON")?;
        let kind = answer.pointer("/outcomes/0/outputs/0").map(ToString::to_string).unwrap_or_default();
        expect(answer.get("ok") == Some(&true.into()) && kind.to_uppercase().contains("POSITIVE"), || {
            format!("an offline run answered {answer}")
        })
    }
}

/// Serves the files of a release; ends with the value.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
}

impl Server {
    pub(super) fn start(release: &Release) -> Result<Server> {
        use std::io::{BufRead, BufReader};

        let mut child = Command::new("python3")
            .arg(release.root.join("xtask/src/dist/server.py"))
            .arg(&release.out)
            .stdout(Stdio::piped())
            .spawn()
            .context("python3 cannot start")?;
        let mut port = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut port)?;
        }
        Ok(Server { child, address: format!("http://127.0.0.1:{}", port.trim()) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program that must succeed, and takes its stdout.
pub(super) fn succeeds(command: &mut Command) -> Result<String> {
    crate::dist::output(command)
}

/// Runs a program that must fail, and takes what it says; fails if nothing in it is `expected`.
pub(super) fn refuses(command: &mut Command, expected: &str) -> Result<()> {
    let Output { status, stdout, stderr } =
        command.output().with_context(|| format!("`{}` cannot start", shown(command)))?;
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    if status.success() {
        bail!("`{}` succeeded:\n{said}", shown(command));
    }
    expect(said.contains(expected), || format!("`{}` does not say {expected:?}:\n{said}", shown(command)))
}

pub(super) fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { bail!(otherwise()) }
}

/// Whether a program is there; notes that its check is skipped where it is not.
pub(super) fn has(release: &Release, program: &str, for_what: &str) -> bool {
    let found = which::which(program).is_ok();
    if !found {
        release.skip(for_what, &format!("{program} is not installed"));
    }
    found
}

/// Root, as whom alone another root can be entered: this user, or by sudo where it asks for no password.
pub(super) struct Root {
    /// The words before what only root may do.
    prefix: &'static [&'static str],
}

impl Root {
    /// Notes that a check is skipped where nobody can be root.
    pub(super) fn of(release: &Release, for_what: &str) -> Option<Root> {
        let prefix = as_root();
        if prefix.is_none() {
            release.skip(for_what, "it wants root, or sudo without a password");
        }
        prefix.map(|prefix| Root { prefix })
    }

    /// A program with this environment alone, which sudo does not let through by itself.
    pub(super) fn command(&self, environment: &[(&str, &str)], program: impl AsRef<OsStr>) -> Command {
        let mut words = self.prefix.iter().chain(&["env", "-i"]);
        let mut command = Command::new(words.next().unwrap_or(&"env"));
        command.args(words).args(environment.iter().map(|(name, value)| format!("{name}={value}"))).arg(program);
        command.stdin(Stdio::null());
        command
    }

    /// Ends a program; sudo hands the signal on to its own.
    pub(super) fn end(&self, child: &mut Child) -> Result<()> {
        succeeds(self.command(&[("PATH", PATH)], "kill").arg(child.id().to_string()))?;
        child.wait()?;
        Ok(())
    }
}

/// Removes a folder, of which some may be root's.
fn remove(folder: &Path) -> Result<()> {
    let Err(error) = fs::remove_dir_all(folder) else { return Ok(()) };
    match as_root() {
        Some(prefix) if error.kind() == ErrorKind::PermissionDenied => {
            succeeds(Root { prefix }.command(&[("PATH", PATH)], "rm").arg("-rf").arg(folder)).map(drop)
        }
        _ => Err(error).with_context(|| format!("cannot remove {}", folder.display())),
    }
}

/// Copies a file with its mode.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Copies a program and the libraries that it is linked with, to the same places below `root`.
pub(super) fn with_libraries(program: &Path, root: &Path) -> Result<()> {
    let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    copy(program, &inside(program))?;
    libraries(program, root)
}

/// The libraries alone; none for a static binary.
pub(super) fn libraries(program: &Path, root: &Path) -> Result<()> {
    let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    let listed = Command::new("ldd").arg(program).output().context("ldd cannot start")?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for path in listed.split_whitespace().filter(|word| word.starts_with('/')).map(Path::new) {
        copy(path, &inside(path))?;
    }
    Ok(())
}
