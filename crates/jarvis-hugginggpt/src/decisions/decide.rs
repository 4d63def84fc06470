//! The flow: plan, map, replace picture references, choose, write down. Nothing is executed.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use jarvis_ask::{AskError, Events};
use jarvis_chat::Message;
use jarvis_plan::{Draft, ErrorCode, EventKind, Fault, Kind, Level, Plan, Request, Task, TaskError, Vocabulary, check};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::{Decision, DecisionError, Decisions, Mapped, PromptLog, TaskChoice, describe, mapping};
use crate::choose::Chooser;
use crate::json::take;
use crate::plan::{Planning, prompt, schema};
use crate::settings::Look;
use crate::source::Tasks;
use crate::stages::Stages;

impl Decisions {
    /// Decides for a request: plans it and chooses a model for every task. Reported as events as a run is, with
    /// `plan`, `mapped`, `model_chosen` and `execution_config`, ended by `done` or `error`.
    ///
    /// # Errors
    /// When there is no plan. A task that nobody can perform is no error.
    pub async fn decide(
        &self,
        request: Arc<Request>,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Decision, DecisionError> {
        let input = request.text.clone();
        self.decide_for(&input, request, events, cancel).await
    }

    /// The same for a request whose text was rewritten on the way here, because files that it names were taken in:
    /// `input` is what was typed, and what the decision tells.
    pub async fn decide_for(
        &self,
        input: &str,
        request: Arc<Request>,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Decision, DecisionError> {
        let began = Instant::now();
        let work = self.decided(input, &request, events, began).instrument(tracing::debug_span!("plan"));
        self.report(&request, work, Decision::execution_config, events, &cancel, began).await
    }

    /// Waits for a decision within the deadline, unless it is cancelled, and reports its beginning and its end.
    pub(crate) async fn report<T>(
        &self,
        request: &Request,
        work: impl Future<Output = Result<T, DecisionError>> + Send,
        document: impl Fn(&T) -> Value,
        events: &Events,
        cancel: &CancellationToken,
        began: Instant,
    ) -> Result<T, DecisionError> {
        self.pipeline.report_start(request, events);
        let after = self.settings.timeout;
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(DecisionError::Cancelled),
            decided = tokio::time::timeout(after, work) => decided.unwrap_or(Err(DecisionError::Timeout { after })),
        };
        let ms = began.elapsed().as_millis() as u64;
        match &ended {
            Ok(decision) => {
                events.emit(EventKind::ExecutionConfig { value: take(document(decision), "execution_config") });
                events.emit(EventKind::Done { ok: true, cancelled: false, usage: events.usage(), ms });
            }
            Err(error) => {
                let (code, message) = (error.code().into(), error.to_string());
                events.emit(EventKind::Error { code, message, hint: error.hint(), ms });
            }
        }
        ended
    }

    /// What the chat model would be asked first, without asking it; `None` without a chat model.
    ///
    /// # Errors
    /// When there are no tasks to plan with, or the prompt cannot be made.
    pub async fn planning_prompt(&self, request: &Request) -> Result<Option<Vec<Message>>, DecisionError> {
        let Some(chat) = self.pipeline.chat.clone() else { return Ok(None) };
        let tasks = self.source.tasks().await.map_err(DecisionError::NoTasks)?;
        let stages = self.pipeline.stages(chat, &Events::unread());
        let events = Events::unread();
        let known = self.pipeline.recall(request, &events).await;
        let demos = self.pipeline.demonstrations(&known, request, &tasks.offered, &events).await;
        Ok(Some(prompt(&stages, &tasks.offered, request, &demos)?))
    }

    /// The stages, when there is a chat model, and the log of their prompts, when it is kept.
    pub(crate) fn stages(&self, events: &Events) -> (Option<Stages>, Option<PromptLog>) {
        let log = self.prompt_logs.as_ref().map(|root| PromptLog::new(root, &events.run_id().0));
        let chat = self.pipeline.chat.clone().map(|chat| match &log {
            Some(log) => log.wrap(chat),
            None => chat,
        });
        (chat.map(|chat| self.pipeline.stages(chat, events)), log)
    }

    fn decided<'a>(
        &'a self,
        input: &'a str,
        request: &'a Arc<Request>,
        events: &'a Events,
        began: Instant,
    ) -> BoxFuture<'a, Result<Decision, DecisionError>> {
        async move {
            if request.text.trim().is_empty() && request.attachments.is_empty() {
                return Err(DecisionError::EmptyRequest);
            }
            let (stages, log) = self.stages(events);
            let tasks = self.source.tasks().await.map_err(DecisionError::NoTasks)?;
            if tasks.vocabulary.tools().is_empty() {
                let error = TaskError::new(ErrorCode::NotConfigured, "its list is empty");
                return Err(DecisionError::NoTasks(error));
            }
            let draft = self.draft(stages.as_ref(), &tasks, request, events).await?;
            let mut plan = check(&draft, &tasks.vocabulary, self.pipeline.settings.plan);
            let mapped = self.map(stages.as_ref(), &mut plan, &tasks, request, events).await?;
            if self.settings.replace_generated_images.unwrap_or_else(|| self.source.replaces_images()) {
                original_pictures(&mut plan);
            }
            public_paths(&mut plan, &tasks.vocabulary);
            events.emit(EventKind::Plan { plan: plan.clone() });
            for Mapped { task, from, to } in &mapped {
                events.emit(EventKind::Mapped { task: *task, from: from.clone(), to: to.clone() });
            }
            let choices = self.choices(stages.clone(), &plan, request, events).await?;
            let mut decision = Decision {
                request: input.to_owned(),
                plan_id: events.run_id().0.clone(),
                warnings: warnings(&plan, &choices),
                plan,
                choices,
                mapped,
                description: None,
                usage: events.usage(),
                ms: 0,
                saved: None,
                unsaved: None,
                prompt_logs: None,
            };
            if self.settings.describe {
                decision.description = Some(describe::describe(stages.as_ref(), &decision).await?);
            }
            // The chat model would answer a plan of its own single task by itself.
            if !decision.plan.tasks().is_empty() && !decision.is_single_chat_task() {
                match self.save(&decision.plan_id, decision.message(), events).await {
                    Ok(saved) => decision.saved = saved,
                    Err(reason) => decision.unsaved = Some(reason),
                }
            }
            decision.prompt_logs = PromptLog::finish(log).await;
            decision.usage = events.usage();
            decision.ms = began.elapsed().as_millis() as u64;
            Ok(decision)
        }
        .boxed()
    }

    async fn draft(
        &self,
        stages: Option<&Stages>,
        tasks: &Tasks,
        request: &Request,
        events: &Events,
    ) -> Result<Draft, DecisionError> {
        let known = self.pipeline.recall(request, events).await;
        let Some(stages) = stages else {
            let drafted = self.pipeline.draft_offline(request, &tasks.vocabulary, &known).await;
            return drafted.map_err(|error| DecisionError::Planner(error.to_string()));
        };
        let tolerates: fn(&Fault) -> bool = match self.settings.semantic_mapping {
            true => |fault| matches!(fault, Fault::UnknownTask { .. }),
            false => |_| false,
        };
        let (offered, vocabulary) = (&tasks.offered, &tasks.vocabulary);
        let grows = self.pipeline.settings.replan != Look::Never;
        if let Some(reused) = self.pipeline.reuse(&known, request, offered, vocabulary, None) {
            return Ok(reused.draft);
        }
        let demos = self.pipeline.demonstrations(&known, request, offered, events).await;
        let schema = || Arc::new(schema::of(offered, grows));
        match (Planning {
            stages,
            offered,
            schema: &schema,
            vocabulary,
            request,
            exists: &|_| true,
            tolerates,
            demos: &demos,
            asked: None,
        })
        .ask(None)
        .await
        {
            Ok(draft) => Ok(draft),
            // JSON that is no list of tasks says that there are none; anything else says nothing.
            Err(AskError::Unreadable { reply, .. }) if serde_json::from_str::<Value>(reply.trim()).is_ok() => {
                events.note(Level::Warning, "the planner's reply is no list of tasks; the plan is empty");
                Ok(Draft { raw: reply, ..Draft::default() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives tasks that nothing knows the name of one that is known, where it is clear which.
    async fn map(
        &self,
        stages: Option<&Stages>,
        plan: &mut Plan,
        tasks: &Tasks,
        request: &Request,
        events: &Events,
    ) -> Result<Vec<Mapped>, DecisionError> {
        if !self.settings.semantic_mapping || !plan.tasks().iter().any(jarvis_plan::Task::is_unknown) {
            return Ok(Vec::new());
        }
        let mapped = mapping::map(&self.settings, stages, plan, tasks, request, events).await?;
        if !mapped.is_empty() {
            let mut draft = Draft::from(&*plan);
            for (task, drafted) in plan.tasks().iter().zip(&mut draft.tasks) {
                if let Some(mapped) = mapped.iter().find(|mapped| mapped.task == task.id) {
                    drafted.task.clone_from(&mapped.to);
                }
            }
            draft.notes = plan.notes().to_vec();
            // The ids are dense already, so they stay.
            *plan = check(&draft, &tasks.vocabulary, self.pipeline.settings.plan);
        }
        Ok(mapped)
    }

    /// One choice for each task, several at once, in ascending id.
    async fn choices(
        &self,
        stages: Option<Stages>,
        plan: &Plan,
        request: &Arc<Request>,
        events: &Events,
    ) -> Result<Vec<TaskChoice>, DecisionError> {
        let chooser = Chooser {
            stages,
            source: Arc::clone(&self.source),
            request: Arc::clone(request),
            explain_single: self.settings.explain_single,
        };
        let mut tasks: Vec<&Task> = plan.tasks().iter().collect();
        tasks.sort_by_key(|task| task.id);
        // Collected first, so that the future of a decision can be sent between threads.
        let chosen: Vec<_> = tasks.into_iter().map(|task| choice(&chooser, task, events)).collect();
        Ok(futures::stream::iter(chosen).buffered(self.settings.concurrency.max(1)).collect().await)
    }

    /// Saves a plan where plans are saved, and says where. What cannot be saved is reported, and is no error of a decision.
    pub(crate) async fn save(&self, id: &str, document: String, events: &Events) -> Result<Option<String>, String> {
        let Some(store) = self.plans.clone() else { return Ok(None) };
        let id = id.to_owned();
        let reason = match tokio::task::spawn_blocking(move || store.save(&id, &document)).await {
            Ok(Ok(saved)) => return Ok(Some(saved)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a plan could not be saved");
                error.without_path()
            }
            Err(error) => error.to_string(),
        };
        let reason = format!("the plan could not be saved: {reason}");
        events.note(Level::Warning, reason.clone());
        Err(reason)
    }
}

/// The choice for one task, reported as it is made.
async fn choice(chooser: &Chooser, task: &Task, events: &Events) -> TaskChoice {
    let made = match task.faults.first() {
        Some(Fault::UnknownTask { .. }) => {
            Err(TaskError::new(ErrorCode::UnsupportedTask, format!("no task type `{}` is known", task.task)))
        }
        Some(fault) => Err(TaskError::new(ErrorCode::BadPlan, fault.to_string())),
        None => chooser.choose(task, &|_| {}).await,
    };
    match made {
        Ok(chosen) => {
            events.emit(EventKind::ModelChosen { selection: chosen.selection.clone(), weights: None });
            TaskChoice { task: task.id, available: chosen.among, result: Ok(chosen.selection) }
        }
        Err(error) => {
            events.note(Level::Warning, format!("task {}: {error}", task.id.number()));
            TaskChoice { task: task.id, available: 0, result: Err(error) }
        }
    }
}

/// Lets every `image` argument that refers to another task take the original picture: that of the first task which
/// names one. Dependencies stay. Without such a picture the references stay too.
fn original_pictures(plan: &mut Plan) {
    let pictures = plan.tasks().iter().filter_map(|task| task.literal("image"));
    let Some(original) = pictures.map(Cow::into_owned).find(|image| !image.trim().is_empty()) else { return };
    plan.set_values(|_, name, arg| {
        (name == "image" && arg.references().next().is_some()).then(|| original.clone().into())
    });
}

/// Writes the paths of pictures and sounds as the public folder's: `public/park.jpg` for `park.jpg`. Addresses,
/// absolute paths and `data:` URLs stay.
fn public_paths(plan: &mut Plan, vocabulary: &Vocabulary) {
    plan.set_values(|task, name, arg| {
        let kind = vocabulary.find(task).map_or_else(|| name.parse().unwrap_or(Kind::Text), |tool| tool.arg_kind(name));
        if !matches!(kind, Kind::Image | Kind::Audio) {
            return None;
        }
        let path = arg.as_literal()?;
        let path = path.trim();
        let lower = path.to_ascii_lowercase();
        let whole = ["http://", "https://", "data:", "public/", "/"].iter().any(|start| lower.starts_with(start));
        (!path.is_empty() && !whole).then(|| format!("public/{path}").into())
    });
}

/// What a reader of the plan should know, the same for the same decision.
fn warnings(plan: &Plan, choices: &[TaskChoice]) -> Vec<String> {
    let chosen = choices.iter().filter_map(|choice| choice.result.as_ref().ok());
    let of_choices = chosen.flat_map(|selection| {
        selection.notes.iter().map(move |note| format!("task {}: {note}", selection.task.number()))
    });
    plan.notes().iter().map(|note| note.text.clone()).chain(of_choices).collect()
}
