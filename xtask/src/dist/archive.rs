//! `jarvis-TRIPLE.tar.gz`: the binary, its licences, completions and man pages; and how every archive of a release is written: in
//! one order, by one user, at one time.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};

use super::{Binary, Release, output};

/// Files of the repository that go with every binary.
pub(super) const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// A shell and the name of its file of completions.
pub(super) const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "jarvis.bash"),
    ("zsh", "_jarvis"),
    ("fish", "jarvis.fish"),
    ("elvish", "jarvis.elv"),
    ("powershell", "jarvis.ps1"),
];

/// A file in an archive.
pub(super) struct Entry {
    /// Relative, with `/`.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) content: Vec<u8>,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Entry {
        Entry { path: path.into(), mode: 0o644, content: content.into() }
    }

    pub(super) fn program(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Entry {
        Entry { mode: 0o755, ..Entry::file(path, content) }
    }
}

/// Writes the archive of each target.
pub(super) fn write(release: &Release) -> Result<()> {
    for binary in &release.binaries {
        let folder = format!("jarvis-{}", binary.target.triple);
        let mut entries = vec![Entry::program(format!("{folder}/jarvis"), read(&binary.path)?)];
        for name in DOCUMENTS {
            entries.push(Entry::file(format!("{folder}/{name}"), read(&release.root.join(name))?));
        }
        for (path, content) in Manual::of(release)?.files {
            entries.push(Entry::file(format!("{folder}/{path}"), content));
        }
        release.publish(&format!("{folder}.tar.gz"), &gzip(release, &tar(&entries, release.epoch)?)?)?;
    }
    Ok(())
}

/// Completions (`completions/NAME`) and man pages (`man/NAME.1`), as the binary itself writes them.
pub(super) struct Manual {
    pub(super) files: Vec<(String, Vec<u8>)>,
}

impl Manual {
    pub(super) fn of(release: &Release) -> Result<Manual> {
        let binary = runs_here(release)?;
        let mut files = Vec::new();
        for (shell, name) in COMPLETIONS {
            let text = output(clean(&binary.path).args(["completions", shell]))?;
            files.push((format!("completions/{name}"), text.into_bytes()));
        }
        let folder = release.root.join("target/dist-build/man");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        output(clean(&binary.path).args(["man", "--out"]).arg(&folder))?;
        let mut pages: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
        pages.sort_by_key(fs::DirEntry::file_name);
        for page in pages {
            files.push((format!("man/{}", page.file_name().to_string_lossy()), read(&page.path())?));
        }
        Ok(Manual { files })
    }
}

/// A binary that this machine can run.
pub(super) fn runs_here(release: &Release) -> Result<&Binary> {
    let runs = |binary: &&Binary| binary.target.machine == std::env::consts::ARCH;
    release.binaries.iter().find(runs).context("no binary for this machine's processor is among the targets")
}

/// A program without this machine's settings.
pub(super) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent").env("COLUMNS", "100");
    command
}

/// Compresses without a name or a time.
pub(super) fn gzip(release: &Release, content: &[u8]) -> Result<Vec<u8>> {
    let level = if release.trial { Compression::fast() } else { Compression::best() };
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), level);
    writer.write_all(content)?;
    Ok(writer.finish()?)
}

/// An archive: entries sorted by path, their folders before them, all of root's.
pub(super) fn tar(entries: &[Entry], epoch: u64) -> Result<Vec<u8>> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    let mut builder = tar::Builder::new(Vec::new());
    let mut folders = std::collections::BTreeSet::new();
    for entry in sorted {
        for (end, _) in entry.path.match_indices('/') {
            let folder = entry.path.get(..=end).unwrap_or_default();
            if folders.insert(folder.to_owned()) {
                append(&mut builder, folder, tar::EntryType::Directory, 0o755, epoch, &[])?;
            }
        }
        append(&mut builder, &entry.path, tar::EntryType::Regular, entry.mode, epoch, &entry.content)?;
    }
    Ok(builder.into_inner()?)
}

/// Appends one header and its content.
pub(super) fn append(
    builder: &mut tar::Builder<Vec<u8>>,
    path: &str,
    kind: tar::EntryType,
    mode: u32,
    epoch: u64,
    content: &[u8],
) -> Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(content.len() as u64);
    builder.append_data(&mut header, path, content).with_context(|| format!("cannot pack {path}"))
}

/// Reads a whole file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file that may be run.
pub(super) fn write_program(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot write {}", path.display()))
}
