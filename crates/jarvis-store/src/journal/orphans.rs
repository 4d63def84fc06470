//! Media that nothing speaks of any more: no run, no chat, and nothing else that the caller knows of.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Journal, JournalError, file, lease, mentions, owned};
use crate::Media;

/// Which media are removed, of those that nothing speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Those that were stored longer ago than this.
    pub older: Option<Duration>,
    /// The oldest, until all media take at most so many bytes.
    pub most_bytes: Option<u64>,
    /// What was stored so shortly ago stays: a request that has not begun may be about it.
    pub grace: Duration,
    /// Display paths that something besides runs and chats speaks of.
    pub spoken_of: BTreeSet<String>,
    /// Only says what would be removed.
    pub dry: bool,
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Display paths.
    pub media: Vec<String>,
    pub bytes: u64,
    /// Files that could not be removed, with why.
    pub stuck: Vec<String>,
}

impl Journal {
    /// Removes media that nothing speaks of.
    ///
    /// # Errors
    /// When the journal or the folder cannot be read, or the journal cannot be written.
    pub async fn sweep(&self, sweep: Sweep, media: Arc<Media>) -> Result<Swept, JournalError> {
        let (path, dry) = (self.path.clone(), sweep.dry);
        let swept = tokio::task::spawn_blocking(move || {
            let failed = |source| JournalError::sqlite("read", &path, source);
            // Listed first: what is stored meanwhile is not looked at.
            let listed = media.list();
            let listed =
                listed.map_err(|error| JournalError::Lost { path: path.clone(), reason: error.to_string() })?;
            let known = mentions::all(&file::open_to_read(&path)?).map_err(failed)?;
            Ok(sweep.remove(listed, &known, &media, SystemTime::now()))
        });
        let lost =
            |error: tokio::task::JoinError| JournalError::Lost { path: self.path.clone(), reason: error.to_string() };
        let swept: Swept = swept.await.map_err(lost)??;
        if !dry && !swept.media.is_empty() {
            let (path, gone) = (self.path.clone(), swept.media.clone());
            self.with(move |connection, _| owned::disown(connection, &gone).map_err(lease::failed(&path))).await?;
        }
        Ok(swept)
    }
}

impl Sweep {
    fn remove(
        &self,
        mut listed: Vec<crate::StoredMedium>,
        known: &BTreeSet<String>,
        media: &Media,
        now: SystemTime,
    ) -> Swept {
        let mut total: u64 = listed.iter().map(|file| file.bytes).sum();
        listed.sort_by_key(|file| file.modified);
        let mut swept = Swept::default();
        for file in listed {
            let age = now.duration_since(file.modified).unwrap_or_default();
            let is_old = self.older.is_some_and(|older| age > older);
            let is_over = self.most_bytes.is_some_and(|most| total > most);
            let is_spoken_of = known.contains(&file.path) || self.spoken_of.contains(&file.path);
            if is_spoken_of || age < self.grace || !(is_old || is_over) {
                continue;
            }
            let removed = if self.dry { Ok(true) } else { media.remove(&file.path) };
            match removed {
                Ok(true) => {
                    total = total.saturating_sub(file.bytes);
                    swept.bytes += file.bytes;
                    swept.media.push(file.path);
                }
                Ok(false) => {}
                Err(error) => swept.stuck.push(error.to_string()),
            }
        }
        swept
    }
}
