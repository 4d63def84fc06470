//! Whisper's rules for timestamps: they come in pairs, never go back, and are chosen when together they are likelier than any
//! piece of text.

use super::tokens::WhisperTokens;

/// The rules for one prompt.
pub(super) struct TimestampRules<'a> {
    tokens: &'a WhisperTokens,
    /// Tokens of the prompt.
    prompt: usize,
}

impl<'a> TimestampRules<'a> {
    pub(super) fn new(tokens: &'a WhisperTokens, prompt: usize) -> TimestampRules<'a> {
        TimestampRules { tokens, prompt }
    }

    /// Forbids what may not follow these tokens, prompt included.
    pub(super) fn apply(&self, tokens: &[u32], scores: &mut [f32]) {
        let begin = self.tokens.timestamp_begin as usize;
        forbid(scores, self.tokens.no_timestamps as usize, begin);
        let written = tokens.get(self.prompt..).unwrap_or_default();
        let is_timestamp = |id: &u32| *id >= self.tokens.timestamp_begin;
        let is_open = match written {
            [.., before, last] if is_timestamp(last) => {
                if is_timestamp(before) {
                    forbid(scores, begin, usize::MAX);
                } else {
                    forbid(scores, 0, self.tokens.end as usize);
                }
                !is_timestamp(before)
            }
            [last] if is_timestamp(last) => {
                forbid(scores, begin, usize::MAX);
                false
            }
            _ => false,
        };
        if let Some(last) = written.iter().rfind(|id| is_timestamp(id)) {
            // A segment may begin when the one before ends, and never ends when it begins.
            forbid(scores, begin, *last as usize + usize::from(!is_open));
        }
        if written.is_empty() {
            forbid(scores, 0, begin);
            if let Some(latest) = self.tokens.max_initial_timestamp {
                forbid(scores, begin.saturating_add(latest).saturating_add(1), usize::MAX);
            }
        }
        let (text, timestamps) = scores.split_at(begin.min(scores.len()));
        let largest = timestamps.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let likeliest_text = text.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if largest.is_finite() {
            let sum: f32 = timestamps.iter().map(|score| (score - largest).exp()).sum();
            if largest + sum.ln() > likeliest_text {
                forbid(scores, 0, begin);
            }
        }
    }
}

/// Forbids the tokens from `start` to before `end`.
fn forbid(scores: &mut [f32], start: usize, end: usize) {
    let end = end.min(scores.len());
    if let Some(scores) = scores.get_mut(start..end) {
        scores.fill(f32::NEG_INFINITY);
    }
}
