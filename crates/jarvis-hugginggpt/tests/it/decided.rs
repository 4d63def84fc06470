//! What is decided for the tasks of a plan: arguments, dependencies, models.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use jarvis_catalogue::Host;
use jarvis_catalogue::{Available, InferenceMode, Model};
use jarvis_hugginggpt::decisions::Decisions;
use jarvis_hugginggpt::{Candidates, Found, ModelSource, Tasks};
use jarvis_plan::{Request, Task, TaskError};
use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::decisions::{decide, decisions, script};
use crate::fixture::with_chat;

/// Each row of the table of choices: the model, where it is, among how many, in how many calls.
#[tokio::test]
async fn choices_follow_the_table() {
    type Models = BTreeMap<String, String>;
    type Want = (String, String, Option<u64>, usize);
    type Row = (String, Value, InferenceMode, Models, Models, Want);
    for (task, args, mode, live, listed, (model, host, among, calls)) in
        rows::<Row>(include_str!("cases.yaml"), "choices")
    {
        let builder = with_chat(one_task(&task, &args.to_string())).mode(mode);
        let builder = live.iter().fold(builder, |builder, (task, ids)| builder.live(task, ids));
        let builder = listed.iter().fold(builder, |builder, (task, ids)| builder.listed(task, ids));
        let fixture = builder.build().await;
        let decided = decide(&decisions(&fixture), Request::new("do it")).await;
        let reply = decided.decision().reply();
        let (selection, raw) = (&reply["decisions"]["model_selections"]["0"], &reply["raw_results"]["0"]);
        let choices = fixture.stages().iter().filter(|stage| *stage == "choose_model").count();
        assert_eq!(choices, calls, "{selection}");
        assert_eq!(raw["choose model result"]["id"], *model, "{selection}");
        assert_eq!(reply["execution_config"]["tasks"][0]["model_id"], *model);
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
}

fn one_task(task: &str, args: &str) -> Script {
    script(Reply::text(format!(r#"[{{"task":"{task}","id":0,"dep":[-1],"args":{args}}}]"#)))
}

#[tokio::test]
async fn five_available_models_are_looked_for_and_shown() {
    let mut builder = with_chat(one_task("image-to-text", r#"{"image":"/images/a.jpg"}"#));
    for id in ["org/a", "org/b", "org/c", "org/d", "org/e", "org/f", "org/g"] {
        builder = builder.live("image-to-text", id);
    }
    let fixture = builder.build().await;
    let decided = decide(&decisions(&fixture), Request::new("do it")).await;
    let choice = &decided.decision().choices[0];
    // Probing ends with the fifth that answers.
    assert_eq!(choice.available, 5);
    let prompt = fixture.prompt("choose_model");
    assert!(prompt.contains("org/e") && !prompt.contains("org/f"), "{prompt}");
    // The reply named nobody of them: the first was taken, and it is told.
    assert!(choice.result.as_ref().expect("a choice").reason.ends_with("the first model was taken"));
    assert_eq!(choice.result.as_ref().expect("a choice").chosen.id, "org/a");
    assert!(decided.decision().reply()["warnings"][0].as_str().expect("a warning").contains("task 1"));
}

#[tokio::test]
async fn n_tasks_cost_n_plus_one_calls() {
    let rows: Vec<String> = (0..4)
        .map(|id| format!(r#"{{"task":"image-to-text","id":{id},"dep":[-1],"args":{{"image":"/images/{id}.jpg"}}}}"#))
        .collect();
    let fixture = with_chat(script(Reply::text(format!("[{}]", rows.join(",")))))
        .live("image-to-text", "org/one org/two")
        .build()
        .await;
    let decided = decide(&decisions(&fixture), Request::new("caption them")).await;
    assert_eq!((fixture.stages().len(), decided.decision().reply()["llm_calls"].clone()), (5, json!(5)));
    let order = &decided.decision().execution_config()["execution_config"]["execution_order"];
    assert_eq!(*order, json!([{"level": 0, "parallel": true, "tasks": [0, 1, 2, 3]}]));
    // Each choice sees its own task and none of the others.
    let prompts = fixture.requests_of("choose_model");
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
        let task = "visual-question-answering";
        let script = one_task(task, &json!({"image": typed, "text": "park.jpg"}).to_string());
        let fixture = with_chat(script).live(task, "org/one").build().await;
        let decided = decide(&decisions(&fixture), Request::new("do it")).await;
        let config = decided.decision().execution_config();
        assert_eq!(config["execution_config"]["tasks"][0]["args"], json!({"image": want, "text": "park.jpg"}));
    }
}

#[tokio::test]
async fn references_to_pictures_become_the_original_when_that_is_wanted() {
    let plan = r#"[{"task":"image-to-image","id":0,"dep":[-1],"args":{"image":"park.jpg","text":"grey"}},
                   {"task":"image-to-text","id":1,"dep":[0],"args":{"image":"<GENERATED>-0"}}]"#;
    for (wanted, image) in [(Some(true), "public/park.jpg"), (Some(false), "<GENERATED>-0"), (None, "<GENERATED>-0")] {
        let fixture = with_chat(script(Reply::text(plan))).live("image-to-text", "org/one").build().await;
        let mut decisions = decisions(&fixture);
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
    let fixture = with_chat(script(Reply::text(plan))).build().await;
    let decided = decide(&decisions(&fixture), Request::new("do it")).await;
    let config = decided.decision().execution_config();
    let config = &config["execution_config"];
    assert_eq!(config["dag"]["edges"], json!([{"from": 1, "to": 0}, {"from": 0, "to": 2}, {"from": 1, "to": 2}]));
    // Task 0 waits for task 1, which has the higher id.
    let levels: Vec<&Value> =
        config["tasks"].as_array().expect("tasks").iter().map(|task| &task["execution_level"]).collect();
    assert_eq!(levels, [&json!(1), &json!(0), &json!(2)]);
    assert!(config["warnings"].to_string().contains("99"), "{config}");
}

/// A source that counts how many ask at once, and lets later tasks answer first.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl ModelSource for Counting {
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
    let fixture = with_chat(script(Reply::text(format!("[{}]", rows.join(","))))).build().await;
    let source = Arc::new(Counting::default());
    let mut decisions = Decisions { source: Arc::clone(&source) as Arc<dyn ModelSource>, ..decisions(&fixture) };
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
