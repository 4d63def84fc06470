//! Fits the arguments of a task to the context of the chat model: the longest values are shortened, and say so.

use indexmap::IndexMap;
use jarvis_ask::{Ask, AskError, TemplateError};
use jarvis_chat::{ChatError, Message};
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Level, TaskError};

use super::TASK_STAGE;
use jarvis_store::blocking;

/// Values of at most so many bytes are never shortened.
const SHORTEST: usize = 200;

/// Each step shortens the longest values to this share of what they were at the step before.
const STEP: f64 = 0.93;

/// The messages that `make` gives for these arguments of the job, of which the longest are shortened as far as the model's
/// context demands, with a note. Counts tokens off the runtime's threads.
///
/// # Errors
/// `TooLarge` when not even the shortest arguments fit, `Internal` when the prompt cannot be made.
pub(super) async fn fitted(
    ask: &Ask,
    job: &Job,
    args: IndexMap<String, String>,
    make: impl Fn(&IndexMap<String, String>) -> Result<Vec<Message>, TemplateError> + Send + 'static,
) -> Result<Vec<Message>, TaskError> {
    let ask = ask.clone();
    let (messages, left_out) = blocking(move || {
        let longest = args.values().map(String::len).max().unwrap_or_default();
        let levels: Vec<usize> = std::iter::once(usize::MAX).chain(lengths(longest)).collect();
        let fit = ask.fit(TASK_STAGE, &levels, |length| make(&shorten_all(&args, *length).0));
        let (level, messages) = fit.map_err(|error| match error {
            AskError::Prompt { .. } => TaskError::new(ErrorCode::Internal, error.to_string())
                .hint("Check the prompt template of the stage `task_llm`"),
            AskError::TooLong { .. } => TaskError::new(ErrorCode::TooLarge, error.to_string()),
            AskError::Model { .. } | AskError::Unreadable { .. } => ChatError::from(error).into(),
        })?;
        let left_out = levels.get(level).map_or(0, |length| shorten_all(&args, *length).1);
        Ok((messages, left_out))
    })
    .await?;
    if left_out > 0 {
        let message = format!(
            "the arguments of task {} were longer than the chat model takes: {left_out} characters were left out",
            job.task.id.number()
        );
        job.events.note(Level::Info, message);
    }
    Ok(messages)
}

/// The lengths in bytes to which values are shortened, the longest first.
fn lengths(longest: usize) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut length = longest;
    while length > SHORTEST {
        length = ((length as f64 * STEP) as usize).max(SHORTEST);
        lengths.push(length);
    }
    lengths
}

/// The arguments with each value shortened to about `length` bytes, and how many characters were left out of all.
fn shorten_all(args: &IndexMap<String, String>, length: usize) -> (IndexMap<String, String>, usize) {
    let mut left_out = 0;
    let short = args.iter().map(|(name, value)| {
        let (value, without) = shorten(value, length);
        left_out += without;
        (name.clone(), value)
    });
    (short.collect(), left_out)
}

/// The beginning and the end of a text, at most `length` bytes together, with a mark between them that tells how many
/// characters were left out, and that number.
fn shorten(text: &str, length: usize) -> (String, usize) {
    if text.len() <= length {
        return (text.to_owned(), 0);
    }
    // Instructions stand at either end, content mostly at the beginning.
    let start = text.floor_char_boundary(length / 4 * 3);
    let end = text.ceil_char_boundary(text.len() - length / 4);
    let (Some(head), Some(middle), Some(tail)) = (text.get(..start), text.get(start..end), text.get(end..)) else {
        return (text.to_owned(), 0);
    };
    let without = middle.chars().count();
    (format!("{head} [… {without} characters left out …] {tail}"), without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_both_ends_at_character_boundaries() {
        let check = |text: &str, length, expected: &str, without| {
            assert_eq!(shorten(text, length), (expected.to_owned(), without), "{text}");
        };
        check("abcdefghijkl", 12, "abcdefghijkl", 0);
        check("abcdefghijkl", 8, "abcdef [… 4 characters left out …] kl", 4);
        check("ййййййййй", 8, "ййй [… 5 characters left out …] й", 5);
        check("日本語日本語", 8, "日本 [… 4 characters left out …] ", 4);
    }

    #[test]
    fn lengths_go_down_to_the_shortest() {
        assert!(lengths(SHORTEST).is_empty());
        let lengths = lengths(2 << 20);
        assert!(lengths.len() < 200 && lengths.is_sorted_by(|a, b| a > b));
        assert_eq!(lengths.last(), Some(&SHORTEST));
    }
}
