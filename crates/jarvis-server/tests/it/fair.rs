//! Slots are given in turns: nobody's many runs keep somebody else's one waiting.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Does, ask, planned};
use crate::users::{self, told};

#[tokio::test(flavor = "multi_thread")]
async fn the_runs_of_one_keep_nobody_else_waiting() {
    let harness = users::two(harness::with_chat(planned()))
        .does("text-classification", Does::Waits)
        .options(|options| {
            (options.max_running, options.max_waiting) = (8, 300);
            options.max_waiting_per_caller = Some(123);
        })
        .start()
        .await;
    let start = async |name: &str| {
        let mut body = ask("x");
        body["detached"] = json!(true);
        told(&harness, name, Method::POST, "/hugginggpt", Some(body)).await
    };
    // One slot is left for others, and so are places in the queue.
    let adas = join_all((0..131).map(|_| start("ada"))).await;
    let of = |status: &str| adas.iter().filter(|reply| reply.json["status"] == status).count();
    assert_eq!((of("running"), of("queued")), (7, 123));
    let refused: Vec<String> = adas.iter().map(harness::Reply::told).filter(|told| told != "202").collect();
    assert_eq!(refused, ["429 too_many_waiting"]);
    let [bobs, next] = [start("bob").await, start("bob").await];
    assert_eq!((&bobs.json["status"], &next.json["status"]), (&json!("running"), &json!("queued")));
    harness.worker.started.reach(8).await;
    // Of the next slots that come free, ada gets one and then bob.
    let next = next.json["run_id"].as_str().expect("an id").to_owned();
    harness.go.add_permits(2);
    let mut stream = harness
        .request(Method::GET, &format!("/runs/{next}/events"))
        .bearer_auth("token-of-bob")
        .send()
        .await
        .expect("a reply");
    let mut seen = String::new();
    let starts = async {
        while !seen.contains("event: run_started\n") {
            let piece = stream.chunk().await.expect("a stream").expect("more of it");
            seen.push_str(std::str::from_utf8(&piece).expect("text"));
        }
    };
    tokio::time::timeout(harness::PATIENCE, starts).await.expect("it has its turn");
    let queued: Vec<Value> =
        harness::events(&seen).into_iter().filter(|(name, _)| name == "queued").map(|(_, data)| data).collect();
    assert_eq!(queued[0]["ahead"], 1);
    let left = told(&harness, "ada", Method::GET, "/runs?status=queued&limit=1000", None).await;
    assert!(left.json["runs"].as_array().expect("runs").len() >= 121, "ada's others still wait");
    harness.go.add_permits(200);
    harness.settled_for("root").await;
}
