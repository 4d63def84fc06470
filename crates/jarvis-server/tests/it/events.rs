//! Runs that are started without holding a connection, and many of them followed by one stream.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Does, Harness, PATIENCE, Reply, ask, planned};

/// The frames of a stream: kind, id and data.
fn frames(text: &str) -> Vec<(String, String, Value)> {
    let field = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    text.split("\n\n")
        .filter_map(|event| {
            let data = serde_json::from_str(&field(event, "data")?).expect("JSON");
            Some((field(event, "event").unwrap_or_default(), field(event, "id").unwrap_or_default(), data))
        })
        .collect()
}

async fn detached(harness: &Harness, path: &str, mut body: Value) -> String {
    body["detached"] = json!(true);
    let reply = harness.post(path, body).await;
    let id = reply.json["run_id"].as_str().expect("an id").to_owned();
    assert_eq!((reply.status, &reply.json["status"]), (202, &json!("running")), "{path}");
    assert_eq!(reply.json["events"], format!("/runs/{id}/events"), "{path}");
    id
}

#[tokio::test]
async fn runs_are_started_by_every_route_and_followed_by_one_stream() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Waits).start().await;
    let task = json!({"task_id": 0, "task_type": "text-classification", "args": {"text": "x"}, "dependencies": []});
    let plan = json!({"execution_config": {"tasks": [task]}});
    let saved = harness.post("/decisions", ask("x")).await;
    let saved = saved.json["plan_id"].as_str().map(str::to_owned);
    let mut ids = Vec::new();
    for (path, body) in [
        ("/hugginggpt".to_owned(), ask("first")),
        ("/pipelines/hugginggpt/runs".to_owned(), ask("second")),
        ("/plans/run".to_owned(), plan.clone()),
        (format!("/plans/{}/run", saved.as_deref().unwrap_or("x")), plan),
    ] {
        ids.push(detached(&harness, &path, body).await);
    }
    harness.worker.started.reach(ids.len()).await;
    let past = harness.get(&format!("/runs/{}", ids[0])).await;
    assert_eq!(past.json["status"], "running", "nobody holds its connection");
    let unknown = "00000000-0000-7000-8000-000000000000";
    let query = ids.iter().map(|id| format!("run={id}&")).collect::<String>() + "run=x&run=" + unknown;
    let stream = harness.request(Method::GET, &format!("/events?{query}")).send().await.expect("a reply");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    harness.go.add_permits(ids.len());
    let all = frames(&tokio::time::timeout(PATIENCE, stream.text()).await.expect("it ends").expect("a whole stream"));
    let gone: Vec<&Value> = all.iter().filter(|(kind, ..)| kind == "gone").map(|(.., data)| data).collect();
    assert_eq!(gone, [&json!({"run_id": "x"}), &json!({"run_id": unknown})]);
    harness.settled().await;
    for id in &ids {
        let of: Vec<_> = all.iter().filter(|(kind, _, data)| kind != "gone" && data["run_id"] == id.as_str()).collect();
        // The same as the stream of the run alone, with its id before each place; the journal has no pieces of the answer.
        let alone = frames(&harness.get(&format!("/runs/{id}/events")).await.text);
        let kept: Vec<_> = of.iter().filter(|(kind, ..)| kind != "token").collect();
        assert_eq!(kept.len(), alone.len());
        for ((kind, at, data), (other_kind, other_at, other)) in kept.into_iter().zip(&alone) {
            assert_eq!((kind, at, data), (other_kind, &format!("{id}@{other_at}"), other));
        }
        assert_eq!(of.last().map(|(kind, ..)| kind.as_str()), Some("done"));
    }
    // From the places on that were seen, when all is past.
    let seen: Vec<String> = all.iter().filter(|(kind, ..)| kind == "plan").map(|(_, at, _)| at.clone()).collect();
    let query = seen.iter().map(|at| format!("run={at}")).collect::<Vec<_>>().join("&");
    let rest = frames(&harness.get(&format!("/events?{query}")).await.text);
    assert!(!rest.is_empty() && rest.iter().all(|(kind, ..)| kind != "run_started" && kind != "plan"));
    assert_eq!(rest.iter().filter(|(kind, ..)| kind == "done").count(), seen.len());
}

#[tokio::test]
async fn a_run_that_waits_for_its_slot_says_so_and_whoever_lets_it_go_cancels_nothing() {
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| (options.max_running, options.max_waiting) = (1, 1))
        .start()
        .await;
    let first = detached(&harness, "/hugginggpt", ask("x")).await;
    harness.worker.started.reach(1).await;
    let mut body = ask("y");
    body["detached"] = json!(true);
    let second = harness.post("/hugginggpt", body.clone()).await;
    assert_eq!((second.status, &second.json["status"]), (202, &json!("queued")));
    assert_eq!(harness.post("/hugginggpt", body).await.told(), "503 overloaded");
    let second = second.json["run_id"].as_str().expect("an id").to_owned();
    drop(harness.request(Method::GET, &format!("/events?run={first}&run={second}")).send().await.expect("a reply"));
    harness.go.add_permits(2);
    let stream = harness.get(&format!("/events?run={second}")).await;
    assert_eq!(frames(&stream.text).last().map(|(kind, ..)| kind.clone()), Some("done".to_owned()));
    for query in ["", "?run=", "?run=a@x"] {
        let want = if query == "?run=" { "200" } else { "400 invalid_request" };
        assert_eq!(harness.get(&format!("/events{query}")).await.told(), want, "{query}");
    }
}

#[tokio::test]
async fn one_of_many_that_waits_keeps_no_other_from_being_told() {
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| options.max_running = 100)
        .start()
        .await;
    let ids = futures::future::join_all((0..100).map(|_| detached(&harness, "/hugginggpt", ask("x")))).await;
    harness.worker.started.reach(100).await;
    let query = ids.iter().map(|id| format!("run={id}")).collect::<Vec<_>>().join("&");
    let mut stream = harness.request(Method::GET, &format!("/events?{query}")).send().await.expect("a reply");
    harness.go.add_permits(99);
    let mut seen = String::new();
    let most = async {
        while seen.matches("event: done\n").count() < 99 {
            seen.push_str(
                std::str::from_utf8(&stream.chunk().await.expect("it goes on").expect("more")).expect("text"),
            );
        }
    };
    tokio::time::timeout(PATIENCE, most).await.expect("they are told while one waits");
    harness.go.add_permits(1);
    let rest = stream.text().await.expect("it ends");
    assert_eq!(rest.matches("event: done\n").count(), 1);
}

#[tokio::test]
async fn runs_of_others_are_gone() {
    let harness = crate::users::two(harness::with_chat(planned())).start().await;
    let adas = crate::users::told(&harness, "ada", Method::POST, "/hugginggpt", Some(ask("x"))).await;
    let id = adas.json["run"]["run_id"].as_str().expect("an id").to_owned();
    harness.settled_for("ada").await;
    let stream = |name: &'static str| {
        let request =
            harness.request(Method::GET, &format!("/events?run={id}")).bearer_auth(format!("token-of-{name}"));
        async move { frames(&Reply::of(request.send().await.expect("a reply")).await.text) }
    };
    assert_eq!(stream("ada").await.last().map(|(kind, ..)| kind.clone()), Some("done".to_owned()));
    assert_eq!(stream("bob").await, [("gone".to_owned(), String::new(), json!({"run_id": id}))]);
}
