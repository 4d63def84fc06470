//! A release: its notes out of the changelog, and what `cargo xtask dist` made given to the forge and the registries.

mod crates_io;
mod image;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use toml::{Table, Value};

/// Who is given what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A release with every file, by the command-line tool of GitHub.
    Github,
    /// The image under its version, and as the latest, by skopeo.
    Image,
    /// The crates that say `publish = true`.
    Crates,
    /// The npm packages.
    Npm,
}

/// The section of a version in CHANGELOG.md; a `v` before it is left out.
///
/// # Errors
/// When there is no such section, or it is empty.
pub(crate) fn notes(root: &Path, version: &str) -> Result<String> {
    let text = fs::read_to_string(root.join("CHANGELOG.md")).context("CHANGELOG.md cannot be read")?;
    section(&text, bare(version))
}

/// Checks that a tag can be released: it names the version of the workspace, and the changelog has its notes.
///
/// # Errors
/// Says what is missing.
pub(crate) fn check(root: &Path, tag: &str) -> Result<()> {
    let text = fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml cannot be read")?;
    let manifest: Table = text.parse().context("Cargo.toml is not TOML")?;
    let version = manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version"));
    let version = version.and_then(Value::as_str).context("Cargo.toml has no `workspace.package.version`")?;
    if tag.strip_prefix('v') != Some(version) {
        bail!("the tag `{tag}` is not `v{version}`, the version in Cargo.toml");
    }
    notes(root, tag)?;
    println!("{tag} can be released");
    Ok(())
}

/// Publishes; with `dry` as far as that goes without an account.
///
/// # Errors
/// When the tag cannot be released, files are missing, or the receiver refuses them.
pub(crate) fn publish(root: &Path, receiver: Receiver, tag: &str, dry: bool) -> Result<()> {
    check(root, tag)?;
    let dist = root.join("target/dist");
    match receiver {
        Receiver::Github => github(&["gh"], root, tag, &files(&dist)?, dry),
        Receiver::Image => image::publish(root, bare(tag), dry),
        Receiver::Npm => npm(&files(&dist)?, dry),
        Receiver::Crates => crates_io::publish(root, bare(tag), dry),
    }
}

/// Makes the release by `gh`. One that is there, from a run that broke off, gets its files, and is no draft any more.
fn github(gh: &[&str], root: &Path, tag: &str, files: &[PathBuf], dry: bool) -> Result<()> {
    let notes = notes(root, tag)?;
    if dry {
        println!("release {tag} with {} files:", files.len());
        files.iter().for_each(|path| println!("  {}", path.display()));
        println!("\n{notes}");
        return Ok(());
    }
    let gh = |args: &[&str]| {
        let mut words = gh.iter();
        let mut command = Command::new(words.next().unwrap_or(&"gh"));
        command.args(words).arg("release").args(args).current_dir(root);
        command
    };
    let about: &[&str] = if tag.contains('-') {
        &["--verify-tag", "--title", tag, "--notes-file", "-", "--prerelease"]
    } else {
        &["--verify-tag", "--title", tag, "--notes-file", "-"]
    };
    let view = gh(&["view", tag]).output().context("`gh` cannot start; install the command-line tool of GitHub")?;
    if view.status.success() {
        println!("release {tag} is there already; its files are uploaded");
        let status = gh(&["upload", tag, "--clobber"]).args(files).status().context("`gh` cannot start")?;
        ended("gh release upload", status)?;
        return fed(gh(&["edit", tag, "--draft=false"]).args(about), &notes);
    }
    let said = String::from_utf8_lossy(&view.stderr);
    if !said.contains("release not found") {
        bail!("`gh release view {tag}` does not say whether the release is there: {}\nhint: try again", said.trim());
    }
    fed(gh(&["create", tag]).args(about).args(files), &notes)
}

/// Runs a program that reads a text.
fn fed(command: &mut Command, text: &str) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(2));
    let line = words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    let mut child = command.stdin(Stdio::piped()).spawn().with_context(|| format!("`{line}` cannot start"))?;
    let mut stdin = child.stdin.take().context("a child without stdin")?;
    let written = std::io::Write::write_all(&mut stdin, text.as_bytes());
    drop(stdin);
    ended(&line, child.wait()?)?;
    written.with_context(|| format!("`{line}` does not read its input"))
}

fn npm(files: &[PathBuf], dry: bool) -> Result<()> {
    let mut packages = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "tgz")) {
        let manifest = package_json(path)?;
        let text = |key: &str| manifest.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        packages.push((needs_others(&manifest), path, text("name"), text("version")));
    }
    if packages.is_empty() {
        bail!("there is no npm package (*.tgz) in target/dist");
    }
    // Whoever installs a package that names others must find them.
    packages.sort();
    for (_, path, name, version) in packages {
        // After a release that broke off, only the rest is published.
        let there = Command::new("npm").args(["view", &format!("{name}@{version}"), "version"]).output();
        if !dry && there.is_ok_and(|view| view.status.success() && !view.stdout.trim_ascii().is_empty()) {
            println!("{name} {version} is there already");
            continue;
        }
        let mut command = Command::new("npm");
        command.arg("publish").arg(path).args(["--access", "public"]);
        if version.contains('-') {
            command.args(["--tag", "next"]);
        }
        // Signed by the forge, so only there.
        command.arg(if dry { "--dry-run" } else { "--provenance" });
        ended(&format!("npm publish {}", path.display()), command.status().context("`npm` cannot start")?)?;
    }
    Ok(())
}

/// The manifest in an npm package.
fn package_json(path: &Path) -> Result<Json> {
    let output = Command::new("tar").arg("-xzOf").arg(path).arg("package/package.json").output();
    let output = output.context("`tar` cannot start")?;
    if !output.status.success() {
        bail!("{} has no package/package.json: {}", path.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("{}: package.json is not JSON", path.display()))
}

fn needs_others(manifest: &Json) -> bool {
    manifest.get("optionalDependencies").and_then(Json::as_object).is_some_and(|others| !others.is_empty())
}

fn ended(line: &str, status: std::process::ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// The files in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder)
        .with_context(|| format!("{} cannot be listed; `cargo xtask dist` makes it", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    if found.is_empty() {
        bail!("{} holds no files; `cargo xtask dist` makes them", folder.display());
    }
    found.sort();
    Ok(found)
}

fn bare(version: &str) -> &str {
    version.strip_prefix('v').unwrap_or(version)
}

/// What stands between the heading of a version and the next one.
fn section(changelog: &str, version: &str) -> Result<String> {
    let is_heading = |line: &str| line.starts_with("## ");
    let heading = format!("## [{version}]");
    let mut lines = changelog.lines().skip_while(|line| line.strip_prefix(&heading).is_none_or(|rest| !is_date(rest)));
    if lines.next().is_none() {
        let known: Vec<&str> = changelog.lines().filter(|line| is_heading(line)).collect();
        bail!("CHANGELOG.md has no section `{heading}`; it has {}", known.join(", "));
    }
    let body: Vec<&str> = lines.take_while(|line| !is_heading(line) && !is_link(line)).collect();
    let body = body.join("\n").trim().to_owned();
    if body.is_empty() {
        bail!("the section `{heading}` of CHANGELOG.md is empty");
    }
    Ok(body)
}

/// Whether nothing, or ` - 2026-01-31`, stands behind a version.
fn is_date(rest: &str) -> bool {
    rest.trim().is_empty() || rest.starts_with(" - ")
}

/// A line such as `[0.1.0]: https://…`, which follows the last section.
fn is_link(line: &str) -> bool {
    line.starts_with('[') && line.contains("]: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "\
# Changelog

## [Unreleased]

## [1.10.0] - 2026-11-30

### Added

- Ten.

### Fixed

- Nothing [much].

## [1.1.0]

- One.

[1.1.0]: https://example.org
";

    #[test]
    fn notes_are_the_section_of_the_version() {
        let check = |version: &str| section(CHANGELOG, bare(version)).map_err(|error| error.to_string());
        assert_eq!(check("v1.10.0").as_deref(), Ok("### Added\n\n- Ten.\n\n### Fixed\n\n- Nothing [much]."));
        assert_eq!(check("1.1.0").as_deref(), Ok("- One."));
        assert_eq!(check("Unreleased").unwrap_err(), "the section `## [Unreleased]` of CHANGELOG.md is empty");
        for version in ["1.1", "1.10", "2.0.0", ""] {
            let error = check(version).unwrap_err();
            assert!(error.starts_with(&format!("CHANGELOG.md has no section `## [{version}]`")), "{error}");
        }
    }

    #[test]
    fn a_tag_is_the_version_of_the_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        check(&root, concat!("v", env!("CARGO_PKG_VERSION"))).unwrap();
        for tag in [env!("CARGO_PKG_VERSION"), "v999.0.0", "v", ""] {
            let error = check(&root, tag).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the tag `{tag}` is not `v")), "{error}");
        }
    }

    #[test]
    fn a_release_that_is_there_gets_its_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = std::env::temp_dir().join(format!("jarvis-gh-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("gh");
        let tag = concat!("v", env!("CARGO_PKG_VERSION"));
        let check = |view: &str| {
            let log = folder.join("log");
            let script = format!(
                "echo \"$2 $3 $4\" >> {}\ncase $2 in view) {view} ;; create | edit) cat >/dev/null ;; esac\n",
                log.display()
            );
            fs::write(&program, script).unwrap();
            let files = [PathBuf::from("install.sh")];
            let made = github(&["sh", program.to_str().unwrap()], &root, tag, &files, false);
            let log = fs::read_to_string(&log).map(|text| fs::remove_file(&log).map(|()| text)).unwrap().unwrap();
            (made.map_err(|error| error.to_string()), log)
        };
        let not_there = check("echo 'release not found' >&2; exit 1");
        assert_eq!(not_there, (Ok(()), format!("view {tag} \ncreate {tag} --verify-tag\n")));
        let there = check("exit 0");
        let log = format!("view {tag} \nupload {tag} --clobber\nedit {tag} --draft=false\n");
        assert_eq!(there, (Ok(()), log));
        let (made, log) = check("echo 'HTTP 503' >&2; exit 1");
        assert!(made.unwrap_err().contains("does not say whether the release is there: HTTP 503"));
        assert_eq!(log, format!("view {tag} \n"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn packages_that_name_others_come_last() {
        let wrapper = serde_json::json!({"optionalDependencies": {"@jarvis-run/linux-x64": "0.1.0"}});
        assert!(needs_others(&wrapper));
        assert!(!needs_others(&serde_json::json!({"name": "x", "optionalDependencies": {}})));
    }
}
