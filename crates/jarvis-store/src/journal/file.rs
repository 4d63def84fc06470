//! The database file: looked at without being touched, then opened, made or refused.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::JournalError;
use super::schema::{self, VERSION};

/// `application_id` of the files written here: "jrvs".
const APPLICATION: i64 = 0x6a72_7673;
/// Files up to this size are checked whole when opened, which takes a few milliseconds at most; larger ones when there
/// is reason to doubt them, which takes about a second for each gigabyte.
const CHECKED_WHEN_OPENED: u64 = 8 << 20;
/// How long to wait for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(10);

/// When what is written counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// When it is on the disk: a power cut loses nothing that was confirmed.
    #[default]
    Full,
    /// When the system has it: a killed process loses nothing, a power cut may lose the last moments. Never torn.
    Normal,
}

/// Opens the file to write. Nothing is written before all that can be refused has been. The caller sees to it that no
/// other process opens the file at the same moment, and says whether a process died while it was writing.
pub(super) fn open(path: &Path, writer_died: bool, synchronous: Synchronous) -> Result<Connection, JournalError> {
    let empty = match fs::metadata(path) {
        Ok(metadata) => metadata.len() == 0,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(path).map_err(|source| JournalError::io("make", path, source))?;
            true
        }
        Err(source) => return Err(JournalError::io("look at", path, source)),
    };
    // What a living or killed process wrote last may be in the log alone.
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let logged = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    if !empty || logged {
        examine(path, logged, writer_died)?;
    }
    let failed = |source| JournalError::sqlite("open", path, source);
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    let level = match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level).map_err(failed)?;
    // What a person has removed is to be gone.
    connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
    let found = version(&connection).map_err(failed)?;
    if found < VERSION {
        schema::bring_up(&mut connection, found, APPLICATION).map_err(failed)?;
    }
    Ok(connection)
}

pub(super) fn open_to_read(path: &Path) -> Result<Connection, JournalError> {
    let failed = |source| JournalError::sqlite("open", path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    Ok(connection)
}

/// Says what SQLite finds wrong with the file.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|source| JournalError::sqlite("check", path, source))?;
    if found == "ok" { Ok(()) } else { Err(JournalError::Corrupt { path: path.to_owned(), reason: found }) }
}

/// An empty file that only its owner can read: requests are private. SQLite gives its companions the same rights.
fn make(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Refuses damaged, foreign and newer files. A connection that can only read never writes a log back on closing.
fn examine(path: &Path, logged: bool, writer_died: bool) -> Result<(), JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = open_to_read(path)?;
    let version = version(&connection).map_err(failed)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    // Made and never filled: a process ended between the two.
    if (version, application, tables) == (0, 0, 0) {
        return Ok(());
    }
    if application != APPLICATION {
        return Err(JournalError::NotAJournal { path: path.to_owned() });
    }
    if version > VERSION {
        return Err(JournalError::TooNew { path: path.to_owned(), found: version, known: VERSION });
    }
    let size = fs::metadata(path).map_err(|source| JournalError::io("look at", path, source))?.len();
    let page: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
    // SQLite takes the missing end of the last page for zeros. With a log, it is written again from there.
    if !logged && !size.is_multiple_of(u64::from(page)) {
        let reason = format!("its end is cut off: {size} bytes are no whole number of pages of {page}");
        return Err(JournalError::Corrupt { path: path.to_owned(), reason });
    }
    // The header counts the pages. SQLite writes the log back when the last connection closes, so a file that is shorter
    // and has no log was torn.
    let header = header_pages(path).map_err(|source| JournalError::io("look at", path, source))?;
    if !logged && header > size / u64::from(page) {
        let reason = format!("its end is cut off: {size} bytes do not hold its {header} pages of {page}");
        return Err(JournalError::Corrupt { path: path.to_owned(), reason });
    }
    if size <= CHECKED_WHEN_OPENED || writer_died {
        check(&connection, path)?;
    }
    Ok(())
}

/// How many pages the file says it has: bytes 28 to 31 of its header, see the SQLite file format.
fn header_pages(path: &Path) -> io::Result<u64> {
    let mut header = [0; 32];
    fs::File::open(path)?.read_exact(&mut header)?;
    let [.., a, b, c, d] = header;
    Ok(u64::from(u32::from_be_bytes([a, b, c, d])))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
