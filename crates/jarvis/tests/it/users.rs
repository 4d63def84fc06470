//! Several users of one server: what belongs to whom, what each may do and take, and what is written down.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::approvals::{REQUEST, Shop};
use crate::harness::Harness;
use crate::serve::Server;

/// ada and bob work, eve only asks, and root administers.
const USERS: &str = "server:
  tokens:
    - {name: ada, env: ADA_TOKEN, budget: {max_calls: 100}}
    - {name: bob, env: BOB_TOKEN}
    - {name: eve, env: EVE_TOKEN, may: [run], max_runs: 1}
    - {name: root, env: ROOT_TOKEN, may: [run, approve, admin]}
";

const NAMES: [&str; 4] = ["ada", "bob", "eve", "root"];

fn token(user: &str) -> String {
    format!("the token of {user}")
}

/// The environment that has their tokens.
fn tokens() -> [(String, String); 4] {
    NAMES.map(|name| (format!("{}_TOKEN", name.to_uppercase()), token(name)))
}

/// The server as one user sees it.
struct As<'s>(&'s Server, &'s str);

impl As<'_> {
    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let As(server, user) = self;
        server.client.request(method, format!("{}{path}", server.url)).bearer_auth(token(user))
    }

    async fn told(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let reply = request.send().await.expect("a reply");
        (reply.status().as_u16(), reply.json().await.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.told(self.request(Method::GET, path)).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.told(self.request(Method::POST, path).json(&body)).await
    }

    async fn ask(&self, text: &str) -> (u16, Value) {
        self.post("/hugginggpt", json!({"messages": [{"role": "user", "content": text}]})).await
    }

    /// Sends a picture under a name, and gives its display path.
    async fn send(&self, harness: &Harness, name: &str) -> String {
        let bytes = std::fs::read(harness.picture("square.png")).expect("it is there");
        let form = Form::new().part("file", Part::bytes(bytes).file_name(name.to_owned()));
        let (status, reply) = self.told(self.request(Method::POST, "/upload").multipart(form)).await;
        assert_eq!(status, 200, "{reply}");
        reply["path"].as_str().expect("a path").to_owned()
    }

    async fn edges(&self, path: &str) -> (u16, Value) {
        let attachments = json!([{"kind": "image", "path": path}]);
        let messages = json!([{"role": "user", "content": "find the edges of this picture"}]);
        self.post("/hugginggpt", json!({"messages": messages, "attachments": attachments})).await
    }
}

fn code(reply: &Value) -> &str {
    reply["error"]["code"].as_str().unwrap_or_default()
}

/// What a run made.
fn made(reply: &Value) -> String {
    let path = reply["run"]["answer"]["resources"]
        .as_array()
        .and_then(|made| made.last())
        .and_then(|made| made["url"].as_str());
    path.unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[tokio::test]
async fn runs_files_and_plans_belong_to_whoever_made_them() {
    let harness = Harness::new();
    harness.file("jarvis.yaml", USERS);
    let start = || Server::start_with(&harness, &["--config", "jarvis.yaml"], &tokens());
    let server = start();
    let [ada, bob, root] = ["ada", "bob", "root"].map(|name| As(&server, name));
    let sent = ada.send(&harness, "square.png").await;
    let (status, reply) = ada.edges(&sent).await;
    assert_eq!(status, 200, "{reply}");
    let (run, made) = (reply["run"]["run_id"].as_str().expect("an id").to_owned(), made(&reply));

    // To others neither the run nor a file of it is there, by any door.
    let adas = [format!("/runs/{run}"), format!("/runs/{run}/events"), sent.clone(), made.clone()];
    for path in &adas {
        for (user, want) in [(&ada, 200), (&root, 200), (&bob, 404)] {
            assert_eq!(user.get(path).await.0, want, "{path} for {}", user.1);
        }
    }
    for what in ["cancel", "resume", "retry"] {
        let (status, reply) = bob.post(&format!("/runs/{run}/{what}"), json!({})).await;
        assert_eq!((status, code(&reply)), (404, "not_found"), "{what}: {reply}");
    }
    let listed = |(_, reply): (u16, Value)| reply["runs"].as_array().map_or(0, Vec::len);
    assert_eq!((listed(ada.get("/runs").await), listed(bob.get("/runs").await)), (1, 0));
    let (_, all) = root.get("/runs").await;
    assert_eq!((&all["runs"][0]["run_id"], &all["runs"][0]["user"]), (&json!(run), &json!("ada")));
    for path in [&sent, &made] {
        let (_, reply) = bob.edges(path).await;
        let told = reply.to_string();
        assert!(reply["run"]["answer"]["resources"].as_array().is_none_or(Vec::is_empty), "{reply}");
        assert!(told.contains("there is no file"), "{told}");
        // Whoever named it does not have it for that.
        assert_eq!(bob.get(path).await.0, 404);
    }

    // However it is written, and whatever brings it.
    let spelled =
        [sent.trim_start_matches('/').to_owned(), format!("public{sent}"), sent.replace("images", "%69mages")];
    for path in [&sent, &made].into_iter().chain(&spelled) {
        for body in [json!({"img_url": path}), json!({"image": path})] {
            let (status, reply) = bob.post("/models/native/canny", body).await;
            assert_eq!((status, code(&reply)), (404, "not_found"), "{path}: {reply}");
        }
    }
    let own = bob.send(&harness, "own.png").await;
    let attachments = json!([{"kind": "image", "path": own, "name": "own.png"}, {"kind": "image", "path": sent, "name": "other.png"}]);
    let compare = json!({"task_id": 0, "task_type": "visual-question-answering", "dependencies": [],
        "args": {"image": own, "text": "which picture is larger?"}});
    let plan = json!({"execution_config": {"tasks": [compare]}, "attachments": attachments});
    let (_, reply) = bob.post("/plans/run", plan).await;
    assert!(reply.to_string().contains("there is no file"), "{reply}");
    // What a single model makes belongs to whoever called it, and the same picture may be sent by two.
    let (status, reply) = ada.post("/models/native/canny", json!({"img_url": sent})).await;
    let path = reply["path"].as_str().unwrap_or_else(|| panic!("{status} {reply}"));
    assert_eq!((ada.get(path).await.0, bob.get(path).await.0), (200, 404));
    assert_eq!(bob.send(&harness, "square.png").await, sent);
    for path in [&sent, &own] {
        assert_eq!(bob.edges(path).await.0, 200);
        assert_eq!(bob.get(path).await.0, 200);
    }
    assert_eq!((ada.get(&own).await.0, ada.get(&sent).await.0, bob.get(&made).await.0), (404, 200, 404));

    // A plan is found by whoever decided on it.
    let decide = json!({"messages": [{"role": "user", "content": "tell the mood of: I love it"}]});
    let (status, decided) = ada.post("/decisions", decide).await;
    let plan = format!("/plans/{}", decided["plan_id"].as_str().unwrap_or_else(|| panic!("{status} {decided}")));
    assert_eq!((ada.get(&plan).await.0, bob.get(&plan).await.0), (200, 404));
    assert_eq!(bob.post(&format!("{plan}/run"), json!({})).await.0, 404);
    assert_eq!(ada.post(&format!("{plan}/run"), json!({})).await.0, 200);

    // It is so after a crash too.
    assert_eq!(server.end("-KILL"), None);
    let server = start();
    for path in [&adas[0], &adas[1], &made, &plan] {
        assert_eq!((As(&server, "ada").get(path).await.0, As(&server, "bob").get(path).await.0), (200, 404), "{path}");
    }
    assert_eq!(As(&server, "mallory").get("/runs").await.0, 401);
    assert_eq!(server.end("-TERM"), Some(0));

    // What several have is not open to all because the users were left out, or misspelt.
    for config in ["server: {}", "server: {token: [{name: ada, env: ADA_TOKEN}]}"] {
        harness.file("jarvis.yaml", config);
        let told = harness.run(&["serve", "--http", "127.0.0.1:0", "--config", "jarvis.yaml"]);
        assert_eq!(told.code, 2, "{config}: {}", told.stderr);
    }
    // The command line sees whose each run is.
    let listed = harness.run(&["runs", "list", "-q"]).stdout;
    let adas = |line: &str| line.starts_with(&run) && line.split_whitespace().any(|word| word == "ada");
    assert!(listed.lines().any(adas), "{listed}");
    // A run that is tried anew at the command line stays its user's.
    let retried = harness.run(&["runs", "retry", &run, "--from", "1", "-q"]);
    assert_eq!(retried.code, 0, "{}", retried.stderr);
    harness.file("jarvis.yaml", USERS);
    let server = start();
    let (_, adas) = As(&server, "ada").get("/runs").await;
    assert!(adas["runs"].as_array().is_some_and(|runs| runs.iter().all(|run| run["user"] == "ada")), "{adas}");
    let anew = adas["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    assert_ne!(anew, run);
    assert_eq!(
        (
            As(&server, "ada").get(&format!("/runs/{anew}")).await.0,
            As(&server, "bob").get(&format!("/runs/{anew}")).await.0
        ),
        (200, 404)
    );
}

#[tokio::test]
async fn what_a_run_waits_for_is_answered_by_whoever_may_and_written_down() {
    let shop = Shop::open(200).await;
    let config = std::fs::read_to_string(shop.harness.work().join("jarvis.yaml")).expect("it is there");
    let Shop { harness, .. } = &shop;
    harness.file("jarvis.yaml", format!("{config}{USERS}"));
    let url = shop.chat.url();
    let args = ["--config", "jarvis.yaml", "--llm", "gpt-4", "--base-url", &url];
    let server = Server::start_with(harness, &args, &tokens());
    let [ada, eve, root] = ["ada", "eve", "root"].map(|name| As(&server, name));
    let (status, reply) = eve.ask(REQUEST).await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let run = reply["run_id"].as_str().expect("an id");
    // eve has one run, and may have no second.
    let (status, reply) = eve.ask(REQUEST).await;
    assert_eq!((status, code(&reply)), (429, "too_many_runs"), "{reply}");
    let at = format!("/runs/{run}/approvals/1");
    let yes = json!({"decision": "approve"});
    let (status, reply) = eve.post(&at, yes.clone()).await;
    assert_eq!((status, code(&reply)), (403, "not_allowed"), "{reply}");
    assert_eq!(ada.post(&at, yes.clone()).await.0, 404);
    assert_eq!(root.post(&at, yes).await.0, 200);
    let events = eve.request(Method::GET, &format!("/runs/{run}/events")).send().await.expect("a reply");
    assert!(events.text().await.expect("its events").contains("event: done"));
    assert_eq!(shop.calls(), ["GET /articles", r#"POST /reservations {"article":17}"#]);

    // Administration takes the right.
    for (user, want) in [(&ada, 403), (&root, 200)] {
        assert_eq!(user.post("/admin/refresh", json!({})).await.0, want);
    }
    let audit = std::fs::read_to_string(harness.data().join("audit.jsonl")).expect("it is kept");
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<_> = lines.iter().map(|line| (line["user"].as_str(), line["action"].as_str())).collect();
    assert_eq!(told, [(Some("root"), Some("approval")), (Some("root"), Some("refresh_catalogue"))], "{audit}");
    let approval = &lines[0];
    assert_eq!(
        (&approval["run_id"], &approval["of"], &approval["task"], &approval["tool"], &approval["decision"]),
        (&json!(run), &json!("eve"), &json!(1), &json!("shop.reserve"), &json!("approve"))
    );
}

#[tokio::test]
async fn what_a_user_may_take_in_a_day_holds_over_runs_and_a_restart() {
    let shop = Shop::open(200).await;
    let config = std::fs::read_to_string(shop.harness.work().join("jarvis.yaml")).expect("it is there");
    let Shop { harness, .. } = &shop;
    let bounded = USERS.replace("max_calls: 100", "max_calls: 3");
    harness.file("jarvis.yaml", format!("approve: never\n{config}{bounded}"));
    let url = shop.chat.url();
    let args = ["--config", "jarvis.yaml", "--llm", "gpt-4", "--base-url", &url];
    let server = Server::start_with(harness, &args, &tokens());
    let today = async |server: &Server, name: &str| As(server, name).get("/health").await.1["today"].clone();
    assert_eq!(today(&server, "ada").await["calls"], json!({"used": 0, "most": 3}));
    let (status, reply) = As(&server, "ada").ask(REQUEST).await;
    assert_eq!(status, 200, "{reply}");
    let calls =
        reply["run"]["usage"]["calls"].as_object().map_or(0, |calls| calls.values().filter_map(Value::as_u64).sum());
    assert_eq!(calls, 2, "{reply}");
    // The third call is the last: nothing new starts after it.
    let (_, reply) = As(&server, "ada").ask(REQUEST).await;
    assert!(reply.to_string().contains("the budget of the day is used up: 3 of 3 model calls of `ada`"), "{reply}");
    let refused = async |server: &Server| {
        // Everybody is told of their own, and only who has a bound.
        let told = today(server, "ada").await;
        let left = told["ends_in_s"].as_u64().unwrap_or_else(|| panic!("{told}"));
        assert!((1..=86_400).contains(&left), "{told}");
        assert_eq!(told, json!({"calls": {"used": 3, "most": 3}, "ends_in_s": left}));
        for name in ["bob", "root", "mallory"] {
            assert_eq!(today(server, name).await, Value::Null, "{name}");
        }
        let body = json!({"messages": [{"role": "user", "content": REQUEST}]});
        let reply = As(server, "ada").request(Method::POST, "/hugginggpt").json(&body).send().await.expect("a reply");
        // The next day is not here before this one has ended, which it may have done between the two.
        let again = reply.headers().get("retry-after").and_then(|seconds| seconds.to_str().ok()?.parse::<u64>().ok());
        let status = reply.status().as_u16();
        let reply: Value = reply.json().await.expect("JSON");
        assert_eq!((status, code(&reply)), (429, "budget_used"), "{reply}");
        assert!(again.is_some_and(|again| (1..=left).contains(&again)), "{again:?} of {left}");
        assert_eq!(As(server, "bob").ask(REQUEST).await.0, 200, "it is ada's alone");
    };
    refused(&server).await;
    assert_eq!(server.end("-KILL"), None);
    refused(&Server::start_with(harness, &args, &tokens())).await;
}

#[tokio::test]
async fn what_a_run_may_cost_is_bounded_only_where_prices_are_known() {
    for (prices, may, want) in [
        ("", json!({"max_cost": 1}), (400, "`max_cost` needs prices, and none is known for `gpt-4`")),
        (
            "prices: {models: {other: {input: 1, output: 1}}}\n",
            json!({"max_cost": 1}),
            (400, "none is known for `gpt-4`"),
        ),
        ("prices: {models: {gpt-4: {input: 1, output: 1}}}\n", json!({"max_cost": 1}), (200, "All is done.")),
        ("", json!({"max_calls": 9}), (200, "All is done.")),
    ] {
        let shop = Shop::open(200).await;
        let config = std::fs::read_to_string(shop.harness.work().join("jarvis.yaml")).expect("it is there");
        shop.harness.file("jarvis.yaml", format!("approve: never\n{config}{prices}"));
        let url = shop.chat.url();
        let server = Server::start(&shop.harness, &shop.args(&url, &[]));
        let messages = json!([{"role": "user", "content": REQUEST}]);
        let (status, reply) = server.post("/hugginggpt", &json!({"messages": messages, "budget": may})).await;
        assert!(status == want.0 && reply.to_string().contains(want.1), "{prices}{may}: {status} {reply}");
        let asked = shop.chat.stages().len();
        match status {
            200 => assert!(asked > 0, "{reply}"),
            _ => assert_eq!((code(&reply), asked, shop.calls().len()), ("invalid_request", 0, 0), "nothing was begun"),
        }
    }
}

#[test]
fn users_that_cannot_be_told_apart_are_refused() {
    let harness = |tokens: &str, envs: &[(&str, &str)]| {
        let mut harness = Harness::new();
        harness.file("jarvis.yaml", format!("server: {{tokens: [{tokens}]}}"));
        for (name, value) in envs {
            harness = harness.env(name, value);
        }
        let told = harness.run(&["serve", "--http", "127.0.0.1:0", "--config", "jarvis.yaml"]);
        assert_eq!(told.code, 2, "{}", told.stderr);
        told.stderr
    };
    let ada = "{name: ada, env: A}";
    for (tokens, envs, want) in [
        (ada, &[][..], "the token of the user `ada` is not set"),
        ("{name: ../x, env: A}", &[("A", "1")], "`../x` is no name"),
        ("{name: ada, env: A}, {name: Ada, env: B}", &[("A", "1"), ("B", "2")], "`Ada` is there twice"),
        ("{name: ada, env: A}, {name: bob, env: B}", &[("A", "1"), ("B", "1")], "`ada` and `bob` have the same token"),
        ("{name: ada, env: A, may: []}", &[("A", "1")], "`ada` may do nothing"),
        ("{name: ada, env: A, may: [rule]}", &[("A", "1")], "rule"),
        ("{name: ada, env: A, budget: {max_cost: -1}}", &[("A", "1")], "max_cost"),
        (ada, &[("A", "1"), ("JARVIS_TOKEN", "2")], "a token without a name is set too"),
    ] {
        let told = harness(tokens, envs);
        assert!(told.contains(want), "{tokens}: {told}");
    }
}
