//! Tasks that change something wait for all tasks before them, and for a person.

use jarvis_plan::TaskId;
use jarvis_restate::{Decision, Error};
use serde_json::{Value, json};

use crate::far::Far;
use crate::node::Line;
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
    let early = world.client.approve(&run, TaskId(1), Decision::Approve { args: None }).await;
    assert!(matches!(early, Err(Error::Refused { status: 409, .. })), "{early:?}");
    held.answer(Ok(json!(1)));
    let asked = world.event(&run, 0, "approval_needed").await;
    assert_eq!((&asked["task"], &asked["arguments"]["name"]), (&json!(1), &json!("w")));

    // It waits as long as it takes, whatever happens to its host.
    host.kill().await;
    host.again().await;
    let args = [("name".to_owned(), json!("other"))].into_iter().collect();
    world.client.approve(&run, TaskId(1), Decision::Approve { args: Some(args) }).await.expect("it is asked");
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
