//! Runs that nothing disturbs: order, arguments, fallbacks, limits, what is not served, what is asked of the installation.

use futures::StreamExt;
use jarvis_plan::{ErrorCode, Request, RunId, TaskError};
use jarvis_restate::{Error, RunInput, RunStatus, checkup};
use serde_json::json;

use crate::far::{Far, Reaction};
use crate::node::{Line, Node, Script, planned};
use crate::world::{World, counted, names, outcomes, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_carried_out_and_told() {
    let Some(world) = World::new(Far::echo().await).await else { return };
    let (_worker, _host) = (world.worker(&["a", "b/c"]).await, world.host().await);
    let lines = [Line::new("x", "a", &[]), Line::new("y", "b/c", &["x"]), Line::new("z", "a", &["x", "y"])];
    let run = world.start("r", &lines).await;
    let events = world.events(&run).await;
    let task = ["task_started", "task_finished"].repeat(3);
    let expected =
        [vec!["run_started", "plan", "model_chosen", "model_chosen", "model_chosen"], task, vec!["answer", "done"]];
    assert_eq!(names(&events), expected.concat());
    assert_eq!(
        events[10]["outcome"]["args"],
        json!({"name": "z", "needs": {
            "x": {"name": "x", "needs": {}},
            "y": {"name": "y", "needs": {"x": {"name": "x", "needs": {}}}},
        }})
    );
    let end = world.end(&run).await;
    assert_eq!((end.status, end.succeeded, end.tasks, end.events), (RunStatus::Answered, 3, 3, 13));
    assert_eq!(end.answer.expect("an answer").text, "a succeeded, b/c succeeded, a succeeded");

    // A second start finds the first, and a follower goes on where it was.
    let input = RunInput::new(Request::new("another")).with_plan(planned(&lines));
    assert!(world.client.start(&run, &input).await.expect("it is known").before);
    let event = world.event(&run, 9, "task_started").await;
    assert_eq!(event["seq"], 9);
    assert_eq!(world.far.counts(), counted(&[("r/0", 1), ("r/1", 1), ("r/2", 1), ("r/answer", 1)]));
    let missing = RunId("none".to_owned());
    assert!(matches!(world.client.attach(&missing).await, Err(Error::NoRun { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_plan_and_plan_on() {
    let Some(world) = World::new(Far::echo().await).await else { return };
    let (_worker, _host) = (world.worker(&["a"]).await, world.host().await);
    let script = Script { first: vec![Line::new("x", "a", &[])], then: vec![Line::new("y", "a", &[])], asks: None };
    let run = world.ask("r", script).await;
    let events = world.events(&run).await;
    assert!(names(&events).contains(&"plan_grew"), "{events:#?}");
    assert_eq!(outcomes(&events), ["x succeeded", "y succeeded"]);
    let counts = [("r/plan", 1), ("r/0", 1), ("r/look-0", 1), ("r/1", 1), ("r/look-1", 1), ("r/answer", 1)];
    assert_eq!(world.far.counts(), counted(&counts));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_tried_again_and_then_elsewhere() {
    let fail = |code| Reaction::Answer(Err(TaskError::new(code, "no")));
    let far = Far::new(move |call, nth| match call.what.as_str() {
        "shaky" if nth < 3 => fail(ErrorCode::Unavailable),
        "down" => fail(ErrorCode::Unavailable),
        "unable" => fail(ErrorCode::CannotDo),
        "broken" => fail(ErrorCode::InvalidInput),
        _ => Reaction::Answer(Ok(call.args.clone())),
    });
    let Some(world) = World::new(far.await).await else { return };
    let (_worker, _host) =
        (world.worker(&["shaky", "down", "unable", "broken", "good", "large"]).await, world.host().await);
    let lines = [
        Line::new("0", "shaky", &[]),
        Line::new("1", "down", &[]).or("good"),
        Line::new("2", "unable", &[]).or("nobody").or("good"),
        Line::new("3", "broken", &[]).or("good"),
        Line::new("4", "good", &["3"]),
        Line::new("5", "large", &[]),
        Line::new("6", "good", &[]).allowed(),
    ];
    let run = world.start("r", &lines).await;
    let events = world.events(&run).await;
    let mut ended = outcomes(&events);
    ended.sort();
    let expected = ["0 succeeded", "1 succeeded", "2 succeeded", "3 failed", "4 skipped", "5 failed", "6 skipped"];
    assert_eq!(ended, expected);
    let error_of = |task: u64| {
        let of = events.iter().find(|event| event["event"] == "task_finished" && event["outcome"]["id"] == task);
        of.expect("it ended")["outcome"]["error"].clone()
    };
    assert_eq!(error_of(5)["code"], "too_large");
    assert_eq!(error_of(6)["code"], "no_output");
    assert!(error_of(4)["message"].as_str().is_some_and(|text| text.contains("task 4 (`broken`), which failed")));
    let counts = [("r/0", 3), ("r/1", 4), ("r/2", 2), ("r/3", 1), ("r/answer", 1)];
    assert_eq!(world.far.counts(), counted(&counts));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_serves_is_named() {
    let Some(world) = World::new(Far::echo().await).await else { return };
    let run = RunId("r".to_owned());
    let input = |lines: &[Line]| RunInput::new(Request::new("a plan")).with_plan(planned(lines));
    let _worker = world.worker(&["a"]).await;
    let alone = world.client.start(&run, &input(&[Line::new("x", "a", &[])])).await;
    assert!(matches!(alone, Err(Error::NoHost { .. })), "{alone:?}");
    let _host = world.host().await;
    let lines = [Line::new("x", "a", &[]), Line::new("y", "far/away", &[]), Line::new("z", "gone", &[]).or("a")];
    match world.client.start(&run, &input(&lines)).await {
        Err(Error::NotServed { capabilities }) => assert_eq!(capabilities, ["far/away".to_owned()].into()),
        other => panic!("{other:?}"),
    }

    // Where the stages plan, the workflow asks: such a task fails, or goes to its next candidate.
    let run = world.ask("s", Script { first: lines.to_vec(), ..Script::default() }).await;
    let events = world.events(&run).await;
    let mut ended = outcomes(&events);
    ended.sort();
    assert_eq!(ended, ["x succeeded", "y failed", "z succeeded"]);
    let refused = events.iter().find(|event| event["event"] == "task_attempt").expect("a try");
    assert_eq!(refused["attempt"]["error"]["code"], "not_configured");

    let found = checkup(world.client.admin(), world.server.ingress()).await.expect("it answers");
    assert!(found.is_well() && found.stuck.is_empty() && found.stale.is_empty(), "{found:?}");
    assert_eq!(found.capabilities, ["a".to_owned()].into());
    assert_eq!(found.workflows, ["Run.v1".to_owned()].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_bound_what_a_worker_does_at_once() {
    let Some(mut world) = World::new(
        Far::new(|call, _| match call.what.as_str() {
            "a" => Reaction::Hold,
            _ => Reaction::Answer(Ok(call.args.clone())),
        })
        .await,
    )
    .await
    else {
        return;
    };
    let mut role = world.role(&["a"]);
    role.slots = 3;
    let (_worker, _host) = (Node::start(role).await, world.host().await);
    let lines: Vec<Line> = (0..12).map(|n| Line::new(&n.to_string(), "a", &[])).collect();
    let run = world.start("r", &lines).await;
    for _ in 0..12 {
        within(world.far.held()).await.answer(Ok(json!(1)));
    }
    assert_eq!(world.end(&run).await.succeeded, 12);
    assert_eq!(world.far.calls().len(), 13);
    assert!(world.far.most() <= 3, "{}", world.far.most());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_in_time() {
    let Some(mut world) = World::new(Far::holding(&["r/0", "r/1"]).await).await else { return };
    let mut role = world.role(&["a"]);
    role.slots = 1;
    let (_worker, _host) = (Node::start(role).await, world.host().await);
    let lines = [Line::new("x", "a", &[]), Line::new("y", "a", &[]), Line::new("z", "a", &["x"])];
    let mut input = RunInput::new(Request::new("a plan")).with_plan(planned(&lines));
    input.limits.run_timeout_ms = Some(3000);
    let run = RunId("r".to_owned());
    world.client.start(&run, &input).await.expect("it starts");
    let held = within(world.far.held()).await;
    let end = world.end(&run).await;
    assert_eq!((end.status, end.succeeded, end.tasks), (RunStatus::Answered, 0, 3), "with what there is");
    let events = world.events(&run).await;
    let mut ended = outcomes(&events);
    ended.sort();
    assert!(ended.iter().zip(["x failed", "y failed", "z "]).all(|(ended, of)| ended.starts_with(of)), "{ended:?}");
    // The slot is free again, and what waited for it was not begun.
    drop(held);
    let after = world.start("s", &[Line::new("x", "a", &[])]).await;
    assert_eq!(world.end(&after).await.succeeded, 1);
    let mut counts = world.far.counts();
    let begun = counts.remove("r/0").xor(counts.remove("r/1"));
    assert_eq!(begun, Some(1), "one had the slot, whichever");
    assert_eq!(counts, counted(&[("r/answer", 1), ("s/0", 1), ("s/answer", 1)]));
    let nobody = RunId("none".to_owned());
    let followed = within(world.client.follow(nobody, 0).collect::<Vec<_>>()).await;
    assert!(matches!(followed.as_slice(), [Err(Error::NoRun { .. })]), "{followed:?}");
}
