//! Logs that were stopped.

use serde_json::json;

use super::*;

fn open(path: &Path, resume: bool) -> Result<LogFile, LogFileError> {
    LogFile::open(path, &json!({"model": "m"}), resume)
}

#[test]
fn a_log_is_gone_on_with_where_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("logs/a.jsonl");
    let mut log = open(&path, false).unwrap();
    log.write(1, &json!({"ID": 1, "status": "succeeded"})).unwrap();
    log.write(2, &json!({"ID": 2, "status": "failed"})).unwrap();
    log.write(3, &json!({"ID": 3})).unwrap();
    drop(log);
    // Torn by a crash.
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .map(|mut file| {
            std::io::Write::write_all(&mut file, br#"{"ID": 4, "sta"#).unwrap();
        })
        .unwrap();

    assert!(matches!(open(&path, false), Err(LogFileError::Exists { questions: 2, .. })));
    let log = LogFile::open(&path, &json!({"model": "n", "mode": "compat"}), true).unwrap();
    assert_eq!(log.done().iter().copied().collect::<Vec<_>>(), [1, 3]);
    assert!(log.notes().iter().any(|note| note.ends_with("mode none → compat, model m → n")), "{:?}", log.notes());
    assert!(matches!(open(&path, true), Err(LogFileError::File(FileError::Locked { .. }))));
    drop(log);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "{\"config\":{\"model\":\"n\",\"mode\":\"compat\"}}\n{\"ID\":1,\"status\":\"succeeded\"}\n{\"ID\":3}\n"
    );
}

#[test]
fn a_log_of_nothing_but_failures_is_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    open(&path, false).unwrap().write(1, &json!({"ID": 1, "status": "failed"})).unwrap();
    assert_eq!(open(&path, false).unwrap().done().len(), 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
}
