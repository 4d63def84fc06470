//! Another sample rate: band-limited interpolation with a Hann-windowed sinc, its phases computed once.

use std::f64::consts::PI;

/// Zero crossings of the sinc at each side; more is sharper and slower.
const CROSSINGS: f64 = 16.0;
/// Phases above this are rounded to the nearest: the error is below 16 bit noise.
const MOST_PHASES: usize = 1024;

/// Resamples. Length follows the ratio of the rates; the content stays in place.
pub(super) fn resample(samples: &[f32], from: u32, to: u32) -> Vec<f32> {
    if from == to || samples.is_empty() {
        return samples.to_vec();
    }
    let ratio = f64::from(to) / f64::from(from);
    let phases = ((to / gcd(from, to)) as usize).min(MOST_PHASES);
    // What the lower of the two rates cannot hold is taken out.
    let cutoff = ratio.min(1.0) * 0.97;
    let reach = (CROSSINGS / cutoff).ceil() as usize;
    let taps = 2 * reach;
    let kernel: Vec<f32> = (0..phases)
        .flat_map(|phase| {
            let offset = phase as f64 / phases as f64;
            let weights: Vec<f64> = (0..taps)
                .map(|tap| {
                    let distance = tap as f64 - (reach as f64 - 1.0) - offset;
                    let window = 0.5 + 0.5 * (PI * distance / reach as f64).cos();
                    sinc(cutoff * distance) * if distance.abs() < reach as f64 { window } else { 0.0 }
                })
                .collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(move |weight| (weight / sum) as f32)
        })
        .collect();
    let length = (samples.len() as f64 * ratio).round().max(1.0) as usize;
    (0..length)
        .map(|nth| {
            let place = nth as f64 / ratio;
            let mut base = place.floor() as usize;
            let mut phase = ((place - base as f64) * phases as f64).round() as usize;
            if phase == phases {
                phase = 0;
                base += 1;
            }
            let weights = kernel.get(phase * taps..(phase + 1) * taps).unwrap_or(&[]);
            let start = (base + 1) as isize - reach as isize;
            let skip = usize::try_from(-start).unwrap_or(0);
            let window = samples.get(usize::try_from(start).unwrap_or(0).min(samples.len())..).unwrap_or(&[]);
            let weights = weights.get(skip.min(weights.len())..).unwrap_or(&[]);
            weights.iter().zip(window).map(|(weight, sample)| weight * sample).sum()
        })
        .collect()
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-9 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
