//! Pulling models over HTTP: only for administrators, with the plan first, and of use at once.
#![cfg(feature = "experts")]

use std::path::Path;

use jarvis_testing::weights::{Trouble, WeightsHub, WeightsRepo, sha256};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

const REPO: &str = "org/mood-ONNX";
const GRAPH: &str = "onnx/model.onnx";

/// A tiny classifier as a repository.
fn mood() -> WeightsRepo {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jarvis-experts/tests/models/text-bert-classification");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let settings = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"];
    let repo = settings.iter().fold(WeightsRepo::new(REPO), |repo, name| repo.file(name, read(name)));
    repo.large(GRAPH, read(GRAPH))
}

/// A server whose Hub is this one, with an administrator.
fn server(hub: &WeightsHub, args: &[&str]) -> (Harness, Server) {
    let machine = Harness::new().env("HF_ENDPOINT", &hub.base()).env("JARVIS_ADMIN_TOKEN", "chief");
    let server = Server::start(&machine, args);
    (machine, server)
}

async fn post(server: &Server, path: &str, token: &str, body: Value) -> (u16, String) {
    let request = server.client.post(format!("{}{path}", server.url)).bearer_auth(token).json(&body);
    let reply = request.send().await.unwrap();
    (reply.status().as_u16(), reply.text().await.unwrap())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_administrator_pulls_and_the_model_serves_at_once() {
    let hub = WeightsHub::start(vec![mood()]);
    let (_machine, server) = server(&hub, &["--models-only"]);
    let (_, before) = server.get("/local-models").await;
    assert_eq!((&before["kept"], &before["pulls"]), (&json!([]), &json!(true)));
    let caption = before["suggested"].as_array().unwrap().iter().find(|one| one["name"] == "caption").unwrap();
    assert_eq!(caption["tasks"], json!(["image-to-text"]));

    let (status, plan) = post(&server, "/admin/models/plan", "chief", json!({"name": REPO})).await;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!((status, &plan["license"], &plan["is_pinned"]), (200, &json!("mit"), &json!(false)));
    assert_eq!((&plan["commit"], &plan["missing"]), (&json!(mood().main()), &plan["total"]));

    // What was not agreed to is not pulled.
    let other = json!({"name": REPO, "commit": "0".repeat(40)});
    let (status, told) = post(&server, "/admin/models/pull", "chief", other).await;
    assert!(status == 409 && told.contains("was agreed to"), "{status} {told}");
    assert_eq!(hub.requests_of("/resolve/").len(), 0);

    hub.trouble(GRAPH, [Trouble::OtherBytes]);
    let agreed = json!({"name": REPO, "commit": plan["commit"]});
    let (status, told) = post(&server, "/admin/models/pull", "chief", agreed.clone()).await;
    let last = lines(&told).pop().unwrap();
    assert!(status == 200 && last["error"].as_str().unwrap().contains("is not the file that was announced"), "{told}");
    assert_eq!(server.get("/local-models").await.1["kept"], json!([]));

    let (status, told) = post(&server, "/admin/models/pull", "chief", agreed).await;
    let told = lines(&told);
    assert_eq!(
        (status, told.first(), told.last()),
        (200, Some(&json!({"status": "pulling manifest"})), Some(&json!({"status": "success"})))
    );
    let digest = format!("sha256:{}", sha256(&std::fs::read(fixture_graph()).unwrap()));
    assert!(told.iter().any(|line| line["digest"] == digest && line["completed"] == line["total"]), "{told:?}");

    let (status, output) = server.post(&format!("/models/{REPO}"), &json!({"text": "What a wonderful film!"})).await;
    assert_eq!((status, output[0]["label"].is_string()), (200, true), "{output}");
    let (_, after) = server.get("/local-models").await;
    let kept = &after["kept"][0];
    assert_eq!((&kept["id"], &kept["tasks"]), (&json!(REPO), &json!(["text-classification"])));
    assert_eq!(kept["loaded"]["task"], "text-classification", "{after}");
}

fn fixture_graph() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../jarvis-experts/tests/models/text-bert-classification").join(GRAPH)
}

#[tokio::test]
async fn plans_use_what_is_pulled_and_removed_beside_the_server() {
    let hub = WeightsHub::start(vec![mood()]);
    let (machine, server) = server(&hub, &[]);
    let performed = async || {
        let (status, run) = server.ask("What is the sentiment of \"What a wonderful film!\"?").await;
        assert_eq!(status, 200, "{run}");
        run.to_string().contains(REPO)
    };
    assert!(!performed().await);
    for (command, is_there) in [("pull", true), ("rm", false)] {
        let ended = machine.run(&["models", command, REPO, "-y"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(performed().await, is_there, "after {command}");
        let (_, listed) = server.get("/models").await;
        assert_eq!(listed.to_string().contains(REPO), is_there, "after {command}");
    }
}

#[tokio::test]
async fn a_pull_ends_with_its_connection_and_goes_on_where_it_ended() {
    let hub = WeightsHub::start(vec![mood()]);
    let (machine, server) = server(&hub, &[]);
    hub.trouble(GRAPH, [Trouble::Hold(8_000)]);
    let pull = || {
        let request = server.client.post(format!("{}/admin/models/pull", server.url)).bearer_auth("chief");
        request.json(&json!({"name": REPO})).send()
    };
    let reply = pull().await.unwrap();
    let blobs = machine.data().join(".cache/huggingface/hub/models--org--mood-ONNX/blobs");
    let part = blobs.join(format!("{}.incomplete", sha256(&std::fs::read(fixture_graph()).unwrap())));
    while std::fs::metadata(&part).map_or(0, |data| data.len()) < 8_000 {
        tokio::task::yield_now().await;
    }
    drop(reply);
    // The lock of the file is free again when the pull has ended.
    let told = pull().await.unwrap().text().await.unwrap();
    assert_eq!(lines(&told).last(), Some(&json!({"status": "success"})), "{told}");
    let of_graph = hub.requests().into_iter().filter(|request| request.at_cdn);
    let ranges: Vec<_> = of_graph.map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some("bytes=8000-".to_owned())]);
}

#[tokio::test]
async fn others_pull_nothing() {
    let hub = WeightsHub::start(vec![mood()]);
    let (_machine, server) = server(&hub, &[]);
    for path in ["/admin/models/plan", "/admin/models/pull"] {
        for token in ["", "guess", "chief2"] {
            let (status, told) = post(&server, path, token, json!({"name": REPO})).await;
            assert!(status == 403 && told.contains("not_administrator"), "{path} {token}: {status} {told}");
        }
        for (name, code) in
            [("no-such-name", "unknown_model"), ("org/none", "no_such_repository"), ("../etc", "unknown_model")]
        {
            let (_, told) = post(&server, path, "chief", json!({"name": name})).await;
            assert!(told.contains(code), "{name}: {told}");
        }
        // A page elsewhere that knows the token.
        let request = server.client.post(format!("{}{path}", server.url)).bearer_auth("chief");
        let reply = request.header("origin", "https://example.org").json(&json!({"name": REPO})).send().await.unwrap();
        assert_eq!(reply.status(), 403);
    }

    // A session is no administrator; with one, a wrong token of the administrator's is told as such.
    let guarded = Harness::new().env("JARVIS_TOKEN", "all").env("JARVIS_ADMIN_TOKEN", "chief");
    let server = Server::start(&guarded, &["--models-only"]);
    let url = |path: &str| format!("{}{path}", server.url);
    let session = server.client.post(url("/session")).json(&json!({"token": "all"})).send().await.unwrap();
    let cookie = session.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let asked = async |path: &str, token: Option<&str>, cookie: Option<&str>| {
        let request = match path {
            "/local-models" => server.client.get(url(path)),
            path => server.client.post(url(path)).json(&json!({"name": "no-such-name"})),
        };
        let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
        let request = cookie.into_iter().fold(request, |request, cookie| request.header("cookie", cookie));
        request.send().await.unwrap().status().as_u16()
    };
    let cookie = Some(cookie.as_str());
    for (path, token, cookie, status) in [
        ("/local-models", None, None, 401),
        ("/local-models", Some("guess"), None, 401),
        ("/local-models", Some("all"), None, 200),
        ("/local-models", Some("chief"), None, 200),
        ("/local-models", None, cookie, 200),
        ("/admin/models/plan", None, None, 401),
        ("/admin/models/plan", Some("all"), None, 403),
        ("/admin/models/plan", None, cookie, 403),
        ("/admin/models/plan", Some("guess"), cookie, 403),
        ("/admin/models/plan", Some("chief"), None, 400),
        ("/admin/models/pull", Some("chief"), cookie, 400),
    ] {
        assert_eq!(asked(path, token, cookie).await, status, "{path} {token:?} {}", cookie.is_some());
    }

    let same = Harness::new().env("JARVIS_TOKEN", "all").env("JARVIS_ADMIN_TOKEN", "all");
    let ended = same.run(&["serve", "--http", "127.0.0.1:0"]);
    assert!(
        ended.code == 2 && ended.stderr.contains("the administrator's token is that of every caller"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);

    let nobody = Harness::new().env("HF_ENDPOINT", &hub.base());
    let server = Server::start(&nobody, &[]);
    assert_eq!(server.get("/local-models").await.1["pulls"], json!(false));
    let (status, told) = post(&server, "/admin/models/pull", "chief", json!({"name": REPO})).await;
    assert!(status == 403 && told.contains("jarvis models pull org/mood-ONNX"), "{told}");

    let offline = Harness::new().env("HF_ENDPOINT", &hub.base()).env("JARVIS_ADMIN_TOKEN", "chief");
    let asked = hub.requests().len();
    let server = Server::start(&offline, &["--offline"]);
    let (status, told) = post(&server, "/admin/models/plan", "chief", json!({"name": REPO})).await;
    assert!(status == 409 && told.contains("offline"), "{told}");
    assert_eq!(hub.requests().len(), asked, "the Hub was asked");
}
