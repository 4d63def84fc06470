//! The schedule alone: tables for its corners, properties for any graph in any order.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn task(id: u32, dep: &[u32]) -> Task {
    Task {
        task: "work".to_owned(),
        id: TaskId(id),
        dep: dep.iter().map(|dep| TaskId(*dep)).collect(),
        args: Default::default(),
        unfolded_from: None,
        faults: Vec::new(),
    }
}

/// Plays a script and returns what became ready after each word: `+2:0,1` adds a task, `-2` finishes one, `.` closes.
fn play(script: &str) -> String {
    let mut schedule = Schedule::new();
    let mut log = Vec::new();
    for word in script.split_whitespace() {
        let mut note = String::new();
        if let Some(added) = word.strip_prefix('+') {
            let (id, deps) = added.split_once(':').unwrap_or((added, ""));
            let deps: Vec<u32> =
                deps.split(',').filter(|dep| !dep.is_empty()).map(|dep| dep.parse().unwrap()).collect();
            schedule.extend([(&task(id.parse().unwrap(), &deps), [].as_slice())]);
        } else if let Some(id) = word.strip_prefix('-') {
            if !schedule.finish(TaskId(id.parse().unwrap())) {
                note.push_str("unknown");
            }
        } else {
            schedule.close();
        }
        let mut words: Vec<String> = schedule.ready().iter().map(ToString::to_string).collect();
        if !note.is_empty() {
            words.push(note);
        }
        if schedule.is_done() {
            words.push("done".to_owned());
        }
        log.push(words.join(" "));
    }
    log.join(" | ")
}

#[test]
fn tasks_become_ready_in_order() {
    for (script, want) in [
        (".", "done"),
        ("+0 . -0", "0 |  | done"),
        ("+0 +1:0 . -0 -1", "0 |  |  | 1 | done"),
        ("+0 -0 +1:0 . -1", "0 |  | 1 |  | done"),
        ("+1:0 +0 -0 . -1", " | 0 | 1 |  | done"),
        ("+0 +1 +2:0,1 -1 -0 . -2", "0 | 1 |  |  | 2 |  | done"),
        ("+0 +1:0,0 -0 . -1", "0 |  | 1 |  | done"),
        ("+0 -0 -0 -7 .", "0 |  | unknown | unknown | done"),
        ("+0 +1:0 -1 -0 .", "0 |  |  |  | done"),
        ("+4294967295 . -4294967295", "4294967295 |  | done"),
    ] {
        assert_eq!(play(script), want, "{script}");
    }
}

#[test]
fn what_has_not_finished_is_told_in_ascending_id() {
    let mut schedule = Schedule::new();
    schedule.extend([task(3, &[]), task(1, &[3, 8]), task(2, &[])].iter().map(|task| (task, [].as_slice())));
    schedule.finish(TaskId(2));
    assert_eq!(schedule.unfinished(), [TaskId(1), TaskId(3)]);
}

/// An acyclic graph of any shape, repeats included, in any order of coming.
fn any_graph() -> impl Strategy<Value = Vec<(u32, Vec<u32>)>> {
    prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 1..12)
        .prop_map(|picks| {
            let deps = |at: usize, picks: &[prop::sample::Index]| -> Vec<u32> {
                picks.iter().filter(|_| at > 0).map(|pick| pick.index(at) as u32).collect()
            };
            picks.iter().enumerate().map(|(at, picks)| (at as u32, deps(at, picks))).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

proptest! {
    #[test]
    fn every_graph_ends_and_order_is_kept(
        graph in any_graph(),
        close_after in 0_usize..12,
        picks in prop::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let mut schedule = Schedule::new();
        let mut left = graph.iter();
        let mut in_hand: Vec<TaskId> = Vec::new();
        let mut finished: HashSet<u32> = HashSet::new();
        let mut picks = picks.iter().cycle();
        let mut steps = 0;
        while !schedule.is_done() {
            steps += 1;
            prop_assert!(steps < 200, "the schedule does not come to an end");
            match left.next() {
                Some((id, deps)) => schedule.extend([(&task(*id, deps), [].as_slice())]),
                None => schedule.close(),
            }
            // For a while tasks only come; then one is finished at each step.
            in_hand.extend(schedule.ready());
            if steps > close_after && !in_hand.is_empty() {
                let at = picks.next().map_or(0, |pick| pick.index(in_hand.len()));
                let id = in_hand.swap_remove(at).0;
                let deps = &graph.iter().find(|(other, _)| *other == id).unwrap().1;
                prop_assert!(deps.iter().all(|dep| finished.contains(dep)));
                prop_assert!(schedule.finish(TaskId(id)));
                prop_assert!(finished.insert(id), "task {id} was ready twice");
            }
        }
        prop_assert_eq!(finished.len(), graph.len());
    }
}
