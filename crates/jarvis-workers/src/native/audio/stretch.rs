//! A sound faster or slower at the same pitch: short pieces of it laid over each other, each where it fits the one before best.

use jarvis_plan::TaskError;

use super::super::Cancel;

/// The length of a piece, in seconds, and how far a better place for it is looked for.
const PIECE: f32 = 0.05;
const SEARCH: f32 = 0.012;

/// The samples `factor` times as fast.
pub(super) fn stretch(samples: &[f32], rate: u32, factor: f32, cancel: &Cancel) -> Result<Vec<f32>, TaskError> {
    let length = (samples.len() as f64 / f64::from(factor)).round() as usize;
    let half = ((rate as f32 * PIECE / 2.0) as usize).max(16);
    let search = (rate as f32 * SEARCH) as usize;
    if samples.len() < 4 * half {
        return Ok(samples.to_vec());
    }
    let at = |place: usize| samples.get(place).copied().unwrap_or(0.0);
    let mut made = vec![0.0_f32; length + 2 * half];
    // Where the piece before goes on in the sound as it was.
    let mut follows = 0_usize;
    for (nth, start) in (0..length).step_by(half).enumerate() {
        if nth % 64 == 0 {
            cancel.check()?;
        }
        let wanted = (start as f64 * f64::from(factor)).round() as usize;
        let from = if nth == 0 { 0 } else { best(samples, follows, wanted, half, search) };
        for offset in 0..2 * half {
            let rise = 0.5 - 0.5 * (std::f32::consts::TAU * offset as f32 / (2 * half) as f32).cos();
            // The first piece has none before it to fade from.
            let weight = if nth == 0 && offset < half { 1.0 } else { rise };
            if let Some(sample) = made.get_mut(start + offset) {
                *sample += weight * at(from + offset);
            }
        }
        follows = from + half;
    }
    made.truncate(length);
    Ok(made)
}

/// The place near `wanted` where the sound is most like what follows at `follows`.
fn best(samples: &[f32], follows: usize, wanted: usize, length: usize, search: usize) -> usize {
    let Some(pattern) = samples.get(follows..(follows + length).min(samples.len())) else { return wanted };
    let last = samples.len().saturating_sub(length);
    let likeness = |from: usize, step: usize| -> f32 {
        let piece = samples.get(from..).unwrap_or_default();
        let pairs = pattern.iter().zip(piece).step_by(step);
        let (product, power) = pairs.fold((0.0, 1e-9), |(sum, power), (a, b)| (sum + a * b, power + b * b));
        product / power.sqrt()
    };
    let (low, high) = (wanted.saturating_sub(search).min(last), (wanted + search).min(last));
    let finest = |places: &mut dyn Iterator<Item = usize>, step: usize| {
        places
            .map(|from| (from, likeness(from, step)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(wanted, |(from, _)| from)
    };
    let rough = finest(&mut (low..=high).step_by(4), 4);
    finest(&mut (rough.saturating_sub(3)..=(rough + 3).min(last)), 1)
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn length_changes_and_pitch_stays() {
        let tone: Vec<f32> =
            (0..22_050).map(|nth| (nth as f32 * 440.0 * std::f32::consts::TAU / 22_050.0).sin()).collect();
        let crossings = |samples: &[f32]| samples.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
        for factor in [0.5, 0.8, 1.5, 2.0] {
            let made = stretch(&tone, 22_050, factor, &Cancel(CancellationToken::new())).unwrap();
            assert!((made.len() as f32 - 22_050.0 / factor).abs() < 2.0, "{factor}: {}", made.len());
            let rate = crossings(&made) as f32 / (made.len() as f32 / 22_050.0);
            assert!((rate - 880.0).abs() < 20.0, "{factor}: {rate}");
            let inner = &made[2000..made.len() - 2000];
            let power = (inner.iter().map(|x| x * x).sum::<f32>() / inner.len() as f32).sqrt();
            assert!((power - 0.707).abs() < 0.06, "{factor}: {power}");
        }
        assert!(stretch(&[0.5; 8], 22_050, 2.0, &Cancel(CancellationToken::new())).is_ok());
    }
}
