//! What is damaged is renamed and not lost; what is sound or in use is left alone.

use super::*;

fn entries(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_damaged_journal_is_set_aside_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let journal = Journal::open(&path).unwrap();
    journal.append(&started("one"));
    journal.flush().await.unwrap();
    drop(journal);
    assert_eq!(Journal::set_aside(&path).unwrap(), None, "a sound journal stays");

    for aside in ["runs.db.damaged", "runs.db.damaged-2"] {
        fs::write(&path, "this is no database, and long enough to be looked at as one").unwrap();
        fs::write(folder.path().join("runs.db-wal"), "a log").unwrap();
        assert_eq!(Journal::set_aside(&path).unwrap(), Some(folder.path().join(aside)));
        assert!(fs::read(folder.path().join(aside)).unwrap().starts_with(b"this is no"));
        assert_eq!(fs::read(folder.path().join(format!("{aside}-wal"))).unwrap(), b"a log");
        assert!(Journal::open(&path).unwrap().runs(10).unwrap().is_empty(), "a new one takes its place");
    }
    let others = Connection::open(folder.path().join("other.db")).unwrap();
    others.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 3").unwrap();
    drop(others);
    let refused = Journal::set_aside(&folder.path().join("other.db"));
    assert!(matches!(refused, Err(JournalError::NotAJournal { .. })), "{refused:?}");
    assert!(entries(folder.path()).contains(&"other.db".to_owned()));
}

#[test]
fn a_journal_that_is_open_is_not_set_aside_though_nothing_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let idle = Journal::open(&path).unwrap();
    // Its log alone would do for reading it.
    fs::remove_file(folder.path().join("runs.db-wal")).unwrap();
    fs::write(&path, "this is no database, and long enough to be looked at as one").unwrap();
    let refused = Journal::set_aside(&path).unwrap_err();
    assert!(matches!(refused, JournalError::InUse { .. }), "{refused}");
    assert!(path.exists());
    drop(idle);
    let older = fs::File::create(folder.path().join("runs.db.writers/0123456789abcdef0123456789abcdef")).unwrap();
    older.lock().unwrap();
    fs::write(&path, "this is no database, and long enough to be looked at as one").unwrap();
    assert!(matches!(Journal::set_aside(&path), Err(JournalError::InUse { .. })), "an older version writes");
    drop(older);
    fs::write(&path, "this is no database, and long enough to be looked at as one").unwrap();
    assert!(Journal::set_aside(&path).unwrap().is_some());
}

#[tokio::test]
async fn lock_files_of_the_dead_are_removed_and_of_the_living_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let journal = Journal::open(&path).unwrap();
    journal.append(&started("one"));
    journal.flush().await.unwrap();
    let locks = folder.path().join("runs.db.writers");
    let living = entries(&locks);
    let dead = locks.join("0123456789abcdef0123456789abcdef");
    fs::write(&dead, "").unwrap();
    assert_eq!(Journal::stale_locks(&path).unwrap(), [dead]);
    assert_eq!(Journal::remove_stale_locks(&path).unwrap(), 1);
    assert_eq!((entries(&locks), Journal::stale_locks(&path).unwrap()), (living, vec![]));
}
