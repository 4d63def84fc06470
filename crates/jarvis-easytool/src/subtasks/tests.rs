//! What waits for what, and in which order subtasks run.

use std::sync::Mutex;

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
    // A later task first, and a circle.
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
        let order = Mutex::new(Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ended = runtime.block_on(run(&subtasks, at_once, |at, finished: std::sync::Arc<IndexMap<i64, ()>>| {
            let task = &subtasks[at];
            let ready = task.dep.iter().all(|dep| *dep == -1 || finished.contains_key(dep));
            order.lock().unwrap().push((task.id, ready));
            async { tokio::task::yield_now().await }
        }));
        prop_assert_eq!(ended.len(), tasks.len());
        let order = order.into_inner().unwrap();
        prop_assert!(order.iter().all(|(_, ready)| *ready), "{:?}", order);
        if at_once == 1 {
            let ids: Vec<i64> = order.iter().map(|(id, _)| *id).collect();
            prop_assert_eq!(ids, subtasks.iter().map(|task| task.id).collect::<Vec<_>>());
        }
    }
}
