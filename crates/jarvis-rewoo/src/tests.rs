//! Whole runs on recordings: what is planned, what is run, and what the solver is told.

use std::sync::Arc;

use jarvis_ask::{Ask, Events};
use jarvis_chat::{ChatModel, Message, Replay, Scripted};
use jarvis_engine::{Engine, Job};
use jarvis_pipeline::{Limits, Pipeline, Run, RunContext, RunError};
use jarvis_plan::{ErrorCode, Event, Request, RunId, Status, TaskError, Turn};
use jarvis_store::Media;
use jarvis_tools::{Registry, local};
use jarvis_workers::{InputLimits, Inputs, ToolWorker};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::blueprint::{Blueprint, read};
use crate::{Offer, Rewoo};

const PLAN: &str = "Plan: Multiply the seats.\n#E1 = calculator[17 * 4]\nPlan: Count the rows.\n#E2 = count[{\"items\": [\"a\", \"b\", \"a\"]}]\n\
    Plan: Say the number in words.\n#E3 = LLM[Say #E1 in words.]";

fn registry() -> Arc<Registry> {
    let mut registry = Registry::new();
    local::add_to(&mut registry).unwrap();
    Arc::new(registry)
}

struct Went {
    run: Result<Run, RunError>,
    events: Vec<Event>,
}

impl Went {
    fn names(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.kind.name()).collect()
    }

    fn statuses(&self) -> Vec<Status> {
        self.run.as_ref().unwrap().outcomes.iter().map(|outcome| outcome.status).collect()
    }
}

async fn run(model: Option<Arc<dyn ChatModel>>, cancel: CancellationToken) -> Went {
    let folder = tempfile::tempdir().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    let inputs = Arc::new(Inputs::new(media, Default::default(), InputLimits::default()).unwrap());
    run_on(Engine::new(ToolWorker::new(registry(), inputs)), model, cancel).await
}

async fn run_on(engine: Engine, model: Option<Arc<dyn ChatModel>>, cancel: CancellationToken) -> Went {
    run_request(engine, model, cancel, Request::new("How many seats are there?")).await
}

async fn run_request(
    engine: Engine,
    model: Option<Arc<dyn ChatModel>>,
    cancel: CancellationToken,
    request: Request,
) -> Went {
    let (events, mut reader) = Events::channel(RunId("run".into()));
    let ask = model.map(|model| Ask::new(model, &events));
    let cx = RunContext::new(ask, engine, registry(), &events, cancel, Limits::default());
    let run = Rewoo::new().unwrap().run(Arc::new(request), &cx).await;
    let events = std::iter::from_fn(|| reader.try_recv().ok()).collect();
    Went { run, events }
}

/// What the model was asked in a stage, by its last message.
fn asked(model: &Scripted, stage: &str) -> Vec<String> {
    let of_stage = |request: &jarvis_chat::ChatRequest| request.stage == stage;
    let last =
        |request: jarvis_chat::ChatRequest| request.messages.last().map(Message::joined_text).unwrap_or_default();
    model.requests().into_iter().filter(of_stage).map(last).collect()
}

#[tokio::test]
async fn evidence_is_gathered_in_order_and_solved() {
    let recording = [
        json!({"stage": "rewoo_plan", "contains": ["How many seats", "calculator[input]"], "reply": PLAN}),
        json!({"stage": "rewoo_llm", "contains": ["Say 68 in words."], "reply": "sixty-eight"}),
        json!({"stage": "rewoo_solve", "contains": ["#E1 = calculator[17 * 4]\nEvidence: 68", "Evidence: sixty-eight"],
            "reply": "There are sixty-eight seats."}),
    ];
    let recording: Vec<String> = recording.iter().map(ToString::to_string).collect();
    let model = Replay::parse("recording", &recording.join("\n")).unwrap();
    let went = run(Some(Arc::new(model)), CancellationToken::new()).await;
    let run = went.run.as_ref().unwrap();
    assert_eq!(run.answer.text, "There are sixty-eight seats.");
    assert_eq!(went.statuses(), [Status::Succeeded; 3], "{:?}", run.outcomes);
    assert!(run.ok() && !run.conversation && !run.cancelled);
    let dep: Vec<Vec<u32>> = run.plan.tasks().iter().map(|task| task.dep.iter().map(|id| id.0).collect()).collect();
    assert_eq!(dep, [vec![], vec![], vec![0]]);
    let names = went.names();
    assert_eq!((names[0], names[1], names[2], *names.last().unwrap()), ("run_started", "model_call", "plan", "done"));
    assert_eq!(names.iter().filter(|name| **name == "task_finished").count(), 3);
    assert!(names.contains(&"token") && names.contains(&"answer"));
}

#[tokio::test]
async fn a_plan_with_faults_is_asked_for_again_with_the_reasons() {
    let faulty = "Plan: Add.\n#E1 = calculater[1 + #E7]\nPlan: Use it.\n#E2 = LLM[#E9]";
    let model = Arc::new(Scripted::new([faulty, "Plan: Add.\n#E1 = calculator[1 + 1]", "Two."]));
    let went = run(Some(model.clone()), CancellationToken::new()).await;
    assert_eq!(went.run.as_ref().unwrap().answer.text, "Two.");
    let again = &asked(&model, "rewoo_plan")[1];
    for reason in
        ["#E1: there is no tool `calculater`; did you mean `calculator`?", "#E2 uses #E9, which no step defines"]
    {
        assert!(again.contains(reason), "{again}");
    }
}

#[tokio::test]
async fn an_unknown_tool_that_stays_fails_its_step_and_is_told() {
    let plan = "Plan: Look it up.\n#E1 = oracle[seats]\nPlan: Add.\n#E2 = calculator[40 + 2]";
    let model = Arc::new(Scripted::new([plan, plan, "Only 42 is known."]));
    let went = run(Some(model.clone()), CancellationToken::new()).await;
    assert_eq!(went.statuses(), [Status::Failed, Status::Succeeded]);
    assert!(went.run.as_ref().unwrap().ok());
    let solver = &asked(&model, "rewoo_solve")[0];
    assert!(solver.contains("#E1 = oracle[seats]\nNo evidence, the step did not succeed"), "{solver}");
    assert!(solver.contains("Evidence: 42"), "{solver}");
}

#[tokio::test]
async fn a_reply_without_a_step_twice_is_an_error() {
    let model = Arc::new(Scripted::new(["I would rather not.", "No."]));
    let went = run(Some(model), CancellationToken::new()).await;
    assert_eq!(went.run.as_ref().unwrap_err().code(), ErrorCode::BadReply.as_str());
    assert_eq!(went.names().last(), Some(&"error"));
}

#[tokio::test]
async fn a_failed_tool_is_told_and_never_a_result() {
    let plan = "Plan: Divide.\n#E1 = calculator[1 / 0]\nPlan: Explain.\n#E2 = LLM[Explain #E1.]";
    let model = Arc::new(Scripted::new([plan, "It cannot be found out."]));
    let went = run(Some(model.clone()), CancellationToken::new()).await;
    assert_eq!(went.statuses(), [Status::Failed, Status::Skipped]);
    assert!(asked(&model, "rewoo_llm").is_empty(), "a step whose evidence is missing is not run");
    let solver = &asked(&model, "rewoo_solve")[0];
    assert_eq!(solver.matches("No evidence, the step did not succeed").count(), 2, "{solver}");
    assert!(!solver.contains("Evidence: "), "{solver}");
    let run = went.run.as_ref().unwrap();
    assert!(!run.ok() && run.answer.text == "It cannot be found out.");
}

#[tokio::test]
async fn a_cancelled_run_keeps_what_was_found_out() {
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let engine = Engine::new(move |job: Job| {
        let stop = stop.clone();
        async move {
            if job.name() == "calculator" {
                return Ok(json!({"generated text": "68"}));
            }
            stop.cancel();
            std::future::pending::<Result<_, TaskError>>().await
        }
    });
    let plan = "Plan: Add.\n#E1 = calculator[17 * 4]\nPlan: Count.\n#E2 = count[{\"items\": [\"#E1\"]}]";
    let went = run_on(engine, Some(Arc::new(Scripted::new([plan]))), cancel).await;
    assert_eq!(went.statuses(), [Status::Succeeded, Status::Cancelled]);
    let run = went.run.as_ref().unwrap();
    assert!(run.cancelled && !run.ok());
    assert!(run.answer.text.contains("#E1 = calculator[17 * 4]: 68"), "{}", run.answer.text);

    let before = CancellationToken::new();
    before.cancel();
    let went = self::run(Some(Arc::new(Scripted::new([plan]))), before).await;
    assert_eq!(went.run, Err(RunError::Cancelled));
}

#[tokio::test]
async fn without_a_model_nothing_is_planned() {
    let went = run(None, CancellationToken::new()).await;
    assert_eq!(went.run, Err(RunError::NoModel { pipeline: "rewoo".into() }));
    assert_eq!(went.names(), ["run_started", "error"]);
}

fn blueprint(reply: &str) -> Result<Blueprint, String> {
    let offer = Offer::of(&registry(), &Request::new("?"));
    read(reply, &offer, jarvis_plan::Limits { max_tasks: 3 })
}

#[test]
fn plans_are_read_as_models_write_them() {
    for (reply, calls) in [
        ("Plan: a\n#E1 = calculator[1 + 1]", &["#E1 = calculator[1 + 1]"][..]),
        ("**Plan 1:** a\n**#E1** = calculator[1]\n- Plan: b\n- #E2 = LLM[x [y] #E1]", &["#E2 = LLM[x [y] #E1]"]),
        ("<think>#E1 = no[thing]</think>Plan: a #E1 = b\n#E1=`calculator`[ 2 ]", &["#E1 = calculator[2]"]),
        (
            "#E1 = count[{\"items\": [\"a\"]}]\n#E2 = LLM[two\nlines of #E1]",
            &["#E1 = count[{\"items\": [\"a\"]}]", "#E2 = LLM[two\nlines of #E1]"],
        ),
        ("#E1 = LLM[#E2, #E3]\n#E2 = LLM[a]\n#E3 = LLM[b]", &["#E1 = LLM[#E2, #E3]", "#E2 = LLM[a]", "#E3 = LLM[b]"]),
    ] {
        let read = blueprint(reply).unwrap();
        assert_eq!(read.faults, [""; 0], "{reply}");
        let found: Vec<String> = read.steps.iter().map(crate::blueprint::Step::call).collect();
        assert!(found.ends_with(&calls.iter().map(|call| (*call).to_owned()).collect::<Vec<_>>()), "{found:?}");
        assert_eq!(read.plan.tasks().len(), read.steps.len(), "{reply}");
    }
}

#[test]
fn faults_are_named() {
    for (reply, fault) in [
        ("#E1 = LLM[a]\n#E1 = LLM[b]", "#E1 is defined twice"),
        ("#E1 = LLM[#E1]", "#E1 depends on its own result"),
        ("#E1 = LLM[#E2]\n#E2 = LLM[#E1]", "depends on its own result"),
        ("#E1 = LLM[a]\n#E2 = LLM[a\n#E3 = LLM[b]", "the input of #E2 has no closing bracket"),
        ("#E1 = LLM[a]\n#E2 = LLM[a]\n#E3 = LLM[a]\n#E4 = LLM[a]", "it has 4 steps, more than 3"),
        ("#E1 = plot[apples]", "#E1: the input of `plot` is a JSON object, such as"),
        ("#E1 = plot[{\"x\": [1]}]", "#E1: `plot` needs `y`"),
        ("#E1 = search_document[harbour]", "#E1: there is no tool `search_document`"),
    ] {
        let faults = blueprint(reply).unwrap().faults.join("; ");
        assert!(faults.contains(fault), "{reply}: {faults}");
    }
    assert!(blueprint("Plan: nothing").unwrap_err().contains("it has no step"));
}

#[tokio::test]
async fn the_oldest_turns_of_a_long_conversation_are_left_out() {
    let turn = |nth: usize| Turn::user(format!("turn-{nth:03} {}", "word ".repeat(600)));
    let history = (0..40).map(turn).chain([Turn::assistant("The hall has rows.")]).collect();
    let request = Request { history, ..Request::new("How many seats are there?") };
    let model = Arc::new(Scripted::new(["Plan: Add.\n#E1 = calculator[1 + 1]", "Two."]));
    let engine = Engine::new(|_: Job| async { Ok(json!({"generated text": "2"})) });
    let went = run_request(engine, Some(model.clone()), CancellationToken::new(), request).await;
    assert_eq!(went.run.unwrap().answer.text, "Two.");
    for stage in ["rewoo_plan", "rewoo_solve"] {
        let prompt = &asked(&model, stage)[0];
        assert!(prompt.contains("Assistant: The hall has rows.") && prompt.contains("Person: turn-039"), "{prompt}");
        assert!(!prompt.contains("turn-000"), "{prompt}");
    }
}
