//! Saved plans: one file each, in a folder that no client can name.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jarvis_store::named;
use serde_json::Value;

/// What every plan file's name begins with; a time stamp and the plan's id follow.
const PREFIX: &str = "execution_plan_";
const SUFFIX: &str = ".json";
/// The largest plan file that is read, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The longest id, in characters.
const MAX_ID: usize = 64;

#[derive(Debug)]
pub struct PlanStore {
    folder: PathBuf,
    keep: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no saved plan `{0}`")]
    Unknown(String),
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} holds no plan: {reason}", .path.display())]
    Broken { path: PathBuf, reason: String },
}

impl StoreError {
    /// What went wrong, without where on this machine's disk: callers elsewhere see it too.
    pub(crate) fn without_path(&self) -> String {
        match self {
            StoreError::Unknown(_) => self.to_string(),
            StoreError::Io { source, .. } => source.to_string(),
            StoreError::Broken { reason, .. } => reason.clone(),
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Unknown(_) => "unknown_plan",
            StoreError::Io { .. } => "internal",
            StoreError::Broken { .. } => "broken_plan",
        }
    }
}

impl PlanStore {
    /// A store in a folder, which is made when the first plan is saved. At most `keep` plans are kept, the newest ones;
    /// 0 keeps all.
    pub fn new(folder: impl Into<PathBuf>, keep: usize) -> PlanStore {
        PlanStore { folder: folder.into(), keep }
    }

    /// The plans of one user, in a folder of their own inside this one. The name is a folder's.
    pub fn of_user(&self, name: &str) -> PlanStore {
        PlanStore { folder: self.folder.join("users").join(name), keep: self.keep }
    }

    /// Saves a plan's document under its id, as `execution_plan_{YYYYmmdd_HHMMSS}_{id}.json` (UTC). It is there wholly
    /// or not at all. The file as replies name it.
    ///
    /// # Errors
    /// When the id cannot be part of a file's name, or the disk refuses.
    pub fn save(&self, id: &str, document: &str) -> Result<String, StoreError> {
        if !is_id(id) {
            return Err(StoreError::Unknown(id.to_owned()));
        }
        let name = format!("{PREFIX}{}_{id}{SUFFIX}", stamp(SystemTime::now()));
        let path = self.folder.join(&name);
        let part = self.folder.join(format!(".{name}.part"));
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| StoreError::Io { path, source }
        };
        std::fs::create_dir_all(&self.folder).map_err(io(&self.folder))?;
        let written = private(&part).and_then(|mut file| file.write_all(document.as_bytes()));
        if let Err(error) = written.and_then(|()| std::fs::rename(&part, &path)) {
            let _ = std::fs::remove_file(&part);
            return Err(io(&path)(error));
        }
        self.retire();
        Ok(shown(&self.folder, &name))
    }

    pub fn load(&self, id: &str) -> Result<Value, StoreError> {
        let unknown = || StoreError::Unknown(id.chars().take(MAX_ID).collect());
        let path = self.find(id).ok_or_else(unknown)?;
        let io = |source| StoreError::Io { path: path.clone(), source };
        let mut text = String::new();
        let file = File::open(&path).map_err(io)?;
        std::io::Read::read_to_string(&mut std::io::Read::take(file, MAX_BYTES), &mut text).map_err(io)?;
        serde_json::from_str(&text)
            .map_err(|error| StoreError::Broken { path: path.clone(), reason: error.to_string() })
    }

    pub fn find(&self, id: &str) -> Option<PathBuf> {
        if !is_id(id) {
            return None;
        }
        let ending = format!("_{id}{SUFFIX}");
        let name = self.names().into_iter().rev().find(|name| {
            // Nothing but the stamp may stand before the id, so that no id is taken for the end of another.
            name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(&ending)).is_some_and(is_stamp)
        })?;
        Some(self.folder.join(name))
    }

    /// This store and those of the users in it.
    pub fn with_users(&self) -> Vec<PlanStore> {
        let users = std::fs::read_dir(self.folder.join("users")).into_iter().flatten().flatten();
        let of_user = |user: std::fs::DirEntry| PlanStore { folder: user.path(), keep: self.keep };
        std::iter::once(PlanStore { folder: self.folder.clone(), keep: self.keep }).chain(users.map(of_user)).collect()
    }

    /// Every plan by its id, the oldest first, with its file.
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        let id = |name: &str| {
            let rest = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            let (stamp, id) = rest.split_at_checked(STAMP)?;
            id.strip_prefix('_').filter(|id| is_stamp(stamp) && is_id(id)).map(str::to_owned)
        };
        self.names().iter().filter_map(|name| Some((id(name)?, self.folder.join(name)))).collect()
    }

    /// The files that plans speak of, those of users too, by their display paths.
    pub fn spoken_of(&self) -> BTreeSet<String> {
        let files = self.with_users().into_iter().flat_map(|plans| plans.files());
        // One that is gone by now speaks of nothing.
        let texts = files.filter_map(|(_, path)| std::fs::read_to_string(path).ok());
        texts.flat_map(|text| named(&text).map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Removes every plan; returns how many there were.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn clear(&self) -> Result<usize, StoreError> {
        let files = self.files();
        for (_, path) in &files {
            match std::fs::remove_file(path) {
                // Another process may have done it.
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::Io { path: path.clone(), source: error });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(files.len())
    }

    /// The names of the plan files, oldest first.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)).collect();
        names.sort_unstable();
        names
    }

    fn retire(&self) {
        if self.keep == 0 {
            return;
        }
        let names = self.names();
        let beyond = names.len().saturating_sub(self.keep);
        for name in names.iter().take(beyond) {
            // Another process may have done it.
            if let Err(error) = std::fs::remove_file(self.folder.join(name)) {
                tracing::debug!(%name, %error, "an old plan could not be removed");
            }
        }
    }
}

/// A file of a folder as replies name it: by the folder's own name, not by where it is on the disk.
pub(crate) fn shown(folder: &Path, name: &str) -> String {
    let folder = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    format!("{folder}/{name}")
}

/// True for what can be a plan's id: it becomes part of a file's name.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// How long the time in a file's name is.
const STAMP: usize = 15;

fn is_stamp(text: &str) -> bool {
    text.len() == STAMP && text.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// A time as `YYYYmmdd_HHMMSS`, UTC.
pub(crate) fn stamp(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.chars().filter_map(|c| if c == 'T' { Some('_') } else { Some(c).filter(char::is_ascii_digit) }).collect()
}

/// A new file for its owner alone: requests are private.
pub(crate) fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn plans_are_found_by_their_id_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = PlanStore::new(folder.path().join("plans"), 0);
        let saved = store.save("a1-b2", "{\"execution_config\": 1}").unwrap();
        assert!(saved.starts_with("plans/") && folder.path().join(&saved).is_file(), "{saved}");
        assert_eq!(store.load("a1-b2").unwrap()["execution_config"], 1);
        for id in ["b2", "1-b2", "", "../a1-b2", "a1_b2", "a1-b2.json", "*", "\0", &"a".repeat(65)] {
            assert!(matches!(store.load(id), Err(StoreError::Unknown(_))), "{id}");
            assert!(store.save("../x", "").is_err());
        }
        // No half-written file is left behind, and none is taken for a plan.
        let left: Vec<_> = std::fs::read_dir(folder.path().join("plans")).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn the_oldest_plans_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let store = PlanStore::new(folder.path(), 3);
        for (stamp, id) in [("20200101_000000", "old"), ("20200101_000001", "older"), ("29990101_000000", "new")] {
            std::fs::write(folder.path().join(format!("{PREFIX}{stamp}_{id}{SUFFIX}")), "{}").unwrap();
        }
        std::fs::write(folder.path().join("notes.txt"), "not a plan").unwrap();
        store.save("now", "{}").unwrap();
        assert!(store.load("old").is_err());
        assert!(["older", "now", "new"].iter().all(|id| store.load(id).is_ok()));
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let store = PlanStore::new(folder.path().join("file/plans"), 3);
        assert!(matches!(store.save("a", "{}"), Err(StoreError::Io { .. })));
        assert!(matches!(store.load("a"), Err(StoreError::Unknown(_))));
    }

    #[test]
    fn stamps_sort_as_times_do() {
        assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(1_767_323_045)), "20260102_030405");
        assert!(is_stamp(&stamp(UNIX_EPOCH)));
    }
}
