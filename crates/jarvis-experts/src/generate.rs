//! Text generation token by token with an ONNX decoder: key-value cache, greedy and beam search.
//!
//! Serves every encoder-decoder and decoder-only graph in optimum's layout, whatever the encoder reads (text, pictures, sounds).
//! Tokenisation and prompts belong to the callers. Decoding is deterministic: there is no sampling.
//!
//! ```ignore
//! let decoder = Decoder::open(files, resources)?;
//! let config = GenerationConfig::read(files, &["summarization"])?;
//! let source = Source { states: &encoder_hidden_states, mask: None };
//! let prompts = vec![vec![config.start(files)?]];
//! let made = decoder.generate(Some(source), &prompts, &config, &mut Hooks::default(), call)?;
//! ```

mod beam;
mod config;
mod decoder;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use config::GenerationConfig;
pub(crate) use decoder::{Decoder, Source};
pub(crate) use rules::log_softmax;

use beam::{BeamSearch, Settings};
use rules::Rules;

use crate::{Call, ExpertError};

/// Most rows (sources times beams) that one decoding may hold.
const MAX_ROWS: usize = 256;

/// What a caller adds to a decoding.
#[derive(Default)]
pub(crate) struct Hooks<'a> {
    /// Sees the logits of each step before any rule, with the tokens so far (prompt included).
    pub(crate) inspect: Option<&'a mut Inspect<'a>>,
    /// Changes the scores after the configuration's rules, with the tokens so far (prompt included). Scores are logits in greedy
    /// search and log-probabilities in beam search; −∞ forbids a token.
    pub(crate) adjust: Option<&'a mut Adjust<'a>>,
    /// Receives each token as it is chosen. Greedy search over one source only: beams are not final before the end.
    pub(crate) on_token: Option<&'a mut OnToken<'a>>,
}

pub(crate) type Inspect<'a> = dyn FnMut(&[u32], &[f32]) + 'a;
pub(crate) type Adjust<'a> = dyn FnMut(&[u32], &mut [f32]) + 'a;
pub(crate) type OnToken<'a> = dyn FnMut(u32) + 'a;

/// One generated sequence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Generated {
    /// Without the prompt and without the end token.
    pub(crate) tokens: Vec<u32>,
    /// Sum over the tokens, the end token included.
    pub(crate) log_probability: f32,
    /// What beams were ranked by: the sum divided by the length to the power of the length penalty.
    pub(crate) score: f32,
    /// Whether an end token ended it, rather than the length limit.
    pub(crate) is_complete: bool,
}

impl Decoder {
    /// Generates one sequence for each prompt, greedily or with beams as the configuration says. The prompts are of one length;
    /// with a source, there is one prompt for each of its rows. Sequences that have ended leave the batch.
    ///
    /// # Errors
    /// When a prompt is empty or leaves no room below the length limit, the engine fails, or the call is over.
    pub(crate) fn generate(
        &self,
        source: Option<Source<'_>>,
        prompts: &[Vec<u32>],
        config: &GenerationConfig,
        hooks: &mut Hooks<'_>,
        call: &Call,
    ) -> Result<Vec<Generated>, ExpertError> {
        let prompt = prompts.first().map_or(0, Vec::len);
        let length_limit = config.length_limit(prompt);
        if prompts.is_empty() {
            return Ok(Vec::new());
        }
        if prompt == 0 || prompts.iter().any(|other| other.len() != prompt) {
            return Err(self.files().failed("decoder prompts must have one length above 0"));
        }
        if prompt >= length_limit {
            return Err(ExpertError::BadInput(format!(
                "a prompt of {prompt} tokens leaves no room below the limit of {length_limit} tokens of the model `{}`",
                self.files().id
            )));
        }
        if prompts.len() * config.num_beams > MAX_ROWS {
            return Err(self.files().failed(format!("more than {MAX_ROWS} sequences at once")));
        }
        if config.num_beams == 1 {
            self.greedy(source, prompts, config, hooks, call)
        } else {
            self.beams(source, prompts, config, hooks, call)
        }
    }

    /// The logits of the token that follows each prompt, without any rule: language detection, scores of yes and no.
    ///
    /// # Errors
    /// As [`Decoder::generate`].
    pub(crate) fn next_logits(
        &self,
        source: Option<Source<'_>>,
        prompts: &[Vec<u32>],
        call: &Call,
    ) -> Result<Vec<Vec<f32>>, ExpertError> {
        call.check()?;
        let sequences: Vec<&[u32]> = prompts.iter().map(Vec::as_slice).collect();
        self.step(&mut self.begin(prompts.len()), source, &sequences)
    }

    fn greedy(
        &self,
        source: Option<Source<'_>>,
        prompts: &[Vec<u32>],
        config: &GenerationConfig,
        hooks: &mut Hooks<'_>,
        call: &Call,
    ) -> Result<Vec<Generated>, ExpertError> {
        struct Row {
            source: usize,
            tokens: Vec<u32>,
            log_probability: f32,
        }
        let prompt = prompts.first().map_or(0, Vec::len);
        let rules = Rules::new(config, prompt);
        let length_limit = config.length_limit(prompt);
        let mut done: Vec<Option<Generated>> = vec![None; prompts.len()];
        let mut progress = self.begin(prompts.len());
        let mut rows: Vec<Row> = prompts
            .iter()
            .enumerate()
            .map(|(source, tokens)| Row { source, tokens: tokens.clone(), log_probability: 0.0 })
            .collect();
        while !rows.is_empty() {
            call.check()?;
            let sequences: Vec<&[u32]> = rows.iter().map(|row| row.tokens.as_slice()).collect();
            let all_scores = self.step(&mut progress, source, &sequences)?;
            let mut kept = Vec::with_capacity(rows.len());
            let mut going_on = Vec::with_capacity(rows.len());
            for (index, (mut row, mut scores)) in rows.into_iter().zip(all_scores).enumerate() {
                apply(hooks, &rules, config, &row.tokens, &mut scores);
                let token = best(&scores).ok_or_else(|| self.files().failed("no token has a finite score"))?;
                log_softmax(&mut scores);
                row.log_probability += scores.get(token).copied().unwrap_or_default();
                let token = token as u32;
                let ends = config.eos_token_id.contains(&token);
                if !ends {
                    row.tokens.push(token);
                    if let Some(on_token) = &mut hooks.on_token
                        && prompts.len() == 1
                    {
                        on_token(token);
                    }
                }
                if ends || row.tokens.len() >= length_limit {
                    let length = row.tokens.len() - prompt + usize::from(ends);
                    let score = row.log_probability / (length as f32).powf(config.length_penalty);
                    let tokens = row.tokens.split_off(prompt);
                    let generated =
                        Generated { tokens, log_probability: row.log_probability, score, is_complete: ends };
                    if let Some(place) = done.get_mut(row.source) {
                        *place = Some(generated);
                    }
                } else {
                    kept.push(index);
                    going_on.push(row);
                }
            }
            rows = going_on;
            if !rows.is_empty() {
                self.select(&mut progress, source, &kept)?;
            }
        }
        Ok(done.into_iter().flatten().collect())
    }

    fn beams(
        &self,
        source: Option<Source<'_>>,
        prompts: &[Vec<u32>],
        config: &GenerationConfig,
        hooks: &mut Hooks<'_>,
        call: &Call,
    ) -> Result<Vec<Generated>, ExpertError> {
        let prompt = prompts.first().map_or(0, Vec::len);
        let rules = Rules::new(config, prompt);
        let settings = Settings {
            beams: config.num_beams,
            length_penalty: config.length_penalty,
            early_stopping: config.early_stopping,
            eos: &config.eos_token_id,
            prompt,
            length_limit: config.length_limit(prompt),
        };
        let mut searches: Vec<(bool, BeamSearch<'_>)> =
            prompts.iter().map(|tokens| (true, BeamSearch::new(settings, tokens))).collect();
        let mut progress = self.begin(prompts.len());
        while searches.iter().any(|(runs, _)| *runs) {
            call.check()?;
            let running = searches.iter().filter(|(runs, _)| *runs).flat_map(|(_, search)| &search.running);
            let sequences: Vec<&[u32]> = running.map(|beam| beam.tokens.as_slice()).collect();
            let mut all_scores = self.step(&mut progress, source, &sequences)?.into_iter();
            let mut parents = Vec::new();
            let mut first_row = 0;
            for (runs, search) in searches.iter_mut().filter(|(runs, _)| *runs) {
                let rows = search.running.len();
                let mut scores: Vec<Vec<f32>> = all_scores.by_ref().take(rows).collect();
                for (beam, scores) in search.running.iter().zip(&mut scores) {
                    if let Some(inspect) = &mut hooks.inspect {
                        inspect(&beam.tokens, scores);
                    }
                    log_softmax(scores);
                    adjust(hooks, &rules, config, &beam.tokens, scores);
                }
                *runs = search.advance(&scores);
                if *runs {
                    parents.extend(search.running.iter().map(|beam| first_row + beam.parent));
                }
                first_row += rows;
            }
            if !parents.is_empty() {
                self.select(&mut progress, source, &parents)?;
            }
        }
        let no_beam = || self.files().failed("no token has a finite score");
        searches
            .into_iter()
            .map(|(_, search)| {
                let mut best = search.best().ok_or_else(no_beam)?;
                let is_complete = best.tokens.last().is_some_and(|last| config.eos_token_id.contains(last));
                let mut tokens = best.tokens.split_off(prompt.min(best.tokens.len()));
                if is_complete {
                    tokens.pop();
                }
                Ok(Generated { tokens, log_probability: best.log_probability, score: best.score, is_complete })
            })
            .collect()
    }
}

/// Everything that changes logits, in greedy search.
fn apply(hooks: &mut Hooks<'_>, rules: &Rules<'_>, config: &GenerationConfig, tokens: &[u32], scores: &mut [f32]) {
    if let Some(inspect) = &mut hooks.inspect {
        inspect(tokens, scores);
    }
    adjust(hooks, rules, config, tokens, scores);
}

fn adjust(hooks: &mut Hooks<'_>, rules: &Rules<'_>, config: &GenerationConfig, tokens: &[u32], scores: &mut [f32]) {
    rules.apply(tokens, scores);
    if let Some(adjust) = &mut hooks.adjust {
        adjust(tokens, scores);
    }
    if config.renormalize_logits {
        log_softmax(scores);
    }
}

/// The index of the largest finite score, the first of equals.
fn best(scores: &[f32]) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (index, score) in scores.iter().enumerate() {
        if *score > best.map_or(f32::NEG_INFINITY, |(_, best)| best) && score.is_finite() {
            best = Some((index, *score));
        }
    }
    best.map(|(index, _)| index)
}
