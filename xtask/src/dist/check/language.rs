//! The wheels by pip and the packages by npm, each in an environment of its own.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::{Place, expect, has, refuses, succeeds};
use crate::dist::archive::runs_here;
use crate::dist::{Release, packages};

pub(super) fn check(release: &Release) -> Result<()> {
    if !runs_here(release)?.target.is_static {
        println!("  none was made: packages carry static binaries");
        return Ok(());
    }
    npm(release)?;
    if release.trial {
        release.skip("pip", "a trial makes no wheel; `cargo xtask bindings` installs one");
        return Ok(());
    }
    pip(release)
}

/// The wrapper finds the program of the platform without any script, and says so when it is not there.
fn npm(release: &Release) -> Result<()> {
    if !has(release, "npm", "the packages for npm") {
        return Ok(());
    }
    let place = Place::new(release, "npm")?;
    let wrapper = release.out.join(packages::npm_wrapper(release));
    let platform = release.out.join(packages::npm_platform(release, runs_here(release)?));
    // Nothing but what the sources give, whatever was compiled before.
    let listed = succeeds(Command::new("tar").arg("-tzf").arg(&wrapper))?;
    for name in listed.lines().filter_map(|path| path.strip_prefix("package/dist/")) {
        let source = name.strip_suffix(".d.ts").or(name.strip_suffix(".js")).unwrap_or(name);
        let source = release.root.join("bindings/node/src").join(format!("{source}.ts"));
        expect(source.is_file(), || format!("the package has dist/{name}, which no source gives"))?;
    }
    let project = |name: &str| -> Result<_> {
        let folder = place.folder.join(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), "{\"private\": true, \"type\": \"module\"}")?;
        Ok(folder)
    };
    let install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional"];
    let npm = |folder: &std::path::Path| {
        let mut command = place.command(which::which("npm").unwrap_or_else(|_| "npm".into()));
        // What this machine says of its registry stays; npm finds node beside itself.
        for (name, value) in std::env::vars_os() {
            let name_text = name.to_string_lossy().to_lowercase();
            if name_text.starts_with("npm_config_") || name_text == "path" {
                command.env(name, value);
            }
        }
        command.current_dir(folder);
        command
    };
    let whole = project("whole")?;
    succeeds(npm(&whole).args(install).arg(&wrapper).arg(&platform))?;
    place.try_jarvis(
        release,
        whole.join("node_modules/@jarvis-run").join(platform_folder(release)?).join("bin/jarvis"),
    )?;
    let mut run = npm(&whole);
    let version = succeeds(run.args(["exec", "--offline", "--", "jarvis", "--version"]))?;
    expect(version.contains(&release.version), || format!("npm exec printed {version:?}"))?;
    let alone = project("alone")?;
    succeeds(npm(&alone).args(install).arg(&wrapper))?;
    refuses(npm(&alone).args(["exec", "--offline", "--", "jarvis", "--version"]), "@jarvis-run/")?;
    succeeds(npm(&whole).args(["uninstall", "--no-audit", "--no-fund", "jarvis-run"]))?;
    expect(!whole.join("node_modules/jarvis-run").exists(), || "npm uninstall left the package".to_owned())
}

fn platform_folder(release: &Release) -> Result<String> {
    Ok(format!("linux-{}", runs_here(release)?.target.node))
}

/// One installation brings the program and the package, and takes both away again.
fn pip(release: &Release) -> Result<()> {
    let wheels = packages::wheels(release, runs_here(release)?)?;
    expect(wheels.len() == 2, || format!("two wheels are expected, and there are {}", wheels.len()))?;
    // pip takes only those that fit this machine; the other is looked at by its tag.
    let fits = if cfg!(target_env = "musl") { "musllinux" } else { "manylinux" };
    let wheel = wheels.iter().find(|wheel| wheel.to_string_lossy().contains(fits)).context("no wheel for this libc")?;
    let place = Place::new(release, "pip")?;
    let environment = place.folder.join("venv");
    let python = environment.join("bin/python");
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let pip = |args: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(args);
        command
    };
    succeeds(pip(&["install"]).arg(wheel))?;
    place.try_jarvis(release, environment.join("bin/jarvis"))?;
    let script = "import jarvis, jarvis.taskbench\n\
                  result = jarvis.run('tell the mood of: what a lovely day', llm='offline')\n\
                  assert result.ok, result\n\
                  print(type(jarvis.plan('find the edges of a.png', llm='offline')).__name__)\n";
    let said = succeeds(place.command(&python).args(["-c", script]))?;
    expect(said.trim() == "Plan", || format!("the package says {said:?}"))?;
    succeeds(&mut pip(&["uninstall", "--yes", "jarvis-run"]))?;
    expect(!environment.join("bin/jarvis").exists(), || "pip uninstall left the program".to_owned())
}
