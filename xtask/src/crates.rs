//! The crates for crates.io: packaged and built from their packages, documented as docs.rs does it, their examples run, and their API
//! compared with that of the last tag.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps::{Steps, cargo, cargo_with};
use crate::tidy::{Example, Workspace};
use crate::tools::SEMVER_CHECKS;

/// Runs all checks.
///
/// # Errors
/// Names the check that failed.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    steps.run("package", || package(root))?;
    steps.run("docs", || document(root))?;
    steps.run("examples", || {
        cargo(root, &[&["build", "--examples"][..], &packages(&Workspace::load(root)?.published())].concat())?;
        examples(root)
    })?;
    steps.run("semver", || semver(root))?;
    steps.summary();
    Ok(())
}

/// Packages the crates and builds each from its package, with the others from theirs: a file that a package lacks fails here.
///
/// # Errors
/// When one cannot be packaged or built.
pub(crate) fn package(root: &Path) -> Result<()> {
    let published = Workspace::load(root)?.published();
    cargo(root, &[&["publish", "--dry-run", "--allow-dirty", "--quiet"][..], &packages(&published)].concat())?;
    println!("{} crates are ready for crates.io: {}", published.len(), published.join(", "));
    Ok(())
}

/// Packages the crates without building them, which takes seconds and no network.
///
/// # Errors
/// When a manifest is not fit for crates.io.
pub(crate) fn package_only(root: &Path) -> Result<()> {
    let published = Workspace::load(root)?.published();
    let line = ["package", "--no-verify", "--offline", "--allow-dirty", "--quiet"];
    cargo(root, &[&line[..], &packages(&published)].concat())?;
    println!("{} crates can be packaged; `cargo xtask crates` also builds them from their packages", published.len());
    Ok(())
}

/// Makes the documentation with the features that docs.rs uses. A warning, such as a link that leads nowhere, fails.
///
/// # Errors
/// When there is one.
pub(crate) fn document(root: &Path) -> Result<()> {
    let published = Workspace::load(root)?.published();
    let line = [&["doc", "--no-deps", "--all-features"][..], &packages(&published)].concat();
    cargo_with(root, &line, [("RUSTDOCFLAGS", Path::new("--deny=warnings"))])
}

/// Runs the examples that have been built, and compares what they print with their headers.
///
/// # Errors
/// When one fails or prints something else.
pub(crate) fn examples(root: &Path) -> Result<()> {
    let mut shown = 0;
    for Example { name, path } in Workspace::load(root)?.examples() {
        let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let Some(expected) = expected(&text) else { continue };
        let program = root.join("target/debug/examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let output = Command::new(&program).output().with_context(|| format!("{} cannot start", program.display()))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("example `{name}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        if printed.trim_end() != expected.trim_end() {
            bail!("example `{name}` prints another text than its header says:\n{printed}");
        }
        shown += 1;
    }
    if shown == 0 {
        bail!("no example says in its header what it prints");
    }
    println!("{shown} examples print what their headers say");
    Ok(())
}

/// Compares the API of the crates with that of the last tag.
///
/// # Errors
/// When the version does not allow for a change. Without a tag or the tool, it is skipped.
fn semver(root: &Path) -> Result<()> {
    let Some(tag) = last_tag(root)? else {
        println!("skipped: there is no tag `v…` to compare the API with");
        return Ok(());
    };
    if !SEMVER_CHECKS.is_installed() {
        println!("skipped: cargo-semver-checks is not installed ({})", SEMVER_CHECKS.install());
        return Ok(());
    }
    let published = Workspace::load(root)?.published();
    // A crate that the tag did not publish has no API that could break.
    let known: Vec<String> = published.into_iter().filter(|name| is_published_at(root, &tag, name)).collect();
    if known.is_empty() {
        println!("skipped: {tag} published no crate");
        return Ok(());
    }
    cargo(root, &[&["semver-checks", "--baseline-rev", &tag][..], &packages(&known)].concat())
}

/// The last tag before this commit, so that a release is compared with the one before it.
fn last_tag(root: &Path) -> Result<Option<String>> {
    let output = Command::new("git")
        .args(["describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"])
        .current_dir(root)
        .output()
        .context("`git describe` cannot start")?;
    let tag = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(Some(tag).filter(|tag| output.status.success() && !tag.is_empty()))
}

fn is_published_at(root: &Path, tag: &str, name: &str) -> bool {
    let manifest =
        Command::new("git").args(["show", &format!("{tag}:crates/{name}/Cargo.toml")]).current_dir(root).output();
    manifest.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("\npublish = true\n"))
}

fn packages(names: &[String]) -> Vec<&str> {
    names.iter().flat_map(|name| ["--package", name]).collect()
}

/// What an example prints, as the block of its header that is marked `text` says; `None` without one.
fn expected(source: &str) -> Option<String> {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut block = header.map(|line| line.strip_prefix(' ').unwrap_or(line)).skip_while(|line| *line != "```text");
    block.next()?;
    Some(block.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_examples_print() {
        let source =
            "//! An example.\n//!\n//! ```text\n//! one\n//!\n//!   two\n//! ```\n\nfn main() {}\n//! ```text\n";
        assert_eq!(expected(source).as_deref(), Some("one\n\n  two\n"));
        assert_eq!(expected("//! A server, which does not end.\nfn main() {}\n"), None);
        assert_eq!(expected("//! ```\n//! code\n//! ```\n"), None);
    }
}
