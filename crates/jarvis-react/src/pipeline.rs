//! The agent as a pipeline: the request is the question, and the texts attached to it are the document.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError};
use jarvis_plan::{Level, Outcome, Request, Source};

use crate::agent::{Agent, AskError, Asked, STAGE};

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
        if agent.chat.is_none() && request.attachments.is_empty() {
            let reason =
                format!("without a chat model the pipeline `{NAME}` answers from attached texts, and none is attached");
            return Err(RunError::InvalidRequest(reason));
        }
        let asked = Asked {
            history: request.history.clone(),
            deadline: Some(cx.limits.engine.run_timeout),
            ..Asked::new(&request.text, document(request)?)
        };
        let answered = agent.answer(&asked, &cx.events, &cx.cancel).await.map_err(RunError::from)?;
        for warning in &answered.warnings {
            cx.events.note(Level::Warning, warning.clone());
        }
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
}

/// The attached texts, each after its name where there are several.
fn document(request: &Request) -> Result<String, RunError> {
    let mut texts = Vec::new();
    for resource in &request.attachments {
        match &resource.source {
            Source::Inline(text) => texts.push((resource.name.as_deref(), text)),
            Source::Public(_) | Source::Url(_) => {
                let name = resource.name.as_deref().unwrap_or_else(|| resource.as_arg());
                return Err(RunError::InvalidRequest(format!(
                    "`{name}` is not a text; the pipeline `{NAME}` reads texts"
                )));
            }
        }
    }
    if let [(_, text)] = texts.as_slice() {
        return Ok((*text).clone());
    }
    let headed = |(name, text): &(Option<&str>, &String)| match name {
        Some(name) => format!("{name}:\n{text}"),
        None => (*text).clone(),
    };
    Ok(texts.iter().map(headed).collect::<Vec<_>>().join("\n\n"))
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
