//! Dependencies of subtasks, and the order in which they run.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|id| format!("task {id}")).collect()
}

fn ordered(tasks: &[String], reply: &str) -> (Vec<(i64, Vec<i64>)>, usize) {
    let Literal::List(rows) = Literal::parse(reply).unwrap() else { panic!("{reply}") };
    let (ordered, notes) = topology(tasks, &rows);
    for task in &ordered {
        assert_eq!(task.task, tasks[usize::try_from(task.id - 1).unwrap()], "texts are those of the decomposition");
    }
    (ordered.into_iter().map(|task| (task.id, task.dep)).collect(), notes.len())
}

#[test]
fn what_tasks_wait_for_is_normalised() {
    let check = |count: usize, reply: &str, expected: &[(i64, &[i64])], notes: usize| {
        let expected: Vec<(i64, Vec<i64>)> = expected.iter().map(|(id, dep)| (*id, dep.to_vec())).collect();
        assert_eq!(ordered(&names(count), reply), (expected, notes), "{reply}");
    };
    let row = |id: &str, dep: &str| format!(r#"{{"task":"renamed","id":{id},"dep":{dep}}}"#);
    let two = |dep: &str| format!("[{},{}]", row("1", "[-1]"), row("2", dep));
    for dep in ["1", "[1]", r#""1""#, r#"["1"]"#, "[-1, 1]", "[1, 1]", r#""-1, 1""#] {
        check(2, &two(dep), &[(1, &[-1]), (2, &[1])], 0);
    }
    for dep in ["-1", "[-1]", "null", "[]", r#""""#, r#""none""#, "{}"] {
        check(2, &two(dep), &[(1, &[-1]), (2, &[-1])], 0);
    }
    check(2, r#"[{"task":"a","id":1},{"id":"2","dep":["1"]}]"#, &[(1, &[-1]), (2, &[1])], 0);
    // Itself, and a task that is not there.
    check(2, &two("[2, 7]"), &[(1, &[-1]), (2, &[-1])], 2);
    // Lost, added and doubled tasks.
    check(3, &format!("[{}]", row("3", "[1]")), &[(1, &[-1]), (2, &[-1]), (3, &[1])], 0);
    check(1, &format!("[{},{}]", row("1", "[-1]"), row("2", "[1]")), &[(1, &[-1])], 1);
    check(2, &format!("[{},{},{}]", row("1", "[-1]"), row("2", "[1]"), row("2", "[-1]")), &[(1, &[-1]), (2, &[1])], 0);
    // A later task first, and a cycle.
    check(2, &format!("[{},{}]", row("1", "[2]"), row("2", "[-1]")), &[(2, &[-1]), (1, &[2])], 0);
    check(
        3,
        &format!("[{},{},{}]", row("1", "[3]"), row("2", "[1]"), row("3", "[2]")),
        &[(1, &[-1]), (2, &[1]), (3, &[2])],
        1,
    );
    // Numbered from zero: by the text, or by place.
    check(
        2,
        r#"[{"task":"task 1","id":0,"dep":[-1]},{"task":"task 2","id":1,"dep":[0]}]"#,
        &[(1, &[-1]), (2, &[1])],
        0,
    );
    check(2, &format!("[{},{}]", row("10", "[-1]"), row("11", "[10]")), &[(1, &[-1]), (2, &[1])], 0);
}

#[test]
fn what_is_needed_by_way_of_others_is_needed() {
    let all = vec![
        Subtask { task: "a".into(), id: 1, dep: vec![-1] },
        Subtask { task: "b".into(), id: 2, dep: vec![1] },
        Subtask { task: "c".into(), id: 3, dep: vec![-1] },
        Subtask { task: "d".into(), id: 4, dep: vec![2] },
    ];
    assert_eq!(needed(&all, &all[3]), [1, 2]);
    assert_eq!(needed(&all, &all[2]), Vec::<i64>::new());
}

#[tokio::test(start_paused = true)]
async fn a_subtask_that_hangs_or_panics_holds_up_no_other() {
    let subtasks = independent(&["hangs", "panics", "fails", "works"].map(str::to_owned));
    let limits = Limits { task_timeout: Duration::from_secs(5), ..Limits::default() };
    let (events, mut receiver) = Events::channel(jarvis_plan::RunId("r".into()));
    let ended = run(&subtasks, limits, &events, async |task: Subtask, _| match task.task.as_str() {
        "hangs" => std::future::pending().await,
        "panics" => panic!("oh"),
        "fails" => ("kept", Err(TaskError::new(ErrorCode::CannotDo, "no"))),
        _ => ("kept", Ok(json!("answer"))),
    });
    let ended = ended.await.into_iter().map(|ended| ended.map_err(|error| error.code)).collect::<Vec<_>>();
    assert_eq!(ended, [Err(ErrorCode::Timeout), Err(ErrorCode::Panic), Ok("kept"), Ok("kept")]);
    let mut finished = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        if let jarvis_plan::EventKind::TaskFinished { outcome } = event.kind {
            finished.push((outcome.id.0, outcome.succeeded()));
        }
    }
    finished.sort_unstable();
    assert_eq!(finished, [(0, false), (1, false), (2, false), (3, true)]);
}

proptest! {
    #[test]
    fn every_task_runs_once_and_after_what_it_waits_for(
        deps in prop::collection::vec(prop::collection::vec(-2i64..12, 0..4), 1..10),
        at_once in 1usize..5,
    ) {
        let tasks = names(deps.len());
        let rows: Vec<String> =
            deps.iter().zip(1..).map(|(dep, id)| format!(r#"{{"id":{id},"dep":{dep:?}}}"#)).collect();
        let Literal::List(rows) = Literal::parse(&format!("[{}]", rows.join(","))).unwrap() else { unreachable!() };
        let (subtasks, _) = topology(&tasks, &rows);
        prop_assert_eq!(subtasks.len(), tasks.len());
        let order = Arc::new(Mutex::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let seen = Arc::clone(&order);
        let solve = move |task: Subtask, finished: Arc<IndexMap<i64, ()>>| {
            let ready = task.dep.iter().all(|dep| *dep == -1 || finished.contains_key(dep));
            seen.lock().unwrap().push((task.id, ready));
            async { ((), Ok(Value::Null)) }
        };
        let limits = Limits { concurrency: at_once, ..Limits::default() };
        let ended = runtime.block_on(run(&subtasks, limits, &Events::unread(), solve));
        prop_assert_eq!(ended, vec![Ok(()); tasks.len()]);
        let order = order.lock().unwrap().clone();
        prop_assert!(order.iter().all(|(_, ready)| *ready), "{:?}", order);
        if at_once == 1 {
            let ids: Vec<i64> = order.iter().map(|(id, _)| *id).collect();
            prop_assert_eq!(ids, subtasks.iter().map(|task| task.id).collect::<Vec<_>>());
        }
    }
}
