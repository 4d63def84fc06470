//! What becomes of a request whose planner writes as weak models do: the cases of `jarvis_testing::replies`, run to their end.

use futures::StreamExt;
use jarvis_plan::{Kind, Plan, Request, Resource, Source};
use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::replies::{self, Case, cases};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Does, with_chat};

fn request(case: &Case) -> Request {
    let attachment = |name: &String| {
        let kind = Kind::of_name(name).expect("the ending says what it is");
        let source = match kind.folder() {
            Some(folder) => Source::Public(format!("/{folder}/{name}")),
            None => Source::Inline(format!("What {name} holds.")),
        };
        Resource { kind, source, name: Some(name.clone()) }
    };
    let attachments = case.attachments.iter().map(attachment).collect();
    Request { text: case.request.clone(), attachments, ..Request::default() }
}

/// What ran, a line for each task: its name and its arguments.
fn shown(plan: &Plan) -> Vec<String> {
    let shown = |task: &jarvis_plan::Task| {
        let args: Map<String, Value> = task.args.iter().map(|(name, arg)| (name.clone(), arg.to_value())).collect();
        line(&task.task, args)
    };
    plan.tasks().iter().map(shown).collect()
}

fn line(task: &str, mut args: Map<String, Value>) -> String {
    args.sort_keys();
    format!("{task} {}", Value::from(args))
}

struct Ended {
    ok: bool,
    plan: Vec<String>,
    answer: String,
}

/// A value of a schema; lists have two elements.
fn sample(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("object") => {
            let fields = schema["properties"].as_object().expect("fields").iter();
            fields.map(|(name, field)| (name.clone(), sample(field))).collect()
        }
        Some("array") => vec![sample(&schema["items"]); 2].into(),
        Some("integer") => 7.into(),
        Some("number") => 7.5.into(),
        _ => "x7".into(),
    }
}

/// Runs the request of a case with a planner that gives these replies, the last one over and over.
async fn run(case: &Case, replies: Vec<Reply>) -> Ended {
    let script = Script::new().on("parse_task", replies).otherwise(Reply::text("It is done."));
    let live = |fixture: crate::fixture::Builder, task: &str| fixture.live(task, &format!("org/{task}"));
    let tools: Vec<jarvis_plan::Tool> = replies::tools(&case.tools);
    let known = tools.iter().filter(|tool| jarvis_catalogue::find(&tool.name).is_some());
    let fixture = known.fold(with_chat(script).tools(tools.clone()), |fixture, tool| live(fixture, &tool.name));
    let given = tools.iter().filter_map(|tool| Some((&tool.name, tool.output_schema.as_ref()?)));
    let fixture = given.fold(fixture, |fixture, (name, schema)| {
        fixture.does(name, Does::Gives(json!({"generated text": "found", "data": sample(schema)})))
    });
    let fixture = fixture.nothing_beside().build().await;
    let went = fixture.run_request(request(case), CancellationToken::new()).await;
    match went.run {
        Ok(run) => Ended { ok: run.ok(), plan: shown(&run.plan), answer: run.answer.text },
        Err(error) => Ended { ok: false, plan: Vec::new(), answer: error.to_string() },
    }
}

fn wanted(case: &Case) -> Option<Vec<String>> {
    let line = |task: &replies::Planned| line(&task.task, task.args.clone());
    case.meant.as_ref().map(|tasks| tasks.iter().map(line).collect())
}

async fn each<F: Future<Output = Option<String>>>(cases: &[Case], check: impl Fn(Case) -> F) -> Vec<String> {
    let checks = futures::stream::iter(cases.iter().cloned().map(check)).buffer_unordered(8);
    checks.filter_map(async |found| found).collect().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_that_repeats_itself_never_ends_wrong_without_saying_so() {
    let cases = cases();
    let wrong = each(&cases, async |case: Case| {
        let ended = run(&case, vec![Reply::text(case.reply.clone())]).await;
        let is_right = wanted(&case).is_some_and(|wanted| wanted == ended.plan);
        (ended.ok && !is_right).then(|| format!("{}: {:?} {}", case.name, ended.plan, ended.answer))
    });
    let wrong = wrong.await;
    assert!(wrong.is_empty(), "{} ended wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_that_mends_its_plan_when_told_ends_rightly() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.meant.is_some()).collect();
    let wrong = each(&cases, async |case: Case| {
        let mended = case.mended()?;
        let ended = run(&case, vec![Reply::text(case.reply.clone()), Reply::text(mended)]).await;
        let is_right = ended.ok && wanted(&case).is_some_and(|wanted| wanted == ended.plan);
        (!is_right).then(|| format!("{}: {} {:?} {}", case.name, ended.ok, ended.plan, ended.answer))
    });
    let wrong = wrong.await;
    let right = cases.len() - wrong.len();
    assert!(right * 100 >= cases.len() * 95, "{right} of {} end rightly:\n{}", cases.len(), wrong.join("\n"));
}
