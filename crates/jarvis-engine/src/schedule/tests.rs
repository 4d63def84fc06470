//! The schedule alone: tables for its corners, properties for any graph in any order.

use proptest::prelude::*;

use super::*;

fn task(id: u32, dep: &[u32]) -> Task {
    Task {
        task: "work".to_owned(),
        id: TaskId(id),
        dep: dep.iter().map(|dep| TaskId(*dep)).collect(),
        args: Default::default(),
        unfolded_from: None,
        fault: None,
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
            if !schedule.extend([&task(id.parse().unwrap(), &deps)]).is_empty() {
                note.push_str("refused");
            }
        } else if let Some(id) = word.strip_prefix('-') {
            if !schedule.finish(TaskId(id.parse().unwrap())) {
                note.push_str("unknown");
            }
        } else {
            schedule.close();
        }
        let ready = schedule.ready().into_iter().map(|ready| match ready {
            Ready::Run(id) => format!("{id}"),
            Ready::Missing { id, dep } => format!("{id}!{dep}"),
            Ready::Cycle(id) => format!("{id}~"),
        });
        let mut words: Vec<String> = ready.collect();
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
        ("+0 +0 . -0", "0 | refused |  | done"),
        ("+0 . +1 -0", "0 |  | refused | done"),
        ("+0 -0 -0 -7 .", "0 |  | unknown | unknown | done"),
        ("+0 +1:0 -1 -0 .", "0 |  |  |  | done"),
        ("+0:5 . -0", " | 0!5 | done"),
        ("+0:5,6 . -0", " | 0!5 | done"),
        ("+0:5 +1:0 . -0 -1", " |  | 0!5 | 1 | done"),
        ("+2 +0:2,5 . -2 -0", "2 |  | 0!5 |  | done"),
        ("+0:0 . -0", " | 0~ | done"),
        ("+0:1 +1:0 . -0 -1", " |  | 0~ 1~ |  | done"),
        ("+0:1 +1:2 +2:1 . -1 -2 -0", " |  |  | 1~ 2~ | 0 |  | done"),
        ("+0:0 +1:1 . -0 -1", " |  | 0~ | 1~ | done"),
        ("+4294967295 . -4294967295", "4294967295 |  | done"),
    ] {
        assert_eq!(play(script), want, "{script}");
    }
}

#[test]
fn what_has_not_finished_is_told_in_ascending_id() {
    let mut schedule = Schedule::new();
    schedule.extend(&[task(3, &[]), task(1, &[3, 8]), task(2, &[])]);
    schedule.finish(TaskId(2));
    assert_eq!(schedule.unfinished(), [TaskId(1), TaskId(3)]);
}

/// A graph of any shape (cycles, repeats and unknown ids included), in any order of coming.
fn any_graph() -> impl Strategy<Value = Vec<(u32, Vec<u32>)>> {
    prop::collection::vec(prop::collection::vec(0_u32..14, 0..4), 1..12)
        .prop_map(|deps| deps.into_iter().enumerate().map(|(id, deps)| (id as u32, deps)).collect::<Vec<_>>())
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
        let mut in_hand: Vec<Ready> = Vec::new();
        let mut finished: HashSet<u32> = HashSet::new();
        let mut picks = picks.iter().cycle();
        let mut steps = 0;
        while !schedule.is_done() {
            steps += 1;
            prop_assert!(steps < 200, "the schedule does not come to an end");
            match left.next() {
                Some((id, deps)) => prop_assert!(schedule.extend([&task(*id, deps)]).is_empty()),
                None => schedule.close(),
            }
            // For a while tasks only come; then one is finished at each step.
            in_hand.extend(schedule.ready());
            if steps > close_after && !in_hand.is_empty() {
                let at = picks.next().map_or(0, |pick| pick.index(in_hand.len()));
                let ready = in_hand.swap_remove(at);
                let id = ready.id().0;
                let deps = &graph.iter().find(|(other, _)| *other == id).unwrap().1;
                match ready {
                    Ready::Run(_) => prop_assert!(deps.iter().all(|dep| finished.contains(dep))),
                    Ready::Missing { dep, .. } => prop_assert!(graph.iter().all(|(other, _)| *other != dep.0)),
                    Ready::Cycle(_) => prop_assert!(reaches(&graph, id, id)),
                }
                prop_assert!(schedule.finish(TaskId(id)));
                prop_assert!(finished.insert(id), "task {id} was ready twice");
            }
        }
        prop_assert_eq!(finished.len(), graph.len());
    }

    #[test]
    fn only_tasks_on_a_cycle_are_called_cyclic(graph in any_graph()) {
        let mut schedule = Schedule::new();
        let tasks: Vec<Task> = graph.iter().map(|(id, deps)| task(*id, deps)).collect();
        schedule.extend(&tasks);
        schedule.close();
        while !schedule.is_done() {
            for ready in schedule.ready() {
                if let Ready::Cycle(id) = ready {
                    prop_assert!(reaches(&graph, id.0, id.0));
                }
                schedule.finish(ready.id());
            }
        }
    }
}

/// True when `to` is among what `from` waits for, directly or not.
fn reaches(graph: &[(u32, Vec<u32>)], from: u32, to: u32) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![from];
    while let Some(id) = stack.pop() {
        for dep in graph.iter().filter(|(other, _)| *other == id).flat_map(|(_, deps)| deps) {
            if *dep == to {
                return true;
            }
            if seen.insert(*dep) {
                stack.push(*dep);
            }
        }
    }
    false
}
