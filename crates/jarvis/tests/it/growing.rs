//! Plans that grow, budgets and fall-backs, with the real binary: questions at every door, over a stop too.

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

/// A task that no model of this machine serves.
const PLAN: &str = r#"[{"task":"text-to-video","id":0,"dep":[-1],"args":{"text":"a sunrise"}}]"#;
pub(crate) const QUESTION: &str = "Which sunrise?";

/// A planner that asks, and goes on when it was told.
pub(crate) fn asking() -> Script {
    let next = r#"{"tasks":[{"task":"text-classification","id":1,"dep":[-1],"args":{"text":"I love this sunrise"}}]}"#;
    let ask = format!(r#"{{"ask": "{QUESTION}"}}"#);
    Script::new()
        .on("parse_task", Reply::text(PLAN))
        .on_containing("replan", &["by the sea", "\"1\":"], Reply::text(r#"{"done": true}"#))
        .on_containing("replan", &["by the sea"], Reply::text(next))
        .on("replan", Reply::text(ask))
        .on("response_results", Reply::text("Here it is."))
}

fn args<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [more, &["--llm", "gpt-4", "--base-url", url]].concat()
}

#[tokio::test]
async fn a_question_waits_for_its_answer_over_a_stop() {
    let (chat, harness) = (FakeChat::start(asking()).await, Harness::new());
    let url = chat.url();
    let server = Server::start(&harness, &args(&url, &[]));
    let (status, reply) = server.ask("make a film of a sunrise").await;
    assert_eq!((status, &reply["status"]), (202, &json!("waiting")), "{reply}");
    let asked = &reply["waiting"][0];
    assert_eq!((&asked["tool"], &asked["arguments"]["question"]), (&json!("ask_person"), &json!(QUESTION)), "{asked}");
    let id = reply["run_id"].as_str().unwrap().to_owned();
    assert_eq!(server.end("-TERM"), Some(0));
    let server = Server::start(&harness, &args(&url, &[]));
    let (_, run) = server.get(&format!("/runs/{id}")).await;
    assert_eq!(run["status"], "waiting", "{run}");
    let at = format!("/runs/{id}/approvals/1");
    let (status, reply) = server.post(&at, &json!({"decision": "approve"})).await;
    assert!(status == 400 && reply.to_string().contains("answer"), "{status} {reply}");
    let answer = json!({"decision": "approve", "arguments": {"answer": "one by the sea"}});
    assert_eq!(server.post(&at, &answer).await.0, 200);
    let text = server.told(&id).await;
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let grown: Vec<u64> = of("plan_grew").iter().filter_map(|event| event["round"].as_u64()).collect();
    assert_eq!(grown, [0, 1], "{text}");
    assert_eq!(of("approval_needed").len(), 1, "it is asked once: {text}");
    // A mood is no film, whatever the planner says.
    assert_eq!(of("done")[0]["ok"], false, "{text}");
    assert!(of("answer")[0]["answer"]["text"].as_str().is_some_and(|text| text.ends_with("Here it is.")), "{text}");
}

#[tokio::test]
async fn doors_where_nobody_can_be_asked_answer_with_the_question() {
    let (chat, harness) = (FakeChat::start(asking()).await, Harness::new());
    let url = chat.url();
    // A command without a terminal.
    let ended = harness.run(&args(&url, &["run", "make a film of a sunrise", "--json", "-q"]));
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &document["reason"]), (1, &json!("question")), "{document}");
    assert_eq!(document["waiting"], json!({"task": 1, "tool": "ask_person", "arguments": {"question": QUESTION}}));
    assert_eq!(document["answer"]["text"], QUESTION);
    // The OpenAI protocol.
    let server = Server::start(&harness, &args(&url, &[]));
    let body =
        json!({"model": "jarvis/hugginggpt", "messages": [{"role": "user", "content": "make a film of a sunrise"}]});
    let (status, reply) = server.post("/v1/chat/completions", &body).await;
    assert_eq!((status, &reply["choices"][0]["message"]["content"]), (200, &json!(QUESTION)), "{reply}");
}

#[test]
fn a_budget_ends_a_run_in_words() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(asking());
    let url = chat.url();
    for (flags, bound) in
        [(["--max-calls", "1"], "calls"), (["--max-tokens", "3"], "tokens"), (["--max-time", "0s"], "time")]
    {
        let ended =
            harness.run(&args(&url, &[&["run", "make a film of a sunrise", "--json", "-q"], &flags[..]].concat()));
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(ended.code, 1, "{bound}: {document}");
        let told = document["budget"]["bound"].as_str().or(document["error"]["code"].as_str()).unwrap_or_default();
        assert!([bound, "budget"].contains(&told), "{bound}: {document}");
    }
    let ended = harness.run(&args(&url, &["run", "hello", "--max-cost", "1"]));
    assert!(ended.code == 2 && ended.stderr.contains("prices"), "{}", ended.stderr);
}

#[test]
fn costs_are_counted_and_the_next_model_is_asked() {
    let harness = Harness::new();
    let chat = FakeChat::spawn(
        Script::new()
            .on("parse_task", Reply::text("[]").usage(1_000, 10))
            .otherwise(Reply::text("Hello.").usage(2_000, 20)),
    );
    let config = format!(
        "prices:\n  models:\n    \"small*\": {{input: 1.0, output: 10.0}}\n\
         llm:\n  max_retries: 0\n  fallback:\n    - {{model: small-one, base_url: \"{}\"}}\n",
        chat.url()
    );
    harness.file("jarvis.yaml", config);
    // Nobody listens at the first address.
    let nowhere = "http://127.0.0.1:9/v1";
    let ended = harness.run(&args(nowhere, &["run", "hello", "--json", "-q", "--config", "jarvis.yaml"]));
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended.code, 0, "{document} {}", ended.stderr);
    let usage = &document["usage"];
    assert_eq!(usage["by_stage"]["parse_task"]["prompt_tokens"], 1_000, "{usage}");
    assert_eq!(usage["cost"], json!({"amount": 0.0033, "currency": "USD"}), "{usage}");
    let (_, costs) = harness.json(&["runs", "cost", "--json", "--by", "model,pipeline"]);
    assert_eq!((&costs[0]["model"], &costs[0]["pipeline"]), (&json!("small-one"), &json!("hugginggpt")), "{costs}");
    assert_eq!((&costs[0]["calls"], &costs[0]["cost"]), (&json!(2), &json!(0.0033)), "{costs}");
    let told = harness.run(&["runs", "cost"]);
    assert!(told.stdout.contains("small-one") && told.stdout.contains("0.003300 USD"), "{}", told.stdout);
    let id = document["run_id"].as_str().unwrap();
    let shown = harness.run(&["runs", "show", id]).stdout;
    assert!(shown.contains("parse_task call of small-one") && shown.contains("cost 0.003300 USD"), "{shown}");
}
