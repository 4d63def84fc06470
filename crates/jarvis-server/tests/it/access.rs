//! Authentication, allowed hosts and origins, and what the server reports of itself.

use std::io::Read as _;

use jarvis_testing::rows;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::harness::{self, CASES, Reply, ask};

const TOKEN: &str = "a-long-token-of-32-odd-letters-QX";

async fn with_header(harness: &harness::Harness, method: Method, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = harness.request(method.clone(), path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if method == Method::POST {
        request = request.json(&ask("tell the mood of: I love it"));
    }
    Reply::of(request.send().await.expect("a reply")).await
}

#[tokio::test]
async fn with_a_token_nothing_but_the_front_is_open() {
    let harness = harness::offline()
        .options(|options| options.token = jarvis_net::Secret::new(TOKEN))
        .check("chat model", Some("refused at http://10.0.0.7/"))
        .start()
        .await;
    for path in ["/", "/docs", "/health", "/openapi.json"] {
        assert_eq!(harness.get(path).await.status, 200, "{path}");
    }
    assert_eq!(harness.get("/ready").await.status, 503);
    let closed = rows::<String>(CASES, "closed paths");
    for path in closed {
        let reply = harness.get(&path).await;
        assert_eq!((reply.told().as_str(), reply.header("www-authenticate")), ("401 unauthorized", "Bearer"), "{path}");
    }
    for path in ["/hugginggpt", "/hugginggpt/stream", "/decisions", "/v1/chat/completions", "/upload", "/admin/refresh"]
    {
        assert_eq!(harness.post(path, ask("x")).await.told(), "401 unauthorized", "{path}");
    }
    for (value, want) in [
        (format!("Bearer {TOKEN}"), 200),
        (format!("bearer {TOKEN}"), 200),
        (format!("Bearer {TOKEN}x"), 401),
        (format!("Basic {TOKEN}"), 401),
        ("Bearer".to_owned(), 401),
        ("Bearer ".to_owned(), 401),
    ] {
        let reply = with_header(&harness, Method::GET, "/runs", &[("authorization", &value)]).await;
        assert_eq!(reply.status, want, "{value}");
    }
    // What was found is for those who are let in.
    assert_eq!(harness.get("/health").await.json["checks"], json!([{"name": "chat model", "ok": false}]));
    let bearer = format!("Bearer {TOKEN}");
    let known = with_header(&harness, Method::GET, "/health", &[("authorization", &bearer)]).await;
    assert_eq!(known.json["checks"][0]["detail"], "refused at http://10.0.0.7/");
}

#[tokio::test]
async fn a_browser_trades_the_token_for_a_cookie() {
    let harness = harness::offline().options(|options| options.token = jarvis_net::Secret::new(TOKEN)).start().await;
    assert_eq!(harness.post("/session", json!({"token": "wrong"})).await.told(), "401 unauthorized");
    let reply = harness.post("/session", json!({"token": TOKEN})).await;
    assert_eq!(reply.status, 204);
    let cookie = reply.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(TOKEN), "{cookie}");
    let pair = cookie.split(';').next().expect("a pair");
    assert_eq!(with_header(&harness, Method::GET, "/runs", &[("cookie", pair)]).await.status, 200);
    assert_eq!(with_header(&harness, Method::GET, "/runs", &[("cookie", "a=b; jarvis_session=00")]).await.status, 401);
    let out = harness.request(Method::DELETE, "/session").header("cookie", pair).send().await.expect("a reply");
    assert_eq!(out.status(), StatusCode::NO_CONTENT);
    assert!(out.headers()["set-cookie"].to_str().is_ok_and(|cookie| cookie.contains("Max-Age=0")));
    assert_eq!(
        with_header(&harness, Method::GET, "/runs", &[("cookie", pair)]).await.status,
        401,
        "a copy is no good either"
    );
}

#[tokio::test]
async fn names_and_origins_are_checked() {
    let harness = harness::offline()
        .options(|options| {
            options.allowed_hosts = ["jarvis.example.org".to_owned()].into();
            options.cors_origins = vec!["https://tools.example.org".into()];
        })
        .start()
        .await;
    let port = harness.url.rsplit(':').next().expect("a port").to_owned();
    for (host, want) in rows::<(String, u16)>(CASES, "hosts") {
        let host = host.replace("PORT", &port);
        let reply = with_header(&harness, Method::GET, "/health", &[("host", &host)]).await;
        assert_eq!(reply.status, want, "{host}");
    }
    let own = format!("http://127.0.0.1:{port}");
    for (origin, want) in [
        (own.as_str(), 200),
        ("https://tools.example.org", 200),
        ("https://evil.example.org", 403),
        ("https://tools.example.org.evil.example.org", 403),
        ("http://127.0.0.1:1", 403),
        ("null", 403),
        ("", 403),
    ] {
        let reply = with_header(&harness, Method::POST, "/hugginggpt", &[("origin", origin)]).await;
        assert_eq!(reply.status, want, "{origin}");
        let shared = reply.header("access-control-allow-origin");
        assert_eq!(shared, if origin == "https://tools.example.org" { origin } else { "" }, "{origin}");
    }
    let preflight = harness
        .request(Method::OPTIONS, "/hugginggpt")
        .header("origin", "https://tools.example.org")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,authorization");
    let preflight = Reply::of(preflight.send().await.expect("a reply")).await;
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (200, "https://tools.example.org"));
}

#[test]
fn a_server_that_others_can_reach_needs_a_token() {
    use jarvis_server::{Options, check};
    let open = Options::default();
    let closed = Options { token: jarvis_net::Secret::new(TOKEN), ..Options::default() };
    for (address, needs) in rows::<(String, bool)>(CASES, "addresses") {
        let address = address.parse().expect("an address");
        assert_eq!(check(address, &open).is_err(), needs, "{address}");
        assert!(check(address, &closed).is_ok(), "{address}");
    }
    for (token, strong) in rows::<(String, bool)>(CASES, "tokens") {
        let [one, admin, user] = [0, 1, 2].map(|which| {
            let (given, good) = (jarvis_net::Secret::new(&token), jarvis_net::Secret::new(TOKEN));
            let user = jarvis_server::User {
                name: "ada".into(),
                token: jarvis_net::Secret::new(&token).expect("a token"),
                may: jarvis_server::May { run: true, approve: false, admin: false },
                max_runs: None,
                a_day: jarvis_plan::Budget::default(),
            };
            match which {
                0 => Options { token: given, ..Options::default() },
                1 => Options { token: good, admin_token: given, ..Options::default() },
                _ => Options { users: vec![user], ..Options::default() },
            }
        });
        for options in [one, admin, user] {
            assert_eq!(check(([192, 0, 2, 1], 0).into(), &options).is_ok(), strong, "{token}");
            assert!(check(([127, 0, 0, 1], 0).into(), &options).is_ok(), "{token}");
        }
    }
    for (origin, good) in rows::<(String, bool)>(CASES, "allowed origins") {
        let options = Options { cors_origins: vec![origin.clone()], ..Options::default() };
        assert_eq!(check(([127, 0, 0, 1], 0).into(), &options).is_ok(), good, "{origin}");
    }
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let harness = harness::offline().start().await;
    let health = harness.get("/health").await;
    assert_eq!((health.json["status"].as_str(), health.json["planner"].as_str()), (Some("healthy"), Some("offline")));
    assert_eq!(harness.get("/ready").await.status, 200);
    harness.post("/hugginggpt", ask("tell the mood of: I love it")).await;
    harness.settled().await;
    let metrics = harness.get("/metrics").await;
    for line in [
        r#"jarvis_http_requests_total{method="POST",route="/hugginggpt",status="200"} 1"#,
        r#"jarvis_runs_total{status="done"} 1"#,
        r#"jarvis_tasks_total{task="text-classification",status="succeeded"} 1"#,
        "jarvis_runs_live 0",
    ] {
        assert!(metrics.text.contains(line), "{line}\n{}", metrics.text);
    }
    let models = harness.get("/models").await;
    assert!(
        models.json["models"].as_array().is_some_and(|models| models.iter().any(|model| model["id"] == "native/canny"))
    );
    assert!(
        models.json["tasks"].as_array().is_some_and(|tasks| tasks.iter().any(|task| task["name"] == "canny-control"))
    );
    let degraded = harness::offline().check("run journal", Some("gone")).start().await;
    assert_eq!(degraded.get("/health").await.json["status"], "degraded");
    assert_eq!(degraded.get("/ready").await.status, 503);
}

#[tokio::test]
async fn the_page_is_served_with_its_rules() {
    let harness = harness::offline().start().await;
    let page = harness.get("/").await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let again = with_header(&harness, Method::GET, "/", &[("if-none-match", page.header("etag"))]).await;
    assert_eq!(again.status, 304);
    let packed = harness.request(Method::GET, "/").header("accept-encoding", "br, gzip").send().await.expect("a reply");
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert_eq!(packed.headers()["etag"], page.headers["etag"]);
    let packed = packed.bytes().await.expect("a body");
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut unpacked).expect("what gzip packed");
    assert!(unpacked == page.text && packed.len() < unpacked.len(), "browsers get it as it is kept");
    let posted = harness.request(Method::POST, "/openapi.json").send().await.expect("a reply");
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
    let api = harness.get("/openapi.json").await;
    assert_eq!(api.json["openapi"].as_str().map(|version| version.starts_with("3.1")), Some(true));
    let paths = api.json["paths"].as_object().expect("paths");
    for path in rows::<String>(CASES, "documented paths") {
        assert!(paths.contains_key(&path), "{path}");
    }
}

#[tokio::test]
async fn health_tells_where_work_may_go_and_what_is_kept() {
    let open = harness::offline().start().await;
    let health = open.get("/health").await.json;
    assert_eq!(health["reach"], serde_json::json!([{"kind": "planning", "hosts": ["this machine"]}]));
    assert_eq!(health["kept"]["folder"], "/data");
    let new = "`shop/reserve` is new at its server; `jarvis tools show shop/reserve`, then `jarvis tools approve shop/reserve`";
    assert_eq!(
        health["warnings"],
        serde_json::json!(["`files/read` is left out", new]),
        "what was told, and what waits since"
    );
    let token = jarvis_net::Secret::new("a-token-of-twenty-letters");
    let closed = harness::offline().options(|options| options.token = token.clone()).start().await;
    let health = closed.get("/health").await.json;
    assert_eq!(health["reach"][0]["hosts"][0], "this machine");
    assert_eq!((&health["kept"]["folder"], &health["warnings"]), (&serde_json::Value::Null, &serde_json::json!([])));
}

#[tokio::test]
async fn tokens_are_read_anew_by_an_administrator_alone() {
    use jarvis_server::Options;
    use std::sync::{Arc, Mutex};
    const ROOT: &str = "the-token-of-root-QX-91";
    let secret = |text: &str| jarvis_net::Secret::new(text);
    let options = move |token: &str| Options { token: secret(token), admin_token: secret(ROOT), ..Options::default() };
    let next: Arc<Mutex<Result<Options, String>>> = Arc::new(Mutex::new(Err("the file is not there".to_owned())));
    let read = Arc::clone(&next);
    let harness = harness::offline()
        .options(|given| *given = options(TOKEN))
        .reloads(move || read.lock().expect("no panic").clone())
        .start()
        .await;
    let with = async |method: Method, path: &str, token: &str| {
        Reply::of(harness.request(method, path).bearer_auth(token).send().await.expect("a reply")).await
    };
    let login = harness.post("/session", json!({"token": TOKEN})).await;
    let cookie = login.header("set-cookie").split(';').next().expect("a pair").to_owned();
    let by_cookie = async || with_header(&harness, Method::GET, "/runs", &[("cookie", &cookie)]).await.status;
    assert_eq!(with(Method::POST, "/admin/reload", TOKEN).await.told(), "403 not_administrator");
    for wrong in
        [Err("the file is not there".to_owned()), Ok(Options { admin_token: secret(ROOT), ..Options::default() })]
    {
        *next.lock().expect("no panic") = wrong;
        assert_eq!(with(Method::POST, "/admin/reload", ROOT).await.told(), "409 cannot_reload");
        assert_eq!((with(Method::GET, "/runs", TOKEN).await.status, by_cookie().await), (200, 200));
    }
    *next.lock().expect("no panic") = Ok(options(&format!("another-{TOKEN}")));
    assert_eq!(with(Method::POST, "/admin/reload", ROOT).await.json["reloaded"], true);
    assert_eq!((with(Method::GET, "/runs", TOKEN).await.status, by_cookie().await), (401, 401));
    assert_eq!(with(Method::GET, "/runs", &format!("another-{TOKEN}")).await.status, 200);
}

#[tokio::test]
async fn a_server_that_is_about_to_stop_says_so_and_serves() {
    let leaving = tokio_util::sync::CancellationToken::new();
    let token = leaving.clone();
    let harness = harness::offline().options(|options| options.leaving = token).start().await;
    assert_eq!(harness.get("/ready").await.status, 200);
    leaving.cancel();
    let ready = harness.get("/ready").await;
    assert_eq!((ready.status, &ready.json["status"]), (503, &json!("stopping")));
    assert_eq!(harness.get("/health").await.status, 200);
    assert_eq!(harness.post("/hugginggpt", ask("tell the mood of: I love it")).await.status, 200);
}
