//! The driver with scripted selectors and workers, on a clock that moves only when nothing else can.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jarvis_plan::{Arg, Event, Host, Kind, RunId, Tool};
use proptest::prelude::*;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

use super::*;

/// What one try does, after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Give,
    Fail(ErrorCode),
    Panic,
    Hang,
}

/// What the cast does with one task. Candidate k of a task plays `tries[k]`.
#[derive(Debug, Clone)]
struct Role {
    choice: Act,
    choice_ms: u64,
    tries: Vec<(Act, u64)>,
}

impl Role {
    fn giving() -> Role {
        Role { choice: Act::Give, choice_ms: 0, tries: vec![(Act::Give, 0)] }
    }

    fn trying(acts: &[Act]) -> Role {
        Role { tries: acts.iter().map(|act| (*act, 1)).collect(), ..Role::giving() }
    }

    fn choosing(choice: Act) -> Role {
        Role { choice, ..Role::giving() }
    }
}

/// A selector and a worker that play roles and write down what they saw.
#[derive(Debug, Default)]
struct Cast {
    roles: Vec<Role>,
    seen: Mutex<Seen>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

#[derive(Debug, Default)]
struct Seen {
    finished: HashSet<TaskId>,
    tries: Vec<(TaskId, String)>,
    args: Vec<(TaskId, String)>,
    complaints: Vec<String>,
}

impl Cast {
    fn new(roles: Vec<Role>) -> Arc<Cast> {
        Arc::new(Cast { roles, ..Cast::default() })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn act(act: Act, ms: u64, who: &str) -> Result<(), TaskError> {
        sleep(Duration::from_millis(ms)).await;
        match act {
            Act::Give => Ok(()),
            Act::Fail(code) => Err(TaskError::new(code, format!("{who} says {code}"))),
            Act::Panic => panic!("{who} gave up"),
            Act::Hang => std::future::pending().await,
        }
    }
}

struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn candidate(name: String) -> Candidate {
    Candidate { id: name, host: Host::Native, effective_task: "paint".to_owned() }
}

#[async_trait]
impl Selector for Cast {
    async fn select(&self, task: &Task, _events: &Events) -> Result<Selection, TaskError> {
        let role = &self.roles[task.id.index()];
        Cast::act(role.choice, role.choice_ms, "the selector").await?;
        let mut names = (0..role.tries.len()).map(|at| candidate(format!("model-{at}")));
        let chosen = names.next().unwrap();
        Ok(Selection { task: task.id, chosen, fallbacks: names.collect(), reason: "cast".to_owned(), notes: vec![] })
    }
}

#[async_trait]
impl Worker for Cast {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.busiest.fetch_max(busy, Ordering::SeqCst);
        let _busy = Busy(&self.busy);
        let id = job.task.id;
        {
            let mut seen = self.seen();
            for dep in &job.task.dep {
                if !seen.finished.contains(dep) {
                    seen.complaints.push(format!("task {id} started before {dep} had finished"));
                }
            }
            seen.tries.push((id, job.candidate.id.clone()));
            seen.args.extend(job.args.values().map(|value| (id, value.clone())));
        }
        let at: usize = job.candidate.id.strip_prefix("model-").unwrap().parse().unwrap();
        let (act, ms) = self.roles[id.index()].tries[at];
        Cast::act(act, ms, "the worker").await?;
        Ok(Inference::image(format!("/images/{id}.png")))
    }
}

fn task(id: u32, dep: &[u32], args: &[(&str, Arg)]) -> Task {
    Task {
        task: "paint".to_owned(),
        id: TaskId(id),
        dep: dep.iter().map(|dep| TaskId(*dep)).collect(),
        args: args.iter().map(|(name, arg)| ((*name).to_owned(), arg.clone())).collect(),
        unfolded_from: None,
        fault: None,
    }
}

/// A task that takes pictures of other tasks.
fn paint(id: u32, from: &[u32]) -> Task {
    let args: Vec<(String, Arg)> =
        from.iter().map(|from| (format!("picture{from}"), Arg::output(TaskId(*from)))).collect();
    let args: Vec<(&str, Arg)> = args.iter().map(|(name, arg)| (name.as_str(), arg.clone())).collect();
    task(id, from, &args)
}

fn vocabulary() -> Vocabulary {
    let params = (0..16).map(|at| jarvis_plan::Param::optional(&format!("picture{at}"), Kind::Image)).collect();
    Vocabulary::new(vec![Tool { params, ..Tool::typed("paint", "", &[], &[Kind::Image]) }])
}

fn setup(cast: &Arc<Cast>, limits: Limits) -> (Setup, UnboundedReceiver<Event>) {
    let (events, receiver) = Events::channel(RunId("run".to_owned()));
    let setup = Setup {
        selector: cast.clone(),
        worker: cast.clone(),
        request: Arc::new(Request::new("paint")),
        vocabulary: Arc::new(vocabulary()),
        events,
        limits,
        cancel: CancellationToken::new(),
    };
    (setup, receiver)
}

fn drain(mut receiver: UnboundedReceiver<Event>) -> Vec<Event> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

fn plan(tasks: Vec<Task>) -> Plan {
    Plan { tasks, notes: Vec::new() }
}

/// Runs tasks as one plan and tells each outcome in a line.
async fn play(tasks: Vec<Task>, roles: Vec<Role>, limits: Limits) -> (String, String) {
    let cast = Cast::new(roles);
    let (setup, receiver) = setup(&cast, limits);
    let outcomes = {
        let all = plan(tasks);
        let (sender, batches) = unbounded_channel();
        sender.send(all.tasks).unwrap();
        drop(sender);
        let told = Arc::clone(&cast);
        drive_stream(batches, setup, move |outcome| {
            told.seen().finished.insert(outcome.id);
        })
        .await
    };
    assert_eq!(cast.seen().complaints, Vec::<String>::new());
    let lines: Vec<String> = outcomes.iter().map(line).collect();
    (lines.join("\n"), drain(receiver).iter().map(event_line).collect::<Vec<_>>().join("\n"))
}

fn line(outcome: &Outcome) -> String {
    let tries: Vec<String> = outcome
        .attempts
        .iter()
        .map(|attempt| {
            let how = attempt.error.as_ref().map_or("ok", |error| error.code.as_str());
            format!("{}:{how}", attempt.candidate.id)
        })
        .collect();
    let error = outcome.error.as_ref().map_or(String::new(), |error| format!(" {}: {}", error.code, error.message));
    format!("{} {:?} [{}]{error}", outcome.id, outcome.status, tries.join(" "))
}

fn event_line(event: &Event) -> String {
    match &event.kind {
        EventKind::ModelChosen { selection } => format!("chosen {}", selection.task),
        EventKind::TaskStarted { id, model, .. } => format!("started {id} {model}"),
        EventKind::TaskAttempt { id, attempt } => format!("attempt {id} {}", attempt.candidate.id),
        EventKind::TaskFinished { outcome } => format!("finished {} {:?}", outcome.id, outcome.status),
        EventKind::Note { message, .. } => format!("note {message}"),
        other => other.name().to_owned(),
    }
}

const QUICK: Limits = Limits {
    concurrency: 8,
    task_timeout: Duration::from_secs(10),
    run_timeout: Duration::from_secs(100),
    max_fallbacks: 2,
};

#[tokio::test(start_paused = true)]
async fn a_chain_runs_in_order_and_tells_it() {
    let (outcomes, events) = play(vec![paint(0, &[]), paint(1, &[0])], vec![Role::giving(); 2], QUICK).await;
    insta::assert_snapshot!(outcomes, @"
    0 Succeeded [model-0:ok]
    1 Succeeded [model-0:ok]
    ");
    insta::assert_snapshot!(events, @"
    chosen 0
    chosen 1
    started 0 model-0
    finished 0 Succeeded
    started 1 model-0
    finished 1 Succeeded
    ");
}

#[tokio::test(start_paused = true)]
async fn other_candidates_are_tried_where_they_may_help() {
    use Act::{Fail, Give, Panic};
    use ErrorCode::{InvalidInput, RateLimited, Unavailable, Upstream};
    let tasks = (0..5).map(|id| paint(id, &[])).collect();
    let roles = vec![
        Role::trying(&[Fail(Upstream), Give]),
        Role::trying(&[Fail(InvalidInput), Give]),
        Role::trying(&[Fail(Upstream), Panic, Fail(RateLimited), Give]),
        Role::trying(&[Fail(Unavailable)]),
        Role::trying(&[Panic, Give]),
    ];
    let (outcomes, events) = play(tasks, roles, Limits { concurrency: 1, ..QUICK }).await;
    insta::assert_snapshot!(outcomes, @"
    0 Succeeded [model-0:upstream model-1:ok]
    1 Failed [model-0:invalid_input] invalid_input: the worker says invalid_input
    2 Failed [model-0:upstream model-1:panic model-2:rate_limited] rate_limited: the worker says rate_limited
    3 Failed [model-0:unavailable] unavailable: the worker says unavailable
    4 Succeeded [model-0:panic model-1:ok]
    ");
    insta::assert_snapshot!(events, @"
    chosen 0
    started 0 model-0
    chosen 1
    chosen 2
    chosen 3
    chosen 4
    attempt 0 model-0
    finished 0 Succeeded
    started 1 model-0
    attempt 1 model-0
    finished 1 Failed
    started 2 model-0
    attempt 2 model-0
    attempt 2 model-1
    attempt 2 model-2
    finished 2 Failed
    started 3 model-0
    attempt 3 model-0
    finished 3 Failed
    started 4 model-0
    attempt 4 model-0
    finished 4 Succeeded
    ");
}

#[tokio::test(start_paused = true)]
async fn a_failed_choice_fails_its_task_alone() {
    let tasks = vec![paint(0, &[]), paint(1, &[]), paint(2, &[]), paint(3, &[0]), paint(4, &[])];
    let roles = vec![
        Role::choosing(Act::Fail(ErrorCode::NoModel)),
        Role::choosing(Act::Panic),
        Role::choosing(Act::Hang),
        Role::giving(),
        Role::giving(),
    ];
    let (outcomes, _) = play(tasks, roles, QUICK).await;
    insta::assert_snapshot!(outcomes, @"
    0 Failed [] no_model: the selector says no_model
    1 Failed [] panic: the choice of a model panicked: the selector gave up
    2 Failed [] timeout: the choice of a model did not end within 10 s
    3 Skipped [] no_output: `picture0` needs the output of task 0 (`paint`), which failed
    4 Succeeded [model-0:ok]
    ");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_task_ends_at_its_deadline_and_holds_up_nobody() {
    let waits = task(2, &[0], &[]);
    let tasks = vec![paint(0, &[]), paint(1, &[0]), waits, paint(3, &[])];
    let roles = vec![Role::trying(&[Act::Hang, Act::Give]), Role::giving(), Role::giving(), Role::trying(&[Act::Give])];
    let start = Instant::now();
    let (outcomes, events) = play(tasks, roles, Limits { concurrency: 1, ..QUICK }).await;
    assert_eq!(start.elapsed().as_secs(), 10, "the deadline is the only wait");
    insta::assert_snapshot!(outcomes, @"
    0 Failed [model-0:timeout] timeout: the task did not end within 10 s
    1 Skipped [] no_output: `picture0` needs the output of task 0 (`paint`), which failed
    2 Succeeded [model-0:ok]
    3 Succeeded [model-0:ok]
    ");
    insta::assert_snapshot!(events, @"
    chosen 0
    started 0 model-0
    chosen 1
    chosen 2
    chosen 3
    attempt 0 model-0
    finished 0 Failed
    finished 1 Skipped
    started 3 model-0
    finished 3 Succeeded
    started 2 model-0
    finished 2 Succeeded
    ");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_task_covers_all_its_tries() {
    let slow = |act| (act, 6_000);
    let role = Role { tries: vec![slow(Act::Fail(ErrorCode::Upstream)), slow(Act::Give)], ..Role::giving() };
    let (outcomes, _) = play(vec![paint(0, &[])], vec![role], QUICK).await;
    insta::assert_snapshot!(outcomes, @"0 Failed [model-0:upstream model-1:timeout] timeout: the task did not end within 10 s");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_run_leaves_an_outcome_for_every_task() {
    let tasks = vec![paint(0, &[]), paint(1, &[]), paint(2, &[1]), paint(3, &[2])];
    let roles = vec![Role::giving(), Role::trying(&[Act::Hang]), Role::giving(), Role::choosing(Act::Hang)];
    let limits = Limits { run_timeout: Duration::from_millis(1500), ..QUICK };
    let (outcomes, _) = play(tasks, roles, limits).await;
    insta::assert_snapshot!(outcomes, @"
    0 Succeeded [model-0:ok]
    1 Failed [model-0:timeout] timeout: the run did not end within 1.5 s
    2 Failed [] timeout: the run did not end within 1.5 s
    3 Failed [] timeout: the run did not end within 1.5 s
    ");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_returns_at_once_with_every_outcome() {
    for before_start in [true, false] {
        let cast = Cast::new(vec![Role::giving(), Role::trying(&[Act::Hang]), Role::giving()]);
        let (setup, receiver) = setup(&cast, QUICK);
        let cancel = setup.cancel.clone();
        if before_start {
            cancel.cancel();
        } else {
            tokio::spawn(async move {
                sleep(Duration::from_secs(1)).await;
                cancel.cancel();
            });
        }
        let start = Instant::now();
        let outcomes = drive(&plan(vec![paint(0, &[]), paint(1, &[]), paint(2, &[1])]), setup).await;
        assert!(start.elapsed() <= Duration::from_secs(1));
        let got: Vec<Status> = outcomes.iter().map(|outcome| outcome.status).collect();
        let first = if before_start { Status::Cancelled } else { Status::Succeeded };
        assert_eq!(got, [first, Status::Cancelled, Status::Cancelled]);
        assert_eq!(drain(receiver).iter().filter(|event| event.kind.name() == "task_finished").count(), 3);
        tokio::task::yield_now().await;
        assert_eq!(cast.busy.load(Ordering::SeqCst), 0, "the hanging worker was dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_and_loose_ends_are_told_and_not_tried() {
    let faulty = Task { fault: Some(jarvis_plan::Fault::UnknownTask), ..paint(0, &[]) };
    let tasks =
        vec![faulty, paint(1, &[0]), paint(2, &[9]), task(3, &[4], &[]), task(4, &[3], &[]), task(5, &[4], &[])];
    let mut twice = tasks;
    twice.push(paint(5, &[]));
    let (outcomes, events) = play(twice, vec![Role::giving(); 6], QUICK).await;
    insta::assert_snapshot!(outcomes, @"
    0 Failed [] unsupported_task: `paint` cannot run: no tool of this name is known
    1 Skipped [] no_output: `picture0` needs the output of task 0 (`paint`), which failed
    2 Skipped [] bad_plan: it waits for task 9, which is not in the plan
    3 Failed [] bad_plan: it waits for tasks that wait for it
    4 Failed [] bad_plan: it waits for tasks that wait for it
    5 Succeeded [model-0:ok]
    ");
    insta::assert_snapshot!(events, @"
    note task 5 came twice; the second was left out
    finished 0 Failed
    finished 1 Skipped
    finished 2 Skipped
    finished 3 Failed
    finished 4 Failed
    chosen 5
    started 5 model-0
    finished 5 Succeeded
    ");
}

/// A selector whose first choice waits until the second task is being chosen for, and so on in pairs with the worker.
struct Tangled {
    chosen: Notify,
    inner: Arc<Cast>,
}

#[async_trait]
impl Selector for Tangled {
    async fn select(&self, task: &Task, events: &Events) -> Result<Selection, TaskError> {
        if task.id == TaskId(1) {
            self.chosen.notify_one();
        }
        self.inner.select(task, events).await
    }
}

#[async_trait]
impl Worker for Tangled {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        if job.task.id == TaskId(0) {
            self.chosen.notified().await;
        }
        self.inner.perform(job).await
    }
}

#[tokio::test(start_paused = true)]
async fn choices_do_not_wait_for_inputs() {
    let cast = Cast::new(vec![Role::giving(); 2]);
    let tangled = Arc::new(Tangled { chosen: Notify::new(), inner: cast.clone() });
    let (mut setup, _receiver) = setup(&cast, QUICK);
    setup.selector = tangled.clone();
    setup.worker = tangled;
    let outcomes = drive(&plan(vec![paint(0, &[]), task(1, &[0], &[])]), setup).await;
    assert!(outcomes[0].succeeded(), "the worker of task 0 waited for the choice of task 1: {:?}", outcomes[0]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_may_grow_from_what_its_tasks_gave() {
    let cast = Cast::new(vec![Role::giving(); 4]);
    let (setup, _receiver) = setup(&cast, QUICK);
    let (sender, batches) = unbounded_channel();
    sender.send(vec![paint(0, &[])]).unwrap();
    let mut sender = Some(sender);
    let outcomes = drive_stream(batches, setup, |outcome| {
        let next = outcome.id.0 + 1;
        match &sender {
            Some(open) if next < 4 => open.send(vec![paint(next, &[outcome.id.0])]).unwrap(),
            _ => sender = None,
        }
    })
    .await;
    assert_eq!(outcomes.len(), 4);
    assert!(outcomes.iter().all(Outcome::succeeded));
    let args = cast.seen().args.clone();
    assert_eq!(args[2], (TaskId(3), "/images/2.png".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_never_closed_ends_with_the_run() {
    let cast = Cast::new(vec![Role::giving()]);
    let (setup, _receiver) = setup(&cast, QUICK);
    let (sender, batches) = unbounded_channel();
    sender.send(vec![paint(0, &[])]).unwrap();
    let outcomes = drive_stream(batches, setup, |_| {}).await;
    assert!(outcomes[0].succeeded());
    drop(sender);
}

/// Hands its job's token out and hangs.
struct Telling(Mutex<Option<oneshot::Sender<CancellationToken>>>);

#[async_trait]
impl Worker for Telling {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        if let Some(tell) = self.0.lock().unwrap().take() {
            tell.send(job.cancel.clone()).unwrap();
        }
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn work_on_other_threads_hears_of_every_end() {
    for ending in ["dropped", "cancelled", "task deadline", "run deadline"] {
        let cast = Cast::new(vec![Role::giving()]);
        let (mut setup, _receiver) = setup(&cast, QUICK);
        if ending == "run deadline" {
            setup.limits.run_timeout = Duration::from_secs(1);
        }
        let cancel = setup.cancel.clone();
        let (tell, told) = oneshot::channel();
        setup.worker = Arc::new(Telling(Mutex::new(Some(tell))));
        let run = tokio::spawn(async move { drive(&plan(vec![paint(0, &[])]), setup).await });
        let token = told.await.unwrap();
        assert!(!token.is_cancelled());
        match ending {
            "dropped" => run.abort(),
            "cancelled" => cancel.cancel(),
            _ => {}
        }
        token.cancelled().await;
        assert_eq!(run.await.is_ok(), ending != "dropped", "{ending}");
    }
}

/// Blocks its thread until it is let go: no future of its own ever yields.
struct Blocking(Mutex<std::sync::mpsc::Receiver<()>>);

#[async_trait]
impl Worker for Blocking {
    async fn perform(&self, _job: &Job) -> Result<Inference, TaskError> {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Ok(Inference::text("too late"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_blocks_its_thread_holds_up_nobody() {
    let cast = Cast::new(vec![Role::giving()]);
    let (mut setup, _receiver) = setup(&cast, Limits { task_timeout: Duration::from_millis(20), ..QUICK });
    let (let_go, held) = std::sync::mpsc::channel();
    setup.worker = Arc::new(Blocking(Mutex::new(held)));
    let outcomes = drive(&plan(vec![paint(0, &[])]), setup).await;
    let_go.send(()).unwrap();
    assert_eq!(outcomes[0].error.as_ref().map(|error| error.code), Some(ErrorCode::Timeout));
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => Just(Act::Give),
        2 => Just(Act::Fail(ErrorCode::Upstream)),
        1 => Just(Act::Fail(ErrorCode::InvalidInput)),
        1 => Just(Act::Panic),
        1 => Just(Act::Hang),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    let choice = prop_oneof![6 => Just(Act::Give), 4 => act()];
    (choice, 0_u64..50, prop::collection::vec((act(), 0_u64..50), 1..5)).prop_map(|(choice, choice_ms, tries)| Role {
        choice,
        choice_ms,
        tries,
    })
}

/// Tasks of any acyclic graph, in any order of coming, some dependencies references and some mere waits.
fn graph() -> impl Strategy<Value = (Vec<Task>, Vec<Role>)> {
    (1_usize..12).prop_flat_map(|count| {
        let edges = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4);
        let order = Just((0..count as u32).collect::<Vec<_>>()).prop_shuffle();
        (order, prop::collection::vec(edges, count), prop::collection::vec(role(), count)).prop_flat_map(
            |(order, edges, roles)| {
                let mut tasks = Vec::new();
                for (at, edges) in edges.iter().enumerate() {
                    let mut node = task(order[at], &[], &[]);
                    for (pick, refers) in edges.iter().filter(|_| at > 0) {
                        let dep = order[pick.index(at)];
                        node.dep.push(TaskId(dep));
                        if *refers {
                            node.args.insert(format!("picture{dep}"), Arg::output(TaskId(dep)));
                        }
                    }
                    tasks.push(node);
                }
                (Just(tasks).prop_shuffle(), Just(roles))
            },
        )
    })
}

/// How a task must end, by definition: no clock, no queue.
fn expected(tasks: &[Task], roles: &[Role], id: TaskId, max_fallbacks: usize) -> (Status, Option<ErrorCode>) {
    let task = tasks.iter().find(|task| task.id == id).unwrap();
    for need in task.args.values().flat_map(Arg::references) {
        // A task that gives nothing lends the picture it was given, if it came as far as having one.
        let lends = tasks.iter().any(|task| task.id == need && !task.args.is_empty());
        match expected(tasks, roles, need, max_fallbacks).0 {
            Status::Succeeded => {}
            Status::Failed if lends => {}
            Status::Failed | Status::Skipped | Status::Cancelled => {
                return (Status::Skipped, Some(ErrorCode::NoOutput));
            }
        }
    }
    let role = &roles[id.index()];
    let mut end = (Status::Failed, None);
    for act in
        std::iter::once(role.choice).chain(role.tries.iter().take(max_fallbacks + 1).map(|(act, _)| *act)).enumerate()
    {
        end = match act {
            (0, Act::Give) => continue,
            (_, Act::Give) => return (Status::Succeeded, None),
            (_, Act::Fail(code)) => (Status::Failed, Some(code)),
            (_, Act::Panic) => (Status::Failed, Some(ErrorCode::Panic)),
            (_, Act::Hang) => return (Status::Failed, Some(ErrorCode::Timeout)),
        };
        if act.0 == 0 || !end.1.is_some_and(ErrorCode::next_candidate_may_help) {
            return end;
        }
    }
    end
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_graph_with_any_failures_ends_as_it_must(
        (tasks, roles) in graph(),
        concurrency in 0_usize..5,
        max_fallbacks in 0_usize..4,
        chunk in 1_usize..5,
        cut_ms in prop_oneof![3 => Just(u64::MAX), 1 => 0_u64..60_000],
        cancels in any::<bool>(),
    ) {
        let cast = Cast::new(roles.clone());
        let limits = Limits { concurrency, max_fallbacks, run_timeout: Duration::MAX, ..QUICK };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let cut = cut_ms != u64::MAX;
        let (mut setup, receiver) = setup(&cast, limits);
        if cut && !cancels {
            setup.limits.run_timeout = Duration::from_millis(cut_ms);
        }
        let (outcomes, took) = runtime.block_on(async {
            let start = Instant::now();
            if cut && cancels {
                let cancel = setup.cancel.clone();
                tokio::spawn(async move {
                    sleep(Duration::from_millis(cut_ms)).await;
                    cancel.cancel();
                });
            }
            let (sender, batches) = unbounded_channel();
            for batch in tasks.chunks(chunk) {
                sender.send(batch.to_vec()).unwrap();
            }
            drop(sender);
            let told = Arc::clone(&cast);
            let outcomes = drive_stream(batches, setup, move |outcome| {
                let new = told.seen().finished.insert(outcome.id);
                assert!(new, "task {} finished twice", outcome.id);
            })
            .await;
            (outcomes, start.elapsed())
        });

        // It ends in time, and every task has exactly one outcome.
        if cut {
            prop_assert!(took <= Duration::from_millis(cut_ms + 1), "{took:?}");
        }
        let ids: Vec<u32> = outcomes.iter().map(|outcome| outcome.id.0).collect();
        prop_assert_eq!(ids, (0..tasks.len() as u32).collect::<Vec<_>>());

        // Order, concurrency and the number of tries.
        let seen = cast.seen();
        prop_assert_eq!(&seen.complaints, &Vec::<String>::new());
        prop_assert!(cast.busiest.load(Ordering::SeqCst) <= concurrency.max(1));
        let distinct: HashSet<&(TaskId, String)> = seen.tries.iter().collect();
        prop_assert_eq!(distinct.len(), seen.tries.len(), "a candidate was tried twice");
        for outcome in &outcomes {
            prop_assert!(outcome.attempts.len() <= max_fallbacks + 1);
            prop_assert_eq!(seen.tries.iter().filter(|(id, _)| *id == outcome.id).count() >= outcome.attempts.len(), true);
            prop_assert_eq!(outcome.inference.is_some(), outcome.succeeded());
            prop_assert_eq!(outcome.error.is_none(), outcome.succeeded());
        }

        // How each ended: as it must, or because the run was cut short.
        for outcome in &outcomes {
            let got = (outcome.status, outcome.error.as_ref().map(|error| error.code));
            let cut_short = match cancels {
                true => (Status::Cancelled, Some(ErrorCode::Cancelled)),
                false => (Status::Failed, Some(ErrorCode::Timeout)),
            };
            let want = expected(&tasks, &roles, outcome.id, max_fallbacks);
            prop_assert!(got == want || (cut && got == cut_short), "task {}: {:?}, not {:?}", outcome.id, got, want);
        }

        // The events tell the same story in order.
        let events = drain(receiver);
        let at = |wanted: &str| events.iter().position(|event| format!("{} ", event_line(event)).starts_with(wanted));
        for outcome in &outcomes {
            let told: Vec<&Event> = events
                .iter()
                .filter(|event| matches!(&event.kind, EventKind::TaskFinished { outcome: told } if told.id == outcome.id))
                .collect();
            prop_assert_eq!(told.len(), 1);
            prop_assert_eq!(&told[0].kind, &EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
            let [chosen, started, finished] =
                ["chosen", "started", "finished"].map(|what| at(&format!("{what} {} ", outcome.id)));
            if started.is_some() {
                prop_assert!(chosen.is_some() && chosen < started && started < finished);
            }
        }
    }
}
