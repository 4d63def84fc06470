//! Plans of runs that are planned by: rated by whoever they belong to, and shown to nobody else's planner.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Does, Harness, ask, planned};
use crate::users::{self, told};

/// Lets a user ask, and gives the id of the run.
async fn asks(harness: &Harness, name: &str, text: &str, experience: Option<bool>) -> String {
    let mut body = ask(text);
    if let Some(experience) = experience {
        body["experience"] = json!(experience);
    }
    let reply = told(harness, name, Method::POST, "/hugginggpt", Some(body)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    harness.settled_for("root").await;
    let runs = told(harness, name, Method::GET, "/runs", None).await.json;
    runs["runs"][0]["run_id"].as_str().expect("an id").to_owned()
}

/// How much is kept of a user.
async fn kept(harness: &Harness, name: &str) -> u64 {
    told(harness, name, Method::GET, "/me", None).await.json["stored"]["experience"].as_u64().expect("a number")
}

/// Whether the latest planning prompt tells of an earlier request.
fn was_shown(harness: &Harness, request: &str) -> bool {
    let calls = harness.chat.as_ref().expect("a chat model").requests_of("parse_task");
    let messages = calls.last().expect("a planning call").body["messages"].as_array().expect("messages").clone();
    messages.iter().rev().skip(1).any(|message| message["content"].as_str().is_some_and(|said| said == request))
}

#[tokio::test]
async fn a_user_is_planned_for_by_runs_of_their_own() {
    let harness = users::two(harness::with_chat(planned())).start().await;
    let first = asks(&harness, "ada", "how is the xylophone mood", None).await;
    asks(&harness, "bob", "how is the xylophone mood today", None).await;
    assert!(!was_shown(&harness, "how is the xylophone mood"), "bob is shown nothing of ada's");
    asks(&harness, "ada", "the xylophone mood of now", Some(false)).await;
    assert!(!was_shown(&harness, "how is the xylophone mood"), "it is left out where that is asked for");
    assert_eq!((kept(&harness, "ada").await, kept(&harness, "bob").await), (1, 1));
    asks(&harness, "ada", "the xylophone mood of now", None).await;
    assert!(was_shown(&harness, "how is the xylophone mood"));
    let path = format!("/runs/{first}/rating");
    let bad = json!({"rating": "bad"});
    assert_eq!(told(&harness, "bob", Method::POST, &path, Some(bad.clone())).await.status, 404);
    let rated = told(&harness, "ada", Method::POST, &path, Some(bad)).await;
    assert_eq!((rated.status, rated.json), (200, json!({"run_id": first, "rating": "bad"})));
    asks(&harness, "ada", "the xylophone mood of then", None).await;
    assert!(!was_shown(&harness, "how is the xylophone mood"), "a bad plan is shown to nobody");
    assert!(was_shown(&harness, "the xylophone mood of now"));
}

#[tokio::test]
async fn what_was_not_kept_cannot_be_rated() {
    let harness = users::two(harness::with_chat(planned())).does("text-classification", Does::Fails).start().await;
    let failed = asks(&harness, "ada", "one", None).await;
    let without = asks(&harness, "ada", "two", Some(false)).await;
    let check = async |id: &str, rating: Value, status: u16, says: &str| {
        let path = format!("/runs/{id}/rating");
        let reply = told(&harness, "ada", Method::POST, &path, Some(rating)).await;
        assert!(reply.status == status && reply.text.contains(says), "{} {}", reply.status, reply.text);
    };
    check(&without, json!({"rating": "good"}), 409, "no_experience").await;
    check("01a1f800-0000-7000-8000-000000000000", json!({"rating": "good"}), 404, "").await;
    check(&failed, json!({"rating": "splendid"}), 400, "").await;
    // A plan may be good though its run failed.
    asks(&harness, "ada", "one more", None).await;
    assert!(!was_shown(&harness, "one"));
    check(&failed, json!({"rating": "good"}), 200, "good").await;
    asks(&harness, "ada", "one more again", None).await;
    assert!(was_shown(&harness, "one"));
}
