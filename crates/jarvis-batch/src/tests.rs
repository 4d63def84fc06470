//! What is worked on, how many at once, and when a run ends.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use super::*;

/// How an item of the table ends.
#[derive(Clone, Copy)]
enum Ends {
    Well,
    Badly,
    Hopelessly,
    /// Well, after the run was cancelled.
    Cancelled,
}
use Ends::{Badly, Cancelled, Hopelessly, Well};

struct Heard<'a>(&'a std::sync::Mutex<Vec<String>>);

impl Watch for Heard<'_> {
    fn begun(&self, begun: &Begun) {
        self.0.lock().unwrap().push(format!("{} of {}", begun.pending, begun.pending + begun.already));
    }

    fn ended(&self, summary: &Summary, ended: &Ended) {
        self.0.lock().unwrap().push(format!("{} {}", ended.id, summary.ended()));
    }
}

#[tokio::test]
async fn a_run_ends_when_it_is_done_or_cancelled_or_nobody_answers() {
    // Items, how many at once; done, failed, left, interrupted, gave up, the most at once.
    type Case = (&'static [Ends], usize, (usize, usize, usize, bool, bool, usize));
    let table: [Case; 9] = [
        (&[], 4, (0, 0, 0, false, false, 0)),
        (&[Well, Badly, Well], 1, (2, 1, 0, false, false, 1)),
        (&[Well, Well, Well, Well, Well], 3, (5, 0, 0, false, false, 3)),
        (&[Well, Well], 0, (2, 0, 0, false, false, 1)),
        (&[Well, Cancelled, Well], 1, (2, 0, 1, true, false, 1)),
        (&[Well, Cancelled], 1, (2, 0, 0, false, false, 1)),
        (&[Hopelessly, Hopelessly, Hopelessly, Well], 1, (0, 3, 1, false, true, 1)),
        (&[Hopelessly, Hopelessly, Hopelessly], 1, (0, 3, 0, false, false, 1)),
        (&[Hopelessly, Badly, Hopelessly, Hopelessly, Hopelessly, Well], 1, (1, 5, 0, false, false, 1)),
    ];
    for (at, (items, at_once, expected)) in table.into_iter().enumerate() {
        let (under_way, most) = (Cell::new(0), Cell::new(0));
        let stop = CancellationToken::new();
        let heard = std::sync::Mutex::new(Vec::new());
        let watch = Heard(&heard);
        let kept = RefCell::new(Vec::new());
        let mut batch = Batch::begin(items.len() + 2, items.len(), Vec::new(), &watch, &stop);
        let work = |(id, ends): (usize, Ends)| {
            let (under_way, most, stop) = (&under_way, &most, &stop);
            async move {
                under_way.set(under_way.get() + 1);
                most.set(most.get().max(under_way.get()));
                tokio::task::yield_now().await;
                under_way.set(under_way.get() - 1);
                if matches!(ends, Cancelled) {
                    stop.cancel();
                }
                (id, ends)
            }
        };
        let keep = |(id, ends): (usize, Ends), _: &Summary| {
            kept.borrow_mut().push(id);
            let (outcome, kind) = match ends {
                Well | Cancelled => (Outcome::Done, None),
                Badly | Hopelessly => (Outcome::Failed, Some("bad")),
            };
            let hopeless = matches!(ends, Hopelessly);
            Ok::<_, Infallible>(Ended { id: id.to_string(), outcome, kind, hopeless, calls: 1, ..Ended::default() })
        };
        batch.run(items.iter().copied().enumerate(), at_once, work, keep).await.unwrap();
        let summary = batch.end();
        let Summary { done, failed, left, interrupted, gave_up, .. } = summary;
        assert_eq!((done, failed, left, interrupted, gave_up, most.get()), expected, "case {at}");
        assert_eq!(summary.failures.get("bad").copied().unwrap_or(0), failed, "case {at}");
        assert_eq!((summary.already, summary.calls), (2, done + failed), "case {at}");
        let mut lines = vec![format!("{} of {}", items.len(), items.len() + 2)];
        lines.extend(kept.borrow().iter().enumerate().map(|(at, id)| format!("{id} {}", at + 1)));
        assert_eq!(*heard.lock().unwrap(), lines, "case {at}");
    }
}

#[tokio::test]
async fn what_cannot_be_kept_ends_the_run() {
    let stop = CancellationToken::new();
    let mut batch = Batch::begin(3, 3, Vec::new(), &(), &stop);
    let kept =
        batch.run(0..3, 1, |id| async move { id }, |id, _| if id == 1 { Err("full") } else { Ok(Ended::default()) });
    assert_eq!(kept.await, Err("full"));
    assert_eq!((batch.summary().done, batch.summary().left), (1, 2));
}

#[test]
fn a_log_tells_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let id_of = |line: &[u8]| std::str::from_utf8(line.strip_suffix(b";")?).ok()?.trim().parse::<u32>().ok();
    // What is in the file; done, bad lines, torn; the file after 7 is written twice.
    type Case = (&'static str, &'static [u32], &'static [usize], bool, &'static str);
    let table: [Case; 5] = [
        ("", &[], &[], false, "7;\n"),
        ("1;\n\nno\n2;\n", &[1, 2], &[3], false, "1;\n\nno\n2;\n7;\n"),
        ("1;\n2", &[1], &[], true, "1;\n7;\n"),
        ("1;\n2;", &[1, 2], &[], false, "1;\n2;\n7;\n"),
        ("1;\n7;\n", &[1, 7], &[], false, "1;\n7;\n"),
    ];
    for (held, done, bad, torn, after) in table {
        std::fs::write(&path, held).unwrap();
        let mut log = Log::open(&path, id_of).unwrap();
        let mut found: Vec<u32> = log.done().iter().copied().collect();
        found.sort_unstable();
        assert_eq!((found.as_slice(), log.bad.as_slice(), log.torn), (done, bad, torn), "{held:?}");
        assert!(matches!(Log::open(&path, id_of), Err(jarvis_store::files::FileError::Locked { .. })));
        log.write(7, "7;").unwrap();
        log.write(7, "7;").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{held:?}");
    }
}
