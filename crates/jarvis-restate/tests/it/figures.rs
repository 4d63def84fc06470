//! What a run costs beside a bare Restate handler that makes the same calls. Prints figures where `JARVIS_RESTATE_FIGURES` is set,
//! best in a release build; asserts nothing about time.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use jarvis_plan::{Effect, Plan, Request, RunId, TaskId, Vocabulary};
use jarvis_restate::{Admin, Decision, Planned, PlannedTask, RunInput, RunLimits};
use restate_sdk::prelude::*;
use serde_json::{Value, json};

use crate::far::Far;
use crate::node::{Line, Node, Role};
use crate::world::{World, within};

/// How often each is measured, after one run that is not.
const TIMES: usize = 11;

struct BareTask;

#[service]
impl BareTask {
    #[handler]
    async fn perform(&self, ctx: Context<'_>, args: Json<Value>) -> Result<Json<Value>, HandlerError> {
        Ok(ctx.run(async || Ok(args)).name("perform").await?)
    }
}

struct BareFlow;

#[service]
impl BareFlow {
    #[handler]
    async fn chain(&self, ctx: Context<'_>, n: u64) -> Result<u64, HandlerError> {
        let mut last = json!(null);
        for task in 0..n {
            let client = ctx.service_client::<BareTaskClient>();
            last = client.perform(Json(json!({"n": task, "last": last}))).call().await?.into_inner();
            last = json!(last["n"]);
        }
        Ok(n)
    }

    #[handler]
    async fn fan(&self, ctx: Context<'_>, n: u64) -> Result<u64, HandlerError> {
        let mut calls = DurableFuturesUnordered::new();
        for task in 0..n {
            calls.push(ctx.service_client::<BareTaskClient>().perform(Json(json!({"n": task}))).call());
        }
        let mut ended = 0;
        while let Some((_, result)) = calls.next().await? {
            result?;
            ended += 1;
        }
        Ok(ended)
    }
}

/// Serves the bare handlers; called in a process of its own.
pub(crate) async fn serve_bare(role: &Role, what: &str) {
    let local = jarvis_restate::Endpoint::local(Admin::new(role.admin.clone())).await.expect("a port");
    let (listener, address) = (local.listener, local.advertise);
    eprintln!("listens at {}", address.authority());
    let builder = restate_sdk::endpoint::Endpoint::builder();
    let endpoint = if what == "task" { builder.bind(BareTask) } else { builder.bind(BareFlow) }.build();
    let server = tokio::spawn(HttpServer::new(endpoint).serve_with_cancel(listener, std::future::pending::<()>()));
    Admin::new(role.admin.clone()).register(&address).await.expect("it registers");
    eprintln!("registered");
    server.await.expect("it serves");
}

#[tokio::test(flavor = "multi_thread")]
async fn figures() {
    if std::env::var_os("JARVIS_RESTATE_FIGURES").is_none() {
        return println!("skipped: JARVIS_RESTATE_FIGURES is not set");
    }
    let Some(world) = World::new(Far::echo().await).await else { return };
    let (_worker, host) = (world.worker(&["bare"]).await, world.host().await);
    let (_task, _flow) = (world.worker(&["@task"]).await, world.worker(&["@flow"]).await);
    println!("{:<12} {:>12} {:>12} {:>7}", "", "a run", "bare", "times");
    for (name, n, chain) in [("one task", 1, true), ("chain 100", 100, true), ("fan-out 100", 100, false)] {
        let (mut run_took, mut bare_took) = (Vec::new(), Vec::new());
        for time in 0..=TIMES {
            // In turn, so that whatever else the machine does burdens both.
            let run = ours(&world, &format!("{name} {time}"), n, chain).await;
            let bare = bare(&world, n, chain).await;
            if time > 0 {
                run_took.push(run);
                bare_took.push(bare);
            }
        }
        let (run, bare) = (median(&mut run_took), median(&mut bare_took));
        let times = run.as_secs_f64() / bare.as_secs_f64();
        println!("{name:<12} {run:>12.1?} {bare:>12.1?} {times:>7.2}");
    }
    let events = Instant::now();
    let all = world.events(&RunId("fan-out 100 1".to_owned())).await.len();
    println!("{all} events of a run that has ended, read in {:.1?}", events.elapsed());
    waiting(&world, &host).await;
}

/// Runs that all wait for a person at once: what they hold, and how fast they go on.
async fn waiting(world: &World, host: &Node) {
    let memory = || (resident(world.server.pid()), resident(host.pid()));
    let before = memory();
    let lines = [Line::new("x", "bare", &[]), Line::new("w", "bare", &["x"]).writes()];
    let since = Instant::now();
    let names: Vec<String> = (0..RUNS).map(|run| format!("waiting {run}")).collect();
    stream::iter(&names).for_each_concurrent(32, |name| async { drop(world.start(name, &lines).await) }).await;
    let all_ask = |rows: &[Value]| rows.first().and_then(|row| row["n"].as_u64()) == Some(RUNS as u64);
    world.until("select count(*) as n from state where key = 'question-1'", all_ask).await;
    let (asked, held) = (since.elapsed(), memory());
    let kilobytes = |before: u64, after: u64| after.saturating_sub(before) / RUNS as u64;
    println!(
        "{RUNS} runs wait for a person after {asked:.1?}; a run holds {} kB of the server and {} kB of the host ({} and {} MB in all)",
        kilobytes(before.0, held.0),
        kilobytes(before.1, held.1),
        held.0 / 1024,
        held.1 / 1024,
    );
    let since = Instant::now();
    let decide = |name: &str| {
        let run = RunId(name.to_owned());
        async move {
            world
                .client
                .approve(&run, TaskId(1), Decision::Approve { args: None, always: false })
                .await
                .expect("it asks");
            assert_eq!(world.end(&run).await.succeeded, 2);
        }
    };
    stream::iter(&names).for_each_concurrent(32, |name| decide(name)).await;
    let took = since.elapsed();
    println!("all decided and ended after {took:.1?}: {:.0} a second", RUNS as f64 / took.as_secs_f64());
}

/// How many runs wait at once.
const RUNS: usize = 1000;

/// The resident memory of a process, in kilobytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

fn median(took: &mut [Duration]) -> Duration {
    took.sort();
    took[took.len() / 2]
}

async fn ours(world: &World, run: &str, n: usize, chain: bool) -> Duration {
    let names: Vec<String> = (0..n).map(|task| format!("t{task}")).collect();
    let mut builder = Plan::builder();
    for (task, name) in names.iter().enumerate() {
        let last = chain.then(|| task.checked_sub(1)).flatten();
        let args = match last.and_then(|last| names.get(last)) {
            Some(last) => json!({"n": task, "last": jarvis_plan::out(last)}),
            None => json!({"n": task}),
        };
        builder = builder.named(name, "bare", [], args);
    }
    let plan = builder.check(&Vocabulary::named(["bare"])).expect("a valid plan");
    let plan = Planned::with(&plan, |task| PlannedTask::new(task, Effect::Reads, None));
    let limits = RunLimits { concurrency: n, ..RunLimits::default() };
    let input = RunInput { limits, ..RunInput::new(Request::new("a plan")).with_plan(plan) };
    let (run, since) = (RunId(run.to_owned()), Instant::now());
    world.client.start(&run, &input).await.expect("it starts");
    let end = within(world.client.attach(&run)).await.expect("it ends");
    assert_eq!(end.succeeded, n);
    since.elapsed()
}

async fn bare(world: &World, n: usize, chain: bool) -> Duration {
    let url = world.server.ingress().join(if chain { "BareFlow/chain" } else { "BareFlow/fan" }).expect("a path");
    let client = jarvis_net::http::client(jarvis_net::http::ClientOptions::default()).expect("a client");
    let since = Instant::now();
    let ended: u64 =
        within(client.post(url).json(&n).send()).await.expect("it answers").json().await.expect("a number");
    assert_eq!(ended, n as u64);
    since.elapsed()
}

/// What a process of this module's serves, if it is one.
pub(crate) fn bare_of(role: &Role) -> Option<&str> {
    role.capabilities.first()?.strip_prefix('@')
}
