//! Agent2Agent with the real binary: a task that waits for leave is answered by a further message, over a kill too, and its webhooks
//! go on.

use jarvis_testing::stub::{Canned, Stub};
use serde_json::{Value, json};

use crate::approvals::{REQUEST, Shop};
use crate::serve::{PATIENCE, Server};

fn serve(shop: &Shop) -> Server {
    Server::start(&shop.harness, &shop.args(&shop.chat.url(), &[]))
}

/// Calls a method, and gives its result or its error.
async fn call(server: &Server, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let sent = server.client.post(format!("{}/a2a", server.url)).header("A2A-Version", "1.0").json(&body).send();
    let reply: Value = sent.await.expect("a reply").json().await.expect("JSON");
    reply.get("result").or(reply.get("error")).cloned().unwrap_or_else(|| panic!("{reply}"))
}

fn message(parts: Value, task: Option<&str>) -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts, "taskId": task.unwrap_or_default()}})
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_task_waits_for_leave_over_a_kill_and_a_message_answers_it() {
    let shop = Shop::open(200).await;
    let told = Stub::start(|_| Canned::json(&json!({}))).await.expect("a port");
    let config = std::fs::read_to_string(shop.harness.work().join("jarvis.yaml")).expect("it is there");
    shop.harness.file("jarvis.yaml", format!("{config}urls: {{allow_private: true}}\n"));
    let server = serve(&shop);
    let mut sent = message(json!([{"text": REQUEST}]), None);
    sent["configuration"] = json!({"taskPushNotificationConfig": {"id": "w", "url": told.url("/told")}});
    let task = call(&server, "SendMessage", sent).await["task"].clone();
    let id = task["id"].as_str().expect("an id").to_owned();
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task}");
    let asked = &task["status"]["message"]["parts"];
    assert!(asked[0]["text"].as_str().is_some_and(|words| words.contains("calls `shop.reserve`")), "{asked}");
    assert_eq!(
        (&asked[1]["data"]["tool"], &asked[1]["data"]["arguments"]),
        (&json!("shop.reserve"), &json!({"article": 17}))
    );
    assert_eq!(server.end("-KILL"), None);

    let server = serve(&shop);
    let read = call(&server, "GetTask", json!({"id": id})).await;
    assert_eq!((state(&read), &read["history"]), ("TASK_STATE_INPUT_REQUIRED", &task["history"]));
    let listed = call(&server, "ListTasks", json!({"status": "TASK_STATE_INPUT_REQUIRED"})).await;
    assert_eq!(listed["tasks"][0]["id"], json!(id), "{listed}");
    let unclear = call(&server, "SendMessage", message(json!([{"text": "perhaps"}]), Some(&id))).await;
    assert!(
        unclear["code"] == -32602 && unclear["message"].as_str().is_some_and(|said| said.contains("`approve`")),
        "{unclear}"
    );
    assert_eq!(shop.calls(), ["GET /articles"], "nothing is done before it is allowed");
    let done = call(
        &server,
        "SendMessage",
        message(json!([{"data": {"decision": "approve", "arguments": {"article": 18}}}]), Some(&id)),
    )
    .await;
    assert_eq!(state(&done["task"]), "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(shop.calls(), ["GET /articles", r#"POST /reservations {"article":18}"#]);
    let said: Vec<&Value> =
        done["task"]["history"].as_array().expect("a history").iter().map(|said| &said["role"]).collect();
    assert_eq!(said, ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]);
    let more = call(&server, "SendMessage", message(json!([{"text": "yes"}]), Some(&id))).await;
    assert_eq!(more["code"], -32004);

    // What it was told before the kill it may be told again; the end it is told.
    let whole = async {
        loop {
            let told: Vec<Value> = told.requests().iter().map(jarvis_testing::stub::Captured::json).collect();
            if told.last().is_some_and(|last| state(&last["statusUpdate"]) == "TASK_STATE_COMPLETED") {
                return told;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, whole).await.expect("it is told the end");
    let states: Vec<&str> = told.iter().map(|told| state(told.get("task").unwrap_or(&told["statusUpdate"]))).collect();
    assert!(states.contains(&"TASK_STATE_INPUT_REQUIRED"), "{states:?}");
}

#[tokio::test]
async fn what_is_refused_in_words_is_not_done_and_the_reason_is_told() {
    let shop = Shop::open(200).await;
    let server = serve(&shop);
    let task = call(&server, "SendMessage", message(json!([{"text": REQUEST}]), None)).await["task"].clone();
    let done = call(&server, "SendMessage", message(json!([{"text": "No, too dear."}]), task["id"].as_str())).await;
    let answer = done["task"]["artifacts"].as_array().and_then(|all| all.last()).cloned().expect("an answer");
    assert!(answer["parts"][0]["text"].as_str().is_some_and(|words| words.contains("too dear")), "{answer}");
    assert_eq!(shop.calls(), ["GET /articles"]);
}

#[tokio::test]
async fn a_task_that_waits_can_be_cancelled() {
    let shop = Shop::open(200).await;
    let server = serve(&shop);
    let task = call(&server, "SendMessage", message(json!([{"text": REQUEST}]), None)).await["task"].clone();
    let cancelled = call(&server, "CancelTask", json!({"id": task["id"]})).await;
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED", "{cancelled}");
    assert_eq!(shop.calls(), ["GET /articles"]);
}
