//! What of the conversation, the document and the rounds so far fits into the context of the model: the oldest turns go
//! first, then the middle of the document, then the oldest observations.

use std::borrow::Cow;

use jarvis_ask::{Ask, AskError, TemplateError, Trim, conversation_levels};
use jarvis_chat::{ChatModel, Message};

use crate::agent::STAGE;

/// Steps in which the document is cut, from whole to nothing.
const CUTS: usize = 40;

/// Of one token, the most bytes that are worth counting: what is longer than this for all its tokens is cut before.
const BYTES_PER_TOKEN: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Budget {
    /// The oldest turns of the conversation that are left out.
    pub(crate) turns: Trim,
    /// The bytes of the document that are kept, of its beginning and its end together; none means all.
    pub(crate) document: Option<usize>,
    /// The oldest rounds that are left out.
    pub(crate) skip: usize,
}

/// A text without its middle: `keep` bytes stay, half of them at each end, a marker between. Whole when it is short enough.
pub(crate) fn without_middle(text: &str, keep: usize) -> Cow<'_, str> {
    if text.len() <= keep {
        return Cow::Borrowed(text);
    }
    let at = |wanted: usize| (0..=wanted).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (head, _) = text.split_at(at(keep / 2));
    let (_, tail) = text.split_at(at(text.len() - (keep - keep / 2)));
    let left_out = text.chars().count() - head.chars().count() - tail.chars().count();
    Cow::Owned(format!("{head}\n[… {left_out} characters are left out here …]\n{tail}"))
}

/// The most bytes of the document that come to at most `most` tokens; `None` when all of it does.
pub(crate) fn of_tokens(model: &dyn ChatModel, document: &str, most: usize) -> Option<usize> {
    if document.len() <= most {
        return None;
    }
    let mut keep = document.len().min(most.saturating_mul(BYTES_PER_TOKEN));
    // Each round comes closer; a few are enough, and the last is below.
    for round in 1..=6 {
        let tokens = model.count_tokens(STAGE, &without_middle(document, keep));
        if tokens <= most {
            break;
        }
        let slack = 1.0 - 0.02 * f64::from(round);
        keep = (keep as f64 * most as f64 / tokens as f64 * slack) as usize;
    }
    (keep < document.len()).then_some(keep)
}

/// How much there is of what a prompt can leave out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole {
    /// Earlier turns of the conversation.
    pub(crate) turns: usize,
    /// Bytes of the document.
    pub(crate) document: usize,
    pub(crate) rounds: usize,
}

/// Finds the largest budget for a prompt that `build` makes. `start` is what is cut in any case. Counts tokens; slow
/// for long texts.
///
/// # Errors
/// When the prompt cannot be made, or not even the shortest one fits.
pub(crate) fn fit(
    ask: &Ask,
    reserve: usize,
    whole: Whole,
    start: Budget,
    build: impl Fn(Budget) -> Result<Vec<Message>, TemplateError>,
) -> Result<(Budget, Vec<Message>), AskError> {
    let context = ask.model().context_tokens(STAGE).saturating_sub(reserve);
    // Far more than the context holds need not be counted.
    let most = start.document.unwrap_or(whole.document).min(context.saturating_mul(BYTES_PER_TOKEN));
    let with_document = |cut: usize| {
        let keep = most / CUTS * (CUTS - cut) + if cut == 0 { most % CUTS } else { 0 };
        let turns = Trim { history: whole.turns, demos: 0 };
        Budget { turns, document: (keep < whole.document).then_some(keep), skip: start.skip }
    };
    let levels: Vec<Budget> = conversation_levels(whole.turns, 0)
        .into_iter()
        .filter(|turns| turns.history >= start.turns.history)
        .map(|turns| Budget { turns, ..with_document(0) })
        .chain((1..=CUTS).map(with_document))
        .chain((start.skip..=whole.rounds).skip(1).map(|skip| Budget { skip, ..with_document(CUTS) }))
        .collect();
    let longest = *levels.first().expect("one level leaves out no more than the start does");
    let first = build(longest).map_err(|source| AskError::Prompt { stage: STAGE, source })?;
    // A token has at least one byte.
    if first.iter().map(|message| message.joined_text().len()).sum::<usize>() <= context {
        return Ok((longest, first));
    }
    let (level, messages) = ask.fit(STAGE, &levels, |budget| build(*budget))?;
    let budget = levels.get(level).copied().expect("the level that fits is one of them");
    Ok((budget, messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_goes_first() {
        assert_eq!(without_middle("abc", 3), "abc");
        assert_eq!(without_middle("", 0), "");
        assert_eq!(without_middle("abcdefghij", 4), "ab\n[… 6 characters are left out here …]\nij");
        assert_eq!(without_middle("яблоко", 4), "я\n[… 4 characters are left out here …]\nо");
        assert_eq!(without_middle("яблоко", 0), "\n[… 6 characters are left out here …]\n");
    }
}
