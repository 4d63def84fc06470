//! The list of runs in pages, and runs that are removed.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Does, Harness, Reply, ask, planned};
use crate::users;

fn ids(reply: &Reply) -> Vec<String> {
    let runs = reply.json["runs"].as_array().expect("runs");
    runs.iter().map(|run| run["run_id"].as_str().expect("an id").to_owned()).collect()
}

async fn run(harness: &Harness, text: &str) -> String {
    let reply = harness.post("/hugginggpt", ask(text)).await;
    reply.json["run"]["run_id"].as_str().expect("an id").to_owned()
}

async fn delete(harness: &Harness, path: &str) -> Reply {
    Reply::of(harness.request(Method::DELETE, path).send().await.expect("a reply")).await
}

#[tokio::test]
async fn runs_come_in_pages_that_go_on() {
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| options.max_running = 1)
        .start()
        .await;
    harness.go.add_permits(5);
    for at in 0..5 {
        run(&harness, &format!("Number {at}")).await;
    }
    harness.settled().await;
    // One goes on, and one waits for its slot.
    let mut body = ask("Live");
    body["detached"] = json!(true);
    for _ in 0..2 {
        assert_eq!(harness.post("/hugginggpt", body.clone()).await.status, 202);
    }
    harness.worker.started.reach(6).await;
    let all = harness.get("/runs").await;
    assert_eq!((ids(&all).len(), all.json.get("next")), (7, None));
    for limit in 1..7 {
        let (mut paged, mut next) = (Vec::new(), String::new());
        loop {
            let page = harness.get(&format!("/runs?limit={limit}{next}")).await;
            assert!(ids(&page).len() <= limit);
            paged.extend(ids(&page));
            let Some(more) = page.json["next"].as_str() else { break };
            next = format!("&before={more}");
        }
        assert_eq!(paged, ids(&all), "{limit}");
    }
    for (query, count) in [
        ("status=done", 5),
        ("status=queued", 1),
        ("status=running", 1),
        ("status=queued,running", 2),
        ("status=running,%20done", 6),
        ("status=cancelled,failed,waiting,interrupted", 0),
        ("text=numbER", 5),
        ("text=3", 1),
        ("text=live&status=queued", 1),
        ("text=nothing", 0),
        ("until_ms=1", 0),
        ("since_ms=1", 7),
        ("user=ada", 0),
    ] {
        assert_eq!(ids(&harness.get(&format!("/runs?{query}")).await).len(), count, "{query}");
    }
    for (query, param) in [("status=odd", "status"), ("before=x", "before"), ("limit=0", "limit")] {
        let refused = harness.get(&format!("/runs?{query}")).await;
        assert_eq!((refused.told().as_str(), &refused.json["error"]["param"]), ("400 invalid_request", &json!(param)));
    }
    harness.go.add_permits(2);
    harness.settled().await;
}

#[tokio::test]
async fn a_run_is_removed_with_its_files_and_not_while_it_goes_on() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Waits).start().await;
    let part = reqwest::multipart::Part::bytes(crate::media::PNG.to_vec()).file_name("a.png");
    let sent = harness.request(Method::POST, "/upload").multipart(reqwest::multipart::Form::new().part("file", part));
    let sent = Reply::of(sent.send().await.expect("a reply")).await;
    let path = sent.json["path"].as_str().expect("a path").to_owned();
    // It was spoken of earlier.
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let messages = [said("user", &path), said("assistant", "A picture."), said("user", "tell the mood")];
    let body = json!({"messages": messages, "detached": true});
    let started = harness.post("/hugginggpt", body.clone()).await;
    let id = started.json["run_id"].as_str().expect("an id").to_owned();
    harness.worker.started.reach(1).await;
    let of = format!("/runs/{id}");
    assert_eq!(delete(&harness, &of).await.told(), "409 goes_on");
    harness.go.add_permits(4);
    harness.settled().await;
    assert_eq!(harness.get(&path).await.status, 200);
    assert_eq!(delete(&harness, &of).await.json, json!({"run_id": id, "deleted": true, "media": 1}));
    for (method, path) in [(Method::GET, of.as_str()), (Method::DELETE, of.as_str()), (Method::GET, path.as_str())] {
        let reply = Reply::of(harness.request(method.clone(), path).send().await.expect("a reply")).await;
        assert_eq!(reply.told(), "404 not_found", "{method} {path}");
    }
    assert_eq!(harness.get("/runs").await.json, json!({"runs": []}));
    // All that ended before a time.
    harness.go.add_permits(4);
    let [_, last] = [run(&harness, "x").await, run(&harness, "y").await];
    harness.settled().await;
    let began = harness.get(&format!("/runs/{last}")).await.json["started_at_ms"].as_u64().expect("a time");
    let gone = delete(&harness, &format!("/runs?before_ms={}", began + 86_400_000)).await;
    assert_eq!(gone.json, json!({"deleted": 2, "media": 0}));
    for query in ["", "?before_ms=x", "?before_ms=9223372036854775808"] {
        assert_eq!(delete(&harness, &format!("/runs{query}")).await.told(), "400 invalid_request", "{query}");
    }
}

#[tokio::test]
async fn a_user_removes_and_lists_what_is_their_own() {
    let harness = users::two(harness::with_chat(planned())).start().await;
    let mut runs = Vec::new();
    for name in ["ada", "bob"] {
        let reply = users::told(&harness, name, Method::POST, "/hugginggpt", Some(ask("x"))).await;
        runs.push(reply.json["run"]["run_id"].as_str().expect("an id").to_owned());
    }
    harness.settled_for("root").await;
    let count = async |name: &str, query: &str| {
        let reply = users::told(&harness, name, Method::GET, &format!("/runs{query}"), None).await;
        if reply.status == 200 { ids(&reply).len().to_string() } else { reply.told() }
    };
    for (name, query, want) in [
        ("ada", "", "1"),
        ("ada", "?user=ada", "1"),
        ("ada", "?user=bob", "403 not_allowed"),
        ("root", "", "2"),
        ("root", "?user=bob", "1"),
        ("root", "?user=eve", "0"),
    ] {
        assert_eq!(count(name, query).await, want, "{name} {query}");
    }
    let removed = async |name: &str, path: &str| users::told(&harness, name, Method::DELETE, path, None).await;
    assert_eq!(removed("ada", &format!("/runs/{}", runs[1])).await.told(), "404 not_found");
    let later = "/runs?before_ms=9000000000000";
    assert_eq!(removed("ada", later).await.json["deleted"], 1);
    assert_eq!(removed("root", later).await.json["deleted"], 0, "root has none of their own");
    assert_eq!(removed("root", &format!("/runs/{}", runs[1])).await.status, 200);
    let audit = std::fs::read_to_string(harness.folder().join("audit.jsonl")).expect("it is there");
    let told: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.len(), 1, "{audit}");
    assert_eq!(
        (&told[0]["action"], &told[0]["of"], &told[0]["user"]),
        (&json!("delete"), &json!("bob"), &json!("root"))
    );
}
