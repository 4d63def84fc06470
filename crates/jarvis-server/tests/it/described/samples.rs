//! Events with every member that they can have. Members that are added do not compile here until they have a value.

use indexmap::IndexMap;
use jarvis_plan::{
    Answer, AnswerResource, Approval, Arg, Attempt, Budget, CallersTool, Candidate, Effect, ErrorCode, EventKind,
    Fault, Kind, Level, Money, MustCall, Note, Outcome, Place, Plan, ReplyForm, Request, Resource, Role, RunId,
    Selection, Source, Spent, StageUsage, Status, Task, TaskError, TaskId, Thread, ToolCall, Turn, Usage, Vocabulary,
};
use serde_json::{Number, Value, json};

const ID: TaskId = TaskId(0);

fn text() -> String {
    "x".to_owned()
}

fn texts() -> Vec<String> {
    vec![text()]
}

fn values() -> IndexMap<String, Value> {
    IndexMap::from([("a".to_owned(), json!({"b": [1, null]})), ("c".to_owned(), Value::Null)])
}

fn words() -> IndexMap<String, String> {
    IndexMap::from([(text(), text())])
}

fn money() -> Money {
    Money { amount: 0.5, currency: "USD".to_owned() }
}

fn call() -> ToolCall {
    ToolCall { name: text(), arguments: "{}".to_owned(), result: Some(text()) }
}

fn turn(role: Role) -> Turn {
    Turn { role, content: text(), calls: vec![call()] }
}

fn request() -> Request {
    let resource = |kind, source| Resource { kind, source, name: Some(text()) };
    let number = || Number::from_f64(0.5);
    Request {
        text: text(),
        attachments: vec![
            resource(Kind::Text, Source::Inline(text())),
            resource(Kind::Image, Source::Public("/images/a.png".to_owned())),
            resource(Kind::Audio, Source::Url("https://example.org/a.wav".to_owned())),
            resource(Kind::Video, Source::Url("https://example.org/a.mp4".to_owned())),
            resource(Kind::Json, Source::Public("/tables/a.csv".to_owned())),
        ],
        history: [Role::System, Role::User, Role::Assistant].map(turn).to_vec(),
        results: texts(),
        budget: Budget { max_time_s: Some(1.5), max_tokens: Some(1), max_calls: Some(1), max_cost: Some(0.5) },
        without_experience: true,
        tools: vec![CallersTool { name: text(), description: text(), schema: json!({"type": "object"}) }],
        after: vec![turn(Role::Assistant)],
        form: Box::new(ReplyForm {
            schema: Some((text(), json!({"type": "object"}))),
            stop: texts(),
            must_call: Some(MustCall::Named(text())),
            temperature: number(),
            top_p: number(),
            presence_penalty: number(),
            frequency_penalty: number(),
            max_tokens: Some(1),
        }),
        thread: Some(Box::new(Thread { id: text(), message: text() })),
    }
}

fn candidate() -> Candidate {
    Candidate { id: text(), host: text(), effective_task: text() }
}

fn selection() -> Selection {
    Selection { task: ID, chosen: candidate(), fallbacks: vec![candidate()], reason: text(), notes: texts() }
}

fn error() -> TaskError {
    TaskError { code: ErrorCode::Upstream, message: text(), hint: Some(text()) }
}

fn attempt(error: Option<TaskError>) -> Attempt {
    Attempt { candidate: candidate(), error, ms: 1 }
}

fn outcome(status: Status) -> Outcome {
    Outcome {
        id: ID,
        task: text(),
        status,
        args: values(),
        selection: Some(selection()),
        attempts: vec![attempt(Some(error())), attempt(None)],
        output: Some(json!({"generated text": "x"})),
        error: Some(error()),
        notes: texts(),
        made_up_for: true,
        ms: 1,
    }
}

fn task() -> Task {
    Task {
        task: text(),
        id: ID,
        dep: Vec::new(),
        args: IndexMap::from([("a".to_owned(), Arg::output(TaskId(1))), ("b".to_owned(), Arg::literal(json!([1])))]),
        unfolded_from: Some(1),
        faults: vec![Fault::MissingArgument { arg: text(), takes: text() }],
    }
}

fn plan() -> Plan {
    let plan = Plan::builder().task("a", json!({"text": "x"})).task_after("b", ["a"], json!({}));
    let mut plan = plan.check(&Vocabulary::named(["a", "b"])).expect("a plan");
    plan.note("mended");
    plan.note(Note::left_out("left out"));
    plan.set_may_grow(true);
    plan
}

fn answer() -> Answer {
    let made =
        AnswerResource { kind: Kind::Image, url: text(), from: ID, name: text(), path: Some("/tmp/a.png".into()) };
    Answer { text: text(), resources: vec![made], notes: texts(), calls: vec![call()] }
}

fn usage() -> Usage {
    let of_stage = StageUsage {
        calls: 1,
        prompt_tokens: 1,
        cached_tokens: 1,
        completion_tokens: 1,
        estimated: true,
        cost: Some(0.5),
    };
    Usage {
        calls: IndexMap::from([(text(), 1)]),
        prompt_tokens: 1,
        completion_tokens: 1,
        by_stage: IndexMap::from([(text(), of_stage)]),
        cost: Some(money()),
        unpriced: texts(),
    }
}

fn approval() -> Approval {
    Approval {
        task: ID,
        tool: text(),
        effect: Effect::Destroys,
        arguments: values(),
        each: true,
        unknown: true,
        sources: words(),
        place: Some(Place { answer: text(), resumes: true }),
    }
}

fn config() -> Value {
    json!({
        "user_request": "x",
        "total_tasks": 1,
        "tasks": [{
            "task_id": 0, "task_type": "x", "model_id": "N/A", "model_reason": "x", "args": {}, "dependencies": [],
            "execution_level": null, "hosted_on": null, "alternatives": [{"id": "x", "hosted_on": "x"}],
            "effective_task": "x", "mapped_from": "x", "unfolded_from": 1,
        }],
        "dag": {"nodes": [0, 1], "edges": [{"from": 0, "to": 1}]},
        "execution_order": [{"level": 0, "parallel": false, "tasks": [0]}],
        "more": true,
        "warnings": ["x"],
    })
}

/// An event of each kind, and of some several.
pub(super) fn events() -> Vec<EventKind> {
    let (id, task_name) = (ID, text);
    let mut events = vec![
        EventKind::Queued { ahead: 1 },
        EventKind::RunStarted {
            request: request(),
            planner: text(),
            model: text(),
            pipeline: text(),
            door: text(),
            user: text(),
            settings: words(),
            given: Some(Box::new(json!([1]))),
        },
        EventKind::Resumed { from: Some(RunId(text())), from_task: Some(ID), steps: 1, ran_ms: 1 },
        EventKind::ModelCall {
            stage: text(),
            task: Some(ID),
            model: text(),
            provider: text(),
            instead_of: text(),
            prompt_tokens: 1,
            cached_tokens: 1,
            completion_tokens: 1,
            estimated: true,
            cost: Some(money()),
            ms: 1,
            reply: text(),
            ok: true,
            given_up: true,
            key: text(),
            whole: Some(json!({"text": "x"})),
            taken_over: true,
        },
        EventKind::Plan { plan: plan() },
        EventKind::PlanGrew { round: 1, why: text(), tasks: vec![task()], notes: texts() },
        EventKind::Budget { spent: Spent { bound: text(), most: text(), used: text() } },
        EventKind::Mapped { task: ID, from: text(), to: text() },
        EventKind::ModelChosen { selection: selection(), weights: Some(text()) },
        EventKind::ExecutionConfig { value: config() },
        EventKind::ApprovalNeeded { approval: approval() },
        EventKind::ApprovalGiven {
            id,
            tool: text(),
            approved: true,
            answer: Some(text()),
            arguments: Some(values()),
            always: true,
            done: true,
        },
        EventKind::TaskStarted { id, task: task_name(), model: text() },
        EventKind::TaskAttempt { id, attempt: attempt(Some(error())) },
        EventKind::Thought { step: 1, text: text() },
        EventKind::Action { step: 1, tool: text(), input: text() },
        EventKind::Observation { step: 1, text: text(), images: texts() },
        EventKind::Token { text: text() },
        EventKind::Answer { answer: answer() },
        EventKind::Done { ok: true, cancelled: true, usage: usage(), ms: 1 },
        EventKind::Done { ok: true, cancelled: false, usage: Usage::default(), ms: 1 },
        EventKind::Error { code: text(), message: text(), hint: Some(text()), ms: 1 },
    ];
    events.extend([Level::Info, Level::Warning].map(|level| EventKind::Note { level, message: text() }));
    let ends = [Status::Succeeded, Status::Failed, Status::Skipped, Status::Cancelled];
    events.extend(ends.map(|status| EventKind::TaskFinished { outcome: Box::new(outcome(status)) }));
    events
}
