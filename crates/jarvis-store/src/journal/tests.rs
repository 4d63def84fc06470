//! What is written is read, and what is not ours is left alone.

use std::fs;

use super::*;
use jarvis_plan::{
    Draft, DraftTask, Event, EventKind, Kind, Level, Outcome, Request, Resource, RunId, Source, Status, TaskId, Turn,
    Usage, Vocabulary, check,
};
use rusqlite::Connection;

mod changed;
mod chats;
mod experience;
mod leases;
mod lists;
mod orphans;
mod repair;
mod users;

fn event(run: &str, seq: u64, kind: EventKind) -> Event {
    Event { run_id: RunId(run.to_owned()), seq, piece: 0, at_ms: 1_000 + seq * 10, kind }
}

fn note(run: &str, seq: u64) -> Event {
    event(run, seq, EventKind::Note { level: Level::Info, message: format!("note {seq} of {run}: ключ 🗝") })
}

fn started(run: &str) -> Event {
    let request = Request::new(format!("request of {run}"));
    event(
        run,
        0,
        EventKind::RunStarted {
            request,
            planner: "offline".into(),
            model: "offline".into(),
            pipeline: "hugginggpt".into(),
            door: "command line".into(),
            user: String::new(),
            settings: Default::default(),
            given: None,
        },
    )
}

fn planned(run: &str, seq: u64, tasks: u32) -> Event {
    let draft = Draft { tasks: (0..i64::from(tasks)).map(|id| DraftTask::new(id, "x")).collect(), ..Draft::default() };
    let plan = check(&draft, &Vocabulary::named(["x"]), Default::default());
    event(run, seq, EventKind::Plan { plan })
}

fn finished(run: &str, seq: u64, status: Status) -> Event {
    let outcome = Outcome {
        made_up_for: false,
        id: TaskId(0),
        task: "x".to_owned(),
        status,
        args: Default::default(),
        selection: None,
        attempts: Vec::new(),
        output: None,
        error: None,
        notes: Vec::new(),
        ms: 1,
    };
    event(run, seq, EventKind::TaskFinished { outcome: Box::new(outcome) })
}

fn done(run: &str, seq: u64, ok: bool) -> Event {
    event(run, seq, EventKind::Done { ok, cancelled: false, usage: Usage::default(), ms: 77 })
}

fn error(run: &str, seq: u64) -> Event {
    event(run, seq, EventKind::Error { code: "unavailable".into(), message: "no model".into(), hint: None, ms: 5 })
}

struct Shelf {
    folder: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Shelf {
        Shelf { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data").join("journal.db")
    }

    fn open(&self) -> Journal {
        Journal::open(&self.path()).unwrap()
    }

    fn write(&self, events: &[Event]) {
        let journal = self.open();
        events.iter().for_each(|event| journal.append(event));
    }
}

#[test]
fn events_come_back_as_they_were_after_reopening() {
    let shelf = Shelf::new();
    let events: Vec<Event> = std::iter::once(started("a")).chain((1..3000).map(|seq| note("a", seq))).collect();
    shelf.write(&events);
    let record = shelf.open().run("a").unwrap();
    assert_eq!(record.events, events.iter().map(Event::to_value).collect::<Vec<_>>());
    assert_eq!(record.summary.request, "request of a");
}

#[tokio::test]
async fn what_a_flush_confirmed_is_there_for_others() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    let other = shelf.open();
    for seq in 0..20 {
        journal.append(&note("a", seq));
        journal.flush().await.unwrap();
        assert_eq!(other.run("a").unwrap().events.len() as u64, seq + 1);
    }
    // Two processes may write; here, two connections.
    other.append(&note("b", 0));
    other.flush().await.unwrap();
    assert_eq!(journal.runs(10).unwrap().len(), 2);
}

#[test]
fn an_event_is_counted_once() {
    let shelf = Shelf::new();
    let events = [started("a"), finished("a", 1, Status::Succeeded)];
    shelf.write(&events);
    shelf.write(&events);
    let record = shelf.open().run("a").unwrap();
    assert_eq!((record.events.len(), record.summary.ok, record.summary.tasks), (2, 1, 1));
}

#[test]
fn summaries_follow_from_the_events() {
    use RunStatus::{Done, Failed, Interrupted};
    use Status::{Cancelled, Skipped, Succeeded};
    for (name, events, status, counts, ms) in [
        ("begun", vec![started("r")], Interrupted, (0, 0, 0), 0),
        ("planned", vec![started("r"), planned("r", 1, 3)], Interrupted, (3, 0, 0), 10),
        (
            "cut off",
            vec![started("r"), planned("r", 1, 3), finished("r", 2, Succeeded), note("r", 9)],
            Interrupted,
            (3, 1, 0),
            90,
        ),
        (
            "ended",
            vec![
                started("r"),
                planned("r", 1, 3),
                finished("r", 2, Succeeded),
                finished("r", 3, Status::Failed),
                finished("r", 4, Skipped),
                done("r", 5, true),
            ],
            Done,
            (3, 1, 2),
            77,
        ),
        ("for nothing", vec![started("r"), finished("r", 1, Cancelled), done("r", 2, false)], Failed, (1, 0, 1), 77),
        ("broken off", vec![started("r"), error("r", 1)], Failed, (0, 0, 0), 5),
        (
            "grown",
            vec![started("r"), finished("r", 1, Succeeded), finished("r", 2, Succeeded)],
            Interrupted,
            (2, 2, 0),
            20,
        ),
        ("headless", vec![note("r", 3)], Interrupted, (0, 0, 0), 0),
    ] {
        let shelf = Shelf::new();
        shelf.write(&events);
        let got = shelf.open().runs(10).unwrap().remove(0);
        assert_eq!((got.status, (got.tasks, got.ok, got.failed), got.ms), (status, counts, ms), "{name}");
        assert_eq!(shelf.open().run("r").unwrap().summary, got, "{name}");
    }
}

#[tokio::test]
async fn a_run_is_running_while_its_writer_lives() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    journal.append(&started("a"));
    journal.flush().await.unwrap();
    assert_eq!(shelf.open().runs(1).unwrap()[0].status, RunStatus::Running);
    drop(journal);
    assert_eq!(shelf.open().runs(1).unwrap()[0].status, RunStatus::Interrupted);
}

#[test]
fn a_journal_of_the_first_version_is_taken_over_with_its_runs() {
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.path().parent().unwrap()).unwrap();
    let connection = Connection::open(shelf.path()).unwrap();
    connection.execute_batch(include_str!("version_1.sql")).unwrap();
    drop(connection);
    let journal = shelf.open();
    let runs = journal.runs(9).unwrap();
    let told: Vec<(&str, RunStatus)> = runs.iter().map(|run| (run.request.as_str(), run.status)).collect();
    let want =
        [("see", RunStatus::Cancelled), ("cut off", RunStatus::Interrupted), ("find the edges", RunStatus::Done)];
    assert_eq!(told, want);
    let connection = Connection::open(shelf.path()).unwrap();
    let told = |sql: &str| -> String { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(
        told(
            "SELECT group_concat(how || '/' || (bytes = (SELECT sum(octet_length(body)) FROM events AS e
        WHERE e.run_id = runs.run_id)), ' ') FROM runs"
        ),
        "/1 /1 cancelled/1"
    );
    assert_eq!(told("SELECT group_concat(path || ' ' || holder) FROM mentions"), "/images/a.png 0190-ac");
    // Nobody goes on by itself with what an older version began.
    assert_eq!(journal.due("server").unwrap(), Due::default());
    drop(journal);
    shelf.write(&[started("new")]);
    assert_eq!(shelf.open().runs(9).unwrap().len(), 4);
}

#[tokio::test]
async fn ended_runs_are_removed_by_age_and_size_with_the_files_that_are_theirs_alone() {
    let shelf = Shelf::new();
    let root = tempfile::tempdir().unwrap();
    let media = Arc::new(crate::Media::open(root.path()).unwrap());
    let made = |name: &str| media.keep(Kind::Image, name, "png", name.as_bytes()).unwrap();
    let (own, shared) = (made("own"), made("shared"));
    let of = |run: &str, at_ms: u64, files: &[&String]| {
        let said = files.iter().map(|file| format!("made {file}")).collect::<Vec<_>>().join(", ");
        let note = EventKind::Note { level: Level::Info, message: said };
        [started(run), event(run, 1, note), done(run, 2, true)].map(|event| Event { at_ms, ..event })
    };
    shelf.write(&of("old", 1_000, &[&own, &shared]));
    shelf.write(&of("new", 5_000, &[&shared]));
    shelf.write(&[Event { at_ms: 500, ..started("cut-off") }]);
    let journal = shelf.open();
    let old = Prune { before_ms: Some(2_000), ..Prune::default() };
    let told = journal.prune(Prune { dry: true, ..old.clone() }, Arc::clone(&media)).await.unwrap();
    assert_eq!((told.runs, &told.media), (1, &vec![own.clone()]));
    assert_eq!(journal.runs(9).unwrap().len(), 3, "it was only said");
    let told = journal.prune(old, Arc::clone(&media)).await.unwrap();
    assert_eq!((told.runs, &told.media), (1, &vec![own.clone()]));
    assert!(media.read(&own, 99).is_err() && media.read(&shared, 99).is_ok());
    let left = |journal: &Journal| journal.runs(9).unwrap().into_iter().map(|run| run.run_id.0).collect::<Vec<_>>();
    assert_eq!(left(&journal), ["new", "cut-off"], "what has not ended stays");
    let told = journal.prune(Prune { most_bytes: Some(10), ..Prune::default() }, Arc::clone(&media)).await.unwrap();
    assert_eq!((told.runs, &told.media), (1, &vec![shared]));
    assert_eq!(left(&journal), ["cut-off"]);
}

#[test]
fn runs_are_listed_newest_first_and_found_by_the_start_of_their_id() {
    let shelf = Shelf::new();
    for (run, at_ms) in [("0190-aa", 3), ("0190-ab", 1), ("0191-%_", 2)] {
        shelf.write(&[Event { at_ms, ..started(run) }]);
    }
    let journal = shelf.open();
    let listed: Vec<String> = journal.runs(2).unwrap().into_iter().map(|run| run.run_id.0).collect();
    assert_eq!(listed, ["0190-aa", "0191-%_"]);
    for (id, want) in [
        ("0190-aa", "0190-aa"),
        ("0191", "0191-%_"),
        ("0190-ab", "0190-ab"),
        ("0190", "several runs have ids that start with `0190`: 0190-ab, 0190-aa"),
        ("%", "no run has the id `%`"),
        ("0190-a_", "no run has the id `0190-a_`"),
        ("0190-aaa", "no run has the id `0190-aaa`"),
    ] {
        let got = match journal.run(id) {
            Ok(record) => record.summary.run_id.0,
            Err(error) => {
                assert!(error.hint().is_some());
                error.to_string()
            }
        };
        assert_eq!(got, want, "{id}");
    }
    assert!(journal.run("").is_err());
}

#[test]
fn damaged_foreign_and_newer_files_are_refused_and_left_as_they_are() {
    let shelf = Shelf::new();
    let events: Vec<Event> = (0..500).map(|seq| note("a", seq)).collect();
    shelf.write(&events);
    let good = fs::read(shelf.path()).unwrap();
    assert!(good.len() > 20_000, "the journal was written back to its file on closing");
    let foreign = |sql: &str| {
        let path = shelf.folder.path().join("foreign.db");
        let _ = fs::remove_file(&path);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        fs::read(path).unwrap()
    };
    let mut garbled_header = good.clone();
    garbled_header[..16].copy_from_slice(b"not a database!!");
    let mut garbled_page = good.clone();
    garbled_page[8192..12000].fill(0xa5);
    let newer = {
        let path = shelf.folder.path().join("newer.db");
        fs::write(&path, &good).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        fs::read(path).unwrap()
    };
    for (name, bytes, want) in [
        ("half", good[..good.len() / 2].to_vec(), "is damaged"),
        ("not whole pages", good[..good.len() - 100].to_vec(), "is damaged"),
        ("a page and a bit", good[..5000].to_vec(), "is damaged"),
        ("a few bytes", good[..40].to_vec(), "is damaged"),
        ("garbled header", garbled_header, "is damaged"),
        ("garbled page", garbled_page, "is damaged"),
        ("text", b"dear diary, this is no database at all, but it is long enough".repeat(40), "is damaged"),
        ("foreign", foreign("CREATE TABLE recipes (name TEXT)"), "not a journal of jarvis"),
        ("foreign with a version", foreign("PRAGMA user_version = 1; CREATE TABLE t (x)"), "not a journal of jarvis"),
        ("newer", newer, "has version 99; this program knows versions up to 5"),
    ] {
        let shelf = Shelf::new();
        fs::create_dir_all(shelf.path().parent().unwrap()).unwrap();
        fs::write(shelf.path(), &bytes).unwrap();
        let error = Journal::open(&shelf.path()).expect_err(name);
        assert!(error.to_string().contains(want), "{name}: {error}");
        assert!(error.to_string().contains("journal.db"), "{name}: {error}");
        assert!(error.hint().is_some(), "{name}: {error}");
        assert!(fs::read(shelf.path()).unwrap() == bytes, "{name}: the file was changed");
    }
}

#[test]
fn an_empty_file_is_a_journal_to_be() {
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.path().parent().unwrap()).unwrap();
    fs::write(shelf.path(), b"").unwrap();
    assert_eq!(shelf.open().runs(10).unwrap(), []);
}

#[test]
fn a_folder_in_the_way_is_told() {
    let shelf = Shelf::new();
    fs::create_dir_all(shelf.path()).unwrap();
    let error = Journal::open(&shelf.path()).unwrap_err().to_string();
    assert!(error.contains("cannot open the journal"), "{error}");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;

    let shelf = Shelf::new();
    let journal = shelf.open();
    for name in ["journal.db", "journal.db-wal"] {
        let mode = fs::metadata(shelf.path().with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    drop(journal);
}

#[tokio::test]
async fn what_cannot_be_written_is_told_and_written_when_it_can_be() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    let other = Connection::open(shelf.path()).unwrap();
    other.execute_batch("ALTER TABLE events RENAME TO parked").unwrap();
    journal.append(&started("a"));
    for _ in 0..2 {
        let error = journal.flush().await.unwrap_err();
        assert!(error.to_string().starts_with("events are missing from the journal"), "{error}");
        assert!(journal.is_failing());
    }
    other.execute_batch("ALTER TABLE parked RENAME TO events").unwrap();
    journal.append(&done("a", 1, true));
    journal.flush().await.unwrap();
    assert!(!journal.is_failing());
    assert_eq!(journal.run("a").unwrap().events.len(), 2);
}

#[test]
fn how_a_run_that_failed_ended_is_told() {
    let shelf = Shelf::new();
    let cancelled =
        |run: &str| event(run, 1, EventKind::Done { ok: false, cancelled: true, usage: Usage::default(), ms: 7 });
    let early = |run: &str| {
        event(run, 1, EventKind::Error { code: "cancelled".into(), message: "it was".into(), hint: None, ms: 5 })
    };
    let cut_off = |run: &str| {
        event(run, 1, EventKind::Error { code: "interrupted".into(), message: "it was".into(), hint: None, ms: 5 })
    };
    // What an older journal has after the end changes nothing.
    shelf.write(&[
        started("a"),
        cancelled("a"),
        note("a", 2),
        started("b"),
        early("b"),
        started("c"),
        done("c", 1, false),
    ]);
    shelf.write(&[started("d"), cut_off("d")]);
    let journal = shelf.open();
    for (run, want) in [
        ("a", RunStatus::Cancelled),
        ("b", RunStatus::Cancelled),
        ("c", RunStatus::Failed),
        ("d", RunStatus::Interrupted),
    ] {
        assert_eq!(journal.run(run).unwrap().summary.status, want, "{run}");
    }
}

#[test]
fn a_good_journal_passes_its_check() {
    let shelf = Shelf::new();
    shelf.write(&[started("a")]);
    shelf.open().check().unwrap();
}

#[test]
fn pieces_of_the_answer_are_not_kept() {
    let shelf = Shelf::new();
    let token = |seq| event("a", seq, EventKind::Token { text: "wor".to_owned() });
    shelf.write(&[started("a"), token(1), token(2), note("a", 3)]);
    let seqs: Vec<u64> =
        shelf.open().run("a").unwrap().events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [0, 3]);
}

#[test]
fn long_texts_of_a_request_are_cut_and_marked() {
    let shelf = Shelf::new();
    let inline = |text: String| Resource { kind: Kind::Text, source: Source::Inline(text), name: None };
    let mut request = Request::new("t".repeat(5_000));
    request.attachments = vec![inline("ж".repeat(4_096)), inline("ж".repeat(4_097))];
    request.history = vec![Turn::user("h".repeat(9_000)), Turn::user("short")];
    shelf.write(&[event(
        "a",
        0,
        EventKind::RunStarted {
            request,
            planner: "offline".into(),
            model: "offline".into(),
            pipeline: "hugginggpt".into(),
            door: String::new(),
            user: String::new(),
            settings: Default::default(),
            given: None,
        },
    )]);
    let events = shelf.open().run("a").unwrap().events;
    let request = &events[0]["request"];
    let cut = |letter: &str| format!("{}… [cut]", letter.repeat(4_096));
    for (at, want) in [
        ("/text", "t".repeat(5_000)),
        ("/attachments/0/source/inline", "ж".repeat(4_096)),
        ("/attachments/1/source/inline", cut("ж")),
        ("/history/0/content", cut("h")),
        ("/history/1/content", "short".to_owned()),
    ] {
        assert_eq!(request.pointer(at).and_then(|value| value.as_str()), Some(want.as_str()), "{at}");
    }
    // Whoever goes on with the run has all of it.
    let whole = shelf.open().run("a").unwrap().whole_events();
    assert_eq!(whole[0]["request"]["attachments"][1]["source"]["inline"], "ж".repeat(4_097));
    assert_eq!(whole[0]["request"]["history"][0]["content"], "h".repeat(9_000));
}

#[test]
fn a_large_file_is_checked_whole_when_a_writer_died() {
    let shelf = Shelf::new();
    let long = |seq| event("a", seq, EventKind::Note { level: Level::Info, message: "x".repeat(50_000) });
    shelf.write(&(0..200).map(long).collect::<Vec<_>>());
    let good = fs::read(shelf.path()).unwrap();
    assert!(good.len() > 9 << 20, "{} bytes are not large", good.len());
    let half = good.len() / 2 / 4096 * 4096;
    let mut garbled = good.clone();
    garbled[4096..8192].fill(0xa5);
    garbled[half..half + 4096 * 20].fill(0xa5);
    // A process that dies while it writes leaves its lock file behind, unlocked.
    let sign = shelf.path().with_file_name("journal.db.writers").join("0".repeat(32));
    for (name, bytes, died, refused) in [
        ("good", good.clone(), false, false),
        ("good after a death", good.clone(), true, false),
        ("torn at a page", good[..half].to_vec(), false, true),
        ("torn within a page", good[..half + 100].to_vec(), false, true),
        ("torn after a death", good[..half].to_vec(), true, true),
        ("garbled after a death", garbled, true, true),
    ] {
        fs::write(shelf.path(), &bytes).unwrap();
        let _ = fs::remove_file(&sign);
        if died {
            fs::write(&sign, "").unwrap();
        }
        let opened = Journal::open(&shelf.path());
        assert_eq!(matches!(opened, Err(JournalError::Corrupt { .. })), refused, "{name}: {opened:?}");
        assert_eq!(opened.is_err(), refused, "{name}");
        drop(opened);
        assert!(!refused || fs::read(shelf.path()).unwrap() == bytes, "{name}: the file was changed");
    }
}
