//! Plans that were saved, edited and given back: what is forgiven, what is refused, and how they are executed.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_hugginggpt::Run;
use jarvis_hugginggpt::decisions::{Executable, PlanFileError, read_plan};
use jarvis_plan::{ErrorCode, Limits, Request};
use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::decisions::{decide, decisions};
use crate::fixture::{Does, Fixture, with_chat, with_events};

/// Two caption models and three detection models; the model that would choose says something else than the plans do.
async fn fixture() -> Fixture {
    let script = Script::new()
        .on("choose_model", Reply::text(r#"{"id":"org/b","reason":"chosen now"}"#))
        .on("response_results", Reply::text("done"));
    with_chat(script)
        .live("image-to-text", "org/a org/b")
        .live("object-detection", "org/boxes")
        .does("org/broken", Does::Fails(ErrorCode::Upstream, "no".into()))
        .listed("image-to-text", "org/broken")
        .build()
        .await
}

fn task(id: i64, task: &str, model: &str, args: Value, dependencies: &[i64]) -> Value {
    written(json!([id, task, model, args, dependencies]))
}

fn config(tasks: &[Value]) -> Value {
    json!({"execution_config": {"user_request": "look at it", "total_tasks": 99, "tasks": tasks,
                                "dag": {"nodes": [7], "edges": []}, "execution_order": []}})
}

fn caption(id: i64) -> Value {
    task(id, "image-to-text", "org/a", json!({"image": "/images/a.jpg"}), &[])
}

fn speech(id: i64, of: i64) -> Value {
    task(id, "text-to-speech", "N/A", json!({"text": format!("<GENERATED>-{of}")}), &[of])
}

fn read(fixture: &Fixture, plan: &Value) -> Result<Executable, PlanFileError> {
    read_plan(plan, &fixture.pipeline.vocabulary, &fixture.pipeline.sources, Limits { max_tasks: 4 })
}

/// The plan in one line each: `id task [dep] args model`.
fn lines(plan: &Executable) -> Vec<String> {
    let line = |task: &jarvis_plan::Task| {
        let pin = plan.pins[task.id.0 as usize].as_ref();
        let model = pin.map_or("-", |pin| pin.chosen.id.as_str());
        format!(
            "{} {} {:?} {} {model}",
            task.id,
            task.task,
            task.dep.iter().map(|id| id.0).collect::<Vec<_>>(),
            json!(task.args)
        )
    };
    plan.plan.tasks().iter().map(line).collect()
}

async fn run(fixture: &Fixture, plan: &Executable) -> (Run, Vec<String>) {
    let request = Arc::new(Request::new(plan.request.clone().unwrap_or_default()));
    let run = async |events: &Events| fixture.pipeline.run_plan(request, plan, events, CancellationToken::new()).await;
    let (run, events) = with_events("r", run).await;
    let kinds = events.iter().map(|event| event.kind.name().to_owned()).collect();
    (run.expect("an answer"), kinds)
}

#[tokio::test]
async fn a_plan_is_executed_with_the_models_it_names() {
    let fixture = fixture().await;
    let mut broken = caption(1);
    broken["model_id"] = "org/broken".into();
    broken["alternatives"] =
        json!([{"id": "org/b", "hosted_on": "huggingface"}, {"id": "org/gone", "hosted_on": "huggingface"}]);
    let plan = read(&fixture, &config(&[caption(0), broken])).expect("a good plan");
    let (run, kinds) = run(&fixture, &plan).await;
    let who: Vec<&str> = run.outcomes.iter().map(|o| o.performer().expect("somebody").id.as_str()).collect();
    assert_eq!(who, ["org/a", "org/b"]);
    assert_eq!(fixture.stages(), ["response_results"], "neither planned nor chosen anew");
    assert_eq!(run.outcomes[0].selection.as_ref().expect("pinned").reason, "said so");
    assert_eq!(
        (kinds[..2].to_vec(), kinds.last().expect("events").as_str()),
        (vec!["run_started".into(), "plan".into()], "done")
    );
    assert!(kinds.contains(&"model_chosen".to_owned()) && kinds.contains(&"answer".to_owned()));
    assert!(plan.notes.iter().any(|note| note.contains("org/gone")), "{:?}", plan.notes);
}

#[tokio::test]
async fn a_task_without_a_model_gets_one_now() {
    let fixture = fixture().await;
    for nothing in [json!("N/A"), json!("none"), json!(""), json!(null)] {
        let mut open = caption(0);
        open["model_id"] = nothing;
        let plan = read(&fixture, &config(&[open])).expect("a good plan");
        assert!(plan.notes[0].contains("names no model"), "{:?}", plan.notes);
        let (run, _) = run(&fixture, &plan).await;
        assert_eq!(run.outcomes[0].performer().expect("somebody").id, "org/b");
    }
}

#[tokio::test]
async fn every_form_of_a_plan_is_read() {
    let fixture = fixture().await;
    let whole = config(&[caption(0), speech(1, 0)]);
    let want = lines(&read(&fixture, &whole).expect("whole"));
    assert_eq!(
        want,
        [r#"0 image-to-text [] {"image":"/images/a.jpg"} org/a"#, r#"1 text-to-speech [0] {"text":"<GENERATED>-0"} -"#,]
    );
    let text = serde_json::to_string_pretty(&whole).expect("JSON");
    let planned = json!([
        {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/a.jpg"}},
        {"task": "text-to-speech", "id": 1, "dep": [0], "args": {"text": "<GENERATED>-0"}},
    ]);
    let selections =
        json!({"0": {"selected_model": "org/a", "hosted_on": "huggingface"}, "1": {"selected_model": null}});
    let forms = [
        whole["execution_config"].clone(),
        json!({"message": text, "raw_results": {}}),
        json!({"decisions": {"input": "look at it", "planned_tasks": planned, "model_selections": selections}}),
    ];
    for form in forms {
        let read = read(&fixture, &form).expect("a plan");
        assert_eq!((lines(&read), read.request.as_deref()), (want.clone(), Some("look at it")), "{form}");
    }
    // A bare task list leaves every choice open.
    let open: Vec<String> = want.iter().map(|line| line.replace(" org/a", " -")).collect();
    assert_eq!(lines(&read(&fixture, &planned).expect("a list")), open);
    assert_eq!(lines(&read(&fixture, &json!({"tasks": planned})).expect("a list")), open);
}

#[tokio::test]
async fn a_decision_is_read_back_as_it_was_made() {
    let script = Script::new()
        .on(
            "parse_task",
            Reply::text(
                r#"[{"task":"image-to-text","id":2,"dep":[-1],"args":{"image":"a.jpg"}},
                    {"task":"object-detection","id":5,"dep":[2],"args":{"image":"b.jpg"}},
                    {"task":"canny-text-to-image","id":6,"dep":[-1],"args":{"image":"<GENERATED>-5,<GENERATED>-2"}}]"#,
            ),
        )
        .on("choose_model", Reply::text(r#"{"id":"org/b","reason":"good"}"#));
    let fixture =
        with_chat(script).live("image-to-text", "org/a org/b").live("object-detection", "org/boxes").build().await;
    let decided = decide(&decisions(&fixture), Request::new("look at it")).await;
    let decision = decided.decision();
    for form in [decision.execution_config(), decision.reply(), decision.decisions_only()] {
        let plan = read(&fixture, &form).expect("a good plan");
        let dense = |plan: &jarvis_plan::Plan| {
            let rows = plan.tasks().iter().map(|task| (task.id, task.task.clone(), task.dep.clone(), json!(task.args)));
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by_key(|row| row.0);
            rows
        };
        assert_eq!(dense(&plan.plan), dense(&decision.plan));
        for choice in &decision.choices {
            let pin = plan.pins[choice.task.0 as usize].as_ref();
            assert_eq!(pin.map(|pin| &pin.chosen), choice.result.as_ref().ok().map(|selection| &selection.chosen));
        }
        assert_eq!(plan.notes, Vec::<String>::new());
    }
}

const CASES: &str = include_str!("cases.yaml");

/// A task of the test cases: the arguments of [`task`] as a list, with fields to replace at its end, or as it stands.
fn written(row: Value) -> Value {
    let Value::Array(row) = row else { return row };
    let mut task = json!({"task_id": row[0], "task_type": row[1], "model_id": row[2], "model_reason": "said so",
        "args": row[3], "dependencies": row[4], "execution_level": 9, "hosted_on": "huggingface", "alternatives": []});
    for (name, value) in row.get(5).and_then(Value::as_object).into_iter().flatten() {
        task[name] = value.clone();
    }
    task
}

#[tokio::test]
async fn edits_are_forgiven_where_that_is_safe() {
    for (tasks, want, note) in rows::<(Vec<Value>, Vec<String>, String)>(CASES, "forgiven") {
        let fixture = fixture().await;
        let tasks: Vec<Value> = tasks.into_iter().map(written).collect();
        let plan = read(&fixture, &config(&tasks)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(lines(&plan), want);
        let notes = plan.notes.join("; ");
        assert!(note.is_empty() == notes.is_empty() && notes.contains(&note), "{notes}");
    }
}

async fn refused(plan: &Value, want: &[impl AsRef<str>]) {
    let fixture = fixture().await;
    let error = read(&fixture, plan).expect_err("it cannot be executed");
    let faults: Vec<String> = error.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, want.iter().map(AsRef::as_ref).collect::<Vec<_>>(), "{plan}");
    assert!(error.to_string().contains(&faults[0]) && !error.hint().is_empty(), "{error}");
}

#[tokio::test]
async fn what_is_wrong_is_told_task_by_task() {
    for (tasks, want) in rows::<(Vec<Value>, Vec<String>)>(CASES, "refused") {
        refused(&config(&tasks.into_iter().map(written).collect::<Vec<_>>()), &want).await;
    }
    let pipeline = json!({"tasks": [{"id": "source", "upstreams": ["none"], "downstreams": ["pipeline-end"]}]});
    refused(&pipeline, &["task source, `task`: it is missing"]).await;
    for none in [json!({"hello": 1}), json!("plan")] {
        refused(&none, &["`tasks`: there is no list of tasks"]).await;
    }
}

#[tokio::test]
async fn hints_name_the_task_and_the_field() {
    let fixture = fixture().await;
    let error = read(&fixture, &config(&[task(4, "image-to-test", "org/a", json!({}), &[])])).expect_err("bad");
    assert_eq!(error.hint(), "task 4, `task_type`: did you mean `image-to-text`?");
}

#[tokio::test]
async fn nothing_runs_of_a_plan_that_was_refused_and_lists_unfold_with_their_model() {
    let fixture = fixture().await;
    let both = task(2, "image-to-text", "org/b", json!({"image": "<GENERATED>-0,<GENERATED>-1"}), &[]);
    let drawn = |id: i64| task(id, "image-to-image", "N/A", json!({"image": "/images/a.jpg", "text": "grey"}), &[]);
    let plan = read(&fixture, &config(&[drawn(0), drawn(1), both])).expect("a good plan");
    let models: Vec<Option<&str>> =
        plan.pins.iter().map(|pin| pin.as_ref().map(|pin| pin.chosen.id.as_str())).collect();
    assert_eq!(models, [None, None, Some("org/b"), Some("org/b")]);
    assert_eq!(plan.ids, ["0", "1", "2", "2"]);
}
