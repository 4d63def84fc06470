//! A conversation with the chat model: one call, nothing planned and no tool of ours called.
//!
//! The messages go to the model as they are. Tools that the caller brings are offered to it, and its calls of them are handed back.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use jarvis_ask::{Ask, conversation_levels};
use jarvis_chat::{ChatReply, Message, Part, ToolOffer, ToolUse};
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError};
use jarvis_plan::{Answer, Kind, Request, Role, Source, TaskError, ToolCall, Turn};

use crate::answer::follows;
use crate::attached;

/// Makes the address of a picture under the public root that a model can read: a data URL.
pub type PictureAddress = Arc<dyn Fn(String) -> BoxFuture<'static, Result<String, TaskError>> + Send + Sync>;

/// The pipeline, see the module.
pub struct Conversation {
    picture: PictureAddress,
}

impl Conversation {
    /// The name by which it is chosen.
    pub const NAME: &'static str = "chat";

    /// The stage of its call.
    const STAGE: &'static str = "chitchat";

    pub fn new(picture: PictureAddress) -> Conversation {
        Conversation { picture }
    }

    async fn ask(&self, ask: &Ask, request: &Request) -> Result<Run, RunError> {
        let said = self.said(ask, request).await?;
        let levels = conversation_levels(request.history.len(), 0);
        let question = ask.stage(Self::STAGE).fitted(&levels, |left_out| {
            let before = left_out.kept(&request.history);
            // Turns that are left out leave the instructions.
            let instructions = request.history.iter().filter(|turn| turn.role == Role::System);
            let left_out = instructions.filter(|turn| !before.contains(turn)).cloned();
            let turns: Vec<Turn> = left_out.chain(before.iter().cloned()).collect();
            let mut messages = Message::of_turns(&turns);
            messages.push(said.clone());
            messages.extend(Message::of_turns(&request.after));
            Ok(messages)
        })?;
        let form = &request.form;
        let offers = request.tools.iter().map(|tool| ToolOffer {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
        });
        let number = |number: &Option<serde_json::Number>| number.as_ref().and_then(|n| n.as_f64()).map(|n| n as f32);
        let question = question.tools(offers.collect()).request(|one| {
            one.temperature = number(&form.temperature);
            one.top_p = number(&form.top_p);
            one.presence_penalty = number(&form.presence_penalty);
            one.frequency_penalty = number(&form.frequency_penalty);
            one.max_tokens = form.max_tokens;
            one.stop.clone_from(&form.stop);
            one.must_call.clone_from(&form.must_call);
        });
        let answer = match &form.schema {
            None => {
                let reply = question.said(true).await?;
                let answer = Answer { calls: calls(&reply.tool_uses), text: reply.text, ..Answer::default() };
                // What ends at a stop may have nothing before it.
                if answer.text.is_empty() && answer.calls.is_empty() && form.stop.is_empty() {
                    let (stage, reason) = (Self::STAGE, "it is empty".to_owned());
                    return Err(RunError::Unreadable { stage, reason });
                }
                answer
            }
            Some((name, schema)) => {
                let question =
                    question.schema(name, || schema.clone()).asking(2).wanted("JSON that follows the schema");
                let read = |reply: &ChatReply| match reply.tool_uses.is_empty() {
                    true => follows(&reply.text, schema).map(|text| Answer { text, ..Answer::default() }),
                    false => Ok(Answer { calls: calls(&reply.tool_uses), ..Answer::default() }),
                };
                question.read(read).await?
            }
        };
        Ok(Run { answer, conversation: true, ..Run::default() })
    }

    /// The message with the files that came with it.
    async fn said(&self, ask: &Ask, request: &Request) -> Result<Message, RunError> {
        let sees = ask.model().can_see(Self::STAGE);
        let is_seen = |kind: Kind| kind == Kind::Image && sees;
        let (mut pictures, mut rest) = (Vec::new(), request.clone());
        for file in &request.attachments {
            let address = match &file.source {
                Source::Url(address) if is_seen(file.kind) => address.clone(),
                Source::Public(path) if is_seen(file.kind) => {
                    (self.picture)(path.clone()).await.map_err(|error| RunError::InvalidRequest(error.to_string()))?
                }
                Source::Inline(_) | Source::Url(_) | Source::Public(_) => continue,
            };
            pictures.push(Part::Image(address));
        }
        rest.attachments.retain(|file| !is_seen(file.kind) || matches!(file.source, Source::Inline(_)));
        let mut said = Message::text(Role::User, attached::described(&rest));
        said.parts.extend(pictures);
        Ok(said)
    }
}

fn calls(uses: &[ToolUse]) -> Vec<ToolCall> {
    uses.iter().map(|used| ToolCall::open(&used.name, &used.arguments)).collect()
}

#[async_trait]
impl Pipeline for Conversation {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        cx.report(Self::NAME, &request, async {
            let ask = cx.model(Self::NAME)?;
            cx.within(cx.limits.engine.run_timeout, self.ask(ask, &request)).await
        })
        .await
    }
}
