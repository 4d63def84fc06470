//! What models of sound take: the waveform or a spectrogram, as their `preprocessor_config.json` says.

use serde::Deserialize;

use super::mel::{FilterBank, LogMel};
use crate::{ExpertError, ModelFiles};

/// Seconds that a model of waveforms is given at once: the memory of attention grows with the square of it.
pub(super) const WINDOW_SECONDS: usize = 30;

/// Samples that a waveform has at least, silence after it included: the convolutions need several hundred for one frame.
pub(super) const MIN_SAMPLES: usize = 1_600;

/// `preprocessor_config.json` of a model of sound, with the defaults of the published extractors.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Preprocessor {
    #[serde(default = "default_rate")]
    pub(super) sampling_rate: u32,
    /// Mel bands of Whisper; 1 for waveforms.
    feature_size: Option<usize>,
    n_fft: Option<usize>,
    hop_length: Option<usize>,
    /// Seconds of Whisper's window.
    chunk_length: Option<usize>,
    do_normalize: Option<bool>,
    num_mel_bins: Option<usize>,
    max_length: Option<usize>,
    mean: Option<f32>,
    std: Option<f32>,
}

fn default_rate() -> u32 {
    16_000
}

impl Preprocessor {
    /// Reads the file; without one, a waveform of 16 kHz.
    ///
    /// # Errors
    /// When a rate or a size is out of the range that models have.
    pub(super) fn read(files: &ModelFiles) -> Result<Preprocessor, ExpertError> {
        const NAME: &str = "preprocessor_config.json";
        let Some(config) = files.json_if_there::<Preprocessor>(NAME)? else {
            return serde_json::from_str("{}").map_err(|error| files.bad(NAME, error));
        };
        let bounded = |name: &str, value: Option<usize>, range: std::ops::RangeInclusive<usize>| match value {
            Some(value) if !range.contains(&value) => {
                Err(files.bad(NAME, format!("`{name}` is {value}, outside {} to {}", range.start(), range.end())))
            }
            Some(_) | None => Ok(()),
        };
        bounded("sampling_rate", Some(config.sampling_rate as usize), 4_000..=48_000)?;
        bounded("feature_size", config.feature_size, 1..=512)?;
        bounded("n_fft", config.n_fft, 16..=8_192)?;
        bounded("hop_length", config.hop_length, 16..=config.n_fft.unwrap_or(400))?;
        bounded("chunk_length", config.chunk_length, 1..=60)?;
        bounded("num_mel_bins", config.num_mel_bins, 1..=512)?;
        Ok(config)
    }

    /// The waveform front end: zero mean and unit variance where the model wants it.
    pub(super) fn waveform(&self) -> Waveform {
        Waveform { normalise: self.do_normalize.unwrap_or(true) }
    }

    /// Whisper's front end.
    pub(super) fn whisper(&self) -> WhisperFeatures {
        let hop = self.hop_length.unwrap_or(160);
        let samples = self.chunk_length.unwrap_or(30) * self.sampling_rate as usize;
        let mel = LogMel::new(self.feature_size.unwrap_or(80), self.n_fft.unwrap_or(400), hop, self.sampling_rate);
        WhisperFeatures { mel, samples, frames: samples / hop }
    }

    /// The front end of the Audio Spectrogram Transformer.
    ///
    /// # Errors
    /// When the window has no sensible length.
    pub(super) fn spectrogram(&self, files: &ModelFiles) -> Result<Spectrogram, ExpertError> {
        let frames = self.max_length.unwrap_or(1_024);
        if !(1..=16_384).contains(&frames) {
            return Err(files.bad("preprocessor_config.json", format!("`max_length` is {frames}, outside 1 to 16384")));
        }
        let bands = self.num_mel_bins.unwrap_or(128);
        let (mean, std) = (self.mean.unwrap_or(-4.267_739_3), self.std.unwrap_or(4.568_997_4));
        let scale = self.do_normalize.unwrap_or(true).then_some((mean, 2.0 * std));
        Ok(Spectrogram { bank: FilterBank::new(bands, self.sampling_rate), bands, frames, scale })
    }
}

/// Samples as they are, or normalised.
#[derive(Debug)]
pub(super) struct Waveform {
    normalise: bool,
}

impl Waveform {
    /// The model's input for one window.
    pub(super) fn input(&self, samples: &[f32]) -> Vec<f32> {
        if !self.normalise {
            return samples.to_vec();
        }
        let count = samples.len().max(1) as f64;
        let mean = samples.iter().map(|sample| f64::from(*sample)).sum::<f64>() / count;
        let variance = samples.iter().map(|sample| (f64::from(*sample) - mean).powi(2)).sum::<f64>() / count;
        let scale = (variance + 1e-7).sqrt();
        samples.iter().map(|sample| ((f64::from(*sample) - mean) / scale) as f32).collect()
    }
}

/// Whisper's spectrogram and the size of its window.
#[derive(Debug)]
pub(super) struct WhisperFeatures {
    pub(super) mel: LogMel,
    /// Samples of a window.
    pub(super) samples: usize,
    /// Frames of a window.
    pub(super) frames: usize,
}

/// Filter banks of a window of fixed length, normalised.
#[derive(Debug)]
pub(super) struct Spectrogram {
    bank: FilterBank,
    pub(super) bands: usize,
    pub(super) frames: usize,
    /// Mean and divisor.
    scale: Option<(f32, f32)>,
}

impl Spectrogram {
    /// The model's input for one window, frame by frame; short sounds are followed by zeros.
    pub(super) fn input(&self, samples: &[f32]) -> Vec<f32> {
        let mut values = self.bank.frames(samples, self.frames);
        values.resize(self.frames * self.bands, 0.0);
        if let Some((mean, divisor)) = self.scale {
            values.iter_mut().for_each(|value| *value = (*value - mean) / divisor);
        }
        values
    }

    /// Samples that fill the window.
    pub(super) fn samples(&self, rate: u32) -> usize {
        (self.frames - 1) * (rate as usize / 100) + rate as usize * 25 / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{expected, sound};
    use super::super::resample::Resampled;
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        bands: usize,
        seconds: usize,
        count: i64,
        seed: u32,
        every: usize,
        features: Vec<Vec<f32>>,
    }

    #[test]
    fn spectrograms_are_those_of_the_reference() {
        for case in expected::<Vec<Case>>("audio-mel") {
            let config = format!(r#"{{"feature_size": {}, "chunk_length": {}}}"#, case.bands, case.seconds);
            let features = serde_json::from_str::<Preprocessor>(&config).unwrap().whisper();
            let sound = sound(case.count, case.seed);
            let sound = Resampled::new(&sound, 16_000).unwrap();
            let loudest = features.mel.loudest(&sound, features.samples, 0, features.frames);
            let whole = features.mel.input(&sound, features.samples, 0..features.frames, loudest, features.frames);
            let mut worst = 0.0_f32;
            for (row, wanted) in whole.chunks_exact(features.frames).zip(&case.features) {
                for (value, wanted) in row.iter().step_by(case.every).zip(wanted) {
                    worst = worst.max((value - wanted).abs());
                }
            }
            println!("{} bands: largest difference {worst:e}", case.bands);
            assert!(worst <= 1e-4, "{} bands: {worst}", case.bands);
            // A part of the frames is the same as that part of all, and zeros follow.
            let part = features.mel.input(&sound, features.samples, 100..150, loudest, features.frames);
            for (part, whole) in part.chunks_exact(features.frames).zip(whole.chunks_exact(features.frames)) {
                assert_eq!(part[..50], whole[100..150]);
                assert!(part[50..].iter().all(|value| *value == 0.0));
            }
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = ModelFiles::new("m", folder.path());
        for config in [
            r#"{"sampling_rate": 0}"#,
            r#"{"sampling_rate": 4000000000}"#,
            r#"{"feature_size": 1000000000}"#,
            r#"{"n_fft": 0}"#,
            r#"{"n_fft": 400, "hop_length": 0}"#,
            r#"{"hop_length": 401}"#,
            r#"{"chunk_length": 100000}"#,
            r#"{"num_mel_bins": 0}"#,
            r#"{"sampling_rate": "fast"}"#,
        ] {
            std::fs::write(folder.path().join("preprocessor_config.json"), config).unwrap();
            assert!(matches!(Preprocessor::read(&files), Err(ExpertError::BadFile { .. })), "{config}");
        }
        std::fs::write(folder.path().join("preprocessor_config.json"), r#"{"max_length": 1000000000}"#).unwrap();
        assert!(Preprocessor::read(&files).unwrap().spectrogram(&files).is_err());
    }
}
