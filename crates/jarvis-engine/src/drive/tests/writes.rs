//! Tasks that change the world, in any plan, with any failures, decisions and ends: none after a failed task before it, none
//! twice where the first may have arrived, none without leave.

use std::collections::HashMap;

use proptest::prelude::*;
use tokio::sync::mpsc::unbounded_channel;

use super::any_graph::graph;
use super::cast::{Act, Cast, QUICK, Role, engine, paint, run, run_from};
use super::*;
use crate::{Gate, Job};

/// What is decided about a task that would change something, after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    Given(u64),
    Refused(u64),
    /// Nobody ever answers.
    Open,
}

/// A gate and a worker that write down what they saw.
#[derive(Debug)]
struct Watch {
    cast: Arc<Cast>,
    effects: Vec<Effect>,
    leave: Vec<Leave>,
    order: Vec<TaskId>,
    ended: Mutex<HashMap<TaskId, Status>>,
    /// Tasks with who was allowed to perform them.
    admitted: Mutex<Vec<(TaskId, String)>>,
    performed: Mutex<Vec<TaskId>>,
    /// Tries that may have arrived.
    arrived: Mutex<Vec<TaskId>>,
    /// Tasks that wait for an answer, or did when the run was killed.
    asking: Mutex<Vec<TaskId>>,
    complaints: Mutex<Vec<String>>,
}

impl Watch {
    fn new(cast: &Arc<Cast>, tasks: &[Task], effects: Vec<Effect>, leave: Vec<Leave>) -> Arc<Watch> {
        Arc::new(Watch {
            cast: Arc::clone(cast),
            effects,
            leave,
            order: in_order(tasks),
            ended: Mutex::default(),
            admitted: Mutex::default(),
            performed: Mutex::default(),
            arrived: Mutex::default(),
            asking: Mutex::default(),
            complaints: Mutex::default(),
        })
    }

    fn effect_of(&self, id: TaskId) -> Effect {
        self.effects.get(id.index()).copied().unwrap_or_default()
    }

    fn complain(&self, text: String) {
        self.complaints.lock().unwrap().push(text);
    }
}

#[async_trait]
impl Gate for Watch {
    fn effect(&self, task: &Task) -> Effect {
        self.effect_of(task.id)
    }

    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError> {
        let id = job.task.id;
        self.asking.lock().unwrap().push(id);
        let decided = || self.asking.lock().unwrap().retain(|asking| *asking != id);
        match self.leave[id.index()] {
            Leave::Given(ms) => {
                sleep(Duration::from_millis(ms)).await;
                decided();
                let mut admitted = self.admitted.lock().unwrap();
                let leave = (id, job.candidate.id.clone());
                if admitted.contains(&leave) {
                    self.complain(format!("{leave:?} was asked about twice"));
                }
                admitted.push(leave);
                Ok(job.args.clone())
            }
            Leave::Refused(ms) => {
                sleep(Duration::from_millis(ms)).await;
                decided();
                Err(TaskError::new(ErrorCode::NotApproved, "no"))
            }
            Leave::Open => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Worker for Watch {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let id = job.task.id;
        if self.effect_of(id) != Effect::Reads {
            if !self.admitted.lock().unwrap().contains(&(id, job.candidate.id.clone())) {
                self.complain(format!("{} had no leave for task {id}", job.candidate.id));
            }
            let ended = self.ended.lock().unwrap();
            for before in self.order.iter().take_while(|before| **before != id) {
                if ended.get(before) != Some(&Status::Succeeded) {
                    self.complain(format!("task {id} ran although {before} before it did not succeed"));
                }
            }
            self.performed.lock().unwrap().push(id);
            self.arrived.lock().unwrap().push(id);
        }
        let result = self.cast.perform(job).await;
        if result.as_ref().is_err_and(|error| error.code.is_before_any_call()) {
            // What never called anybody may be asked about again.
            self.admitted.lock().unwrap().retain(|leave| *leave != (id, job.candidate.id.clone()));
            let mut arrived = self.arrived.lock().unwrap();
            if let Some(at) = arrived.iter().position(|one| *one == id) {
                arrived.remove(at);
            }
        }
        result
    }
}

/// The order of the plan, but each task after what it depends on: again and again the first task that can go next.
fn in_order(tasks: &[Task]) -> Vec<TaskId> {
    let mut order: Vec<TaskId> = Vec::new();
    while let Some(next) =
        tasks.iter().find(|task| !order.contains(&task.id) && task.dep.iter().all(|dep| order.contains(dep)))
    {
        order.push(next.id);
    }
    order
}

fn leave() -> impl Strategy<Value = Leave> {
    prop_oneof![
        6 => (0_u64..50).prop_map(Leave::Given),
        2 => (0_u64..50).prop_map(Leave::Refused),
        1 => Just(Leave::Open),
    ]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![3 => Just(Effect::Reads), 2 => Just(Effect::Writes), 1 => Just(Effect::Destroys)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_write_goes_wrong(
        (tasks, roles) in graph(),
        effects in proptest::collection::vec(effect(), 40),
        leave in proptest::collection::vec(leave(), 40),
        concurrency in 1_usize..5,
        cut_ms in 0_u64..5_000,
    ) {
        let cast = Cast::new(roles.clone());
        let watch = Watch::new(&cast, &tasks, effects, leave);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (engine, _receiver) = engine(&cast, Limits { concurrency, ..QUICK });
        let engine = engine.with_worker(watch.clone()).gate(watch.clone());
        let outcomes = runtime.block_on(async {
            let cancel = engine.cancel.clone();
            tokio::spawn(async move {
                sleep(Duration::from_millis(cut_ms)).await;
                cancel.cancel();
            });
            let (told, finished) = (Arc::clone(&watch), Arc::clone(&cast));
            run(tasks.clone(), engine, move |outcome| {
                told.ended.lock().unwrap().insert(outcome.id, outcome.status);
                finished.seen().finished.insert(outcome.id);
            })
            .await
        });
        prop_assert_eq!(&*watch.complaints.lock().unwrap(), &Vec::<String>::new());
        prop_assert_eq!(outcomes.len(), tasks.len());
        let performed = watch.performed.lock().unwrap();
        for outcome in outcomes.iter().filter(|outcome| watch.effect_of(outcome.id) != Effect::Reads) {
            let arrived = outcome.attempts.iter().filter(|attempt| {
                attempt.error.as_ref().is_none_or(|error| !error.code.is_before_any_call())
            });
            prop_assert!(arrived.count() <= 1, "{outcome:?}");
            let times = performed.iter().filter(|id| **id == outcome.id).count();
            prop_assert_eq!(times, outcome.attempts.len(), "{:?}", outcome);
        }
    }

    #[test]
    fn no_write_goes_wrong_while_the_plan_is_written(
        (tasks, roles) in graph(),
        effects in proptest::collection::vec(effect(), 40),
        leave in proptest::collection::vec(leave(), 40),
        chunk in 1_usize..4,
        pause_ms in 0_u64..100,
        whole in prop::bool::weighted(0.8),
    ) {
        let cast = Cast::new(roles.clone());
        let watch = Watch::new(&cast, &tasks, effects, leave);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (engine, _receiver) = engine(&cast, QUICK);
        let engine = engine.with_worker(watch.clone()).gate(watch.clone());
        let outcomes = runtime.block_on(async {
            let cancel = engine.cancel.clone();
            tokio::spawn(async move {
                sleep(Duration::from_secs(60)).await;
                cancel.cancel();
            });
            let (sender, batches) = unbounded_channel();
            let written = tasks.clone();
            tokio::spawn(async move {
                for tasks in written.chunks(chunk) {
                    sleep(Duration::from_millis(pause_ms)).await;
                    sender.send(Batch { tasks: tasks.to_vec(), anew: false, whole: false }).unwrap();
                }
                sleep(Duration::from_millis(pause_ms)).await;
                if whole {
                    sender.send(Batch { tasks: Vec::new(), anew: false, whole: true }).unwrap();
                }
            });
            let (told, finished) = (Arc::clone(&watch), Arc::clone(&cast));
            let finished = move |outcome: &Outcome| {
                told.ended.lock().unwrap().insert(outcome.id, outcome.status);
                finished.seen().finished.insert(outcome.id);
            };
            drive(batches, engine, Vec::new(), Box::new(finished)).await
        });
        prop_assert_eq!(&*watch.complaints.lock().unwrap(), &Vec::<String>::new());
        prop_assert_eq!(outcomes.len(), tasks.len());
        if !whole {
            prop_assert_eq!(&*watch.performed.lock().unwrap(), &Vec::<TaskId>::new());
        }
    }

    #[test]
    fn no_write_goes_wrong_over_kills(
        (tasks, roles) in graph(),
        effects in proptest::collection::vec(effect(), 40),
        leave in proptest::collection::vec(leave(), 40),
        concurrency in 1_usize..5,
        kills in proptest::collection::vec(0_u64..400, 0..4),
    ) {
        let cast = Cast::new(roles.clone());
        let watch = Watch::new(&cast, &tasks, effects, leave);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut outcomes: Vec<Outcome> = Vec::new();
        // Each life but the last ends with a kill; the next goes on only where somebody was being asked.
        let lives = kills.iter().copied().chain([60_000]);
        for life in lives {
            watch.asking.lock().unwrap().clear();
            let (engine, _receiver) = engine(&cast, Limits { concurrency, ..QUICK });
            let engine = engine.with_worker(watch.clone()).gate(watch.clone());
            let ended = outcomes.clone();
            let killed = runtime.block_on(async {
                let (told, finished, outcomes) = (Arc::clone(&watch), Arc::clone(&cast), &mut outcomes);
                let lived = run_from(tasks.clone(), engine, ended, move |outcome| {
                    told.ended.lock().unwrap().insert(outcome.id, outcome.status);
                    finished.seen().finished.insert(outcome.id);
                    outcomes.push(outcome.clone());
                });
                tokio::time::timeout(Duration::from_millis(life), lived).await.is_err()
            });
            if !killed || watch.asking.lock().unwrap().is_empty() {
                break;
            }
        }
        prop_assert_eq!(&*watch.complaints.lock().unwrap(), &Vec::<String>::new());
        let arrived = watch.arrived.lock().unwrap();
        let writes = tasks.iter().filter(|task| watch.effect_of(task.id) != Effect::Reads);
        for task in writes {
            let times = arrived.iter().filter(|id| **id == task.id).count();
            prop_assert!(times <= 1, "task {} was performed {times} times", task.id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_still_while_somebody_is_asked() {
    let cast = Cast::new(vec![Role::giving(); 2]);
    let tasks = vec![paint(0, &[]), paint(1, &[])];
    let leave = vec![Leave::Open, Leave::Given(3_600_000)];
    let watch = Watch::new(&cast, &tasks, vec![Effect::Reads, Effect::Writes], leave);
    let limits = Limits { run_timeout: Duration::from_secs(1), ..QUICK };
    let (engine, _receiver) = engine(&cast, limits);
    let finished = Arc::clone(&cast);
    let outcomes = run(tasks, engine.with_worker(watch.clone()).gate(watch), move |outcome| {
        finished.seen().finished.insert(outcome.id);
    })
    .await;
    assert!(outcomes.iter().all(Outcome::succeeded), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn leave_is_for_one_who_performs() {
    let cast = Cast::new(vec![Role::trying(&[Act::Fail(ErrorCode::CannotDo), Act::Give])]);
    let tasks = vec![paint(0, &[])];
    let watch = Watch::new(&cast, &tasks, vec![Effect::Writes], vec![Leave::Given(3_600_000)]);
    let (engine, _receiver) = engine(&cast, QUICK);
    let finished = Arc::clone(&cast);
    let outcomes = run(tasks, engine.with_worker(watch.clone()).gate(watch.clone()), move |outcome| {
        finished.seen().finished.insert(outcome.id);
    })
    .await;
    assert_eq!(*watch.complaints.lock().unwrap(), Vec::<String>::new());
    assert!(outcomes[0].succeeded(), "{outcomes:?}");
}
