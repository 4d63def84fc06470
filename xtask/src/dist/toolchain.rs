//! What a release is built with: cargo-zigbuild, zig and maturin from PyPI, programs of crates.io, all in `target/dist-tools`; and
//! the standard library of each target, which `rustup target add` brings into the toolchain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::output;
use crate::doors;

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
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        doors::environment(&root.join("xtask/src/dist/requirements.txt"), &folder.join("venv"))
            .context("zig and cargo-zigbuild cannot be installed from PyPI")?;
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

    /// Sees to it that the toolchain has the standard library of a target.
    ///
    /// # Errors
    /// When rustup cannot bring it.
    pub(super) fn add_target(&self, triple: &str) -> Result<()> {
        let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
        if !Path::new(sysroot.trim()).join("lib/rustlib").join(triple).join("lib").is_dir() {
            output(Command::new("rustup").args(["target", "add", triple]))
                .with_context(|| format!("the standard library of {triple} is not here and cannot be fetched"))?;
        }
        Ok(())
    }
}
