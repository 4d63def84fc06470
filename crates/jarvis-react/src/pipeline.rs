//! The agent as a pipeline: the request is the question, and the texts attached to it, if any, are the document.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError};
use jarvis_plan::{Level, Outcome, Request, Source};
use jarvis_tools::Documents;

use crate::agent::{Agent, AgentAnswer, AskError, Asked, STAGE};

pub const NAME: &str = "react";

#[async_trait]
impl Pipeline for Agent {
    fn name(&self) -> &str {
        NAME
    }

    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        cx.report(self.name(), &request, self.carry_out(&request, cx)).await
    }
}

impl Agent {
    /// Answers with the chat model of the run; tools and settings are the agent's own.
    async fn carry_out(&self, request: &Request, cx: &RunContext) -> Result<Run, RunError> {
        let mut agent = self.clone();
        agent.chat = cx.ask.as_ref().map(|ask| Arc::clone(ask.model()));
        let documents = documents(request)?;
        if agent.chat.is_none() && documents.text().is_none() && crate::offline::expression(&request.text).is_none() {
            let reason =
                format!("without a chat model the pipeline `{NAME}` answers from attached texts, and none is attached");
            return Err(RunError::InvalidRequest(reason));
        }
        let asked = Asked {
            history: request.history.clone(),
            thread: request.thread.clone(),
            deadline: Some(cx.limits.engine.run_timeout),
            documents,
            ..Asked::over_tools(&request.text)
        };
        let answered = agent.answer(&asked, &cx.events, &cx.cancel).await.map_err(RunError::from)?;
        for warning in &answered.warnings {
            cx.events.note(Level::Warning, warning.clone());
        }
        run_of(answered)
    }
}

/// An answer as the end of a run.
pub(crate) fn run_of(answered: AgentAnswer) -> Result<Run, RunError> {
    if !answered.ok() && answered.not_done.is_empty() {
        let text = if answered.text.is_empty() { "no answer was found" } else { &answered.text };
        return Err(RunError::NoAnswer(text.to_owned()));
    }
    let answer = answered.answer();
    // An answer that needed no tool is one all the same.
    let conversation = !answered.outcomes.iter().any(Outcome::succeeded);
    Ok(Run {
        plan: answered.plan,
        outcomes: answered.outcomes,
        answer,
        conversation,
        not_done: answered.not_done,
        ..Run::default()
    })
}

/// The attached texts.
fn documents(request: &Request) -> Result<Documents, RunError> {
    let mut texts = Vec::new();
    for resource in &request.attachments {
        match &resource.source {
            Source::Inline(text) => texts.push((resource.name.clone().unwrap_or_default(), Arc::from(text.as_str()))),
            Source::Public(_) | Source::Url(_) => {
                let name = resource.name.as_deref().unwrap_or_else(|| resource.as_arg());
                return Err(RunError::InvalidRequest(format!(
                    "`{name}` is not a text; the pipeline `{NAME}` reads texts"
                )));
            }
        }
    }
    Ok(Documents::new(texts))
}

impl From<AskError> for RunError {
    fn from(error: AskError) -> RunError {
        match error {
            AskError::EmptyQuestion => RunError::InvalidRequest(error.to_string()),
            AskError::Model { source } => RunError::Model { stage: STAGE, source },
            AskError::Unreadable { reason } => RunError::Unreadable { stage: STAGE, reason },
            AskError::Prompt(reason) => RunError::Prompt { stage: STAGE, reason },
            AskError::Offline(reason) => RunError::Internal(reason),
            AskError::Timeout { after } => RunError::Timeout {
                after,
                hint: "raise `react.deadline_s` and `limits.run_timeout_s`, or use a faster model",
            },
            AskError::Cancelled => RunError::Cancelled,
        }
    }
}
