//! The image: `jarvis-oci.tar`, with the images of all processors in it, given to a registry by skopeo.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{ended, fed};
use crate::dist::IMAGE;

/// What an account is asked for by.
const USER: &str = "GITHUB_ACTOR";
const TOKEN: &str = "GITHUB_TOKEN";

/// Pushes the image; with `dry` into a folder, which needs no account.
pub(super) fn publish(root: &Path, version: &str, dry: bool) -> Result<()> {
    let archive = root.join("target/dist/jarvis-oci.tar");
    if !archive.is_file() {
        bail!("{} is missing; `cargo xtask dist` makes it", archive.display());
    }
    let archive = format!("oci-archive:{}", archive.display());
    let names = names(version);
    if dry {
        let folder = root.join("target/dist-image");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        copy(&archive, &format!("dir:{}", folder.display()), &[])?;
        println!("{} would be pushed as {}", folder.display(), names.join(" and "));
        return Ok(());
    }
    let account = Account::of_forge(root)?;
    for name in names {
        copy(&archive, &format!("docker://{name}"), &["--authfile", &account.file])?;
        println!("pushed {name}");
    }
    Ok(())
}

/// What the image of a version is called; what comes before a release is not the latest.
fn names(version: &str) -> Vec<String> {
    let latest = (!version.contains('-')).then_some("latest");
    [version].into_iter().chain(latest).map(|tag| format!("{IMAGE}:{tag}")).collect()
}

/// Copies the images of all processors as they are.
fn copy(from: &str, to: &str, more: &[&str]) -> Result<()> {
    let mut skopeo = skopeo();
    skopeo.args(["copy", "--quiet", "--all", "--preserve-digests"]).args(more).args([from, to]);
    ended(&format!("skopeo copy {from} {to}"), skopeo.status().context(NEEDED)?)
}

/// An account that is asked for in a file of its own, which goes with the value. No command line shows the token.
struct Account {
    file: String,
}

impl Account {
    fn of_forge(root: &Path) -> Result<Account> {
        let variable = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.with_context(|| format!("{name} is not set; it says who pushes the image to {IMAGE}"))
        };
        let (user, token) = (variable(USER)?, variable(TOKEN)?);
        let account = Account { file: root.join("target/registry.json").display().to_string() };
        let mut login = skopeo();
        login.args(["login", "--authfile", &account.file, "--username", &user, "--password-stdin"]);
        login.arg(IMAGE.split('/').next().unwrap_or(IMAGE)).stdout(Stdio::null());
        fed(&mut login, &token)?;
        Ok(account)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        // Not there where the login failed.
        let _ = fs::remove_file(&self.file);
    }
}

const NEEDED: &str = "`skopeo` cannot start; install it, for example: apt-get install skopeo";

fn skopeo() -> Command {
    Command::new("skopeo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_release_is_the_latest() {
        assert_eq!(names("1.2.3"), ["ghcr.io/jarvis-run/jarvis:1.2.3", "ghcr.io/jarvis-run/jarvis:latest"]);
        assert_eq!(names("1.2.3-rc.1"), ["ghcr.io/jarvis-run/jarvis:1.2.3-rc.1"]);
    }
}
