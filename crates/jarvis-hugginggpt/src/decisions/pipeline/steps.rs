//! The steps of the pipeline form: asking for a plan, mending it, and choosing models; each call is made here.

use futures::stream::{self, StreamExt as _};
use jarvis_ask::AskError;
use jarvis_catalogue::Host;
use jarvis_plan::{
    Candidate, ErrorCode, EventKind, Level, Limits, Plan, Selection, TaskError, TaskId, Tool, Vocabulary,
};
use serde_json::json;

use super::repair::{Known, repair};
use super::{NONE, Pipeline, PipelineTask, read};
use crate::choose::{Choice, no_choice, read_choice};
use crate::decisions::examples::{Example, Scenario};
use crate::decisions::mapping::{self, Names, names_of};
use crate::decisions::{DecisionError, DecisionSettings};
use crate::fit::{INPUT_SHOWN, cut};
use crate::prompts::{ModelsShown, PipelineChoice, PipelinePlan};
use crate::source::{ModelSource, Records, ServiceModel, ServiceTask};
use crate::stages::Stages;
use crate::untrusted::folded;

const PARSE: &str = "parse_task";
const CHOOSE: &str = "choose_model";
/// What the one call for all is called in prompt logs, as in the original.
const UNIFIED: &str = "unified_parse_task_and_choose_models_paper2";

/// The most tokens of a plan, and of a plan with models: as in the original.
const PLAN_TOKENS: usize = 8_192;
const UNIFIED_TOKENS: usize = 16_384;

/// Characters of a task's description that a planner sees, from the first try to the last.
const TASK_DESCRIPTIONS: [usize; 3] = [400, 120, 0];
/// Models of a task and characters of their descriptions that the one call for all shows, from the first try to the last.
const MODELS_SHOWN: [(usize, usize); 5] = [(50, 200), (10, 100), (5, 60), (3, 0), (1, 0)];

const NO_MODEL_NEEDED: &str = "no model is needed here";
const NO_MODEL: &str = "no model is available for this task";

/// A plan before models are chosen, and what was odd about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Planned {
    pub(crate) pipeline: Pipeline,
    pub(crate) mapped: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
}

pub(crate) struct Steps<'a> {
    pub(crate) stages: &'a Stages,
    pub(crate) source: &'a dyn ModelSource,
    pub(crate) settings: &'a DecisionSettings,
    pub(crate) records: &'a [ServiceTask],
    pub(crate) scenario: &'a Scenario,
}

impl Steps<'_> {
    /// The plan, read, mapped and repaired; asked for once more when it cannot be read.
    pub(crate) async fn plan(&self, examples: &[Example], reasons: bool) -> Result<Planned, DecisionError> {
        let read = self.ask(&self.planning(examples, reasons), None, PLAN_TOKENS).await?;
        self.mended(read).await
    }

    /// What a planning prompt holds before it is shortened.
    fn planning<'b>(&'b self, examples: &'b [Example], reasons: bool) -> PipelinePlan<'b> {
        let (scenario, tasks) = (self.scenario, self.records);
        PipelinePlan { scenario, tasks, task_description: TASK_DESCRIPTIONS[0], examples, reasons, models: None }
    }

    /// The same within the time that a decision may take.
    pub(crate) async fn plan_in_time(&self, examples: &[Example], reasons: bool) -> Result<Planned, DecisionError> {
        let after = self.settings.timeout;
        let planned = tokio::time::timeout(after, Box::pin(self.plan(examples, reasons))).await;
        planned.unwrap_or(Err(DecisionError::Timeout { after }))
    }

    /// The plan and the models in one call.
    pub(crate) async fn unified(&self, examples: &[Example]) -> Result<Planned, DecisionError> {
        let served = self
            .records
            .iter()
            .filter(|task| !is_end(&task.id))
            .map(|task| async { (task.id.clone(), self.source.models_of(&task.id).await) });
        let served: Vec<_> = served.collect();
        let served: Vec<(String, Result<Vec<ServiceModel>, TaskError>)> =
            stream::iter(served).buffered(self.concurrency()).collect().await;
        let mut notes = Vec::new();
        let mut models: Vec<(String, Vec<ServiceModel>)> = Vec::with_capacity(served.len());
        for (task, found) in served {
            match found {
                Ok(mut found) => {
                    found.truncate(self.settings.max_models);
                    models.push((task, found));
                }
                // One note is enough when the source is down.
                Err(error) if notes.is_empty() => notes.push(format!("no models of `{task}`: {error}")),
                Err(_) => {}
            }
        }
        let shown = ModelsShown { by_task: &models, most: MODELS_SHOWN[0].0, description: MODELS_SHOWN[0].1 };
        let ask = PipelinePlan { models: Some(shown), ..self.planning(examples, true) };
        let read = self.ask(&ask, Some(UNIFIED), UNIFIED_TOKENS).await?;
        let mut planned = self.mended(read).await?;
        self.report_plan(&planned);
        planned.notes.splice(0..0, notes);
        let mut at = 0;
        for task in planned.pipeline.tasks.iter_mut() {
            if task.is_terminal_node() {
                without_model(task, NO_MODEL_NEEDED);
                continue;
            }
            let id = TaskId(at);
            at += 1;
            let known = models.iter().find(|(name, _)| *name == task.id).map(|(_, models)| models.as_slice());
            planned.notes.extend(checked(task, known.unwrap_or_default()));
            self.chosen(id, task, known.unwrap_or_default());
        }
        Ok(planned)
    }

    /// Chooses a model for every task, several at once. Returns what was odd.
    pub(crate) async fn choose(&self, pipeline: &mut Pipeline) -> Result<Vec<String>, DecisionError> {
        let tasks: Vec<(usize, PipelineTask)> =
            pipeline.tasks.iter().filter(|task| !task.is_terminal_node()).cloned().enumerate().collect();
        let choices: Vec<_> = tasks
            .iter()
            .map(|(at, task)| self.choose_one(TaskId(u32::try_from(*at).unwrap_or(u32::MAX)), task))
            .collect();
        let mut choices = stream::iter(choices).buffered(self.concurrency());
        let mut notes = Vec::new();
        for task in &mut pipeline.tasks {
            if task.is_terminal_node() {
                without_model(task, NO_MODEL_NEEDED);
                continue;
            }
            let Some(choice) = choices.next().await else { break };
            let (model, reason, note) = choice?;
            task.model_id = model;
            task.model_chosen_reason = reason;
            notes.extend(note);
        }
        Ok(notes)
    }

    /// The model of one task, why it, and what was odd.
    async fn choose_one(
        &self,
        id: TaskId,
        task: &PipelineTask,
    ) -> Result<(String, String, Option<String>), DecisionError> {
        let none = |reason: String, note: Option<String>| Ok((NONE.to_owned(), reason, note));
        let mut models = match self.source.models_of(&task.id).await {
            Ok(models) => models,
            Err(error) => return none(error.to_string(), Some(format!("no models of `{}`: {error}", task.id))),
        };
        models.truncate(self.settings.max_models);
        let Some(first) = models.first() else {
            return none(NO_MODEL.to_owned(), Some(format!("no model is available for `{}`", task.id)));
        };
        let mut chosen = PipelineTask { model_id: first.id.clone(), ..task.clone() };
        let mut odd = None;
        if models.len() > 1 || self.settings.explain_single {
            match self.ask_choice(id, task, &models).await? {
                Ok(choice) => {
                    chosen.model_id = choice.id;
                    chosen.model_chosen_reason = choice.reason.unwrap_or_default();
                    odd = choice.note.map(|note| format!("`{}`: {note}", task.id));
                }
                Err(why) => {
                    chosen.model_chosen_reason = format!("the first model was taken: {why}");
                    odd = Some(format!("`{}`: {why}; the first model was taken", task.id));
                }
            }
        } else {
            chosen.model_chosen_reason = "Only one model available.".to_owned();
        }
        self.chosen(id, &chosen, &models);
        Ok((chosen.model_id, chosen.model_chosen_reason, odd))
    }

    /// Asks for a choice; the inner error says why there is none.
    async fn ask_choice(
        &self,
        id: TaskId,
        task: &PipelineTask,
        models: &[ServiceModel],
    ) -> Result<Result<Choice, String>, DecisionError> {
        let Stages { ask, prompts, .. } = self.stages;
        let planned = task.planned();
        let info = self.records.iter().find(|record| record.id == task.id).cloned();
        let info = info.unwrap_or_else(|| ServiceTask::named(&task.id));
        // The scenario is cut first, then the descriptions; the models stay.
        let levels: Vec<(usize, usize)> =
            INPUT_SHOWN.map(|shown| (shown, 400)).into_iter().chain([(1_000, 120), (1_000, 0)]).collect();
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        let asked = async {
            let question = ask.stage(CHOOSE).task(i64::from(id.0)).fitted(&levels, |(input, description)| {
                let sample_description = cut(&self.scenario.sample_description, *input);
                let scenario = Scenario { sample_description, ..self.scenario.clone() };
                let description = *description;
                prompts.pipeline_choice(&PipelineChoice {
                    scenario: &scenario,
                    task: &planned,
                    info: &info,
                    models,
                    description,
                })
            })?;
            question.read(|reply| read_choice(&reply.text, &ids).ok_or("its reply names none of the models")).await
        };
        match asked.await {
            Ok(choice) => Ok(Ok(choice)),
            Err(error) if error.is_replay_miss() => Err(error.into()),
            Err(error) => Ok(Err(no_choice(&error, "models"))),
        }
    }

    /// Asks for a plan, and once more when the reply cannot be read. `name` is what prompt logs call it. The prompt is
    /// shortened until there is room for the reply; what is least needed goes first: the examples, the last first, then the
    /// models beyond the first ones, then descriptions.
    async fn ask(
        &self,
        plan: &PipelinePlan<'_>,
        name: Option<&'static str>,
        max_tokens: usize,
    ) -> Result<read::Tasks, AskError> {
        let Stages { ask, prompts, settings } = self.stages;
        let mut levels: Vec<(usize, usize, usize)> =
            (0..=plan.examples.len()).rev().map(|shots| (shots, 0, 0)).collect();
        if plan.models.is_some() {
            levels.extend((1..MODELS_SHOWN.len()).map(|models| (0, models, 0)));
        }
        let models = if plan.models.is_some() { MODELS_SHOWN.len() - 1 } else { 0 };
        levels.extend((1..TASK_DESCRIPTIONS.len()).map(|description| (0, models, description)));
        // A pipeline is long to write: a third of a small context is kept for it.
        let reserve = settings.reserve_tokens.max(PLAN_TOKENS.min(ask.model().context_tokens(PARSE) / 3));
        let question = ask.stage(PARSE).named(name).reserve(reserve);
        let question = question.fitted(&levels, |(shots, models, description)| {
            let shown = plan.models.zip(MODELS_SHOWN.get(*models).copied());
            prompts.pipeline_plan(&PipelinePlan {
                examples: plan.examples.get(..*shots).expect("a level counts the examples"),
                task_description: *TASK_DESCRIPTIONS.get(*description).expect("a level of the table"),
                models: shown.map(|(models, (most, description))| ModelsShown { most, description, ..models }),
                ..*plan
            })
        })?;
        let level = question.level();
        if level > 0 {
            let note = format!("the planning prompt was shortened ({level} steps) to fit the model");
            ask.events().note(Level::Info, note);
        }
        let question = question.tokens_left(max_tokens).asking(if settings.reask { 2 } else { 1 });
        let question = question.wanted("a JSON array of tasks").noted_as("the planner's reply");
        question.read(|reply| read::reply(&reply.text)).await
    }

    /// Gives unknown task types a known one where it is clear which, and makes the links consistent.
    async fn mended(&self, read: read::Tasks) -> Result<Planned, DecisionError> {
        let read::Tasks { mut tasks, mut notes } = read;
        let known: Vec<mapping::Known> = self
            .records
            .iter()
            .filter(|record| !is_end(&record.id))
            .map(|record| mapping::Known {
                id: record.id.clone(),
                aliases: Some(record.name.clone()).filter(|name| !name.is_empty()).into_iter().collect(),
            })
            .collect();
        // What the tasks will be numbered is not known before they are mapped and joined.
        let unknown: Vec<(Option<TaskId>, String)> = tasks
            .iter()
            .filter(|task| !is_end(&task.id) && !self.records.iter().any(|record| record.id == task.id))
            .map(|task| (None, task.id.clone()))
            .collect();
        let input = &self.scenario.sample_description;
        let Names { found, unmapped } = names_of(self.settings, Some(self.stages), &unknown, &known, input).await?;
        notes.extend(unmapped);
        let mut mapped: Vec<(String, String)> = Vec::new();
        for (_, from) in unknown {
            if let Some(to) = found.get(&from).filter(|_| !mapped.iter().any(|(known, _)| *known == from)) {
                mapped.push((from, to.clone()));
            }
        }
        rename(&mut tasks, &mapped);
        let max_tasks = self.stages.settings.plan.max_tasks;
        let (pipeline, repairs) = repair(tasks, Known { tasks: self.records, max_tasks });
        notes.extend(repairs);
        Ok(Planned { pipeline, mapped, notes })
    }

    /// Reports the plan as the events that every front end knows.
    pub(crate) fn report_plan(&self, planned: &Planned) {
        let vocabulary =
            Vocabulary::new(planned.pipeline.tasks.iter().map(|task| Tool::typed(&task.id, "", &[], &[])).collect());
        let limits = Limits { max_tasks: planned.pipeline.tasks.len() };
        let mut plan = Plan::default();
        let mut draft = read::to_draft(&planned.pipeline.tasks);
        draft.notes = planned.notes.iter().map(|note| note.as_str().into()).collect();
        plan.grow(&draft, &vocabulary, limits);
        let places: Vec<(TaskId, String)> = plan.tasks().iter().map(|task| (task.id, task.task.clone())).collect();
        self.stages.ask.events().emit(EventKind::Plan { plan });
        for (from, to) in &planned.mapped {
            if let Some((task, _)) = places.iter().find(|(_, name)| name == to) {
                self.stages.ask.events().emit(EventKind::Mapped { task: *task, from: from.clone(), to: to.clone() });
            }
        }
    }

    fn chosen(&self, id: TaskId, task: &PipelineTask, models: &[ServiceModel]) {
        if task.model_id == NONE {
            return;
        }
        let candidate = |id: &str| Candidate {
            id: id.to_owned(),
            host: models.iter().find(|model| model.id == id).and_then(|model| model.host).unwrap_or(Host::Api).into(),
            effective_task: task.id.clone(),
        };
        let others = models.iter().filter(|model| model.id != task.model_id);
        let selection = Selection {
            task: id,
            chosen: candidate(&task.model_id),
            fallbacks: others.map(|model| candidate(&model.id)).collect(),
            reason: task.model_chosen_reason.clone(),
            notes: Vec::new(),
        };
        self.stages.ask.events().emit(EventKind::ModelChosen { selection, weights: None });
    }

    fn concurrency(&self) -> usize {
        self.settings.concurrency.max(1)
    }
}

/// Checks the model that the one call for all gave a task; says what was odd.
fn checked(task: &mut PipelineTask, models: &[ServiceModel]) -> Option<String> {
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    if ids.contains(&task.model_id.as_str()) {
        return None;
    }
    let Some(first) = ids.first() else {
        let invented = (task.model_id != NONE).then(|| task.model_id.clone());
        without_model(task, NO_MODEL);
        return Some(match invented {
            Some(id) => format!("`{}`: the model `{id}` is not among those offered, and there is none", task.id),
            None => format!("no model is available for `{}`", task.id),
        });
    };
    let given = std::mem::take(&mut task.model_id);
    match read_choice(&json!({"id": given, "reason": ""}).to_string(), &ids) {
        Some(choice) if given != NONE => {
            task.model_id = choice.id;
            choice.note.map(|note| format!("`{}`: {note}", task.id))
        }
        _ => {
            task.model_id = (*first).to_owned();
            task.model_chosen_reason = "the first model was taken: the reply names none of the models".to_owned();
            Some(format!("`{}`: `{given}` is none of its models; the first model was taken", task.id))
        }
    }
}

fn without_model(task: &mut PipelineTask, reason: &str) {
    task.model_id = NONE.to_owned();
    task.model_chosen_reason = reason.to_owned();
}

fn rename(tasks: &mut [PipelineTask], mapped: &[(String, String)]) {
    let renamed = |id: &mut String| {
        if let Some((_, to)) = mapped.iter().find(|(from, _)| folded(from) == folded(id)) {
            id.clone_from(to);
        }
    };
    for task in tasks {
        renamed(&mut task.id);
        task.upstreams.iter_mut().chain(&mut task.downstreams).for_each(renamed);
        let reasons = std::mem::take(&mut task.sample_reasoning);
        task.sample_reasoning = reasons
            .into_iter()
            .map(|(mut id, why)| {
                renamed(&mut id);
                (id, why)
            })
            .collect();
    }
}

/// True for the two ends of a pipeline, however they are written.
fn is_end(id: &str) -> bool {
    let id = folded(id);
    id == super::SOURCE || id == super::END || id == "end"
}

/// The task types of the source, with the two ends of a pipeline.
pub(crate) async fn records(source: &dyn ModelSource) -> Result<Records, DecisionError> {
    let mut records = source.records().await.map_err(DecisionError::NoTasks)?;
    if records.tasks.is_empty() {
        let error = TaskError::new(ErrorCode::NotConfigured, "its list is empty");
        return Err(DecisionError::NoTasks(error));
    }
    let lacks = |id: &str| !records.tasks.iter().any(|task| task.id == id);
    let (no_source, no_end) = (lacks(super::SOURCE), lacks(super::END));
    if no_source {
        let outputs = vec!["image".to_owned()];
        records.tasks.insert(0, ServiceTask { outputs, ..ServiceTask::named(super::SOURCE) });
    }
    if no_end {
        records.tasks.push(ServiceTask::named(super::END));
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
