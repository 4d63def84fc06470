//! TaskOutput from outside: prompts, what goes over the wire, how each kind of reply ends, and with how many calls.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jarvis_chat::{ChatError, OpenAi, OpenAiConfig, Retries, Secret};
use jarvis_taskbench::data::{DependencyType, Domain};
use jarvis_taskbench::infer::{InferOptions, Job, Links, PlanBy, prediction_dir, reply_schema};
use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::support::{GOOD, Scripted, domain, everyday, lines, run, studio};

fn id(text: &str) -> Value {
    text.into()
}

#[test]
fn prompts_hold_what_the_benchmark_asks() {
    let (_dir, domain) = studio(&[(id("1"), "Translate a.png")]);
    let ids = vec!["d1".into(), "d2".into(), "d3".into()];
    let options = InferOptions { demos: 2, demo_ids: ids, ..InferOptions::default() };
    let job = Job::prepare(&domain, options).unwrap();
    let plan = job.prompts().plan(&job.requests()[0].text).unwrap();
    assert_eq!(plan.len(), 1);
    insta::assert_snapshot!("prompts_hold_what_the_benchmark_asks_1", plan[0].joined_text());
    let again = job.prompts().reformat("not <node-0> {{JSON}}").unwrap();
    insta::assert_snapshot!("prompts_hold_what_the_benchmark_asks_2", again[0].joined_text());

    let (_dir, domain) = everyday(&[(id("1"), "Fly to Rome")]);
    let temporal = DependencyType::Temporal;
    let options =
        InferOptions { demos: 1, demo_ids: vec!["d1".into()], dependency: temporal, ..InferOptions::default() };
    let job = Job::prepare(&domain, options).unwrap();
    insta::assert_snapshot!(
        "prompts_hold_what_the_benchmark_asks_3",
        job.prompts().plan("Fly to Rome").unwrap()[0].joined_text()
    );
    insta::assert_snapshot!(
        "prompts_hold_what_the_benchmark_asks_4",
        job.prompts().reformat("?").unwrap()[0].joined_text()
    );
}

#[tokio::test]
async fn the_wire_carries_what_the_original_sends() {
    let (dir, domain) = studio(&[(id("1"), "Read a.png")]);
    let fake = FakeChat::start(Script::new().on("plan", "no plan").on("reformat", GOOD)).await;
    let mut config = OpenAiConfig::new(fake.url(), "gpt-4");
    config.api_key = Secret::new("sk-secret-of-mine");
    config.stage_models.insert("reformat".into(), "small".into());
    let by = PlanBy::Model(Arc::new(OpenAi::new(config).unwrap()));
    let options = InferOptions { reformat: true, log_first_detail: true, ..InferOptions::default() };
    let job = Job::prepare(&domain, options).unwrap();
    let summary = run(&job, &by, dir.path()).await;
    assert_eq!((summary.done, summary.calls, summary.counted("reformatted")), (1, 2, 1));
    assert_eq!(fake.stages(), ["plan", "reformat"]);
    for (request, model) in fake.requests().iter().zip(["gpt-4", "small"]) {
        assert_eq!(request.header("authorization"), "Bearer sk-secret-of-mine");
        let mut body = request.body.clone();
        let messages = body.as_object_mut().unwrap().shift_remove("messages").unwrap();
        assert_eq!(messages.as_array().unwrap().len(), 1);
        assert_eq!(messages[0]["role"], "user");
        assert_eq!(
            body,
            json!({"model": model, "temperature": 0.2, "top_p": 0.1, "presence_penalty": 1.05, "frequency_penalty": 0,
                "max_tokens": 2000})
        );
    }
    assert!(fake.requests()[1].prompt().contains("# RESULT #: no plan\n"));

    let prediction = lines(&dir.path().join("m.json")).remove(0);
    let expected: Value = serde_json::from_str(GOOD).unwrap();
    assert_eq!(prediction, json!({"id": "1", "user_request": "Read a.png", "result": expected}));
    let log = std::fs::read_to_string(dir.path().join("m.log")).unwrap();
    assert!(log.contains("request 1: plan prompt: # TASK LIST #:\n"), "{log}");
    assert!(log.contains("request 1: plan reply: no plan\n") && log.contains("request 1: reformat reply: {"), "{log}");
    assert!(!log.contains("sk-secret"), "{log}");
}

#[tokio::test]
async fn structured_output_names_the_tools() {
    let (dir, domain) = studio(&[(id("1"), "Read a.png")]);
    let fake = FakeChat::start(Script::always(Reply::refusing(&["response_format"], GOOD))).await;
    let by = PlanBy::Model(Arc::new(OpenAi::new(OpenAiConfig::new(fake.url(), "m")).unwrap()));
    let job = Job::prepare(&domain, InferOptions { structured: true, ..InferOptions::default() }).unwrap();
    assert_eq!(run(&job, &by, dir.path()).await.done, 1);
    let schema = &fake.requests()[0].body["response_format"]["json_schema"];
    let names = &schema["schema"]["properties"]["task_nodes"]["items"]["properties"]["task"]["enum"];
    assert_eq!(*names, json!(["Image-to-Text", "Text Translator", "Audio Splicer"]));
    // An endpoint without structured output is asked without it.
    assert_eq!(fake.requests()[1].body.get("response_format"), None);
    let (_dir, domain) = everyday(&[]);
    insta::assert_snapshot!(reply_schema(&domain.tools().unwrap(), DependencyType::Temporal).schema, @r#"{"type":"object","properties":{"task_steps":{"type":"array","items":{"type":"string"}},"task_nodes":{"type":"array","items":{"type":"object","properties":{"task":{"type":"string","enum":["book_flight","send_email","bare"]},"arguments":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}},"required":["name","value"],"additionalProperties":false}}},"required":["task","arguments"],"additionalProperties":false}},"task_links":{"type":"array","items":{"type":"object","properties":{"source":{"type":"string","enum":["book_flight","send_email","bare"]},"target":{"type":"string","enum":["book_flight","send_email","bare"]}},"required":["source","target"],"additionalProperties":false}}},"required":["task_steps","task_nodes","task_links"],"additionalProperties":false}"#);
}

/// The ends of one request: what became of it, and the calls it took.
async fn ends(plan: Result<&str, ChatError>, reformat: Option<Result<&str, ChatError>>) -> String {
    let (dir, domain) = studio(&[(id("1"), "Read a.png")]);
    let wanted = reformat.is_some();
    let (plan, again) = (plan.map(str::to_owned), reformat.map(|reply| reply.map(str::to_owned)));
    let model = Scripted::new(move |stage: &str, _: &str| match stage {
        "plan" => plan.clone(),
        _ => again.clone().expect("no second call without reformat"),
    });
    let job = Job::prepare(&domain, InferOptions { reformat: wanted, ..InferOptions::default() }).unwrap();
    let summary = run(&job, &PlanBy::Model(model.clone()), dir.path()).await;
    let (predictions, errors) = (lines(&dir.path().join("m.json")), lines(&dir.path().join("m.errors.jsonl")));
    assert_eq!(predictions.len() + errors.len(), 1);
    assert_eq!((summary.done, summary.failed), (predictions.len(), errors.len()));
    assert_eq!(summary.calls, model.stages().len());
    let end = match errors.first() {
        None => "plan".to_owned(),
        Some(error) => {
            assert_eq!(error["id"], "1");
            assert_eq!(error["calls"], summary.calls);
            format!("{}@{} raw {}", error["kind"].as_str().unwrap(), error["stage"].as_str().unwrap(), error["raw"])
        }
    };
    format!("{} calls: {end}", summary.calls)
}

#[tokio::test(start_paused = true)]
async fn each_reply_ends_as_it_should() {
    let wrong = r#"{"task_steps": []}"#;
    let late = || ChatError::Timeout { after: Duration::from_secs(300) };
    let cases = [
        ends(Ok(GOOD), None).await,
        ends(Ok(GOOD), Some(Ok("never asked"))).await,
        ends(Ok("hm"), None).await,
        ends(Ok("hm"), Some(Ok(GOOD))).await,
        ends(Ok("hm"), Some(Ok(&format!("# STRICT JSON FORMAT #: {GOOD}")))).await,
        ends(Ok("hm"), Some(Ok("hm?"))).await,
        ends(Ok("hm"), Some(Ok(wrong))).await,
        ends(Ok(""), None).await,
        ends(Ok(""), Some(Ok(""))).await,
        ends(Ok(wrong), None).await,
        ends(Ok(wrong), Some(Ok(GOOD))).await,
        ends(Ok(wrong), Some(Ok(wrong))).await,
        ends(Ok("hm"), Some(Err(late()))).await,
        ends(Err(late()), Some(Ok("never asked"))).await,
        ends(Err(ChatError::RateLimited { message: "slow down".into() }), Some(Ok(GOOD))).await,
        ends(Err(ChatError::Unauthorized { message: "who?".into() }), None).await,
        ends(Err(ChatError::Api { status: 500, message: "oh".into() }), None).await,
        ends(Err(ChatError::Unreachable { url: "http://h/".into(), reason: "no".into() }), None).await,
        ends(Err(ChatError::BadReply { reason: "no choices".into(), body: "{}".into() }), None).await,
    ];
    insta::assert_snapshot!("each_reply_ends_as_it_should", cases.join("\n"));
}

#[tokio::test]
async fn over_a_socket_every_kind_of_trouble_ends_as_it_should() {
    let said = [
        ("good", Ok(1), vec![Reply::text(GOOD)]),
        ("fenced", Ok(1), vec![Reply::text(format!("```json\n{GOOD}\n```"))]),
        ("later", Ok(1), vec![Reply::rate_limited("0"), Reply::text(GOOD)]),
        ("recovers", Ok(1), vec![Reply::error(503, "busy"), Reply::text(GOOD)]),
        ("limited", Err("RateLimit"), vec![Reply::rate_limited("0")]),
        ("broken", Err("HttpStatus"), vec![Reply::error(500, "oh")]),
        ("refused", Err("HttpStatus"), vec![Reply::error(400, "too long")]),
        ("choiceless", Err("BadReply"), vec![Reply::empty_choices()]),
        ("wordless", Err("BadReply"), vec![Reply::json(200, json!({"choices": [{"message": {"content": null}}]}))]),
        ("page", Err("BadReply"), vec![Reply::html(200)]),
        ("silent", Err("Timeout"), vec![Reply::never()]),
        ("empty", Err("ContentFormat"), vec![Reply::text("")]),
        ("prose", Err("ContentFormat"), vec![Reply::text("I would rather not")]),
        ("wrong", Err("Schema"), vec![Reply::text("{\"plan\": []}")]),
        ("cut", Err("Schema"), vec![Reply::text("{\"task_steps\": [\"a\"], \"task_no").finish("length")]),
    ];
    let texts: Vec<String> = said.iter().map(|(name, ..)| format!("Do what is {name} now")).collect();
    let requests: Vec<(Value, &str)> =
        said.iter().zip(&texts).map(|((name, ..), text)| (id(name), text.as_str())).collect();
    let (dir, domain) = studio(&requests);
    let mut script = Script::new();
    for ((_, _, replies), text) in said.iter().zip(&texts) {
        script = script.on_containing("plan", &[text], replies.clone());
    }
    let fake = FakeChat::start(script).await;
    let pause = Duration::from_millis(1);
    let retries = Retries { max: 2, first_pause: pause, longest_pause: pause };
    let config = OpenAiConfig { retries, ..OpenAiConfig::new(fake.url(), "m") };
    let by = PlanBy::Model(Arc::new(OpenAi::new(config).unwrap()));
    let options = InferOptions { workers: 4, plan_timeout: Duration::from_secs(2), ..InferOptions::default() };
    let job = Job::prepare(&domain, options).unwrap();
    let summary = run(&job, &by, dir.path()).await;

    let mut ended: BTreeMap<String, Result<u64, String>> = BTreeMap::new();
    for line in lines(&dir.path().join("m.json")) {
        ended.insert(line["id"].as_str().unwrap().into(), Ok(1));
    }
    for line in lines(&dir.path().join("m.errors.jsonl")) {
        assert_eq!(line["id"] == "cut", line["message"].as_str().unwrap().contains("--max-tokens"));
        let before = ended.insert(line["id"].as_str().unwrap().into(), Err(line["kind"].as_str().unwrap().into()));
        assert_eq!(before, None);
    }
    let expected = said.iter().map(|(name, end, _)| ((*name).to_owned(), end.map_err(str::to_owned)));
    assert_eq!(ended, expected.collect());
    assert_eq!((summary.done, summary.failed), (4, 11));
}

#[tokio::test(start_paused = true)]
async fn requests_are_chosen_once_and_without_the_examples() {
    let requests = [
        (id("1"), "one"),
        (id("d1"), "shown"),
        (json!(1), "number"),
        (id("2"), "two"),
        (id("1"), "one again"),
        (id("d2"), "x"),
    ];
    let (dir, domain) = studio(&requests);
    let chosen = |options: InferOptions| -> Vec<String> {
        let job = Job::prepare(&domain, options).unwrap();
        job.requests().iter().map(|request| format!("{} {}", request.id, request.text)).collect()
    };
    let all = InferOptions::default();
    let demos = InferOptions { demos: 1, demo_ids: vec!["d1".into(), "d2".into()], ..all.clone() };
    assert_eq!(chosen(all.clone()), ["1 one again", "d1 shown", "1 number", "2 two", "d2 x"]);
    assert_eq!(chosen(demos.clone()), ["1 one again", "1 number", "2 two", "d2 x"]);
    assert_eq!(chosen(InferOptions { include_demos: true, ..demos.clone() }).len(), 5);
    assert_eq!(chosen(InferOptions { limit: Some(2), ..demos.clone() }), ["1 one again", "1 number"]);
    let ids: HashSet<String> = ["2".into(), "d1".into(), "nowhere".into()].into();
    assert_eq!(chosen(InferOptions { ids: Some(ids), ..demos.clone() }), ["2 two"]);

    let job = Job::prepare(&domain, demos).unwrap();
    let by = PlanBy::Model(Scripted::new(|_: &str, _: &str| Ok(GOOD.to_owned())));
    let summary = run(&job, &by, dir.path()).await;
    assert_eq!((summary.items, summary.done, job.demos().len(), job.demos()[0].id.as_str()), (4, 4, 1, "d1"));
    let ids: HashSet<String> = lines(&dir.path().join("m.json")).iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids, ["\"1\"", "1", "\"2\"", "\"d2\""].map(str::to_owned).into());
    let again = run(&job, &by, dir.path()).await;
    assert_eq!((again.already, again.done, again.calls, again.is_complete()), (4, 0, 0, true));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (_dir, untyped) = everyday(&[]);
    let (_dir, typed) = studio(&[]);
    let why = |domain: &Domain, options: InferOptions| {
        let error = Job::prepare(domain, options).unwrap_err();
        let place = domain.dir().parent().unwrap().display().to_string();
        format!("{error} | {}", error.hint().unwrap_or_default()).replace(&place, "…")
    };
    let with = |demos: usize, ids: &[&str]| InferOptions {
        demos,
        demo_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..InferOptions::default()
    };
    let (dir, domain) = domain("data_dailylifeapis", &json!({"nodes": [{"id": "A", "input-type": []}]}), &[], &[]);
    let told = [
        why(&untyped, InferOptions::default()),
        why(&domain, InferOptions::default()),
        why(&typed, with(1, &[])),
        why(&typed, with(3, &["d1", "d2"])),
        why(&typed, with(2, &["d1", "nine", "ten"])),
    ];
    drop(dir);
    insta::assert_snapshot!("what_does_not_fit_is_refused", told.join("\n"));
}

#[test]
fn folders_are_named_after_the_features() {
    let cases = [
        (false, 2, true, "self", "predictions"),
        (true, 0, false, "self", "predictions"),
        (true, 2, false, "self", "predictions_use_demos_2"),
        (true, 0, true, "self", "predictions_reformat_by_self"),
        (true, 1, true, "org/model:7b", "predictions_use_demos_1_reformat_by_org_model_7b"),
    ];
    for (tag, demos, reformat, who, expected) in cases {
        assert_eq!(prediction_dir(tag, demos, reformat, who), expected);
    }
}

/// The tools of the plan for a request about trains, with that tool graph beside the tools.
async fn trains(graph: Option<&str>) -> String {
    let (dir, domain) = everyday(&[(id("1"), "Please book the evening train from Oslo to Bergen")]);
    let tools = r#"{"nodes": [{"id": "train_search", "desc": "Search trains between two stations"},
        {"id": "train_booking", "desc": "Book a train"}, {"id": "hotel_booking", "desc": "Book a hotel"},
        {"id": "weather_query", "desc": "Tell the weather"}, {"id": "hotel_cancelling", "desc": "Cancel a hotel"},
        {"id": "play_song", "desc": "Play a song"}, {"id": "send_sms", "desc": "Send an SMS"}]}"#;
    std::fs::write(domain.path("tool_desc.json"), tools).unwrap();
    match graph {
        Some(graph) => std::fs::write(domain.path("graph_desc.json"), graph).unwrap(),
        None => std::fs::remove_file(domain.path("graph_desc.json")).unwrap_or_default(),
    }
    let options = InferOptions { dependency: DependencyType::Temporal, ..InferOptions::default() };
    run(&Job::prepare(&domain, options).unwrap(), &PlanBy::offline(), dir.path()).await;
    let result = &lines(&dir.path().join("m.json"))[0]["result"];
    let nodes = result["task_nodes"].as_array().unwrap();
    nodes.iter().map(|node| node["task"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_offline_planner_plans_along_the_tool_graph() {
    let linked = r#"{"nodes": [], "links": [{"source": "train_search", "target": "train_booking"}]}"#;
    for (graph, expected) in [
        (None, "train_booking"),
        (Some(linked), "train_search train_booking"),
        // One that cannot be read costs the links, not the plans.
        (Some("[1"), "train_booking"),
    ] {
        assert_eq!(trains(graph).await, expected, "{graph:?}");
    }
}

#[tokio::test]
async fn look_ups_that_need_nothing_of_each_other_follow_by_order_and_not_by_data() {
    for (links, want) in [(Links::Order, 1), (Links::Data, 0)] {
        let (dir, domain) = everyday(&[(id("1"), "Search trains to Oslo and tell the weather there")]);
        let tools = r#"{"nodes": [{"id": "train_search", "desc": "Search trains to a station"},
            {"id": "weather_query", "desc": "Tell the weather"}, {"id": "hotel_booking", "desc": "Book a hotel"}]}"#;
        std::fs::write(domain.path("tool_desc.json"), tools).unwrap();
        std::fs::remove_file(domain.path("graph_desc.json")).unwrap_or_default();
        let options = InferOptions { dependency: DependencyType::Temporal, links, ..InferOptions::default() };
        run(&Job::prepare(&domain, options).unwrap(), &PlanBy::offline(), dir.path()).await;
        let result = &lines(&dir.path().join("m.json"))[0]["result"];
        let count = |part: &str| result[part].as_array().unwrap().len();
        assert_eq!((count("task_nodes"), count("task_links")), (2, want), "{links}: {result}");
    }
}

#[tokio::test]
async fn requests_are_read_from_the_gold_plans_where_nothing_else_holds_them() {
    let (dir, domain) = everyday(&[(id("1"), "not read")]);
    std::fs::remove_file(domain.path("user_requests.json")).unwrap();
    let options = InferOptions { dependency: DependencyType::Temporal, ..InferOptions::default() };
    let summary = run(&Job::prepare(&domain, options.clone()).unwrap(), &PlanBy::offline(), dir.path()).await;
    let told = lines(&dir.path().join("m.json"));
    assert!(summary.done > 0 && told.iter().all(|line| line["user_request"] != "not read"), "{told:?}");
    std::fs::remove_file(domain.path("data.json")).unwrap();
    assert!(Job::prepare(&domain, options).is_err());
}

#[tokio::test]
async fn the_offline_planner_writes_the_benchmark_format() {
    let requests = [
        (id("1"), "Extract the text from a.png and translate it"),
        (id("2"), "Hm"),
        (id("3"), "Combine the audio files a.wav and b.wav"),
    ];
    let (dir, domain) = studio(&requests);
    let job = Job::prepare(&domain, InferOptions::default()).unwrap();
    let summary = run(&job, &PlanBy::offline(), dir.path()).await;
    assert_eq!((summary.done, summary.calls), (3, 0));
    let told: Vec<String> =
        lines(&dir.path().join("m.json")).iter().map(|line| format!("{} {}", line["id"], line["result"])).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
"1" {"task_steps":["Step 1: Extract text from an image: a.png","Step 2: Translate a text: the result of step 1"],"task_nodes":[{"task":"Image-to-Text","arguments":["a.png"]},{"task":"Text Translator","arguments":["<node-0>"]}]}
"2" {"task_steps":[],"task_nodes":[]}
"3" {"task_steps":["Step 1: Combine two audio files: a.wav and b.wav"],"task_nodes":[{"task":"Audio Splicer","arguments":["a.wav","b.wav"]}]}
"#);

    let requests = [(
        id("1"),
        "Book a flight from Oslo to Rome on 2025-05-01 and then send an email to bob@x.org saying \"done\"",
    )];
    let (dir, domain) = everyday(&requests);
    let options = InferOptions { dependency: DependencyType::Temporal, ..InferOptions::default() };
    run(&Job::prepare(&domain, options).unwrap(), &PlanBy::offline(), dir.path()).await;
    insta::assert_snapshot!(lines(&dir.path().join("m.json"))[0]["result"], @r#"{"task_steps":["Step 1: Call book_flight with date: '2025-05-01' and from: 'Oslo' and to: 'Rome'","Step 2: Call send_email with to: 'bob@x.org' and body: 'done'"],"task_nodes":[{"task":"book_flight","arguments":[{"name":"date","value":"2025-05-01"},{"name":"from","value":"Oslo"},{"name":"to","value":"Rome"}]},{"task":"send_email","arguments":[{"name":"to","value":"bob@x.org"},{"name":"body","value":"done"}]}],"task_links":[{"source":"book_flight","target":"send_email"}]}"#);
}
