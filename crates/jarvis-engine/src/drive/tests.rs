//! The driver with scripted selectors and workers, on a clock that moves only when nothing else can.

mod any_graph;
mod cast;
mod kept;
mod writes;

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jarvis_plan::{Draft, DraftTask, Vocabulary};
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

use self::cast::{Act, Cast, QUICK, Role, drain, engine, event_line, line, paint, play, run, task};
use super::*;
use crate::engine::Batch;
use crate::{Events, Gate, Graph, GrowingPlan, Job, NotExtended, RunEnded, Selector, Tell, Worker, out};

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
    3 Skipped [] no_output: `picture0` needs the output of task 1 (`paint`), which failed
    4 Succeeded [model-0:ok]
    ");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_task_ends_at_its_deadline_and_holds_up_nobody() {
    let waits = task(2, &[0], &[]);
    let tasks = vec![paint(0, &[]), paint(1, &[0]), waits, paint(3, &[])];
    let roles = vec![Role::trying(&[Act::Hang]), Role::giving(), Role::giving(), Role::trying(&[Act::Give])];
    let start = Instant::now();
    let (outcomes, events) = play(tasks, roles, Limits { concurrency: 1, ..QUICK }).await;
    assert_eq!(start.elapsed().as_secs(), 10, "the deadline is the only wait");
    insta::assert_snapshot!(outcomes, @"
    0 Failed [model-0:timeout] timeout: the task did not end within 10 s
    1 Skipped [] no_output: `picture0` needs the output of task 1 (`paint`), which failed
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
async fn the_tries_of_a_task_share_its_time() {
    use Act::{Fail, Give, Hang};
    const FAIL: Act = Fail(ErrorCode::Upstream);
    for (tries, took_ms, want) in [
        (vec![(Hang, 0)], 10_000, "0 Failed [model-0:timeout] timeout: the task did not end within 10 s"),
        (vec![(Hang, 0), (Give, 2)], 5_002, "0 Succeeded [model-0:timeout model-1:ok]"),
        (vec![(Give, 9_000)], 9_000, "0 Succeeded [model-0:ok]"),
        (vec![(Give, 9_000), (Give, 1)], 5_001, "0 Succeeded [model-0:timeout model-1:ok]"),
        // What one does not use, the others have.
        (vec![(FAIL, 1_000), (Give, 8_000)], 9_000, "0 Succeeded [model-0:upstream model-1:ok]"),
        (
            vec![(FAIL, 4_000), (Give, 8_000)],
            10_000,
            "0 Failed [model-0:upstream model-1:timeout] timeout: the task did not end within 10 s",
        ),
        (vec![(Hang, 0), (FAIL, 1), (Give, 6_000)], 9_334, "0 Succeeded [model-0:timeout model-1:upstream model-2:ok]"),
        (
            vec![(Hang, 0), (Hang, 0), (Hang, 0)],
            10_000,
            "0 Failed [model-0:timeout model-1:timeout model-2:timeout] timeout: the task did not end within 10 s",
        ),
    ] {
        let name = format!("{tries:?}");
        let start = Instant::now();
        let role = Role { tries, ..Role::giving() };
        let (outcomes, _) = play(vec![paint(0, &[])], vec![role], QUICK).await;
        assert_eq!(outcomes.trim_end(), want, "{name}");
        // The clock of the tests goes in whole milliseconds.
        assert!(start.elapsed().as_millis().abs_diff(took_ms) <= 2, "{name}: {:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_try_that_was_cut_says_what_time_it_had() {
    let cast = Cast::new(vec![Role::trying(&[Act::Hang, Act::Give])]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let outcomes = run(vec![paint(0, &[])], engine, |_| {}).await;
    let error = outcomes[0].attempts[0].error.as_ref().unwrap();
    assert_eq!(error.code, ErrorCode::Timeout);
    assert_eq!(error.message, "the try did not end within 5 s, its share of the task's 10 s");
    assert_eq!(cast.busy.load(Ordering::SeqCst), 0, "the hanging worker was dropped");
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
        let (engine, receiver) = engine(&cast, QUICK);
        let cancel = engine.cancel.clone();
        if before_start {
            cancel.cancel();
        } else {
            tokio::spawn(async move {
                sleep(Duration::from_secs(1)).await;
                cancel.cancel();
            });
        }
        let start = Instant::now();
        let outcomes = run(vec![paint(0, &[]), paint(1, &[]), paint(2, &[1])], engine, |_| {}).await;
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
async fn faults_are_told_and_not_tried() {
    use jarvis_plan::Fault::{DanglingReference, ReferenceCycle, UnboundReference, UnknownTask};
    let faults = [
        UnknownTask { nearest: Vec::new() },
        DanglingReference { to: 9 },
        ReferenceCycle,
        UnboundReference { arg: "image".to_owned() },
    ];
    let mut tasks: Vec<Task> =
        faults.into_iter().zip(0..).map(|(fault, id)| Task { faults: vec![fault], ..paint(id, &[]) }).collect();
    tasks.extend([paint(4, &[0]), task(5, &[0], &[])]);
    let (outcomes, events) = play(tasks, vec![Role::giving(); 6], QUICK).await;
    insta::assert_snapshot!(outcomes, @"
    0 Failed [] unsupported_task: `paint` cannot run: no tool of this name is known
    1 Failed [] bad_plan: `paint` cannot run: it refers to `<GENERATED>-9`, and no task of the plan has that id
    2 Failed [] bad_plan: `paint` cannot run: its arguments depend on its own output
    3 Failed [] bad_plan: `paint` cannot run: its argument `image` names no task, and no earlier task gives what it needs
    4 Skipped [] no_output: `picture0` needs the output of task 1 (`paint`), which failed
    5 Succeeded [model-0:ok]
    ");
    insta::assert_snapshot!(events, @"
    finished 0 Failed
    finished 1 Failed
    finished 2 Failed
    finished 3 Failed
    finished 4 Skipped
    chosen 5
    started 5 model-0
    finished 5 Succeeded
    ");
}

#[tokio::test(start_paused = true)]
async fn without_a_selector_each_task_is_performed_by_the_tool_it_names() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let worker = {
        let seen = Arc::clone(&seen);
        move |job: Job| {
            seen.lock().unwrap().push(format!("{} {} {}", job.candidate.id, job.name(), job.object()));
            async move { Ok(json!({"n": [1, 2], "of": job.name()})) }
        }
    };
    let graph = Graph::builder()
        .task("count", json!({"limit": 5}))
        .task("tell", json!({"all": out("count"), "list": [out("count"), true]}))
        .check(&Vocabulary::named(["count", "tell"]))
        .unwrap();
    let run = Engine::new(worker).run(&graph).await;
    assert_eq!(run.value("tell").unwrap(), &json!({"n": [1, 2], "of": "tell"}));
    assert!(run.iter().all(|outcome| outcome.selection.is_none() && outcome.attempts.len() == 1));
    assert_eq!(run.value("nothing").unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            r#"count count {"limit":5}"#,
            r#"tell tell {"all":{"n":[1,2],"of":"count"},"list":[{"n":[1,2],"of":"count"},true]}"#
        ],
        "values keep their types"
    );
}

/// A selector whose first choice waits until the second task is being chosen for, and so on in pairs with the worker.
struct Tangled {
    chosen: Notify,
    inner: Arc<Cast>,
}

#[async_trait]
impl Selector for Tangled {
    async fn select(&self, task: &Task, events: &Events, guess: Tell<'_>) -> Result<Selection, TaskError> {
        if task.id == TaskId(1) {
            self.chosen.notify_one();
        }
        self.inner.select(task, events, guess).await
    }
}

#[async_trait]
impl Worker for Tangled {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
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
    let (mut engine, _receiver) = engine(&cast, QUICK);
    engine.selector = Some(tangled.clone());
    engine.worker = tangled;
    let outcomes = run(vec![paint(0, &[]), task(1, &[0], &[])], engine, |_| {}).await;
    assert!(outcomes[0].succeeded(), "the worker of task 0 waited for the choice of task 1: {:?}", outcomes[0]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_may_grow_from_what_its_tasks_gave() {
    let cast = Cast::new(vec![Role::giving(); 4]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let vocabulary = Vocabulary::named(["paint"]);
    let one = |id: i64, args: &[(&str, &str)]| {
        let task = DraftTask::new(id, "paint");
        let task = args.iter().fold(task, |task, (name, value)| task.arg(name, *value));
        Draft { tasks: vec![task], ..Draft::default() }
    };
    let (growing, growth) = GrowingPlan::new(jarvis_plan::check(&one(0, &[]), &vocabulary, Default::default()));
    let mut growing = Some(growing);
    let outcomes = engine
        .run_growing(growth, Vec::new(), |outcome| {
            let next = i64::from(outcome.id.0) + 1;
            match &mut growing {
                Some(growing) if next < 4 => {
                    // The id is taken, so the plan gives it another; the reference is to what ran.
                    let draft = one(0, &[("picture", &format!("<GENERATED>-{}", outcome.id))]);
                    assert_eq!(growing.grow(&draft, &vocabulary, Default::default()).unwrap()[0].id.0, next as u32);
                }
                _ => growing = None,
            }
        })
        .await;
    assert_eq!(outcomes.len(), 4);
    assert!(outcomes.iter().all(Outcome::succeeded));
    let args = cast.seen().args.clone();
    assert_eq!(args[2], (TaskId(3), "/images/2.png".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_could_still_grow_ends_with_the_run() {
    let cast = Cast::new(vec![Role::giving()]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let (mut growing, growth) = GrowingPlan::new(Graph::default());
    let run = tokio::spawn(async move { engine.run_growing(growth, Vec::new(), |_| {}).await });
    let draft = Draft { tasks: vec![DraftTask::new(0, "paint")], ..Draft::default() };
    growing.grow(&draft, &Vocabulary::named(["paint"]), Default::default()).unwrap();
    assert!(run.await.unwrap()[0].succeeded());
    let late = growing.grow(&draft, &Vocabulary::named(["paint"]), Default::default());
    assert_eq!(late.unwrap_err(), RunEnded);
}

#[tokio::test(start_paused = true)]
async fn tasks_run_while_their_plan_is_written() {
    let cast = Cast::new(vec![Role::giving(); 3]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let (mut growing, growth) = GrowingPlan::unwritten();
    let (ended, mut outcomes) = unbounded_channel();
    let run = tokio::spawn(async move {
        engine.run_growing(growth, Vec::new(), move |outcome| ended.send(outcome.id).unwrap()).await
    });
    let plan = |names: &[&str]| {
        let tasks = names.iter().zip(0..).map(|(name, id)| DraftTask::new(id, "paint").arg("text", *name)).collect();
        jarvis_plan::check(&Draft { tasks, ..Draft::default() }, &Vocabulary::named(["paint"]), Default::default())
    };
    growing.extend(plan(&["a"]), false).unwrap();
    // It ends before the second task is there.
    assert_eq!(outcomes.recv().await, Some(TaskId(0)));
    assert_eq!(growing.extend(plan(&["a", "b"]), false).unwrap()[0].id, TaskId(1));
    assert_eq!(growing.extend(plan(&["a", "c", "d"]), true).unwrap_err(), NotExtended::Contradicted);
    growing.extend(plan(&["a", "b", "d"]), true).unwrap();
    drop(growing);
    let outcomes = run.await.unwrap();
    assert_eq!(outcomes.iter().map(|outcome| &outcome.args["text"]).collect::<Vec<_>>(), ["a", "b", "d"]);
}

#[tokio::test(start_paused = true)]
async fn a_right_guess_saves_the_wait_for_the_choice() {
    // The choice takes 300 ms, the work 200: what is guessed, and when the run ends.
    for (guess, ms) in [(None, 500), (Some(0), 300), (Some(1), 500)] {
        let role = Role { choice_ms: 300, guess, tries: vec![(Act::Give, 200), (Act::Give, 200)], ..Role::giving() };
        let cast = Cast::new(vec![role]);
        let (engine, receiver) = engine(&cast, QUICK);
        let began = Instant::now();
        let outcomes = run(vec![paint(0, &[])], engine.speculating(true), |_| {}).await;
        assert_eq!((outcomes[0].succeeded(), began.elapsed().as_millis()), (true, ms), "{guess:?}");
        assert_eq!(outcomes[0].performer().map(|performer| performer.id.as_str()), Some("model-0"));
        let told: Vec<String> = drain(receiver).iter().map(event_line).collect();
        assert_eq!(told, ["chosen 0", "started 0 model-0", "finished 0 Succeeded"], "{guess:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn equal_calls_of_later_plans_are_not_made_again() {
    let failing = Role::trying(&[Act::Fail(ErrorCode::InvalidInput)]);
    let mut roles = vec![Role::giving(); 6];
    roles[1] = failing;
    let cast = Cast::new(roles);
    let (engine, _receiver) = engine(&cast, QUICK);
    let vocabulary = Vocabulary::named(["paint"]);
    let plan = |texts: &[&str]| {
        let tasks = texts.iter().zip(0..).map(|(text, id)| DraftTask::new(id, "paint").arg("text", *text)).collect();
        Draft { tasks, ..Draft::default() }
    };
    // Within one plan equal calls are two.
    let (growing, growth) =
        GrowingPlan::new(jarvis_plan::check(&plan(&["a", "b", "a"]), &vocabulary, Default::default()));
    let (mut growing, mut left) = (Some(growing), 3);
    let outcomes = engine
        .without_repeats()
        .run_growing(growth, Vec::new(), |_| {
            left -= 1;
            if left == 0 {
                growing.take().unwrap().grow(&plan(&["a", "b", "c"]), &vocabulary, Default::default()).unwrap();
            }
        })
        .await;
    let lines: Vec<String> = outcomes.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    0 Succeeded [model-0:ok]
    1 Failed [model-0:invalid_input] invalid_input: the worker says invalid_input
    2 Succeeded [model-0:ok]
    3 Succeeded []
    4 Failed [] invalid_input: task 2 made the same call, and it is not made again: the worker says invalid_input
    5 Succeeded [model-0:ok]
    ");
    assert_eq!(outcomes[3].output, outcomes[0].output);
    assert_eq!(cast.seen().tries.len(), 4);
}

/// A task named `write` changes something, and is always let.
struct Writes;

#[async_trait]
impl Gate for Writes {
    fn effect(&self, task: &Task) -> Effect {
        if task.args.contains_key("write") { Effect::Writes } else { Effect::Reads }
    }

    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError> {
        Ok(job.args.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_read_before_a_change_is_read_again_after_it() {
    let cast = Cast::new(vec![Role::giving(); 3]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let vocabulary = Vocabulary::named(["paint"]);
    let plan = |arg: &str| {
        let tasks = vec![DraftTask::new(0, "paint").arg(arg, "a")];
        Draft { tasks, ..Draft::default() }
    };
    let (growing, growth) = GrowingPlan::new(jarvis_plan::check(&plan("text"), &vocabulary, Default::default()));
    let (mut growing, mut next) = (Some(growing), vec!["text", "write"]);
    engine
        .gate(Arc::new(Writes))
        .without_repeats()
        .run_growing(growth, Vec::new(), |_| match (next.pop(), &mut growing) {
            (Some(arg), Some(growing)) => {
                growing.grow(&plan(arg), &vocabulary, Default::default()).unwrap();
            }
            _ => growing = None,
        })
        .await;
    assert_eq!(cast.seen().tries.len(), 3);
}

/// Hands its job's token out and hangs.
struct Telling(Mutex<Option<oneshot::Sender<CancellationToken>>>);

#[async_trait]
impl Worker for Telling {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
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
        let (mut engine, _receiver) = engine(&cast, QUICK);
        if ending == "run deadline" {
            engine.limits.run_timeout = Duration::from_secs(1);
        }
        let cancel = engine.cancel.clone();
        let (tell, told) = oneshot::channel();
        engine.worker = Arc::new(Telling(Mutex::new(Some(tell))));
        let run = tokio::spawn(async move { run(vec![paint(0, &[])], engine, |_| {}).await });
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
    async fn perform(&self, _job: &Job) -> Result<Value, TaskError> {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
        Ok("too late".into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_blocks_its_thread_holds_up_nobody() {
    let cast = Cast::new(vec![Role::giving()]);
    let (mut engine, _receiver) = engine(&cast, Limits { task_timeout: Duration::from_millis(20), ..QUICK });
    let (let_go, held) = std::sync::mpsc::channel();
    engine.worker = Arc::new(Blocking(Mutex::new(held)));
    let outcomes = run(vec![paint(0, &[])], engine, |_| {}).await;
    let_go.send(()).unwrap();
    assert_eq!(outcomes[0].error.as_ref().map(|error| error.code), Some(ErrorCode::Timeout));
}
