//! `jarvis serve`: where it listens, how it ends, and what it says when something behind it is broken.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

/// How long a test waits for what must come; reached only when it does not.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server of the binary.
pub(crate) struct Server {
    child: Child,
    /// What it says on stderr after where it listens.
    says: Option<JoinHandle<Vec<String>>>,
    pub(crate) url: String,
    pub(crate) client: reqwest::Client,
}

impl Server {
    /// Starts one on a free port with the harness's data folder.
    pub(crate) fn start(harness: &Harness, args: &[&str]) -> Server {
        Server::start_with(harness, args, &[])
    }

    /// The same with more of an environment.
    pub(crate) fn start_with(harness: &Harness, args: &[&str], envs: &[(String, String)]) -> Server {
        let mut child = harness
            .command(&[&["serve", "--http", "127.0.0.1:0"], args].concat())
            .envs(envs.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut lines = stderr.lines().map_while(Result::ok);
        let mut said = Vec::new();
        let url = lines.find_map(|line| {
            let (_, url) = line.split_once("jarvis serves ").unzip();
            // Also where it says so in a line of JSON.
            let url = url.and_then(|url| url.split('"').next()).map(|url| url.trim_end_matches('/').to_owned());
            said.push(line);
            url
        });
        let url = url.unwrap_or_else(|| panic!("it does not say where it listens: {said:#?}"));
        // Read on, so that it never waits for us.
        let says = Some(std::thread::spawn(move || lines.collect()));
        let client = jarvis_net::http::builder().timeout(PATIENCE).build().expect("a client");
        Server { child, says, url, client }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let reply = self.client.get(format!("{}{path}", self.url)).send().await.expect("a reply");
        (reply.status().as_u16(), reply.json().await.unwrap_or_default())
    }

    pub(crate) async fn ask(&self, text: &str) -> (u16, Value) {
        let body = json!({"messages": [{"role": "user", "content": text}]});
        let reply = self.client.post(format!("{}/hugginggpt", self.url)).json(&body).send().await.expect("a reply");
        (reply.status().as_u16(), reply.json().await.unwrap_or_default())
    }

    /// The stream of events of a run, to its end.
    pub(crate) async fn told(&self, id: &str) -> String {
        let url = format!("{}/runs/{id}/events", self.url);
        self.client.get(url).send().await.expect("a reply").text().await.expect("they end")
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let reply = self.client.post(format!("{}{path}", self.url)).json(body).send().await.expect("a reply");
        (reply.status().as_u16(), reply.json().await.unwrap_or_default())
    }

    /// Whether its process has ended.
    pub(crate) fn is_dead(&mut self) -> bool {
        self.child.try_wait().expect("a process").is_some()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
    }

    /// Has it end, and gives back what it said.
    #[cfg(unix)]
    pub(crate) fn log(mut self) -> Vec<String> {
        self.signal("-TERM");
        self.child.wait().expect("it ends");
        let says = self.says.take().expect("it is taken once");
        says.join().expect("no panic")
    }

    #[cfg(unix)]
    pub(crate) fn end(mut self, signal: &str) -> Option<i32> {
        self.signal(signal);
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_address_that_others_can_reach_needs_a_token() {
    let harness = Harness::new();
    insta::assert_snapshot!(harness.told(&["serve", "--http", "0.0.0.0:0"]));
    insta::assert_snapshot!(harness.told(&["serve", "--http", "somewhere:80"]));
}

#[cfg(unix)]
#[tokio::test]
async fn it_serves_and_ends_when_told() {
    let harness = Harness::new();
    let server = Server::start(&harness, &[]);
    let (status, reply) = server.ask("tell the mood of: I love it").await;
    assert_eq!(status, 200, "{reply}");
    assert!(reply["message"].as_str().is_some_and(|text| text.contains("positive")), "{reply}");
    // Nothing of where files are on this machine's disk.
    assert!(!reply.to_string().contains(&harness.data().display().to_string()), "{reply}");
    assert_eq!(server.end("-TERM"), Some(0));
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(runs[0]["status"], "done");
}

#[test]
fn health_says_by_its_exit_status_whether_a_server_answers() {
    let harness = Harness::new();
    let server = Server::start(&harness, &[]);
    let answered = harness.run(&["health", &server.url]);
    assert_eq!((answered.code, answered.stdout.as_str()), (0, "healthy\n"), "{}", answered.stderr);
    let dead = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    for (address, code, says) in [
        (format!("http://{dead}"), 1, "no server answers at"),
        (format!("{}/nothing/", server.url), 1, "answers with 404"),
        ("jarvis".to_owned(), 2, "is not an address"),
    ] {
        let ended = harness.run(&["health", &address]);
        assert!(ended.code == code && ended.stderr.contains(says), "{address}: {} {}", ended.code, ended.stderr);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_cannot_be_used_keeps_it_from_starting() {
    for (name, bytes, says) in [
        ("damaged", b"SQLite format 3\0 and then nothing of the kind".to_vec(), "is damaged"),
        ("newer", newer(), "has version 99"),
    ] {
        let harness = Harness::new();
        std::fs::create_dir_all(harness.data()).expect("a folder");
        let path = harness.data().join("runs.db");
        std::fs::write(&path, &bytes).expect("written");
        let ended = harness.run(&["serve", "--http", "127.0.0.1:0"]);
        assert!(ended.code == 1 && ended.stderr.contains(says), "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains("--no-journal"), "{name}: {}", ended.stderr);
        let server = Server::start(&harness, &["--no-journal"]);
        assert_eq!(server.ask("tell the mood of: I love it").await.0, 200, "{name}");
        assert_eq!(server.get("/chats").await.0, 501, "{name}");
        let (_, health) = server.get("/health").await;
        assert_eq!(
            (&health["status"], &health["kept"]["chats"]),
            (&json!("healthy"), &json!(false)),
            "{name}: {health}"
        );
        assert!(health["checks"].to_string().contains("--no-journal"), "{name}: {health}");
        let (status, made) = server
            .post("/v1/responses", &json!({"model": "jarvis/hugginggpt", "input": "tell the mood of: I love it"}))
            .await;
        assert_eq!((status, &made["store"]), (200, &json!(false)), "{name}: {made}");
        let more = json!({"model": "jarvis/hugginggpt", "input": "and again", "previous_response_id": made["id"]});
        let (status, reply) = server.post("/v1/responses", &more).await;
        assert_eq!(status, 404, "{name}: {reply}");
        assert!(reply["error"]["hint"].as_str().is_some_and(|hint| hint.contains("no journal")), "{name}: {reply}");
        drop(server);
        assert_eq!(std::fs::read(&path).expect("it is there"), bytes, "{name}: it was left as it is");
    }
}

/// A journal of a version that is not known yet.
#[cfg(unix)]
fn newer() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    drop(jarvis_store::Journal::open(&path).expect("a journal"));
    let mut bytes = std::fs::read(&path).expect("it is there");
    // The user version: bytes 60 to 63 of the header, see the SQLite file format.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    bytes
}

#[cfg(unix)]
#[tokio::test]
async fn tokens_in_a_file_are_read_anew_on_a_signal() {
    let harness = Harness::new();
    let token = harness.file("token", "the first one\n");
    let config = format!("server: {{token_file: {}, ready_grace_s: 0}}\n", token.display());
    let config = harness.file("tokens.yaml", config).display().to_string();
    let server = Server::start(&harness, &["--config", &config]);
    let with = async |token: &str| {
        let sent = server.client.get(format!("{}/runs", server.url)).bearer_auth(token).send().await;
        sent.expect("a reply").status().as_u16()
    };
    assert_eq!((with("the first one").await, with("the second one").await), (200, 401));
    std::fs::write(&token, "the second one").expect("written");
    server.signal("-HUP");
    let taken = async {
        while with("the first one").await == 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, taken).await.expect("it is read anew");
    assert_eq!(with("the second one").await, 200);
    assert_eq!(server.end("-TERM"), Some(0));
}

#[tokio::test]
async fn models_and_tools_are_read_anew_and_runs_that_go_on_keep_theirs() {
    const ROOT: &str = "the-token-of-root-QX-91";
    let chat = FakeChat::start(Script::new().on("parse_task", Reply::never())).await;
    let harness = Harness::new().env("JARVIS_ADMIN_TOKEN", ROOT).env("OPENAI_API_KEY", "sk-test");
    let api = json!({
        "openapi": "3.0.0", "info": {"title": "Shop", "version": "1"},
        "paths": {"/articles": {"get": {"operationId": "find_article", "summary": "Searches for articles.",
            "responses": {"200": {"description": "Articles"}}}}},
    });
    harness.file("api.json", api.to_string());
    let tools = "tools:\n  - name: shop\n    description: A shop.\n    when: articles are wanted\n    \
                 openapi: {document: api.json, base_url: 'http://127.0.0.1:9'}\n";
    let model = format!("llm: {{model: first, base_url: '{}'}}\n", chat.url());
    let config = harness.file("anew.yaml", &model).display().to_string();
    let server = Server::start(&harness, &["--config", &config]);
    let reload = async || {
        let call = server.client.post(format!("{}/admin/reload", server.url)).bearer_auth(ROOT);
        let reply = call.send().await.expect("a reply");
        (reply.status().as_u16(), reply.json::<Value>().await.unwrap_or_default())
    };
    let seen = async || {
        let (health, tools) = (server.get("/health").await.1, server.get("/tools").await.1);
        let has_shop = tools["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|tool| tool["name"].as_str().is_some_and(|name| name.contains("find_article")));
        (health["model"].as_str().unwrap_or_default().to_owned(), has_shop)
    };
    assert_eq!(seen().await, ("first".to_owned(), false));
    let (status, started) = server
        .post("/hugginggpt", &json!({"messages": [{"role": "user", "content": "say something"}], "detached": true}))
        .await;
    assert_eq!(status, 202, "{started}");
    assert!(chat.wait_requests(1).await, "the run asks the first model");

    // What is wrong is told, and all stays as it is.
    for wrong in [
        "llm: {model: second, base_url: 'not an address'}\n".to_owned(),
        format!("{model}server: {{token_flie: secret}}\n"),
        format!("{model}server: {{max_running: many}}\n"),
    ] {
        harness.file("anew.yaml", &wrong);
        let (status, told) = reload().await;
        assert_eq!((status, told["error"]["code"].as_str()), (409, Some("cannot_reload")), "{wrong}: {told}");
        assert_eq!(seen().await, ("first".to_owned(), false));
    }

    let at_start = "server: {max_running: 1}\nkept_logs: {keep_days: 3}\nlmm: {}\n";
    harness.file("anew.yaml", format!("{}{tools}{at_start}", model.replace("first", "second")));
    let (status, told) = reload().await;
    let stays = |key: &str| format!("`{key}` stays as it was: it is decided when the server starts");
    let want = json!(["unknown configuration key `lmm`", stays("kept_logs.keep_days"), stays("server.max_running")]);
    assert_eq!((status, &told["warnings"]), (200, &want), "{told}");
    assert_eq!(seen().await, ("second".to_owned(), true));
    let id = started["run_id"].as_str().expect("an id");
    assert_eq!(server.get(&format!("/runs/{id}")).await.1["status"], "running");
    let (status, _) = server
        .post("/hugginggpt", &json!({"messages": [{"role": "user", "content": "say something"}], "detached": true}))
        .await;
    assert_eq!(status, 202);
    assert!(chat.wait_requests(2).await, "the next run asks the second model");
    let models: Vec<Value> = chat.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, [json!("first"), json!("second")]);
}

#[cfg(unix)]
#[tokio::test]
async fn it_says_that_it_stops_before_it_does() {
    let harness = Harness::new();
    let config = harness.file("grace.yaml", "server: {ready_grace_s: 600}\n").display().to_string();
    let server = Server::start(&harness, &["--config", &config]);
    server.signal("-TERM");
    let told = async {
        while server.get("/ready").await.1["status"] != "stopping" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("it says so");
    assert_eq!(server.get("/ready").await.0, 503);
    assert_eq!(server.ask("tell the mood of: I love it").await.0, 200);
    // Whoever does not want to wait says so once more.
    assert_eq!(server.end("-TERM"), Some(0));
}

#[cfg(unix)]
#[tokio::test]
async fn a_token_opens_a_server() {
    let harness = Harness::new().env("JARVIS_TOKEN", "a-long-token");
    let server = Server::start(&harness, &[]);
    assert_eq!(server.get("/runs").await.0, 401);
    let with = server.client.get(format!("{}/runs", server.url)).bearer_auth("a-long-token").send().await;
    assert_eq!(with.expect("a reply").status().as_u16(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_killed_leaves_a_whole_journal_and_the_next_goes_on() {
    let chat = FakeChat::start(Script::new().on("parse_task", Reply::never())).await;
    let harness = Harness::new();
    let url = chat.url();
    let args = ["--llm", "gpt-4", "--base-url", url.as_str()];
    let server = Server::start(&harness, &args);
    let asked: Vec<_> = (0..5)
        .map(|_| {
            let (client, url) = (server.client.clone(), server.url.clone());
            let body = json!({"messages": [{"role": "user", "content": "say something"}]});
            tokio::spawn(async move { client.post(format!("{url}/hugginggpt")).json(&body).send().await })
        })
        .collect();
    // All five are going on, and the journal on the disk knows.
    let journal = jarvis_store::Journal::open(&harness.data().join("runs.db")).expect("a journal");
    let known = async {
        while journal.runs(10).expect("readable").len() < 5 || chat.requests_of("parse_task").len() < 5 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, known).await.expect("the runs go on");
    drop(journal);
    assert_eq!(server.end("-KILL"), None);
    for asked in asked {
        assert!(asked.await.expect("no panic").is_err(), "nobody answers them any more");
    }
    // One that does not go on by itself says that they were cut off, and goes on when it is asked to.
    harness.file("never.yaml", "runs: {resume: never}\n");
    let server = Server::start(&harness, &[&args[..], &["--config", "never.yaml"]].concat());
    let (_, listed) = server.get("/runs").await;
    let runs = listed["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 5, "{listed}");
    assert!(runs.iter().all(|run| run["status"] == "interrupted" && run["resumable"] == true), "{listed}");
    let id = runs[0]["run_id"].as_str().expect("an id");
    let (status, run) = server.get(&format!("/runs/{id}")).await;
    assert_eq!((status, run["events"][0]["event"].as_str()), (200, Some("run_started")), "{run}");
    let asked = chat.requests_of("parse_task").len();
    assert_eq!(server.post(&format!("/runs/{id}/resume"), &json!({})).await.0, 200);
    assert_eq!(server.post(&format!("/runs/{id}/resume"), &json!({})).await.0, 409, "it goes on already");
    // The next server goes on with the others, and leaves that one to the first.
    let second = Server::start(&harness, &args);
    let all = async {
        while chat.requests_of("parse_task").len() < asked + 5 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("all go on");
    let (_, listed) = second.get("/runs").await;
    let runs = listed["runs"].as_array().expect("runs");
    assert!(runs.iter().all(|run| run["status"] == "running" || run["status"] == "queued"), "{listed}");
    // What the first leaves when it is killed, the second takes over.
    assert_eq!(server.end("-KILL"), None);
    let all = async {
        while chat.requests_of("parse_task").len() < asked + 6 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("it is taken over");
    assert_eq!(second.post(&format!("/runs/{id}/cancel"), &json!({})).await.0, 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_broken_model_is_told_and_no_key_with_it() {
    let refusing = FakeChat::start(Script::always(Reply::error(401, "the key sk-very-secret is wrong"))).await;
    let refusing = refusing.url();
    // A port that was free a moment ago and that nobody listens on.
    let dead = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let dead = format!("http://{dead}/v1");
    // The fake lists its models whoever asks, so only the dead endpoint is told by the look at it.
    for (url, code, state, ready) in
        [(refusing.as_str(), "unauthorized", "healthy", 200), (dead.as_str(), "unavailable", "degraded", 503)]
    {
        let harness = Harness::new().env("OPENAI_API_KEY", "sk-very-secret").env("JARVIS_LLM__MAX_RETRIES", "0");
        let server = Server::start(&harness, &["--llm", "gpt-4", "--base-url", url]);
        let (status, health) = server.get("/health").await;
        assert_eq!((status, health["status"].as_str()), (200, Some(state)), "{health}");
        assert_eq!(server.get("/ready").await.0, ready);
        let (status, reply) = server.ask("say something").await;
        assert_eq!((status, reply["error"]["code"].as_str()), (502, Some(code)), "{reply}");
        assert!(reply["error"]["hint"].is_string(), "{reply}");
        for said in [&health, &reply] {
            assert!(!said.to_string().contains("very-secret"), "{said}");
        }
    }
}

#[tokio::test]
async fn health_names_the_hosts_of_each_kind_of_work_as_configured() {
    let hosts = |health: &Value, kind: &str| -> Vec<String> {
        let entries = health["reach"].as_array().expect("a list");
        let found = entries.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {health}"));
        found["hosts"].as_array().expect("hosts").iter().filter_map(|host| Some(host.as_str()?.to_owned())).collect()
    };
    let offline = Harness::new();
    let server = Server::start(&offline, &[]);
    let (_, health) = server.get("/health").await;
    for entry in health["reach"].as_array().expect("a list").iter().filter(|entry| entry["kind"] != "inputs") {
        assert_eq!(entry["hosts"], json!(["this machine"]), "{health}");
    }
    assert_eq!((&health["kept"]["journal"], &health["warnings"]), (&json!(true), &json!([])));

    let configured = Harness::new().env("HF_TOKEN", "hf_x").env("OPENAI_API_KEY", "sk-x");
    let config = configured.file(
        "config.yaml",
        "inference_mode: huggingface\nserver: {caller_endpoints: {allow: true, hosts: [models.example.net]}}\ntools:\n  - name: weather\n    description: Tells the weather of a place.\n    \
         when: somebody asks for the weather\n    input_schema: {type: object, properties: {place: {type: string}}}\n    \
         example: {place: Rome}\n    openapi: {base_url: 'https://weather.example.com/v1', operation: GET /now}\n",
    );
    let config = config.to_str().expect("text").to_owned();
    let server = Server::start(&configured, &["--config", &config, "--llm", "gpt-4o-mini"]);
    let (_, health) = server.get("/health").await;
    assert_eq!(hosts(&health, "planning"), ["api.openai.com", "models.example.net"]);
    assert_eq!(hosts(&health, "choosing"), ["api.openai.com", "models.example.net", "huggingface.co"]);
    assert!(hosts(&health, "summarization").contains(&"models.example.net".to_owned()), "{health}");
    assert!(hosts(&health, "summarization").contains(&"api.openai.com".to_owned()), "{health}");
    assert!(hosts(&health, "object-detection").contains(&"router.huggingface.co".to_owned()), "{health}");
    assert_eq!(hosts(&health, "weather"), ["weather.example.com"]);

    let local = Harness::new();
    let server = Server::start(&local, &["--llm", "m", "--base-url", "http://192.168.7.7:11434/v1"]);
    assert_eq!(hosts(&server.get("/health").await.1, "answering"), ["your network"]);
}
