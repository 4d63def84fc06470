//! Files that were sent to be named in later requests, each its user's own. What is known of one is JSON here.

use rusqlite::{Connection, OptionalExtension, params};

use super::owned::named;
use super::{Journal, JournalError, file, lease, mentions};

impl Journal {
    /// Keeps what is known of a file.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub async fn put_file(&self, user: &str, id: &str, created_at_ms: u64, body: String) -> Result<(), JournalError> {
        let (path, user, id) = (self.path.clone(), user.to_owned(), id.to_owned());
        let at = i64::try_from(created_at_ms).unwrap_or(i64::MAX);
        let put = move |connection: &Connection| {
            let sql = "INSERT OR REPLACE INTO files (id, user, created_at_ms, body) VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, params![id, user, at, body])?;
            mentions::note(connection, &id, named(&body))
        };
        self.with(move |connection, _| put(connection).map_err(lease::failed(&path))).await
    }

    /// What is known of a file, with whose it is. Blocks.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn file(&self, id: &str) -> Result<Option<(String, String)>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let found =
            file::open_to_read(&self.path)?
                .query_row("SELECT user, body FROM files WHERE id = ?1", [id], |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().map_err(failed)
    }

    /// What is known of the files of a user, the latest first. Blocks.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn files_of(&self, user: &str, most: u32) -> Result<Vec<String>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let connection = file::open_to_read(&self.path)?;
        let sql = "SELECT body FROM files WHERE user = ?1 ORDER BY created_at_ms DESC, id DESC LIMIT ?2";
        let mut statement = connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map(params![user, most], |row| row.get(0)).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Forgets the files of a user, or of all; what they hold is spoken of by nothing then.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub async fn clear_files(&self, user: Option<&str>) -> Result<(), JournalError> {
        let (path, user) = (self.path.clone(), user.map(str::to_owned));
        let clear = move |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let sql = "DELETE FROM mentions WHERE holder IN (SELECT id FROM files WHERE ?1 IS NULL OR user = ?1)";
            transaction.execute(sql, [&user])?;
            transaction.execute("DELETE FROM files WHERE ?1 IS NULL OR user = ?1", [&user])?;
            transaction.commit()
        };
        self.with(move |connection, _| clear(connection).map_err(lease::failed(&path))).await
    }

    /// Forgets a file: whether nothing else speaks of the path that it had.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub async fn remove_file(&self, id: &str, path_of: &str) -> Result<bool, JournalError> {
        let (path, id, path_of) = (self.path.clone(), id.to_owned(), path_of.to_owned());
        let remove = move |connection: &Connection| {
            connection.execute("DELETE FROM files WHERE id = ?1", [&id])?;
            mentions::forget(connection, &id)?;
            Ok(!mentions::is_spoken_of(connection, &path_of)?)
        };
        self.with(move |connection, _| remove(connection).map_err(lease::failed(&path))).await
    }
}
