//! `install.sh` against a server on loopback.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::{Place, Server, expect, has, refuses, succeeds};
use crate::dist::Release;
use crate::dist::archive::{runs_here, write_program};

pub(super) fn check(release: &Release) -> Result<()> {
    let script = release.out.join("install.sh");
    if has(release, "shellcheck", "the lint of install.sh") {
        succeeds(Command::new("shellcheck").arg(&script))?;
    }
    if !runs_here(release)?.target.is_static {
        println!("  none is installed by it: it installs static binaries");
        return Ok(());
    }
    let server = Server::start(release)?;
    let place = Place::new(release, "install")?;
    let bin = place.home().join(".local/bin");
    let jarvis = bin.join("jarvis");
    let receipt = place.home().join(".config/jarvis/install.json");
    let run = |kind: &str| {
        let mut command = place.command("sh");
        command.arg(&script).args(["--base-url", &format!("{}{kind}", server.address)]);
        command
    };

    // Half a download, and one that was changed: nothing is installed.
    refuses(&mut run("/half"), "error: ")?;
    refuses(&mut run("/changed"), "the SHA-256 of")?;
    refuses(&mut run("/missing/nothing"), "cannot download")?;
    expect(!jarvis.exists() && !receipt.exists(), || "a download that was refused left files".to_owned())?;
    refuses(run("").args(["--base-url", "http://192.0.2.1"]), "neither https nor on this machine")?;

    let said = succeeds(&mut run(""))?;
    expect(said.contains("is not in PATH"), || format!("no advice on PATH:\n{said}"))?;
    place.try_jarvis(release, &jarvis)?;
    let noted: serde_json::Value = serde_json::from_slice(&fs::read(&receipt).context("no receipt")?)?;
    expect(noted.get("bin").and_then(|bin| bin.as_str()) == jarvis.to_str(), || format!("the receipt says {noted}"))?;
    let said = succeeds(&mut run(""))?;
    expect(said.contains("again"), || format!("a second run says:\n{said}"))?;

    // An older one is replaced; another program of that name is not.
    write_program(&jarvis, "#!/bin/sh\necho jarvis 0.0.1\n")?;
    let said = succeeds(&mut run(""))?;
    expect(said.contains("upgraded jarvis 0.0.1 to"), || format!("an upgrade says:\n{said}"))?;
    place.try_jarvis(release, &jarvis)?;
    write_program(&jarvis, "#!/bin/sh\necho something else\n")?;
    refuses(&mut run(""), "is there and is not jarvis")?;
    // Nor is a link, as pipx makes one to a jarvis of its own.
    fs::remove_file(&jarvis)?;
    std::os::unix::fs::symlink(place.folder.join("elsewhere"), &jarvis)?;
    refuses(&mut run(""), "is a link that something else made")?;
    fs::remove_file(&jarvis)?;
    // Without a receipt it could not be removed again, so that comes first.
    let file = place.folder.join("file");
    fs::write(&file, "")?;
    refuses(run("").env("XDG_CONFIG_HOME", &file), "cannot write")?;
    expect(!jarvis.exists(), || "a program was installed without a receipt".to_owned())?;
    succeeds(&mut run(""))?;

    no_permission(release, &server)?;
    no_downloader(release, &place)?;
    half_a_script(release, &place)?;

    let said = succeeds(place.command("sh").arg(&script).arg("--uninstall"))?;
    expect(!jarvis.exists() && !receipt.exists(), || format!("left after removal:\n{said}"))?;
    refuses(place.command("sh").arg(&script).arg("--uninstall"), "nothing to remove")
}

/// Root may write anywhere, so the folder is one that no one can write to: below a file.
fn no_permission(release: &Release, server: &Server) -> Result<()> {
    let place = Place::new(release, "install-permission")?;
    let script = release.out.join("install.sh");
    let file = place.folder.join("file");
    fs::write(&file, "")?;
    let base = ["--base-url", server.address.as_str()];
    refuses(place.command("sh").arg(&script).args(base).arg("--dir").arg(file.join("bin")), "cannot create")?;
    let locked = place.folder.join("locked");
    fs::create_dir_all(&locked)?;
    let mut permissions = fs::metadata(&locked)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions)?;
    if fs::write(locked.join("probe"), "").is_ok() {
        fs::remove_file(locked.join("probe"))?;
        // As someone else than root, in a copy that they can read.
        let copy = std::env::temp_dir().join(format!("jarvis-install-{}.sh", std::process::id()));
        fs::copy(&script, &copy)?;
        let mut command = place.command("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]).arg(&copy).args(base);
        command.args(["--dir", "/usr/bin"]).env("HOME", "/nonexistent").current_dir("/");
        let refused = refuses(&mut command, "cannot be written");
        fs::remove_file(&copy)?;
        return refused;
    }
    refuses(place.command("sh").arg(&script).args(base).arg("--dir").arg(&locked), "cannot be written")
}

/// Without curl and wget it says so.
fn no_downloader(release: &Release, place: &Place) -> Result<()> {
    let few = place.folder.join("few");
    fs::create_dir_all(&few)?;
    for program in ["sh", "uname", "mkdir", "mktemp", "rm", "sed", "dirname"] {
        let path = which::which(program).with_context(|| format!("no {program}"))?;
        std::os::unix::fs::symlink(path, few.join(program))?;
    }
    let mut command = place.command("sh");
    command.arg(release.out.join("install.sh")).args(["--base-url", "http://127.0.0.1:1", "--dir"]);
    command.arg(place.folder.join("elsewhere")).env("PATH", few);
    refuses(&mut command, "neither curl nor wget")
}

/// What `curl … | sh` runs when the connection breaks: nothing.
fn half_a_script(release: &Release, place: &Place) -> Result<()> {
    let text = fs::read_to_string(release.out.join("install.sh"))?;
    let half =
        text.rfind("main \"$@\"").and_then(|end| text.get(..end)).context("install.sh does not end in its call")?;
    let cut = place.folder.join("half.sh");
    for share in [half.len() / 2, half.len()] {
        let Some(part) = half.get(..share) else { continue };
        fs::write(&cut, part)?;
        let output = place.command("sh").arg(&cut).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        expect(said.is_empty(), || format!("half an installer did something:\n{said}"))?;
    }
    Ok(())
}
