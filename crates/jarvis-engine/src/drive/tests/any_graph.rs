//! Properties: whatever the graph, whatever fails, however long it takes.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jarvis_plan::{Arg, Event};
use proptest::prelude::*;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::sleep;

use super::super::*;
use super::cast::{Act, Cast, QUICK, Role, drain, engine, event_line, task};

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => Just(Act::Give),
        2 => Just(Act::Fail(ErrorCode::Upstream)),
        1 => Just(Act::Fail(ErrorCode::InvalidInput)),
        1 => Just(Act::Fail(ErrorCode::CannotDo)),
        1 => Just(Act::Panic),
        1 => Just(Act::Hang),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    let choice = prop_oneof![6 => Just(Act::Give), 4 => act()];
    let guess = prop::option::of(0_usize..3);
    (choice, 0_u64..50, guess, prop::collection::vec((act(), 0_u64..50), 1..5))
        .prop_map(|(choice, choice_ms, guess, tries)| Role { choice, choice_ms, guess, tries })
}

/// Tasks of any acyclic graph, in any order of coming, some dependencies references and some mere waits.
pub(super) fn graph() -> impl Strategy<Value = (Vec<Task>, Vec<Role>)> {
    (1_usize..12).prop_flat_map(|count| {
        let edges = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4);
        let order = Just((0..count as u32).collect::<Vec<_>>()).prop_shuffle();
        (order, prop::collection::vec(edges, count), prop::collection::vec(role(), count)).prop_flat_map(
            |(order, edges, roles)| {
                let mut tasks = Vec::new();
                for (at, edges) in edges.iter().enumerate() {
                    let mut node = task(order[at], &[], &[]);
                    for (pick, refers) in edges.iter().filter(|_| at > 0) {
                        let dep = order[pick.index(at)];
                        node.dep.push(TaskId(dep));
                        if *refers {
                            node.args.insert(format!("picture{dep}"), Arg::output(TaskId(dep)));
                        }
                    }
                    tasks.push(node);
                }
                (Just(tasks).prop_shuffle(), Just(roles))
            },
        )
    })
}

/// How a task must end, by definition: no clock, no queue.
fn expected(tasks: &[Task], roles: &[Role], id: TaskId, max_fallbacks: usize) -> (Status, Option<ErrorCode>) {
    let task = tasks.iter().find(|task| task.id == id).unwrap();
    for need in task.args.values().flat_map(Arg::references) {
        if expected(tasks, roles, need, max_fallbacks).0 != Status::Succeeded {
            return (Status::Skipped, Some(ErrorCode::NoOutput));
        }
    }
    let role = &roles[id.index()];
    let mut end = (Status::Failed, None);
    for act in
        std::iter::once(role.choice).chain(role.tries.iter().take(max_fallbacks + 1).map(|(act, _)| *act)).enumerate()
    {
        end = match act {
            (0, Act::Give) => continue,
            (_, Act::Give) => return (Status::Succeeded, None),
            (_, Act::Fail(code)) => (Status::Failed, Some(code)),
            (_, Act::Panic) => (Status::Failed, Some(ErrorCode::Panic)),
            // A try that hangs leaves the next candidate its share of the time.
            (_, Act::Hang) => (Status::Failed, Some(ErrorCode::Timeout)),
        };
        if act.0 == 0 || !end.1.is_some_and(ErrorCode::next_candidate_may_help) {
            return end;
        }
    }
    end
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_graph_with_any_failures_ends_as_it_must(
        (tasks, roles) in graph(),
        concurrency in 0_usize..5,
        max_fallbacks in 0_usize..4,
        chunk in 1_usize..5,
        cut_ms in prop_oneof![3 => Just(u64::MAX), 1 => 0_u64..60_000],
        cancels in any::<bool>(),
        speculates in any::<bool>(),
    ) {
        let cast = Cast::new(roles.clone());
        let limits = Limits { concurrency, max_fallbacks, run_timeout: Duration::MAX, ..QUICK };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let cut = cut_ms != u64::MAX;
        let (mut engine, receiver) = engine(&cast, limits);
        engine = engine.speculating(speculates);
        if cut && !cancels {
            engine.limits.run_timeout = Duration::from_millis(cut_ms);
        }
        let (outcomes, took) = runtime.block_on(async {
            let start = Instant::now();
            if cut && cancels {
                let cancel = engine.cancel.clone();
                tokio::spawn(async move {
                    sleep(Duration::from_millis(cut_ms)).await;
                    cancel.cancel();
                });
            }
            let (sender, batches) = unbounded_channel();
            for batch in tasks.chunks(chunk) {
                sender.send(Batch { tasks: batch.to_vec(), anew: true, whole: true }).unwrap();
            }
            drop(sender);
            let told = Arc::clone(&cast);
            let outcomes = drive(batches, engine, Vec::new(), Box::new(move |outcome| {
                let new = told.seen().finished.insert(outcome.id);
                assert!(new, "task {} finished twice", outcome.id);
            }))
            .await;
            (outcomes, start.elapsed())
        });

        // It ends in time, and every task has exactly one outcome.
        if cut {
            prop_assert!(took <= Duration::from_millis(cut_ms + 1), "{took:?}");
        }
        let ids: Vec<u32> = outcomes.iter().map(|outcome| outcome.id.0).collect();
        prop_assert_eq!(ids, (0..tasks.len() as u32).collect::<Vec<_>>());

        // Order, concurrency and the number of tries.
        let seen = cast.seen();
        prop_assert_eq!(&seen.complaints, &Vec::<String>::new());
        prop_assert!(cast.busiest.load(Ordering::SeqCst) <= concurrency.max(1));
        let distinct: HashSet<&(TaskId, String)> = seen.tries.iter().collect();
        prop_assert!(speculates || distinct.len() == seen.tries.len(), "a candidate was tried twice");
        for outcome in &outcomes {
            prop_assert!(outcome.attempts.len() <= max_fallbacks + 1);
            prop_assert_eq!(seen.tries.iter().filter(|(id, _)| *id == outcome.id).count() >= outcome.attempts.len(), true);
            prop_assert_eq!(outcome.output.is_some(), outcome.succeeded());
            prop_assert_eq!(outcome.error.is_none(), outcome.succeeded());
        }

        // How each ended: as it must, or because the run was cut short.
        for outcome in &outcomes {
            let got = (outcome.status, outcome.error.as_ref().map(|error| error.code));
            let cut_short = match cancels {
                true => (Status::Cancelled, Some(ErrorCode::Cancelled)),
                false => (Status::Failed, Some(ErrorCode::Timeout)),
            };
            let want = expected(&tasks, &roles, outcome.id, max_fallbacks);
            prop_assert!(got == want || (cut && got == cut_short), "task {}: {:?}, not {:?}", outcome.id, got, want);
        }

        // The events tell the same story in order.
        let events = drain(receiver);
        let at = |wanted: &str| events.iter().position(|event| format!("{} ", event_line(event)).starts_with(wanted));
        for outcome in &outcomes {
            let told: Vec<&Event> = events
                .iter()
                .filter(|event| matches!(&event.kind, EventKind::TaskFinished { outcome: told } if told.id == outcome.id))
                .collect();
            prop_assert_eq!(told.len(), 1);
            prop_assert_eq!(&told[0].kind, &EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
            let [chosen, started, finished] =
                ["chosen", "started", "finished"].map(|what| at(&format!("{what} {} ", outcome.id)));
            if started.is_some() {
                prop_assert!(chosen.is_some() && chosen < started && started < finished);
            }
        }
    }
}
