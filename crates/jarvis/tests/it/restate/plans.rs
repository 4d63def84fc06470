//! What becomes of a request is the same by Restate and in a server's own process: one pipeline, carried out in two ways.

use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::restate::binary;
use serde_json::{Value, json};

use super::{World, free_port};
use crate::approvals::Shop;
use crate::growing::{QUESTION, asking};
use crate::serve::{PATIENCE, Server};

/// What is compared of a reply: all but ids, times, and the usage of the models.
fn told(reply: &Value) -> Value {
    match reply {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, _)| !["run_id", "ms", "usage", "at_ms", "seconds"].contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name.clone(), told(value))).collect())
        }
        Value::Array(items) => items.iter().map(told).collect(),
        other => other.clone(),
    }
}

struct Case {
    name: &'static str,
    request: &'static str,
    script: fn() -> Script,
    /// What the reply must say, beside being the same: by pointer.
    want: fn() -> Vec<(&'static str, Value)>,
}

const FIND: &str = r#"{"task":"shop.findArticle","id":0,"dep":[-1],"args":{"query":"lamp"}}"#;

const CASES: &[Case] = &[
    Case {
        name: "a plan that would change something and has a fault is withheld",
        request: "find a lamp and reserve it",
        script: || {
            let plan = format!(r#"[{FIND},{{"task":"shop.reserve","id":1,"dep":[-1],"args":{{}}}}]"#);
            Script::new().on("parse_task", Reply::text(plan)).otherwise(Reply::text("Nothing was done."))
        },
        want: || vec![("/run/ok", json!(false)), ("/run/outcomes/0/status", json!("failed"))],
    },
    Case {
        name: "small talk is conversation",
        request: "how are you today?",
        script: || Script::new().on("parse_task", Reply::text("[]")).otherwise(Reply::text("Well, thank you.")),
        want: || vec![("/run/ok", json!(true)), ("/message", json!("Well, thank you."))],
    },
    Case {
        name: "what the planner misses is told",
        request: "find a lamp and paint it",
        script: || {
            Script::new()
                .on("parse_task", Reply::text(format!(r#"{{"tasks":[{FIND}],"more":true}}"#)))
                .on("replan", Reply::text(r#"{"done": false, "missing": "nothing here paints"}"#))
                .otherwise(Reply::text("It is found."))
        },
        want: || vec![("/run/ok", json!(false)), ("/run/outcomes/0/status", json!("succeeded"))],
    },
    Case {
        name: "a plan grows, and what is done later makes up for what failed",
        request: "tell me the mood of this: I love this sunrise",
        script: || {
            let first = r#"[{"task":"text-to-video","id":0,"dep":[-1],"args":{"text":"a sunrise"}},
                {"task":"text-classification","id":1,"dep":[-1],"args":{"text":"I love this"}}]"#;
            let next =
                r#"{"tasks":[{"task":"text-classification","id":2,"dep":[-1],"args":{"text":"I love this sunrise"}}]}"#;
            Script::new()
                .on("parse_task", Reply::text(first))
                .on_containing("replan", &["\"2\":"], Reply::text(r#"{"done": true}"#))
                .on("replan", Reply::text(next))
                .otherwise(Reply::text("It is glad."))
        },
        want: || vec![("/run/outcomes/2/status", json!("succeeded")), ("/run/rounds", json!(1))],
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_request_comes_to_the_same_by_restate_and_in_a_process() {
    if binary().is_none() {
        return;
    }
    for Case { name, request, script, want } in CASES {
        let shop = Shop::open(200).await.chatting(script()).await;
        let url = shop.chat.url();
        let here = Server::start(&shop.harness, &shop.args(&url, &[]));
        let (status, in_process) = here.ask(request).await;
        assert_eq!(status, 200, "{name}: {in_process}");
        assert_eq!(here.end("-TERM"), Some(0));
        let world = World::of(shop).await.expect("there is a server of Restate");
        let server = world.serve();
        let (status, by_restate) = World::registered(&server, request).await;
        assert_eq!(status, 200, "{name}: {by_restate}");
        assert_eq!(told(&by_restate), told(&in_process), "{name}");
        for (at, want) in want() {
            assert_eq!(by_restate.pointer(at), Some(&want), "{name}: {at} of {by_restate:#}");
        }
        assert!(!world.shop.calls().iter().any(|call| call.starts_with("POST")), "{name}: {:?}", world.shop.calls());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_planner_asks_is_answered_at_any_server() {
    if binary().is_none() {
        return;
    }
    let Some(world) = World::of(Shop::open(200).await.chatting(asking()).await).await else { return };
    let server = world.serve();
    let (status, reply) = World::registered(&server, "make a film of a sunrise").await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    let own = tempfile::tempdir().expect("a folder");
    let envs = [("JARVIS_DATA_DIR".to_owned(), own.path().display().to_string())];
    let other = world.serve_at(&free_port(), &envs);
    let asked = async {
        loop {
            let (_, run) = other.get(&format!("/runs/{id}")).await;
            if run["status"] == "waiting" {
                return run;
            }
            tokio::task::yield_now().await;
        }
    };
    let run = tokio::time::timeout(PATIENCE, asked).await.expect("it asks");
    assert_eq!(run["waiting"][0]["arguments"]["question"], QUESTION, "{run}");
    let at = format!("/runs/{id}/approvals/1");
    assert_eq!(other.post(&at, &json!({"decision": "approve"})).await.0, 400);
    let answer = json!({"decision": "approve", "arguments": {"answer": "one by the sea"}});
    assert_eq!(other.post(&at, &answer).await.0, 200);
    let text = server.told(&id).await;
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    assert_eq!([of("plan_grew").len(), of("approval_needed").len(), of("approval_given").len()], [1, 1, 1], "{text}");
    assert_eq!(of("approval_given")[0]["answer"], "one by the sea", "{text}");
    // A mood is no film, whatever the planner says.
    assert_eq!(of("done")[0]["ok"], false, "{text}");
    assert!(of("answer")[0]["answer"]["text"].as_str().is_some_and(|text| text.ends_with("Here it is.")), "{text}");
    // What only goes on needs is not told.
    assert!(!text.contains(r#""kept":"#), "{text}");
}

/// The question and the write that follows have the same number; leave for the one is none for the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_follows_an_answer_elsewhere_is_asked_about() {
    if binary().is_none() {
        return;
    }
    let first = r#"[{"task":"text-to-video","id":0,"dep":[-1],"args":{"text":"a lamp"}}]"#;
    let next = r#"{"tasks":[{"task":"shop.reserve","id":1,"dep":[-1],"args":{"article":17}}]}"#;
    let script = Script::new()
        .on("parse_task", Reply::text(first))
        .on_containing("replan", &["the second", "\"1\":"], Reply::text(r#"{"done": true}"#))
        .on_containing("replan", &["the second"], Reply::text(next))
        .on("replan", Reply::text(r#"{"ask": "Which lamp?"}"#))
        .otherwise(Reply::text("Here it is."));
    let Some(world) = World::of(Shop::open(200).await.chatting(script).await).await else { return };
    let server = world.serve();
    let (status, reply) = World::registered(&server, "make a film of a lamp and reserve it").await;
    assert_eq!((status, &reply["waiting"][0]["tool"]), (202, &json!("ask_person")), "{reply}");
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    let (own, at) = (tempfile::tempdir().expect("a folder"), format!("/runs/{id}/approvals/1"));
    let envs = [("JARVIS_DATA_DIR".to_owned(), own.path().display().to_string())];
    let other = world.serve_at(&free_port(), &envs);
    let answer = json!({"decision": "approve", "arguments": {"answer": "the second"}});
    let answered = async {
        while other.post(&at, &answer).await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.expect("it asks");
    let asked = async {
        loop {
            let (_, run) = server.get(&format!("/runs/{id}")).await;
            match run["waiting"][0]["tool"].as_str() {
                Some("shop.reserve") => return run,
                _ if run["status"] == "failed" || run["status"] == "done" => panic!("{run:#}"),
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let run = tokio::time::timeout(PATIENCE, asked).await.expect("it waits for leave");
    assert_eq!(run["waiting"].as_array().map(Vec::len), Some(1), "{run}");
    assert!(!world.shop.calls().iter().any(|call| call.starts_with("POST")), "{:?}", world.shop.calls());
    assert_eq!(server.post(&at, &json!({"decision": "approve"})).await.0, 200);
    let text = server.told(&id).await;
    assert_eq!(text.matches("event: approval_given").count(), 2, "{text}");
    assert_eq!(world.shop.calls(), [r#"POST /reservations {"article":17}"#]);
}
