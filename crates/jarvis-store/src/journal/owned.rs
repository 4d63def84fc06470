//! Whose the files are: of several users of a server, whoever took one in or had it made.

use rusqlite::{Connection, OptionalExtension, params};

/// Makes files a user's own, but for those that somebody has: a name is random, so whoever has one had it first.
pub(super) fn own(connection: &mut Connection, user: &str, paths: &[String]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for path in paths {
        transaction
            .prepare_cached("INSERT INTO media (path, user) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![path, user])?;
    }
    transaction.commit()
}

/// The first of the display paths that is not this user's.
pub(super) fn first_foreign(connection: &Connection, user: &str, paths: &[String]) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT user FROM media WHERE path = ?1")?;
    for path in paths {
        let whose: Option<String> = statement.query_row([path], |row| row.get(0)).optional()?;
        if whose.as_deref() != Some(user) {
            return Ok(Some(path.clone()));
        }
    }
    Ok(None)
}

/// The display paths that stand in a text, such as an event or the arguments of a task.
pub fn named(body: &str) -> impl Iterator<Item = &str> {
    let folders = ["/images/", "/audios/", "/videos/", "/tables/"];
    folders.into_iter().flat_map(move |folder| {
        body.match_indices(folder).filter_map(move |(at, _)| {
            let rest = body.get(at..)?;
            let name = rest.get(folder.len()..)?;
            let end =
                name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))).unwrap_or(name.len());
            (end > 0).then(|| rest.get(..folder.len() + end)).flatten()
        })
    })
}
