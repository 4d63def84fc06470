//! Stage 1: the request to a plan, by the chat model or the offline planner, and what becomes of a plan with faults.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_ask::{AskError, Events};
use jarvis_catalogue::TaskType;
use jarvis_chat::ChatModel;
use jarvis_pipeline::{RunError, put_out};
use jarvis_plan::{
    Answer, Arg, Draft, Effect, EventKind, Level, Note, NoteKind, Plan, Request, Tool, Vocabulary, check, export,
};
use jarvis_planner::{NO_TOOL, PlannerError};
use jarvis_tools::local::{ATTACHED_FILES, TABLE_QUERY};
use serde_json::json;

use crate::experience::Known;
use crate::live::Live;
use crate::pipeline::{HuggingGpt, Planned};
use crate::plan::{Planning, missing, schema};
use crate::settings::Look;
use crate::stages::Stages;
use crate::tables::Begun;
use crate::template::{help, small_talk, undo};
use crate::{answer, attached, fold, tables, template};

impl HuggingGpt {
    /// Stage 1. A request for help is answered with what can be asked. Without a chat model, small talk and sums are answered at once
    /// unless a tool of the configuration serves them, and a request to undo with the file that there was before. With a chat model, an
    /// empty plan and a single task that the chat model itself serves end in conversation, unless the request brings a picture, a
    /// sound or a video that such a task does not take: then the offline planner plans.
    ///
    /// Of a plan whose faults the model did not mend, what depends on no fault runs, unless a tool that changes the world is
    /// among the tasks. Where nothing is left, or no reply was a plan, the offline planner plans; where that finds nothing
    /// either, a request with a picture, a sound or a video has an empty plan, and any other becomes conversation.
    ///
    /// With `live`, tasks start while the chat model still writes the plan.
    pub(crate) fn plan<'a>(
        &'a self,
        request: &'a Request,
        events: &'a Events,
        live: Option<&'a mut Live<'_>>,
    ) -> BoxFuture<'a, Result<Planned, RunError>> {
        async move {
            if help::is_asked(request) {
                let answer = Answer { text: help::answer(request, &self.offered()), ..Answer::default() };
                events.emit(EventKind::Plan { plan: Plan::default() });
                return Ok(Planned::Conversation(answer, Plan::default()));
            }
            let undone = jarvis_planner::undone(request).filter(|_| self.chat.is_none());
            let goes_back = matches!(undone, Some(jarvis_planner::Undone::To(..)));
            if self.chat.is_none()
                && !goes_back
                && let Some(text) = small_talk::answer(request)
                && !self.has_tool_for(request, events).await?
            {
                events.emit(EventKind::Plan { plan: Plan::default() });
                return Ok(Planned::Conversation(Answer { text, ..Answer::default() }, Plan::default()));
            }
            if let Some(undone) = undone {
                let before = undo::resource(&undone).into_iter().collect();
                let (answer, plan) = undo::answer(request, &undone, put_out(self.shelf.as_ref(), before, events).await);
                events.emit(EventKind::Plan { plan: plan.clone() });
                return Ok(Planned::Conversation(answer, plan));
            }
            let planned = match &self.chat {
                Some(chat) => self.plan_with(chat, request, events, live).await?,
                None => self.plan_or_converse(request, events).await?,
            };
            if let Planned::Tasks(plan) = &planned {
                events.emit(EventKind::Plan { plan: plan.clone() });
            }
            Ok(planned)
        }
        .boxed()
    }

    /// Whether the offline planner has a tool of the configuration for a request, such as a calculator for a sum.
    async fn has_tool_for(&self, request: &Request, events: &Events) -> Result<bool, RunError> {
        let is_own = |name: &str| jarvis_catalogue::find(name).is_none() && !self.is_native_tool(name);
        if !self.vocabulary.tools().iter().any(|tool| is_own(&tool.name)) {
            return Ok(false);
        }
        let plan = self.plan_offline(request, &*self.recall(request, events).await).await?;
        Ok(plan.tasks().iter().any(|task| task.faults.is_empty() && is_own(&task.task)))
    }

    /// Whether a tool needs no configuration.
    fn is_native_tool(&self, name: &str) -> bool {
        self.sources.native_tools.iter().any(|tool| tool.name == name)
    }

    /// The offline planner's draft. It knows of no native tool: questions about attached tables are asked of those, and one
    /// task for each attached file takes the place of copies.
    pub(crate) async fn draft_offline(
        &self,
        request: &Request,
        vocabulary: &Arc<Vocabulary>,
        known: &Known,
    ) -> Result<Draft, PlannerError> {
        let tools = self.cache.plannable(vocabulary, &self.sources);
        let mut draft = self.planner.plan_by(request, &tools, known.evidence()).await?;
        let tables = vocabulary.find(TABLE_QUERY).map(|_| tables::attached(request)).unwrap_or_default();
        if !tables.is_empty() {
            draft = match tables::begun(&draft, request, &tables) {
                Some(Begun::Question(question, order)) => {
                    tables::joined(question, &order, self.planner.plan_by(&order, &tools, known.evidence()).await?)
                }
                Some(Begun::Doubt(refusal)) => refusal,
                None => tables::asked(draft, request, &tables),
            };
        }
        if vocabulary.find(ATTACHED_FILES).is_some() {
            draft = fold::folded(draft, request);
        }
        Ok(attached::by_name(draft, request))
    }

    async fn plan_offline(&self, request: &Request, known: &Known) -> Result<Plan, RunError> {
        let drafted = self.draft_offline(request, &self.vocabulary, known).await;
        let draft = drafted.map_err(|error| RunError::Planner(error.to_string()))?;
        let mut plan = check(&draft, &self.vocabulary, self.settings.plan);
        for name in attached::unused(request, &plan) {
            plan.note(Note::left_out(format!("nothing is done with `{name}`")));
        }
        for name in attached::unknown(request, &plan) {
            plan.note(Note::left_out(match jarvis_planner::text_to_be(&request.text) {
                Some(file) if file == name => format!("nothing is written to `{name}`: texts come with the answer"),
                _ => format!("nothing is done with `{name}`, which is no file of this request"),
            }));
        }
        self.withhold(&mut plan);
        Ok(plan)
    }

    /// The offline planner's plan. Where it has no task, a small language model answers as conversation, if there is one: not about
    /// a picture, a sound or a video, which it cannot see, not in place of a refusal that has a reason, and not where a tool could
    /// have been asked to change something: what it says then must not sound done.
    async fn plan_or_converse(&self, request: &Request, events: &Events) -> Result<Planned, RunError> {
        let plan = self.plan_offline(request, &*self.recall(request, events).await).await?;
        // Any other note gives a reason for the refusal.
        let is_refused = plan.notes().iter().any(|note| note.text != NO_TOOL);
        let is_talk = plan.tasks().is_empty() && !is_refused && !brings_media(request);
        let reads = self.offered().iter().all(|tool| tool.effect == Effect::Reads);
        match self.conversation_model.as_ref().filter(|_| is_talk && reads) {
            Some(model) => {
                events.emit(EventKind::Plan { plan: Plan::default() });
                let answer = converse(&self.stages(Arc::clone(model), events), request).await?;
                Ok(Planned::Conversation(answer, Plan::default()))
            }
            None => Ok(Planned::Tasks(plan)),
        }
    }

    /// Keeps a plan that would change something from running in part.
    fn withhold(&self, plan: &mut Plan) {
        if self.changes_something(plan) {
            plan.withhold_beside_faults();
            plan.withhold_beside_left_out();
        }
    }

    async fn plan_with(
        &self,
        chat: &Arc<dyn ChatModel>,
        request: &Request,
        events: &Events,
        mut live: Option<&mut Live<'_>>,
    ) -> Result<Planned, RunError> {
        let stages = self.stages(Arc::clone(chat), events);
        let known = self.recall(request, events).await;
        let asked = self.plan_offline(request, &known).await.ok().filter(is_whole);
        let offered = self.offered();
        let demos = self.demonstrations(&known, request, &offered, events).await;
        let reused = self.reuse(&known, request, &offered, &self.vocabulary, asked.as_ref());
        let grows = self.settings.replan != Look::Never;
        let planning = Planning {
            stages: &stages,
            offered: &offered,
            schema: &|| self.cache.schema("plan", &offered, || schema::of(&offered, grows)),
            vocabulary: &self.vocabulary,
            request,
            exists: self.exists.as_ref(),
            tolerates: |_| false,
            demos: &demos,
            asked: asked.as_ref(),
        };
        let drafted = match reused {
            Some(reused) => Ok(reused.draft),
            None => planning.ask(live.as_deref_mut()).await,
        };
        let mut plan = match drafted {
            Ok(draft) => check(&draft, &self.vocabulary, self.settings.plan),
            Err(AskError::Unreadable { reply, reason, .. }) => {
                self.log_fail(request, events, json!({"task": reply, "reason": reason, "op": "chitchat"}));
                let reason = format!("the planner's reply is no plan ({reason})");
                if let Some(plan) = self.last_resort(request, &reason, events).await? {
                    return Ok(Planned::Tasks(plan));
                }
                // What runs already is no conversation.
                if live.is_some_and(|live| live.has_begun()) {
                    return Err(RunError::Unreadable { stage: "parse_task", reason });
                }
                let mut plan = Plan::default();
                // Whatever the model says now, it did nothing; what it could have been asked to change must not sound done.
                if offered.iter().any(|tool| tool.effect != Effect::Reads) {
                    plan.note(Note::left_out(format!("{reason}, so nothing was done")));
                }
                return self.without_tasks(&stages, request, plan, &reason, events).await;
            }
            Err(error) => {
                let error = RunError::from(error);
                if let RunError::Model { source, .. } = &error {
                    let fields = json!({"task": "", "reason": source.to_string(), "op": "report message"});
                    self.log_fail(request, events, fields);
                }
                return Err(error);
            }
        };
        if plan.tasks().is_empty() {
            self.log_fail(request, events, json!({"task": [], "reason": "the plan is empty", "op": "chitchat"}));
            if brings_media(request)
                && let Some(plan) = self.last_resort(request, "the planner made no tasks", events).await?
            {
                return Ok(Planned::Tasks(plan));
            }
            return self.without_tasks(&stages, request, plan, "the plan is empty", events).await;
        }
        let missing = missing(request, &plan, asked.as_ref());
        if let [first, ..] = missing.as_slice() {
            if let Some(plan) = self.last_resort(request, first, events).await?.filter(is_whole) {
                return Ok(Planned::Tasks(plan));
            }
            missing.into_iter().for_each(|what| plan.note(Note::left_out(what)));
        }
        self.withhold(&mut plan);
        if !plan.can_begin() {
            let reason = "no task of the planner's reply can run";
            let other = self.last_resort(request, reason, events).await?.filter(Plan::can_begin);
            return Ok(Planned::Tasks(other.unwrap_or(plan)));
        }
        if let [only] = plan.tasks()
            && jarvis_catalogue::find(&only.task).is_some_and(TaskType::is_chat_served)
            && !self.sources.is_served_by_tool(&only.task)
        {
            // Talk is no answer to what was to be done with a picture or a sound.
            let takes = |path: &str| only.args.values().filter_map(Arg::as_literal).any(|said| said == path);
            let media = request.attachments.iter().filter(|file| file.kind.is_media());
            if brings_media(request) && !media.map(|file| file.as_arg()).any(takes) {
                let reason = "the planner's only task takes none of the attached files";
                if let Some(plan) = self.last_resort(request, reason, events).await? {
                    return Ok(Planned::Tasks(plan));
                }
                return self.without_tasks(&stages, request, Plan::default(), reason, events).await;
            }
            events.emit(EventKind::Plan { plan: plan.clone() });
            let answer = converse(&stages, request).await?;
            self.log_success(
                request,
                events,
                json!({"task": export::tasks_json(&plan), "reason": "the chat model serves the only task",
                       "response": answer.text, "op": "chitchat"}),
            );
            return Ok(Planned::Conversation(answer, plan));
        }
        Ok(Planned::Tasks(plan))
    }

    /// The offline planner's plan of a request that the chat model could not plan, if it has tasks. They may all have faults:
    /// then it is known what is missing. Tools that change something are left to the model.
    async fn last_resort(&self, request: &Request, reason: &str, events: &Events) -> Result<Option<Plan>, RunError> {
        if !self.settings.last_resort {
            return Ok(None);
        }
        let mut plan = self.plan_offline(request, &*self.recall(request, events).await).await?;
        // What the model could not say clearly is no ground to change something on a second guess.
        if plan.tasks().is_empty() || self.changes_something(&plan) {
            return Ok(None);
        }
        let note = format!("{reason}; the offline planner planned instead");
        events.note(Level::Warning, note.clone());
        plan.note(note);
        Ok(Some(plan))
    }

    fn changes_something(&self, plan: &Plan) -> bool {
        // The gate knows also of the tools that serve a task of the catalogue, as the engine does.
        let changes = |tool: &Tool| tool.effect != Effect::Reads;
        plan.tasks().iter().any(|task| {
            self.gate.effect(task) != Effect::Reads || self.vocabulary.find(&task.task).is_some_and(changes)
        })
    }

    /// What becomes of a request that nobody made tasks of: conversation, unless it brought what conversation cannot see.
    async fn without_tasks(
        &self,
        stages: &Stages,
        request: &Request,
        plan: Plan,
        reason: &str,
        events: &Events,
    ) -> Result<Planned, RunError> {
        if brings_media(request) {
            events.note(Level::Warning, format!("{reason}; nothing is done with the attached files"));
            return Ok(Planned::Tasks(plan));
        }
        events.note(Level::Warning, format!("{reason}; answering as conversation"));
        events.emit(EventKind::Plan { plan: plan.clone() });
        let before = template::told_first(request, &plan, &[]);
        if self.settings.stream_answer && !before.is_empty() {
            events.emit(EventKind::Token { text: before.clone() });
        }
        let mut answer = converse(stages, request).await?;
        answer.text.insert_str(0, &before);
        Ok(Planned::Conversation(answer, plan))
    }
}

/// Whether the offline planner understood all of a request, and more than one step of it.
fn is_whole(plan: &Plan) -> bool {
    let left_out = plan.notes().iter().any(|note| note.kind == NoteKind::LeftOut);
    plan.tasks().len() > 1 && !left_out && plan.tasks().iter().all(|task| task.faults.is_empty())
}

fn brings_media(request: &Request) -> bool {
    request.attachments.iter().any(|attachment| attachment.kind.is_media())
}

/// Answers as conversation: the chat model gets the original messages.
async fn converse(stages: &Stages, request: &Request) -> Result<Answer, RunError> {
    Ok(Answer { text: answer::converse(stages, request).await?, ..Answer::default() })
}
