//! Agent2Agent 1.0 over real sockets: what one binding says, all say.

mod around;

use futures::StreamExt;
use jarvis_proto::a2a::a2a_service_client::A2aServiceClient;
use jarvis_proto::a2a::send_message_response::Payload;
use jarvis_proto::a2a::{
    GetTaskRequest, ListTasksRequest, SendMessageRequest, SubscribeToTaskRequest, Task, TaskState,
};
use jarvis_testing::chat::{Reply as Said, Script};
use reqwest::Method;
use serde_json::{Value, json};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::harness::{self, Does, Harness, Reply, planned};

const V: &str = "A2A-Version";

/// Calls a method of JSON-RPC, and gives its result or its error.
async fn rpc(harness: &Harness, method: &str, params: Value) -> Result<Value, Value> {
    let reply = call(harness, method, params).await;
    assert_eq!((reply.status, &reply.json["jsonrpc"], &reply.json["id"]), (200, &json!("2.0"), &json!(7)), "{reply:?}");
    match reply.json.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(reply.json["error"].clone()),
    }
}

async fn call(harness: &Harness, method: &str, params: Value) -> Reply {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let sent = harness.request(Method::POST, "/a2a").header(V, "1.0").json(&body).send();
    Reply::of(sent.await.expect("a reply")).await
}

async fn rest(harness: &Harness, method: Method, path: &str, body: Option<Value>) -> Reply {
    let mut request = harness.request(method, &format!("/a2a{path}")).header(V, "1.0");
    if let Some(body) = body {
        request = request.json(&body);
    }
    Reply::of(request.send().await.expect("a reply")).await
}

async fn grpc(harness: &Harness) -> A2aServiceClient<Channel> {
    let channel = Channel::from_shared(format!("http://{}", harness.grpc)).expect("an address");
    A2aServiceClient::new(channel.connect().await.expect("it answers"))
}

fn now<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("a2a-version", "1.0".parse().expect("a version"));
    request
}

/// A message of text, with what else stands in it.
fn message(text: &str, more: Value) -> Value {
    let mut message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]});
    message.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    json!({"message": message})
}

fn at_once(mut sent: Value) -> Value {
    sent["configuration"] = json!({"returnImmediately": true});
    sent
}

/// Reads the protocol's JSON.
fn of<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

/// What two tasks have in common that were asked the same.
fn alike(task: &Task) -> Value {
    let mut task = serde_json::to_value(task).expect("JSON");
    let text = task.to_string().replace(task["id"].as_str().expect("an id"), "ID");
    task = serde_json::from_str(&text).expect("JSON");
    task["status"]["timestamp"] = Value::Null;
    task
}

#[tokio::test]
async fn every_binding_gives_the_same_task() {
    let harness = harness::with_chat(planned()).start().await;
    let sent = message("how is the mood", json!({"contextId": "talk"}));
    let by_rpc = rpc(&harness, "SendMessage", sent.clone()).await.expect("a task");
    let by_rest = rest(&harness, Method::POST, "/message:send", Some(sent.clone())).await;
    assert_eq!(by_rest.status, 200, "{by_rest:?}");
    let reply = grpc(&harness).await.send_message(now(of::<SendMessageRequest>(&sent))).await.expect("a task");
    let Some(Payload::Task(by_grpc)) = reply.into_inner().payload else { panic!("no task") };
    let (by_rpc, by_rest): (Task, Task) = (of(&by_rpc["task"]), of(&by_rest.json["task"]));
    assert_eq!(alike(&by_rpc)["contextId"], "talk");
    let shown = alike(&by_rpc);
    assert_eq!(state(&shown), "TASK_STATE_COMPLETED", "{shown}");
    assert_eq!(
        shown["history"],
        json!([{
        "messageId": "m-1", "contextId": "talk", "taskId": "ID", "role": "ROLE_USER",
        "parts": [{"text": "how is the mood", "mediaType": "text/plain"}]}])
    );
    let [result, answer] = shown["artifacts"].as_array().expect("artifacts").as_slice() else { panic!("{shown}") };
    assert_eq!((&result["artifactId"], &result["name"]), (&json!("task-1"), &json!("text-classification")));
    assert_eq!(result["parts"][0]["data"], json!({"generated text": "text-classification done"}));
    assert_eq!((&answer["artifactId"], &answer["parts"][0]["text"]), (&json!("answer"), &json!("Here you are.")));
    // The words of the earlier ones of the conversation are part of what the later ones ask; the tasks are alike.
    assert_eq!(alike(&by_rest), shown);
    assert_eq!(alike(&by_grpc), shown);
    for task in [&by_rpc, &by_rest, &by_grpc] {
        harness.settled().await;
        let read = rpc(&harness, "GetTask", json!({"id": task.id})).await.expect("a task");
        assert_eq!(&of::<Task>(&read), task, "it is the same from the journal");
        let read = rest(&harness, Method::GET, &format!("/tasks/{}?historyLength=0", task.id), None).await;
        assert_eq!(of::<Task>(&read.json), Task { history: Vec::new(), ..task.clone() });
        let request = GetTaskRequest { id: task.id.clone(), ..GetTaskRequest::default() };
        assert_eq!(&grpc(&harness).await.get_task(now(request)).await.expect("a task").into_inner(), task);
    }
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let harness = harness::with_chat(planned()).start().await;
    let sent = message("how is the mood", json!({}));
    let body = json!({"jsonrpc": "2.0", "id": "s", "method": "SendStreamingMessage", "params": sent});
    let by_rpc = harness.request(Method::POST, "/a2a").header(V, "1.0").json(&body).send().await.expect("a reply");
    assert_eq!(by_rpc.headers()["content-type"], "text/event-stream");
    let by_rpc = harness::events(&by_rpc.text().await.expect("text"));
    assert!(by_rpc.iter().all(|(_, data)| (&data["jsonrpc"], &data["id"]) == (&json!("2.0"), &json!("s"))));
    let by_rpc: Vec<Value> = by_rpc.into_iter().map(|(_, data)| data["result"].clone()).collect();
    let request = harness.request(Method::POST, "/a2a/message:stream").header(V, "1.0").json(&sent);
    let by_rest = request.send().await.expect("a reply").text().await.expect("text");
    let by_rest: Vec<Value> = harness::events(&by_rest).into_iter().map(|(_, data)| data).collect();
    let stream = grpc(&harness).await.send_streaming_message(now(of::<SendMessageRequest>(&sent))).await;
    let by_grpc: Vec<Value> = stream
        .expect("a stream")
        .into_inner()
        .map(|told| serde_json::to_value(told.expect("no error")).expect("JSON"))
        .collect()
        .await;
    for told in [by_rpc, by_rest, by_grpc] {
        let [first, rest @ ..] = told.as_slice() else { panic!("{told:?}") };
        assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state(&first["task"])), "{first}");
        let last = rest.last().expect("an end");
        assert_eq!(state(&last["statusUpdate"]), "TASK_STATE_COMPLETED", "{told:?}");
        let answer = |told: &Value| {
            let update = told.get("artifactUpdate").filter(|update| update["artifact"]["artifactId"] == "answer")?;
            update["artifact"]["parts"][0]["text"].as_str().map(str::to_owned)
        };
        assert_eq!(rest.iter().filter_map(answer).collect::<String>(), "Here you are.", "{told:?}");
        let result = rest.iter().any(|told| told["artifactUpdate"]["artifact"]["artifactId"] == "task-1");
        assert!(result || first["task"]["artifacts"][0]["artifactId"] == "task-1", "{told:?}");
    }
}

/// What a fault is called by each binding.
async fn faults(harness: &Harness, method: &str, params: Value) -> (i64, String) {
    let error = rpc(harness, method, params).await.expect_err("it is refused");
    let reason = error.pointer("/data/0/reason").and_then(Value::as_str).unwrap_or_default();
    (error["code"].as_i64().unwrap_or_default(), reason.to_owned())
}

#[tokio::test]
async fn what_cannot_be_done_is_said_in_the_words_of_the_protocol() {
    let harness = harness::with_chat(planned()).start().await;
    let done = rpc(&harness, "SendMessage", message("x", json!({"contextId": "c"}))).await.expect("a task");
    let done = done["task"]["id"].as_str().expect("an id").to_owned();
    let (gone, no) = ("0198a0b0-0000-7000-8000-000000000000", "nonsense");
    let raw = |kind: &str| json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}, {"raw": "dGNr", "mediaType": kind}]}});
    for (method, params, code, reason) in [
        ("GetTask", json!({"id": gone}), -32001, "TASK_NOT_FOUND"),
        ("GetTask", json!({"id": no}), -32001, "TASK_NOT_FOUND"),
        ("GetTask", json!({}), -32001, "TASK_NOT_FOUND"),
        ("CancelTask", json!({"id": gone}), -32001, "TASK_NOT_FOUND"),
        ("CancelTask", json!({"id": done}), -32002, "TASK_NOT_CANCELABLE"),
        ("SubscribeToTask", json!({"id": done}), -32004, "UNSUPPORTED_OPERATION"),
        ("SubscribeToTask", json!({"id": gone}), -32001, "TASK_NOT_FOUND"),
        ("SendMessage", message("y", json!({"taskId": gone})), -32001, "TASK_NOT_FOUND"),
        ("SendMessage", message("y", json!({"taskId": done})), -32004, "UNSUPPORTED_OPERATION"),
        ("SendMessage", message("y", json!({"taskId": done, "contextId": "other"})), -32602, ""),
        ("SendMessage", message("y", json!({"metadata": {"skillId": "magic"}})), -32602, ""),
        ("SendMessage", message(" ", json!({})), -32602, ""),
        ("SendMessage", message("y", json!({"messageId": ""})), -32602, ""),
        ("SendMessage", message("y", json!({"parts": []})), -32602, ""),
        ("SendMessage", message("y", json!({"parts": [{"filename": "a"}]})), -32602, ""),
        ("SendMessage", message("y", json!({"role": "ROLE_KING"})), -32602, ""),
        ("SendMessage", raw("application/x-unheard-of"), -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
        ("SendMessage", raw("image/png"), -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
        ("SendMessage", json!({}), -32602, ""),
        ("SendMessage", json!([1]), -32602, ""),
        ("ListTasks", json!({"pageSize": 0}), -32602, ""),
        ("ListTasks", json!({"pageToken": "x"}), -32602, ""),
        ("GetTaskPushNotificationConfig", json!({"taskId": done, "id": "w"}), -32001, "TASK_NOT_FOUND"),
        ("GetExtendedAgentCard", json!({}), -32004, "UNSUPPORTED_OPERATION"),
        ("Nonsense", json!({}), -32601, ""),
    ] {
        let got = faults(&harness, method, params.clone()).await;
        assert_eq!(got, (code, reason.to_owned()), "{method} {params}");
    }

    let missing = format!("/tasks/{gone}");
    for (method, path, body, status, name, reason) in [
        (Method::GET, missing.as_str(), None, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
        (Method::POST, &format!("/tasks/{done}:cancel"), None, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
        (Method::GET, &format!("/tasks/{done}:subscribe"), None, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
        (Method::POST, &format!("/tasks/{done}:subscribe"), None, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
        (Method::POST, "/message:send", Some(json!({})), 400, "INVALID_ARGUMENT", ""),
        (Method::GET, "/tasks?status=nonsense", None, 400, "INVALID_ARGUMENT", ""),
        (Method::GET, "/tasks?pageSize=many", None, 400, "INVALID_ARGUMENT", ""),
    ] {
        let reply = rest(&harness, method.clone(), path, body).await;
        let error = &reply.json["error"];
        assert_eq!((reply.status, &error["code"]), (status, &json!(status)), "{method} {path}: {reply:?}");
        assert_eq!(
            (&error["status"], error["details"][0]["reason"].as_str().unwrap_or_default()),
            (&json!(name), reason)
        );
    }

    let mut client = grpc(&harness).await;
    let told = |error: Status| {
        let info = error.get_error_details().error_info().cloned();
        (error.code(), info.map(|info| (info.reason, info.domain)).unwrap_or_default())
    };
    let (domain, id) = ("a2a-protocol.org".to_owned(), done.clone());
    let request = GetTaskRequest { id: gone.to_owned(), ..GetTaskRequest::default() };
    let error = told(client.get_task(now(request.clone())).await.expect_err("it is not there"));
    assert_eq!(error, (Code::NotFound, ("TASK_NOT_FOUND".to_owned(), domain.clone())));
    let error = told(
        client
            .subscribe_to_task(now(SubscribeToTaskRequest { id, ..Default::default() }))
            .await
            .expect_err("it is over"),
    );
    assert_eq!(error, (Code::FailedPrecondition, ("UNSUPPORTED_OPERATION".to_owned(), domain.clone())));
    let error = told(client.get_task(Request::new(request)).await.expect_err("it names no version"));
    assert_eq!(error, (Code::FailedPrecondition, ("VERSION_NOT_SUPPORTED".to_owned(), domain)));
}

#[tokio::test]
async fn a_body_is_json_of_a_version_that_is_spoken() {
    let harness = harness::offline().start().await;
    let send = async |path: &str, version: Option<&str>, kind: &str, body: &str| {
        let mut request = harness.request(Method::POST, path).header("content-type", kind).body(body.to_owned());
        if let Some(version) = version {
            request = request.header(V, version);
        }
        Reply::of(request.send().await.expect("a reply")).await
    };
    let get = r#"{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}"#;
    let json = "application/json";
    for (version, kind, body, code) in [
        (Some("1.0"), json, get, -32001),
        (Some("1.0.1"), "application/a2a+json", get, -32001),
        (Some("99.0"), json, get, -32009),
        (None, json, get, -32009),
        (Some("1.0"), "text/plain", get, -32005),
        (Some("1.0"), json, "{", -32700),
        (Some("1.0"), json, "[]", -32600),
        (Some("1.0"), json, r#"{"jsonrpc": "1.0", "id": 1, "method": "GetTask"}"#, -32600),
        (Some("1.0"), json, r#"{"jsonrpc": "2.0", "id": {}, "method": "GetTask"}"#, -32600),
        (Some("1.0"), json, r#"{"jsonrpc": "2.0", "id": 1}"#, -32600),
    ] {
        let reply = send("/a2a", version, kind, body).await;
        assert_eq!(reply.json["error"]["code"], code, "{version:?} {kind} {body}: {reply:?}");
    }
    for (version, kind, body, status) in [
        (Some("1.0"), json, "{", 400),
        (Some("99.0"), json, "{}", 400),
        (None, json, "{}", 400),
        (Some("1.0"), "text/plain", "{}", 415),
    ] {
        let reply = send("/a2a/message:send", version, kind, body).await;
        assert_eq!(
            (reply.status, &reply.json["error"]["code"]),
            (status, &json!(status)),
            "{version:?} {kind} {body}: {reply:?}"
        );
    }
    let unread = send("/a2a/tasks/x:cancel?A2A-Version=1.0", None, json, "").await;
    assert_eq!(unread.status, 404, "{unread:?}");
}

#[tokio::test]
async fn tasks_are_listed_by_when_they_changed() {
    let harness = harness::with_chat(planned().on("chitchat", "Hello.")).start().await;
    let mut ids = Vec::new();
    for context in ["a", "b", "a", ""] {
        let sent = rpc(&harness, "SendMessage", message("x", json!({"contextId": context}))).await.expect("a task");
        ids.push(sent["task"]["id"].as_str().expect("an id").to_owned());
    }
    harness.settled().await;
    ids.reverse();
    let [own, a2, b, a1] = ids.as_slice() else { panic!("{ids:?}") };
    let list = async |params: Value| {
        let listed = rpc(&harness, "ListTasks", params.clone()).await.expect("a list");
        let tasks = listed["tasks"].as_array().cloned().unwrap_or_default();
        let ids: Vec<String> = tasks.iter().map(|task| task["id"].as_str().expect("an id").to_owned()).collect();
        (ids, listed)
    };
    for (params, want) in [
        (json!({}), vec![own, a2, b, a1]),
        (json!({"contextId": "a"}), vec![a2, a1]),
        (json!({"contextId": own}), vec![own]),
        (json!({"contextId": "nobody's"}), vec![]),
        (json!({"status": "TASK_STATE_COMPLETED", "contextId": "b"}), vec![b]),
        (json!({"status": "TASK_STATE_WORKING"}), vec![]),
        (json!({"statusTimestampAfter": "2999-01-01T00:00:00Z"}), vec![]),
    ] {
        let (ids, listed) = list(params.clone()).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), want, "{params}");
        assert_eq!((&listed["totalSize"], &listed["nextPageToken"]), (&json!(want.len()), &json!("")), "{listed}");
        assert!(
            listed["tasks"].as_array().is_some_and(|tasks| tasks.iter().all(|task| task.get("artifacts").is_none()))
        );
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    for (size, left) in [(2, true), (1, true), (1, false)] {
        let (ids, listed) = list(json!({"pageSize": size, "pageToken": token})).await;
        assert_eq!((ids.len(), &listed["pageSize"], &listed["totalSize"]), (size, &json!(size), &json!(4)));
        seen.extend(ids);
        listed["nextPageToken"].as_str().expect("it is always there").clone_into(&mut token);
        assert_eq!(!token.is_empty(), left);
    }
    assert_eq!(seen, ids);
    let by_rest =
        rest(&harness, Method::GET, "/tasks?contextId=a&pageSize=1&includeArtifacts=true&historyLength=0", None).await;
    let task = &by_rest.json["tasks"][0];
    assert_eq!((&task["id"], task.get("history")), (&json!(a2), None), "{by_rest:?}");
    assert!(task["artifacts"].is_array());
    let request = ListTasksRequest { status: TaskState::Completed.into(), ..ListTasksRequest::default() };
    let by_grpc = grpc(&harness).await.list_tasks(now(request)).await.expect("a list").into_inner();
    assert_eq!((by_grpc.total_size, by_grpc.tasks[0].id.as_str()), (4, own.as_str()));
}

#[tokio::test]
async fn a_task_goes_on_by_itself_and_is_followed_and_cancelled() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
    let sent = rpc(&harness, "SendMessage", at_once(message("x", json!({"contextId": "c"})))).await.expect("a task");
    let id = sent["task"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(sent["task"]["contextId"], "c", "before its run began");
    harness.worker.started.reach(1).await;
    let read = rpc(&harness, "GetTask", json!({"id": id})).await.expect("a task");
    assert_eq!(state(&read), "TASK_STATE_WORKING");
    let listed =
        rpc(&harness, "ListTasks", json!({"status": "TASK_STATE_WORKING", "contextId": "c"})).await.expect("a list");
    assert_eq!(listed["tasks"][0]["id"], json!(id));
    let more = rpc(&harness, "SendMessage", message("and now", json!({"taskId": id}))).await;
    assert_eq!(more.expect_err("it waits for nothing")["code"], -32004);
    let subscribe = |how: Method| harness.request(how, &format!("/a2a/tasks/{id}:subscribe")).header(V, "1.0").send();
    let followers = [subscribe(Method::POST).await.expect("a reply"), subscribe(Method::GET).await.expect("a reply")];
    let request = SubscribeToTaskRequest { id: id.clone(), ..SubscribeToTaskRequest::default() };
    let by_grpc = grpc(&harness).await.subscribe_to_task(now(request)).await.expect("a stream").into_inner();
    let cancelled = rpc(&harness, "CancelTask", json!({"id": id})).await.expect("a task");
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");
    let mut all = Vec::new();
    for follower in followers {
        let told = harness::events(&follower.text().await.expect("text"));
        all.push(told.into_iter().map(|(_, data)| data).collect::<Vec<Value>>());
    }
    all.push(by_grpc.map(|told| serde_json::to_value(told.expect("no error")).expect("JSON")).collect().await);
    for told in &all {
        assert_eq!((state(&told[0]["task"]), &told[0]["task"]["id"]), ("TASK_STATE_WORKING", &json!(id)));
        assert_eq!(state(&told[told.len() - 1]["statusUpdate"]), "TASK_STATE_CANCELED", "{told:?}");
        // One that came later has more of it in the task that it begins with.
        let both = told.len().min(all[0].len()) - 1;
        assert_eq!(told[told.len() - both..], all[0][all[0].len() - both..], "each is told the same");
    }
    let again = rpc(&harness, "CancelTask", json!({"id": id})).await.expect_err("it is over");
    assert_eq!(again["code"], -32002);
}

#[tokio::test]
async fn a_conversation_goes_on_and_files_go_with_a_message() {
    let script = Script::new().on("parse_task", "[]").on("chitchat", "A cat.").otherwise("A cat.");
    let harness = harness::with_chat(script).start().await;
    let first = rpc(&harness, "SendMessage", message("what is the animal", json!({}))).await.expect("a task");
    let context = first["task"]["contextId"].as_str().expect("a context").to_owned();
    assert_eq!(first["task"]["id"], json!(context), "a task that names none is a conversation of its own");
    harness.settled().await;
    let parts = json!([
        {"text": "and its name, see"}, {"text": "the note"},
        {"raw": "VG9t", "mediaType": "text/plain", "filename": "note.txt"}, {"data": {"age": 3}},
    ]);
    let second =
        rpc(&harness, "SendMessage", message("", json!({"contextId": context, "parts": parts}))).await.expect("a task");
    assert_eq!(second["task"]["contextId"], json!(context));
    let said = &second["task"]["history"][0]["parts"];
    assert_eq!(
        (&said[0]["text"], &said[1]["text"], &said[1]["filename"]),
        (&json!("and its name, see\nthe note"), &json!("Tom"), &json!("note.txt"))
    );
    let asked = harness.chat.as_ref().expect("a model").requests();
    let prompt = asked.last().expect("a request").prompt();
    for words in ["what is the animal", "A cat.", "and its name"] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    let others = rpc(&harness, "ListTasks", json!({"contextId": context})).await.expect("a list");
    assert_eq!(others["totalSize"], 2);
}

#[tokio::test]
async fn a_reply_that_breaks_is_a_task_that_failed() {
    let script = Script::new().on("parse_task", Said::error(500, "it broke"));
    let harness = harness::with_chat(script).start().await;
    let task = rpc(&harness, "SendMessage", message("x", json!({}))).await.expect("a task")["task"].clone();
    assert_eq!(state(&task), "TASK_STATE_FAILED", "{task}");
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().is_some_and(|words| !words.is_empty()), "{task}");
}
