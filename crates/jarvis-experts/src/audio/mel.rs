//! Spectrograms on mel scales: Whisper's (Slaney's scale, logarithm to base 10, relative to the loudest point) and Kaldi's
//! filter banks as the Audio Spectrogram Transformer takes them. Frames are computed by ranges, so that a long recording needs
//! the memory of one window.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::resample::Resampled;

/// How a mel scale bends frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Linear below 1 kHz, logarithmic above; filters of equal area.
    Slaney,
    /// 1127 ln(1 + f/700), triangles in mel space, filters of equal height.
    Kaldi,
}

impl Scale {
    fn mel(self, hertz: f64) -> f64 {
        match self {
            Scale::Slaney if hertz >= 1_000.0 => 15.0 + (hertz / 1_000.0).ln() * 27.0 / 6.4_f64.ln(),
            Scale::Slaney => hertz * 3.0 / 200.0,
            Scale::Kaldi => 1_127.0 * (1.0 + hertz / 700.0).ln(),
        }
    }

    fn hertz(self, mel: f64) -> f64 {
        match self {
            Scale::Slaney if mel >= 15.0 => 1_000.0 * ((mel - 15.0) * 6.4_f64.ln() / 27.0).exp(),
            Scale::Slaney => mel * 200.0 / 3.0,
            Scale::Kaldi => 700.0 * ((mel / 1_127.0).exp() - 1.0),
        }
    }
}

/// Triangular filters over the bins of a spectrum: for each the first bin and the weights from there.
fn filters(scale: Scale, bands: usize, fft: usize, rate: u32, low: f64, high: f64) -> Vec<(usize, Vec<f64>)> {
    let (low, high) = (scale.mel(low), scale.mel(high));
    let edges: Vec<f64> = (0..bands + 2).map(|nth| low + (high - low) * nth as f64 / (bands + 1) as f64).collect();
    let step = f64::from(rate) / fft as f64;
    edges
        .windows(3)
        .map(|edge| {
            let (&[left, peak, right], height) = (edge.first_chunk().expect("windows of three"), scale);
            // Slaney's triangles are straight in hertz, Kaldi's in mel.
            let place = |hertz: f64| if scale == Scale::Kaldi { scale.mel(hertz) } else { hertz };
            let corner = |mel: f64| if scale == Scale::Kaldi { mel } else { scale.hertz(mel) };
            let (left, peak, right) = (corner(left), corner(peak), corner(right));
            let height = if height == Scale::Slaney { 2.0 / (right - left) } else { 1.0 };
            let weight = |bin: usize| {
                let at = place(bin as f64 * step);
                height * ((at - left) / (peak - left)).min((right - at) / (right - peak)).max(0.0)
            };
            let weights: Vec<f64> = (0..=fft / 2).map(weight).collect();
            let first = weights.iter().position(|weight| *weight > 0.0).unwrap_or(0);
            let last = weights.iter().rposition(|weight| *weight > 0.0).map_or(first, |last| last + 1);
            (first, weights.get(first..last).unwrap_or_default().to_vec())
        })
        .collect()
}

/// Mel powers of windowed frames.
struct Bank {
    fft: Arc<dyn Fft<f64>>,
    size: usize,
    filters: Vec<(usize, Vec<f64>)>,
}

impl Bank {
    fn new(size: usize, filters: Vec<(usize, Vec<f64>)>) -> Bank {
        Bank { fft: FftPlanner::new().plan_fft_forward(size), size, filters }
    }

    /// The power in each band of a frame, which is zero-padded to the size of the transform.
    fn powers<'a>(
        &'a self,
        frame: impl Iterator<Item = f64>,
        scratch: &'a mut Vec<Complex<f64>>,
    ) -> impl Iterator<Item = f64> + 'a {
        scratch.clear();
        scratch.extend(frame.map(|value| Complex::new(value, 0.0)));
        scratch.resize(self.size, Complex::new(0.0, 0.0));
        self.fft.process(scratch);
        let spectrum: &'a [Complex<f64>] = scratch;
        self.filters.iter().map(move |(first, weights)| {
            let bins = spectrum.get(*first..).unwrap_or_default();
            weights.iter().zip(bins).map(|(weight, bin)| weight * bin.norm_sqr()).sum::<f64>()
        })
    }
}

/// Whisper's spectrogram: frames centred on multiples of the hop, edges reflected.
pub(super) struct LogMel {
    bank: Bank,
    window: Vec<f64>,
    hop: usize,
}

impl LogMel {
    /// `bands` mel bands up to 8 kHz, transforms of `size` samples every `hop` samples.
    pub(super) fn new(bands: usize, size: usize, hop: usize, rate: u32) -> LogMel {
        LogMel::between((0.0, 8_000.0), bands, size, hop, rate)
    }

    /// As [`LogMel::new`], with bands over another range of frequencies, in hertz.
    pub(super) fn between((low, high): (f64, f64), bands: usize, size: usize, hop: usize, rate: u32) -> LogMel {
        let window = (0..size).map(|nth| 0.5 - 0.5 * (2.0 * PI * nth as f64 / size as f64).cos()).collect();
        LogMel { bank: Bank::new(size, filters(Scale::Slaney, bands, size, rate, low, high)), window, hop }
    }

    pub(super) fn bands(&self) -> usize {
        self.bank.filters.len()
    }

    pub(super) fn hop(&self) -> usize {
        self.hop
    }

    /// Frames that a sample reaches into.
    pub(super) fn overlap(&self) -> usize {
        self.window.len() / self.hop + 1
    }

    /// The logarithms (base 10) of `count` frames from `first` on, frame by frame. The sound counts as `len` samples long,
    /// silent beyond its end, and is mirrored at both ends.
    pub(super) fn frames(&self, sound: &Resampled<'_>, len: usize, first: usize, count: usize) -> Vec<f32> {
        let (size, half) = (self.window.len(), self.window.len() / 2);
        let start = (first * self.hop) as isize - half as isize;
        let end = start + (count.saturating_sub(1) * self.hop + size) as isize;
        let inner = (start.max(0) as usize).min(len)..(end.max(0) as usize).min(len);
        let mirror = |at: isize| {
            let last = len as isize - 1;
            let at = if at < 0 { -at } else { 2 * last - at }.clamp(0, last.max(0));
            sound.window(at as usize, 1).first().copied().unwrap_or(0.0)
        };
        let mut samples: Vec<f32> = (start..start.max(0).min(end)).map(mirror).collect();
        samples.extend(sound.window(inner.start, inner.len()).iter());
        samples.extend((end.min(len as isize).max(start.max(0))..end).map(mirror));
        let mut scratch = Vec::with_capacity(size);
        let mut logs = Vec::with_capacity(count * self.bands());
        for nth in 0..count {
            let frame = samples.get(nth * self.hop..).unwrap_or_default().iter().zip(&self.window);
            let frame = frame.map(|(sample, weight)| f64::from(*sample) * weight);
            logs.extend(self.bank.powers(frame, &mut scratch).map(|power| power.max(1e-10).log10() as f32));
        }
        logs
    }

    /// The loudest point among these frames, as a logarithm.
    pub(super) fn loudest(&self, sound: &Resampled<'_>, len: usize, first: usize, count: usize) -> f32 {
        self.frames(sound, len, first, count).into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    /// A model's input: `width` frames band by band, `count` of them from `first` on and zeros after. What lies more than 80 dB
    /// below `loudest` is raised to there.
    pub(super) fn input(
        &self,
        sound: &Resampled<'_>,
        len: usize,
        frames: std::ops::Range<usize>,
        loudest: f32,
        width: usize,
    ) -> Vec<f32> {
        let (bands, count) = (self.bands(), frames.len().min(width));
        let logs = self.frames(sound, len, frames.start, count);
        let mut input = vec![0.0; bands * width];
        for (frame, logs) in logs.chunks_exact(bands).enumerate() {
            for (row, log) in input.chunks_exact_mut(width).zip(logs) {
                if let Some(value) = row.get_mut(frame) {
                    *value = (log.max(loudest - 8.0) + 4.0) / 4.0;
                }
            }
        }
        input
    }
}

impl fmt::Debug for LogMel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogMel").field("bands", &self.bands()).field("hop", &self.hop).finish_non_exhaustive()
    }
}

/// Kaldi's filter banks as the Audio Spectrogram Transformer takes them: 25 ms frames every 10 ms, no padding at the edges,
/// offset removed, pre-emphasis 0.97, symmetric Hann window, natural logarithm.
pub(super) struct FilterBank {
    bank: Bank,
    window: Vec<f64>,
    hop: usize,
}

impl FilterBank {
    const EMPHASIS: f64 = 0.97;
    /// Kaldi's floor is the precision of its numbers.
    const FLOOR: f64 = f32::EPSILON as f64;

    pub(super) fn new(bands: usize, rate: u32) -> FilterBank {
        let (length, hop) = (rate as usize * 25 / 1_000, rate as usize / 100);
        let size = length.next_power_of_two();
        let filters = filters(Scale::Kaldi, bands, size, rate, 20.0, f64::from(rate / 2));
        let window = (0..length).map(|nth| 0.5 - 0.5 * (2.0 * PI * nth as f64 / (length - 1) as f64).cos()).collect();
        FilterBank { bank: Bank::new(size, filters), window, hop }
    }

    /// The whole frames of these samples, at most `most`, frame by frame.
    pub(super) fn frames(&self, samples: &[f32], most: usize) -> Vec<f32> {
        let mut scratch = Vec::with_capacity(self.bank.size);
        let mut logs = Vec::new();
        for frame in samples.windows(self.window.len()).step_by(self.hop).take(most) {
            let mean = frame.iter().map(|sample| f64::from(*sample)).sum::<f64>() / frame.len() as f64;
            let mut before = frame.first().map_or(0.0, |first| f64::from(*first) - mean);
            let emphasised = frame.iter().zip(&self.window).map(|(sample, weight)| {
                let value = f64::from(*sample) - mean;
                let change = value - FilterBank::EMPHASIS * before;
                before = value;
                change * weight
            });
            logs.extend(
                self.bank.powers(emphasised, &mut scratch).map(|power| power.max(FilterBank::FLOOR).ln() as f32),
            );
        }
        logs
    }
}

impl fmt::Debug for FilterBank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBank").field("hop", &self.hop).finish_non_exhaustive()
    }
}
