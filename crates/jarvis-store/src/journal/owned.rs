//! Whose the files are, where a server has several users: of whoever sent them, and of whoever's run made them.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

/// Makes files a user's own. What others have stays theirs too: the same file may be sent by several.
pub(super) fn own(connection: &mut Connection, user: &str, paths: &[String]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for path in paths {
        transaction
            .prepare_cached("INSERT INTO media (path, user) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![path, user])?;
    }
    transaction.commit()
}

/// Forgets whose files that are gone were.
pub(super) fn disown(connection: &mut Connection, paths: &[String]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for path in paths {
        transaction.prepare_cached("DELETE FROM media WHERE path = ?1")?.execute([path])?;
    }
    transaction.commit()
}

/// Whose a file is.
pub(super) fn owners(connection: &Connection, path: &str) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare_cached("SELECT user FROM media WHERE path = ?1")?.query_map([path], |row| row.get(0))?.collect()
}

/// The first of these display paths that is not this user's.
pub(super) fn first_foreign(connection: &Connection, user: &str, paths: &[String]) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT 1 FROM media WHERE path = ?1 AND user = ?2")?;
    for path in paths {
        if !statement.exists(params![path, user])? {
            return Ok(Some(path.clone()));
        }
    }
    Ok(None)
}

/// The display paths that stand in a text, such as an event.
pub fn named(text: &str) -> impl Iterator<Item = &str> {
    let folders = ["/images/", "/audios/", "/videos/", "/tables/", "/files/"];
    folders.into_iter().flat_map(move |folder| {
        text.match_indices(folder).filter_map(move |(at, _)| {
            let rest = text.get(at..)?;
            let name = rest.get(folder.len()..)?;
            let end =
                name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))).unwrap_or(name.len());
            (end > 0).then(|| rest.get(..folder.len() + end)).flatten()
        })
    })
}
