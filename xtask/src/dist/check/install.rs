//! `install.sh` against a server on loopback.

use std::fs;
use std::path::Path;
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
    path_advice(release, &bin)?;
    another_folder(release, &server)?;
    removal(release, &place, &jarvis, &receipt)
}

/// What was installed elsewhere is upgraded there; what then is installed beside it is told.
fn another_folder(release: &Release, server: &Server) -> Result<()> {
    let place = Place::new(release, "install-folder")?;
    let run = |args: &[&str]| {
        let mut command = place.command("sh");
        command.arg(release.out.join("install.sh")).args(["--base-url", &server.address]).args(args);
        succeeds(&mut command)
    };
    run(&["--dir", "a \"folder\" \\ of one's own"])?;
    let own = place.folder.join("a \"folder\" \\ of one's own/jarvis");
    place.try_jarvis(release, &own)?;
    write_program(&own, "#!/bin/sh\necho jarvis 0.0.1\n")?;
    let said = run(&[])?;
    expect(said.contains("upgraded jarvis 0.0.1 to"), || format!("an upgrade in a folder of one's own says:\n{said}"))?;
    place.try_jarvis(release, &own)?;
    let usual = place.home().join(".local/bin/jarvis");
    expect(!usual.exists(), || "an upgrade installed a second one".to_owned())?;
    let said = run(&["--dir", ".local/bin"])?;
    let stays = format!("{}, which was installed before, stays", own.display());
    expect(said.contains(&stays), || format!("an installation beside another says:\n{said}"))?;
    // A link to the folder is the same folder.
    std::os::unix::fs::symlink(".local/bin", place.folder.join("link"))?;
    let said = run(&["--dir", "link"])?;
    expect(!said.contains("stays"), || format!("an installation through a link says:\n{said}"))?;
    let environment = place.folder.join("venv/bin");
    fs::create_dir_all(&environment)?;
    fs::write(place.folder.join("venv/pyvenv.cfg"), "")?;
    let mut command = place.command("sh");
    command.arg(release.out.join("install.sh")).args(["--base-url", &server.address, "--dir"]).arg(&environment);
    refuses(&mut command, "belongs to an environment of Python")
}

/// A new shell of each kind finds the program once the advice was followed.
fn path_advice(release: &Release, bin: &Path) -> Result<()> {
    let script = fs::read_to_string(release.out.join("install.sh"))?;
    let functions = script.rsplit_once("main \"$@\"").context("install.sh does not end in its call")?.0;
    let advise = format!("{functions}\nadvise_path '{}'\n", bin.display());
    for (shell, starts) in [("bash", "-i"), ("zsh", "-i"), ("fish", "-i"), ("sh", "-l")] {
        if !has(release, shell, &format!("the advice of install.sh for {shell}")) {
            continue;
        }
        let place = Place::new(release, &format!("install-path-{shell}"))?;
        let command = |program: &str| {
            let mut command = place.command(program);
            command.env("SHELL", format!("/bin/{shell}"));
            command
        };
        let said = succeeds(command("sh").args(["-c", &advise]))?;
        let line = said.lines().find_map(|line| line.strip_prefix("  ")).context("no advice on PATH")?;
        let find = || succeeds(command(shell).args([starts, "-c", "command -v jarvis"])).unwrap_or_default();
        expect(!find().contains(&*bin.to_string_lossy()), || format!("{shell} finds jarvis before the advice"))?;
        succeeds(command(shell).args(["-c", line]))?;
        let found = find();
        expect(found.trim() == bin.join("jarvis").to_string_lossy(), || {
            format!("after `{line}`, a new {shell} finds {found:?}")
        })?;
    }
    Ok(())
}

/// Neither another's link nor another program is removed; and with the program go its completions, as by `jarvis self uninstall`.
fn removal(release: &Release, place: &Place, jarvis: &Path, receipt: &Path) -> Result<()> {
    let uninstall = || {
        let mut command = place.command("sh");
        command.arg(release.out.join("install.sh")).arg("--uninstall");
        command
    };
    let completions = place.home().join(".local/share/bash-completion/completions/jarvis");
    succeeds(place.command(jarvis).args(["completions", "bash", "--install"]))?;
    expect(completions.is_file(), || "no completions were installed".to_owned())?;
    let away = place.folder.join("away");
    fs::rename(jarvis, &away)?;
    refuses(&mut uninstall(), "is gone, and it alone knows what belongs to it")?;
    std::os::unix::fs::symlink(&away, jarvis)?;
    refuses(&mut uninstall(), "is a link that something else made")?;
    expect(jarvis.is_symlink() && away.is_file(), || "another's link was removed".to_owned())?;
    fs::remove_file(jarvis)?;
    write_program(jarvis, "#!/bin/sh\necho something else\n")?;
    refuses(&mut uninstall(), "is there and is not jarvis")?;
    expect(jarvis.is_file() && receipt.is_file(), || "another program was removed".to_owned())?;
    // What cannot even be started is removed by the script itself.
    let noted = fs::read(receipt)?;
    write_program(jarvis, "\u{7f}ELF, and nothing of a program")?;
    let said = succeeds(&mut uninstall())?;
    expect(said.contains("which cannot be started"), || said)?;
    expect(!jarvis.exists() && !receipt.exists(), || "a damaged binary is left after removal".to_owned())?;
    fs::write(receipt, noted)?;
    fs::rename(&away, jarvis)?;
    let said = succeeds(&mut uninstall())?;
    let left: Vec<_> = [jarvis, receipt, &completions].into_iter().filter(|path| path.exists()).collect();
    expect(left.is_empty(), || format!("{left:?} are left after removal:\n{said}"))?;
    refuses(&mut uninstall(), "nothing to remove")
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
