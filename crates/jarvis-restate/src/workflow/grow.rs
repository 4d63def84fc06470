//! From the request to the answer: the plan, what it grows by, and what the planner asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use jarvis_plan::{Approval, EventKind};
use restate_sdk::context::{DurableFuture as _, RunFuture as _};
use restate_sdk::errors::HandlerResult;
use restate_sdk::serde::Json;

use super::{Scheduler, Stop, Waits, Woken, stop};
use crate::contract::{Decision, Planned, Question};
use crate::shared;
use crate::stages::{Begun, Concluded, Growth, Looked, Next, Progress};
use crate::told::with_plan;

impl Scheduler<'_> {
    /// Plans, performs, plans on, and answers.
    pub(super) async fn answered(&mut self) -> Result<Concluded, Stop> {
        let Begun { planned, ended } = match &self.input.plan {
            Some(planned) => planned.clone().into(),
            None => {
                let request = self.input.request.clone();
                let stages = Arc::clone(&self.host.stages);
                self.stage("plan", |cx| async move { stages.plan(&request, &cx).await }).await?
            }
        };
        self.plan = planned.after(&self.plan).map_err(Stop::Failed)?;
        let told = EventKind::Plan { plan: self.plan.clone() };
        if let Some(ended) = ended {
            self.log.write(with_plan(&told, &self.plan));
            return Ok(ended);
        }
        match &self.input.served {
            Some(served) if self.input.plan.is_some() => self.course.served(served.clone()),
            Some(_) | None => self.ask_served(&planned).await?,
        }
        self.log.write(with_plan(&told, &self.plan));
        if let Some(timeout) = self.input.limits.run_timeout() {
            let timer = self.ctx.sleep(timeout).map_ok(|()| Woken::TimeUp);
            self.wait(Waits::Time, Box::pin(timer));
            self.timed = true;
        }
        self.course.add(planned.tasks);
        self.perform().await?;
        loop {
            match self.look().await? {
                Next::Answer => break,
                Next::Grow(Growth { why, planned }) => {
                    let grown = planned.after(&self.plan).map_err(Stop::Failed)?;
                    self.ask_served(&planned).await?;
                    self.plan = grown;
                    self.round += 1;
                    let tasks = planned.tasks.iter().map(|planned| planned.task.clone()).collect();
                    let notes = planned.notes.iter().map(ToString::to_string).collect();
                    let told = EventKind::PlanGrew { round: self.round, why, tasks, notes };
                    self.log.write(with_plan(&told, &self.plan));
                    self.course.add(planned.tasks);
                    self.perform().await?;
                }
                Next::Ask(approval) => self.told = self.ask_person(approval).await?,
            }
        }
        let (stages, progress) = (Arc::clone(&self.host.stages), self.progress());
        self.stage("answer", |cx| async move { stages.answer(&progress, &cx).await }).await
    }

    fn progress(&self) -> Progress {
        Progress {
            request: self.input.request.clone(),
            plan: self.plan.clone(),
            outcomes: self.course.outcomes().cloned().collect(),
            round: self.round,
            memory: self.memory.clone(),
            told: self.told.clone(),
        }
    }

    async fn look(&mut self) -> Result<Next, Stop> {
        // A plan that was brought along is carried out as it is.
        if self.input.plan.is_some() || self.time_up || self.round >= self.input.limits.rounds {
            return Ok(Next::Answer);
        }
        let (stages, progress) = (Arc::clone(&self.host.stages), self.progress());
        let Looked { next, memory } = self.stage("look", |cx| async move { stages.look(&progress, &cx).await }).await?;
        (self.memory, self.told) = (memory, None);
        Ok(next)
    }

    /// Asks which of a plan's capabilities are served: a call of one that nobody serves would park the run beyond cancellation.
    async fn ask_served(&mut self, planned: &Planned) -> Result<(), Stop> {
        let wanted = planned.capabilities();
        if wanted.is_empty() {
            return Ok(());
        }
        let admin = &self.host.admin;
        let ask = async || -> HandlerResult<Json<Option<BTreeSet<String>>>> {
            Ok(Json(match admin.not_served(&wanted).await {
                Ok(missing) => Some(wanted.difference(&missing).cloned().collect()),
                Err(error) => {
                    tracing::warn!(%error, "what workers serve is unknown");
                    None
                }
            }))
        };
        self.log.flush();
        match self.ctx.run(ask).name("served").await {
            Ok(Json(served)) => served.into_iter().for_each(|served| self.course.served(served)),
            Err(error) => return Err(stop(&error)),
        }
        Ok(())
    }

    /// Asks a person what the planner wants to know; none when the run's time is up before somebody answers. All tasks have ended.
    async fn ask_person(&mut self, approval: Approval) -> Result<Option<Decision>, Stop> {
        let (id, tool) = (approval.task, approval.tool.clone());
        self.log.emit(&EventKind::ApprovalNeeded { approval });
        let asked = self.log.len().saturating_sub(1);
        self.ask(id, Question::Person, asked, Waits::Person);
        self.log.flush();
        let decision = loop {
            let Ok(Some((at, woken))) = self.pending.next().await else { return Err(Stop::Cancelled) };
            match (self.waits.get(at), woken) {
                (Some(Waits::Time), _) => {
                    (self.timed, self.time_up) = (false, true);
                    break None;
                }
                (Some(Waits::Person), Ok(Woken::Decided(decision))) => break Some(decision),
                (Some(Waits::Person), Err(error)) => return Err(stop(&error)),
                (Some(Waits::Call(_) | Waits::Question(_) | Waits::Person) | None, _) => {}
            }
        };
        self.ctx.clear(&shared::question_of(id));
        let answer = decision.as_ref().and_then(Decision::answer);
        self.log.emit(&EventKind::ApprovalGiven {
            id,
            tool,
            approved: answer.is_some(),
            answer,
            arguments: None,
            always: false,
            done: false,
        });
        Ok(decision)
    }
}
