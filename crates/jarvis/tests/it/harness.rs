//! The binary in a working folder and a data folder of its own, with what changes from run to run taken out of its output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use image::{Rgb, RgbImage};
use serde_json::Value;

/// A person's machine: a folder to work in and a place where jarvis keeps its things.
pub(crate) struct Harness {
    work: tempfile::TempDir,
    data: tempfile::TempDir,
    env: Vec<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Harness {
    pub(crate) fn new() -> Harness {
        Harness {
            work: tempfile::tempdir().expect("a folder"),
            data: tempfile::tempdir().expect("a folder"),
            env: Vec::new(),
        }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Harness {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(&path, bytes).expect("writable");
        path
    }

    /// A red square on a sky-blue ground, 200 by 120 pixels.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        let path = self.work.path().join(name);
        let picture = RgbImage::from_fn(200, 120, |x, y| match (60..140).contains(&x) && (30..90).contains(&y) {
            true => Rgb([200, 30, 30]),
            false => Rgb([110, 180, 235]),
        });
        picture.save(&path).expect("writable");
        path
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn work(&self) -> &Path {
        self.work.path()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with_input(args, "")
    }

    /// The binary with nothing of this machine's environment but the search path.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_jarvis"), args)
    }

    /// Another program, or a copy of the binary, in the same environment.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.work.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.data.path())
            .env("JARVIS_DATA_DIR", self.data.path())
            // What listens on this machine is no part of a test, and how busy it is neither.
            .env("JARVIS_LLM__LOCAL_SERVERS", "[]")
            .env("JARVIS_LLM__PROBE_TIMEOUT_S", "20")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What a line for `bash` prints, where `jarvis` is the binary, `$EXAMPLES` the folder of examples and `$FILES` that of
    /// pictures: stdout, then the exit status unless it is 0, then stderr unless it is empty. The first command that fails,
    /// in a pipe too, ends the line.
    pub(crate) fn shell(&self, line: &str) -> String {
        let mut command = self.program("bash", &["-eo", "pipefail", "-c", line]);
        command
            .env("PATH", Harness::search_path())
            .env("EXAMPLES", concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
            .env("FILES", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/files"));
        let Ended { code, mut stdout, stderr } = Harness::ended(command, "");
        if !stdout.is_empty() && !stdout.ends_with('\n') {
            stdout.push('\n');
        }
        let code = if code == 0 { String::new() } else { format!("--- exit {code}\n") };
        let stderr = if stderr.is_empty() { stderr } else { format!("--- stderr\n{stderr}") };
        self.filtered(&(stdout + &code + &stderr))
    }

    /// What a script for `bash` prints, on stdout and stderr together, where `jarvis` is the binary and keeps its things where it does
    /// for a person.
    pub(crate) fn session(&self, script: &str) -> String {
        // Not in the working folder, which is the reader's.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.sh");
        std::fs::write(&path, format!("exec 2>&1\n{script}")).expect("writable");
        let mut command = self.program("bash", &[&path.display().to_string()]);
        command.env("PATH", Harness::search_path()).env_remove("JARVIS_DATA_DIR").env("JARVIS_HTTP_LISTEN__PORT", "0");
        Harness::ended(command, "").stdout
    }

    /// A text with the folders of a reader, `/home/ada` and its clone, and the default port in the place of the test's.
    pub(crate) fn readable(&self, text: &str) -> String {
        let text = text.replace(&self.work.path().display().to_string(), "/home/ada/jarvis");
        let text = text.replace(&self.data.path().display().to_string(), "/home/ada");
        jarvis_plan::pattern(r"127\.0\.0\.1:\d+").replace_all(&text, "127.0.0.1:8004").into_owned()
    }

    /// The search path with the folder of the binary before it.
    fn search_path() -> std::ffi::OsString {
        let binary = Path::new(env!("CARGO_BIN_EXE_jarvis")).parent().expect("a folder").as_os_str();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(binary.into()).chain(std::env::split_paths(&path));
        std::env::join_paths(folders).expect("folders without colons")
    }

    /// Runs the binary with nothing of this machine's environment but the search path.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Ended {
        Harness::ended(self.command(args), input)
    }

    pub(crate) fn ended(mut command: Command, input: &str) -> Ended {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, input.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Exit code, stdout and stderr as one text, without what changes from run to run.
    pub(crate) fn told(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        self.filtered(&format!("exit {}\n--- stdout\n{}--- stderr\n{}", ended.code, ended.stdout, ended.stderr))
    }

    pub(crate) fn filtered(&self, text: &str) -> String {
        let mut text = text.replace(&self.data.path().display().to_string(), "[DATA]");
        text = text.replace(&self.work.path().display().to_string(), "[WORK]");
        text = text.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"), "[EXAMPLES]");
        for (pattern, with) in [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[RUN]"),
            (r"[0-9a-f]{32}", "[NAME]"),
            (r" *\b\d+ ms", " [MS]"),
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d", "[TIME]"),
            (r"\b\d+\.\d s\b", "[S]"),
        ] {
            text = jarvis_plan::pattern(pattern).replace_all(&text, with).into_owned();
        }
        text
    }

    pub(crate) fn json(&self, args: &[&str]) -> (i32, Value) {
        let ended = self.run(args);
        let value = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON ({error}): {}\n{}", ended.stdout, ended.stderr));
        (ended.code, value)
    }
}

/// The path of an example.
pub(crate) fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn picture_of(outcome: &Value) -> RgbImage {
    let outputs = outcome["outputs"].as_array().expect("outputs");
    let picture = outputs.iter().find(|output| output["kind"] == "image").expect("a picture");
    image::open(picture["path"].as_str().expect("a path")).expect("a picture file").to_rgb8()
}

/// The tasks of a run's document in one line each: `id task status model`.
pub(crate) fn outcomes(document: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    document["outcomes"]
        .as_array()
        .expect("outcomes")
        .iter()
        .map(|o| format!("{} {} {} {}", o["id"], text(&o["task"]), text(&o["status"]), text(&o["model"])))
        .collect()
}
