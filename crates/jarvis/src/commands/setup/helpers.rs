//! Programs that native models need, and the line that installs those that are missing.

use std::ffi::OsStr;
use std::path::PathBuf;

use jarvis_workers::native::{Program, Programs};
use serde::Serialize;

/// A program that native models need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Helper {
    #[serde(skip)]
    program: Program,
    pub(super) name: &'static str,
    /// What it enables.
    pub(super) gives: &'static str,
    pub(super) path: Option<PathBuf>,
}

/// Package managers with their install command. Native ones come first: Homebrew may be installed beside them.
const MANAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("zypper", "sudo zypper install"),
    ("pacman", "sudo pacman -S"),
    ("apk", "sudo apk add"),
    ("brew", "brew install"),
];

/// Searches `PATH` for the helpers, and returns the command that installs the missing ones if the package manager is known.
pub(super) fn look(path: &OsStr) -> (Vec<Helper>, Option<String>) {
    let programs = Programs::find_in(path);
    let helper = |program: Program| Helper {
        program,
        name: program.name(),
        gives: match program {
            Program::Tesseract => "text in pictures",
            Program::EspeakNg => "speech",
            Program::Ffmpeg => "other formats of sound, and the sound of videos",
        },
        path: programs.path(program).ok().map(PathBuf::from),
    };
    let helpers: Vec<Helper> = Program::ALL.into_iter().map(helper).collect();
    let missing: Vec<Program> =
        helpers.iter().filter(|helper| helper.path.is_none()).map(|helper| helper.program).collect();
    let manager = MANAGERS.iter().find(|(program, _)| is_in(path, program)).filter(|_| !missing.is_empty());
    let line = manager.map(|(manager, command)| {
        let packages: Vec<&str> = missing.iter().map(|program| package(manager, *program)).collect();
        format!("{command} {}", packages.join(" "))
    });
    (helpers, line)
}

fn is_in(path: &OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|folder| folder.is_absolute() && folder.join(program).is_file())
}

/// Package name of a program.
fn package(manager: &str, program: Program) -> &'static str {
    match (program, manager) {
        (Program::EspeakNg, _) => "espeak-ng",
        (Program::Ffmpeg, "dnf") => "ffmpeg-free",
        (Program::Ffmpeg, _) => "ffmpeg",
        (Program::Tesseract, "apt-get" | "zypper") => "tesseract-ocr",
        (Program::Tesseract, "pacman") => "tesseract tesseract-data-eng",
        (Program::Tesseract, "apk") => "tesseract-ocr tesseract-ocr-data-eng",
        (Program::Tesseract, _) => "tesseract",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_line_is_that_of_the_system_and_names_what_is_missing() {
        for (programs, line) in [
            (&["apt-get", "brew"][..], Some("sudo apt-get install espeak-ng tesseract-ocr ffmpeg")),
            (&["apt-get", "ffmpeg", "espeak-ng"], Some("sudo apt-get install tesseract-ocr")),
            (&["brew", "tesseract"], Some("brew install espeak-ng ffmpeg")),
            (&["pacman", "ffmpeg", "espeak-ng"], Some("sudo pacman -S tesseract tesseract-data-eng")),
            (&["apt-get", "tesseract", "ffmpeg", "espeak-ng"], None),
            (&[], None),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            for program in programs {
                let path = folder.path().join(program);
                std::fs::write(&path, "").expect("writable");
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("ours");
            }
            let (helpers, found) = look(folder.path().as_os_str());
            assert_eq!(found.as_deref(), line, "{programs:?}");
            for helper in helpers {
                assert_eq!(helper.path.is_some(), programs.contains(&helper.name), "{programs:?}");
            }
        }
    }
}
