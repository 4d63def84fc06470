//! `jarvis self` against releases on a loopback server. The program is a link to the binary in a folder of its own, and the releases
//! hold scripts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use jarvis_testing::stub::{Canned, Stub};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Ended, Harness};

const TARGET: &str = "x86_64-unknown-linux-musl";
const INSTALLED: &str = env!("CARGO_PKG_VERSION");

/// What a server answers at each path below `/r`.
type Files = Vec<(String, Canned)>;

/// A machine on which `install.sh` put jarvis, and the releases that it came from.
struct Machine {
    harness: Harness,
    bin: tempfile::TempDir,
    releases: Stub,
    files: Arc<Mutex<Files>>,
}

impl Machine {
    async fn new(files: Files) -> Machine {
        let files = Arc::new(Mutex::new(files));
        let served = Arc::clone(&files);
        let releases = Stub::start(move |asked| {
            let files = served.lock().unwrap();
            let found = files.iter().find(|(path, _)| asked.path == format!("/r/{path}"));
            found.map_or_else(|| Canned::bytes("text/plain", "").status(404), |(_, canned)| canned.clone())
        });
        let releases = releases.await.unwrap();
        // On the binary's file system, so that it can be linked and not copied.
        let bin = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::hard_link(env!("CARGO_BIN_EXE_jarvis"), bin.path().join("jarvis")).unwrap();
        let machine = Machine { harness: Harness::new(), bin, releases, files };
        machine.receipt(json!({}));
        machine
    }

    fn program(&self) -> PathBuf {
        self.bin.path().join("jarvis")
    }

    fn receipt_path(&self) -> PathBuf {
        self.harness.data().join(".config/jarvis/install.json")
    }

    /// The receipt of `install.sh`, with other values for some keys.
    fn receipt(&self, other: Value) {
        let mut receipt = json!({
            "installed_by": "install.sh", "version": INSTALLED, "bin": self.program(), "base_url": self.releases.url("/r"),
            "target": TARGET, "files": [], "added_later": 1,
        });
        for (key, value) in other.as_object().unwrap() {
            receipt[key] = value.clone();
        }
        std::fs::create_dir_all(self.receipt_path().parent().unwrap()).unwrap();
        std::fs::write(self.receipt_path(), receipt.to_string()).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let program = self.program();
        self.harness.program(program.to_str().unwrap(), &[&["self"], args].concat())
    }

    fn run(&self, args: &[&str]) -> Ended {
        Harness::ended(self.command(args), "")
    }

    /// What the program in the folder says of itself.
    fn version(&self) -> String {
        let output = Command::new(self.program()).arg("--version").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asserts that the program and its folder are as they were.
    fn assert_unchanged(&self, why: &str) {
        assert_eq!(self.version(), format!("jarvis {INSTALLED}\n"), "{why}");
        let entries = std::fs::read_dir(self.bin.path()).unwrap().count();
        assert_eq!(entries, 1, "{why}: nothing is left beside it");
        let receipt = std::fs::read_to_string(self.receipt_path()).unwrap_or_default();
        assert!(!receipt.contains("9.9.9"), "{why}");
    }
}

/// A program that says it is this version.
fn script(version: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho jarvis {version}\n").into_bytes()
}

fn packed(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        // Paths that a well-meant archive would not have are written as they are.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        archive.append(&header, *content).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

fn name() -> String {
    format!("jarvis-{TARGET}.tar.gz")
}

fn text(text: impl Into<String>) -> Canned {
    Canned::bytes("text/plain", text.into())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn release_of(version: &str, archive: Vec<u8>) -> Files {
    vec![
        ("version.txt".to_owned(), text(format!("{version}\n"))),
        (format!("{}.sha256", name()), text(format!("{}  {}\n", hash(&archive), name()))),
        (name(), Canned::bytes("application/gzip", archive)),
    ]
}

fn release(version: &str) -> Files {
    let inner = format!("jarvis-{TARGET}/jarvis");
    release_of(version, packed(&[("jarvis-x/README", b"read me"), (&inner, &script(version))]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_release_takes_the_place_of_the_program() {
    let machine = Machine::new(release("9.9.9")).await;
    let checked = machine.run(&["update", "--check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert!(checked.stdout.starts_with("jarvis 9.9.9 is available"), "{}", checked.stdout);
    machine.assert_unchanged("--check installs nothing");
    assert_eq!(machine.releases.requests().len(), 1, "only the version was asked for");

    // What an update left that was killed.
    std::fs::write(machine.bin.path().join(".jarvis-update-abc"), "half").unwrap();
    let done = machine.run(&["update"]);
    let now = format!("jarvis {INSTALLED} is now 9.9.9: {}\n", machine.program().display());
    assert_eq!((done.code, done.stdout), (0, now), "{}", done.stderr);
    assert_eq!(machine.version(), "jarvis 9.9.9\n");
    assert_eq!(std::fs::read_dir(machine.bin.path()).unwrap().count(), 1);
    let receipt: Value = serde_json::from_slice(&std::fs::read(machine.receipt_path()).unwrap()).unwrap();
    assert_eq!((&receipt["version"], &receipt["added_later"]), (&json!("9.9.9"), &json!(1)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&machine.program()), mode(Path::new(env!("CARGO_BIN_EXE_jarvis"))));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_and_older_releases_are_not_installed_unasked() {
    let machine = Machine::new(release(INSTALLED)).await;
    let same = machine.run(&["update"]);
    assert_eq!((same.code, same.stdout), (0, format!("jarvis {INSTALLED} is up to date\n")), "{}", same.stderr);
    *machine.files.lock().unwrap() = release("0.0.1");
    let older = machine.run(&["update"]);
    assert!(
        older.code == 1 && older.stderr.contains("hint: install it anyway with `jarvis self update --version 0.0.1`")
    );
    let checked = machine.run(&["update", "--check", "--json"]);
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(
        (&report["available"], &report["is_newer"], &report["updated"]),
        (&json!("0.0.1"), &json!(false), &json!(false))
    );
    let other = machine.run(&["update", "--version", "0.0.2"]);
    assert!(other.code == 1 && other.stderr.contains("has version 0.0.1, not 0.0.2"), "{}", other.stderr);
    machine.assert_unchanged("nobody asked for it");
    let asked = machine.run(&["update", "--version", "0.0.1", "--json"]);
    let report: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!((asked.code, &report["updated"]), (0, &json!(true)), "{}", asked.stderr);
    assert_eq!(machine.version(), "jarvis 0.0.1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_whole_or_not_right_is_not_installed() {
    let inner = format!("jarvis-{TARGET}/jarvis");
    let good = release("9.9.9");
    let without = |path: &str| -> Files { good.iter().filter(|(other, _)| other != path).cloned().collect() };
    let with = |path: &str, canned: Canned| -> Files {
        without(path).into_iter().chain([(path.to_owned(), canned)]).collect()
    };
    let archive = packed(&[(&inner, &script("9.9.9"))]);
    let (sha, tar) = (format!("{}.sha256", name()), name());
    let cases: Vec<(&str, Files, &str)> = vec![
        ("no version", without("version.txt"), "the server answered 404"),
        ("no version in it", with("version.txt", text("<html>")), "holds no version"),
        ("no hash", without(&sha), "the server answered 404"),
        ("no hash in it", with(&sha, text("0123  x")), "holds no hash"),
        ("the hash of another file", with(&sha, text(format!("{}  other.tar.gz", hash(&archive)))), "holds no hash"),
        ("a wrong hash", with(&sha, text(format!("{}  {tar}", hash(b"other")))), "is not what its hash says"),
        ("no archive", without(&tar), "the server answered 404"),
        (
            "half a download",
            with(&tar, Canned::bytes("application/gzip", archive[..archive.len() / 2].to_vec()).cut()),
            "cannot download",
        ),
        ("no archive in it", release_of("9.9.9", b"not packed".to_vec()), "cannot be unpacked"),
        ("half an archive", release_of("9.9.9", archive[..archive.len() / 2].to_vec()), "cannot be unpacked"),
        ("no program in it", release_of("9.9.9", packed(&[("jarvis-x/README", b"read me")])), "it holds no jarvis-"),
        (
            "a program elsewhere",
            release_of("9.9.9", packed(&[("../jarvis", &script("9.9.9")), ("/jarvis", &script("9.9.9"))])),
            "it holds no jarvis-",
        ),
        ("another version in it", release_of("9.9.9", packed(&[(&inner, &script("9.9.8"))])), "says `jarvis 9.9.8`"),
        ("no program for this machine", release_of("9.9.9", packed(&[(&inner, b"\x7fELF no")])), "does not run here"),
        ("a program that fails", release_of("9.9.9", packed(&[(&inner, b"#!/bin/sh\nexit 3\n")])), "exit status: 3"),
        (
            "a redirect to a plain address",
            with("version.txt", Canned::redirect("http://mirror.example/version.txt")),
            "it is not https",
        ),
    ];
    let machine = Machine::new(Files::new()).await;
    for (what, files, why) in cases {
        *machine.files.lock().unwrap() = files;
        let refused = machine.run(&["update"]);
        assert!(refused.code == 1 && refused.stderr.contains(why), "{what}: {}", refused.stderr);
        assert!(refused.stderr.contains("hint: "), "{what}: {}", refused.stderr);
        machine.assert_unchanged(what);
    }
    *machine.files.lock().unwrap() = good;
    assert_eq!(machine.run(&["update"]).code, 0, "and what is right is");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_takes_no_more_leaves_the_program_as_it_was() {
    // 1 KiB may be written to a file, which is less than the archive.
    let noise: Vec<u8> = (0..8_000_u32).flat_map(|index| Sha256::digest(index.to_le_bytes())).collect();
    let inner = format!("jarvis-{TARGET}/jarvis");
    let machine = Machine::new(release_of("9.9.9", packed(&[("noise", &noise), (&inner, &script("9.9.9"))]))).await;
    let line = format!("trap '' XFSZ; ulimit -f 1; exec '{}' self update", machine.program().display());
    let refused = Harness::ended(machine.harness.program("bash", &["-c", &line]), "");
    assert!(refused.code == 1 && refused.stderr.contains("nothing was changed"), "{}", refused.stderr);
    machine.assert_unchanged("the disk is full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_somebody_else_is_told_as_installed_setpriv_shows() {
    use std::os::unix::fs::PermissionsExt as _;

    let is_root = Harness::ended(Harness::new().program("id", &["-u"]), "").stdout.trim() == "0";
    let machine = Machine::new(release("9.9.9")).await;
    let set = |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    for folder in [machine.harness.data(), machine.harness.work()] {
        set(folder, 0o755);
    }
    set(machine.bin.path(), 0o555);
    // Root may write anywhere.
    let refused = match is_root {
        false => machine.run(&["update"]),
        true => {
            let program = machine.program();
            let as_nobody = |words: &[&str]| {
                let start = ["--reuid=65534", "--clear-groups", program.to_str().unwrap()];
                machine.harness.program("setpriv", &[&start, words].concat())
            };
            // A checkout inside a folder of root's alone lets nobody else start what lies in it.
            if !as_nobody(&["--version"]).output().is_ok_and(|output| output.status.success()) {
                println!("skipped: setpriv is not installed, or the folder of this checkout is closed to others");
                return;
            }
            Harness::ended(as_nobody(&["self", "update"]), "")
        }
    };
    set(machine.bin.path(), 0o755);
    assert!(
        refused.code == 1 && refused.stderr.contains("permission denied; nothing was changed"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("hint: run it as the user who installed jarvis"), "{}", refused.stderr);
    machine.assert_unchanged("it may not be written to");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_install_sh_did_not_install_is_left_alone() {
    let machine = Machine::new(release("9.9.9")).await;
    for (receipt, why) in [
        (json!({"bin": "/usr/bin/env"}), "install.sh did not install"),
        (json!({"bin": "/no/such/jarvis"}), "install.sh did not install"),
        (json!({"installed_by": "apt"}), "install.sh did not install"),
        (json!({"target": "../x"}), "is not a target"),
        (json!({"target": 7}), "cannot be read"),
    ] {
        machine.receipt(receipt.clone());
        for args in [&["update"][..], &["uninstall", "--yes"]] {
            let refused = machine.run(args);
            assert!(refused.code > 0 && refused.stderr.contains(why), "{receipt}: {}", refused.stderr);
            assert!(refused.stderr.contains("hint: "), "{receipt}: {}", refused.stderr);
        }
    }
    std::fs::remove_file(machine.receipt_path()).unwrap();
    // The binary of the tests was built by cargo.
    let refused = machine.harness.run(&["self", "update"]);
    assert!(refused.code == 2 && refused.stderr.contains("cargo build --release"), "{}", refused.stderr);
    machine.assert_unchanged("it belongs to somebody else");
    assert!(machine.releases.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_can_be_had_from_elsewhere() {
    let machine = Machine::new(release("9.9.9")).await;
    let url = machine.releases.url("/r");
    machine.receipt(json!({"base_url": "https://127.0.0.1:1/nobody"}));
    for (args, env) in [(vec!["update", "--check", "--from", &url], ""), (vec!["update", "--check"], url.as_str())] {
        let mut command = machine.command(&args);
        command.env("JARVIS_INSTALL_BASE_URL", env);
        let checked = Harness::ended(command, "");
        assert!(checked.code == 0 && checked.stdout.contains("9.9.9 is available"), "{}", checked.stderr);
        assert!(!checked.stderr.contains("unknown configuration key"), "{}", checked.stderr);
    }
    let gone = machine.run(&["update", "--check"]);
    assert!(gone.code == 1 && gone.stderr.contains("cannot download version.txt"), "{}", gone.stderr);
    let plain = machine.run(&["update", "--check", "--from", "http://mirror.example/r"]);
    assert!(plain.code == 2 && plain.stderr.contains("it is not https"), "{}", plain.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn uninstalling_removes_what_was_installed_and_keeps_what_is_the_persons() {
    let machine = Machine::new(release("9.9.9")).await;
    let config = machine.harness.data().join(".config/jarvis/jarvis.yaml");
    std::fs::write(&config, "llm: {model: offline}\n").unwrap();
    let page = machine.harness.file("man/jarvis.1", "a page");
    let theirs = machine.harness.file("notes.txt", "mine");
    machine.receipt(json!({"files": [page, theirs, machine.harness.work(), machine.program()]}));
    let mut command =
        machine.harness.program(machine.program().to_str().unwrap(), &["completions", "bash", "--install"]);
    assert!(command.output().unwrap().status.success());
    let refused = machine.run(&["uninstall"]);
    assert!(refused.code == 2 && refused.stderr.contains("hint: add --yes"), "{}", refused.stderr);
    assert!(machine.program().exists() && page.exists());
    let done = machine.run(&["uninstall", "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let completions = machine.harness.data().join(".local/share/bash-completion/completions/jarvis");
    for gone in [&machine.program(), &page, &machine.receipt_path(), &completions] {
        assert!(!gone.exists() && done.stdout.contains(&format!("removed {}\n", gone.display())), "{}", gone.display());
    }
    assert!(theirs.exists() && config.exists());
}
