//! `jarvis.rb`: a formula for Homebrew on Linux, which installs the static binary of each processor. Nothing here runs Homebrew:
//! `--check` looks at the syntax where ruby is installed.

use std::process::Command;

use anyhow::{Result, bail};

use super::archive::read;
use super::{REPOSITORY, Release, output, sha256};

/// Writes the formula.
pub(super) fn write(release: &Release) -> Result<()> {
    let mut platforms = String::new();
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let archive = format!("jarvis-{}.tar.gz", binary.target.triple);
        let sum = sha256(&read(&release.out.join(&archive))?);
        let block = if binary.target.node == "x64" { "on_intel" } else { "on_arm" };
        platforms.push_str(&format!(
            "    {block} do\n      url \"{REPOSITORY}/releases/download/v{}/{archive}\"\n      sha256 \"{sum}\"\n    end\n",
            release.version
        ));
    }
    let text = format!(
        "class Jarvis < Formula\n  \
           desc \"Gets things done with models and tools: plan, choose, run, answer\"\n  \
           homepage \"{REPOSITORY}\"\n  \
           version \"{}\"\n  \
           license any_of: [\"MIT\", \"Apache-2.0\"]\n\n  \
           on_linux do\n{platforms}  end\n\n  \
           depends_on :linux\n\n  \
           def install\n    \
             bin.install \"jarvis\"\n    \
             man1.install Dir[\"man/*.1\"]\n    \
             bash_completion.install \"completions/jarvis.bash\" => \"jarvis\"\n    \
             zsh_completion.install \"completions/_jarvis\"\n    \
             fish_completion.install \"completions/jarvis.fish\"\n  \
           end\n\n  \
           test do\n    \
             assert_match version.to_s, shell_output(\"#{{bin}}/jarvis --version\")\n  \
           end\nend\n",
        release.version
    );
    release.publish("jarvis.rb", text.as_bytes())
}

/// The formula is Ruby, and the hashes in it are those of the archives.
///
/// # Errors
/// Names what is wrong.
pub(super) fn check(release: &Release) -> Result<()> {
    let path = release.out.join("jarvis.rb");
    let text = String::from_utf8(read(&path)?)?;
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let sum = sha256(&read(&release.out.join(format!("jarvis-{}.tar.gz", binary.target.triple)))?);
        if !text.contains(&sum) {
            bail!("the formula has another hash for {}", binary.target.triple);
        }
    }
    if which::which("ruby").is_err() {
        release.skip("the syntax of the formula", "ruby is not installed");
        return Ok(());
    }
    output(Command::new("ruby").arg("-c").arg(&path))?;
    Ok(())
}
