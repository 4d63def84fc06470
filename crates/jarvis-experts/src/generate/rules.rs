//! Rules that change the scores of the next token before one is chosen, in transformers' order.

use super::config::GenerationConfig;

/// The rules of a configuration, for sequences that begin with the same number of prompt tokens.
pub(super) struct Rules<'a> {
    config: &'a GenerationConfig,
    least_length: usize,
    length_limit: usize,
    /// Length at which the first free token is chosen.
    begin: usize,
}

impl<'a> Rules<'a> {
    pub(super) fn new(config: &'a GenerationConfig, prompt: usize) -> Rules<'a> {
        let begin = if prompt > 1 || config.forced_bos_token_id.is_none() { prompt } else { prompt + 1 };
        Rules { config, least_length: config.least_length(prompt), length_limit: config.length_limit(prompt), begin }
    }

    /// Applies them to the scores of the token that follows these, prompt included.
    pub(super) fn apply(&self, tokens: &[u32], scores: &mut [f32]) {
        let config = self.config;
        if config.repetition_penalty != 1.0 {
            penalise_repetition(tokens, scores, config.repetition_penalty);
        }
        if config.no_repeat_ngram_size > 0 {
            forbid_ngrams(tokens, scores, config.no_repeat_ngram_size);
        }
        for word in &config.bad_words_ids {
            self.forbid_word(word, tokens, scores);
        }
        if tokens.len() < self.least_length {
            forbid(&config.eos_token_id, scores);
        }
        if let Some(first) = config.forced_bos_token_id
            && tokens.len() == 1
        {
            force(&[first], scores);
        }
        if !config.forced_eos_token_id.is_empty() && tokens.len() + 1 == self.length_limit {
            force(&config.forced_eos_token_id, scores);
        }
        forbid(&config.suppress_tokens, scores);
        if tokens.len() == self.begin {
            forbid(&config.begin_suppress_tokens, scores);
        }
    }

    fn forbid_word(&self, word: &[u32], tokens: &[u32], scores: &mut [f32]) {
        let Some((last, start)) = word.split_last() else { return };
        // An end token alone is no bad word, else nothing would end.
        if start.is_empty() && self.config.eos_token_id.contains(last) {
            return;
        }
        if tokens.ends_with(start) {
            forbid(&[*last], scores);
        }
    }
}

fn forbid(ids: &[u32], scores: &mut [f32]) {
    for id in ids {
        if let Some(score) = scores.get_mut(*id as usize) {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// Leaves only these; ids outside the vocabulary force nothing.
fn force(ids: &[u32], scores: &mut [f32]) {
    if !ids.iter().any(|id| (*id as usize) < scores.len()) {
        return;
    }
    scores.fill(f32::NEG_INFINITY);
    for id in ids {
        if let Some(score) = scores.get_mut(*id as usize) {
            *score = 0.0;
        }
    }
}

fn penalise_repetition(tokens: &[u32], scores: &mut [f32], penalty: f32) {
    let mut seen = tokens.to_vec();
    seen.sort_unstable();
    seen.dedup();
    for id in seen {
        if let Some(score) = scores.get_mut(id as usize) {
            *score = if *score < 0.0 { *score * penalty } else { *score / penalty };
        }
    }
}

/// Forbids each token that would complete an n-gram which is there already.
fn forbid_ngrams(tokens: &[u32], scores: &mut [f32], size: usize) {
    if tokens.len() + 1 < size {
        return;
    }
    let (_, start) = tokens.split_at(tokens.len() + 1 - size);
    for ngram in tokens.windows(size) {
        if let Some((last, before)) = ngram.split_last()
            && before == start
        {
            forbid(&[*last], scores);
        }
    }
}

/// Scores to log-probabilities.
pub(crate) fn log_softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !largest.is_finite() {
        return;
    }
    let total: f32 = scores.iter().map(|score| (score - largest).exp()).sum();
    let shift = largest + total.ln();
    for score in scores {
        *score -= shift;
    }
}
