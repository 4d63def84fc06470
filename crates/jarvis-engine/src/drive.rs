//! Runs a graph on tokio: one loop that owns all state and sleeps until something happens; nothing polls.
//!
//! Selectors and workers run as tokio tasks of their own, so one that panics, hangs or blocks takes nothing with it.

mod clock;
mod guess;
mod intake;
mod keep;
mod node;
mod repeats;
mod slots;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use indexmap::IndexMap;
use jarvis_plan::{Candidate, Effect, ErrorCode, EventKind, Outcome, Selection, Status, Task, TaskError, TaskId};
use rustc_hash::FxHashMap;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id as SlotId, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::clock::{after, later, seconds};
use self::keep::Keeping;
use self::node::{Choice, Node, call, candidates, held_back, repeated, tries_left};
use self::repeats::Made;
use self::slots::{Busy, Done, Ended, Slot};
use crate::engine::{Batch, itself};
use crate::resolve::planned_fault;
use crate::schedule::Schedule;
use crate::{Again, Engine, Limits};

/// Runs the tasks that arrive, until their sender is dropped and every task has finished.
///
/// All batches come from one plan: ids are unique, and what a task waits for is in the plan. Tasks that ended before are
/// part of it and are left alone. Where the sender is dropped before what was planned is whole, those of its tasks that change
/// something end as cancelled.
pub(crate) fn drive<'a>(
    mut batches: UnboundedReceiver<Batch>,
    engine: Engine,
    ended: Vec<Outcome>,
    finished: Finished<'a>,
) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send + 'a>> {
    Box::pin(async move {
        let cancel = engine.cancel.clone();
        let mut cancelled = pin!(cancel.cancelled());
        let mut driver = Driver::new(engine, ended, finished);
        let mut timer = pin!(sleep_until(driver.run_deadline));
        let (guessed, mut guesses) = unbounded_channel();
        driver.guessed = Some(guessed).filter(|_| driver.engine.speculates);
        let mut open = true;
        loop {
            driver.advance();
            if driver.schedule.is_done() {
                break;
            }
            // A timer that fires too early costs one more look; setting it anew for each task would cost more.
            let earliest = driver.earliest_deadline();
            if earliest < timer.deadline() || timer.is_elapsed() {
                timer.as_mut().reset(earliest);
            }
            tokio::select! {
                biased;
                () = &mut cancelled => {
                    driver.take_rest(&mut batches);
                    driver.end(Status::Cancelled, ErrorCode::Cancelled, "the run was cancelled");
                    break;
                }
                () = &mut timer => {
                    // What ended in time but was not yet heard of has not failed.
                    driver.hear();
                    let now = Instant::now();
                    if now >= driver.run_deadline() {
                        let message = format!("the run did not end within {}", seconds(driver.limits.run_timeout));
                        driver.take_rest(&mut batches);
                        driver.end(Status::Failed, ErrorCode::Timeout, &message);
                        break;
                    }
                    driver.expire(now);
                }
                batch = batches.recv(), if open => match batch {
                    Some(batch) => driver.add(batch),
                    None => {
                        open = false;
                        driver.give_up_held();
                        driver.schedule.close();
                    }
                },
                Some((id, candidate)) = guesses.recv(), if driver.guessed.is_some() => driver.guess(id, candidate),
                kept = driver.keeping.wait(), if driver.keeping.is_open() => if let Err(why) = kept {
                    driver.take_rest(&mut batches);
                    driver.end(Status::Failed, ErrorCode::Internal, &why.to_string());
                    break;
                } else {
                    driver.kept();
                },
                Some(joined) = driver.work.join_next_with_id(), if !driver.work.is_empty() => {
                    driver.joined(joined);
                    driver.hear();
                    if !driver.work.is_empty() {
                        let_others().await;
                        driver.hear();
                    }
                }
            }
        }
        driver.outcomes.into_values().collect()
    })
}

/// Lets the work that is ready run first, so that what it gives is heard of together: waking the driver for each piece costs
/// more than most of them. [`tokio::task::yield_now`] would tie the driver to this thread, which the next work may block.
async fn let_others() {
    let mut waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Sees each outcome as it comes.
pub(crate) type Finished<'a> = Box<dyn FnMut(&Outcome) + Send + 'a>;

struct Driver<'a> {
    engine: Engine,
    limits: Limits,
    finished: Finished<'a>,
    /// Parent of the tokens that workers watch; fires when the run ends, however it does.
    stop: CancellationToken,
    _stop: DropGuard,
    schedule: Schedule,
    nodes: FxHashMap<TaskId, Node>,
    /// What is planned together and not whole yet.
    unwritten: Vec<Task>,
    /// Tasks of it that wait for the rest because they change something.
    held: Vec<Task>,
    outcomes: BTreeMap<TaskId, Outcome>,
    /// Calls that failed and may have changed something all the same, see [`call`].
    unsure: HashSet<String>,
    /// Calls that were made, where none is made twice.
    made: Made,
    /// Whether outcomes are kept before anything follows from them.
    keeps: bool,
    /// Whether some of it was done before.
    goes_on: bool,
    /// Outcomes that are not known to be kept yet.
    keeping: Keeping,
    /// Where choices say who will probably be chosen, if the engine starts on that.
    guessed: Option<UnboundedSender<(TaskId, Candidate)>>,
    to_select: VecDeque<TaskId>,
    to_perform: VecDeque<TaskId>,
    selecting: usize,
    performing: usize,
    work: JoinSet<Done>,
    slots: FxHashMap<SlotId, Slot>,
    run_deadline: Instant,
    /// Time of the run that did not count when this began.
    excused_before: Duration,
    /// How many tasks wait for leave, and since when the first of them does.
    waiting: usize,
    held_since: Instant,
    /// Deadlines of tasks; an entry counts only while its task still has that deadline.
    deadlines: BinaryHeap<Reverse<(Instant, TaskId)>>,
}

impl<'a> Driver<'a> {
    fn new(engine: Engine, ended: Vec<Outcome>, finished: Finished<'a>) -> Driver<'a> {
        let stop = engine.cancel.child_token();
        let limits = Limits { concurrency: engine.limits.concurrency.max(1), ..engine.limits };
        Driver {
            limits,
            finished,
            _stop: stop.clone().drop_guard(),
            stop,
            schedule: Schedule::new(),
            nodes: FxHashMap::default(),
            unwritten: Vec::new(),
            held: Vec::new(),
            outcomes: ended.into_iter().map(|outcome| (outcome.id, outcome)).collect(),
            unsure: HashSet::new(),
            made: Made::default(),
            keeps: engine.events.is_kept(),
            goes_on: engine.events.goes_on(),
            keeping: Keeping::default(),
            guessed: None,
            to_select: VecDeque::new(),
            to_perform: VecDeque::new(),
            selecting: 0,
            performing: 0,
            work: JoinSet::new(),
            slots: FxHashMap::default(),
            run_deadline: after(limits.run_timeout),
            excused_before: engine.events.excused(),
            waiting: 0,
            held_since: Instant::now(),
            deadlines: BinaryHeap::new(),
            engine,
        }
    }

    /// Moves everything that can move without waiting.
    fn advance(&mut self) {
        loop {
            let ready = self.schedule.ready();
            if ready.is_empty() && !self.start_next() {
                return;
            }
            for id in ready {
                self.on_ready(id);
            }
        }
    }

    /// Starts the choices and tasks that there is room for; true when one ended at once, so that others may be ready.
    fn start_next(&mut self) -> bool {
        while self.selecting < self.limits.concurrency
            && let Some(id) = self.to_select.pop_front()
        {
            self.start_select(id);
        }
        while self.performing < self.limits.concurrency
            && let Some(id) = self.to_perform.pop_front()
        {
            if let Some(spent) = self.engine.events.spent() {
                self.conclude(id, Status::Failed, Err(TaskError::new(ErrorCode::Budget, spent.to_string())));
                return true;
            }
            self.start_perform(id);
        }
        false
    }

    fn on_ready(&mut self, id: TaskId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let resolved = match planned_fault(&node.task).or_else(|| held_back(node, &self.outcomes)) {
            Some(fault) => Err(fault),
            None => self.engine.resolver.resolve(&node.task, &self.outcomes),
        };
        let resolved = resolved.and_then(|resolved| match node.effect != Effect::Reads {
            true if self.unsure.contains(&call(&node.task.task, &resolved.args)) => Err(repeated(&node.task)),
            true | false => Ok(resolved),
        });
        match resolved {
            Ok(resolved) => {
                let before = self.made.before(&node.task.task, &resolved.args);
                let node = self.nodes.get_mut(&id).expect("it was there above");
                node.resolved = Some(resolved);
                match before.and_then(|before| self.outcomes.get(&before)).cloned() {
                    Some(before) => self.end_as(id, &before),
                    None => self.pair(id),
                }
            }
            Err(unresolved) => self.conclude(id, unresolved.status, Err(unresolved.error)),
        }
    }

    /// Lets a task go on once its inputs and its choice are both there.
    fn pair(&mut self, id: TaskId) {
        let Some(node) = self.nodes.get_mut(&id).filter(|node| node.resolved.is_some()) else { return };
        match &node.choice {
            Choice::Pending => self.start_guess(id),
            Choice::Failed(error) => {
                let error = error.clone();
                self.conclude(id, Status::Failed, Err(error));
            }
            Choice::Made(selection) => {
                node.candidates = candidates(selection, self.limits.max_fallbacks);
                self.to_perform.push_back(id);
            }
            Choice::Unneeded => {
                node.candidates = VecDeque::from([itself(&node.task)]);
                self.to_perform.push_back(id);
            }
        }
    }

    fn start_select(&mut self, id: TaskId) {
        let Some(selector) = self.engine.selector.clone() else { return };
        let Some(node) = self.nodes.get_mut(&id).filter(|node| !node.done) else { return };
        let now = Instant::now();
        let deadline = later(now, self.limits.task_timeout);
        node.deadline = Some(deadline);
        self.deadlines.push(Reverse((deadline, id)));
        let (task, events) = (Arc::clone(&node.task), self.engine.events.clone());
        self.selecting += 1;
        let guessed = self.guessed.clone();
        let work = async move {
            let guess = |candidate: Candidate| {
                // The driver may have ended.
                let _ = guessed.as_ref().map(|guessed| guessed.send((id, candidate)));
            };
            Done::Selected(selector.select(&task, &events, &guess).await)
        };
        self.spawn(id, Busy::Choosing, now, None, work);
    }

    fn start_perform(&mut self, id: TaskId) {
        let now = Instant::now();
        let Some(node) = self.nodes.get_mut(&id).filter(|node| !node.done) else { return };
        let (Some(candidate), Some(resolved)) = (node.candidates.pop_front(), &mut node.resolved) else { return };
        let args = std::mem::take(&mut resolved.args);
        let job = self.engine.job(&node.task, args, candidate, self.stop.child_token());
        let given = Arc::clone(&job);
        // What became of it is asked in the place of leave.
        if std::mem::take(&mut node.unknown) {
            node.candidates.push_front(job.candidate.clone());
            (node.deadline, node.until) = (None, None);
            let gate = Arc::clone(&self.engine.gate);
            self.hold(now);
            let work = async move { Done::AdmittedAgain(gate.admit_again(&given).await) };
            self.spawn(id, Busy::Waiting, now, Some(job), work);
            return;
        }
        if !node.admitted {
            node.candidates.push_front(job.candidate.clone());
            // However long the answer takes, the call has its whole time.
            (node.deadline, node.until) = (None, None);
            let gate = Arc::clone(&self.engine.gate);
            self.hold(now);
            let work = async move { Done::Admitted(gate.admit(&given).await) };
            self.spawn(id, Busy::Waiting, now, Some(job), work);
            return;
        }
        let until = *node.until.get_or_insert_with(|| later(now, self.limits.task_timeout));
        // A candidate that hangs leaves time for those after it.
        let tries = if node.effect == Effect::Reads { tries_left(&node.candidates) } else { 1 };
        let deadline = now + until.saturating_duration_since(now) / tries;
        node.deadline = Some(deadline);
        self.deadlines.push(Reverse((deadline, id)));
        if node.started.is_none() {
            node.started = Some(now);
            let (task, model) = (node.task.task.clone(), job.candidate.id.clone());
            self.engine.events.emit(EventKind::TaskStarted { id, task, model });
        }
        self.perform(id, Busy::Performing, now, job);
    }

    pub(super) fn selected(&mut self, id: TaskId, chosen: Result<Selection, TaskError>) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        node.deadline = None;
        node.choice = match chosen {
            Ok(selection) => {
                self.engine.events.emit(EventKind::ModelChosen { selection: selection.clone(), weights: None });
                Choice::Made(selection)
            }
            Err(error) => Choice::Failed(error),
        };
        if !self.take_guess(id) {
            self.pair(id);
        }
    }

    /// Goes on with a task that the gate has looked at.
    pub(super) fn admitted(&mut self, id: TaskId, admitted: Result<IndexMap<String, Value>, TaskError>) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        match admitted {
            Ok(args) => {
                node.admitted = true;
                if let Some(resolved) = &mut node.resolved {
                    resolved.args = args;
                }
                self.to_perform.push_front(id);
            }
            Err(error) => self.conclude(id, Status::Failed, Err(error)),
        }
    }

    /// Goes on with a task that may have been performed before, as the gate decided.
    pub(super) fn admitted_again(
        &mut self,
        id: TaskId,
        candidate: Candidate,
        since: Instant,
        decided: Result<Again, TaskError>,
    ) {
        match decided {
            Ok(Again::Make(args)) => self.admitted(id, Ok(args)),
            Ok(Again::Made(output)) => {
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.attempt(candidate, since, None);
                }
                self.conclude(id, Status::Succeeded, Ok(output));
            }
            Err(error) => self.conclude(id, Status::Failed, Err(error)),
        }
    }

    pub(super) fn performed(
        &mut self,
        id: TaskId,
        candidate: Candidate,
        since: Instant,
        result: Result<Value, TaskError>,
    ) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        match result {
            Ok(output) => {
                node.attempt(candidate, since, None);
                self.conclude(id, Status::Succeeded, Ok(output));
            }
            Err(error) => {
                let attempt = node.attempt(candidate, since, Some(error.clone())).clone();
                let harmless = node.effect == Effect::Reads || error.code.is_before_any_call();
                let again = harmless && error.code.next_candidate_may_help() && !node.candidates.is_empty();
                self.engine.events.emit(EventKind::TaskAttempt { id, attempt });
                if again {
                    self.try_next(id);
                } else {
                    let arrived = error.code.may_have_arrived();
                    let error = if arrived { self.perhaps_done(id, error) } else { error };
                    self.conclude(id, Status::Failed, Err(error));
                }
            }
        }
    }

    /// Lets a task whose try failed go on with its next candidate.
    fn try_next(&mut self, id: TaskId) {
        if let Some(node) = self.nodes.get_mut(&id) {
            // Leave is given to one who performs it, not to the next.
            node.admitted = node.effect == Effect::Reads;
            node.deadline = node.until;
            self.deadlines.extend(node.until.map(|until| Reverse((until, id))));
            // It had its turn already: it does not queue behind tasks that have not begun.
            self.to_perform.push_front(id);
        }
    }

    /// Ends every task that has not finished.
    fn end(&mut self, status: Status, code: ErrorCode, message: &str) {
        self.schedule.close();
        for id in self.schedule.unfinished() {
            let error = TaskError::new(code, message);
            let slot = self.abort(id);
            let error = self.cut(id, slot.as_ref(), error);
            self.conclude(id, status, Err(error));
        }
        self.tell_unkept();
    }

    fn conclude(&mut self, id: TaskId, status: Status, result: Result<Value, TaskError>) {
        // A choice that is still being made is of no use any more.
        self.abort(id);
        self.drop_guess(id);
        let Some(node) = self.nodes.get_mut(&id).filter(|node| !node.done) else { return };
        if !self.engine.repeats
            && let (Some(resolved), true) = (&node.resolved, node.started.is_some())
        {
            self.made.note(&node.task.task, &resolved.args, id, node.effect);
        }
        let outcome = node.conclude(status, result);
        self.engine.events.emit(EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
        if self.keeps {
            self.outcomes.insert(id, outcome);
            return self.keep(id);
        }
        (self.finished)(&outcome);
        self.outcomes.insert(id, outcome);
        self.schedule.finish(id);
    }
}

#[cfg(test)]
mod tests;
