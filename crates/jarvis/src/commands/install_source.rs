//! Guesses from a program's path who installed it, and how to update it.

use std::path::Path;

/// Hint for updating a program that `install.sh` did not install.
pub(super) fn how_to_update(program: &Path) -> &'static str {
    let has = |names: &[&str]| program.components().any(|part| names.iter().any(|name| part.as_os_str() == *name));
    let follows = |first: &str, second: &str| {
        let parts: Vec<_> = program.components().map(|part| part.as_os_str()).collect();
        parts.windows(2).any(|pair| matches!(pair, [one, two] if *one == first && *two == second))
    };
    let folder = program.parent().unwrap_or(program);
    let is_in_venv = folder.parent().is_some_and(|venv| venv.join("pyvenv.cfg").is_file());
    if has(&["node_modules"]) {
        "npm probably installed it: `npm install --global jarvis-run@latest`"
    } else if follows("uv", "tools") {
        "uv probably installed it: `uv tool upgrade jarvis-run`"
    } else if follows("pipx", "venvs") {
        "pipx probably installed it: `pipx upgrade jarvis-run`"
    } else if is_in_venv || has(&["site-packages", "dist-packages"]) {
        "pip probably installed it: `pip install --upgrade jarvis-run`"
    } else if follows("target", "debug") || follows("target", "release") {
        "it was built from source: `git pull`, then `cargo build --release`"
    } else if follows(".cargo", "bin") {
        "cargo installed it: `git pull`, then `cargo install --path crates/jarvis`"
    } else if has(&["Cellar", "homebrew", "linuxbrew", ".linuxbrew"]) {
        concat!(
            "Homebrew probably installed it from a formula: put the newer jarvis.rb of ",
            env!("CARGO_PKG_REPOSITORY"),
            "/releases into its tap, then `brew upgrade jarvis`"
        )
    } else if program.starts_with("/nix/store") {
        "Nix installed it: update the profile or the system that has it"
    } else if program.starts_with("/usr/bin") || program.starts_with("/bin") {
        concat!(
            "a package of the system probably installed it: with the project's own, `dpkg -i` the newer .deb of ",
            env!("CARGO_PKG_REPOSITORY"),
            "/releases"
        )
    } else {
        "run install.sh to have a jarvis that updates itself, or replace this file by hand"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_program_tells_who_installed_it() {
        for (program, who) in [
            ("/usr/lib/node_modules/jarvis-run/bin/jarvis", "npm"),
            ("/home/ada/.local/share/uv/tools/jarvis/bin/jarvis", "uv tool"),
            ("/home/ada/.local/share/pipx/venvs/jarvis/bin/jarvis", "pipx"),
            ("/home/ada/lib/python3.11/site-packages/jarvis/bin/jarvis", "pip install"),
            ("/home/ada/.cargo/bin/jarvis", "cargo install"),
            ("/home/ada/jarvis/target/release/jarvis", "cargo build"),
            ("/opt/homebrew/bin/jarvis", "jarvis.rb"),
            ("/nix/store/abc-jarvis/bin/jarvis", "Nix"),
            ("/usr/bin/jarvis", "dpkg -i"),
            ("/opt/jarvis", "install.sh"),
        ] {
            assert!(how_to_update(Path::new(program)).contains(who), "{program}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("pyvenv.cfg"), "").expect("writable");
        assert!(how_to_update(&folder.path().join("bin/jarvis")).contains("pip install"));
    }
}
