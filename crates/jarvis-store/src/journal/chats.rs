//! The conversations of a page, each user's own. What is in one is the page's business; here it is JSON.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::Value;

use super::owned::named;
use super::read::contains;
use super::{Journal, JournalError, file, lease, mentions};

/// A chat in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSummary {
    pub id: String,
    pub title: String,
    /// When it was last written, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
    /// How often it was written.
    pub version: u64,
}

/// A chat with what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub summary: ChatSummary,
    /// JSON.
    pub body: String,
}

/// Which chats are listed, of one user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatFilter {
    /// Whose.
    pub user: String,
    /// Those that have this text in their title or in a text of their body, whatever the case of its letters.
    pub text: Option<String>,
    /// Those that come after this one in the list: when it was written, and its id.
    pub after: Option<(u64, String)>,
}

/// What came of writing a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatWrite {
    /// It has this version now.
    Written(u64),
    /// Somebody else wrote it since: it has this version, 0 when it is not there.
    Changed(u64),
    /// The user has as many as there may be.
    Full,
}

impl Journal {
    /// The latest chats of a user. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn chats(&self, filter: &ChatFilter, limit: usize) -> Result<Vec<ChatSummary>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        list(&file::open_to_read(&self.path)?, filter, limit).map_err(failed)
    }

    /// A chat of a user. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn chat(&self, user: &str, id: &str) -> Result<Option<Chat>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let sql = "SELECT id, title, updated_at_ms, version, body FROM chats WHERE user = ?1 AND id = ?2";
        let found = file::open_to_read(&self.path)?
            .query_row(sql, [user, id], |row| Ok(Chat { summary: summary(row)?, body: row.get(4)? }));
        found.optional().map_err(failed)
    }

    /// Writes a chat, where nobody did since the version that it is made of: 0 for a new one. A user may have at most `most`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn put_chat(&self, user: &str, chat: Chat, most: u64) -> Result<ChatWrite, JournalError> {
        let (path, user) = (self.path.clone(), user.to_owned());
        self.with(move |connection, _| put(connection, &user, &chat, most).map_err(lease::failed(&path))).await
    }

    /// Removes a chat of a user; false when there is none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn delete_chat(&self, user: &str, id: &str) -> Result<bool, JournalError> {
        let (path, user, id) = (self.path.clone(), user.to_owned(), id.to_owned());
        self.with(move |connection, _| delete(connection, &user, &id).map_err(lease::failed(&path))).await
    }
}

fn summary(row: &rusqlite::Row<'_>) -> rusqlite::Result<ChatSummary> {
    Ok(ChatSummary {
        id: row.get(0)?,
        title: row.get(1)?,
        updated_at_ms: row.get::<_, i64>(2)?.unsigned_abs(),
        version: row.get::<_, i64>(3)?.unsigned_abs(),
    })
}

fn list(connection: &Connection, filter: &ChatFilter, limit: usize) -> rusqlite::Result<Vec<ChatSummary>> {
    let (at, id) = filter.after.clone().unzip();
    let after = if at.is_some() { "(updated_at_ms, id) < (?2, ?3)" } else { "?2 IS NULL AND ?3 IS NULL" };
    // What is not looked into is not read.
    let body = if filter.text.is_some() { "body" } else { "''" };
    let sql = format!(
        "SELECT id, title, updated_at_ms, version, {body} FROM chats WHERE user = ?1 AND {after}
         ORDER BY updated_at_ms DESC, id DESC"
    );
    let mut statement = connection.prepare(&sql)?;
    let at = at.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    let mut rows = statement.query(params![filter.user, at, id])?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let chat = summary(row)?;
        let fits = match &filter.text {
            None => true,
            Some(text) => contains(&chat.title, text) || says(&row.get::<_, String>(4)?, text),
        };
        found.extend(fits.then_some(chat));
    }
    Ok(found)
}

/// Whether a text of a JSON document holds this text.
fn says(body: &str, text: &str) -> bool {
    fn in_value(value: &Value, text: &str) -> bool {
        match value {
            Value::String(said) => contains(said, text),
            Value::Array(values) => values.iter().any(|value| in_value(value, text)),
            Value::Object(fields) => fields.values().any(|value| in_value(value, text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    serde_json::from_str(body).is_ok_and(|body| in_value(&body, text))
}

/// How a chat is called among what speaks of media; no run has such an id.
fn holder(user: &str, id: &str) -> String {
    format!("chat {user} {id}")
}

fn put(connection: &mut Connection, user: &str, chat: &Chat, most: u64) -> rusqlite::Result<ChatWrite> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Chat { summary: ChatSummary { id, title, updated_at_ms, version }, body } = chat;
    let found: Option<i64> = transaction
        .query_row("SELECT version FROM chats WHERE user = ?1 AND id = ?2", [user, id], |row| row.get(0))
        .optional()?;
    let found = found.map_or(0, i64::unsigned_abs);
    if found != *version {
        return Ok(ChatWrite::Changed(found));
    }
    if found == 0 {
        let has: i64 = transaction.query_row("SELECT count(*) FROM chats WHERE user = ?1", [user], |row| row.get(0))?;
        if has.unsigned_abs() >= most {
            return Ok(ChatWrite::Full);
        }
    }
    let (new, at) = (found + 1, i64::try_from(*updated_at_ms).unwrap_or(i64::MAX));
    transaction.execute(
        "INSERT INTO chats (user, id, title, body, version, updated_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (user, id) DO UPDATE SET title = ?3, body = ?4, version = ?5, updated_at_ms = ?6",
        params![user, id, title, body, new as i64, at],
    )?;
    let holder = holder(user, id);
    mentions::forget(&transaction, &holder)?;
    mentions::note(&transaction, &holder, named(body))?;
    transaction.commit()?;
    Ok(ChatWrite::Written(new))
}

fn delete(connection: &mut Connection, user: &str, id: &str) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let gone = transaction.execute("DELETE FROM chats WHERE user = ?1 AND id = ?2", [user, id])?;
    mentions::forget(&transaction, &holder(user, id))?;
    transaction.commit()?;
    Ok(gone > 0)
}

pub(super) fn clear(connection: &mut Connection, user: Option<&str>) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let whose = if user.is_some() { "user = ?1" } else { "?1 IS NULL" };
    let chats = transaction
        .prepare(&format!("SELECT user, id FROM chats WHERE {whose}"))?
        .query_map(params![user], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    for (user, id) in &chats {
        transaction.prepare_cached("DELETE FROM chats WHERE user = ?1 AND id = ?2")?.execute([user, id])?;
        mentions::forget(&transaction, &holder(user, id))?;
    }
    transaction.commit()?;
    Ok(chats.len() as u64)
}
