//! Stage 4 with a chat model: the answer from the results, and plain conversation.

use jarvis_chat::{ChatError, ChatModel, ChatRequest, Message, budget};
use jarvis_engine::Events;
use jarvis_plan::{EventKind, Language, Outcome, Plan, Request};
use jarvis_prompt::reader::without_reasoning;
use jarvis_workers::{call_model, stream_model};
use serde_json::Value;

use crate::attached;
use crate::pipeline::{HuggingGpt, RunError};
use crate::prompts::ResponseResults;
use crate::results::{results_map, shorten};

const STAGE: &str = "response_results";

/// Writes the answer. Results that do not fit the model are shortened, the largest values first.
pub(crate) async fn write(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    request: &Request,
    plan: &Plan,
    outcomes: &[Outcome],
    events: &Events,
) -> Result<String, RunError> {
    let prompt = |reason: String| RunError::Prompt { stage: STAGE, reason };
    let results = Value::Object(results_map(plan, outcomes));
    let language = Language::of(&request.text).name();
    let bare = ResponseResults { input: &request.text, processes: &Value::Null, language };
    let around = pipeline.prompts.response_results(&bare).map_err(|error| prompt(error.to_string()))?;
    let around: usize = around.iter().map(|turn| chat.count_tokens(STAGE, &turn.content)).sum();
    // The results stand in the prompt once; half the room is kept for what the input may repeat of them.
    let room = chat.context_tokens(STAGE).saturating_sub(pipeline.settings.reserve_tokens + around + 64);
    let mut shown = results;
    let shortened = shorten(&mut shown, room, |value| chat.count_tokens(STAGE, &value.to_string()));
    if shortened > 0 {
        events.note(
            jarvis_plan::Level::Info,
            format!("{shortened} values of the results were shortened to fit the model that answers"),
        );
    }
    let inputs = INPUT_SHOWN.map(|most| cut(&request.text, most));
    let build = |level: usize| {
        let input = inputs.get(level).map_or("", |input| input.as_str());
        let ask = ResponseResults { input, processes: &shown, language };
        pipeline.prompts.response_results(&ask).unwrap_or_default().into_iter().map(Message::from).collect()
    };
    let messages = budget::fit(chat, STAGE, pipeline.settings.reserve_tokens, INPUT_SHOWN.len() - 1, build)
        .map_err(|error| RunError::Model { stage: STAGE, source: ChatError::from(error) })?;
    let call = ChatRequest::exact(STAGE, messages);
    say(pipeline, chat, &call, events).await.map_err(|source| RunError::Model { stage: STAGE, source })
}

/// Answers as conversation, with the original messages and nothing around them.
pub(crate) async fn converse(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    request: &Request,
    events: &Events,
) -> Result<String, RunError> {
    const STAGE: &str = "chitchat";
    let input = attached::described(request);
    let steps = budget::steps(request.history.len(), 0);
    let turns = |level: usize| {
        let left_out = steps.get(level).map_or(0, |trim| trim.history);
        pipeline.prompts.chitchat(request.history.get(left_out..).unwrap_or_default(), &input)
    };
    turns(0).map_err(|error| RunError::Prompt { stage: STAGE, reason: error.to_string() })?;
    let build = |level: usize| turns(level).unwrap_or_default().into_iter().map(Message::from).collect();
    let messages = budget::fit(chat, STAGE, pipeline.settings.reserve_tokens, steps.len().saturating_sub(1), build)
        .map_err(|error| RunError::Model { stage: STAGE, source: ChatError::from(error) })?;
    let call = ChatRequest { stage: STAGE.into(), messages, ..ChatRequest::default() };
    say(pipeline, chat, &call, events).await.map_err(|source| RunError::Model { stage: STAGE, source })
}

/// Characters of the request that a prompt about its results shows, from the first try to the last.
pub(crate) const INPUT_SHOWN: [usize; 4] = [usize::MAX, 16_000, 4_000, 1_000];

/// The beginning of a text, with a mark where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… [cut]", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Makes a call whose reply the person reads; its text is told as it comes, when that is wanted. Reasoning is left out,
/// and a reply that holds nothing else is none.
async fn say(
    pipeline: &HuggingGpt,
    chat: &dyn ChatModel,
    call: &ChatRequest,
    events: &Events,
) -> Result<String, ChatError> {
    let reply = if pipeline.settings.stream_answer {
        let mut spoken = Spoken::default();
        let piece = |text: &str| {
            let text = spoken.hear(text);
            if !text.is_empty() {
                events.emit(EventKind::Token { text });
            }
        };
        stream_model(chat, events, None, call, piece).await?
    } else {
        call_model(chat, events, None, call).await?
    };
    let text = without_reasoning(&reply.text).trim().to_owned();
    if text.is_empty() {
        return Err(ChatError::BadReply { reason: "the reply is empty".into(), body: reply.text });
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
    use super::{Spoken, cut};

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

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("привет", 3), "при… [cut]");
        assert_eq!(cut("привет", 6), "привет");
    }
}
