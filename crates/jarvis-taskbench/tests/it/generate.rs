//! Back-Instruct against a model that answers as asked, and against a server that does not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jarvis_batch::{Begun, Ended, Summary, Watch};
use jarvis_chat::{ChatError, ChatModel, OpenAi, OpenAiConfig, Retries, Secret};
use jarvis_taskbench::FailureKind;
use jarvis_taskbench::data::{Alignment, AlignmentIds, DependencyType, Domain, Gold, Requests, SampleId};
use jarvis_taskbench::generate::{
    Folder, FormatOptions, GenerateError, Generator, Job, Prompts, SampleSpec, Settings, Shown, format, prepare,
    sample_id,
};
use jarvis_taskbench::graph::{Method, Sampler, SeededRng};
use jarvis_taskbench::json::Look;
use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::data::example;
use crate::support::Scripted;

/// The reply to a prompt.
fn answer(prompt: &str) -> Value {
    let nodes: Vec<Value> = prompt
        .lines()
        .filter(|line| line.starts_with("Node "))
        .filter_map(|line| serde_json::from_str(line.split_once(": ")?.1).ok())
        .collect();
    let links: Vec<(String, String)> = prompt
        .lines()
        .filter_map(|line| line.strip_prefix("Edge: ")?.split_once(" -> "))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect();
    let node = |node: &Value| {
        let id = node["id"].as_str().unwrap();
        let before = links.iter().filter(|(_, to)| to == id).map(|(from, _)| json!(from));
        match node.get("parameters") {
            Some(parameters) => {
                let argument = |parameter: &Value| json!({"name": parameter["name"], "value": "something"});
                let arguments: Vec<Value> = parameters.as_array().unwrap().iter().map(argument).collect();
                json!({"id": id, "arguments": arguments})
            }
            None => json!({"id": id, "input": before.chain([json!("example.jpg")]).take(2).collect::<Vec<_>>()}),
        }
    };
    // The reply's order is not the alphabet's: it must survive.
    let nodes: Vec<Value> = nodes.iter().rev().map(node).collect();
    let steps: Vec<String> = nodes.iter().map(|node| format!("Use {}", node["id"])).collect();
    let mut reply = json!({
        "task_steps": steps,
        "user_request": format!("I want \"all\" of this:\n{}", steps.join(", ")),
        "invoking_graph": {
            "nodes": nodes,
            "links": links.iter().rev().map(|(a, b)| json!({"source": a, "target": b})).collect::<Vec<_>>(),
        },
    });
    if prompt.contains("strict teacher") {
        reply["check_by_teacher"] = json!("All is well. Conclusion: Executable: yes, Correct: yes");
    }
    reply
}

/// A model that answers the graph in the prompt. Every call of the number `fails_every`, from 1, gets a reply without JSON,
/// and the call of the number in `stop` cancels the run.
fn pupil(fails_every: usize, stop: Option<(usize, CancellationToken)>) -> Arc<dyn ChatModel> {
    let calls = AtomicUsize::new(0);
    Scripted::new(move |_: &str, prompt: &str| {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some((_, cancel)) = stop.as_ref().filter(|(at, _)| *at == call) {
            cancel.cancel();
        }
        Ok(match call {
            call if call.is_multiple_of(fails_every) => "I would rather not.".to_owned(),
            call if call.is_multiple_of(2) => format!("Here it is:\n```json\n{:#}\n```\nEnjoy.", answer(prompt)),
            _ => answer(prompt).to_string(),
        })
    })
}

fn good() -> Arc<dyn ChatModel> {
    pupil(usize::MAX, None)
}

fn folder(dir: &Path, domain: &str) -> Folder {
    let from = example(domain);
    prepare(dir, Some(&from.join("graph_desc.json")), Some(&from.join("tool_desc.json")), None).unwrap()
}

fn settings(target: usize) -> Settings {
    Settings {
        spec: SampleSpec { seed: 11, method: None, size: None },
        target,
        temperature: 0.7,
        top_p: 1.0,
        check: false,
        save_figure: false,
        workers: 4,
        notes: json!({"llm": "pupil"}),
    }
}

/// What a run tells, a line each.
#[derive(Default)]
struct Told(std::sync::Mutex<Vec<String>>);

impl Watch for Told {
    fn begun(&self, begun: &Begun) {
        let Begun { pending, already, notes } = begun;
        self.0.lock().unwrap().push(format!("{already} there, {pending} to make; {}", notes.join("; ")));
    }

    fn ended(&self, _: &Summary, ended: &Ended) {
        self.0.lock().unwrap().push(ended.id.clone());
    }
}

async fn run(dir: &Path, domain: &str, model: Arc<dyn ChatModel>, settings: Settings) -> (Summary, Vec<String>) {
    let told = Told::default();
    let generator = Generator::new(model, folder(dir, domain), settings).unwrap();
    let summary = generator.run(&told, &CancellationToken::new()).await.unwrap();
    (summary, told.0.into_inner().unwrap())
}

/// The records of a folder by their ids.
fn records(dir: &Path) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(dir.join("data_raw.json")).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = records.len();
    let by_id: BTreeMap<String, Value> =
        records.into_iter().map(|record| (record["id"].as_str().unwrap().to_owned(), record)).collect();
    assert_eq!(by_id.len(), count, "ids are unique");
    by_id
}

#[test]
fn ids_are_eight_digits_and_unique() {
    for seed in [0, 1, u64::MAX] {
        let ids: BTreeSet<String> = (0..3_000).map(|number| sample_id(seed, number)).collect();
        assert_eq!(ids.len(), 3_000);
        assert!(ids.iter().all(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_digit())));
    }
}

#[test]
fn jobs_depend_on_seed_and_number_alone() {
    let graph = Domain::open(example("data_studio")).unwrap().graph().unwrap();
    let sampler = Sampler::new(&graph);
    let job = |seed, number| Job::draw(&SampleSpec { seed, method: None, size: None }, &sampler, number).unwrap();
    assert_eq!(job(1, 5), job(1, 5));
    assert_ne!(job(1, 5).id, job(2, 5).id);
    let jobs: Vec<Job> = (0..400).map(|number| job(1, number)).collect();
    assert!(jobs.iter().all(|job| job.prompt_seed <= 1_000_000));
    for method in [Method::Single, Method::Chain, Method::Dag] {
        assert!(jobs.iter().filter(|job| job.method == method).count() > 30, "{method}");
    }
}

#[test]
fn prompts_are_as_agreed() {
    for (domain, dependency, word) in
        [("data_studio", DependencyType::Resource, "tool"), ("data_errands", DependencyType::Temporal, "API")]
    {
        let graph = Domain::open(example(domain)).unwrap().graph().unwrap();
        let sample = Sampler::new(&graph).sample(Method::Chain, 2, &mut SeededRng::new(0, 0)).unwrap();
        let nodes: Vec<Value> = sample.nodes.iter().map(|name| graph.nodes.get(name).unwrap().entry.clone()).collect();
        let prompt = |check| {
            let shown = Shown { nodes: nodes.clone(), links: &sample.links, seed: 77, check };
            let messages = Prompts::new(dependency).unwrap().messages(&shown).unwrap();
            assert_eq!(messages.len(), 1);
            messages[0].joined_text()
        };
        let (plain, checked) = (prompt(false), prompt(true));
        let edge = format!("Edge: {} -> {}", sample.nodes[0], sample.nodes[1]);
        for part in [&edge, "Node 1: {\"id\":", "Node 2: {\"id\":", "77", "compact JSON", word, "\"invoking_graph\""] {
            assert!(plain.contains(part), "{domain} lacks {part}:\n{plain}");
        }
        assert!(!plain.contains("teacher") && checked.contains("check_by_teacher"));
        // Descriptions stay as they are, whatever the prompt calls tools.
        assert!(plain.contains(nodes[0]["desc"].as_str().unwrap()));
        assert_eq!(answer(&plain)["invoking_graph"]["nodes"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn samples_do_not_depend_on_the_number_of_workers() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (dirs, workers) = ([one.path().join("a"), many.path().join("b")], [1, 8]);
    for (dir, workers) in dirs.iter().zip(workers) {
        let (summary, _) = run(dir, "data_studio", good(), Settings { workers, ..settings(60) }).await;
        assert_eq!(
            (summary.done, summary.counted("aligned"), summary.failed, summary.failed + summary.left),
            (60, 60, 0, 0)
        );
    }
    assert_eq!(records(&dirs[0]), records(&dirs[1]));
    let first = records(&dirs[0]).into_values().next().unwrap();
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    let wanted = ["id", "seed", "method", "number_of_tools", "sampled_nodes", "sampled_links", "result", "critics"];
    assert_eq!(keys, wanted);
}

#[tokio::test(start_paused = true)]
async fn what_is_generated_becomes_gold() {
    for (domain, dependency) in [("data_studio", DependencyType::Resource), ("data_errands", DependencyType::Temporal)]
    {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("run");
        let figures = Settings { check: true, save_figure: true, ..settings(40) };
        let (summary, _) = run(&dir, domain, pupil(7, None), figures).await;
        assert!(summary.failed > 0 && summary.done + summary.failed == 40, "{summary:?}");
        assert_eq!(summary.failures.iter().collect::<Vec<_>>(), [(&"ContentFormat", &summary.failed)]);
        assert_eq!(summary.failed + summary.left, summary.failed);
        assert_eq!(std::fs::read_dir(dir.join("task_graphs")).unwrap().count(), summary.done);

        let domain = Domain::open(&dir).unwrap();
        let formatted = format(&domain, FormatOptions { require_check: true, ..FormatOptions::default() }).unwrap();
        assert_eq!((formatted.total, formatted.accepted), (summary.done, summary.done), "{:?}", formatted.rejected);
        let gold = Gold::read(&dir.join("data.json")).unwrap();
        let raw = records(&dir);
        for record in gold.records() {
            let record = record.unwrap();
            let raw = &raw[record.id.as_str()];
            let names = |value: &Value, key: &str| -> Vec<String> {
                value.as_array().unwrap().iter().map(|node| node[key].as_str().unwrap().to_owned()).collect()
            };
            let nodes = record.task_nodes.as_ref().unwrap().to_serde();
            // In the reply's order.
            assert_eq!(names(&nodes, "task"), names(&raw["result"]["invoking_graph"]["nodes"], "id"));
            let links = record.task_links.as_ref().unwrap().to_serde();
            assert_eq!(links, raw["result"]["invoking_graph"]["links"]);
            assert_eq!(record.shape.as_deref(), raw["method"].as_str());
            if dependency == DependencyType::Resource {
                // Every link is a reference of an argument, unless two links left no room for it.
                for link in links.as_array().unwrap() {
                    let at = names(&nodes, "task").iter().position(|name| *name == link["source"]).unwrap();
                    let to = nodes.as_array().unwrap().iter().find(|node| node["task"] == link["target"]).unwrap();
                    assert!(to["arguments"].to_string().contains(&format!("<node-{at}>")), "{nodes}");
                }
            }
        }
        let requests = Requests::read(&dir.join("user_requests.json")).unwrap();
        assert_eq!((requests.requests.len(), requests.bad.len()), (summary.done, 0));
        assert!(requests.requests[0].text.contains("\"all\" of this:\n"));
        let passing = AlignmentIds::read(&dir.join("alignment_ids.json")).unwrap();
        let all = passing.passing(Alignment::All).unwrap().unwrap();
        let ids: std::collections::HashSet<SampleId> = gold.records().map(|record| record.unwrap().id).collect();
        assert_eq!(all, ids);
        assert_eq!(std::fs::read_to_string(dir.join("data_error.json")).unwrap(), "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_is_continued() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, whole) = (temp.path().join("stopped"), temp.path().join("whole"));
    run(&whole, "data_studio", good(), settings(30)).await;

    let cancel = CancellationToken::new();
    let stopping = pupil(usize::MAX, Some((12, cancel.clone())));
    let generator = Generator::new(stopping, folder(&dir, "data_studio"), settings(30)).unwrap();
    let summary = generator.run(&(), &cancel).await.unwrap();
    assert!(summary.interrupted && summary.done > 0 && summary.done < 12, "{summary:?}");
    assert_eq!(summary.failed + summary.left, 30 - summary.done);

    // The last line is torn by a crash.
    let raw = dir.join("data_raw.json");
    let bytes = std::fs::read(&raw).unwrap();
    std::fs::write(&raw, &bytes[..bytes.len() - 20]).unwrap();
    let (second, told) = run(&dir, "data_studio", good(), settings(30)).await;
    let (found, todo) = (summary.done - 1, 31 - summary.done);
    let torn = format!("the last line of {} was cut off, and is dropped", raw.display());
    assert_eq!(told[0], format!("{found} there, {todo} to make; {torn}"));
    assert_eq!((second.done, second.failed + second.left), (31 - summary.done, 0));
    assert_eq!(records(&dir), records(&whole));

    // A last line that only lacks its line end is whole.
    let bytes = std::fs::read(&raw).unwrap();
    std::fs::write(&raw, &bytes[..bytes.len() - 1]).unwrap();
    let unasked = Scripted::new(|_: &str, _: &str| Ok(String::new()));
    let (third, _) = run(&dir, "data_studio", unasked.clone(), settings(30)).await;
    assert_eq!((third.already, third.done, unasked.stages().len()), (30, 0, 0));
    // A higher target makes only what is missing.
    let (fourth, _) = run(&dir, "data_studio", good(), settings(33)).await;
    assert_eq!((fourth.already, fourth.done), (30, 3));
    assert_eq!(records(&dir).len(), 33);
}

fn openai(chat: &FakeChat) -> Arc<OpenAi> {
    let config = OpenAiConfig {
        api_key: Secret::new("sk-very-secret"),
        retries: Retries { max: 1, first_pause: Duration::from_millis(1), longest_pause: Duration::from_millis(1) },
        ..OpenAiConfig::new(chat.url(), "teacher/x")
    };
    Arc::new(OpenAi::new(config).unwrap())
}

#[tokio::test]
async fn failures_are_counted_and_do_not_stop_the_run() {
    let good = json!({
        "task_steps": ["Read it aloud"], "user_request": "Read 'hello' aloud",
        "invoking_graph": {"nodes": [{"id": "Narrator", "input": ["hello"]}], "links": []},
    });
    let script = Script::new().on(
        "generate",
        [
            Reply::text(good.to_string()),
            Reply::rate_limited("0"),
            Reply::rate_limited("0"),
            Reply::error(400, "no"),
            Reply::empty_choices(),
            Reply::empty_choices(),
            Reply::text("no JSON"),
            Reply::text(r#"{"task_steps": [], "user_request": "x"}"#),
            Reply::text(r#"{"task_steps": ["a"], "user_request": "x", "invoking_graph": {"nodes": [{"id": "Narr"#),
            Reply::text(good.to_string()),
        ],
    );
    let chat = FakeChat::start(script).await;
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("run");
    let spec = SampleSpec { seed: 3, method: Some(Method::Single), size: None };
    let serial = Settings { spec, workers: 1, ..settings(9) };
    let (summary, _) = run(&dir, "data_studio", openai(&chat), serial).await;
    assert_eq!(summary.failures["RateLimit"], 1, "{summary:?}");
    assert_eq!((summary.failures["HttpStatus"], summary.failures.contains_key("BadReply")), (1, true), "{summary:?}");
    assert_eq!(summary.failures["ContentFormat"], 3);
    assert_eq!(summary.done + summary.failed, 9);
    assert_eq!(records(&dir).len(), summary.done);

    let request = &chat.requests_of("generate")[0];
    let body = &request.body;
    let near = |key: &str, wanted: f64| (body[key].as_f64().unwrap() - wanted).abs() < 1e-6;
    assert!(near("temperature", 0.7) && near("top_p", 1.0) && near("frequency_penalty", 0.0));
    assert!(near("presence_penalty", 0.0) && near("max_tokens", 2500.0), "{body}");
    assert_eq!((&body["model"], body["messages"].as_array().unwrap().len()), (&json!("teacher/x"), 1));
    assert_eq!(body["messages"][0]["role"], "user");
    assert_eq!(request.header("authorization"), "Bearer sk-very-secret");

    // The key is in no file of the folder.
    let statistics = std::fs::read_to_string(dir.join("statistics.json")).unwrap();
    assert!(!statistics.contains("sk-very") && !statistics.contains("Bearer"));
    let lines: Vec<Value> = statistics.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["options"]["seed"], 3);
    assert_eq!(lines[1]["total"], 9);
    assert_eq!(lines[1]["errors"]["ContentFormat"], 3);
    assert_eq!((lines.len(), &lines[0]["options"]["temperature"]), (2, &json!(0.7)));
}

#[tokio::test]
async fn refused_credentials_end_the_run() {
    let chat = FakeChat::start(Script::always(Reply::error(401, "who are you?"))).await;
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("run");
    let generator =
        Generator::new(openai(&chat), folder(&dir, "data_studio"), Settings { workers: 1, ..settings(50) }).unwrap();
    let error = generator.run(&(), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, GenerateError::Refused(_)), "{error}");
    assert_eq!(chat.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_answers_gives_up() {
    let dir = tempfile::tempdir().unwrap();
    let gone = |_: &str, _: &str| Err(ChatError::Unreachable { url: "http://h/".into(), reason: "refused".into() });
    let (summary, told) = run(dir.path(), "data_studio", Scripted::new(gone), settings(200)).await;
    assert_eq!((summary.done, summary.failed, summary.failed + summary.left, summary.gave_up), (0, 3, 200, true));
    assert_eq!(summary.failures.get("Transport"), Some(&3));
    assert_eq!(told.len(), 4);
}

#[tokio::test]
async fn one_sample_is_played_and_not_kept() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("run");
    let spec = SampleSpec { seed: 1, method: Some(Method::Dag), size: Some(4) };
    let generator = Generator::new(good(), folder(&dir, "data_studio"), Settings { spec, ..settings(1) }).unwrap();
    let done = generator.play().await.unwrap();
    assert_eq!((&done.record["method"], &done.record["number_of_tools"]), (&json!("dag"), &json!(4)));
    assert!(done.prompt.contains("# RESULT #") && done.critics.both());
    assert!(!dir.join("data_raw.json").exists());

    let far = SampleSpec { seed: 1, method: Some(Method::Chain), size: Some(99) };
    let generator = Generator::new(good(), folder(&dir, "data_studio"), Settings { spec: far, ..settings(1) }).unwrap();
    let error = generator.play().await.unwrap_err();
    assert!(matches!(error, GenerateError::Sample { kind: FailureKind::NotReachable, .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn lists_of_other_samples_stay() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("run");
    folder(&dir, "data_studio");
    let published = json!({"node_alignment_id": {"single": ["00000001"], "walk": ["2"]}, "other": {"chain": [3]}});
    std::fs::write(dir.join("alignment_ids.json"), published.to_string()).unwrap();
    let spec = SampleSpec { seed: 0, method: Some(Method::Single), size: None };
    for target in [2, 3] {
        run(&dir, "data_studio", good(), Settings { spec, ..settings(target) }).await;
        let lists: Value = serde_json::from_slice(&std::fs::read(dir.join("alignment_ids.json")).unwrap()).unwrap();
        let single = lists["node_alignment_id"]["single"].as_array().unwrap();
        assert_eq!((single.len(), &single[0]), (target + 1, &json!("00000001")));
        assert_eq!((&lists["node_alignment_id"]["walk"], &lists["other"]["chain"]), (&json!(["2"]), &json!([3])));
    }
}

#[tokio::test]
async fn two_runs_do_not_share_a_folder() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("run");
    folder(&dir, "data_studio");
    let held = std::fs::File::create(dir.join("data_raw.json")).unwrap();
    held.lock().unwrap();
    let generator = Generator::new(good(), folder(&dir, "data_studio"), settings(1)).unwrap();
    let error = generator.run(&(), &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
}
