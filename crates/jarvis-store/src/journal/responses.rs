//! What was asked of a run by the responses protocol, as that protocol tells it again. It is kept beside its run and goes with it.

use jarvis_plan::RunId;
use rusqlite::{OptionalExtension, params};

use super::owned::named;
use super::{Journal, JournalError, file, lease, mentions};

impl Journal {
    /// Keeps what was asked of a run for its user, as JSON.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn put_response(&self, run: &RunId, user: &str, body: String) -> Result<(), JournalError> {
        let (path, run, user) = (self.path.clone(), run.0.clone(), user.to_owned());
        let put = move |connection: &rusqlite::Connection| {
            connection.execute(
                "INSERT OR REPLACE INTO responses (run_id, user, body) VALUES (?1, ?2, ?3)",
                params![run, user, body],
            )?;
            // The files in it stay as long as the run does.
            mentions::note(connection, &run, named(&body))
        };
        self.with(move |connection, _| put(connection).map_err(lease::failed(&path))).await
    }

    /// What was asked of a run, with whose it is. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn response(&self, run: &str) -> Result<Option<(String, String)>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let sql = "SELECT user, body FROM responses WHERE run_id = ?1";
        let found = file::open_to_read(&self.path)?.query_row(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().map_err(failed)
    }

    /// Forgets what was asked of a run: false where nothing was kept.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn remove_response(&self, run: &RunId) -> Result<bool, JournalError> {
        let (path, run) = (self.path.clone(), run.0.clone());
        self.with(move |connection, _| {
            let removed = connection.execute("DELETE FROM responses WHERE run_id = ?1", [run]);
            removed.map(|rows| rows > 0).map_err(lease::failed(&path))
        })
        .await
    }
}
