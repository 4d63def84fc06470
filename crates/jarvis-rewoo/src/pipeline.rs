//! The three roles in turn: planner, workers, solver.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_ask::{Ask, AskError, TemplateError, Trim, conversation_levels};
use jarvis_chat::{ChatReply, Message};
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError, resources, unchanged};
use jarvis_plan::{Answer, EventKind, Level, Limits, Request, Role, Source, Turn};
use serde_json::{Value, json};
use tracing::Instrument as _;

use crate::blueprint::{self, Blueprint};
use crate::evidence::{ByEvidence, WithModel};
use crate::{Offer, Prompt, Prompts, solve};

pub const NAME: &str = "rewoo";

/// How often the planner is asked for a plan without faults.
const ATTEMPTS: u32 = 2;

/// The least time the solver gets, however late it is.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// Characters of an attached text that the planner sees.
const PREVIEW: usize = 1_000;

/// The pipeline. Cheap to clone; holds nothing of any one run.
#[derive(Debug, Clone)]
pub struct Rewoo {
    prompts: Arc<Prompts>,
}

impl Rewoo {
    /// The pipeline with its built-in prompts.
    ///
    /// # Errors
    /// When a prompt does not parse; a test rules this out.
    pub fn new() -> Result<Rewoo, TemplateError> {
        Ok(Rewoo { prompts: Arc::new(Prompts::builtin()?) })
    }

    async fn carry_out(&self, request: &Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        let began = cx.events.began();
        let ask = cx.model(NAME)?;
        let allowed = cx.limits.engine.run_timeout;
        let offer = Offer::of(&cx.tools, request);
        let planning = self.plan(ask, &offer, request, cx.limits.plan).instrument(tracing::debug_span!("plan"));
        let planned = async { Ok(planning.await?) };
        let mut blueprint = cx.within(allowed, planned).await?;
        if blueprint.plan.tasks().iter().any(|task| cx.engine.changes(task)) {
            blueprint.plan.withhold_beside_faults();
        }
        for fault in &blueprint.faults {
            cx.events.note(Level::Warning, format!("the plan has a fault: {fault}"));
        }
        cx.events.emit(EventKind::Plan { plan: blueprint.plan.clone() });
        let worker =
            WithModel { ask: ask.clone(), prompts: Arc::clone(&self.prompts), tools: Arc::clone(cx.engine.worker()) };
        let limits = jarvis_engine::Limits { run_timeout: allowed.saturating_sub(began.elapsed()), ..cx.limits.engine };
        let engine = cx.engine.clone().with_worker(Arc::new(worker)).resolver(Arc::new(ByEvidence));
        let engine = engine.request(Arc::clone(request)).limits(limits);
        let executed = engine.run(&blueprint.plan).instrument(tracing::debug_span!("execute"));
        let outcomes = executed.await.into_outcomes();
        let not_done = unchanged(&blueprint.plan, &outcomes, |task| engine.changes(task));
        let left = allowed.saturating_sub(began.elapsed()).max(ANSWER_TIME.min(allowed));
        let solving = solve::write(ask, &self.prompts, request, &blueprint, &outcomes);
        let solving = solving.instrument(tracing::debug_span!("answer"));
        let solved = async { Ok(solving.await) };
        let text = match cx.within(left, solved).await {
            Ok(Ok(text)) => text,
            Ok(Err(error)) if error.is_replay_miss() => return Err(error.into()),
            // What was found out is not lost with the solver.
            Ok(Err(error)) => self.unsolved(cx, &blueprint, &outcomes, &error),
            Err(error) => self.unsolved(cx, &blueprint, &outcomes, &error),
        };
        let undone: String = not_done.iter().map(|what| format!("Not done: {what}\n\n")).collect();
        let answer = Answer { text: undone + &text, resources: resources(request, &outcomes), ..Answer::default() };
        let cancelled = cx.cancel.is_cancelled();
        Ok(Run { plan: blueprint.plan, outcomes, answer, not_done, cancelled, ..Run::default() })
    }

    /// Asks for a plan, and once more with its faults. A second plan is carried out with the faults it has.
    async fn plan(&self, ask: &Ask, offer: &Offer, request: &Request, limits: Limits) -> Result<Blueprint, AskError> {
        let (files, tools) = (files(request), offer.shown());
        let prompt = |left_out: &Trim| {
            let question = with_history(request, *left_out);
            self.prompts.turns(Prompt::Plan, &json!({"question": question, "files": files, "tools": tools}))
        };
        let question = ask.stage("rewoo_plan").fitted(&conversation_levels(request.history.len(), 0), prompt)?;
        let again = |messages: &mut Vec<Message>, refused: jarvis_ask::Refused<'_>| {
            messages.push(Message::text(Role::Assistant, refused.reply.text.clone()));
            messages.extend(self.prompts.messages(Prompt::Again, &json!({"error": refused.reason}))?);
            Ok(())
        };
        let mut attempts = question.asking(ATTEMPTS).noted_as("the plan").again(again).attempts();
        loop {
            let reply: ChatReply = attempts.next().await?;
            match blueprint::read(&reply.text, offer, limits) {
                Ok(sound) if sound.faults.is_empty() => return Ok(sound),
                Ok(faulty) => match attempts.refuse(&reply, &faulty.faults.join("; ")) {
                    Ok(()) => {}
                    Err(AskError::Unreadable { .. }) => return Ok(faulty),
                    Err(error) => return Err(error),
                },
                Err(reason) => attempts.refuse(&reply, &reason)?,
            }
        }
    }

    fn unsolved(
        &self,
        cx: &RunContext,
        blueprint: &Blueprint,
        outcomes: &[jarvis_plan::Outcome],
        why: &dyn std::error::Error,
    ) -> String {
        cx.events.note(Level::Warning, format!("the model could not write the answer ({why})"));
        solve::unsolved(blueprint, outcomes)
    }
}

#[async_trait]
impl Pipeline for Rewoo {
    fn name(&self) -> &str {
        NAME
    }

    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        cx.report(self.name(), &request, self.carry_out(&request, cx)).await
    }
}

/// The request's text, followed by the turns before it that are not left out.
fn with_history(request: &Request, left_out: Trim) -> String {
    let said = |turn: &Turn| {
        let who = match turn.role {
            Role::System => "Instructions",
            Role::User => "Person",
            Role::Assistant => "Assistant",
        };
        format!("\n{who}: {}", turn.content)
    };
    match left_out.kept(&request.history) {
        [] => request.text.clone(),
        turns => format!("{}\n\nSaid before:{}", request.text, turns.iter().map(said).collect::<String>()),
    }
}

/// The request as the solver reads it, with its files and the turns before it that are not left out.
pub(crate) fn described(request: &Request, left_out: Trim) -> String {
    let files = files(request).into_iter().map(|file| {
        let text = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("\nFile {}: {}", text("name"), text("about"))
    });
    std::iter::once(with_history(request, left_out)).chain(files).collect()
}

fn files(request: &Request) -> Vec<Value> {
    let file = |file: &jarvis_plan::Resource| match &file.source {
        Source::Inline(text) => {
            let preview: String = text.chars().take(PREVIEW).collect();
            let name = file.name.as_deref().unwrap_or("text");
            json!({"name": name, "about": format!("a text of {} characters that begins: {preview}", text.chars().count())})
        }
        Source::Public(path) | Source::Url(path) => json!({"name": path, "about": file.kind.as_str()}),
    };
    request.attachments.iter().map(file).collect()
}
