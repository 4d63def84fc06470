//! Noise suppression with RNNoise, which works on speech at 48 kHz, ten milliseconds at a time.

use jarvis_plan::{ErrorCode, TaskError};
use nnnoiseless::DenoiseState;

use super::super::Cancel;
use super::resample::resample;
use super::wav::{MOST_SAMPLES, Sound};

const RATE: u32 = 48_000;
const FRAME: usize = DenoiseState::FRAME_SIZE;
/// The loudest sample of the result, of 1.
const PEAK: f32 = 0.95;

/// Suppresses noise in each channel, then brings the loudest sample to 0.95. Rate and length stay.
pub(super) fn denoise(sound: Sound, cancel: &Cancel) -> Result<Sound, TaskError> {
    let samples = (sound.seconds() * f64::from(RATE)) as usize * sound.channels.len();
    if samples > MOST_SAMPLES {
        let message = format!("the sound has {samples} samples at 48 kHz; the limit is {MOST_SAMPLES}");
        return Err(TaskError::new(ErrorCode::TooLarge, message).hint("cut it into shorter parts"));
    }
    let rate = sound.rate;
    let mut channels = Vec::with_capacity(sound.channels.len());
    for channel in sound.channels {
        let length = channel.len();
        let wide = resample(&channel, rate, RATE);
        drop(channel);
        let mut cleaned = resample(&clean(&wide, cancel)?, RATE, rate);
        cleaned.resize(length, 0.0);
        channels.push(cleaned);
    }
    let peak = channels.iter().flatten().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
    // What is as good as silent is not blown up.
    if peak > 1e-3 {
        channels.iter_mut().flatten().for_each(|sample| *sample *= PEAK / peak);
    }
    Ok(Sound { rate, channels })
}

pub(super) fn clean(samples: &[f32], cancel: &Cancel) -> Result<Vec<f32>, TaskError> {
    let mut state = DenoiseState::new();
    let mut cleaned = Vec::with_capacity(samples.len() + 2 * FRAME);
    let mut input = [0.0_f32; FRAME];
    let mut output = [0.0_f32; FRAME];
    // The filter answers one frame late, so one frame of silence follows and the first answer is dropped.
    let frames = samples.len().div_ceil(FRAME) + 1;
    for nth in 0..frames {
        if nth % 100 == 0 {
            cancel.check()?;
        }
        input.fill(0.0);
        let rest = samples.get(nth * FRAME..).unwrap_or(&[]);
        input.iter_mut().zip(rest).for_each(|(level, sample)| *level = sample.clamp(-1.0, 1.0) * 32767.0);
        state.process_frame(&mut output, &input);
        if nth > 0 {
            let tidy = |level: &f32| if level.is_finite() { (level / 32767.0).clamp(-1.0, 1.0) } else { 0.0 };
            cleaned.extend(output.iter().map(tidy));
        }
    }
    cleaned.truncate(samples.len());
    Ok(cleaned)
}
