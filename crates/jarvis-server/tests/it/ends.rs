//! How runs end: under one name at every door, on the disk before anybody is told, and with nothing after it.

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jarvis_proto::file_based_qa::QueryRequest;
use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use jarvis_store::{Journal, RunStatus};
use jarvis_testing::chat::{Reply, Script};
use reqwest::Response;
use serde_json::{Value, json};
use tonic::transport::Channel;

use crate::harness::{self, Harness, MOOD, ask, planned};
use crate::pipelines::rewoo;

fn journal(harness: &Harness) -> Journal {
    Journal::open(&harness.folder().join("runs.db")).expect("a journal")
}

/// Reads a stream as far as its last event.
async fn until_the_end(mut reply: Response) -> String {
    let mut text = String::new();
    while let Some(chunk) = reply.chunk().await.expect("a whole stream") {
        text.push_str(std::str::from_utf8(&chunk).expect("text"));
        if text.contains("event: done\n") || text.contains("event: error\n") {
            break;
        }
    }
    text
}

#[tokio::test]
async fn the_end_of_a_run_is_on_the_disk_before_it_is_told() {
    const RUNS: usize = 200;
    let harness = harness::with_chat(planned())
        .options(|options| (options.max_running, options.max_waiting) = (40, RUNS))
        .start()
        .await;
    let journal = journal(&harness);
    let mut runs: FuturesUnordered<_> = (0..RUNS)
        .map(|_| async {
            let reply = harness.open("/hugginggpt/stream", ask("x")).await;
            let id = reply.headers()["x-run-id"].to_str().expect("text").to_owned();
            let text = until_the_end(reply).await;
            (journal.run(&id).expect("the journal has it"), text)
        })
        .collect();
    while let Some((record, text)) = runs.next().await {
        assert_eq!(record.summary.status, RunStatus::Done, "{text}");
        let last = record.events.last().map(|event| event["event"].clone());
        assert_eq!(last, Some(json!("done")), "{text}");
    }
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let harness = harness::with_chat(planned()).start().await;
    let reply = harness.open("/hugginggpt/stream", ask("x")).await;
    let id = reply.headers()["x-run-id"].to_str().expect("text").to_owned();
    let events = harness::events(&reply.text().await.expect("text"));
    harness.settled().await;
    let again = harness::events(&harness.get(&format!("/runs/{id}/events")).await.text);
    for events in [events, again] {
        let ends: Vec<usize> = (0..events.len()).filter(|at| matches!(&*events[*at].0, "done" | "error")).collect();
        assert_eq!(ends, [events.len() - 1]);
    }
}

/// Scripts whose model hangs at one stage, by pipeline.
fn hanging() -> Vec<(&'static str, &'static str, Script)> {
    let never = Reply::never;
    vec![
        ("hugginggpt", "parse_task", Script::new().on("parse_task", never())),
        ("hugginggpt", "response_results", Script::new().on("parse_task", MOOD).on("response_results", never())),
        ("rewoo", "rewoo_plan", Script::new().on("rewoo_plan", never())),
        ("rewoo", "rewoo_llm", Script::new().on("rewoo_llm", never()).otherwise(PLAN)),
        ("rewoo", "rewoo_solve", Script::new().on("rewoo_solve", never()).otherwise(PLAN)),
        ("react", "react", Script::always(never())),
    ]
}

const PLAN: &str = "Plan: Say it.\n#E1 = LLM[Say hello.]";

/// How somebody gives up a run.
#[derive(Debug, Clone, Copy)]
enum Leaves {
    Cancels,
    Disconnects,
    DisconnectsAtTheModel,
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_its_model_hangs_is_cancelled_everywhere() {
    for (pipeline, stage, _) in hanging() {
        for leaves in [Leaves::Cancels, Leaves::Disconnects, Leaves::DisconnectsAtTheModel] {
            let script = hanging().into_iter().find(|case| (case.0, case.1) == (pipeline, stage)).expect("a case").2;
            let case = format!("{pipeline}, {stage}, {leaves:?}");
            let harness = harness::with_chat(script).start().await;
            let chat = harness.chat.as_ref().expect("a model");
            let mut request = ask("what does the note say?");
            let path = match leaves {
                Leaves::DisconnectsAtTheModel => {
                    request["model"] = json!(format!("jarvis/{pipeline}"));
                    request["stream"] = json!(true);
                    "/v1/chat/completions".to_owned()
                }
                Leaves::Cancels | Leaves::Disconnects => format!("/pipelines/{pipeline}/runs/stream"),
            };
            let reply = harness.open(&path, request).await;
            assert_eq!(reply.status(), 200, "{case}");
            while chat.requests_of(stage).is_empty() {
                tokio::task::yield_now().await;
            }
            let id = harness.get("/runs").await.json["runs"][0]["run_id"].as_str().expect("an id").to_owned();
            if let Leaves::Cancels = leaves {
                assert_eq!(harness.post(&format!("/runs/{id}/cancel"), json!({})).await.status, 200, "{case}");
                let events = harness::events(&until_the_end(reply).await);
                assert!(is_cancelled(&events.last().expect("an end").1), "{case}: {events:?}");
            } else {
                drop(reply);
            }
            harness.settled().await;
            assert_eq!(journal(&harness).run(&id).expect("a run").summary.status, RunStatus::Cancelled, "{case}");
            assert_eq!(harness.get(&format!("/runs/{id}")).await.json["status"], "cancelled", "{case}");
            assert_eq!(harness.get("/runs").await.json["runs"][0]["status"], "cancelled", "{case}");
            let again = harness.post(&format!("/runs/{id}/cancel"), json!({})).await;
            assert_eq!(again.told(), "409 already_ended", "{case}");
            assert!(again.text.contains("it is cancelled"), "{case}: {}", again.text);
        }
    }
}

fn is_cancelled(event: &Value) -> bool {
    match event["event"].as_str() {
        Some("done") => event["cancelled"] == true,
        _ => event["code"] == "cancelled",
    }
}

#[tokio::test]
async fn a_question_over_grpc_that_is_given_up_is_cancelled() {
    let harness = harness::with_chat(Script::always(Reply::never())).start().await;
    let channel = Channel::from_shared(format!("http://{}", harness.grpc)).expect("an address").connect().await;
    let mut client = FileBasedQaClient::new(channel.expect("a connection"));
    let question = QueryRequest { question: "Which?".into(), file_data: "x".into(), ..QueryRequest::default() };
    let asking = tokio::spawn(async move { client.query_file(question).await });
    assert!(harness.chat.as_ref().expect("a model").wait_requests(1).await);
    asking.abort();
    harness.settled().await;
    assert_eq!(harness.get("/runs").await.json["runs"][0]["status"], "cancelled");
}

#[tokio::test]
async fn a_run_over_its_deadline_is_interrupted() {
    let harness = harness::with_chat(rewoo()).run_timeout(std::time::Duration::ZERO).start().await;
    let events = harness.stream("/pipelines/rewoo/runs/stream", ask("x")).await;
    let last = &events.last().expect("an end").1;
    assert_eq!((&last["event"], &last["code"]), (&json!("error"), &json!("interrupted")), "{last}");
    harness.settled().await;
    assert_eq!(harness.get("/runs").await.json["runs"][0]["status"], "interrupted");
}
