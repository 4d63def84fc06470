//! Requests over HTTP that Restate carries out: `jarvis serve --restate` and `jarvis worker` beside a real server of Restate, which
//! `JARVIS_RESTATE_SERVER` names; without it each test prints that it is skipped.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use jarvis_testing::restate::{Server as Restate, binary};
use serde_json::{Value, json};

use crate::approvals::{REQUEST, Shop};
use crate::harness::Harness;
use crate::serve::{PATIENCE, Server};

mod plans;
mod stores;

/// A worker of the binary; it ends with the test.
struct Worker(Child);

impl Worker {
    fn start(command: &mut Command) -> Worker {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Worker(child.expect("the binary starts"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct World {
    restate: Restate,
    shop: Shop,
    /// Where Restate calls the server; the same after it was started again.
    listen: String,
    _worker: Worker,
    /// What the worker keeps.
    _own: tempfile::TempDir,
}

/// An address that stays free while nobody listens there: other tests take their ports of another loopback address.
fn free_port() -> String {
    let loopback = if cfg!(target_os = "linux") { "127.0.0.2:0" } else { "127.0.0.1:0" };
    let listener = TcpListener::bind(loopback).expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

impl World {
    async fn new() -> Option<World> {
        binary()?;
        World::of(Shop::open(200).await).await
    }

    async fn of(shop: Shop) -> Option<World> {
        let restate = Restate::start(&binary()?).await;
        let admin = restate.admin().to_string();
        // The folder of files is one for all, as a shared disk is.
        let (public, own) = (shop.harness.data().join("public"), tempfile::tempdir().expect("a folder"));
        let (listen, url) = (free_port(), shop.chat.url());
        let args = ["worker", "--restate-admin", &admin, "--listen", &listen];
        let mut command = shop.harness.command(&shop.args(&url, &args));
        command.env("JARVIS_DATA_DIR", own.path()).env("JARVIS_PUBLIC_DIR", public);
        let worker = Worker::start(&mut command);
        Some(World { restate, shop, listen: free_port(), _worker: worker, _own: own })
    }

    fn serve(&self) -> Server {
        self.serve_at(&self.listen, &[])
    }

    fn serve_at(&self, listen: &str, envs: &[(String, String)]) -> Server {
        let (ingress, admin) = (self.restate.ingress().to_string(), self.restate.admin().to_string());
        let url = self.shop.chat.url();
        let more = ["--restate", &ingress, "--restate-admin", &admin, "--restate-listen", listen];
        Server::start_with(&self.shop.harness, &self.shop.args(&url, &more), envs)
    }

    async fn asked(&self, server: &Server) -> (u16, Value) {
        World::registered(server, REQUEST).await
    }

    /// Asks until workers and host are registered.
    async fn registered(server: &Server, request: &str) -> (u16, Value) {
        let body = json!({"messages": [{"role": "user", "content": request}]});
        World::registered_for(server, &body).await
    }

    async fn registered_for(server: &Server, body: &Value) -> (u16, Value) {
        let asked = async {
            loop {
                let (status, reply) = server.post("/hugginggpt", body).await;
                let text = reply.to_string();
                if status == 503 || text.contains("no worker serves") {
                    tokio::task::yield_now().await;
                } else {
                    return (status, reply);
                }
            }
        };
        tokio::time::timeout(PATIENCE, asked).await.expect("they are registered")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_over_http_is_carried_out_by_restate_and_outlives_its_server() {
    let Some(world) = World::new().await else { return };
    let server = world.serve();
    let (status, reply) = world.asked(&server).await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    let calls = world.shop.calls().len();
    // The run is Restate's: it waits there while no server lives.
    assert_eq!(server.end("-KILL"), None);
    let server = world.serve();
    let at = format!("/runs/{id}/approvals/1");
    let decided = async {
        loop {
            let (_, run) = server.get(&format!("/runs/{id}")).await;
            if run["status"] == "waiting" {
                return server.post(&at, &json!({"decision": "approve", "arguments": {"article": 18}})).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let (status, reply) = tokio::time::timeout(PATIENCE, decided).await.expect("it waits");
    assert_eq!((status, &reply["approved"]), (200, &json!(true)), "{reply}");
    let events = server.told(&id).await;
    let events: Vec<Value> =
        events.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect();
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    let counted =
        ["run_started", "resumed", "plan", "task_finished", "approval_needed", "approval_given", "done"].map(count);
    assert_eq!(counted, [1, 1, 1, 2, 1, 1, 1], "{events:#?}");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    // It was found once, and reserved once, with what was said.
    let made = &world.shop.calls()[calls..];
    assert_eq!(made, [r#"POST /reservations {"article":18}"#], "{made:?}");
    let (_, run) = server.get(&format!("/runs/{id}")).await;
    assert_eq!((&run["status"], &run["ok"]), (&json!("done"), &json!(2)), "{run}");
}

/// A run that no server follows goes on all the same: whoever does not use Restate touches nothing of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_restate_is_left_to_restate() {
    let Some(world) = World::new().await else { return };
    let server = world.serve();
    let (_, reply) = world.asked(&server).await;
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.end("-KILL"), None);
    for what in ["cancel", "retry", "resume"] {
        let told = world.shop.harness.run(&["runs", what, &id]);
        assert!(told.code == 2 && told.stderr.contains("Restate"), "{what}: {} {}", told.stdout, told.stderr);
    }
    let url = world.shop.chat.url();
    let plain = Server::start(&world.shop.harness, &world.shop.args(&url, &[]));
    for what in ["cancel", "retry", "resume"] {
        let (status, reply) = plain.post(&format!("/runs/{id}/{what}"), &json!({})).await;
        assert!(status == 409 && reply.to_string().contains("Restate"), "{what}: {status} {reply}");
    }
    let at = format!("/runs/{id}/approvals/1");
    let (status, reply) = plain.post(&at, &json!({"decision": "approve"})).await;
    assert!(status == 409 && reply.to_string().contains("Restate"), "{status} {reply}");
    let told = world.shop.harness.run(&["runs", "show", &id]);
    assert!(told.stderr.contains("goes on at Restate"), "{}", told.stderr);
    assert_eq!(plain.end("-TERM"), Some(0));
    let server = world.serve();
    let decided = async {
        while server.post(&at, &json!({"decision": "approve"})).await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, decided).await.expect("it waits still");
    assert!(server.told(&id).await.contains("event: answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_restate_is_answered_and_cancelled_over_http() {
    let Some(world) = World::new().await else { return };
    let server = world.serve();
    let (_, reply) = world.asked(&server).await;
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    // A server that has nothing on record of it tells of it too, from wherever somebody reads on, and cancels it.
    let own = tempfile::tempdir().expect("a folder");
    let envs = [("JARVIS_DATA_DIR".to_owned(), own.path().display().to_string())];
    let other = world.serve_at(&free_port(), &envs);
    let follow = other.client.get(format!("{}/runs/{id}/events", other.url)).header("Last-Event-ID", "0");
    let mut follow = follow.send().await.expect("a reply");
    let mut seen = String::new();
    while !seen.contains("event: approval_needed") {
        let piece = follow.chunk().await.expect("a stream").expect("more of it");
        seen.push_str(std::str::from_utf8(&piece).expect("text"));
    }
    assert!(!seen.contains("event: run_started") && seen.contains("event: plan"), "{seen}");
    assert_eq!(other.get("/runs/00000000-0000-7000-8000-000000000000/events").await.0, 404);
    assert_eq!(other.post(&format!("/runs/{id}/cancel"), &json!({})).await.0, 200);
    let rest = follow.text().await.expect("it ends");
    assert!(rest.contains(r#""cancelled":true"#), "{rest}");
    let events = server.told(&id).await;
    assert!(events.contains("event: done") && events.contains(r#""cancelled":true"#), "{events}");
    assert!(!world.shop.calls().iter().any(|call| call.starts_with("POST")), "{:?}", world.shop.calls());
    // Nor need the answer be given where it was asked for.
    let (_, reply) = world.asked(&server).await;
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    let at = format!("/runs/{id}/approvals/1");
    let (status, run) = other.get(&format!("/runs/{}", id.to_uppercase())).await;
    assert_eq!((status, &run["status"], &run["tasks"]), (200, &json!("waiting"), &json!(2)), "{run}");
    assert_eq!((&run["waiting"][0]["tool"], &run["request"]), (&json!("shop.reserve"), &json!(REQUEST)), "{run}");
    assert_eq!(other.post(&format!("/runs/{id}/approvals/0"), &json!({"decision": "approve"})).await.0, 404);
    for what in ["retry", "resume"] {
        let (status, reply) = other.post(&format!("/runs/{id}/{what}"), &json!({})).await;
        assert!(status == 409 && reply.to_string().contains("another server"), "{what}: {status} {reply}");
    }
    assert_eq!(other.post(&at, &json!({"decision": "retry"})).await.0, 400);
    let (status, reply) = other.post(&at, &json!({"decision": "approve_always"})).await;
    assert_eq!((status, &reply["approved"]), (200, &json!(true)), "{reply}");
    assert_eq!(other.post(&at, &json!({"decision": "refuse"})).await.0, 409);
    assert!(server.told(&id).await.contains(r#""ok":true"#));
    let (_, run) = other.get(&format!("/runs/{id}")).await;
    assert_eq!((&run["status"], &run["waiting"]), (&json!("done"), &json!(null)), "{run}");
    assert_eq!(other.post(&format!("/runs/{id}/cancel"), &json!({})).await.0, 409);
    // One that asks for nothing that waits is answered at once.
    let refuse = json!({"decision": "refuse", "reason": "too dear"});
    let (_, reply) = world.asked(&server).await;
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.post(&format!("/runs/{id}/approvals/1"), &refuse).await.0, 200);
    assert!(server.told(&id).await.contains("event: answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_no_leave_is_answered_at_once_by_restate_too() {
    let Some(world) = World::new().await else { return };
    let server = world.serve_at(&world.listen, &[("JARVIS_APPROVE".to_owned(), "never".to_owned())]);
    let (status, reply) = world.asked(&server).await;
    assert_eq!((status, &reply["message"]), (200, &json!("All is done.")), "{reply}");
    let outcomes = reply["run"]["outcomes"].as_array().expect("outcomes");
    assert!(outcomes.len() == 2 && outcomes.iter().all(|outcome| outcome["status"] == "succeeded"), "{reply}");
    let plan = &reply["run"]["plan"];
    assert_eq!(
        (plan["tasks"].as_array().map(Vec::len), plan["notes"].as_array().map(Vec::len)),
        (Some(2), Some(0)),
        "{plan}"
    );
    assert_eq!(world.shop.calls().iter().filter(|call| call.starts_with("POST")).count(), 1);
    let kept = world.shop.harness.run(&["experience", "list"]);
    assert_eq!(kept.stdout.matches("good (succeeded)").count(), 1, "{} {}", kept.stdout, kept.stderr);
}

/// Restate knows nothing of what another run did: what takes it over is carried out in the process, and is nobody else's.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_tried_anew_takes_over_what_was_done() {
    let Some(world) = World::new().await else { return };
    let server = world.serve();
    let (_, reply) = world.asked(&server).await;
    let id = reply["run_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.post(&format!("/runs/{id}/approvals/1"), &json!({"decision": "refuse"})).await.0, 200);
    assert!(server.told(&id).await.contains("event: done"));
    let (status, reply) = server.post(&format!("/runs/{id}/retry"), &json!({})).await;
    assert_eq!(status, 200, "{reply}");
    let anew = reply["run_id"].as_str().expect("an id").to_owned();
    let waits = async {
        while server.get(&format!("/runs/{anew}")).await.1["status"] != "waiting" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.expect("it waits for leave");
    assert_eq!(world.shop.calls(), ["GET /articles"], "what was found is not looked for again");
    assert_eq!(server.end("-KILL"), None);
    let told = world.shop.harness.run(&["runs", "cancel", &anew]);
    assert_eq!(told.code, 0, "{} {}", told.stdout, told.stderr);
}

/// Nobody listens where Restate should.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_restate_is_away_is_not_ready_and_a_worker_serves_only_what_it_can() {
    let harness = Harness::new();
    let (nowhere, listen) = ("http://127.0.0.1:9", free_port());
    let args = ["--restate", nowhere, "--restate-admin", nowhere, "--restate-listen", &listen];
    let server = Server::start(&harness, &args);
    let (status, reply) = server.get("/ready").await;
    let of_restate = reply["checks"].as_array().into_iter().flatten().find(|check| check["name"] == "Restate");
    assert_eq!((status, &of_restate.expect("it is looked at")["ok"]), (503, &json!(false)), "{reply}");
    assert_eq!(server.get("/health").await.0, 200);
    let told =
        harness.run(&["worker", "--restate-admin", nowhere, "--listen", &free_port(), "--kinds", "object-detection"]);
    assert!(told.code == 2 && told.stderr.contains("nothing is configured"), "{} {}", told.code, told.stderr);
    let told = harness.run(&["worker", "--restate-admin", nowhere, "--listen", &listen]);
    assert!(told.code == 2 && told.stderr.contains("--listen"), "{} {}", told.code, told.stderr);
}

/// Without a chat model what nothing can do is not done, and said so.
#[tokio::test(flavor = "multi_thread")]
async fn what_nothing_can_do_is_not_done_by_restate_either() {
    let Some(world) = World::new().await else { return };
    let (ingress, admin) = (world.restate.ingress().to_string(), world.restate.admin().to_string());
    let args = ["--restate", &ingress, "--restate-admin", &admin, "--restate-listen", &world.listen];
    let server = Server::start(&world.shop.harness, &args);
    let (status, reply) = World::registered(&server, "book me a flight to Rome").await;
    assert_eq!((status, &reply["run"]["ok"]), (200, &json!(false)), "{reply}");
    assert_eq!(reply["run"]["plan"]["notes"].as_array().map(Vec::len), Some(1), "{reply}");
}
