//! Fits a prompt to the model's context budget: of several levels, each shorter than the one before, the first that fits.

use jarvis_chat::{ChatError, ChatModel, Message};
use jarvis_prompt::template::TemplateError;

use crate::AskError;

/// Tokens kept free for the reply, unless configured otherwise.
pub const DEFAULT_RESERVE: usize = 800;

/// Stands between the messages when their tokens are counted, as HuggingGPT counts them.
const SEPARATOR: &str = "<im_end>\nuser<im_start>";

/// How much of a conversation a prompt leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trim {
    /// Messages of the history, counted from the oldest.
    pub history: usize,
    /// Demonstration messages, counted from the last, so that those kept stay pairs.
    pub demos: usize,
}

impl Trim {
    /// What is left of a conversation of at least as many turns as are left out.
    pub fn kept<T>(self, history: &[T]) -> &[T] {
        history.get(self.history..).expect("levels leave out no more turns than there are")
    }
}

/// Not even the shortest form of a prompt fits the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the request does not fit the model {model}: its shortest prompt takes {tokens} tokens and {reserve} are kept for the \
     reply, but the context holds {context}; shorten the request, or set `context_tokens` if the model takes more"
)]
pub struct TooLong {
    /// The model's name.
    pub model: String,
    /// Tokens of the shortest form.
    pub tokens: usize,
    /// Tokens kept for the reply.
    pub reserve: usize,
    /// The context size in tokens.
    pub context: usize,
}

impl From<TooLong> for ChatError {
    fn from(error: TooLong) -> ChatError {
        ChatError::Config(error.to_string())
    }
}

/// Levels of a prompt with a history and demonstrations, from nothing left out to everything: first the history, the two
/// oldest messages at a time, until only the bare input is left; then the demonstrations, the last pair first.
pub fn conversation_levels(history: usize, demos: usize) -> Vec<Trim> {
    let by_two = |count: usize| (1..=count.div_ceil(2)).map(move |step| (2 * step).min(count));
    let shorter_history = by_two(history).map(|history| Trim { history, demos: 0 });
    let shorter_demos = by_two(demos).map(|demos| Trim { history, demos });
    std::iter::once(Trim::default()).chain(shorter_history).chain(shorter_demos).collect()
}

/// Tokens of the messages as one text.
pub(crate) fn count(model: &dyn ChatModel, stage: &str, messages: &[Message], separator: &str) -> usize {
    let texts: Vec<String> = messages.iter().map(Message::joined_text).collect();
    model.count_tokens(stage, &texts.join(separator))
}

/// The most tokens that messages can have as one text: those of each, which are counted once for the parts of a prompt that stay
/// the same, and some for what stands between.
fn at_most(model: &dyn ChatModel, stage: &str, messages: &[Message]) -> usize {
    /// More than the separator has, and than words can be cut into by it.
    const BETWEEN: usize = 16;
    messages.iter().map(|message| model.count_tokens(stage, &message.joined_text()) + BETWEEN).sum()
}

/// The first level whose messages leave `reserve` tokens of the context free, and these messages. The level is found by
/// halving: counting tokens of a whole prompt takes 0.2 ms a thousand.
pub(crate) fn fit<L, M: Into<Message>>(
    model: &dyn ChatModel,
    stage: &'static str,
    reserve: usize,
    levels: &[L],
    build: impl Fn(&L) -> Result<Vec<M>, TemplateError>,
) -> Result<(usize, Vec<Message>), AskError> {
    let context = model.context_tokens(stage);
    let available = context.saturating_sub(reserve);
    let (mut tokens, mut found) = (0, None);
    // The levels from `low` on may fit, and `found` does; those before `low` do not.
    let (mut low, mut high) = (0, levels.len());
    // The whole prompt first, which mostly fits; then the shortest, since nothing fits if that does not.
    let mut next = [levels.len().saturating_sub(1), 0].to_vec();
    while low < high {
        let level = next.pop().unwrap_or(low + (high - low) / 2);
        let Some(shown) = levels.get(level) else { break };
        let messages = build(shown).map_err(|source| AskError::Prompt { stage, source })?;
        let messages: Vec<Message> = messages.into_iter().map(Into::into).collect();
        tokens = at_most(model, stage, &messages);
        if tokens > available {
            tokens = count(model, stage, &messages, SEPARATOR);
        }
        if tokens <= available {
            high = level;
            found = Some((level, messages));
        } else if level + 1 == levels.len() {
            break;
        } else {
            low = level + 1;
        }
    }
    found.ok_or_else(|| AskError::TooLong {
        stage,
        source: TooLong { model: model.model_name(stage), tokens, reserve, context },
    })
}

#[cfg(test)]
mod tests;
