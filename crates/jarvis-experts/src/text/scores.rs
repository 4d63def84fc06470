//! Logits to probabilities.

use crate::Scored;

pub(super) fn softmax(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut scores: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let total: f32 = scores.iter().sum();
    for score in &mut scores {
        *score /= total;
    }
    scores
}

pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The index and the value of the largest, the first of equals.
pub(super) fn largest(values: &[f32]) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (index, value) in values.iter().enumerate() {
        if best.is_none_or(|(_, best)| *value > best) {
            best = Some((index, *value));
        }
    }
    best
}

/// Labels with their scores, best first.
pub(super) fn ranked(labels: Vec<String>, scores: Vec<f32>) -> Vec<Scored> {
    let mut ranked: Vec<Scored> =
        labels.into_iter().zip(scores).map(|(label, score)| Scored { label, score }).collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// A mean of vectors by weight.
#[derive(Debug, Default)]
pub(super) struct Mean {
    sums: Vec<f32>,
    weight: f32,
}

impl Mean {
    pub(super) fn add(&mut self, values: &[f32], weight: f32) {
        self.sums.resize(values.len().max(self.sums.len()), 0.0);
        for (sum, value) in self.sums.iter_mut().zip(values) {
            *sum += value * weight;
        }
        self.weight += weight;
    }

    pub(super) fn get(self) -> Vec<f32> {
        let weight = self.weight;
        self.sums.into_iter().map(|sum| sum / weight).collect()
    }
}
