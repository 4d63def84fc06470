//! Stage 4 with a chat model: the answer from the results, and plain conversation.

use jarvis_ask::{AskError, Question, conversation_levels};
use jarvis_chat::ChatError;
use jarvis_plan::{EventKind, Language, Level, Outcome, Plan, Request};
use jarvis_prompt::reader::without_reasoning;
use serde_json::Value;

use crate::attached;
use crate::fit::{INPUT_SHOWN, cut};
use crate::prompts::ResponseResults;
use crate::results::{results_map, shorten};
use crate::stages::Stages;

const STAGE: &str = "response_results";

/// Writes the answer. Results that do not fit the model are shortened, the largest values first.
pub(crate) async fn write(
    stages: &Stages,
    request: &Request,
    plan: &Plan,
    outcomes: &[Outcome],
) -> Result<String, AskError> {
    let Stages { ask, prompts, settings } = stages;
    let model = ask.model();
    let language = Language::of(&request.text).name();
    let bare = ResponseResults { input: &request.text, processes: &Value::Null, language };
    let around = prompts.response_results(&bare).map_err(|source| AskError::Prompt { stage: STAGE, source })?;
    let around: usize = around.iter().map(|turn| model.count_tokens(STAGE, &turn.content)).sum();
    // The results stand in the prompt once; half the room is kept for what the input may repeat of them.
    let room = model.context_tokens(STAGE).saturating_sub(settings.reserve_tokens + around + 64);
    let mut shown = Value::Object(results_map(plan, outcomes));
    let shortened = shorten(&mut shown, room, |value| model.count_tokens(STAGE, &value.to_string()));
    if shortened > 0 {
        let note = format!("{shortened} values of the results were shortened to fit the model that answers");
        ask.events().note(Level::Info, note);
    }
    let inputs = INPUT_SHOWN.map(|most| cut(&request.text, most));
    let question = ask
        .stage(STAGE)
        .fitted(&inputs, |input| prompts.response_results(&ResponseResults { input, processes: &shown, language }))?;
    spoken(stages, question, STAGE).await
}

/// Answers as conversation, with the original messages and nothing around them.
pub(crate) async fn converse(stages: &Stages, request: &Request) -> Result<String, AskError> {
    const STAGE: &str = "chitchat";
    let input = attached::described(request);
    let levels = conversation_levels(request.history.len(), 0);
    let question = stages.ask.stage(STAGE).temperature(None).fitted(&levels, |left_out| {
        stages.prompts.chitchat(request.history.get(left_out.history..).unwrap_or_default(), &input)
    })?;
    spoken(stages, question, STAGE).await
}

/// Asks for a reply that the person reads, and passes it on as it comes where that is wanted. Reasoning is left out; a reply
/// that holds nothing else is a bad one.
async fn spoken(stages: &Stages, question: Question<'_>, stage: &'static str) -> Result<String, AskError> {
    let reply = if stages.settings.stream_answer {
        let mut spoken = Spoken::default();
        let piece = |text: &str| {
            let text = spoken.hear(text);
            if !text.is_empty() {
                stages.ask.events().emit(EventKind::Token { text });
            }
        };
        question.stream(piece).await?
    } else {
        question.call().await?
    };
    let text = without_reasoning(&reply.text).trim().to_owned();
    if text.is_empty() {
        let source = ChatError::BadReply { reason: "the reply is empty".into(), body: reply.text };
        return Err(AskError::Model { stage, source });
    }
    Ok(text)
}

/// Tells what a model says from what it thinks while it streams: `<think>…</think>` at the beginning, as reasoning models
/// write it. A whole reply is read by [`without_reasoning`].
#[derive(Debug, Default)]
struct Spoken {
    heard: String,
    phase: Phase,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    /// What came so far may still turn out to be the mark.
    #[default]
    Beginning,
    Thinking,
    Speaking,
}

impl Spoken {
    /// Takes the next piece of a reply; gives what of it can be passed on now.
    fn hear(&mut self, piece: &str) -> String {
        const OPEN: &str = "<think>";
        const CLOSE: &str = "</think>";
        if self.phase == Phase::Speaking {
            return piece.to_owned();
        }
        self.heard.push_str(piece);
        if self.phase == Phase::Beginning {
            let start = self.heard.trim_start();
            if start.starts_with(OPEN) {
                self.phase = Phase::Thinking;
            } else if OPEN.starts_with(start) {
                return String::new();
            } else {
                self.phase = Phase::Speaking;
                return std::mem::take(&mut self.heard);
            }
        }
        match self.heard.find(CLOSE) {
            Some(at) => {
                self.phase = Phase::Speaking;
                let rest = self.heard.get(at + CLOSE.len()..).unwrap_or_default().trim_start().to_owned();
                self.heard.clear();
                rest
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spoken;

    #[track_caller]
    fn check(pieces: &[&str], want: &str) {
        let mut spoken = Spoken::default();
        let said: Vec<String> = pieces.iter().map(|piece| spoken.hear(piece)).collect();
        assert_eq!(said.concat(), want, "{pieces:?}");
    }

    #[test]
    fn thoughts_are_not_spoken() {
        check(&["Hello", " there"], "Hello there");
        check(&["<think>hm, a < b</think>\n\nHello"], "Hello");
        check(&["\n<th", "ink>hm", "</thi", "nk> He", "llo"], "Hello");
        check(&["<", "b>bold</b>"], "<b>bold</b>");
        check(&["<think>never ends"], "");
        check(&["say <think>this</think>"], "say <think>this</think>");
    }
}
