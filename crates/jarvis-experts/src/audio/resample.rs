//! Sample-rate conversion: band-limited interpolation with a Hann-windowed sinc. Any part of the result can be computed
//! alone, so that a long recording is never held twice.

use std::borrow::Cow;
use std::f64::consts::PI;

use crate::{ExpertError, Sound};

/// Zero crossings of the sinc at each side; more is sharper and slower.
const CROSSINGS: f64 = 16.0;
/// Phases above this are rounded to the nearest: the error is below 16-bit noise.
const MAX_PHASES: usize = 1024;
/// Rates that recordings have. The filter's length grows with the ratio of the rates, so both ends are bounded.
const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;

/// A sound seen at another rate.
pub(super) struct Resampled<'a> {
    samples: &'a [f32],
    filter: Option<Filter>,
    len: usize,
}

/// The interpolation kernel, sampled at each phase.
struct Filter {
    ratio: f64,
    phases: usize,
    reach: usize,
    kernel: Vec<f32>,
}

impl<'a> Resampled<'a> {
    /// A view of the sound at `rate` samples per second.
    ///
    /// # Errors
    /// [`ExpertError::BadInput`] when the sound is empty or its rate is out of range.
    pub(super) fn new(sound: &'a Sound, rate: u32) -> Result<Resampled<'a>, ExpertError> {
        if !RATES.contains(&sound.rate) || !RATES.contains(&rate) {
            let (low, high) = (RATES.start(), RATES.end());
            return Err(ExpertError::BadInput(format!("sample rate {} Hz is outside {low} to {high} Hz", sound.rate)));
        }
        if sound.samples.is_empty() {
            return Err(ExpertError::BadInput("the sound has no samples".to_owned()));
        }
        if sound.samples.iter().any(|sample| !sample.is_finite()) {
            return Err(ExpertError::BadInput("the sound has samples that are not numbers".to_owned()));
        }
        let filter = (sound.rate != rate).then(|| Filter::new(sound.rate, rate));
        let ratio = filter.as_ref().map_or(1.0, |filter| filter.ratio);
        let len = (sound.samples.len() as f64 * ratio).round().max(1.0) as usize;
        Ok(Resampled { samples: &sound.samples, filter, len })
    }

    /// Samples at the new rate.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// `count` samples from `start` on; zeros beyond the end.
    pub(super) fn window(&self, start: usize, count: usize) -> Cow<'a, [f32]> {
        let end = start.saturating_add(count);
        match &self.filter {
            None => match self.samples.get(start..end) {
                Some(samples) => Cow::Borrowed(samples),
                None => {
                    let mut samples = self.samples.get(start..).unwrap_or_default().to_vec();
                    samples.resize(count, 0.0);
                    Cow::Owned(samples)
                }
            },
            Some(filter) => (start..end)
                .map(|nth| if nth < self.len { filter.at(self.samples, nth) } else { 0.0 })
                .collect::<Vec<f32>>()
                .into(),
        }
    }
}

impl Filter {
    fn new(from: u32, to: u32) -> Filter {
        let ratio = f64::from(to) / f64::from(from);
        let phases = ((to / gcd(from, to)) as usize).min(MAX_PHASES);
        // Frequencies that the lower of the two rates cannot hold would alias.
        let cutoff = ratio.min(1.0) * 0.97;
        let reach = (CROSSINGS / cutoff).ceil() as usize;
        let kernel = (0..phases)
            .flat_map(|phase| {
                let offset = phase as f64 / phases as f64;
                let weights: Vec<f64> = (0..2 * reach)
                    .map(|tap| {
                        let distance = tap as f64 - (reach as f64 - 1.0) - offset;
                        let hann = 0.5 + 0.5 * (PI * distance / reach as f64).cos();
                        if distance.abs() < reach as f64 { sinc(cutoff * distance) * hann } else { 0.0 }
                    })
                    .collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(move |weight| (weight / sum) as f32)
            })
            .collect();
        Filter { ratio, phases, reach, kernel }
    }

    /// One sample of the result.
    fn at(&self, samples: &[f32], nth: usize) -> f32 {
        let taps = 2 * self.reach;
        let place = nth as f64 / self.ratio;
        let mut base = place.floor() as usize;
        let mut phase = ((place - base as f64) * self.phases as f64).round() as usize;
        if phase == self.phases {
            phase = 0;
            base += 1;
        }
        let weights = self.kernel.get(phase * taps..(phase + 1) * taps).unwrap_or_default();
        let before = self.reach.saturating_sub(base + 1);
        let start = (base + 1).saturating_sub(self.reach).min(samples.len());
        let weights = weights.get(before..).unwrap_or_default();
        let samples = samples.get(start..).unwrap_or_default();
        weights.iter().zip(samples).map(|(weight, sample)| weight * sample).sum()
    }
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-9 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(rate: u32, hertz: f64, seconds: f64) -> Sound {
        let samples = (0..(f64::from(rate) * seconds) as usize)
            .map(|nth| (2.0 * PI * hertz * nth as f64 / f64::from(rate)).sin() as f32)
            .collect();
        Sound { rate, samples }
    }

    /// A tone below both Nyquist frequencies is kept to −50 dB; one above the lower disappears.
    fn check(from: u32, to: u32, hertz: f64, kept: bool) {
        let sound = tone(from, hertz, 0.5);
        let view = Resampled::new(&sound, to).unwrap();
        assert_eq!(view.len(), (f64::from(to) * 0.5).round() as usize);
        let got = view.window(0, view.len());
        let want = tone(to, if kept { hertz } else { 0.0 }, 0.5);
        let edge = to as usize / 20;
        let worst = (edge..view.len() - edge).map(|nth| (got[nth] - want.samples[nth]).abs()).fold(0.0, f32::max);
        assert!(worst < 3e-3, "{from} to {to} Hz, {hertz} Hz: {worst}");
        // A part computed alone is the same as that part of the whole.
        assert_eq!(&view.window(1_000, 321)[..], &got[1_000..1_321]);
        assert!(view.window(view.len(), 8).iter().all(|sample| *sample == 0.0));
    }

    #[test]
    fn tones_keep_their_place_and_aliases_vanish() {
        check(16_000, 16_000, 440.0, true);
        check(8_000, 16_000, 440.0, true);
        check(44_100, 16_000, 3_000.0, true);
        check(48_000, 16_000, 6_000.0, true);
        check(48_000, 16_000, 10_000.0, false);
        check(22_050, 16_000, 1_000.0, true);
    }

    #[test]
    fn unusable_sounds_are_refused() {
        for sound in [
            Sound { rate: 0, samples: vec![0.0] },
            Sound { rate: u32::MAX, samples: vec![0.0] },
            Sound { rate: 16_000, samples: Vec::new() },
            Sound { rate: 16_000, samples: vec![f32::NAN] },
        ] {
            assert!(matches!(Resampled::new(&sound, 16_000), Err(ExpertError::BadInput(_))), "{sound:?}");
        }
    }
}
