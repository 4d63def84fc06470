//! Runs in which something goes wrong: the batch goes on, and the record says what happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jarvis_chat::Replay;
use jarvis_easytool::funcqa::{Funcqa, Kind};
use jarvis_easytool::instructions::{Guideline, ToolInstruction};
use jarvis_easytool::log::{SolveRecord, Status};
use jarvis_easytool::solve::Offer;
use jarvis_easytool::stage::Limits;
use jarvis_easytool::toolbench::{Query, Toolbench};
use jarvis_tools::hub::Mode;
use jarvis_tools::local::HubFunction;
use jarvis_tools::{Observation, Registry, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};
use serde_json::{Value, json};

/// A model that answers every stage, `instead` in place of the good reply of one stage.
fn model(replies: &[(&str, &str)], stage: &str, instead: &str) -> Arc<Replay> {
    let lines: Vec<String> = replies
        .iter()
        .map(|(name, good)| {
            let reply = if *name == stage { instead } else { good };
            json!({"stage": name, "reply": reply, "sticky": true}).to_string()
        })
        .collect();
    Arc::new(Replay::parse("script", &lines.join("\n")).unwrap())
}

const FUNCQA: [(&str, &str); 9] = [
    ("task_decompose", r#"{"Tasks": ["Add 1 and 2 to get X by 'add_'", "Add X and 3 by 'add_'"]}"#),
    ("task_topology", r#"[{"task": "a", "id": 1, "dep": [-1]}, {"task": "b", "id": 2, "dep": [1]}]"#),
    ("choose_tool", r#"{"ID": 0}"#),
    ("choose_parameter", r#"{"Parameters": {"input": [1, 2]}}"#),
    ("choose_parameter_depend", r#"{"Parameters": {"input": [3, 3]}}"#),
    ("answer_generation", "It is 3."),
    ("answer_generation_depend", "It is 6."),
    ("answer_summarize", "The answer is 6."),
    ("answer_check", r#"{"Reason": "right", "Choice": "Yes"}"#),
];

fn hub() -> Arc<Registry> {
    Arc::new(HubFunction::registry(Mode::Precise))
}

async fn funcqa(model: Arc<Replay>, tools: Arc<Registry>) -> SolveRecord {
    let mut pipeline = Funcqa::new(model, tools);
    pipeline.limits = Limits { tool_timeout: Duration::from_secs(20), ..Limits::default() };
    Arc::new(pipeline).answer(1, "What is 1 + 2 + 3?", Kind::MultiHop).await
}

/// The replies that no stage with a form can use: prose, code, broken JSON, JSON of another shape.
const RUBBISH: [&str; 8] = [
    "I am sorry, I cannot do that.",
    "__import__('os').system('touch pwned')",
    "[c for c in ().__class__.__base__.__subclasses__()]",
    "{\"Tasks\": ",
    "9**9**9",
    "[[[[[[[[[[[[[[[[",
    "{\"x\": 1}",
    "<html><body>502</body></html>",
];

#[tokio::test]
async fn rubbish_at_any_stage_ends_with_a_record() {
    let good = funcqa(model(&FUNCQA, "", ""), hub()).await;
    assert_eq!((good.status, good.check_index, good.errors.len()), (Status::Succeeded, 1, 0), "{good:?}");
    assert_eq!(good.final_value.as_ref().map(ToString::to_string).as_deref(), Some("6"));
    for (stage, ending, attempts) in [
        ("task_decompose", Status::Failed, 10),
        // Without an order the subtasks run one after another.
        ("task_topology", Status::Succeeded, 10),
        ("choose_tool", Status::Failed, 20),
        ("choose_parameter", Status::Partial, 10),
        ("choose_parameter_depend", Status::Partial, 10),
        ("answer_check", Status::Succeeded, 3),
    ] {
        for rubbish in RUBBISH {
            let record = funcqa(model(&FUNCQA, stage, rubbish), hub()).await;
            let context = format!("{stage} with {rubbish}: {:?}", record.errors);
            assert_eq!(record.status, ending, "{context}");
            assert!(record.errors.iter().any(|error| error.contains(stage)), "{context}");
            let asked = record.stage_trace.iter().filter(|call| call.stage == stage).count();
            assert_eq!(asked, attempts, "{context}");
            assert!(record.stage_trace.iter().filter(|call| call.stage == stage).all(|call| call.error.is_some()));
            if stage == "answer_check" {
                assert_eq!((record.check_index, record.final_answer.as_str()), (-1, "The answer is 6."));
            }
        }
    }
    // A text stage takes any text, but not none.
    let record = funcqa(model(&FUNCQA, "answer_summarize", "  "), hub()).await;
    assert_eq!((record.status, record.final_answer.as_str()), (Status::Failed, ""));
}

#[tokio::test]
async fn a_retry_tells_the_reason_and_leaves_out_the_failed_tool() {
    let script = [
        r#"{"stage":"choose_tool","contains":["ID: 12"],"reply":"{\"ID\": 99}"}"#,
        r#"{"stage":"choose_tool","contains":["99 is not among the IDs"],"reply":"{\"ID\": 3}"}"#,
        r#"{"stage":"choose_parameter","contains":["divide_"],"reply":"{\"Parameters\": {\"input\": [1, 0]}}"}"#,
        r#"{"stage":"answer_generation","contains":["the call failed"],"reply":"It cannot be divided."}"#,
        r#"{"stage":"choose_tool","contains":["ID: 4"],"reply":"{\"ID\": 0}"}"#,
        r#"{"stage":"choose_parameter","contains":["add_"],"reply":"{\"Parameters\": {\"input\": [1, -2]}}"}"#,
        r#"{"stage":"answer_generation","reply":"It is -1."}"#,
        r#"{"stage":"answer_summarize","reply":"-1"}"#,
        r#"{"stage":"answer_check","reply":"Choice: no idea"}"#,
        r#"{"stage":"answer_check","contains":["could not be used"],"reply":"{\"Choice\": \"yes\"}"}"#,
    ];
    let replay = Arc::new(Replay::parse("script", &script.join("\n")).unwrap());
    let pipeline = Funcqa::new(Arc::clone(&replay) as _, hub());
    let record = Arc::new(pipeline).answer(7, "What is 1 - 2?", Kind::OneHop).await;
    assert_eq!(replay.unused(), 0, "{:?}", record.errors);
    // A true result of -1 is a success.
    assert_eq!((record.id, record.status, record.check_index), (7, Status::Succeeded, 1), "{record:?}");
    assert_eq!(record.execute_log.call_result_ls, ["-1"]);
    assert_eq!(record.answer_wrong[0].answer, "It cannot be divided.");
    assert_eq!(record.calls.iter().map(|call| call.code).collect::<Vec<_>>(), [2, 0]);
    let tools: Vec<(u32, Option<String>)> = record
        .stage_trace
        .iter()
        .filter(|call| call.stage == "choose_tool")
        .map(|call| (call.attempt, call.error.clone()))
        .collect();
    assert_eq!(tools, [(1, Some("99 is not among the IDs of the list".into())), (2, None), (1, None)]);
}

#[tokio::test]
async fn dependants_of_a_failed_subtask_are_told_and_tried() {
    let script = [
        r#"{"stage":"task_decompose","reply":"{\"Tasks\": [\"Divide 1 by 0\", \"Add 2 to it\"]}"}"#,
        r#"{"stage":"task_topology","reply":"[{\"id\": 1, \"dep\": -1}, {\"id\": 2, \"dep\": 1}]"}"#,
        r#"{"stage":"choose_tool","contains":["Divide 1 by 0"],"reply":"{\"ID\": 3}","sticky":true}"#,
        r#"{"stage":"choose_parameter","reply":"{\"Parameters\": {\"input\": [1, 0]}}","sticky":true}"#,
        r#"{"stage":"answer_generation","reply":"About infinity.","sticky":true}"#,
        r#"{"stage":"choose_tool","contains":["Add 2 to it"],"reply":"{\"ID\": 0}"}"#,
        r#"{"stage":"choose_parameter_depend","contains":["this step failed"],"reply":"{\"Parameters\": {\"input\": [2, 0]}}"}"#,
        r#"{"stage":"answer_generation_depend","reply":"It is 2."}"#,
        r#"{"stage":"answer_summarize","reply":"2"}"#,
        r#"{"stage":"answer_check","reply":"{\"Reason\": \"yes, yesterday\", \"Choice\": \"No\"}"}"#,
    ];
    let replay = Arc::new(Replay::parse("script", &script.join("\n")).unwrap());
    let mut pipeline = Funcqa::new(Arc::clone(&replay) as _, hub());
    pipeline.limits.tool_attempts = 1;
    let record = Arc::new(pipeline).answer(1, "What is 1 / 0 + 2?", Kind::MultiHop).await;
    assert_eq!((record.status, record.check_index), (Status::Partial, -1), "{:?}", record.errors);
    assert_eq!(record.answer_subtask.len(), 1);
    assert_eq!(record.answer_wrong[0].answer, "About infinity.");
    // What failed is never handed on as if it were an answer.
    let asked = record.stage_trace.iter().find(|call| call.stage == "choose_parameter_depend").unwrap();
    assert!(asked.error.is_none());
}

struct Broken {
    how: &'static str,
    calls: AtomicUsize,
    spec: ToolSpec,
}

impl Broken {
    fn new(how: &'static str) -> Broken {
        let spec = ToolSpec {
            name: "now".into(),
            description: "Gives the weather.".into(),
            when: "the weather is asked for".into(),
            input_schema: json!({"type": "object"}),
            example: json!({}),
            output_schema: None,
            effect: jarvis_plan::Effect::Reads,
            source: ToolSource::Native,
        };
        Broken { how, calls: AtomicUsize::new(0), spec }
    }
}

#[async_trait]
impl Tool for Broken {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match self.how {
            "hangs" => std::future::pending().await,
            "fails" => Err(ToolError::new(ToolErrorKind::Unavailable, "the API does not work")),
            "floods" => Ok(Observation::text("ü".repeat(5 << 20))),
            _ => Ok(Observation::default()),
        }
    }
}

const TOOLBENCH: [(&str, &str); 10] = [
    ("task_decompose", r#"{"Tasks": ["Find the weather of Rome"]}"#),
    ("task_topology", r#"[{"id": 1, "dep": [-1]}]"#),
    ("tool_check", r#"{"Reason": "it changes", "Choice": "Yes"}"#),
    ("answer_direct", "Rome is in Italy."),
    ("choose_tool", r#"{"ID": 8}"#),
    ("choose_api", r#"["now"]"#),
    ("choose_parameter", r#"{"Parameters": {"city": "Rome"}}"#),
    ("answer_generation", "It is sunny."),
    ("answer_summarize", "It is sunny in Rome."),
    ("answer_check", r#"{"Reason": "good", "Choice": "Yes"}"#),
];

async fn toolbench(model: Arc<Replay>, how: &'static str) -> (SolveRecord, usize) {
    let broken = Arc::new(Broken::new(how));
    let mut registry = Registry::new();
    registry.add(Arc::clone(&broken) as _).unwrap();
    let guideline = Guideline { name: "now".into(), ..Guideline::default() };
    let tool = |id: i64| ToolInstruction {
        id,
        tool_name: format!("Weather {id}"),
        standardized_name: format!("weather_{id}"),
        category_name: String::new(),
        tool_description: "tells the weather".into(),
        tool_guidelines: [("now".to_owned(), guideline.clone())].into_iter().collect(),
    };
    let mut pipeline = Toolbench::new(model, Arc::new(registry), vec![tool(7), tool(8)]);
    pipeline.limits.tool_timeout = if how == "hangs" { Duration::from_millis(50) } else { Duration::from_secs(20) };
    let offer = |id: i64| Offer { id, description: "tells the weather".into() };
    let query =
        Query { text: "What is the weather in Rome?".into(), tools: vec![offer(8), offer(7)], ..Query::default() };
    let record = Arc::new(pipeline).answer(1, query).await;
    (record, broken.calls.load(Ordering::Relaxed))
}

#[tokio::test]
async fn tools_that_misbehave_end_with_a_record() {
    for (how, code, shown) in [
        ("hangs", 5, "no answer within"),
        ("fails", 6, "the API does not work"),
        ("floods", 0, ""),
        ("says nothing", 0, ""),
    ] {
        let (record, calls) = toolbench(model(&TOOLBENCH, "", ""), how).await;
        assert_eq!((record.status, calls), (Status::Succeeded, 1), "{how}: {:?}", record.errors);
        assert_eq!(record.calls[0].code, code, "{how}");
        assert!(record.calls[0].error.as_deref().unwrap_or_default().contains(shown), "{how}: {:?}", record.calls[0]);
        assert_eq!(record.execute_log.tool_check_reason_ls.len(), 1);
    }
}

#[tokio::test]
async fn rubbish_at_any_stage_of_toolbench_ends_with_a_record() {
    for (stage, ending) in [
        ("task_decompose", Status::Failed),
        ("task_topology", Status::Succeeded),
        // When in doubt a tool is needed.
        ("tool_check", Status::Succeeded),
        ("choose_tool", Status::Failed),
        ("choose_api", Status::Failed),
        ("choose_parameter", Status::Failed),
        ("answer_check", Status::Failed),
    ] {
        for rubbish in RUBBISH {
            let (record, _) = toolbench(model(&TOOLBENCH, stage, rubbish), "says nothing").await;
            assert_eq!(record.status, ending, "{stage} with {rubbish}: {:?}", record.errors);
            assert!(record.errors.iter().any(|error| error.contains(stage)), "{stage}: {:?}", record.errors);
        }
    }
    let (record, calls) = toolbench(model(&TOOLBENCH, "tool_check", r#"{"Choice": "No"}"#), "says nothing").await;
    assert_eq!((record.answer_subtask[0].answer.as_str(), calls), ("Rome is in Italy.", 0));
    let (record, calls) = toolbench(model(&TOOLBENCH, "choose_tool", r#"{"ID": "8"}"#), "says nothing").await;
    assert_eq!((record.status, calls), (Status::Succeeded, 1));
}

#[tokio::test]
async fn a_recording_that_ends_too_early_ends_the_question_with_a_record() {
    let (record, _) = toolbench(Arc::new(Replay::parse("empty", "").unwrap()), "fails").await;
    assert_eq!(record.status, Status::Failed);
    assert!(record.errors[0].contains("ReplayMiss"), "{:?}", record.errors);
}
