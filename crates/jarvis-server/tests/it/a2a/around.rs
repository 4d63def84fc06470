//! What is around the tasks: webhooks, cards, whose they are, and clients of older versions.

use jarvis_net::{Secret, UrlPolicy};
use jarvis_plan::Budget;
use jarvis_proto::a2a::TaskPushNotificationConfig;
use jarvis_server::{May, User};
use jarvis_testing::stub::{Canned, Stub};

use super::*;
use crate::harness::PATIENCE;

#[tokio::test]
async fn a_webhook_is_told_where_the_policy_lets_it_and_until_it_is_removed() {
    let stub = Stub::start(|_| Canned::json(&json!({}))).await.expect("a port");
    let url = stub.url("/told");
    let strict = harness::offline().start().await;
    for (url, words) in [
        (url.as_str(), "is a loopback address"),
        ("http://localhost:1/x", "is this machine"),
        ("http://10.0.0.1/x", "is a private address"),
        ("ftp://example.org/x", "only http and https"),
        ("nonsense", "the webhook's address is none"),
    ] {
        let mut sent = message("hello", json!({}));
        sent["configuration"] = json!({"taskPushNotificationConfig": {"url": url}});
        let error = rpc(&strict, "SendMessage", sent).await.expect_err("it is refused");
        assert!(
            error["code"] == -32602 && error["message"].as_str().is_some_and(|said| said.contains(words)),
            "{error}"
        );
    }
    assert_eq!(strict.get("/runs").await.json["runs"], json!([]), "nothing was begun");

    let builder = harness::with_chat(planned()).does("text-classification", Does::Waits);
    let builder = builder.options(|options| options.urls = UrlPolicy { allow_private: true, ..UrlPolicy::default() });
    let harness = builder.start().await;
    let webhook =
        json!({"id": "w", "url": url, "token": "t", "authentication": {"scheme": "Bearer", "credentials": "c"}});
    let mut sent = at_once(message("x", json!({})));
    sent["configuration"]["taskPushNotificationConfig"] = webhook.clone();
    let sent = rpc(&harness, "SendMessage", sent).await.expect("a task");
    let id = sent["task"]["id"].as_str().expect("an id").to_owned();
    let (at, mut kept) = (format!("/tasks/{id}/pushNotificationConfigs"), webhook.clone());
    kept["taskId"] = json!(id);
    assert_eq!(rest(&harness, Method::GET, &format!("{at}/w"), None).await.json, kept);
    let other = json!({"id": "other", "url": format!("{url}/other")});
    assert_eq!(rest(&harness, Method::POST, &at, Some(other)).await.json["taskId"], json!(id));
    assert_eq!(rest(&harness, Method::GET, &at, None).await.json["configs"].as_array().map(Vec::len), Some(2));
    for _ in 0..2 {
        assert_eq!(rest(&harness, Method::DELETE, &format!("{at}/other"), None).await.status, 200);
    }
    assert_eq!(rest(&harness, Method::GET, &format!("{at}/other"), None).await.status, 404);
    harness.go.add_permits(1);
    let told = async {
        loop {
            let told: Vec<Value> =
                stub.requests().iter().filter(|one| one.path == "/told").map(|one| one.json()).collect();
            if told.last().is_some_and(|last| state(&last["statusUpdate"]) == "TASK_STATE_COMPLETED") {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await.expect("it is told the end");
    assert_eq!(state(&told[0]["statusUpdate"]), "TASK_STATE_WORKING", "{told:?}");
    let artifacts: Vec<&Value> =
        told.iter().filter_map(|told| told.pointer("/artifactUpdate/artifact/artifactId")).collect();
    assert_eq!(artifacts, ["task-1", "answer"], "{told:?}");
    assert!(told.iter().all(|told| told.as_object().is_some_and(|told| told.len() == 1)), "{told:?}");
    let one = stub.requests().into_iter().find(|one| one.path == "/told").expect("it was told");
    let header = |name: &str| one.header(name).unwrap_or_default().to_owned();
    assert_eq!(
        [header("authorization"), header("x-a2a-notification-token"), header("content-type")],
        ["Bearer c", "t", "application/a2a+json"]
    );
    let request: TaskPushNotificationConfig = of(&json!({"taskId": id, "url": url}));
    let set = grpc(&harness).await.create_task_push_notification_config(now(request)).await.expect("it is kept");
    assert!(!set.into_inner().id.is_empty(), "it is given an id");
}

#[tokio::test]
async fn without_a_journal_there_are_no_webhooks_and_the_card_says_so() {
    let harness = harness::with_chat(planned()).without_journal().start().await;
    let card = harness.get("/.well-known/agent-card.json").await.json;
    assert_eq!(card["capabilities"]["pushNotifications"], false);
    let mut sent = message("x", json!({}));
    sent["configuration"] = json!({"taskPushNotificationConfig": {"url": "https://example.org/x"}});
    assert_eq!(faults(&harness, "SendMessage", sent).await, (-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED".to_owned()));
    let done = rpc(&harness, "SendMessage", message("x", json!({}))).await.expect("a task");
    assert_eq!(state(&done["task"]), "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn the_card_tells_what_whoever_reads_it_may_know() {
    let open = harness::with_chat(planned()).start().await;
    let reply = open.get("/.well-known/agent-card.json").await;
    let card = &reply.json;
    let binding = |at: usize| {
        (card["supportedInterfaces"][at]["protocolBinding"].clone(), card["supportedInterfaces"][at]["url"].clone())
    };
    assert_eq!(binding(0), (json!("JSONRPC"), json!(format!("{}/a2a", open.url))));
    assert_eq!(card.get("url"), None, "what only older clients read stands in a card of its own");
    assert_eq!(binding(1), (json!("HTTP+JSON"), json!(format!("{}/a2a", open.url))));
    assert_eq!(binding(2), (json!("GRPC"), json!(open.grpc)));
    assert_eq!(
        (&card["capabilities"]["streaming"], &card["capabilities"]["extendedAgentCard"]),
        (&json!(true), &json!(false))
    );
    let skills = |card: &Value| -> Vec<String> {
        card["skills"]
            .as_array()
            .expect("skills")
            .iter()
            .map(|skill| skill["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert!(skills(card).iter().any(|id| id == "text-classification"), "{card}");
    assert!(reply.header("cache-control").contains("max-age"));
    let known = open.request(Method::GET, "/.well-known/agent-card.json").header("if-none-match", reply.header("etag"));
    assert_eq!(known.send().await.expect("a reply").status(), 304);

    let options = |options: &mut jarvis_server::Options| {
        options.token = Secret::new("open sesame");
        options.public_url = Some("https://jarvis.example.org".to_owned());
    };
    let closed = harness::with_chat(planned()).options(options).start().await;
    let card = closed.get("/.well-known/agent-card.json").await.json;
    assert_eq!(card["supportedInterfaces"][0]["url"], "https://jarvis.example.org/a2a");
    assert_eq!(skills(&card), ["hugginggpt", "chat", "rewoo", "react"]);
    assert_eq!(card["securitySchemes"]["token"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
    assert_eq!(rest(&closed, Method::GET, "/extendedAgentCard", None).await.told(), "401 unauthorized");
    let request = closed.request(Method::GET, "/a2a/extendedAgentCard").header(V, "1.0").bearer_auth("open sesame");
    let extended = Reply::of(request.send().await.expect("a reply")).await;
    assert!(skills(&extended.json).len() > 3, "{extended:?}");
}

#[tokio::test]
async fn tasks_belong_to_whoever_sent_their_message() {
    let user = |name: &str, may| User {
        name: name.into(),
        token: Secret::new(name).expect("a token"),
        may,
        max_runs: None,
        a_day: Budget::default(),
    };
    let run = May { run: true, approve: false, admin: false };
    let users = vec![user("ada", run), user("bob", run), user("eve", May { run: false, approve: true, admin: false })];
    let harness = harness::with_chat(planned()).options(|options| options.users = users).start().await;
    let as_user = async |name: &str, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let request = harness.request(Method::POST, "/a2a").header(V, "1.0").bearer_auth(name).json(&body);
        Reply::of(request.send().await.expect("a reply")).await.json
    };
    let sent = as_user("ada", "SendMessage", message("x", json!({"contextId": "talk"}))).await;
    let id = &sent["result"]["task"]["id"];
    assert!(id.is_string(), "{sent}");
    harness.settled().await;
    for (method, params) in [
        ("GetTask", json!({"id": id})),
        ("CancelTask", json!({"id": id})),
        ("SubscribeToTask", json!({"id": id})),
        ("SendMessage", message("y", json!({"taskId": id}))),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        ("CreateTaskPushNotificationConfig", json!({"taskId": id, "url": "https://example.org"})),
    ] {
        let reply = as_user("bob", method, params).await;
        assert_eq!(reply["error"]["code"], -32001, "{method}: {reply}");
    }
    let sent = as_user("bob", "SendMessage", message("y", json!({"contextId": "talk"}))).await;
    assert_eq!(state(&sent["result"]["task"]), "TASK_STATE_COMPLETED");
    harness.settled().await;
    // The same name means another conversation to each.
    for name in ["ada", "bob"] {
        let listed = as_user(name, "ListTasks", json!({"contextId": "talk"})).await;
        assert_eq!(listed["result"]["totalSize"], 1, "{listed}");
    }
    let prompts: Vec<String> =
        harness.chat.as_ref().expect("a model").requests().iter().map(|one| one.prompt()).collect();
    assert!(!prompts.iter().any(|prompt| prompt.contains("Here you are.")), "nobody's answer was told to another");
    let refused = as_user("eve", "SendMessage", message("x", json!({}))).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"][0]["reason"]),
        (&json!(-32000), &json!("PERMISSION_DENIED"))
    );
    let nobody = call(&harness, "ListTasks", json!({})).await;
    assert_eq!(nobody.told(), "401 unauthorized");
}

#[tokio::test]
async fn a_client_of_the_version_before_is_understood() {
    let harness = harness::with_chat(planned()).start().await;
    let old = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        Reply::of(harness.open("/a2a", body).await).await
    };
    let said = json!({"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}});
    let task = old("message/send", said.clone()).await.json["result"].clone();
    assert_eq!((&task["kind"], state(&task)), (&json!("task"), "completed"), "{task}");
    assert_eq!(task["artifacts"][1]["parts"], json!([{"kind": "text", "text": "Here you are."}]));
    assert_eq!((&task["history"][0]["role"], &task["history"][0]["kind"]), (&json!("user"), &json!("message")));
    let read = old("tasks/get", json!({"id": task["id"]})).await.json["result"].clone();
    assert_eq!(read["id"], task["id"]);
    let told = harness::events(&old("message/stream", said).await.text);
    let kinds: Vec<&str> = told.iter().filter_map(|(_, data)| data["result"]["kind"].as_str()).collect();
    assert_eq!((kinds.len(), kinds[0]), (told.len(), "task"), "{told:?}");
    let last = &told[told.len() - 1].1["result"];
    assert_eq!((&last["kind"], &last["final"], state(last)), (&json!("status-update"), &json!(true), "completed"));
    let card = harness.get("/.well-known/agent.json").await.json;
    assert_eq!(
        (&card["url"], &card["preferredTransport"]),
        (&json!(format!("{}/a2a", harness.url)), &json!("JSONRPC"))
    );
}
