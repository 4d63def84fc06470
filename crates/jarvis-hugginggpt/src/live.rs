//! Stage 1 as it is written: a task starts when its object closes, while the model still writes the next.
//!
//! What starts early is what the whole plan will have: a task that is sound, behind sound tasks, read from the reply so far by
//! the reader of whole replies. The whole plan is the truth all the same. Where it has another task in the place of one that
//! ran, that one cannot be unmade: it is told, and its result is not used.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_plan::{EventKind, Level, Outcome, Plan, Request, Task};
use jarvis_prompt::plan::Written;
use tokio_util::sync::CancellationToken;

use crate::course::Course;
use crate::pipeline::HuggingGpt;

/// A plan that is being written, and those of its tasks that run already.
pub(crate) struct Live<'a> {
    pipeline: &'a HuggingGpt,
    request: &'a Arc<Request>,
    events: &'a Events,
    cancel: &'a CancellationToken,
    began: std::time::Instant,
    /// The span of the run.
    run: tracing::Span,
    written: Written,
    /// Whether tasks of this reply may start: until one has a fault, or is another than the one that runs.
    follows: bool,
    /// Objects of the list that brought no new task.
    idle: usize,
    course: Option<Course>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(
        pipeline: &'a HuggingGpt,
        request: &'a Arc<Request>,
        events: &'a Events,
        cancel: &'a CancellationToken,
        began: std::time::Instant,
    ) -> Live<'a> {
        let (run, written) = (tracing::Span::current(), Written::default());
        Live { pipeline, request, events, cancel, began, run, written, follows: true, idle: 0, course: None }
    }

    /// Whether any task was started.
    pub(crate) fn has_begun(&self) -> bool {
        self.course.is_some()
    }

    /// Another reply begins.
    pub(crate) fn begin(&mut self) {
        self.written = Written::default();
        (self.follows, self.idle) = (true, 0);
    }

    /// Takes in a piece of the reply; `read` makes the plan of a list that is whole.
    pub(crate) fn piece(&mut self, piece: &str, read: impl FnOnce(&str) -> Option<Plan>) {
        if !self.follows {
            return;
        }
        let Some(list) = self.written.push(piece) else { return };
        match read(&list).filter(|plan| self.may_start(plan)) {
            Some(plan) => self.start(plan),
            None => self.follows = false,
        }
    }

    /// Whether the whole plan will begin with these tasks, as far as that can be told.
    fn may_start(&self, plan: &Plan) -> bool {
        let in_place = |(task, at): (&Task, usize)| {
            task.id.index() == at && task.faults.is_empty() && task.unfolded_from.is_none()
        };
        plan.tasks().iter().zip(0..).all(in_place)
    }

    fn start(&mut self, plan: Plan) {
        // A chat model's only task is conversation, and whether it is the only one is not known yet.
        let is_talk =
            |task: &Task| jarvis_catalogue::find(&task.task).is_some_and(jarvis_catalogue::TaskType::is_chat_served);
        if matches!(plan.tasks(), [only] if is_talk(only)) || plan.tasks().is_empty() {
            return;
        }
        let course = self.course.get_or_insert_with(|| {
            let selector = Arc::new(self.pipeline.chooser(self.request, self.events));
            let engine = self.pipeline.engine(self.request, selector, self.events, self.began);
            Course::unwritten(engine, self.cancel, &self.run)
        });
        let running = course.plan().tasks().len();
        let (known, new) = plan.tasks().split_at(running.min(plan.tasks().len()));
        if !course.plan().tasks().starts_with(known) {
            self.follows = false;
            return;
        }
        if new.is_empty() {
            // Another reply repeats what runs, or one says the same again and again.
            self.idle += 1;
            self.follows = self.idle <= running;
            return;
        }
        let is_full = plan.tasks().len() >= self.pipeline.settings.plan.max_tasks;
        // Whoever follows hears of tasks before they start.
        let (why, tasks) = ("written".to_owned(), new.to_vec());
        self.events.emit(EventKind::PlanGrew { round: 0, why, tasks, notes: Vec::new() });
        self.follows = course.extend(plan, false).is_ok() && !is_full;
    }

    /// Goes on with the whole plan, or starts it where none of it runs yet. What ran and is no part of it is told.
    pub(crate) async fn whole(mut self, plan: Plan) -> Course {
        let Some(mut course) = self.course.take() else { return self.anew(plan, Vec::new()) };
        if course.extend(plan.clone(), true).is_ok() {
            return course;
        }
        let (before, outcomes) = course.give_up().await;
        let mut kept = Vec::new();
        for outcome in outcomes {
            let same = before.task(outcome.id).filter(|task| plan.task(outcome.id) == Some(*task));
            match same.filter(|_| outcome.succeeded()) {
                Some(task) if task.dep.iter().all(|dep| kept.iter().any(|kept: &Outcome| kept.id == *dep)) => {
                    kept.push(outcome);
                }
                _ => self.tell_unused(&outcome),
            }
        }
        // Their ends were told before the plan stood.
        for outcome in &kept {
            self.events.emit(EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
        }
        self.anew(plan, kept)
    }

    /// Ends what runs, and returns what was done: the plan was not written to its end.
    pub(crate) async fn give_up(self) -> (Plan, Vec<Outcome>) {
        match self.course {
            Some(course) => course.give_up().await,
            None => (Plan::default(), Vec::new()),
        }
    }

    /// Ends what runs: there will be no plan.
    pub(crate) async fn give_up_unused(mut self) {
        let Some(course) = self.course.take() else { return };
        let (_, outcomes) = course.give_up().await;
        outcomes.iter().for_each(|outcome| self.tell_unused(outcome));
    }

    fn tell_unused(&self, outcome: &Outcome) {
        if outcome.attempts.is_empty() {
            return;
        }
        let (number, task) = (outcome.id.number(), &outcome.task);
        let message = format!(
            "task {number} (`{task}`) began while the plan was being written, and the plan then said otherwise; its result is \
             not used"
        );
        self.events.note(Level::Warning, message);
    }

    fn anew(&self, plan: Plan, ended: Vec<Outcome>) -> Course {
        let selector = Arc::new(self.pipeline.chooser(self.request, self.events));
        let engine = self.pipeline.engine(self.request, selector, self.events, self.began);
        Course::start(engine, self.cancel, plan, ended)
    }
}
