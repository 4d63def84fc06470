//! The packages of other languages: wheels for PyPI (`bindings/python`) and packages for npm (`bindings/node`). Each carries the static
//! binary, so that one of them runs with any libc.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::archive::{Entry, gzip, read, tar};
use super::toolchain::Tools;
use super::{Binary, Release, build, output};

/// The wheels of a processor: the platform's name as pip knows it, and the target that the native module is built for.
const WHEELS: [(&str, &str); 2] = [("manylinux2014", "unknown-linux-gnu"), ("musllinux_1_2", "unknown-linux-musl")];

const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Writes them. A trial makes the packages for npm alone: the module of a wheel is built for its target, which takes minutes, and
/// `cargo xtask bindings` installs one.
pub(super) fn write(release: &Release) -> Result<()> {
    npm(release)?;
    if release.trial {
        return Ok(());
    }
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        for (platform, system) in WHEELS {
            wheel(release, binary, platform, &format!("{}-{system}", binary.target.machine))?;
        }
    }
    Ok(())
}

/// The name of a target's package for npm, as `npm pack` writes it.
pub(super) fn npm_platform(release: &Release, binary: &Binary) -> String {
    format!("jarvis-run-linux-{}-{}.tgz", binary.target.node, release.version)
}

/// The name of the package for npm that chooses among them.
pub(super) fn npm_wrapper(release: &Release) -> String {
    format!("jarvis-run-{}.tgz", release.version)
}

/// Compiles the client and packs it, and each binary with the manifest of its platform.
fn npm(release: &Release) -> Result<()> {
    let folder = release.root.join("bindings/node");
    let packages = ["install", "--ignore-scripts", "--omit=optional", "--no-save", "--no-audit", "--no-fund"];
    output(Command::new("npm").args(packages).current_dir(&folder)).context("the packages of bindings/node")?;
    crate::bindings::no_client(&release.root)?;
    output(Command::new("npm").args(["run", "--silent", "build"]).current_dir(&folder))?;
    // npm packs no links.
    for licence in LICENCES {
        let (from, to) = (release.root.join(licence), folder.join(licence));
        fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    let packed = release.root.join("target/dist-build/npm");
    fs::create_dir_all(&packed).with_context(|| format!("cannot create {}", packed.display()))?;
    output(Command::new("npm").arg("pack").arg("--pack-destination").arg(&packed).current_dir(&folder))?;
    let name = npm_wrapper(release);
    release.publish(&name, &read(&packed.join(&name))?)?;
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        let platform = folder.join("platforms").join(format!("linux-{}", binary.target.node));
        let mut entries = vec![
            Entry::file("package/package.json", read(&platform.join("package.json"))?),
            Entry::program("package/bin/jarvis", read(&binary.path)?),
        ];
        for licence in LICENCES {
            entries.push(Entry::file(format!("package/{licence}"), read(&release.root.join(licence))?));
        }
        release.publish(&npm_platform(release, binary), &gzip(release, &tar(&entries, release.epoch)?)?)?;
    }
    Ok(())
}

/// Builds the native module for a target and packs it with the Python package and the binary.
fn wheel(release: &Release, binary: &Binary, platform: &str, triple: &str) -> Result<()> {
    let folder = release.root.join("bindings/python");
    let scripts = folder.join("data/scripts");
    fs::create_dir_all(&scripts).with_context(|| format!("cannot create {}", scripts.display()))?;
    let program = scripts.join("jarvis");
    fs::copy(&binary.path, &program).with_context(|| format!("cannot write {}", program.display()))?;
    let tools = Tools::ready(&release.root)?;
    let target = release.root.join("target/dist-build/python");
    let out = target.join("wheels").join(triple);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut maturin = Command::new(tools.program("maturin"));
    maturin
        .args(["build", "--quiet", "--locked", "--release", "--strip", "--zig", "--target", triple])
        .args(["--compatibility", platform, "--out"])
        .arg(&out)
        .arg("--target-dir")
        .arg(&target)
        .env("PATH", tools.search_path()?)
        .current_dir(&folder);
    build::reproducible(&mut maturin, &release.root, &target, triple, release.epoch)?;
    tools.add_target(triple)?;
    output(&mut maturin).with_context(|| format!("the wheel for {triple} cannot be built"))?;
    let built = only_file(&out)?;
    let name = built.file_name().context("a wheel without a name")?.to_string_lossy().into_owned();
    release.publish(&name, &read(&built)?)
}

/// The file in a folder that holds one.
fn only_file(folder: &Path) -> Result<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    match entries.as_slice() {
        [only] => Ok(only.path()),
        others => bail!("{} holds {} files where one is expected", folder.display(), others.len()),
    }
}

/// The wheels that were published for the processor of `binary`.
pub(super) fn wheels(release: &Release, binary: &Binary) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(&release.out)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // As Python writes a version before the final one.
        let version = [("-alpha.", "a"), ("-beta.", "b"), ("-rc.", "rc")]
            .iter()
            .fold(release.version.clone(), |version, (ours, theirs)| version.replacen(ours, theirs, 1));
        let prefix = format!("jarvis_run-{version}-");
        if name.starts_with(&prefix) && name.ends_with(&format!("_{}.whl", binary.target.machine)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
