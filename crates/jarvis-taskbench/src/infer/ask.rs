//! One request: at most two calls, the plan and, with `reformat`, the repair of a reply that holds none.

use std::time::Duration;

use jarvis_ask::Ask;
use jarvis_batch::is_hopeless;
use jarvis_chat::{ChatError, Message, ReplySchema, TokenUsage};
use jarvis_plan::Turn;
use serde::Serialize;
use serde_json::Value;

use super::reply::{NoPlan, ReadPlan, read_plan, without_escaped_underscores};
use super::{InferOptions, Prompts};
use crate::FailureKind;
use crate::data::{SampleId, UserRequest};

pub const PLAN_STAGE: &str = "plan";
pub const REFORMAT_STAGE: &str = "reformat";

/// A request without a prediction: a line of the error file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failed {
    pub id: SampleId,
    pub kind: FailureKind,
    pub stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub message: String,
    /// The model's reply, verbatim; null when there was none. For [`FailureKind::BadReply`] the start of the answer.
    pub raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_reformat: Option<String>,
    /// Calls made; repeats for passing troubles count as one.
    pub calls: usize,
    /// When, in UTC.
    pub time: String,
    /// Whether every other request would fail for the same reason.
    #[serde(skip)]
    pub(super) hopeless: bool,
}

/// A request, and how it ended.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) id: SampleId,
    pub(crate) request: String,
    pub(crate) outcome: Result<ReadPlan, Failed>,
    pub(crate) calls: Calls,
}

impl Answered {
    /// A request that was not asked.
    pub(crate) fn failed(request: UserRequest, failed: Failed) -> Answered {
        Answered { id: request.id, request: request.text, outcome: Err(failed), calls: Calls::default() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(super) count: usize,
    pub(super) usage: TokenUsage,
    /// Prompts and replies by stage, where the log is to hold them.
    pub(super) texts: Vec<(&'static str, String)>,
    /// Whether the last reply was cut at its limit of tokens.
    cut: bool,
}

impl Calls {
    fn fault(&self, fault: &NoPlan) -> String {
        let cut = if self.cut { "; the reply was cut at its limit of tokens (--max-tokens)" } else { "" };
        format!("{fault}{cut}")
    }
}

pub(crate) struct Asker<'a> {
    pub(crate) ask: Ask,
    pub(crate) prompts: &'a Prompts,
    pub(crate) schema: Option<&'a ReplySchema>,
    pub(crate) options: &'a InferOptions,
}

impl Asker<'_> {
    /// Asks for one plan. `history` are the turns before the request, `keep` keeps prompts and replies for the log.
    pub(crate) async fn ask(&self, request: &UserRequest, history: &[Turn], keep: bool) -> Answered {
        let mut calls = Calls::default();
        let outcome = self.outcome(request, history, keep, &mut calls).await;
        let outcome = outcome.map_err(|failed| Failed { calls: calls.count, ..failed });
        Answered { id: request.id.clone(), request: request.text.clone(), outcome, calls }
    }

    async fn outcome(
        &self,
        request: &UserRequest,
        history: &[Turn],
        keep: bool,
        calls: &mut Calls,
    ) -> Result<ReadPlan, Failed> {
        let fail = |kind, stage, message| failed(&request.id, kind, stage, message);
        let unmade = |error| fail(FailureKind::Config, PLAN_STAGE, format!("the prompt cannot be made: {error}"));
        let dependency = self.options.dependency;

        let mut prompt = Message::of_turns(history);
        prompt.extend(self.prompts.plan(&request.text).map_err(unmade)?);
        let reply = match self.call(PLAN_STAGE, prompt, self.options.plan_timeout, keep, calls).await {
            Ok(reply) => reply,
            Err(error) => return Err(refused(&request.id, PLAN_STAGE, &error)),
        };
        let fault = match read_plan(&reply, dependency) {
            Ok(plan) => return Ok(plan),
            Err(fault) => fault,
        };
        if !self.options.reformat {
            return Err(Failed { raw: Some(reply), ..fail(kind(&fault), PLAN_STAGE, calls.fault(&fault)) });
        }

        let plain = without_escaped_underscores(&reply);
        let prompt = self.prompts.reformat(plain.as_deref().unwrap_or(&reply)).map_err(unmade)?;
        let again = match self.call(REFORMAT_STAGE, prompt, self.options.reformat_timeout, keep, calls).await {
            Ok(again) => again,
            Err(error) => return Err(Failed { raw: Some(reply), ..refused(&request.id, REFORMAT_STAGE, &error) }),
        };
        match read_plan(after_label(&again), dependency) {
            Ok(mut plan) => {
                plan.notes.insert(0, format!("the reply was no plan ({fault}) and went through the reformat call"));
                Ok(plan)
            }
            Err(fault) => Err(Failed {
                raw: Some(reply),
                raw_reformat: Some(again),
                ..fail(kind(&fault), REFORMAT_STAGE, calls.fault(&fault))
            }),
        }
    }

    async fn call(
        &self,
        stage: &'static str,
        messages: Vec<Message>,
        timeout: Duration,
        keep: bool,
        calls: &mut Calls,
    ) -> Result<String, ChatError> {
        let sampling = &self.options.sampling;
        if keep {
            let prompt: Vec<String> = messages.iter().map(Message::joined_text).collect();
            calls.texts.push((stage, format!("prompt: {}", prompt.join("\n"))));
        }
        let question = self.ask.stage(stage).messages(messages).timeout(Some(timeout)).verbatim().request(|request| {
            request.temperature = Some(sampling.temperature);
            request.top_p = Some(sampling.top_p);
            request.frequency_penalty = Some(sampling.frequency_penalty);
            request.presence_penalty = Some(sampling.presence_penalty);
            request.max_tokens = Some(sampling.max_tokens);
            request.schema = self.schema.cloned();
        });
        calls.count += 1;
        let reply = question.call().await.map_err(ChatError::from);
        if keep {
            let text = match &reply {
                Ok(reply) => format!("reply: {}", reply.text),
                Err(error) => format!("no reply: {error}"),
            };
            calls.texts.push((stage, text));
        }
        let reply = reply?;
        calls.usage.prompt += reply.usage.prompt;
        calls.usage.completion += reply.usage.completion;
        calls.cut = reply.finish_reason == "length";
        Ok(reply.text)
    }
}

/// What follows the label that the reformat prompt ends with, for models that repeat it.
fn after_label(reply: &str) -> &str {
    reply.split_once("STRICT JSON FORMAT #:").map_or(reply, |(_, after)| after)
}

fn kind(fault: &NoPlan) -> FailureKind {
    match fault {
        NoPlan::ContentFormat(_) => FailureKind::ContentFormat,
        NoPlan::Schema(_) => FailureKind::Schema,
    }
}

fn refused(id: &SampleId, stage: &'static str, error: &ChatError) -> Failed {
    let message = match error {
        // The kind says the rest, and the start of the prompt is the same for all requests.
        ChatError::ReplayMiss { .. } => "no unused line of the recording fits this request".to_owned(),
        ChatError::Api { status, message } => format!("HTTP {status}: {message}"),
        error => error.to_string(),
    };
    let mut failed = failed(id, FailureKind::of(error), stage, message);
    failed.hopeless = is_hopeless(error);
    match error {
        ChatError::Api { status, .. } => failed.status = Some(*status),
        ChatError::RateLimited { .. } => failed.status = Some(429),
        ChatError::BadReply { body, .. } => failed.raw = Some(body.clone()),
        ChatError::Unauthorized { .. }
        | ChatError::Unreachable { .. }
        | ChatError::Timeout { .. }
        | ChatError::ReplayMiss { .. }
        | ChatError::Recording { .. }
        | ChatError::Config(_)
        | ChatError::Budget(_)
        | ChatError::Stopped(_) => {}
    }
    failed
}

pub(crate) fn failed(id: &SampleId, kind: FailureKind, stage: &'static str, message: String) -> Failed {
    let time = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    Failed {
        id: id.clone(),
        kind,
        stage,
        status: None,
        message,
        raw: None,
        raw_reformat: None,
        calls: 0,
        time,
        hopeless: false,
    }
}

pub(super) fn prediction_line(id: &SampleId, request: &str, result: &Value) -> String {
    #[derive(Serialize)]
    struct Prediction<'a> {
        id: &'a SampleId,
        user_request: &'a str,
        result: &'a Value,
    }
    serde_json::to_string(&Prediction { id, user_request: request, result }).expect("values have text keys")
}
