//! The workers' side: how a step is carried out, and what its variable stands for afterwards.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_ask::Ask;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Outcomes, Resolved, Resolver, Unresolved, Worker, fill, finished, part, unavailable};
use jarvis_plan::{ErrorCode, FieldPath, Kind, Outcome, Task, TaskError, TaskId};
use jarvis_prompt::reader::without_reasoning;
use serde_json::{Value, json};

use crate::offer::INPUT;
use crate::{LLM, Prompt, Prompts};

/// Asks the model for steps of [`LLM`], and leaves the others to the tools' worker.
pub(crate) struct WithModel {
    pub(crate) ask: Ask,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) tools: Arc<dyn Worker>,
}

#[async_trait]
impl Worker for WithModel {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        if job.name() != LLM {
            return self.tools.perform(job).await;
        }
        let input = job.arg(INPUT).ok_or_else(|| TaskError::new(ErrorCode::InvalidInput, "the step has no input"))?;
        let context = json!({"input": input});
        let question = self.ask.stage("rewoo_llm").task(i64::from(job.task.id.0));
        let reply = match question.fitted(&[()], |()| self.prompts.turns(Prompt::Llm, &context)) {
            Ok(question) => question.call().await,
            Err(error) => Err(error),
        };
        let reply = reply.map_err(|error| {
            let error = jarvis_chat::ChatError::from(error);
            TaskError::new(error.code(), error.to_string())
        })?;
        Ok(TaskOutput::text(without_reasoning(&reply.text).trim()).into())
    }
}

/// A variable stands for the evidence in words, or for a file where the argument takes one.
pub(crate) struct ByEvidence;

impl Resolver for ByEvidence {
    fn resolve(&self, task: &Task, outcomes: &dyn Outcomes) -> Result<Resolved, Unresolved> {
        let mut evidence = |name: &str, of: TaskId, path: &FieldPath| {
            let outcome = finished(name, of, outcomes)?;
            let output = TaskOutput::of(outcome).filter(|_| outcome.succeeded());
            let Some(output) = output else { return Err(unavailable(name, outcome)) };
            if !path.is_empty() {
                return part(name, outcome, &output.data().unwrap_or(output.0), path);
            }
            let file = name.parse::<Kind>().ok().and_then(|kind| output.media(kind));
            Ok(file.map_or_else(|| in_words(&output), str::to_owned).into())
        };
        let args = task.args.iter().map(|(name, arg)| Ok((name.clone(), fill(name, arg, &mut evidence)?)));
        Ok(Resolved { args: args.collect::<Result<_, Unresolved>>()?, notes: Vec::new() })
    }
}

pub(crate) fn words_of(outcome: &Outcome) -> Option<String> {
    TaskOutput::of(outcome).filter(|_| outcome.succeeded()).map(|output| in_words(&output))
}

fn in_words(output: &TaskOutput) -> String {
    let media = [Kind::Image, Kind::Audio, Kind::Video].into_iter().filter_map(|kind| output.media(kind));
    let text = output.as_text().filter(|text| !text.trim().is_empty());
    let parts: Vec<String> = text.into_iter().chain(media.map(str::to_owned)).collect();
    if parts.is_empty() { output.0.to_string() } else { parts.join("\n") }
}
