//! Runs: their events, who may follow them, and how they end before their time.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::{self, Does, Harness, PATIENCE, Reply, ask, planned};

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

/// Starts a run that waits, and gives its id and the open reply.
async fn waiting(harness: &Harness) -> (String, reqwest::Response) {
    let reply = harness.open("/hugginggpt/stream", ask("x")).await;
    let id = reply.headers()["x-run-id"].to_str().expect("text").to_owned();
    (id, reply)
}

/// Reads a stream until its plan stands: a task may start before, and a run that is cancelled before has nothing to tell.
async fn planned_in(stream: &mut reqwest::Response) -> String {
    let mut seen = String::new();
    while !seen.contains("event: plan\n") {
        let piece = stream.chunk().await.expect("a stream").expect("more of it");
        seen.push_str(std::str::from_utf8(&piece).expect("text"));
    }
    seen
}

#[tokio::test]
async fn a_stream_tells_the_whole_run_in_order() {
    let harness = harness::with_chat(planned()).start().await;
    let events = harness.stream("/hugginggpt/stream", ask("x")).await;
    let mut seen = names(&events);
    seen.dedup();
    // The task may end before the plan stands, and after.
    let of_task = |name: &&str| ["plan_grew", "model_chosen", "task_started", "task_finished"].contains(name);
    let (tasks, rest): (Vec<&str>, Vec<&str>) = seen.iter().map(AsRef::as_ref).partition(of_task);
    assert_eq!(tasks.join(" "), "plan_grew model_chosen task_started task_finished");
    assert_eq!(rest.join(" "), "run_started model_call plan token model_call answer done");
    // Numbers have no gap; pieces of the answer have the number of the event before them, and count up beside it.
    let (mut seq, mut piece) = (0, 0);
    for (at, (name, event)) in events.iter().enumerate() {
        (seq, piece) = if name == "token" { (seq, piece + 1) } else { (if at == 0 { 0 } else { seq + 1 }, 0) };
        let told = (event["seq"].as_u64(), event["piece"].as_u64().unwrap_or(0), event["event"].as_str());
        assert_eq!(told, (Some(seq), piece, Some(name.as_str())));
    }
    let said: String = events.iter().filter_map(|(_, event)| event["text"].as_str()).collect();
    assert_eq!(said, "Here you are.");
}

#[tokio::test]
async fn a_run_can_be_followed_live_and_from_the_journal() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Waits).start().await;
    let (id, own) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    let live = harness.request(Method::GET, &format!("/runs/{id}/events")).send().await.expect("a reply");
    let later = harness.request(Method::GET, &format!("/runs/{id}/events")).header("Last-Event-ID", "2");
    let later = later.send().await.expect("a reply");
    let shown = harness.get(&format!("/runs/{id}")).await;
    assert_eq!(shown.json["status"], "running");
    assert_eq!(shown.json["events"][0]["event"], "run_started");
    harness.go.add_permits(1);
    let own = harness::events(&own.text().await.expect("text"));
    assert_eq!(harness::events(&live.text().await.expect("text")), own);
    assert_eq!(harness::events(&later.text().await.expect("text")), own[3..]);
    harness.settled().await;
    // The journal keeps everything but the pieces of the answer.
    let kept: Vec<_> = own.iter().filter(|(name, _)| name != "token").cloned().collect();
    let replayed = harness.get(&format!("/runs/{id}/events")).await;
    assert_eq!(harness::events(&replayed.text), kept);
    let shown = harness.get(&format!("/runs/{id}")).await;
    assert_eq!((shown.json["status"].as_str(), shown.json["tasks"].as_u64()), (Some("done"), Some(1)));
    assert_eq!(shown.json["events"].as_array().map(Vec::len), Some(kept.len()));
    let listed = harness.get("/runs").await;
    assert_eq!(listed.json["runs"][0]["run_id"], id);
    assert_eq!(listed.json["runs"][0]["request"], "x");
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_run_and_no_other() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
    // A stream whose reader leaves.
    let (first, own) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    let mut follower = harness.request(Method::GET, &format!("/runs/{first}/events")).send().await.expect("a reply");
    let seen = planned_in(&mut follower).await;
    drop(own);
    harness.worker.dropped.reach(1).await;
    let events = harness::events(&(seen + &follower.text().await.expect("text")));
    assert_eq!(events.last().map(|(name, event)| (name.as_str(), event["ok"].as_bool())), Some(("done", Some(false))));
    // A caller who does not wait for the answer.
    let mut socket =
        tokio::net::TcpStream::connect(harness.url.trim_start_matches("http://")).await.expect("connected");
    let body = ask("x").to_string();
    let head = format!(
        "POST /hugginggpt HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.expect("written");
    harness.worker.started.reach(2).await;
    drop(socket);
    harness.worker.dropped.reach(2).await;
    // A run that was let go goes on without its reader.
    let mut detached = ask("x");
    detached["detached"] = json!(true);
    let own = harness.open("/hugginggpt/stream", detached).await;
    let fourth = own.headers()["x-run-id"].to_str().expect("text").to_owned();
    harness.worker.started.reach(3).await;
    drop(own);
    assert_eq!(harness.get(&format!("/runs/{fourth}")).await.json["status"], "running");
    assert_eq!(harness.post(&format!("/runs/{fourth}/cancel"), json!({})).await.status, 200);
    harness.worker.dropped.reach(3).await;
    // A follower who leaves cancels nothing.
    let (third, own) = waiting(&harness).await;
    harness.worker.started.reach(4).await;
    drop(harness.request(Method::GET, &format!("/runs/{third}/events")).send().await.expect("a reply"));
    assert_eq!(harness.get(&format!("/runs/{third}")).await.json["status"], "running");
    assert_eq!(harness.post(&format!("/runs/{third}/cancel"), json!({})).await.status, 200);
    own.text().await.expect("it ends");
}

#[tokio::test]
async fn a_run_can_be_cancelled_once() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
    let (id, own) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    let path = format!("/runs/{id}/cancel");
    let reply = harness.post(&path, json!({})).await;
    assert_eq!(reply.json, json!({"run_id": id, "cancelled": true}));
    let events = harness::events(&own.text().await.expect("text"));
    let outcome = events.iter().find(|(name, _)| name == "task_finished").map(|(_, event)| &event["outcome"]["status"]);
    assert_eq!(outcome, Some(&json!("cancelled")));
    harness.settled().await;
    assert_eq!(harness.post(&path, json!({})).await.told(), "409 already_ended");
    assert_eq!(harness.get(&format!("/runs/{id}")).await.json["status"], "cancelled");
    for (method, path) in [
        (Method::POST, "/runs/00000000-0000-7000-8000-000000000000/cancel"),
        (Method::GET, "/runs/00000000-0000-7000-8000-000000000000"),
        (Method::GET, "/runs/00000000-0000-7000-8000-000000000000/events"),
    ] {
        let reply = Reply::of(harness.request(method, path).send().await.expect("a reply")).await;
        assert_eq!(reply.told(), "404 not_found", "{path}");
    }
    for query in ["limit=0", "limit=1001", "limit=x", "limit=-1"] {
        assert_eq!(harness.get(&format!("/runs?{query}")).await.told(), "400 invalid_request", "{query}");
    }
    let odd = harness.request(Method::GET, &format!("/runs/{id}/events")).header("Last-Event-ID", "last");
    assert_eq!(Reply::of(odd.send().await.expect("a reply")).await.told(), "400 invalid_request");
}

#[tokio::test]
async fn the_queue_is_bounded_and_goes_in_order() {
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| (options.max_running, options.max_waiting) = (1, 1))
        .start()
        .await;
    let (first, running) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    let (second, queued) = waiting(&harness).await;
    let refused = harness.post("/hugginggpt", ask("x")).await;
    assert_eq!(refused.told(), "503 overloaded");
    assert_eq!(refused.header("retry-after"), "1");
    for route in ["/hugginggpt/stream", "/tasks", "/results", "/decisions", "/decisions/stream"] {
        assert_eq!(harness.post(route, ask("x")).await.told(), "503 overloaded", "{route}");
    }
    let listed = harness.get("/runs").await;
    let states: Vec<_> =
        [0, 1].map(|at| (listed.json["runs"][at]["run_id"].clone(), listed.json["runs"][at]["status"].clone())).into();
    assert_eq!(states, [(json!(second), json!("queued")), (json!(first), json!("running"))]);
    harness.go.add_permits(2);
    running.text().await.expect("it ends");
    let events = harness::events(&queued.text().await.expect("it ends"));
    assert_eq!(names(&events)[..2], ["queued", "run_started"]);
    assert_eq!(events[0].1["ahead"], 0);
    // Places come back.
    harness.go.add_permits(1);
    assert_eq!(harness.post("/hugginggpt", ask("x")).await.status, 200);
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Hangs)
        .options(|options| (options.max_running, options.max_waiting) = (1, 1))
        .start()
        .await;
    let (_, _running) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    let (second, queued) = waiting(&harness).await;
    assert_eq!(harness.post(&format!("/runs/{second}/cancel"), json!({})).await.status, 200);
    let events = harness::events(&queued.text().await.expect("it ends"));
    assert_eq!(names(&events), ["queued", "error"]);
    assert_eq!(events[1].1["code"], "cancelled");
}

#[tokio::test]
async fn a_server_without_a_journal_still_serves() {
    let harness = harness::with_chat(planned()).without_journal().start().await;
    assert_eq!(harness.post("/hugginggpt", ask("x")).await.status, 200);
    harness.settled().await;
    assert_eq!(harness.get("/runs").await.json, json!({"runs": []}));
    assert_eq!(harness.get("/runs/x").await.told(), "404 not_found");
}

#[tokio::test]
async fn stopping_lets_runs_end_and_takes_no_more() {
    let harness = harness::with_chat(planned()).does("text-classification", Does::Waits).start().await;
    let (_, own) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    harness.stop.cancel();
    // The socket closes at once; what is in flight goes on.
    let refused = async {
        while tokio::net::TcpStream::connect(harness.url.trim_start_matches("http://")).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("no more connections are taken");
    harness.go.add_permits(1);
    let events = harness::events(&own.text().await.expect("a whole stream"));
    assert_eq!(events.last().map(|(name, event)| (name.as_str(), event["ok"].as_bool())), Some(("done", Some(true))));
    tokio::time::timeout(PATIENCE, harness.served).await.expect("the server ends").expect("in good order");
}

#[tokio::test]
async fn runs_that_do_not_end_are_left_to_the_next_server_when_the_drain_is_over() {
    let mut harness = harness::with_chat(planned())
        .does("text-classification", Does::Hangs)
        .options(|options| options.drain = std::time::Duration::from_millis(10))
        .start()
        .await;
    let (_, own) = waiting(&harness).await;
    harness.worker.started.reach(1).await;
    harness.stop.cancel();
    let events = harness::events(&own.text().await.expect("a whole stream"));
    // Nobody is told of an end, since there is none.
    assert!(events.iter().all(|(name, _)| name != "done" && name != "error"), "{events:?}");
    tokio::time::timeout(PATIENCE, &mut harness.served).await.expect("the server ends").expect("in good order");
    let journal = jarvis_store::Journal::open(&harness.folder().join("runs.db")).expect("a journal");
    let run = &journal.runs(1).expect("readable")[0];
    assert!(run.resumable && run.status == jarvis_store::RunStatus::Interrupted, "{run:?}");
}

#[tokio::test]
async fn readers_who_do_not_read_are_cut_and_hold_up_nobody() {
    let harness = harness::offline()
        .does("text-classification", Does::Floods)
        .options(|options| options.write_timeout = std::time::Duration::from_millis(50))
        .start()
        .await;
    let mood = ask("tell the mood of: I love it");
    let whole = harness.open("/hugginggpt/stream", mood).await;
    let id = whole.headers()["x-run-id"].to_str().expect("text").to_owned();
    let whole = whole.text().await.expect("a whole stream");
    assert!(whole.len() > harness::FLOOD, "it is more than sockets hold");
    harness.settled().await;
    // A small window, so that little fits on the way.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("set");
    let address = harness.url.trim_start_matches("http://").parse().expect("an address");
    let mut deaf = socket.connect(address).await.expect("connected");
    deaf.write_all(format!("GET /runs/{id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())
        .await
        .expect("written");
    let streams = |count: usize| {
        let harness = &harness;
        async move {
            let line = format!("jarvis_streams_open {count}\n");
            let reached = async {
                while !harness.get("/metrics").await.text.contains(&line) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(PATIENCE, reached).await.expect("so many streams are open");
        }
    };
    streams(1).await;
    streams(0).await;
    let mut rest = Vec::new();
    let _ = deaf.read_to_end(&mut rest).await;
    assert!(rest.len() < harness::FLOOD, "it was cut after {} bytes", rest.len());
}
