//! What kind of sound it is, by measuring: silence, a tone, noise, or something with the rhythm of speech.
//!
//! Speech is recognised by its envelope, which swells and fades with the syllables, two to eight times a second.

use jarvis_plan::{ErrorCode, TaskError};
use microfft::real::{rfft_512, rfft_8192};
use serde_json::{Value, json};

use super::super::Cancel;
use super::resample::resample;
use super::wav::Sound;

const RATE: u32 = 16_000;
const WINDOW: usize = 512;
const HOP: usize = 256;
/// Frames a second of the envelope.
const FRAME_RATE: f64 = RATE as f64 / HOP as f64;
/// Longer sounds are judged by their first two minutes.
const MOST_SECONDS: usize = 120;
/// Points of the envelope's spectrum: room for [`MOST_SECONDS`] of frames, shorter envelopes are padded with zeros.
const ENVELOPE: usize = 8192;
const _: () = assert!(MOST_SECONDS * RATE as usize / HOP <= ENVELOPE);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Features {
    /// Loudness of the whole, decibels below full scale.
    pub(super) db: f64,
    /// Sign changes a sample, over the frames that are not silent.
    pub(super) crossings: f64,
    /// Geometric over arithmetic mean of the power spectrum: near 0 for tones, 0.56 for white noise.
    pub(super) flatness: f64,
    /// Share of power in the three strongest narrow bands.
    pub(super) peaks: f64,
    /// Standard deviation of the envelope over its mean.
    pub(super) swing: f64,
    /// Share of the envelope's movement that is at 2 to 8 Hz, of that at 0.5 to 25 Hz.
    pub(super) syllables: f64,
}

/// Labels with scores that add up to 1, best first: `speech-like`, `tone`, `noise`, `silence`.
pub(super) fn classify(sound: &Sound, cancel: &Cancel) -> Result<Value, TaskError> {
    let features = measure(sound, cancel)?;
    let mut rows = score(&features);
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rows = rows.into_iter().map(|(label, score)| json!({"label": label, "score": (score * 1e3).round() / 1e3}));
    Ok(Value::Array(rows.collect()))
}

/// From 0 below `low` to 1 above `high`.
fn ramp(value: f64, low: f64, high: f64) -> f64 {
    ((value - low) / (high - low)).clamp(0.0, 1.0)
}

fn score(features: &Features) -> Vec<(&'static str, f64)> {
    let Features { db, crossings, flatness, peaks, swing, syllables } = *features;
    let silent = ramp(db, -45.0, -65.0);
    let audible = 1.0 - silent;
    let rhythm = ramp(swing, 0.25, 0.7) * ramp(syllables, 0.15, 0.4);
    let steady = 1.0 - ramp(swing, 0.2, 0.9);
    let tone = ramp(peaks, 0.5, 0.9) * (0.4 + 0.6 * steady) * (1.0 - ramp(flatness, 0.05, 0.3));
    let noise = ramp(flatness, 0.1, 0.4) * (0.3 + 0.7 * steady);
    let speech = rhythm * (1.0 - 0.7 * ramp(flatness, 0.3, 0.5)) * (1.0 - 0.6 * ramp(peaks, 0.85, 0.99));
    // Voiced sounds cross zero rarely; hiss nearly every other sample.
    let speech = speech * (1.0 - 0.5 * ramp(crossings, 0.25, 0.45));
    let raw =
        [("speech-like", audible * speech), ("tone", audible * tone), ("noise", audible * noise), ("silence", silent)];
    let sum: f64 = raw.iter().map(|(_, score)| score + 0.02).sum();
    raw.into_iter().map(|(label, score)| (label, (score + 0.02) / sum)).collect()
}

pub(super) fn measure(sound: &Sound, cancel: &Cancel) -> Result<Features, TaskError> {
    let mut mono = sound.mono();
    mono.truncate(MOST_SECONDS * sound.rate as usize);
    if mono.is_empty() {
        return Err(TaskError::new(ErrorCode::InvalidInput, "the sound has no samples"));
    }
    let mut mono = resample(&mono, sound.rate, RATE);
    cancel.check()?;
    let mean = mono.iter().sum::<f32>() / mono.len() as f32;
    mono.iter_mut().for_each(|sample| *sample -= mean);
    let power = |samples: &[f32]| samples.iter().map(|x| f64::from(x * x)).sum::<f64>() / samples.len().max(1) as f64;
    let db = 10.0 * power(&mono).max(1e-12).log10();
    mono.resize(mono.len().max(WINDOW), 0.0);
    let frames: Vec<&[f32]> = mono.windows(WINDOW).step_by(HOP).collect();
    let envelope: Vec<f64> = frames.iter().map(|frame| power(frame).sqrt()).collect();
    let loudest = envelope.iter().copied().fold(0.0, f64::max);
    let active = |level: f64| level > 1e-4 && level > loudest * 0.05;
    // 94 Hz to 7 kHz, or to what the recording can hold: hum and the filter's edge are left out.
    let highest = f64::min(7000.0, f64::from(sound.rate) * 0.42);
    let bands = ((highest * WINDOW as f64 / f64::from(RATE)) as usize).saturating_sub(3).max(8);
    let mut input = [0.0; WINDOW];
    let hann = |at: usize| 0.5 - 0.5 * (std::f32::consts::TAU * at as f32 / WINDOW as f32).cos();
    let (mut flatness, mut peaks, mut crossings, mut count) = (0.0, 0.0, 0.0, 0.0);
    for (frame, level) in frames.iter().zip(&envelope) {
        if !active(*level) {
            continue;
        }
        input.iter_mut().zip(*frame).enumerate().for_each(|(at, (slot, sample))| *slot = sample * hann(at));
        let bins: Vec<f64> =
            rfft_512(&mut input).iter().skip(3).take(bands).map(|bin| f64::from(bin.norm_sqr()) + 1e-12).collect();
        let total: f64 = bins.iter().sum();
        let mean_log = bins.iter().map(|bin| bin.ln()).sum::<f64>() / bins.len() as f64;
        flatness += mean_log.exp() / (total / bins.len() as f64);
        peaks += strongest(bins, 3) / total;
        let changes = frame.iter().zip(frame.iter().skip(1)).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)).count();
        crossings += changes as f64 / WINDOW as f64;
        count += 1.0;
    }
    let count = f64::max(count, 1.0);
    let (swing, syllables) = rhythm(&envelope);
    let (flatness, peaks, crossings) = (flatness / count, peaks / count, crossings / count);
    Ok(Features { db, crossings, flatness, peaks, swing, syllables })
}

/// The power in the strongest bands, each of five bins (the width of the window's main lobe).
fn strongest(mut bins: Vec<f64>, bands: usize) -> f64 {
    let mut sum = 0.0;
    for _ in 0..bands {
        let best = bins.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at);
        for bin in bins.iter_mut().take(best + 3).skip(best.saturating_sub(2)) {
            sum += std::mem::take(bin);
        }
    }
    sum
}

/// How much the envelope moves, and how much of the movement is at the rate of syllables.
fn rhythm(envelope: &[f64]) -> (f64, f64) {
    let mean = envelope.iter().sum::<f64>() / envelope.len().max(1) as f64;
    if mean < 1e-6 || envelope.len() < 16 {
        return (0.0, 0.0);
    }
    let variance = envelope.iter().map(|level| (level - mean).powi(2)).sum::<f64>() / envelope.len() as f64;
    let mut input = Box::new([0.0; ENVELOPE]);
    input.iter_mut().zip(envelope).for_each(|(slot, level)| *slot = (level - mean) as f32);
    let spectrum = rfft_8192(&mut input);
    let band = |low: f64, high: f64| {
        let rate = |bin: usize| bin as f64 * FRAME_RATE / ENVELOPE as f64;
        let inside = spectrum.iter().enumerate().filter(|(bin, _)| (low..=high).contains(&rate(*bin)));
        inside.map(|(_, bin)| f64::from(bin.norm_sqr())).sum::<f64>()
    };
    (variance.sqrt() / mean, band(2.0, 8.0) / band(0.5, 25.0).max(1e-12))
}
