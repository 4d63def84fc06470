//! Keeps a call within the model's context: what is least needed is left out first. Knows messages, not prompts.

use crate::model::{ChatError, ChatModel, Message};

/// Tokens kept free for the reply, unless configured otherwise.
pub const DEFAULT_RESERVE: usize = 800;

/// Between the contents when they are counted, as HuggingGPT counts them.
const SEPARATOR: &str = "<im_end>\nuser<im_start>";

/// How much is left out of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trim {
    /// Messages of the history left out, the oldest first.
    pub history: usize,
    /// Demonstration messages left out, the last first, so that those kept stay pairs.
    pub demos: usize,
}

/// Not even the shortest form of a call fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the request does not fit the model {model}: its shortest prompt takes {tokens} tokens and {reserve} are kept for the \
     reply, but the context holds {context}; shorten the request, or set `context_tokens` if the model takes more"
)]
pub struct TooLong {
    pub model: String,
    /// Tokens of the shortest form.
    pub tokens: usize,
    /// Tokens kept for the reply.
    pub reserve: usize,
    pub context: usize,
}

impl From<TooLong> for ChatError {
    fn from(error: TooLong) -> ChatError {
        ChatError::Config(error.to_string())
    }
}

/// The steps in which a call is shortened, from nothing left out to everything: first the history, the two oldest messages
/// at a time, until only the bare input is left; then the demonstrations, the last pair first.
pub fn steps(history: usize, demos: usize) -> Vec<Trim> {
    let by_two = |count: usize| (1..=count.div_ceil(2)).map(move |step| (2 * step).min(count));
    let shorter_history = by_two(history).map(|history| Trim { history, demos: 0 });
    let shorter_demos = by_two(demos).map(|demos| Trim { history, demos });
    std::iter::once(Trim::default()).chain(shorter_history).chain(shorter_demos).collect()
}

/// The messages of the first level, from 0 to `last_level`, that leave `reserve` tokens of the model's context free.
/// `build` makes the messages of a level; a higher level must not be longer than a lower one, for the level is found by
/// halving. Counts tokens of the whole prompt a few times, at 0.2 ms a thousand.
pub fn fit(
    model: &dyn ChatModel,
    stage: &str,
    reserve: usize,
    last_level: usize,
    build: impl Fn(usize) -> Vec<Message>,
) -> Result<Vec<Message>, TooLong> {
    fit_level(model, stage, reserve, last_level, build).map(|(_, messages)| messages)
}

/// As [`fit`], with the level that was taken.
pub fn fit_level(
    model: &dyn ChatModel,
    stage: &str,
    reserve: usize,
    last_level: usize,
    build: impl Fn(usize) -> Vec<Message>,
) -> Result<(usize, Vec<Message>), TooLong> {
    let context = model.context_tokens(stage);
    let room = context.saturating_sub(reserve);
    let measure = |messages: &[Message]| {
        let texts: Vec<String> = messages.iter().map(Message::joined_text).collect();
        model.count_tokens(stage, &texts.join(SEPARATOR))
    };
    let whole = build(0);
    let mut tokens = measure(&whole);
    if tokens <= room {
        return Ok((0, whole));
    }
    // Invariant: `low` does not fit; `found` is the lowest level seen that does.
    let (mut low, mut high) = (0, last_level);
    let mut found = None;
    while low < high {
        // The first try is the shortest form: if it does not fit, nothing does.
        let level = if found.is_none() { high } else { low + (high - low) / 2 };
        if found.is_some() && level == low {
            break;
        }
        let messages = build(level);
        tokens = measure(&messages);
        if tokens <= room {
            high = level;
            found = Some((level, messages));
        } else if found.is_none() {
            break;
        } else {
            low = level;
        }
    }
    found.ok_or_else(|| TooLong { model: model.model_name(stage), tokens, reserve, context })
}

#[cfg(test)]
mod tests;
