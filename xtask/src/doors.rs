//! Python clients and the web page against the real binary. Quiet unless something fails.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long the server may take to print its address.
const DEADLINE: Duration = Duration::from_secs(30);

/// Creates the environment of the Python tests, again after the pinned packages changed.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn python_environment(root: &Path) -> Result<()> {
    environment(&root.join("tests/python/requirements.txt"), &root.join("target/python"))
}

/// Creates an environment of pinned Python packages, again after they changed.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn environment(wanted: &Path, folder: &Path) -> Result<()> {
    let noted = folder.join("requirements.txt");
    let text = std::fs::read(wanted).with_context(|| format!("{} cannot be read", wanted.display()))?;
    if std::fs::read(&noted).is_ok_and(|noted| noted == text) {
        return Ok(());
    }
    println!("setup: installing the Python packages of {} into {}", wanted.display(), folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    quiet(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    quiet(
        Command::new(folder.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(wanted),
    )?;
    // Last, so that a broken installation is not taken for a good one.
    std::fs::write(&noted, text).with_context(|| format!("{} cannot be written", noted.display()))
}

/// Installs the pinned npm packages of tests, again after they changed. Without them, those tests are skipped.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn node_packages(root: &Path) -> Result<()> {
    let (wanted, folder) = (root.join("tests/node"), root.join("target/node"));
    let noted = folder.join("node_modules/.jarvis-lock.json");
    let lock = wanted.join("package-lock.json");
    let text = std::fs::read(&lock).with_context(|| format!("{} cannot be read", lock.display()))?;
    if std::fs::read(&noted).is_ok_and(|noted| noted == text) {
        return Ok(());
    }
    println!("setup: installing the packages of tests/node/package.json into target/node");
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    for name in ["package.json", "package-lock.json"] {
        let (from, to) = (wanted.join(name), folder.join(name));
        std::fs::copy(&from, &to).with_context(|| format!("{} cannot be written", to.display()))?;
    }
    // Tests start the packages; no code of them runs at installation.
    let line = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    if let Err(error) = quiet(Command::new("npm").args(line).current_dir(&folder)) {
        println!("setup: {error:#}; the tests that need them are skipped");
        return Ok(());
    }
    std::fs::write(&noted, text).with_context(|| format!("{} cannot be written", noted.display()))
}

/// Runs the Python tests against the debug binary.
///
/// # Errors
/// When a test fails; its report has been printed.
pub(crate) fn python(root: &Path) -> Result<()> {
    let output = quiet(
        Command::new(root.join("target/python/bin/python"))
            .args(["-B", "-m", "pytest", "tests/python"])
            .env("JARVIS_BINARY", binary(root))
            .current_dir(root),
    )?;
    println!("{}", output.lines().next_back().unwrap_or_default());
    Ok(())
}

/// Checks the web page by itself and against a running server.
///
/// # Errors
/// When a check fails; its report has been printed.
pub(crate) fn web(root: &Path) -> Result<()> {
    let web = root.join("web");
    web_packages(root)?;
    for script in ["check", "test"] {
        quiet(Command::new("npm").args(["run", "--silent", script]).current_dir(&web))?;
    }
    let server = Server::start(root, &binary(root))?;
    quiet(
        Command::new("npm").args(["run", "--silent", "test:server"]).env("JARVIS_URL", &server.url).current_dir(&web),
    )?;
    println!("web: check, test and test:server passed");
    Ok(())
}

/// Installs the packages of the web page, again after they changed.
///
/// # Errors
/// When npm fails.
pub(crate) fn web_packages(root: &Path) -> Result<()> {
    let web = root.join("web");
    let lock = web.join("package-lock.json");
    let noted = web.join("node_modules/.jarvis-lock.json");
    let text = std::fs::read(&lock).with_context(|| format!("{} cannot be read", lock.display()))?;
    if !std::fs::read(&noted).is_ok_and(|noted| noted == text) {
        quiet(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&web))?;
        std::fs::write(&noted, text).with_context(|| format!("{} cannot be written", noted.display()))?;
    }
    Ok(())
}

/// The debug binary, or the one that `JARVIS_BINARY` names.
pub(crate) fn binary(root: &Path) -> PathBuf {
    let named = std::env::var_os("JARVIS_BINARY").filter(|named| !named.is_empty());
    named.map_or_else(|| root.join("target/debug/jarvis"), PathBuf::from)
}

/// Runs a command and returns its stdout; prints its output when it fails.
pub(crate) fn quiet(command: &mut Command) -> Result<String> {
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::display).collect();
    let line = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("`{line}` cannot start"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        print!("{stdout}");
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("`{line}` failed ({})", output.status);
    }
    Ok(stdout)
}

/// `jarvis serve` on a free port; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    data: PathBuf,
}

impl Server {
    pub(crate) fn start(root: &Path, binary: &Path) -> Result<Server> {
        let data = root.join("target/tmp").join(format!("web-{}", std::process::id()));
        std::fs::create_dir_all(&data).with_context(|| format!("{} cannot be created", data.display()))?;
        let mut child = Command::new(binary)
            .args(["serve", "--http", "127.0.0.1:0", "--llm", "offline", "--data-dir"])
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("jarvis cannot start; build it: cargo build")?;
        let stderr = child.stderr.take().context("a child without stderr")?;
        let mut server = Server { child, url: String::new(), data };
        let (sender, lines) = mpsc::channel();
        // Reads to the end, so that the server never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // Fails once the address is known.
                let _ = sender.send(line);
            }
        });
        let mut seen = String::new();
        while let Ok(line) = lines.recv_timeout(DEADLINE) {
            if let Some((_, rest)) = line.split_once("http://") {
                let address = rest.split(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or_default();
                server.url = format!("http://{address}");
                return Ok(server);
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        bail!("jarvis serve does not print its address:\n{seen}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended by itself, and a folder that stays does no harm.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}
