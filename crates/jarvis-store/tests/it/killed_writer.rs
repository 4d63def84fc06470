//! A process killed while it writes loses nothing that was confirmed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use jarvis_plan::{Event, EventKind, Level, Request, RunId};
use jarvis_store::{Journal, RunStatus};

const JOURNAL: &str = "JARVIS_TEST_KILLED_WRITER_JOURNAL";

fn event(seq: u64) -> Event {
    let kind = match seq {
        0 => EventKind::RunStarted {
            request: Request::new("write until killed"),
            planner: "offline".to_owned(),
            model: "offline".to_owned(),
            pipeline: String::new(),
            door: String::new(),
            user: String::new(),
            settings: Default::default(),
            given: None,
        },
        _ => EventKind::Note { level: Level::Info, message: format!("note {seq}") },
    };
    Event { run_id: RunId("the-run".to_owned()), seq, piece: 0, at_ms: seq, kind }
}

/// Not a test of its own: the process that the test below starts and kills.
#[test]
fn child_writes_for_ever() {
    let Some(path) = std::env::var_os(JOURNAL) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let journal = Journal::open(Path::new(&path)).unwrap();
    let mut stdout = std::io::stdout();
    for seq in 0.. {
        journal.append(&event(seq));
        runtime.block_on(journal.flush()).unwrap();
        // If nobody listens any longer, nobody will kill it either.
        if write!(stdout, "\nconfirmed {seq}\n").and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn what_was_confirmed_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_writer::child_writes_for_ever", "--nocapture"])
        .env(JOURNAL, &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut confirmed = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .filter_map(|line| line.unwrap().strip_prefix("confirmed ").map(|seq| seq.parse::<usize>().unwrap()));

    // While it writes, others read.
    assert_eq!(confirmed.by_ref().find(|seq| *seq == 40), Some(40));
    let journal = Journal::open(&path).unwrap();
    let record = journal.run("the").unwrap();
    assert!(record.events.len() > 40);
    assert_eq!(record.summary.status, RunStatus::Running);
    drop(journal);

    child.kill().unwrap();
    let last = confirmed.last().unwrap_or(40);
    child.wait().unwrap();

    let journal = Journal::open(&path).unwrap();
    journal.check().unwrap();
    let record = journal.run("the-run").unwrap();
    assert_eq!(record.summary.status, RunStatus::Interrupted);
    assert!(record.events.len() > last, "event {last} was confirmed; {} are there", record.events.len());
    for (seq, got) in record.events.iter().enumerate() {
        assert_eq!(*got, event(seq as u64).to_value());
    }
}
