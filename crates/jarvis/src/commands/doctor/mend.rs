//! `jarvis doctor --fix`: repairs that need neither root nor the network and lose nothing irreplaceable.

use std::fs;
use std::path::{Path, PathBuf};

use jarvis_models::Store;
use jarvis_store::{Journal, JournalError};

use super::{Finding, JOURNAL};
use crate::config::Config;
use crate::failure::Failure;
use crate::wiring::{self, Folders};

/// A fault that can be repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// The folder is missing.
    Folder(PathBuf),
    /// The owner lacks access, or others can read private data.
    Permissions { path: PathBuf, now: u32, wanted: u32 },
    /// The journal cannot be read.
    Journal(PathBuf),
    /// Lock files of processes that were killed.
    Locks { journal: PathBuf, count: usize },
    /// Pulls that were cut off, by the names of the models.
    Pulls(Vec<String>),
}

/// Looks for faults and repairs them if `fix` is set; otherwise each finding says how to repair it.
pub(super) fn look_and_mend(config: &Config, folders: &Folders, fix: bool) -> Vec<Finding> {
    let store = wiring::hub_environment(config).ok().map(|environment| Store::new(&environment, &folders.data));
    let look = |look: fn(&Folders, Option<&Store>) -> Vec<Fault>| {
        let faults = look(folders, store.as_ref());
        faults.into_iter().filter(|fault| fix || fault.is_told()).map(|fault| fault.finding(store.as_ref(), fix))
    };
    // In order: a repair may reveal the next fault.
    let looks = [missing_folders, wrong_permissions, damaged_journal, stale_locks, abandoned_pulls];
    looks.into_iter().flat_map(|one| look(one).collect::<Vec<_>>()).collect()
}

fn missing_folders(folders: &Folders, _: Option<&Store>) -> Vec<Fault> {
    let missing = [&folders.data, &folders.public].into_iter().filter(|folder| !folder.exists());
    missing.cloned().map(Fault::Folder).collect()
}

#[cfg(unix)]
fn wrong_permissions(folders: &Folders, _: Option<&Store>) -> Vec<Fault> {
    use std::os::unix::fs::PermissionsExt as _;

    /// What its owner needs of a folder and of a file.
    const FOLDER: u32 = 0o700;
    const FILE: u32 = 0o600;
    let companion = |suffix: &str| {
        let mut path = folders.journal.clone().into_os_string();
        path.push(suffix);
        PathBuf::from(path)
    };
    let private = [folders.journal.clone(), companion("-wal"), companion("-shm")];
    let private = private.into_iter().chain([folders.audit.clone()]).map(|path| (path, FILE, 0o007));
    let usable = [&folders.data, &folders.public].into_iter().map(|folder| (folder.clone(), FOLDER, 0));
    let fault = |(path, needed, secret): (PathBuf, u32, u32)| {
        // What a link leads to may be anyone's.
        let found = fs::symlink_metadata(&path).ok().filter(|found| found.is_file() || found.is_dir())?;
        let now = found.permissions().mode() & 0o7777;
        let wanted = (now | needed) & !secret;
        (now != wanted).then_some(Fault::Permissions { path, now, wanted })
    };
    usable.chain(private).filter_map(fault).collect()
}

#[cfg(not(unix))]
fn wrong_permissions(_: &Folders, _: Option<&Store>) -> Vec<Fault> {
    Vec::new()
}

fn damaged_journal(folders: &Folders, _: Option<&Store>) -> Vec<Fault> {
    let is_damaged =
        folders.journal.is_file() && matches!(Journal::open(&folders.journal), Err(JournalError::Corrupt { .. }));
    is_damaged.then(|| Fault::Journal(folders.journal.clone())).into_iter().collect()
}

fn stale_locks(folders: &Folders, _: Option<&Store>) -> Vec<Fault> {
    let count = match folders.journal.is_file() {
        true => Journal::stale_locks(&folders.journal).map_or(0, |locks| locks.len()),
        false => 0,
    };
    (count > 0).then(|| Fault::Locks { journal: folders.journal.clone(), count }).into_iter().collect()
}

fn abandoned_pulls(_: &Folders, store: Option<&Store>) -> Vec<Fault> {
    let abandoned = store.and_then(|store| store.abandoned().ok()).unwrap_or_default();
    let names: Vec<String> = abandoned.into_iter().map(|record| record.name).collect();
    (!names.is_empty()).then_some(Fault::Pulls(names)).into_iter().collect()
}

impl Fault {
    /// Whether it is reported without `--fix`: the first use creates folders, and the doctor reports the journal itself.
    fn is_told(&self) -> bool {
        !matches!(self, Fault::Folder(_) | Fault::Journal(_))
    }

    fn finding(&self, store: Option<&Store>, fix: bool) -> Finding {
        let (what, found) = (self.what(), self.found());
        match fix.then(|| self.mend(store)) {
            Some(Ok(fixed)) => Finding::mended(what, found, fixed),
            // What was to be mended is needed.
            Some(Err(failure)) => Finding::bad(
                what,
                true,
                format!("{found}; not mended: {}", failure.message()),
                failure.advice().unwrap_or("see the message"),
            ),
            None => Finding::bad(what, false, found, self.advice()),
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Fault::Folder(_) => "data folder",
            Fault::Permissions { .. } => "permissions",
            Fault::Journal(_) => JOURNAL,
            Fault::Locks { .. } => "lock files",
            Fault::Pulls(_) => "partial downloads",
        }
    }

    fn found(&self) -> String {
        match self {
            Fault::Folder(path) => format!("{} was not there", path.display()),
            Fault::Permissions { path, now, .. } => format!("{} has the mode {now:o}", path.display()),
            Fault::Journal(path) => format!("{} was damaged", path.display()),
            Fault::Locks { count, .. } => {
                format!("{} of killed processes", jarvis_plan::export::plural(*count, "lock file"))
            }
            Fault::Pulls(names) => format!("the download was cut off: {}", names.join(", ")),
        }
    }

    fn advice(&self) -> String {
        match self {
            Fault::Folder(_) | Fault::Journal(_) | Fault::Locks { .. } => "`jarvis doctor --fix`".to_owned(),
            Fault::Permissions { wanted, .. } => format!("`jarvis doctor --fix` makes it {wanted:o}"),
            Fault::Pulls(names) => format!(
                "`jarvis models pull {}` goes on with it, `jarvis doctor --fix` removes what there is",
                names.join(" ")
            ),
        }
    }

    /// Repairs it and says what was done.
    fn mend(&self, store: Option<&Store>) -> Result<String, Failure> {
        match self {
            Fault::Folder(path) => make_folder(path),
            Fault::Permissions { path, wanted, .. } => set_permissions(path, *wanted),
            Fault::Journal(path) => set_journal_aside(path),
            Fault::Locks { journal, .. } => remove_locks(journal),
            Fault::Pulls(_) => remove_pulls(store),
        }
    }
}

fn make_folder(path: &Path) -> Result<String, Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    // Requests and files are private.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => Ok("made it".to_owned()),
        Err(error) => Err(Failure::work(error).hint("choose another folder with --data-dir")),
    }
}

#[cfg(unix)]
fn set_permissions(path: &Path, wanted: u32) -> Result<String, Failure> {
    use std::os::unix::fs::PermissionsExt as _;

    match fs::set_permissions(path, fs::Permissions::from_mode(wanted)) {
        Ok(()) => Ok(format!("made it {wanted:o}")),
        Err(error) => {
            let fix = format!("as its owner, or with sudo: chmod {wanted:o} '{}'", path.display());
            Err(Failure::work(error).hint(fix))
        }
    }
}

#[cfg(not(unix))]
fn set_permissions(path: &Path, _: u32) -> Result<String, Failure> {
    Err(Failure::work(format!("the permissions of {} are not known here", path.display())))
}

fn set_journal_aside(path: &Path) -> Result<String, Failure> {
    match Journal::set_aside(path) {
        Ok(Some(aside)) => Ok(format!(
            "renamed it to {}, so that a new one is made; its runs are not listed any more",
            aside.display()
        )),
        Ok(None) => Ok("it can be read again".to_owned()),
        Err(error) => Err(of_journal(error)),
    }
}

fn remove_locks(journal: &Path) -> Result<String, Failure> {
    let removed = Journal::remove_stale_locks(journal).map_err(of_journal)?;
    Ok(format!("checked the journal and removed {}", jarvis_plan::export::plural(removed, "lock file")))
}

fn of_journal(error: JournalError) -> Failure {
    let hint = error.hint();
    Failure::work(error).maybe_hint(hint)
}

fn remove_pulls(store: Option<&Store>) -> Result<String, Failure> {
    let removed = store.map(|store| store.remove_abandoned().map_err(wiring::pulls::failure)).transpose()?;
    let removed = removed.unwrap_or_default();
    Ok(format!("removed {}, {} bytes", jarvis_plan::export::plural(removed.files, "file"), removed.bytes))
}
