//! Processes killed and stopped while runs go on: what has ended is not done again, what has not is.

use std::time::Duration;

use jarvis_plan::TaskId;
use jarvis_restate::{Cancelled, Decision, Error, RunStatus};
use serde_json::json;

use crate::far::Far;
use crate::node::{Line, Node, Script};
use crate::world::{World, counted, names, outcomes, within};

/// A plan of six tasks with a fan-out; `m` is in its middle.
fn six() -> Vec<Line> {
    vec![
        Line::new("x", "a", &[]),
        Line::new("m", "a", &["x"]),
        Line::new("n", "a", &["x"]),
        Line::new("y", "a", &["m", "n"]),
        Line::new("z", "a", &["y"]),
        Line::new("w", "a", &[]),
    ]
}

/// What is killed while task `m` is at the far side.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Worker,
    Host,
    Server,
    All,
}

async fn killed(victim: Victim) {
    let Some(mut world) = World::new(Far::holding(&["r/1"]).await).await else { return };
    let (mut worker, mut host) = (world.worker(&["a"]).await, world.host().await);
    let run = world.ask("r", Script { first: six(), ..Script::default() }).await;
    let held = within(world.far.held()).await;
    // The tasks that do not need it have ended, so that only one step is in flight.
    let events = |seq| world.event(&run, seq, "task_finished");
    let mut from = 0;
    for _ in 0..3 {
        from = events(from).await["seq"].as_u64().expect("a number") + 1;
    }
    if matches!(victim, Victim::Worker | Victim::All) {
        worker.kill().await;
    }
    if matches!(victim, Victim::Host | Victim::All) {
        host.kill().await;
    }
    if matches!(victim, Victim::Server | Victim::All) {
        world.server.kill().await;
    }
    if matches!(victim, Victim::Server | Victim::All) {
        world.server.run().await;
    }
    if matches!(victim, Victim::Worker | Victim::All) {
        worker.again().await;
    }
    if matches!(victim, Victim::Host | Victim::All) {
        host.again().await;
    }
    // Whoever still waits for it gets the same answer as whoever asks again.
    held.answer(Ok(held_answer()));
    let end = world.end(&run).await;
    assert_eq!((end.status, end.succeeded), (RunStatus::Answered, 6), "{victim:?}");
    let events = world.events(&run).await;
    assert_eq!(outcomes(&events).len(), 6, "{victim:?}");
    let mut counts = world.far.counts();
    let again = counts.remove("r/1");
    let most = if matches!(victim, Victim::Host) { 1 } else { 2 };
    assert!(again.is_some_and(|again| (1..=most).contains(&again)), "{victim:?}: {again:?}");
    let once = ["r/plan", "r/0", "r/2", "r/3", "r/4", "r/5", "r/look-0", "r/answer"].map(|key| (key, 1));
    assert_eq!(counts, counted(&once), "{victim:?}");
}

fn held_answer() -> serde_json::Value {
    json!({"name": "m", "needs": {}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_killed() {
    killed(Victim::Worker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_killed() {
    killed(Victim::Host).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_killed() {
    killed(Victim::Server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_are_killed_at_once() {
    killed(Victim::All).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_killed_in_a_stage() {
    let Some(mut world) = World::new(Far::holding(&["r/plan", "r/answer"]).await).await else { return };
    let (_worker, mut host) = (world.worker(&["a"]).await, world.host().await);
    let run = world.ask("r", Script { first: six(), ..Script::default() }).await;
    for _ in 0..2 {
        let _held = within(world.far.held()).await;
        host.kill().await;
        host.again().await;
    }
    assert_eq!(world.end(&run).await.succeeded, 6);
    let mut counts = world.far.counts();
    assert_eq!((counts.remove("r/plan"), counts.remove("r/answer")), (Some(2), Some(2)));
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

/// A write whose worker is killed is not made again before a person has decided.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_may_have_arrived_waits_for_a_person() {
    for (name, decision, count, ended) in [
        ("retry", Decision::Retry, 2, "w succeeded"),
        ("done", Decision::Done { output: json!("sent") }, 1, "w succeeded"),
        ("skip", Decision::Skip, 1, "w skipped"),
    ] {
        let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
        let (mut worker, _host) = (world.worker(&["a"]).await, world.host().await);
        let run = world.start("r", &[Line::new("w", "a", &[]).allowed()]).await;
        let _held = within(world.far.held()).await;
        worker.kill().await;
        worker.again().await;
        let asked = world.event(&run, 0, "approval_needed").await;
        assert_eq!(asked["tool"], "a");
        let wrong = world.client.approve(&run, TaskId(0), Decision::Approve { args: None, always: false }).await;
        assert!(matches!(wrong, Err(Error::Refused { status: 422, .. })), "{wrong:?}");
        world.client.approve(&run, TaskId(0), decision).await.expect("it is asked");
        world.end(&run).await;
        assert_eq!(outcomes(&world.events(&run).await), [ended], "{name}");
        assert_eq!(world.far.counts()["r/0"], count, "{name}");
    }
}

/// A write with an idempotency key is made again, with the same key.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_with_a_key_is_made_again() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let (mut worker, _host) = (world.worker(&["a!"]).await, world.host().await);
    let run = world.start("r", &[Line::new("w", "a", &[]).allowed()]).await;
    let _held = within(world.far.held()).await;
    worker.kill().await;
    worker.again().await;
    assert_eq!(world.end(&run).await.succeeded, 1);
    assert_eq!(
        world.far.counts(),
        counted(&[("r/0", 2), ("r/answer", 1)]),
        "the far side takes the second for the first"
    );
}

/// A worker that stands still past its timeouts, and goes on later, makes no write twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_writes_once() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let mut role = world.role(&["a"]);
    role.timeout_ms = Some(300);
    let (worker, _host) = (Node::start(role).await, world.host().await);
    let run = world.start("r", &[Line::new("w", "a", &[]).allowed()]).await;
    let held = within(world.far.held()).await;
    worker.signal("STOP").await;
    let sql = "select status, retry_count from sys_invocation where target_service_name = 'Task.a'";
    // Restate has given it up and tries anew, in vain: the process accepts connections and says nothing.
    world.until(sql, |rows| rows.iter().any(|row| row["retry_count"].as_u64() >= Some(2))).await;
    worker.signal("CONT").await;
    world.event(&run, 0, "approval_needed").await;
    held.answer(Ok(json!("written")));
    world.client.approve(&run, TaskId(0), Decision::Done { output: json!("written") }).await.expect("it is asked");
    assert_eq!(world.end(&run).await.succeeded, 1);
    assert_eq!(world.far.counts(), counted(&[("r/0", 1), ("r/answer", 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled() {
    let Some(mut world) = World::new(Far::holding(&["r/1"]).await).await else { return };
    let (_worker, _host) = (world.worker(&["a"]).await, world.host().await);
    let run = world.start("r", &six()).await;
    let held = within(world.far.held()).await;
    let cancelled = world.client.cancel(&run, Duration::from_secs(60)).await.expect("it can be cancelled");
    assert_eq!(cancelled, Cancelled::Ended);
    let end = world.end(&run).await;
    assert_eq!(end.status, RunStatus::Cancelled);
    let events = world.events(&run).await;
    assert_eq!(
        events.last().map(|last| (last["event"].clone(), last["cancelled"].clone())),
        Some((json!("done"), json!(true)))
    );
    assert_eq!(names(&events).iter().filter(|name| **name == "task_finished").count(), 6);
    assert!(!world.far.counts().contains_key("r/3"));
    drop(held);

    // Without its host nothing hears that it is cancelled; it is killed, and its follower is told.
    let run = world.start("s", &[Line::new("x", "a", &[])]).await;
    world.end(&run).await;
    assert_eq!(world.client.cancel(&run, Duration::ZERO).await.expect("it has ended"), Cancelled::Before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_does_not_hear_is_killed() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let (_worker, mut host) = (world.worker(&["a"]).await, world.host().await);
    let run = world.start("r", &six()).await;
    let held = within(world.far.held()).await;
    host.kill().await;
    assert_eq!(world.client.cancel(&run, Duration::ZERO).await.expect("it can be killed"), Cancelled::Killed);
    assert!(matches!(world.client.attach(&run).await, Err(Error::Ended { .. })));
    let running = "select id from sys_invocation where status != 'completed'";
    world.until(running, <[_]>::is_empty).await;
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_shuts_down_ends_its_work() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let (mut worker, _host) = (world.worker(&["a"]).await, world.host().await);
    let run = world.start("r", &[Line::new("x", "a", &[]), Line::new("y", "a", &["x"])]).await;
    let held = within(world.far.held()).await;
    worker.ask_to_stop();
    // What comes now is refused, and made again when there is a worker.
    let later = world.start("s", &[Line::new("x", "a", &[])]).await;
    let sql = "select retry_count from sys_invocation where target_service_name = 'Task.a' and status = 'backing-off'";
    world.until(sql, |rows| !rows.is_empty()).await;
    assert!(worker.runs());
    held.answer(Ok(json!("done")));
    assert!(within(worker.stop()).await);
    worker.again().await;
    assert_eq!(world.end(&run).await.succeeded, 2);
    assert_eq!(world.end(&later).await.succeeded, 1);
    let counts = [("r/0", 1), ("r/1", 1), ("r/answer", 1), ("s/0", 1), ("s/answer", 1)];
    assert_eq!(world.far.counts(), counted(&counts));
}
