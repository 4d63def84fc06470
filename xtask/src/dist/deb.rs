//! `jarvis_VERSION_ARCH.deb`: the static binary, a unit for systemd, completions and man pages. Nothing is started: the server wants
//! a token first, and the unit says how.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::archive::{COMPLETIONS, Entry, Manual, gzip, read};
use super::{Binary, Release, output};

const UNIT: &str = "deploy/jarvis.service";

/// Makes the user whom the unit runs as.
const SYSUSERS: &str = "u jarvis - \"jarvis server\" /var/lib/jarvis\n";

const POSTINST: &str = r#"#!/bin/sh
set -e
if [ "$1" = configure ]; then
    if command -v systemd-sysusers >/dev/null; then
        systemd-sysusers jarvis.conf
    elif command -v useradd >/dev/null && ! id jarvis >/dev/null 2>&1; then
        useradd --system --home-dir /var/lib/jarvis --shell /usr/sbin/nologin jarvis
    fi
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload || true
        # After an upgrade; a service that is not running stays as it is.
        systemctl try-restart jarvis.service || true
    fi
fi
"#;

const PRERM: &str = r#"#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now jarvis.service || true
fi
"#;

const POSTRM: &str = r#"#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
    rm -rf /var/lib/jarvis
fi
"#;

/// Writes the package of each static binary.
pub(super) fn write(release: &Release) -> Result<()> {
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let name = name(release, binary);
        let folder = release.root.join("target/dist-build").join(format!("deb-{}", binary.target.debian));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        for entry in entries(release, binary)? {
            let path = folder.join(&entry.path);
            let parent = path.parent().context("an entry without a folder")?;
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            fs::write(&path, &entry.content).with_context(|| format!("cannot write {}", path.display()))?;
            set_mode(&path, entry.mode)?;
        }
        for folder in folders(&folder)? {
            set_mode(&folder, 0o755)?;
        }
        let package = folder.with_extension("deb");
        let mut dpkg = Command::new("dpkg-deb");
        dpkg.args(["--build", "--root-owner-group", if release.trial { "-Znone" } else { "-Zxz" }])
            .arg(&folder)
            .arg(&package);
        output(dpkg.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))
            .context("the package for Debian cannot be made (apt-get install dpkg)")?;
        release.publish(&name, &read(&package)?)?;
    }
    Ok(())
}

/// The name of a target's package.
pub(super) fn name(release: &Release, binary: &Binary) -> String {
    format!("jarvis_{}_{}.deb", version(release), binary.target.debian)
}

/// As Debian writes it: what comes before a final version sorts before it.
pub(super) fn version(release: &Release) -> String {
    release.version.replacen('-', "~", 1)
}

fn entries(release: &Release, binary: &Binary) -> Result<Vec<Entry>> {
    let mut entries = vec![
        Entry::program("usr/bin/jarvis", read(&binary.path)?),
        Entry::file("usr/lib/systemd/system/jarvis.service", unit(release)?),
        Entry::file("usr/lib/sysusers.d/jarvis.conf", SYSUSERS),
        Entry::file("usr/share/doc/jarvis/copyright", copyright(release)?),
        Entry::file("usr/share/doc/jarvis/README.md", read(&release.root.join("README.md"))?),
        Entry::file("usr/share/doc/jarvis/changelog.gz", gzip(release, &read(&release.root.join("CHANGELOG.md"))?)?),
        Entry::program("DEBIAN/postinst", POSTINST),
        Entry::program("DEBIAN/prerm", PRERM),
        Entry::program("DEBIAN/postrm", POSTRM),
    ];
    for (path, content) in Manual::of(release)?.files {
        if let Some(page) = path.strip_prefix("man/") {
            entries.push(Entry::file(format!("usr/share/man/man1/{page}.gz"), gzip(release, &content)?));
        } else if let Some(place) = COMPLETIONS.iter().find_map(|(shell, name)| {
            (path == format!("completions/{name}")).then(|| system_place(shell, name)).flatten()
        }) {
            entries.push(Entry::file(place, content));
        }
    }
    let size: usize = entries.iter().map(|entry| entry.content.len()).sum();
    entries.push(Entry::file("DEBIAN/control", control(release, binary, size)));
    Ok(entries)
}

/// Where Debian's shells look for completions.
fn system_place(shell: &str, name: &str) -> Option<String> {
    match shell {
        "bash" => Some("usr/share/bash-completion/completions/jarvis".to_owned()),
        "zsh" => Some(format!("usr/share/zsh/vendor-completions/{name}")),
        "fish" => Some(format!("usr/share/fish/vendor_completions.d/{name}")),
        _ => None,
    }
}

/// The unit of the repository, which runs what was copied to /usr/local/bin, for what the package installs.
fn unit(release: &Release) -> Result<String> {
    let text = String::from_utf8(read(&release.root.join(UNIT))?).context("the unit is not UTF-8")?;
    Ok(text.replace("/usr/local/bin/jarvis", "/usr/bin/jarvis"))
}

fn control(release: &Release, binary: &Binary, size: usize) -> String {
    let (version, architecture, size) = (version(release), binary.target.debian, size.div_ceil(1024));
    format!(
        "Package: jarvis\nVersion: {version}\nArchitecture: {architecture}\nSection: utils\nPriority: optional\n\
         Maintainer: The jarvis maintainers <https://github.com/jarvis-run/jarvis>\nInstalled-Size: {size}\n\
         Recommends: ca-certificates\nSuggests: tesseract-ocr, espeak-ng, ffmpeg\nHomepage: {}\n\
         Description: gets things done with models and tools\n \
         Plans a request into a task graph, chooses a model for each task, runs the\n \
         graph in parallel and answers. Works offline with models of its own, or with\n \
         any OpenAI-compatible model.\n",
        super::REPOSITORY
    )
}

fn copyright(release: &Release) -> Result<Vec<u8>> {
    let mut text = b"jarvis is under the MIT licence or the Apache licence, version 2.0, as you like.\n\n".to_vec();
    text.extend(read(&release.root.join("LICENSE-MIT"))?);
    text.extend(b"\nThe Apache licence stands in /usr/share/common-licenses/Apache-2.0 on Debian.\n");
    Ok(text)
}

fn folders(folder: &std::path::Path) -> Result<Vec<std::path::PathBuf>> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(folder) = found.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn set_mode(path: &std::path::Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of {}", path.display()))
}
