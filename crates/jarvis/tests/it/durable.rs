//! Runs of the binary that are killed at each of their writes, and go on.
//!
//! The far side counts: what was on the disk when a process died is not done again, nothing is lost, and a change is made once.
//! `JARVIS_KILL_ROUNDS=25 cargo test -p jarvis --test it -- durable::` kills it over a thousand times.

use std::collections::{BTreeMap, BTreeSet};

use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::stub::{Canned, Stub};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

pub(crate) const REQUEST: &str = "plan my trip and book it";

/// A travel agency: it finds in three places at once, compares, and, once its finds were looked at, books.
pub(crate) struct Agency {
    pub(crate) stub: Stub,
    chat: FakeChat,
    pub(crate) harness: Harness,
}

impl Agency {
    pub(crate) async fn open(takes_keys: bool) -> Agency {
        let plan = json!({"tasks": [
            {"task": "agency.find", "id": 0, "dep": [-1], "args": {"what": "trains"}},
            {"task": "agency.find", "id": 1, "dep": [-1], "args": {"what": "flights"}},
            {"task": "agency.find", "id": 2, "dep": [-1], "args": {"what": "buses"}},
            {"task": "agency.compare", "id": 3, "dep": [0, 1, 2], "args":
                {"one": "<GENERATED>-0.id", "two": "<GENERATED>-1.id", "three": "<GENERATED>-2.id"}},
        ], "more": true});
        let next = json!({"tasks": [
            {"task": "agency.book", "id": 4, "dep": [3], "args": {"id": "<GENERATED>-3.best"}},
            {"task": "agency.find", "id": 5, "dep": [4], "args": {"what": "<GENERATED>-4.next"}},
        ]});
        let stub = Stub::start(|request| {
            let query = request.query.trim_start_matches("what=").to_owned();
            match request.path.as_str() {
                "/find" => Canned::json(&json!({"id": format!("id-of-{query}")})),
                "/compare" => Canned::json(&json!({"best": "id-of-trains"})),
                "/book" => Canned::json(&json!({"booked": true, "next": "hotels"})).status(201),
                _ => Canned::json(&json!({"error": "not found"})).status(404),
            }
        });
        let stub = stub.await.expect("a port");
        let script = Script::new()
            .on("parse_task", Reply::text(plan.to_string()))
            .on_containing("replan", &["id-of-hotels"], r#"{"done": true}"#)
            .on_containing("replan", &["Ids go on from 4"], next.to_string())
            .on("replan", r#"{"done": true}"#)
            .on("response_results", "The train is booked.");
        let chat = FakeChat::start(script).await;
        let harness = Harness::new();
        let text = |name: &str| json!({"name": name, "in": "query", "required": true, "schema": {"type": "string"}});
        let get = |id: &str, names: &[&str]| {
            let parameters: Vec<Value> = names.iter().map(|name| text(name)).collect();
            json!({"get": {"operationId": id, "summary": format!("Does {id}"), "parameters": parameters,
                "responses": {"200": {"description": "Done"}}}})
        };
        let body = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
        let document = json!({
            "openapi": "3.1.0",
            "info": {"title": "Agency", "version": "1"},
            "servers": [{"url": stub.url("")}],
            "paths": {
                "/find": get("find", &["what"]),
                "/compare": get("compare", &["one", "two", "three"]),
                "/book": {"post": {
                    "operationId": "book", "summary": "Books",
                    "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
                    "responses": {"201": {"description": "Booked"}},
                }},
            },
        });
        harness.file("agency.json", document.to_string());
        let key = if takes_keys { ", idempotency_header: Idempotency-Key" } else { "" };
        let tools = format!(
            "tools:\n  - name: agency\n    when: a trip is wanted\n    openapi: {{document: agency.json{key}}}\n"
        );
        harness.file("jarvis.yaml", tools + "planning:\n  replan: always\n");
        Agency { stub, chat, harness }
    }

    fn args<'a>(&self, url: &'a str, command: &[&'a str]) -> Vec<&'a str> {
        [command, &["--config", "jarvis.yaml", "--llm", "gpt-4", "--base-url", url]].concat()
    }

    /// What was asked for on the far side, with how often; and the keys of bookings.
    pub(crate) fn done(&self) -> (BTreeMap<String, usize>, BTreeSet<String>) {
        let (mut done, mut keys) = (BTreeMap::new(), BTreeSet::new());
        for request in self.stub.requests() {
            *done.entry(format!("{}?{}", request.path, request.query)).or_default() += 1;
            if request.path == "/book" {
                keys.insert(request.header("idempotency-key").unwrap_or_default().to_owned());
            }
        }
        for stage in self.chat.stages() {
            *done.entry(stage).or_default() += 1;
        }
        (done, keys)
    }

    /// A server, which dies at a write if one is given.
    pub(crate) fn serve(&self, dies: Option<String>) -> Server {
        let url = self.chat.url();
        let dies: Vec<_> = dies.into_iter().map(|dies| ("JARVIS_TEST_DIE_AT_WRITE".to_owned(), dies)).collect();
        Server::start_with(&self.harness, &self.args(&url, &[]), &dies)
    }

    /// Runs the binary, which dies at a write if one is given; what it said, and whether it died.
    fn run(&self, args: &[&str], dies: Option<&str>) -> (Option<i32>, Value) {
        let url = self.chat.url();
        let mut command = self.harness.command(&self.args(&url, args));
        if let Some(dies) = dies {
            command.env("JARVIS_TEST_DIE_AT_WRITE", dies);
        } else if let Some(library) = std::env::var_os("JARVIS_FAKETIME") {
            // Whoever goes on lives two days earlier.
            command.env("LD_PRELOAD", library).env("FAKETIME", "-2d");
        }
        let output = command.output().expect("it starts");
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// The only run of the journal, if there is one.
    fn listed(&self) -> Option<Value> {
        let (_, runs) = self.harness.json(&["runs", "list", "--json"]);
        assert!(runs.as_array().is_some_and(|runs| runs.len() <= 1), "{runs}");
        runs.get(0).cloned()
    }

    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        let (_, events) = self.harness.json(&["runs", "show", id, "--json"]);
        events.as_array().cloned().unwrap_or_default()
    }
}

pub(crate) fn rounds() -> usize {
    std::env::var("JARVIS_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// The log of a run is whole: each number once, each task ended once, one end.
pub(crate) fn whole(events: &[Value], told: &str) {
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "{told}");
    let mut ended: Vec<u64> = Vec::new();
    for event in events.iter().filter(|event| event["event"] == "task_finished") {
        ended.push(event["outcome"]["id"].as_u64().expect("an id"));
    }
    ended.sort_unstable();
    assert_eq!(ended, [0, 1, 2, 3, 4, 5], "{told}");
    assert_eq!(events.iter().filter(|event| event["event"] == "done").count(), 1, "{told}");
}

/// What the journal had when a process died: finds and model calls that must not be made again.
fn kept(events: &[Value]) -> Vec<String> {
    let step = |event: &Value| match event["event"].as_str() {
        Some("task_finished") => Some(event["outcome"]["args"].to_string()),
        // A call that failed is made again.
        Some("model_call") if event["ok"] == true => event["stage"].as_str().map(str::to_owned),
        _ => None,
    };
    events.iter().filter_map(step).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_killed_at_every_write_and_goes_on() {
    let undisturbed = Agency::open(true).await;
    let (code, document) = undisturbed.run(&["run", REQUEST, "--yes", "--json"], None);
    assert_eq!(code, Some(0), "{document}");
    let (once, keys) = undisturbed.done();
    assert_eq!(keys.len(), 1, "{once:#?}");
    assert!(once.iter().all(|(step, times)| *times == 1 || step == "choose_model" || step == "replan"), "{once:#?}");
    let (mut kills, mut again) = (0, 0);
    for _ in 0..rounds() {
        for side in ["before", "after"] {
            // A test of every day leaves out every other one.
            let every = if rounds() == 1 && side == "after" { 2 } else { 1 };
            for write in (1..).step_by(every) {
                let agency = Agency::open(true).await;
                let (code, _) = agency.run(&["run", REQUEST, "--yes", "--json"], Some(&format!("{side} {write}")));
                if code.is_some() {
                    break;
                }
                kills += 1;
                let told = format!("killed {side} write {write}");
                let Some(run) = agency.listed() else { continue };
                // Its end was the last that was written.
                if run["status"] == "done" {
                    continue;
                }
                assert_eq!((&run["status"], &run["resumable"]), (&json!("interrupted"), &json!(true)), "{told}");
                let id = run["run_id"].as_str().expect("an id");
                let before = agency.events(id);
                let (first, _) = agency.done();
                let (code, resumed) = agency.run(&["runs", "resume", id, "--yes", "--json"], None);
                assert_eq!(code, Some(0), "{told}: {resumed}");
                assert_eq!(resumed["answer"]["text"], document["answer"]["text"], "{told}");
                assert_eq!(resumed["results"], document["results"], "{told}");
                let events = agency.events(id);
                whole(&events, &told);
                let (done, keys) = agency.done();
                assert_eq!(keys.len(), 1, "{told}: a booking has one key, {keys:?}");
                // Only what was on its way when it died was done again: at most the planning call and the three finds that follow it, which on
                // a busy machine wait for one write.
                let extra: usize = done.iter().map(|(step, times)| times - once.get(step).copied().unwrap_or(0)).sum();
                assert!(extra <= 4, "{told}: {done:#?}");
                again += extra;
                let kept = kept(&before);
                for (step, times) in &done {
                    let what = step.split_once("what=").map(|(_, what)| json!({"what": what}).to_string());
                    if what.is_some_and(|what| kept.contains(&what)) || (step == "parse_task" && kept.contains(step)) {
                        // A call may have been tried twice before it had an answer.
                        let tried = first.get(step).copied().unwrap_or(0);
                        let asked = || {
                            let requests = agency.chat.requests();
                            requests.into_iter().filter(|request| request.stage() == step).collect::<Vec<_>>()
                        };
                        assert_eq!(*times, tried, "{told}: {step} was done again: {:#?} {before:#?}", asked());
                    }
                }
            }
        }
    }
    assert!(kills > 20, "{kills}");
    println!("{kills} kills, {again} steps on their way were done again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_may_have_arrived_waits_for_a_person() {
    // Killed while the booking is on its way: it arrived, and its answer did not.
    // What a call answered that somebody says was done is not known, so what needs it is left undone.
    for (decision, bookings, status) in [("done", 1, "failed"), ("retry", 2, "done"), ("skip", 1, "failed")] {
        let mut write = 8;
        let agency = loop {
            let agency = Agency::open(false).await;
            let (code, _) = agency.run(&["run", REQUEST, "--yes", "--json"], Some(&format!("before {write}")));
            assert_eq!(code, None, "it is killed at the booking at the latest");
            let is_booked = agency.stub.requests().iter().any(|request| request.path == "/book");
            let id = agency.listed().map(|run| run["run_id"].as_str().expect("an id").to_owned());
            let events = id.map(|id| agency.events(&id)).unwrap_or_default();
            let of = |event: &Value| event["event"] == "task_finished" && event["outcome"]["id"] == 4;
            match (is_booked, events.iter().any(of)) {
                (true, false) => break agency,
                // Its answer came in time.
                (true, true) => write -= 1,
                (false, _) => write += 1,
            }
        };
        let url = agency.chat.url();
        let run = agency.listed().expect("it began");
        let id = run["run_id"].as_str().expect("an id").to_owned();
        // Where nobody can be asked it is not called again.
        let mut server = Server::start(&agency.harness, &agency.args(&url, &[]));
        let (code, reply) = server.post(&format!("/runs/{id}/resume"), &json!({})).await;
        assert_eq!(code, 200, "{reply}");
        let asked = waiting(&server, &id).await;
        assert_eq!((&asked["tool"], &asked["unknown"]), (&json!("agency.book"), &json!(true)), "{asked}");
        // The question outlives another process.
        assert_eq!(server.end("-KILL"), None);
        server = Server::start(&agency.harness, &agency.args(&url, &[]));
        let (code, reply) = server.post(&format!("/runs/{id}/resume"), &json!({})).await;
        assert_eq!(code, 200, "{reply}");
        assert_eq!(waiting(&server, &id).await["unknown"], json!(true));
        let answer = format!("/runs/{id}/approvals/4");
        assert_eq!(server.post(&answer, &json!({"decision": "approve"})).await.0, 400, "the words are others");
        assert_eq!(server.post(&answer, &json!({"decision": decision})).await.0, 200);
        let events = server.client.get(format!("{}/runs/{id}/events", server.url)).send().await.expect("a reply");
        let events = events.text().await.expect("they end");
        let made = agency.stub.requests().iter().filter(|request| request.path == "/book").count();
        assert_eq!(made, bookings, "{decision}");
        assert_eq!(server.get(&format!("/runs/{id}")).await.1["status"], status, "{decision}: {events}");
    }
}

#[test]
fn every_pipeline_goes_on() {
    let rewoo = [
        json!({"stage": "rewoo_plan", "contains": ["what do both cost"], "reply":
            "Plan: Add the prices.\n#E1 = calculator[17 + 25]\nPlan: Say it.\n#E2 = LLM[Say #E1 in words.]"}),
        json!({"stage": "rewoo_llm", "contains": ["Say 42 in words."], "reply": "forty-two"}),
        json!({"stage": "rewoo_solve", "contains": ["Evidence: forty-two"], "reply": "Both cost forty-two."}),
    ];
    let plan = json!({"tasks": [
        {"task": "sentiment-analysis", "id": 0, "dep": [-1], "args": {"text": "I love it."}},
        {"task": "text-classification", "id": 1, "dep": [-1], "args": {"text": "I hate it."}},
    ]});
    for args in [
        &["run", "tell the mood of: I love it, and count its words"][..],
        &["run", "--plan", "plan.json"],
        &["run", "what do both cost?", "--pipeline", "rewoo", "--llm", "replay:r.jsonl"],
        &["run", "which fruit is most frequent? draw it", "--pipeline", "react", "--file", "fruits.txt"],
        &["ask", "which fruit is most frequent? draw it", "--file", "fruits.txt"],
    ] {
        let open = || {
            let harness = Harness::new();
            harness.file("r.jsonl", rewoo.each_ref().map(Value::to_string).join("\n"));
            harness.file("plan.json", plan.to_string());
            harness.file("fruits.txt", "apple,apple,banana");
            harness
        };
        let text = |document: &Value| {
            let answer = document["answer"]["text"].as_str().or(document["text_answer"].as_str());
            answer.expect("there is an answer").to_owned()
        };
        let json = [args, &["--json", "-q"]].concat();
        let undisturbed = open();
        let (code, document) = undisturbed.json(&json);
        assert_eq!(code, 0, "{args:?}: {document:#}");
        let answer = undisturbed.filtered(&text(&document));
        let mut kills = 0;
        for write in 1.. {
            let harness = open();
            let mut command = harness.command(&json);
            let ended = command.env("JARVIS_TEST_DIE_AT_WRITE", format!("before {write}")).output().expect("it starts");
            if ended.status.code().is_some() {
                break;
            }
            let (_, runs) = harness.json(&["runs", "list", "--json"]);
            let Some(id) = runs[0]["run_id"].as_str() else { continue };
            kills += 1;
            let (code, resumed) = harness.json(&["runs", "resume", id, "--json", "-q"]);
            assert_eq!(code, 0, "{args:?}, write {write}: {resumed:#}");
            assert_eq!(harness.filtered(&text(&resumed)), answer, "{args:?}, write {write}");
        }
        assert!(kills > 1, "{args:?} was killed {kills} times");
    }
}

/// What a run waits for, once it does.
async fn waiting(server: &Server, id: &str) -> Value {
    let asked = async {
        loop {
            let (_, run) = server.get(&format!("/runs/{id}")).await;
            if let Some(asked) = run["waiting"].get(0) {
                return asked.clone();
            }
            assert!(["queued", "running", "waiting"].iter().any(|status| run["status"] == *status), "{run}");
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::serve::PATIENCE, asked).await.expect("it waits")
}

/// Where the disk has no room for a result, the run stops, and goes on when there is.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_run_stops_on_a_full_disk_and_goes_on() {
    let mut stopped = 0;
    // The largest file in blocks of 1,024 bytes: of no room for the journal, of some, and of enough.
    for blocks in [40, 60, 80, 100, 130, 1_000] {
        let agency = Agency::open(true).await;
        let url = agency.chat.url();
        let binary = env!("CARGO_BIN_EXE_jarvis");
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {binary} run '{REQUEST}' --yes --json --config jarvis.yaml --llm gpt-4 \
             --base-url {url}"
        );
        let ended = agency.harness.shell(&line);
        let Some(run) = agency.listed() else { continue };
        let id = run["run_id"].as_str().expect("an id").to_owned();
        if run["status"] == "done" {
            continue;
        }
        stopped += 1;
        assert!(ended.contains("--- exit 1") && ended.contains("cannot be kept"), "{blocks}: {ended}");
        assert_eq!(run["resumable"], json!(true), "{blocks}: {run}");
        let (code, resumed) = agency.run(&["runs", "resume", &id, "--yes", "--json"], None);
        assert_eq!(
            (code, &resumed["answer"]["text"]),
            (Some(0), &json!("The train is booked.")),
            "{blocks}: {resumed}"
        );
        whole(&agency.events(&id), &format!("{blocks} blocks"));
        assert_eq!(agency.done().1.len(), 1, "{blocks}: it is booked once");
    }
    assert!(stopped > 0, "there was room enough");
}
