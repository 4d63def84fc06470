//! A run as Restate tells it, told here.

use jarvis_engine::Events;
use jarvis_hugginggpt::{HuggingGpt, template_answer};
use jarvis_pipeline::approval::Approver;
use jarvis_pipeline::{Run, RunError, not_done, resources};
use jarvis_plan::{Answer, ErrorCode, EventKind, Outcome, Request, Status, TaskError, TaskId};
use jarvis_restate::{RunEnd, Verdict, take_plan};
use jarvis_server::Waiting;
use serde_json::Value;

/// Why a run is cancelled from here.
pub(super) enum Ends {
    Cancelled,
    TimeUp,
    Spent,
}

/// How it ended there.
pub(super) enum End {
    /// With an answer, which is still to be read.
    Done,
    Answered(Box<RunEnd>),
    Cancelled,
    Failed(TaskError),
    /// Without a word.
    Killed,
}

/// What an event means for what is asked here.
pub(super) enum Meant {
    /// This is asked, in the event of this number.
    Asked(Box<Waiting>),
    /// What was asked about this task is asked no more.
    Settled(TaskId),
    /// Nothing.
    Nothing,
}

/// What was told of a run so far.
pub(super) struct Told<'a> {
    pub(super) pipeline: &'a HuggingGpt,
    pub(super) events: &'a Events,
    /// How many events a process before told.
    pub(super) skip: u64,
    seen: u64,
    run: Run,
    answer: Option<Answer>,
    pub(super) end: Option<End>,
    /// Whether it is being cancelled.
    pub(super) is_ending: bool,
}

impl<'a> Told<'a> {
    /// Nothing so far. A process before told so many events.
    pub(super) fn new(pipeline: &'a HuggingGpt, events: &'a Events, skip: u64) -> Told<'a> {
        let (run, seen) = (Run::default(), 0);
        Told { pipeline, events, skip, seen, run, answer: None, end: None, is_ending: false }
    }

    /// Tells an event here.
    pub(super) fn take(&mut self, mut event: Value, approver: &dyn Approver) -> Meant {
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = name.as_str();
        // What has a result is told once; of anything else the record knows that it was told.
        let is_result = matches!(
            name,
            "model_call" | "model_chosen" | "task_started" | "task_attempt" | "task_finished" | "approval_given"
        );
        let mut meant = Meant::Nothing;
        let kind = match name {
            // The run began here, and its answer is told with its end.
            "run_started" => return Meant::Nothing,
            "answer" => {
                self.answer = event.get("answer").and_then(|answer| serde_json::from_value(answer.clone()).ok());
                return Meant::Nothing;
            }
            "done" => {
                let is_cancelled = event.get("cancelled").is_some_and(|cancelled| cancelled == true);
                self.end = Some(if is_cancelled { End::Cancelled } else { End::Done });
                return Meant::Nothing;
            }
            "error" => {
                let code = event.get("code").cloned().unwrap_or_default();
                let code = serde_json::from_value(code).unwrap_or(ErrorCode::Internal);
                let message = event.get("message").and_then(Value::as_str).unwrap_or_default();
                self.end = Some(End::Failed(TaskError::new(code, message)));
                return Meant::Nothing;
            }
            "plan" => {
                if !self.take_plan(&mut event) {
                    return Meant::Nothing;
                }
                Some(EventKind::Plan { plan: self.run.plan.clone() })
            }
            "plan_grew" => {
                let before = self.run.plan.tasks().len();
                if !self.take_plan(&mut event) {
                    return Meant::Nothing;
                }
                self.run.rounds += 1;
                let (round, why) = (self.run.rounds, event.get("why").and_then(Value::as_str).unwrap_or("more"));
                let tasks = self.run.plan.tasks().get(before..).unwrap_or_default().to_vec();
                let notes = event.get("notes").and_then(Value::as_array).into_iter().flatten();
                let notes = notes.filter_map(Value::as_str).map(str::to_owned).collect();
                Some(EventKind::PlanGrew { round, why: why.to_owned(), tasks, notes })
            }
            _ => match serde_json::from_value::<EventKind>(event.clone()) {
                Ok(mut kind) => {
                    match &mut kind {
                        EventKind::TaskFinished { outcome } => {
                            meant = Meant::Settled(outcome.id);
                            self.run.outcomes.push((**outcome).clone());
                        }
                        EventKind::ApprovalNeeded { approval } => {
                            approval.place = approver.place(self.events.run_id(), approval.task);
                            let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
                            meant = Meant::Asked(Box::new(Waiting { seq, asked: approval.clone() }));
                        }
                        EventKind::ApprovalGiven { id, .. } => meant = Meant::Settled(*id),
                        _ => {}
                    }
                    Some(kind)
                }
                Err(error) => {
                    tracing::warn!(%error, name, "an event of a run of Restate cannot be read");
                    None
                }
            },
        };
        let was_told = self.seen < self.skip;
        // The record counts neither, see `Past::shown`.
        self.seen += u64::from(kind.is_some() && !matches!(name, "note" | "token"));
        if let Some(kind) = kind.filter(|_| !(was_told && is_result)) {
            self.events.emit(kind);
        }
        meant
    }

    /// Goes on with the plan that an event tells. One that cannot be read ends the run: what follows from it is unknown.
    fn take_plan(&mut self, event: &mut Value) -> bool {
        match take_plan(event) {
            Ok(plan) => {
                self.run.plan = plan;
                true
            }
            Err(error) => {
                let message = format!("what Restate told of the plan cannot be read: {error}");
                self.end = Some(End::Failed(TaskError::new(ErrorCode::BadReply, message)));
                false
            }
        }
    }

    /// The run as it ended.
    pub(super) fn ended(self, request: &Request, ends: Option<Ends>) -> Result<Run, RunError> {
        let Told { mut run, pipeline, events, answer, .. } = self;
        run.outcomes.sort_by_key(|outcome| outcome.id);
        let why = match &ends {
            Some(Ends::Spent) => events.spent().map(|spent| TaskError::new(ErrorCode::Budget, spent.to_string())),
            Some(Ends::TimeUp) => Some(TaskError::new(ErrorCode::Timeout, "the run did not end in time")),
            Some(Ends::Cancelled) | None => None,
        };
        // Restate knows only that they were cancelled from here.
        for outcome in run.outcomes.iter_mut().filter(|outcome| outcome.status == Status::Cancelled) {
            if let Some(why) = &why {
                (outcome.status, outcome.error) = (Status::Failed, Some(why.clone()));
            }
        }
        let made = resources(request, &run.outcomes);
        let cut_short = |run: &Run| template_answer(request, &run.plan, &run.outcomes, &made);
        run.not_done = not_done(&run.plan, &run.outcomes);
        match self.end {
            Some(End::Answered(end)) => {
                let RunEnd { answer, verdict, .. } = *end;
                let Verdict { not_done, question, conversation, made_up_for, notes, .. } = verdict;
                notes.into_iter().for_each(|note| run.plan.note(note));
                run = Run { answer: answer.unwrap_or_default(), not_done, question, conversation, ..run };
                for outcome in run.outcomes.iter_mut().filter(|outcome| made_up_for.contains(&outcome.id)) {
                    outcome.made_up_for = true;
                }
            }
            Some(End::Failed(error)) => return Err(RunError::Elsewhere(error)),
            // It told its answer, and its end is gone.
            Some(End::Done | End::Killed) if answer.is_some() => run.answer = answer.unwrap_or_default(),
            Some(End::Killed) if ends.is_none() => {
                let error = TaskError::new(ErrorCode::Cancelled, "the run was killed at Restate");
                return Err(RunError::Elsewhere(error.hint("whoever runs Restate knows why; ask again")));
            }
            Some(End::Done | End::Cancelled | End::Killed) | None => match ends {
                Some(Ends::TimeUp) if !run.outcomes.iter().any(Outcome::succeeded) => {
                    return Err(RunError::timeout(pipeline.settings.engine.run_timeout));
                }
                Some(Ends::Spent | Ends::TimeUp) => run.answer = cut_short(&run),
                Some(Ends::Cancelled) | None => {
                    run.answer = cut_short(&run);
                    run.cancelled = true;
                }
            },
        }
        Ok(run)
    }
}
