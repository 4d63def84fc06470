//! Beam search over one source, as transformers defines it: candidates of all running beams are ranked together, those that end
//! become hypotheses scored by their length, the best others run on.

use super::config::EarlyStopping;

/// A beam that runs on: where it came from and what it has added.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Running {
    /// Tokens with the prompt.
    pub(super) tokens: Vec<u32>,
    pub(super) log_probability: f32,
    /// Which of the beams before this step it continues.
    pub(super) parent: usize,
}

/// A sequence that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hypothesis {
    pub(super) tokens: Vec<u32>,
    pub(super) log_probability: f32,
    pub(super) score: f32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) beams: usize,
    pub(super) length_penalty: f32,
    pub(super) early_stopping: EarlyStopping,
    pub(super) eos: &'a [u32],
    pub(super) prompt: usize,
    pub(super) length_limit: usize,
}

/// The search over one source.
#[derive(Debug)]
pub(super) struct BeamSearch<'a> {
    settings: Settings<'a>,
    pub(super) running: Vec<Running>,
    /// At most as many as beams, best first.
    finished: Vec<Hypothesis>,
}

impl<'a> BeamSearch<'a> {
    pub(super) fn new(settings: Settings<'a>, prompt: &[u32]) -> BeamSearch<'a> {
        let start = Running { tokens: prompt.to_vec(), log_probability: 0.0, parent: 0 };
        BeamSearch { settings, running: vec![start], finished: Vec::new() }
    }

    /// Takes the log-probabilities of the next token for each running beam and moves one step on. Returns whether the search
    /// goes on; then [`BeamSearch::running`] holds the new beams.
    pub(super) fn advance(&mut self, scores: &[Vec<f32>]) -> bool {
        let Settings { beams, eos, .. } = self.settings;
        let keep = (1 + eos.len()).max(2) * beams;
        let candidates = self.candidates(scores, keep);
        let length = self.running.first().map_or(0, |beam| beam.tokens.len()) + 1;
        let at_limit = length >= self.settings.length_limit;
        let new_tokens = (length.saturating_sub(self.settings.prompt)).max(1) as f32;
        let mut running = Vec::with_capacity(beams);
        let full = self.finished.len() >= beams && self.settings.early_stopping == EarlyStopping::WhenFull;
        for (rank, (parent, token, log_probability)) in candidates.into_iter().enumerate() {
            let ends = at_limit || eos.contains(&token);
            if ends && (rank >= beams || full) || !ends && running.len() >= beams {
                continue;
            }
            let Some(from) = self.running.get(parent) else { continue };
            let mut tokens = Vec::with_capacity(length + 1);
            tokens.extend_from_slice(&from.tokens);
            tokens.push(token);
            if ends {
                let score = log_probability / new_tokens.powf(self.settings.length_penalty);
                self.finished.push(Hypothesis { tokens, log_probability, score });
            } else {
                running.push(Running { tokens, log_probability, parent });
            }
        }
        self.finished.sort_by(|one, other| other.score.total_cmp(&one.score));
        self.finished.truncate(beams);
        self.running = running;
        !at_limit && !self.running.is_empty() && self.can_improve(length)
    }

    /// The best continuations of all beams, best first: beam, token and summed log-probability.
    fn candidates(&self, scores: &[Vec<f32>], keep: usize) -> Vec<(usize, u32, f32)> {
        let mut best: Vec<(usize, u32, f32)> = Vec::with_capacity(keep.saturating_mul(2));
        let mut floor = f32::NEG_INFINITY;
        let order = |one: &(usize, u32, f32), other: &(usize, u32, f32)| other.2.total_cmp(&one.2);
        for (index, (beam, scores)) in self.running.iter().zip(scores).enumerate() {
            for (token, score) in scores.iter().enumerate() {
                let sum = beam.log_probability + score;
                // Also leaves out NaN and what the rules forbid.
                if sum > floor {
                    best.push((index, token as u32, sum));
                    if best.len() >= keep.saturating_mul(2) {
                        best.sort_by(order);
                        best.truncate(keep);
                        floor = best.last().map_or(floor, |last| last.2);
                    }
                }
            }
        }
        best.sort_by(order);
        best.truncate(keep);
        best
    }

    fn can_improve(&self, length: usize) -> bool {
        let Settings { beams, length_penalty, early_stopping, prompt, length_limit, .. } = self.settings;
        if self.finished.len() < beams {
            return true;
        }
        if early_stopping == EarlyStopping::WhenFull {
            return false;
        }
        let at_most = match early_stopping {
            EarlyStopping::Never if length_penalty > 0.0 => length_limit,
            EarlyStopping::Never | EarlyStopping::Heuristic | EarlyStopping::WhenFull => length,
        };
        let at_most = at_most.saturating_sub(prompt).max(1) as f32;
        let best = self.running.first().map_or(f32::NEG_INFINITY, |beam| beam.log_probability);
        let worst = self.finished.last().map_or(f32::NEG_INFINITY, |hypothesis| hypothesis.score);
        best / at_most.powf(length_penalty) > worst
    }

    /// The best hypothesis, or the best running beam where none has ended.
    pub(super) fn best(self) -> Option<Hypothesis> {
        let running = self.running.into_iter().next();
        self.finished.into_iter().next().or_else(|| {
            let beam = running?;
            Some(Hypothesis { tokens: beam.tokens, log_probability: beam.log_probability, score: beam.log_probability })
        })
    }
}
