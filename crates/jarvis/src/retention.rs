//! Logs that have been kept for long enough: request logs, prompts of decisions, and the trace of the agent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jarvis_hugginggpt::RequestLogs;

/// A number of days.
pub(crate) fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 24 * 60 * 60)
}

/// A number of megabytes, in bytes.
pub(crate) fn megabytes(mb: u64) -> u64 {
    mb.saturating_mul(1_000_000)
}

/// The logs of a configuration.
pub(crate) struct Logs<'l> {
    pub(crate) requests: Option<&'l RequestLogs>,
    /// The folder of prompts, a file each.
    pub(crate) prompts: PathBuf,
    pub(crate) trace: Option<PathBuf>,
}

impl Logs<'_> {
    /// Removes what was written longer ago than this, and the oldest of what is beyond so many bytes of each.
    pub(crate) fn prune(&self, older: Option<Duration>, most: Option<u64>) -> io::Result<()> {
        let cutoff = older.and_then(|older| SystemTime::now().checked_sub(older));
        if let Some(logs) = self.requests {
            if let Some(cutoff) = cutoff.and_then(|cutoff| cutoff.duration_since(UNIX_EPOCH).ok()) {
                logs.remove(|line| line.time < cutoff.as_secs_f64())?;
            }
            if let Some(most) = most {
                logs.trim(most)?;
            }
        }
        prune_files(&self.prompts, cutoff, most)?;
        self.trace.as_deref().map_or(Ok(()), |trace| prune_trace(trace, cutoff, most))
    }
}

/// Removes the files of a folder that are too old, and the oldest beyond so many bytes.
fn prune_files(folder: &Path, cutoff: Option<SystemTime>, most: Option<u64>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            files.push((metadata.modified()?, metadata.len(), entry.path()));
        }
    }
    files.sort();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (modified, bytes, path) in files {
        if cutoff.is_some_and(|cutoff| modified < cutoff) || most.is_some_and(|most| total > most) {
            fs::remove_file(path)?;
            total = total.saturating_sub(bytes);
        }
    }
    Ok(())
}

/// Empties a trace that nobody has written to since then, and leaves the last lines of one that is too long. It is changed in its place:
/// whoever writes appends to it.
fn prune_trace(path: &Path, cutoff: Option<SystemTime>, most: Option<u64>) -> io::Result<()> {
    let mut file: File = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if cutoff.is_some_and(|cutoff| metadata.modified().is_ok_and(|modified| modified < cutoff)) {
        return file.set_len(0);
    }
    let Some(over) = most.and_then(|most| metadata.len().checked_sub(most)).filter(|over| *over > 0) else {
        return Ok(());
    };
    file.seek(SeekFrom::Start(over))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    let whole = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(rest.get(whole..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_go_by_age_and_by_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |days_ago: u32| SystemTime::now() - days(days_ago);
        let write = |name: &str, bytes: &str, days_ago: u32| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, bytes).expect("written");
            File::options().write(true).open(&path).expect("open").set_modified(at(days_ago)).expect("set");
            path
        };
        let logs = RequestLogs::open(&folder.path().join("logs")).expect("logs");
        let seconds = |days_ago| at(days_ago).duration_since(UNIX_EPOCH).expect("after").as_secs_f64();
        let line = |id: &str, days_ago: u32| format!("{{\"time\":{},\"request_id\":\"{id}\"}}\n", seconds(days_ago));
        let log = folder.path().join("logs/log_success.jsonl");
        fs::write(&log, line("old", 9) + &line("new", 1)).expect("written");
        fs::write(log.with_extension("jsonl.1"), line("older", 20)).expect("written");
        let prompts = [("p/a", 9), ("p/b", 2), ("p/c", 1)].map(|(name, days)| write(name, "12345", days));
        let trace = write("trace", "first\nsecond\nthird\n", 1);
        let kept = Logs { requests: Some(&logs), prompts: folder.path().join("p"), trace: Some(trace.clone()) };
        let there = || prompts.each_ref().map(|path| path.exists());
        let text = |path: &Path| fs::read_to_string(path).expect("it is there");
        kept.prune(Some(days(7)), None).expect("it works");
        assert!(text(&log).contains("new") && !text(&log).contains("old"), "{}", text(&log));
        assert_eq!(text(&log.with_extension("jsonl.1")), "");
        assert_eq!((there(), text(&trace).lines().count()), ([false, true, true], 3));
        kept.prune(None, Some(9)).expect("it works");
        assert_eq!((there(), text(&trace)), ([false, false, true], "third\n".to_owned()));
        assert_eq!(text(&log), "");
        // What is written after that is there.
        logs.success(&jarvis_plan::RunId("r".into()), "x", serde_json::json!({}));
        assert!(text(&log).contains("\"r\""));
        kept.prune(Some(Duration::ZERO), None).expect("it works");
        assert_eq!((there(), text(&trace)), ([false; 3], String::new()));
    }
}
