//! `install.sh`: `deploy/install.sh` with the version, the address and the hash of each archive filled in. So the script that was
//! reviewed is the one that decides what is installed, and an archive that was changed later is refused.

use anyhow::{Context, Result, bail};

use super::archive::read;
use super::{REPOSITORY, Release, sha256};

/// Writes the script.
pub(super) fn write(release: &Release) -> Result<()> {
    let template =
        String::from_utf8(read(&release.root.join("deploy/install.sh"))?).context("install.sh is not UTF-8")?;
    let text = fill(&template, release)?;
    release.publish("install.sh", text.as_bytes())
}

fn fill(template: &str, release: &Release) -> Result<String> {
    let mut sums = Vec::new();
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let archive = format!("jarvis-{}.tar.gz", binary.target.triple);
        sums.push(format!("{}  {archive}", sha256(&read(&release.out.join(&archive))?)));
    }
    let values = [
        ("@VERSION@", release.version.clone()),
        ("@BASE_URL@", format!("{REPOSITORY}/releases/download/v{}", release.version)),
        ("@LATEST_URL@", format!("{REPOSITORY}/releases/latest/download")),
        ("@SHA256@", sums.join("\n")),
    ];
    let mut text = template.to_owned();
    for (name, value) in values {
        if !text.contains(name) {
            bail!("deploy/install.sh has no {name}");
        }
        text = text.replace(name, &value);
    }
    Ok(text)
}
