//! Tasks that change something wait for all tasks before them, and for a person.

use jarvis_plan::{Request, RunId, TaskId};
use jarvis_restate::{Decision, Error, RunInput};
use serde_json::{Value, json};

use crate::far::Far;
use crate::node::{Line, Script};
use crate::world::{World, outcomes, within};

#[tokio::test(flavor = "multi_thread")]
async fn writes_wait_for_what_is_before_them_and_for_approval() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let (mut host, _worker) = (world.host().await, world.worker(&["a"]).await);
    let lines = [
        Line::new("x", "a", &[]),
        Line::new("w", "a", &[]).writes(),
        Line::new("v", "a", &[]).writes(),
        Line::new("z", "a", &[]),
    ];
    let run = world.start("r", &lines).await;
    let held = within(world.far.held()).await;
    // `z` waits for nothing: it is told before `x` may end.
    world.event(&run, 0, "task_finished").await;
    let early = world.client.approve(&run, TaskId(1), Decision::Approve { args: None, always: false }).await;
    assert!(matches!(early, Err(Error::Refused { status: 409, .. })), "{early:?}");
    held.answer(Ok(json!(1)));
    let asked = world.event(&run, 0, "approval_needed").await;
    assert_eq!((&asked["task"], &asked["arguments"]["name"]), (&json!(1), &json!("w")));

    // It waits as long as it takes, whatever happens to its host.
    host.kill().await;
    host.again().await;
    let args = [("name".to_owned(), json!("other"))].into_iter().collect();
    world
        .client
        .approve(&run, TaskId(1), Decision::Approve { args: Some(args), always: false })
        .await
        .expect("it is asked");
    let next = world.event(&run, asked["seq"].as_u64().expect("a number") + 1, "approval_needed").await;
    assert_eq!(next["task"], json!(2));
    let refuse = Decision::Refuse { reason: Some("not today".to_owned()) };
    world.client.approve(&run, TaskId(2), refuse).await.expect("it is asked");
    world.end(&run).await;
    let events = world.events(&run).await;
    assert_eq!(outcomes(&events), ["z succeeded", "x succeeded", "other succeeded", "v failed"]);
    let refused = events.iter().rev().find(|event| event["event"] == "task_finished").expect("it ended");
    assert_eq!(refused["outcome"]["error"]["message"], "`a` was not allowed: not today");
    let written: Vec<Value> =
        world.far.calls().into_iter().filter(|call| call.key == "r/1").map(|call| call.args).collect();
    assert_eq!(written, [json!({"name": "other"})]);
    assert!(!world.far.counts().contains_key("r/2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_planner_asks_is_answered_before_the_plan_grows() {
    let Some(world) = World::new(Far::echo().await).await else { return };
    let (mut host, _worker) = (world.host().await, world.worker(&["a"]).await);
    let script = |then| Script { first: vec![Line::new("x", "a", &[])], then, asks: Some("which?".to_owned()) };
    let run = world.ask("r", script(vec![Line::new("y", "a", &[])])).await;
    let asked = world.event(&run, 0, "approval_needed").await;
    assert_eq!((&asked["task"], &asked["arguments"]["question"]), (&json!(1), &json!("which?")));
    host.kill().await;
    host.again().await;
    let answer = [("answer".to_owned(), json!("the second"))].into_iter().collect();
    let said = Decision::Approve { args: Some(answer), always: false };
    // An answer to another question is none to this one, and neither is a bare yes.
    let seq = asked["seq"].as_u64().expect("a number");
    let other = world.client.answer(&run, TaskId(1), seq - 1, said.clone()).await;
    assert!(matches!(other, Err(Error::Refused { status: 409, .. })), "{other:?}");
    let bare = world.client.approve(&run, TaskId(1), Decision::Approve { args: None, always: false }).await;
    assert!(matches!(bare, Err(Error::Refused { status: 422, .. })), "{bare:?}");
    world.client.answer(&run, TaskId(1), seq, said.clone()).await.expect("it is asked");
    let again = world.client.answer(&run, TaskId(1), seq, said).await;
    assert!(matches!(again, Err(Error::Refused { status: 409, .. })), "{again:?}");
    let end = world.end(&run).await;
    assert_eq!(end.answer.expect("an answer").text, "a succeeded, a succeeded, the second");
    let events = world.events(&run).await;
    let given = events.iter().find(|event| event["event"] == "approval_given").expect("it is told");
    assert_eq!((&given["approved"], &given["answer"]), (&json!(true), &json!("the second")));
    // When the run's time is up nobody is waited for.
    let late = RunId("late".to_owned());
    let text = serde_json::to_string(&script(Vec::new())).expect("a script is JSON");
    let mut input = RunInput::new(Request::new(text));
    input.limits.run_timeout_ms = Some(6_000);
    world.client.start(&late, &input).await.expect("it starts");
    world.end(&late).await;
    let given = world.event(&late, 0, "approval_given").await;
    assert_eq!(given["approved"], json!(false), "{given}");
    let said = world.client.approve(&late, TaskId(1), Decision::Refuse { reason: None }).await;
    assert!(matches!(said, Err(Error::Refused { status: 409, .. })), "{said:?}");
    // Nobody need answer.
    let run = world.ask("s", script(Vec::new())).await;
    world.event(&run, 0, "approval_needed").await;
    world.client.approve(&run, TaskId(1), Decision::Refuse { reason: None }).await.expect("it is asked");
    assert_eq!(world.end(&run).await.answer.expect("an answer").text, "a succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_always_is_asked_once() {
    let Some(world) = World::new(Far::echo().await).await else { return };
    let (_host, _worker) = (world.host().await, world.worker(&["a"]).await);
    let run = world.start("r", &["x", "y", "z"].map(|name| Line::new(name, "a", &[]).writes())).await;
    world.event(&run, 0, "approval_needed").await;
    let always = Decision::Approve { args: None, always: true };
    world.client.approve(&run, TaskId(0), always).await.expect("it is asked");
    world.end(&run).await;
    let events = world.events(&run).await;
    assert_eq!(outcomes(&events), ["x succeeded", "y succeeded", "z succeeded"]);
    assert_eq!(events.iter().filter(|event| event["event"] == "approval_needed").count(), 1);
}
