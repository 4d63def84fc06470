//! Decisions: what each request leads to, at what cost in calls, and in which form it is told. Nothing is executed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jarvis_catalogue::{Available, Model};
use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::{Decision, DecisionError, DecisionSettings, Decisions, PlanStore};
use jarvis_hugginggpt::{Candidates, FileSource, Found, ModelSource, Tasks};
use jarvis_plan::{Event, Host, Request, RunId, Task, TaskError};
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::house::{Builder, House, offline, with_chat};

/// A house whose plans are saved in its logs folder.
pub(crate) fn decisions(house: &House) -> Decisions {
    let pipeline = Arc::clone(&house.pipeline);
    let source = FileSource::for_planning(Arc::clone(&pipeline.sources), pipeline.chat.is_some(), 5);
    Decisions {
        pipeline,
        settings: DecisionSettings::default(),
        source: Arc::new(source),
        plans: Some(Arc::new(PlanStore::new(house.logs.path().join("execution_configs"), 10))),
        prompt_logs: None,
    }
}

/// A decision and how it was told.
pub(crate) struct Decided {
    pub(crate) result: Result<Decision, DecisionError>,
    pub(crate) events: Vec<Event>,
}

impl Decided {
    pub(crate) fn decision(&self) -> &Decision {
        self.result.as_ref().expect("a decision")
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.kind.name()).collect()
    }
}

pub(crate) async fn decide(decisions: &Decisions, request: Request) -> Decided {
    let (events, mut receiver) = Events::channel(RunId("d1".into()));
    let result = decisions.decide(Arc::new(request), &events, CancellationToken::new()).await;
    drop(events);
    let mut seen = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        seen.push(event);
    }
    Decided { result, events: seen }
}

fn saved(house: &House) -> usize {
    std::fs::read_dir(house.logs.path().join("execution_configs")).map_or(0, Iterator::count)
}

const TWO: &str = r#"[{"task":"object-detection","id":0,"dep":[-1],"args":{"image":"park.jpg"}},
                      {"task":"canny-control","id":1,"dep":[0],"args":{"image":"<GENERATED>-0"}}]"#;

fn script(plan: impl Into<jarvis_testing::chat::Replies>) -> Script {
    Script::new()
        .on("parse_task", plan)
        .on("choose_model", Reply::text(r#"{"id":"org/two","reason":"it is better"}"#))
        .on("response_results", Reply::text("It will look, then speak."))
}

fn two() -> Builder {
    // Control tasks have no host in this mode.
    let house = with_chat(script(Reply::text(TWO))).mode(jarvis_catalogue::InferenceMode::Huggingface);
    house.live("object-detection", "org/one").live("object-detection", "org/two")
}

#[tokio::test]
async fn the_reply_has_every_field() {
    let house = two().build().await;
    let decided = decide(&decisions(&house), Request::new("find things in park.jpg")).await;
    assert_eq!(house.stages(), ["parse_task", "choose_model"]);
    assert!(house.worker.seen.lock().expect("no poison").is_empty(), "nothing is executed");
    let mut reply = decided.decision().reply();
    let file = reply["execution_config_file"].take();
    let file = file.as_str().expect("a file");
    assert!(file.starts_with("execution_configs/execution_plan_2") && file.ends_with("_d1.json"), "{file}");
    let on_disk = std::fs::read_to_string(house.logs.path().join(file)).expect("it is there");
    assert_eq!(reply["message"], on_disk.as_str());
    let message: Value = serde_json::from_str(&on_disk).expect("JSON");
    assert_eq!(message["execution_config"], reply["execution_config"]);
    for changing in ["message", "execution_config_file", "timing_ms", "usage", "execution_config"] {
        assert!(reply.as_object_mut().expect("an object").shift_remove(changing).is_some(), "{changing}");
    }
    insta::assert_snapshot!(format!("{reply:#}"), @r#"
{
  "decisions": {
    "input": "find things in park.jpg",
    "planned_tasks": [
      {
        "task": "object-detection",
        "id": 0,
        "dep": [
          -1
        ],
        "args": {
          "image": "public/park.jpg"
        }
      },
      {
        "task": "canny-control",
        "id": 1,
        "dep": [
          0
        ],
        "args": {
          "image": "<GENERATED>-0"
        }
      }
    ],
    "model_selections": {
      "0": {
        "task": {
          "task": "object-detection",
          "id": 0,
          "dep": [
            -1
          ],
          "args": {
            "image": "public/park.jpg"
          }
        },
        "selected_model": "org/two",
        "hosted_on": "huggingface",
        "reason": "it is better",
        "status": "selected_not_executed",
        "available_candidates": 2
      },
      "1": {
        "task": {
          "task": "canny-control",
          "id": 1,
          "dep": [
            0
          ],
          "args": {
            "image": "<GENERATED>-0"
          }
        },
        "selected_model": null,
        "hosted_on": null,
        "reason": "`canny-control` runs on a model server only, and none is configured",
        "status": "unavailable",
        "available_candidates": null
      }
    },
    "summary": {
      "total_tasks": 2,
      "tasks_with_selections": 1,
      "tasks_unavailable": 1
    }
  },
  "raw_results": {
    "0": {
      "task": {
        "task": "object-detection",
        "id": 0,
        "dep": [
          -1
        ],
        "args": {
          "image": "public/park.jpg"
        }
      },
      "choose model result": {
        "id": "org/two",
        "reason": "it is better",
        "hosted_on": "huggingface"
      },
      "selected_model_id": "org/two",
      "hosted_on": "huggingface",
      "status": "selected_not_executed",
      "available_candidates_count": 2
    },
    "1": {
      "task": {
        "task": "canny-control",
        "id": 1,
        "dep": [
          0
        ],
        "args": {
          "image": "<GENERATED>-0"
        }
      },
      "choose model result": {
        "id": "N/A",
        "reason": "`canny-control` runs on a model server only, and none is configured"
      },
      "status": "unavailable"
    }
  },
  "plan_id": "d1",
  "llm_calls": 2
}
"#);
    insta::assert_snapshot!(on_disk, @r#"
{
  "execution_config": {
    "user_request": "find things in park.jpg",
    "total_tasks": 2,
    "tasks": [
      {
        "task_id": 0,
        "task_type": "object-detection",
        "model_id": "org/two",
        "model_reason": "it is better",
        "args": {
          "image": "public/park.jpg"
        },
        "dependencies": [],
        "execution_level": 0,
        "hosted_on": "huggingface",
        "alternatives": [
          {
            "id": "org/one",
            "hosted_on": "huggingface"
          }
        ]
      },
      {
        "task_id": 1,
        "task_type": "canny-control",
        "model_id": "N/A",
        "model_reason": "`canny-control` runs on a model server only, and none is configured",
        "args": {
          "image": "<GENERATED>-0"
        },
        "dependencies": [
          0
        ],
        "execution_level": 1,
        "hosted_on": null,
        "alternatives": []
      }
    ],
    "dag": {
      "nodes": [
        0,
        1
      ],
      "edges": [
        {
          "from": 0,
          "to": 1
        }
      ]
    },
    "execution_order": [
      {
        "level": 0,
        "parallel": false,
        "tasks": [
          0
        ]
      },
      {
        "level": 1,
        "parallel": false,
        "tasks": [
          1
        ]
      }
    ]
  }
}
"#);
}

#[tokio::test]
async fn the_events_tell_it_as_it_goes() {
    let house = two().build().await;
    let decided = decide(&decisions(&house), Request::new("find things in park.jpg")).await;
    let kinds = decided.kinds();
    assert_eq!(kinds.first(), Some(&"run_started"));
    assert_eq!(kinds[kinds.len() - 2..], ["execution_config", "done"]);
    let at = |kind: &str| kinds.iter().position(|other| *other == kind).expect(kind);
    assert!(at("plan") < at("model_chosen") && at("model_chosen") < at("execution_config"), "{kinds:?}");
    let told = decided.events[kinds.len() - 2].to_value();
    assert_eq!(told["value"], decided.decision().execution_config()["execution_config"]);
}

/// What comes of a planning reply that is nothing to choose for.
async fn nothing(replies: Vec<Reply>) -> (House, Decided) {
    let house = with_chat(script(replies)).build().await;
    let decided = decide(&decisions(&house), Request::new("hello there")).await;
    (house, decided)
}

#[tokio::test]
async fn an_empty_plan_is_an_empty_decision() {
    let many = |texts: &[&str]| texts.iter().map(|text| Reply::text(*text)).collect::<Vec<_>>();
    for replies in [many(&["[]"]), many(&["```json\n[]\n```"]), many(&["null", "null"]), many(&["{}", r#""no""#])] {
        let (house, decided) = nothing(replies).await;
        let reply = decided.decision().reply();
        assert_eq!(
            reply["decisions"]["summary"],
            json!({"total_tasks": 0, "tasks_with_selections": 0, "tasks_unavailable": 0})
        );
        assert_eq!(
            (&reply["decisions"]["planned_tasks"], &reply["decisions"]["model_selections"]),
            (&json!([]), &json!({}))
        );
        assert!(reply["message"].as_str().expect("a notice").starts_with("No task was planned"));
        assert_eq!((reply.get("raw_results"), reply.get("execution_config_file")), (None, None));
        assert!(house.stages().iter().all(|stage| stage == "parse_task"), "never conversation: {:?}", house.stages());
        assert_eq!((saved(&house), decided.kinds().last()), (0, Some(&"done")));
    }
}

#[tokio::test]
async fn what_is_no_plan_is_an_error_and_never_conversation() {
    let (house, decided) = nothing(vec![Reply::text("I cannot."), Reply::text("Sorry, no.")]).await;
    let error = decided.result.clone().expect_err("no plan");
    assert_eq!((error.code(), house.stages().len()), ("unreadable_plan", 2));
    assert!(matches!(error, DecisionError::Unreadable { ref reply, .. } if reply == "Sorry, no."), "{error:?}");
    assert_eq!(decided.kinds().last(), Some(&"error"));

    let (house, decided) = nothing(vec![Reply::error(500, "the model is on fire")]).await;
    let error = decided.result.clone().expect_err("no plan");
    assert!(matches!(error, DecisionError::Model { stage: "parse_task", .. }) && error.to_string().contains("on fire"));
    assert_eq!((house.stages().len(), decided.kinds().last()), (1, Some(&"error")));

    let house = with_chat(script(Reply::text("[]"))).build().await;
    let decided = decide(&decisions(&house), Request::new("  ")).await;
    assert_eq!(decided.result.clone().expect_err("nothing asked").code(), "empty_request");
    assert!(house.stages().is_empty());
}

#[tokio::test]
async fn a_single_task_of_the_chat_model_is_told_whole_and_not_saved() {
    for task in ["summarization", "translation", "conversational", "text-generation", "text2text-generation"] {
        let plan = format!(r#"[{{"task":"{task}","id":0,"dep":[-1],"args":{{"text":"x"}}}}]"#);
        let house = with_chat(script(Reply::text(plan))).build().await;
        let decided = decide(&decisions(&house), Request::new("do it")).await;
        assert_eq!(house.stages(), ["parse_task"]);
        let reply = decided.decision().reply();
        let selection = &reply["decisions"]["model_selections"]["0"];
        assert_eq!(selection["selected_model"], "ChatGPT");
        assert_eq!(selection["status"], "selected_not_executed");
        assert_eq!(selection["available_candidates"], 1);
        assert_eq!(
            reply["decisions"]["summary"],
            json!({"total_tasks": 1, "tasks_with_selections": 1, "tasks_unavailable": 0})
        );
        assert_eq!(reply["execution_config"]["tasks"][0]["model_id"], "ChatGPT");
        assert_eq!((saved(&house), reply.get("execution_config_file")), (0, None));
    }
}

/// Each row of the table of choices: the model, where it is, among how many, in how many calls.
async fn choice(house: Builder, want: (&str, &str, Option<u64>, usize)) {
    let house = house.build().await;
    let decided = decide(&decisions(&house), Request::new("do it")).await;
    let reply = decided.decision().reply();
    let (selection, raw) = (&reply["decisions"]["model_selections"]["0"], &reply["raw_results"]["0"]);
    let (model, host, among, calls) = want;
    let choices = house.stages().iter().filter(|stage| *stage == "choose_model").count();
    assert_eq!(choices, calls, "{selection}");
    assert_eq!(raw["choose model result"]["id"], model, "{selection}");
    assert_eq!(reply["execution_config"]["tasks"][0]["model_id"], model);
    if model == "N/A" {
        assert_eq!((&selection["selected_model"], &selection["hosted_on"]), (&Value::Null, &Value::Null));
        assert_eq!((&selection["status"], &raw["status"]), (&json!("unavailable"), &json!("unavailable")));
        assert_eq!((raw.get("selected_model_id"), raw.get("available_candidates_count")), (None, None));
    } else {
        assert_eq!((&selection["selected_model"], &raw["selected_model_id"]), (&json!(model), &json!(model)));
        assert_eq!((&selection["hosted_on"], &raw["hosted_on"]), (&json!(host), &json!(host)));
        assert_eq!(raw["status"], "selected_not_executed");
    }
    assert_eq!(selection["available_candidates"], json!(among));
}

fn one_task(task: &str, args: &str) -> Script {
    script(Reply::text(format!(r#"[{{"task":"{task}","id":0,"dep":[-1],"args":{args}}}]"#)))
}

#[tokio::test]
async fn choices_follow_the_table() {
    let caption = || one_task("image-to-text", r#"{"image":"/images/a.jpg"}"#);
    let picture = r#"{"image":"/images/a.jpg"}"#;
    choice(with_chat(one_task("canny-control", picture)), ("canny-control", "local", Some(1), 0)).await;
    let drawn = r#"{"image":"/images/a.jpg","text":"a fox"}"#;
    let controlled = one_task("canny-text-to-image", drawn);
    choice(with_chat(controlled), ("lllyasviel/sd-controlnet-canny", "local", Some(1), 0)).await;
    // Without text another task stands in.
    choice(with_chat(one_task("canny-text-to-image", picture)), ("canny-control", "local", Some(1), 0)).await;
    let depth = with_chat(one_task("depth-text-to-image", picture)).live("depth-estimation", "org/depth");
    choice(depth, ("org/depth", "huggingface", Some(1), 0)).await;
    let remote = with_chat(one_task("canny-control", picture)).mode(jarvis_catalogue::InferenceMode::Huggingface);
    choice(remote, ("N/A", "", None, 0)).await;
    let nobody = with_chat(caption()).mode(jarvis_catalogue::InferenceMode::Local);
    choice(nobody, ("N/A", "", None, 0)).await;
    choice(with_chat(one_task("time-travel", picture)), ("N/A", "", None, 0)).await;
    let one = with_chat(caption()).live("image-to-text", "org/one");
    choice(one, ("org/one", "huggingface", Some(1), 0)).await;
    let several = with_chat(caption()).live("image-to-text", "org/one").live("image-to-text", "org/two");
    choice(several, ("org/two", "huggingface", Some(2), 1)).await;
    let silent = caption().on("choose_model", Reply::error(500, "no"));
    let fails = with_chat(silent).live("image-to-text", "org/one").live("image-to-text", "org/three");
    choice(fails, ("org/one", "huggingface", Some(2), 1)).await;
    // When nobody answers, the catalogue's first models stand.
    let listed = with_chat(caption()).listed("image-to-text", "org/one").listed("image-to-text", "org/two");
    choice(listed, ("org/two", "huggingface", Some(2), 1)).await;
}

#[tokio::test]
async fn five_available_models_are_looked_for_and_shown() {
    let mut builder = with_chat(one_task("image-to-text", r#"{"image":"/images/a.jpg"}"#));
    for id in ["org/a", "org/b", "org/c", "org/d", "org/e", "org/f", "org/g"] {
        builder = builder.live("image-to-text", id);
    }
    let house = builder.build().await;
    let decided = decide(&decisions(&house), Request::new("do it")).await;
    let choice = &decided.decision().choices[0];
    // Probing ends with the fifth that answers.
    assert_eq!(choice.available, 5);
    let prompt = house.chat.as_ref().expect("a chat").requests_of("choose_model")[0].prompt();
    assert!(prompt.contains("org/e") && !prompt.contains("org/f"), "{prompt}");
    // The reply named nobody of them: the first was taken, and it is told.
    assert!(choice.result.as_ref().expect("a choice").reason.ends_with("the first model was taken"));
    assert_eq!(choice.result.as_ref().expect("a choice").chosen.id, "org/a");
    assert!(decided.decision().reply()["warnings"][0].as_str().expect("a warning").contains("task 0"));
}

#[tokio::test]
async fn n_tasks_cost_n_plus_one_calls() {
    let rows: Vec<String> = (0..4)
        .map(|id| format!(r#"{{"task":"image-to-text","id":{id},"dep":[-1],"args":{{"image":"/images/{id}.jpg"}}}}"#))
        .collect();
    let house = with_chat(script(Reply::text(format!("[{}]", rows.join(",")))))
        .live("image-to-text", "org/one")
        .live("image-to-text", "org/two")
        .build()
        .await;
    let decided = decide(&decisions(&house), Request::new("caption them")).await;
    assert_eq!((house.stages().len(), decided.decision().reply()["llm_calls"].clone()), (5, json!(5)));
    let order = &decided.decision().execution_config()["execution_config"]["execution_order"];
    assert_eq!(*order, json!([{"level": 0, "parallel": true, "tasks": [0, 1, 2, 3]}]));
    // Each choice sees its own task and none of the others.
    let prompts = house.chat.as_ref().expect("a chat").requests_of("choose_model");
    for request in prompts {
        let prompt = request.prompt();
        assert_eq!((0..4).filter(|id| prompt.contains(&format!("/images/{id}.jpg"))).count(), 1);
    }
}

#[tokio::test]
async fn pictures_are_named_as_the_public_folders_and_not_opened() {
    let rows = [
        ("park.jpg", "public/park.jpg"),
        (" a/b.png ", "public/a/b.png"),
        ("public/park.jpg", "public/park.jpg"),
        ("/images/park.jpg", "/images/park.jpg"),
        ("https://x.example/a.jpg", "https://x.example/a.jpg"),
        ("data:image/png;base64,AA", "data:image/png;base64,AA"),
        ("", ""),
    ];
    for (typed, want) in rows {
        let script = one_task("image-to-text", &json!({"image": typed, "text": "park.jpg"}).to_string());
        let house = with_chat(script).live("image-to-text", "org/one").build().await;
        let decided = decide(&decisions(&house), Request::new("do it")).await;
        let config = decided.decision().execution_config();
        assert_eq!(config["execution_config"]["tasks"][0]["args"], json!({"image": want, "text": "park.jpg"}));
    }
}

#[tokio::test]
async fn references_to_pictures_become_the_original_when_that_is_wanted() {
    let plan = r#"[{"task":"image-to-image","id":0,"dep":[-1],"args":{"image":"park.jpg","text":"grey"}},
                   {"task":"image-to-text","id":1,"dep":[0],"args":{"image":"<GENERATED>-0"}}]"#;
    for (wanted, image) in [(Some(true), "public/park.jpg"), (Some(false), "<GENERATED>-0"), (None, "<GENERATED>-0")] {
        let house = with_chat(script(Reply::text(plan))).live("image-to-text", "org/one").build().await;
        let mut decisions = decisions(&house);
        decisions.settings.replace_generated_images = wanted;
        let decided = decide(&decisions, Request::new("do it")).await;
        let task = &decided.decision().execution_config()["execution_config"]["tasks"][1];
        assert_eq!((&task["args"]["image"], &task["dependencies"]), (&json!(image), &json!([0])));
    }
}

#[tokio::test]
async fn explicit_dependencies_survive_and_minus_one_goes() {
    let plan = r#"[{"task":"image-to-text","id":3,"dep":[5],"args":{"image":"/images/a.jpg"}},
                   {"task":"image-to-text","id":5,"dep":[-1],"args":{"image":"/images/b.jpg"}},
                   {"task":"text-to-speech","id":7,"dep":[-1, 3, 99],"args":{"text":"<GENERATED>-5"}}]"#;
    let house = with_chat(script(Reply::text(plan))).build().await;
    let decided = decide(&decisions(&house), Request::new("do it")).await;
    let config = decided.decision().execution_config();
    let config = &config["execution_config"];
    assert_eq!(config["dag"]["edges"], json!([{"from": 1, "to": 0}, {"from": 0, "to": 2}, {"from": 1, "to": 2}]));
    // Task 0 waits for task 1, which has the higher id.
    let levels: Vec<&Value> =
        config["tasks"].as_array().expect("tasks").iter().map(|task| &task["execution_level"]).collect();
    assert_eq!(levels, [&json!(1), &json!(0), &json!(2)]);
    assert!(config["warnings"].to_string().contains("99"), "{config}");
}

#[tokio::test]
async fn the_same_request_gives_the_same_bytes() {
    let house = two().build().await;
    let decisions = decisions(&house);
    let mut messages = Vec::new();
    for _ in 0..2 {
        messages.push(decide(&decisions, Request::new("find things in park.jpg")).await.decision().message());
    }
    assert_eq!(messages[0], messages[1]);
}

#[tokio::test]
async fn without_a_chat_model_the_offline_planner_decides() {
    let house = offline().build().await;
    let mut decisions = decisions(&house);
    decisions.settings.describe = true;
    let decided = decide(&decisions, Request::new("find the edges of /images/a.png and describe /images/b.png")).await;
    let reply = decided.decision().reply();
    assert_eq!((&reply["llm_calls"], saved(&house)), (&json!(0), 1));
    assert!(reply["description"].as_str().expect("words").contains("canny-control"), "{}", reply["description"]);
    let empty = decide(&decisions, Request::new("good morning")).await;
    assert!(empty.decision().plan.tasks.is_empty());
}

#[tokio::test]
async fn a_plan_is_described_for_one_more_call() {
    let house = two().build().await;
    let mut decisions = decisions(&house);
    decisions.settings.describe = true;
    let decided = decide(&decisions, Request::new("find things")).await;
    assert_eq!(house.stages(), ["parse_task", "choose_model", "response_results"]);
    assert_eq!(decided.decision().reply()["description"], "It will look, then speak.");
    let prompt = house.chat.as_ref().expect("a chat").requests_of("response_results")[0].prompt();
    assert!(prompt.contains("future tense") && prompt.contains("org/two"), "{prompt}");
}

#[tokio::test]
async fn a_plan_that_cannot_be_saved_is_a_warning() {
    let house = two().build().await;
    std::fs::write(house.logs.path().join("execution_configs"), "a file").expect("writable");
    let decided = decide(&decisions(&house), Request::new("find things")).await;
    let reply = decided.decision().reply();
    assert_eq!(reply.get("execution_config_file"), None);
    assert!(reply["warnings"].to_string().contains("could not be saved"), "{}", reply["warnings"]);
    assert!(!decided.decision().message().contains("could not be saved"));
}

#[tokio::test]
async fn prompts_are_written_down_when_asked_for() {
    let house = with_chat(script(vec![Reply::text("no plan"), Reply::text(TWO)]))
        .live("object-detection", "org/one")
        .live("object-detection", "org/two")
        .build()
        .await;
    let root = house.logs.path().join("prompt_logs");
    let mut decisions = decisions(&house);
    decisions.prompt_logs = Some(root.clone());
    let decided = decide(&decisions, Request::new("find things in my secret.jpg")).await;
    let shown = decided.decision().prompt_logs.clone().expect("a folder");
    assert_eq!(decided.decision().reply()["prompt_logs_directory"], shown.as_str());
    assert!(shown.starts_with("prompt_logs/request_2") && shown.ends_with("_d1"), "{shown}");
    let folder = house.logs.path().join(shown);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("it is there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "01_parse_task.json",
            "01_parse_task.txt",
            "01_parse_task_2.json",
            "01_parse_task_2.txt",
            "01_parse_task_2_timing.txt",
            "01_parse_task_timing.txt",
            "02_choose_model_all_tasks_timing.txt",
            "02_choose_model_task_0.json",
            "02_choose_model_task_0.txt",
            "02_choose_model_task_0_timing.txt",
        ]
    );
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).expect("readable")).expect("JSON")
    };
    let asked = read("01_parse_task.json");
    assert_eq!((&asked["prompt_type"], &asked["task_id"]), (&json!("parse_task"), &Value::Null));
    let sent = &house.chat.as_ref().expect("a chat").requests_of("parse_task")[0].body["messages"];
    assert_eq!(&asked["messages"], sent);
    assert_eq!(read("02_choose_model_task_0.json")["task_id"], 0);
}

#[tokio::test]
async fn a_decision_ends_when_it_is_cancelled_or_late() {
    let house = with_chat(Script::new().on("parse_task", Reply::never())).build().await;
    let mut decisions = decisions(&house);
    let (events, mut receiver) = Events::channel(RunId("d1".into()));
    let cancel = CancellationToken::new();
    let request = Arc::new(Request::new("find things"));
    let chat = house.chat.as_ref().expect("a chat");
    let (result, ()) = tokio::join!(decisions.decide(Arc::clone(&request), &events, cancel.clone()), async {
        assert!(chat.wait_requests(1).await);
        cancel.cancel();
    });
    assert_eq!(result, Err(DecisionError::Cancelled));
    let mut last = None;
    while let Ok(event) = receiver.try_recv() {
        last = Some(event.kind.name());
    }
    assert_eq!(last, Some("error"));

    decisions.settings.timeout = Duration::from_millis(1);
    let late = decisions.decide(request, &events, CancellationToken::new()).await;
    assert_eq!(late.expect_err("late").code(), "timeout");
}

/// A source that counts how many ask at once, and lets later tasks answer first.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl ModelSource for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    async fn tasks(&self) -> Result<Tasks, TaskError> {
        let vocabulary = jarvis_catalogue::vocabulary();
        Ok(Tasks { offered: vocabulary.tools().to_vec(), vocabulary: Arc::new(vocabulary) })
    }

    async fn find(&self, task: &Task, effective: &str) -> Result<Found, TaskError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..20 - task.id.0 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        let model = Arc::new(Model::new(&format!("m/{}", task.id), effective, Host::Api, ""));
        let models = vec![Available { model, host: Host::Api }];
        Ok(Found::Among(Candidates { models, count: 1, ..Candidates::default() }))
    }
}

#[tokio::test]
async fn choices_are_made_side_by_side_within_the_limit_and_told_in_order() {
    let rows: Vec<String> = (0..12)
        .map(|id| format!(r#"{{"task":"image-to-text","id":{id},"dep":[-1],"args":{{"image":"/images/{id}.jpg"}}}}"#))
        .collect();
    let house = with_chat(script(Reply::text(format!("[{}]", rows.join(","))))).build().await;
    let source = Arc::new(Counting::default());
    let mut decisions = Decisions { source: Arc::clone(&source) as Arc<dyn ModelSource>, ..decisions(&house) };
    decisions.settings.concurrency = 3;
    let decided = decide(&decisions, Request::new("caption them")).await;
    assert_eq!(source.most.load(Ordering::SeqCst), 3);
    let models: Vec<String> = decided
        .decision()
        .choices
        .iter()
        .map(|choice| choice.result.as_ref().expect("one").chosen.id.clone())
        .collect();
    assert_eq!(models, (0..12).map(|id| format!("m/{id}")).collect::<Vec<_>>());
    assert_eq!(decided.decision().reply()["decisions"]["model_selections"]["7"]["hosted_on"], "api");
}
