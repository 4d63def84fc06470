//! From the logits of classes to scores and names.

/// Turns logits into shares of 1.
pub(super) fn softmax(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponentials: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f32 = exponentials.iter().sum();
    exponentials.iter().map(|value| value / sum).collect()
}

pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The place and the value of the largest, the first where several are equal. None where there is no number.
pub(super) fn best(values: &[f32]) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (at, value) in values.iter().enumerate() {
        if best.is_none_or(|(_, most)| *value > most) && !value.is_nan() {
            best = Some((at, *value));
        }
    }
    best
}
