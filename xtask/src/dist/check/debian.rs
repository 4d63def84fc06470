//! The package for Debian, by dpkg into a root of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::{PATH, Place, Root, expect, has, libraries, succeeds, with_libraries};
use crate::dist::archive::runs_here;
use crate::dist::{Release, deb};

pub(super) fn check(release: &Release) -> Result<()> {
    let binary = runs_here(release)?;
    if !binary.target.is_static {
        println!("  none was made: it holds a static binary");
        return Ok(());
    }
    let Some(root_user) = Root::of(release, "the package for Debian") else { return Ok(()) };
    let package = release.out.join(deb::name(release, binary));
    let place = Place::new(release, "deb")?;
    let root = place.folder.join("root");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp", "usr/bin", "etc"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        fs::write(root.join(file), "")?;
    }
    // What the scripts of the package and the unit call.
    for program in ["/bin/sh", "/bin/rm", "/bin/kill"] {
        with_libraries(Path::new(program), &root)?;
    }
    if release.trial {
        libraries(&binary.path, &root)?;
    }

    let older = older(release, &place, &package)?;
    let dpkg = |args: &[&str], path: Option<&Path>| {
        let mut command = root_user.command(&[("PATH", PATH), ("HOME", "/root")], "dpkg");
        command
            .arg(format!("--root={}", root.display()))
            .arg("--force-not-root,depends,bad-path")
            .args(args)
            .args(path);
        succeeds(&mut command)
    };
    dpkg(&["--install"], Some(&older))?;
    let said = dpkg(&["--install"], Some(&package))?;
    expect(said.contains("over (0.0.1)"), || format!("an upgrade says:\n{said}"))?;
    place.try_jarvis(release, root.join("usr/bin/jarvis"))?;
    let unit = root.join("usr/lib/systemd/system/jarvis.service");
    let text = fs::read_to_string(&unit).context("no unit for systemd")?;
    expect(text.contains("ExecStart=/usr/bin/jarvis serve"), || "the unit runs another binary".to_owned())?;
    if has(release, "systemd-analyze", "the check of the unit") {
        let mut analyze = Command::new("systemd-analyze");
        analyze.arg(format!("--root={}", root.display())).arg("verify").arg("jarvis.service");
        analyze.args(["--man=no", "--recursive-errors=no"]);
        succeeds(&mut analyze)?;
    }
    for file in ["usr/share/man/man1/jarvis.1.gz", "usr/share/bash-completion/completions/jarvis"] {
        expect(root.join(file).is_file(), || format!("{file} is not installed"))?;
    }
    dpkg(&["--purge", "jarvis"], None)?;
    let left = ["usr/bin/jarvis", "usr/lib/systemd/system/jarvis.service", "usr/share/doc/jarvis"];
    let left: Vec<_> = left.into_iter().filter(|path| root.join(path).exists()).collect();
    expect(left.is_empty(), || format!("left after removal: {}", left.join(", ")))
}

/// The same package as version 0.0.1.
fn older(release: &Release, place: &Place, package: &Path) -> Result<std::path::PathBuf> {
    let folder = place.folder.join("older");
    succeeds(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&folder))?;
    let control = folder.join("DEBIAN/control");
    let text = fs::read_to_string(&control)?.replace(&format!("Version: {}", deb::version(release)), "Version: 0.0.1");
    fs::write(&control, text)?;
    let path = place.folder.join("older.deb");
    succeeds(Command::new("dpkg-deb").args(["--build", "--root-owner-group", "-Znone"]).arg(&folder).arg(&path))?;
    Ok(path)
}
