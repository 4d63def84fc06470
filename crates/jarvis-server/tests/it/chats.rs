//! Chats of the page over HTTP, and what callers may look at: tools, chat models, what tasks take.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Harness, Reply, ask, planned};
use crate::users::{self, told};

async fn put(harness: &Harness, id: &str, title: &str, body: Value, version: u64) -> Reply {
    let body = json!({"title": title, "body": body, "version": version});
    Reply::of(harness.request(Method::PUT, &format!("/chats/{id}")).json(&body).send().await.expect("a reply")).await
}

#[tokio::test]
async fn a_chat_is_kept_listed_found_and_removed() {
    let harness = harness::offline().start().await;
    let body = json!({"turns": [{"said": "Find the EDGES", "at": 1.5}], "x": null});
    let kept = put(&harness, "a-1", "First", body.clone(), 0).await;
    assert_eq!((kept.status, &kept.json["id"], &kept.json["version"]), (200, &json!("a-1"), &json!(1)));
    for id in ["b", "c"] {
        assert_eq!(put(&harness, id, &format!("Title {id}"), json!({}), 0).await.status, 200);
    }
    let shown = harness.get("/chats/a-1").await.json;
    assert_eq!((&shown["body"], &shown["title"], &shown["version"]), (&body, &json!("First"), &json!(1)));
    // Written elsewhere meanwhile.
    let late = put(&harness, "a-1", "Late", json!({}), 0).await;
    assert_eq!((late.told().as_str(), &late.json["error"]["details"]), ("409 changed", &json!({"version": 1})));
    assert_eq!(put(&harness, "a-1", "Second", body, 1).await.json["version"], 2);
    let ids = async |query: &str| {
        let page = harness.get(&format!("/chats{query}")).await.json;
        let ids =
            page["chats"].as_array().expect("chats").iter().map(|chat| chat["id"].as_str().expect("an id").to_owned());
        (ids.collect::<Vec<_>>().join(" "), page["next"].as_str().map(str::to_owned))
    };
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let (page, more) = ids(&format!("?limit=1{next}")).await;
        paged.push(page);
        let Some(more) = more else { break };
        next = format!("&before={more}");
    }
    assert_eq!((paged.len(), paged.join(" ")), (3, ids("").await.0));
    assert_eq!(
        (ids("?text=edges").await.0, ids("?text=title").await.0.len(), ids("?text=none").await.0),
        ("a-1".into(), 3, String::new())
    );
    for (path, body, want) in [
        ("/chats/%20", json!({"title": "", "body": {}, "version": 0}), "400 invalid_request"),
        ("/chats/a%2Fb", json!({"title": "", "body": {}, "version": 0}), "400 invalid_request"),
        ("/chats/x", json!({"title": "", "body": [], "version": 0}), "400 invalid_request"),
        ("/chats/x", json!({"title": "x".repeat(501), "body": {}, "version": 0}), "400 invalid_request"),
        ("/chats/x", json!({"title": "", "body": {}, "version": -1}), "400 invalid_request"),
        ("/chats/x", json!({"title": "", "body": {"a": "x".repeat(2 << 20)}, "version": 0}), "413 too_large"),
        ("/chats/x", json!({"title": "", "body": {}, "version": 3}), "409 changed"),
    ] {
        let reply = harness.request(Method::PUT, path).json(&body).send().await.expect("a reply");
        assert_eq!(Reply::of(reply).await.told(), want, "{path}");
    }
    let delete = async |id: &str| {
        let sent = harness.request(Method::DELETE, &format!("/chats/{id}")).send().await.expect("a reply");
        Reply::of(sent).await
    };
    assert_eq!(delete("b").await.json, json!({"id": "b", "deleted": true}));
    assert_eq!(
        (delete("b").await.told(), harness.get("/chats/b").await.told()),
        ("404 not_found".into(), "404 not_found".into())
    );
}

#[tokio::test]
async fn chats_are_their_users_and_need_a_journal() {
    let harness = users::two(harness::offline()).start().await;
    let body = || Some(json!({"title": "mine", "body": {}, "version": 0}));
    assert_eq!(told(&harness, "ada", Method::PUT, "/chats/x", body()).await.status, 200);
    for name in ["bob", "root"] {
        assert_eq!(told(&harness, name, Method::GET, "/chats", None).await.json, json!({"chats": []}), "{name}");
        assert_eq!(told(&harness, name, Method::GET, "/chats/x", None).await.told(), "404 not_found", "{name}");
        assert_eq!(told(&harness, name, Method::PUT, "/chats/x", body()).await.json["version"], 1, "{name}");
        assert_eq!(told(&harness, name, Method::DELETE, "/chats/x", None).await.status, 200, "{name}");
    }
    assert_eq!(told(&harness, "ada", Method::GET, "/chats/x", None).await.json["title"], "mine");
    let without = harness::offline().without_journal().start().await;
    for (method, path) in
        [(Method::GET, "/chats"), (Method::GET, "/chats/x"), (Method::PUT, "/chats/x"), (Method::DELETE, "/chats/x")]
    {
        let request = without.request(method.clone(), path).json(&body().expect("a body"));
        assert_eq!(Reply::of(request.send().await.expect("a reply")).await.told(), "501 no_journal", "{method} {path}");
    }
}

#[tokio::test]
async fn callers_see_the_tools_the_models_and_what_tasks_take() {
    let harness = harness::with_chat(planned()).start().await;
    let tools = harness.get("/tools").await.json;
    assert_eq!((&tools["tools"][0]["name"], &tools["tools"][0]["approval"]), (&json!("shop/reserve"), &json!("new")));
    assert_eq!(tools["warnings"][0], "`files/read` is left out");
    assert!(tools["warnings"][1].as_str().is_some_and(|told| told.starts_with("`shop/reserve` is new")), "{tools}");
    let health = harness.get("/health").await.json;
    assert_eq!(health["chat_models"], json!(["gpt-4", "offline"]));
    let kept = &health["kept"]["items"][0];
    assert_eq!(
        kept,
        &json!({"what": "runs", "where": "run journal on this machine, in /data", "until": "you delete it"})
    );
    let models = harness.get("/models").await.json;
    let tasks = models["tasks"].as_array().expect("tasks");
    let task = tasks.iter().find(|task| task["name"] == "text-classification").expect("it is there");
    assert_eq!(
        task["params"],
        json!([{"name": "text", "kind": "text", "required": true, "description": "the text to judge"}])
    );
    // The default by its name, and the other one.
    let with = async |model: &str| {
        let mut body = ask("tell the mood of: I love it");
        body["model"] = json!(model);
        harness.post("/hugginggpt", body).await
    };
    assert_eq!(with("gpt-4").await.json["run"]["planner"], "llm");
    assert_eq!(with("offline").await.json["run"]["planner"], "offline");
    assert_eq!(with("").await.json["run"]["planner"], "llm");
    // What the clients of the original server send.
    assert_eq!(with("gpt-3.5-turbo").await.json["run"]["model"], "gpt-4");
    let unknown = with("mistral-9").await;
    assert_eq!((unknown.told().as_str(), &unknown.json["error"]["param"]), ("400 invalid_request", &json!("model")));
    assert!(unknown.json["error"]["hint"].as_str().is_some_and(|hint| hint.contains("gpt-4, offline")));
}
