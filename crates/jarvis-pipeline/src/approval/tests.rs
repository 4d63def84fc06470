//! The rules, the decisions, and what is asked.

use jarvis_engine::Events;
use jarvis_plan::{Candidate, Event};
use jarvis_tools::{Observation, Scope, Tool, ToolError, ToolSource, ToolSpec};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

struct Nothing(ToolSpec);

#[async_trait]
impl Tool for Nothing {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &Value, _: &Scope) -> Result<Observation, ToolError> {
        Ok(Observation::text("done"))
    }
}

fn registry() -> Arc<Registry> {
    let mut registry = Registry::new();
    for (name, effect) in
        [("shop/find", Effect::Reads), ("shop/reserve", Effect::Writes), ("shop/cancel", Effect::Destroys)]
    {
        let spec = ToolSpec {
            name: name.into(),
            description: "x".into(),
            when: "x".into(),
            input_schema: json!({}),
            example: json!({}),
            output_schema: None,
            effect,
            source: ToolSource::OpenApi,
        };
        registry.add(Arc::new(Nothing(spec))).expect("the tool is described");
    }
    Arc::new(registry)
}

/// Decides the same each time, and counts.
struct Says(Decision, Mutex<u32>);

#[async_trait]
impl Approver for Says {
    async fn ask(&self, _: &RunId, _: &Approval) -> Decision {
        *self.1.lock().expect("nothing panics") += 1;
        self.0.clone()
    }
}

fn job(tool: &str) -> (Job, tokio::sync::mpsc::UnboundedReceiver<Event>) {
    let (events, receiver) = Events::channel(RunId("run".into()));
    let task = Task {
        task: tool.into(),
        id: TaskId(1),
        dep: Vec::new(),
        args: [("article".to_owned(), Arg::output(TaskId(0))), ("gift".to_owned(), Arg::literal(true))].into(),
        unfolded_from: None,
        faults: Vec::new(),
    };
    let args = [("article", json!(17)), ("gift", json!(true)), ("note", json!("by noon"))];
    let job = Job {
        request: Arc::new(Request::new("Reserve the lamp by NOON")),
        task: Arc::new(task),
        args: args.map(|(name, value)| (name.to_owned(), value)).into(),
        candidate: Candidate::tool(tool),
        events,
        cancel: CancellationToken::new(),
        part: 0,
    };
    (job, receiver)
}

#[test]
fn rules_say_what_waits() {
    let check = |approve: Approve, approved: &[&str], waits: [bool; 3]| {
        let rules = Rules::new(approve, approved.iter().copied()).expect("patterns are patterns");
        let asks = [Effect::Reads, Effect::Writes, Effect::Destroys].map(|effect| rules.asks("shop/reserve", effect));
        assert_eq!(asks, waits, "{approve:?} {approved:?}");
    };
    check(Approve::Writes, &[], [false, true, true]);
    check(Approve::Destroys, &[], [false, false, true]);
    check(Approve::Never, &[], [false, false, false]);
    check(Approve::Writes, &["mail/*", "shop/find"], [false, true, true]);
    check(Approve::Writes, &["shop/*"], [false, false, false]);
    check(Approve::Writes, &["*"], [false, false, false]);
    assert!(Rules::new(Approve::Writes, ["shop/[a"]).is_err());
}

#[tokio::test]
async fn decisions_are_kept_to_and_reported() {
    let refuse = Decision::Refuse { reason: "not today".into(), hint: Some("ask later".into()) };
    let others: IndexMap<String, Value> = [("article".to_owned(), json!(18))].into();
    let cases = [
        ("shop/find", refuse.clone(), 0, Ok(17)),
        ("shop/reserve", Decision::Approve { arguments: None }, 2, Ok(17)),
        ("shop/reserve", Decision::Approve { arguments: Some(others) }, 2, Ok(18)),
        ("shop/reserve", Decision::ApproveAlways, 1, Ok(17)),
        ("shop/cancel", refuse, 2, Err("`shop/cancel` removes something, and was not called: not today")),
    ];
    for (tool, decision, asked, ended) in cases {
        let says = Arc::new(Says(decision.clone(), Mutex::default()));
        let keeper = Gatekeeper::new(registry(), [], Rules::default(), says.clone());
        let (job, mut events) = job(tool);
        for _ in 0..2 {
            let admitted = keeper.admit(&job).await;
            let got = admitted.map(|args| args["article"].as_i64().expect("a number"));
            assert_eq!(got.map_err(|error| error.message), ended.map_err(str::to_owned), "{tool} {decision:?}");
        }
        assert_eq!(*says.1.lock().expect("nothing panics"), asked, "{tool} {decision:?}");
        drop(job);
        let mut names = Vec::new();
        while let Ok(event) = events.try_recv() {
            names.push(event.kind.name());
        }
        assert_eq!(names.len(), 2 * asked as usize, "{names:?}");
    }
}

#[tokio::test]
async fn the_question_tells_the_real_arguments_and_where_they_came_from() {
    let says = Arc::new(Says(Decision::Approve { arguments: None }, Mutex::default()));
    let (job, mut events) = job("shop/reserve");
    Gatekeeper::new(registry(), [], Rules::default(), says).admit(&job).await.expect("it is allowed");
    let asked = serde_json::to_value(events.try_recv().expect("an event").kind).expect("an event is JSON");
    assert_eq!(
        asked,
        json!({
            "event": "approval_needed", "task": 1, "tool": "shop/reserve", "effect": "writes",
            "arguments": {"article": 17, "gift": true, "note": "by noon"},
            "sources": {"article": "task 1", "gift": "the plan", "note": "the request"},
        })
    );
}

#[test]
fn a_value_stands_in_the_request_as_words_of_its_own() {
    for (value, said, stands) in [
        ("1", "10 lamps", false),
        ("10", "10 lamps", true),
        ("lamp", "a lamp, please", true),
        ("lamp", "a lampshade", false),
        ("北京", "去北京的航班", true),
        ("", "x", false),
    ] {
        assert_eq!(stands_in(value, said), stands, "{value} in {said}");
    }
}

#[test]
fn a_task_type_that_a_tool_serves_has_its_effect() {
    let nobody = Arc::new(Nobody { hint: String::new() });
    let serving = [
        ("image-to-text", "shop/find"),
        ("image-to-text", "shop/reserve"),
        // `canny-text-to-image` without its text is performed as this.
        ("canny-control", "shop/reserve"),
    ];
    let keeper = Gatekeeper::new(registry(), serving, Rules::default(), nobody);
    let (job, _events) = job("shop/find");
    let named = |name: &str| Task { task: name.into(), ..(*job.task).clone() };
    for (name, effect) in [
        ("image-to-text", Effect::Writes),
        ("canny-text-to-image", Effect::Writes),
        ("text-to-speech", Effect::Reads),
        ("shop/cancel", Effect::Destroys),
    ] {
        assert_eq!(keeper.effect(&named(name)), effect, "{name}");
    }
}

#[test]
fn the_question_shows_the_real_call() {
    let asked = Approval {
        task: TaskId(1),
        tool: "shop/reserve".into(),
        effect: Effect::Writes,
        arguments: IndexMap::from([("article".into(), json!(17)), ("note".into(), json!("x\u{1b}[2J"))]),
        each: false,
        unknown: false,
        sources: IndexMap::from([("article".into(), "task 1".into())]),
        place: None,
    };
    let calls = json!([{"article": 17}, {"article": 18}]);
    let sources = IndexMap::from([("each".into(), "task 1".into())]);
    let each = Approval { arguments: IndexMap::from([("each".into(), calls)]), each: true, sources, ..asked.clone() };
    assert_eq!(
        question(&each),
        "Task 2 calls `shop/reserve`, which changes something:\n  2 calls, one for each element of a list (from task 1)\n  \
         1. {\"article\":17}\n  2. {\"article\":18}\n"
    );
    // Nothing is cut without saying so, and no name passes for a line.
    let long = IndexMap::from([("a\n  b: 1".into(), json!("x".repeat(500)))]);
    let text = question(&Approval { arguments: long, ..asked.clone() });
    assert!(text.contains("\n  \"a\\n  b: 1\": \"xxx") && text.contains("… and 102 characters more  (from"), "{text}");
    let text = question(&asked);
    assert_eq!(
        text,
        "Task 2 calls `shop/reserve`, which changes something:\n  article: 17  (from task 1)\n  note: \"x\\u001b[2J\"  \
         (from the plan)\n"
    );
}
