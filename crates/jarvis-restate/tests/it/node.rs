//! Workers and hosts of runs as processes of their own, which can be killed: this test binary, started again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use jarvis_engine::Job;
use jarvis_plan::{Answer, Approval, Effect, Outcome, Plan, Request, Selection, TaskError, TaskId, Vocabulary};
use jarvis_restate::{
    Admin, Begun, Capability, Concluded, Endpoint, Growth, Looked, Next, Planned, PlannedTask, Progress, RunHost,
    StageContext, Stages, TaskHost, Timeouts, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::far::{Call, call};
use crate::figures;

const VARIABLE: &str = "JARVIS_RESTATE_NODE";

/// What a process is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) admin: Url,
    pub(crate) far: SocketAddr,
    /// Where it listens; a free port where none is named.
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) advertise: Option<Url>,
    pub(crate) identity_key: Option<String>,
    /// Inactivity and abort, each.
    pub(crate) timeout_ms: Option<u64>,
    /// What it serves; a host of runs where it is empty. A name that ends in `!` is idempotent.
    pub(crate) capabilities: Vec<String>,
    pub(crate) slots: usize,
    /// The workflow of a host.
    pub(crate) workflow: Option<String>,
}

/// A process; killed when dropped.
pub(crate) struct Node {
    role: Role,
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) address: SocketAddr,
}

/// What a process tells.
pub(crate) struct Output(oneshot::Receiver<()>);

impl Output {
    /// Waits until it is registered.
    pub(crate) async fn registered(&mut self) {
        (&mut self.0).await.expect("it registers");
    }
}

impl Node {
    /// Starts a process and waits until it is registered.
    pub(crate) async fn start(role: Role) -> Node {
        let (node, mut output) = Node::listening(role).await;
        output.registered().await;
        node
    }

    /// Starts a process and waits until it listens.
    pub(crate) async fn listening(role: Role) -> (Node, Output) {
        let mut child = Command::new(std::env::current_exe().expect("a test has a binary"))
            .args(["node::node", "--exact", "--nocapture"])
            .env(VARIABLE, serde_json::to_string(&role).expect("a role is JSON"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this binary starts");
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take().expect("it is piped"));
        let mut lines = BufReader::new(stderr).lines();
        let address = loop {
            let line = lines.next_line().await.expect("its output can be read").expect("it listens");
            if let Some(address) = line.strip_prefix("listens at ") {
                break address.parse().expect("an address");
            }
        };
        let role = Role { listen: Some(address), ..role };
        let (registered, hears) = oneshot::channel();
        tokio::spawn(async move {
            let mut registered = Some(registered);
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(registered) = registered.take_if(|_| line == "registered") {
                    let _ = registered.send(());
                }
            }
        });
        (Node { role, child, stdin, address }, Output(hears))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Kills it as a crash would.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Starts it again at its address.
    pub(crate) async fn again(&mut self) {
        *self = Node::start(self.role.clone()).await;
    }

    /// Sends it a signal by name.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(status.expect("kill starts").success());
    }

    /// Asks it to stop, and gives back whether it ended well once it has.
    pub(crate) async fn stop(&mut self) -> bool {
        self.ask_to_stop();
        self.child.wait().await.expect("it can be waited for").success()
    }

    pub(crate) fn ask_to_stop(&mut self) {
        self.stdin = None;
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_none()
    }
}

/// Not a test of its own: what the processes above run.
#[test]
fn node() {
    let Ok(role) = std::env::var(VARIABLE) else { return };
    let role: Role = serde_json::from_str(&role).expect("a role");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(serve(role));
}

async fn serve(role: Role) {
    if let Some(bare) = figures::bare_of(&role) {
        return figures::serve_bare(&role, bare).await;
    }
    let listen = role.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
    let endpoint = Endpoint::bind(listen, role.advertise.clone(), Admin::new(role.admin.clone())).await;
    let mut endpoint = endpoint.expect("the address is free");
    endpoint.identity_key = role.identity_key.clone();
    endpoint.registered = Some(Box::new(|| eprintln!("registered")));
    eprintln!("listens at {}", endpoint.listener.local_addr().expect("it is bound"));
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move {
        // Ends with the test, or when the test closes it.
        let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
        stop.cancel();
    });
    let mut timeouts = Timeouts::default();
    if let Some(ms) = role.timeout_ms {
        timeouts = Timeouts { inactivity: Duration::from_millis(ms), abort: Duration::from_millis(ms) };
    }
    let served = if role.capabilities.is_empty() {
        let mut host = RunHost::new(Arc::new(Scripted { far: role.far, name: role.name })).timeouts(timeouts);
        if let Some(workflow) = role.workflow {
            host = host.named(workflow);
        }
        host.serve(endpoint, shutdown).await
    } else {
        let capabilities = role.capabilities.iter().map(|name| match name.strip_suffix('!') {
            Some(name) => Capability::new(name).idempotent(),
            None => Capability::new(name),
        });
        let (far, name) = (role.far, role.name);
        let worker = move |job: Job| {
            let name = name.clone();
            async move {
                let (key, what) = (job.key().expect("it is a job of a run"), job.name().to_owned());
                match what.as_str() {
                    "large" => Ok(Value::String("x".repeat(9_000_000))),
                    "bare" => Ok(job.args.get("n").cloned().unwrap_or_default()),
                    _ => call(far, &Call { key, what, args: job.object(), node: name }).await,
                }
            }
        };
        TaskHost::new(Arc::new(worker), capabilities)
            .slots(role.slots)
            .timeouts(timeouts)
            .serve(endpoint, shutdown)
            .await
    };
    served.expect("it serves");
}

/// A plan in the text of a request, as a test writes it down.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) first: Vec<Line>,
    /// What is planned after a look at the first.
    #[serde(default)]
    pub(crate) then: Vec<Line>,
    /// What the person is asked before that.
    #[serde(default)]
    pub(crate) asks: Option<String>,
}

/// A task of a script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    #[serde(default)]
    pub(crate) writes: bool,
    #[serde(default)]
    pub(crate) allowed: bool,
    #[serde(default)]
    pub(crate) fallbacks: Vec<String>,
}

impl Line {
    pub(crate) fn new(name: &str, tool: &str, needs: &[&str]) -> Line {
        let needs = needs.iter().map(ToString::to_string).collect();
        Line { name: name.to_owned(), tool: tool.to_owned(), needs, ..Line::default() }
    }

    /// The same for a task that changes something.
    pub(crate) fn writes(self) -> Line {
        Line { writes: true, ..self }
    }

    /// The same for one that need not ask.
    pub(crate) fn allowed(self) -> Line {
        Line { allowed: true, ..self.writes() }
    }

    pub(crate) fn or(self, fallback: &str) -> Line {
        let fallbacks = self.fallbacks.iter().cloned().chain([fallback.to_owned()]).collect();
        Line { fallbacks, ..self }
    }
}

/// A checked plan of the lines; each task is given its name and the outputs that it needs.
pub(crate) fn planned(lines: &[Line]) -> Planned {
    let tools: Vec<&str> = lines.iter().map(|line| line.tool.as_str()).collect();
    let mut builder = Plan::builder();
    for line in lines {
        let outputs: BTreeMap<&str, Value> =
            line.needs.iter().map(|need| (need.as_str(), json!(jarvis_plan::out(need)))).collect();
        let needs = line.needs.iter().map(String::as_str);
        builder = builder.named(&line.name, &line.tool, needs, json!({"name": line.name, "needs": outputs}));
    }
    let plan = builder.check(&Vocabulary::named(tools)).expect("a valid script");
    let mut at = 0;
    Planned::with(&plan, |task| {
        let line = &lines[at];
        at += 1;
        let effect = if line.writes { Effect::Writes } else { Effect::Reads };
        let candidate = jarvis_plan::Candidate::tool;
        let selection = Selection {
            task: task.id,
            chosen: candidate(&line.tool),
            fallbacks: line.fallbacks.iter().map(|name| candidate(name)).collect(),
            reason: "the script".to_owned(),
            notes: Vec::new(),
        };
        PlannedTask { allowed: line.allowed, ..PlannedTask::new(task, effect, Some(selection)) }
    })
}

/// Stages that follow the script, each counted at the far side.
struct Scripted {
    far: SocketAddr,
    name: String,
}

impl Scripted {
    async fn count(&self, cx: &StageContext, stage: &str) -> Result<(), TaskError> {
        let call_of = Call {
            key: format!("{}/{stage}", cx.run),
            what: stage.to_owned(),
            args: Value::Null,
            node: self.name.clone(),
        };
        call(self.far, &call_of).await.map(drop)
    }
}

fn script(request: &Request) -> Script {
    serde_json::from_str(&request.text).expect("the request is a script")
}

fn asked(next: usize, question: &str) -> Approval {
    Approval {
        task: TaskId(u32::try_from(next).expect("a small plan")),
        tool: "ask".to_owned(),
        effect: Effect::Reads,
        arguments: [("question".to_owned(), json!(question))].into_iter().collect(),
        each: false,
        unknown: false,
        sources: Default::default(),
        place: None,
    }
}

#[async_trait::async_trait]
impl Stages for Scripted {
    async fn plan(&self, request: &Request, cx: &StageContext) -> Result<Begun, TaskError> {
        self.count(cx, "plan").await?;
        Ok(planned(&script(request).first).into())
    }

    async fn look(&self, progress: &Progress, cx: &StageContext) -> Result<Looked, TaskError> {
        self.count(cx, &format!("look-{}", progress.round)).await?;
        let script = script(&progress.request);
        if let (Some(question), Value::Null) = (&script.asks, &progress.memory) {
            let next = Next::Ask(asked(progress.plan.tasks().len(), question));
            return Ok(Looked { next, memory: json!("it was asked") });
        }
        let memory = match &progress.told {
            Some(said) => json!(said.answer()),
            None => progress.memory.clone(),
        };
        if progress.round > 0 || script.then.is_empty() {
            return Ok(Looked { memory, ..Looked::default() });
        }
        let mut grown = planned(&script.then);
        let before = u32::try_from(progress.plan.tasks().len()).expect("a small plan");
        for planned in &mut grown.tasks {
            planned.task.id = TaskId(planned.task.id.0 + before);
            planned.task.dep.iter_mut().for_each(|dep| dep.0 += before);
            let selection = planned.selection.iter_mut();
            selection.for_each(|selection| selection.task = planned.task.id);
        }
        let next = Next::Grow(Growth { why: "more".to_owned(), planned: grown });
        Ok(Looked { next, memory })
    }

    async fn answer(&self, progress: &Progress, cx: &StageContext) -> Result<Concluded, TaskError> {
        self.count(cx, "answer").await?;
        let told = progress.outcomes.iter().map(|outcome| format!("{} {}", outcome.task, outcome.status.as_str()));
        let ok = progress.outcomes.iter().any(Outcome::succeeded);
        let told = told.chain(progress.memory.as_str().map(str::to_owned));
        let answer = Answer { text: told.collect::<Vec<_>>().join(", "), ..Answer::default() };
        Ok(Concluded { answer, verdict: Verdict { ok, ..Verdict::default() } })
    }
}
