//! What a release is built with: cargo-zigbuild and zig from PyPI, and the standard library of each target.
//!
//! `rustup target add` brings the standard library. Where rustup cannot reach its server, Debian's `rustc-web` is unpacked (not
//! installed: it conflicts with rustup) and builds the library from `rust-web-src`, its source of the same version. Nothing of the
//! system is changed; all of it lies in `target/dist-tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::output;

/// Programs of PyPI, each carrying its binary.
const PACKAGES: [&str; 3] = ["cargo-zigbuild==0.24.1", "ziglang==0.17.1", "maturin==1.16.0"];

/// Rust as Debian packages it: the compiler, its libraries, and the source of the standard library.
const DEBIAN: [&str; 8] = [
    "rustc-web",
    "libstd-rust-web-dev",
    "libstd-rust-web-1.96",
    "rust-web-src",
    "libllvm22",
    "libz3-4",
    "libedit2",
    "libxml2",
];

/// The folder of the tools, kept between builds.
pub(super) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Finds the tools, or installs them.
    ///
    /// # Errors
    /// When pip cannot install them.
    pub(super) fn ready(root: &Path) -> Result<Tools> {
        let folder = root.join("target/dist-tools");
        let (noted, wanted) = (folder.join("packages.txt"), PACKAGES.join("\n"));
        if !fs::read_to_string(&noted).is_ok_and(|noted| noted == wanted) {
            println!("dist: installing {} into target/dist-tools", PACKAGES.join(", "));
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
            output(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
            let mut pip = Command::new(folder.join("venv/bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
            output(&mut pip).context("zig and cargo-zigbuild cannot be installed from PyPI")?;
            fs::write(&noted, wanted).with_context(|| format!("cannot write {}", noted.display()))?;
        }
        Ok(Tools { folder })
    }

    /// A program of the Python environment.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join("venv/bin").join(name)
    }

    /// Installs a cargo subcommand into the folder, and names its binary.
    pub(super) fn cargo_program(&self, name: &str, version: &str) -> Result<PathBuf> {
        let path = self.folder.join("bin").join(name);
        let noted = self.folder.join(format!("{name}.version"));
        if !path.is_file() || !fs::read_to_string(&noted).is_ok_and(|noted| noted == version) {
            println!("dist: building {name} {version} into target/dist-tools");
            let mut cargo = Command::new("cargo");
            cargo.args(["install", "--quiet", "--locked", name, "--version", version, "--root"]).arg(&self.folder);
            output(cargo.current_dir(&self.folder)).with_context(|| format!("{name} cannot be installed"))?;
            fs::write(&noted, version).with_context(|| format!("cannot write {}", noted.display()))?;
        }
        Ok(path)
    }

    /// `PATH` with the tools in front.
    pub(super) fn search_path(&self) -> Result<std::ffi::OsString> {
        let before = std::env::var_os("PATH").unwrap_or_default();
        let own = [self.folder.join("bin"), self.folder.join("venv/bin")];
        std::env::join_paths(own.into_iter().chain(std::env::split_paths(&before))).context("PATH cannot be extended")
    }

    /// The compiler that has the standard library of a target: `None` for the one of rustup.
    ///
    /// # Errors
    /// When no compiler can be had for it; the message says what was tried.
    pub(super) fn rustc_for(&self, triple: &str) -> Result<Option<PathBuf>> {
        let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
        if Path::new(sysroot.trim()).join("lib/rustlib").join(triple).join("lib").is_dir() {
            return Ok(None);
        }
        let added = output(Command::new("rustup").args(["target", "add", triple]));
        let Err(refused) = added else { return Ok(None) };
        println!("dist: rustup has no standard library for {triple}; building it from Debian's source");
        self.debian_rustc(triple)
            .map(Some)
            .with_context(|| format!("no standard library for {triple}: rustup refused ({refused:#}), and"))
    }

    /// Debian's compiler, with the standard library of `triple` built beside it.
    fn debian_rustc(&self, triple: &str) -> Result<PathBuf> {
        let folder = self.folder.join("debian");
        let usr = folder.join("root/usr");
        let rustc = folder.join("rustc");
        if !rustc.is_file() {
            unpack_debian(&folder)?;
            // The program finds its libraries by this alone: nothing of it is installed.
            let script = format!(
                "#!/bin/sh\nexport LD_LIBRARY_PATH='{}'\nexec '{}' \"$@\"\n",
                usr.join("lib/x86_64-linux-gnu").display(),
                usr.join("bin/rustc").display()
            );
            super::archive::write_program(&rustc, &script)?;
        }
        let library = usr.join("lib/rustlib").join(triple).join("lib");
        if !library.is_dir() {
            build_std(&folder, &rustc, triple, &library)?;
        }
        Ok(rustc)
    }
}

/// Downloads and unpacks the packages of [`DEBIAN`].
fn unpack_debian(folder: &Path) -> Result<()> {
    let packages = folder.join("packages");
    fs::create_dir_all(&packages).with_context(|| format!("cannot create {}", packages.display()))?;
    output(Command::new("apt-get").args(["--quiet", "download"]).args(DEBIAN).current_dir(&packages))
        .context("Debian's Rust cannot be downloaded; `apt-get update` may be needed first")?;
    for entry in fs::read_dir(&packages)? {
        output(Command::new("dpkg-deb").arg("--extract").arg(entry?.path()).arg(folder.join("root")))?;
    }
    Ok(())
}

/// Builds the standard library of `triple` and puts it where `rustc` looks for it.
fn build_std(folder: &Path, rustc: &Path, triple: &str, library: &Path) -> Result<()> {
    let project = folder.join(format!("std-{triple}"));
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let manifest = "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(project.join("Cargo.toml"), manifest)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--quiet",
            "--release",
            "-Zbuild-std=std,panic_unwind,panic_abort,proc_macro",
            "--target",
            triple,
        ])
        .env("RUSTC", rustc)
        // `-Zbuild-std` is the only unstable thing here, and the source is the compiler's own.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env_remove("RUSTFLAGS")
        .current_dir(&project);
    output(&mut cargo)?;
    let built = project.join("target").join(triple).join("release/deps");
    let beside = library.with_extension("new");
    // The linker is told to look there, and says so when it is missing.
    fs::create_dir_all(beside.join("self-contained"))?;
    let mut found = 0;
    for entry in fs::read_dir(&built)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libempty-") {
            fs::copy(&path, beside.join(&name)).with_context(|| format!("cannot copy {name}"))?;
            found += 1;
        }
    }
    if found == 0 {
        bail!("cargo built no library in {}", built.display());
    }
    fs::rename(&beside, library).with_context(|| format!("cannot write {}", library.display()))
}
