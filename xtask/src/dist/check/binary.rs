//! The binaries themselves: linkage, size, how soon they start, and a second build.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::place::{Place, expect, has, succeeds};
use crate::dist::archive::read;
use crate::dist::{Binary, Release, build, output, sha256, toolchain::Tools};

/// The largest stripped binary, in bytes: a little above what it is, so that it does not grow unnoticed. To be lowered as it shrinks;
/// the aim is 40 MB.
const LARGEST: u64 = 60_000_000;

/// How long a start may take, of wall time: the best of [`STARTS`] runs, since other work makes the others longer.
const LONGEST: [(&str, Duration); 2] = [("--version", Duration::from_millis(3)), ("--help", Duration::from_millis(8))];
const STARTS: usize = 20;

/// The newest version of glibc's symbols that a dynamic binary may want.
const NEWEST_GLIBC: (u32, u32) = (2, 17);

pub(super) fn check(release: &Release) -> Result<()> {
    let place = Place::new(release, "binary")?;
    for binary in &release.binaries {
        let size = fs::metadata(&binary.path)?.len();
        println!("  {}: {:.1} MB", binary.target.triple, size as f64 / 1e6);
        if !release.trial {
            linkage(binary)?;
        }
        if binary.target.machine == std::env::consts::ARCH {
            place.try_jarvis(release, &binary.path)?;
            if !release.trial {
                starts(&place, binary)?;
            }
        } else {
            emulated(release, &place, binary)?;
        }
        expect(release.trial || size <= LARGEST, || {
            format!("{} is larger than {} MB", binary.target.triple, LARGEST / 1_000_000)
        })?;
    }
    Ok(())
}

/// What the dynamic section names: nothing for a static binary, and no newer glibc than promised.
fn linkage(binary: &Binary) -> Result<()> {
    let read = |args: &[&str]| output(Command::new("readelf").args(args).arg("--wide").arg(&binary.path));
    let needed: Vec<String> = read(&["--dynamic"])?
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']').to_owned()))
        .collect();
    let interpreter = read(&["--program-headers"])?.contains("INTERP");
    if binary.target.is_static {
        return expect(needed.is_empty() && !interpreter, || {
            format!("{} is not static: it needs {}", binary.target.triple, needed.join(", "))
        });
    }
    let newest = read(&["--version-info"])?
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("GLIBC_"))
        .filter_map(|version| {
            let mut parts = version.split('.');
            Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?))
        })
        .max()
        .context("the binary names no version of glibc")?;
    expect(newest <= NEWEST_GLIBC, || format!("{} wants glibc {}.{}", binary.target.triple, newest.0, newest.1))
}

/// How soon the binary has said what needs no work.
fn starts(place: &Place, binary: &Binary) -> Result<()> {
    let mut slow = Vec::new();
    for (arg, longest) in LONGEST {
        let best = best(|| place.command(&binary.path).arg(arg).stdout(Stdio::null()).status().map(|it| it.success()))?;
        let figure = format!("{arg} in {:.2} ms", best.as_secs_f64() * 1e3);
        println!("  {}: {figure}, the best of {STARTS}", binary.target.triple);
        if best > longest {
            slow.push(format!("{figure} where {} ms are allowed", longest.as_millis()));
        }
    }
    expect(slow.is_empty(), || format!("{} starts too slowly: {}", binary.target.triple, slow.join(", ")))
}

/// The shortest time that a program took, of [`STARTS`] runs that all end well.
fn best(mut run: impl FnMut() -> std::io::Result<bool>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..STARTS {
        let start = Instant::now();
        expect(run()?, || "it fails".to_owned())?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// Another processor's binary, where qemu is installed.
fn emulated(release: &Release, place: &Place, binary: &Binary) -> Result<()> {
    let qemu = ["qemu-{}-static", "qemu-{}"].map(|name| name.replace("{}", binary.target.machine));
    let Some(qemu) = qemu.iter().find(|qemu| which::which(qemu).is_ok()) else {
        release.skip(&format!("running {}", binary.target.triple), "qemu-user is not installed");
        return Ok(());
    };
    let version = succeeds(place.command(qemu).arg(&binary.path).arg("--version"))?;
    expect(version.trim() == format!("jarvis {}", release.version), || format!("--version printed {version:?}"))
}

pub(super) fn check_archives(release: &Release) -> Result<()> {
    for binary in &release.binaries {
        let triple = binary.target.triple;
        let place = Place::new(release, &format!("archive-{triple}"))?;
        let archive = release.out.join(format!("jarvis-{triple}.tar.gz"));
        let noted = fs::read_to_string(archive.with_extension("gz.sha256"))?;
        expect(noted.starts_with(&sha256(&read(&archive)?)), || format!("the SHA-256 beside {triple} is another one"))?;
        succeeds(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&place.folder))?;
        let folder = place.folder.join(format!("jarvis-{triple}"));
        if binary.target.machine == std::env::consts::ARCH {
            place.try_jarvis(release, folder.join("jarvis"))?;
        }
        // What completes words must at least be read by the shell.
        for (shell, file) in [("bash", "jarvis.bash"), ("zsh", "_jarvis"), ("fish", "jarvis.fish")] {
            let file = folder.join("completions").join(file);
            expect(fs::metadata(&file)?.len() > 1000, || format!("{} is too short", file.display()))?;
            if has(release, shell, &format!("completions for {shell}")) {
                succeeds(Command::new(shell).arg("-n").arg(&file))?;
            }
        }
        if has(release, "man", "the man pages") {
            let mut man = Command::new("man");
            man.args(["--warnings", "-E", "UTF-8", "-l"]).arg(folder.join("man/jarvis.1")).env("MANPAGER", "cat");
            let shown = succeeds(&mut man)?;
            expect(shown.contains("jarvis"), || "the man page does not name jarvis".to_owned())?;
        }
    }
    Ok(())
}

/// Fills in the metadata as cargo-binstall does, and looks for what it would fetch.
pub(super) fn check_binstall(release: &Release) -> Result<()> {
    let manifest: toml::Table = fs::read_to_string(release.root.join("crates/jarvis/Cargo.toml"))?.parse()?;
    let metadata = manifest
        .get("package")
        .and_then(|package| package.get("metadata")?.get("binstall"))
        .context("crates/jarvis/Cargo.toml has no metadata for binstall")?;
    let text = |key: &str| metadata.get(key).and_then(toml::Value::as_str).with_context(|| format!("no `{key}`"));
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let triple = binary.target.triple;
        let filled = |text: &str| {
            text.replace("{ repo }", super::super::REPOSITORY)
                .replace("{ version }", &release.version)
                .replace("{ target }", triple)
                .replace("{ bin }", "jarvis")
                .replace("{ binary-ext }", "")
                .replace("{ archive-suffix }", ".tar.gz")
        };
        let url = filled(text("pkg-url")?);
        expect(!url.contains('{'), || format!("a name is not known: {url}"))?;
        let name = url.rsplit('/').next().unwrap_or_default();
        expect(
            url.starts_with(&format!("{}/releases/download/v{}/", super::super::REPOSITORY, release.version)),
            || format!("{url} is not an address of this release"),
        )?;
        expect(release.out.join(name).is_file(), || format!("{name} is not published"))?;
        let inside = filled(text("bin-dir")?);
        let listed = succeeds(Command::new("tar").arg("-tzf").arg(release.out.join(name)))?;
        expect(listed.lines().any(|line| line == inside), || format!("{name} has no {inside}"))?;
    }
    expect(text("pkg-fmt")? == "tgz", || "the archives are tgz".to_owned())
}

/// Builds the first target again from a copy of the sources in another folder.
pub(super) fn check_second_build(release: &Release) -> Result<()> {
    let Some(binary) = release.binaries.first() else { bail!("nothing was built") };
    let place = Place::new(release, "again")?;
    let sources = place.folder.join("sources");
    let listed = output(Command::new("git").args(["ls-files", "-z"]).current_dir(&release.root))?;
    for path in listed.split('\0').filter(|path| !path.is_empty()) {
        let from = release.root.join(path);
        // One that was removed and not yet committed.
        if from.is_file() {
            super::place::copy(&from, &sources.join(path))?;
        }
    }
    let tools = Tools::ready(&release.root)?;
    let again = build::build(&sources, &tools, binary.target, &place.folder.join("build"), release.epoch)?;
    let (one, other) = (read(&binary.path)?, read(&again)?);
    expect(one == other, || {
        let differ = one.iter().zip(&other).position(|(one, other)| one != other);
        format!("{} and {} differ from byte {differ:?}", binary.path.display(), again.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_all_runs_counts_and_each_must_succeed() {
        let mut runs = 0;
        let time = best(|| {
            runs += 1;
            std::thread::sleep(Duration::from_millis(if runs == 1 { 100 } else { 1 }));
            Ok(true)
        });
        assert_eq!(runs, STARTS);
        assert!((Duration::from_millis(1)..Duration::from_millis(100)).contains(&time.unwrap()));
        assert_eq!(best(|| Ok(false)).unwrap_err().to_string(), "it fails");
    }
}
