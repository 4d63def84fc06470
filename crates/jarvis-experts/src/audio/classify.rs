//! Labels for sounds: wav2vec 2.0 and its kin on waveforms, the Audio Spectrogram Transformer on filter banks, Whisper's
//! encoder on its spectrogram. Sounds longer than a window get the mean of their windows' probabilities.

use rten::{Value, ValueOrView};

use super::AudioConfig;
use super::features::{MIN_SAMPLES, Preprocessor, Spectrogram, WINDOW_SECONDS, Waveform, WhisperFeatures};
use super::resample::Resampled;
use crate::onnx::{Session, floats, ints, numbers};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Scored};

/// A classifier of sounds.
#[derive(Debug)]
pub(super) struct SoundClassifier {
    files: ModelFiles,
    session: Session,
    front: FrontEnd,
    labels: Vec<String>,
    rate: u32,
}

#[derive(Debug)]
enum FrontEnd {
    Waveform(Waveform),
    Spectrogram(Spectrogram),
    Whisper(WhisperFeatures),
}

impl SoundClassifier {
    pub(super) fn open(
        files: &ModelFiles,
        config: &AudioConfig,
        resources: &Resources,
    ) -> Result<SoundClassifier, ExpertError> {
        let preprocessor = Preprocessor::read(files)?;
        let front = match config.model_type.as_deref() {
            Some("audio-spectrogram-transformer") => FrontEnd::Spectrogram(preprocessor.spectrogram(files)?),
            Some("whisper") => FrontEnd::Whisper(preprocessor.whisper()),
            Some(_) | None => FrontEnd::Waveform(preprocessor.waveform()),
        };
        Ok(SoundClassifier {
            files: files.clone(),
            session: Session::open(files, "model", resources)?,
            front,
            labels: config.labels(),
            rate: preprocessor.sampling_rate,
        })
    }

    /// Samples of a window.
    fn window(&self) -> usize {
        match &self.front {
            FrontEnd::Waveform(_) => WINDOW_SECONDS * self.rate as usize,
            FrontEnd::Spectrogram(spectrogram) => spectrogram.samples(self.rate),
            FrontEnd::Whisper(features) => features.samples,
        }
    }

    /// The inputs of the graph for one window.
    fn inputs(&self, sound: &Resampled<'_>, start: usize, count: usize) -> Vec<(&'static str, ValueOrView<'static>)> {
        let tensor = |shape: &[usize], values| -> Value { floats(shape, values) };
        match &self.front {
            FrontEnd::Waveform(waveform) => {
                let count = count.max(MIN_SAMPLES);
                let shape = [1, count];
                let values = tensor(&shape, waveform.input(&sound.window(start, count)));
                vec![("input_values", values.into()), ("attention_mask", ints(&shape, vec![1; count]).into())]
            }
            FrontEnd::Spectrogram(front) => {
                let values = front.input(&sound.window(start, count));
                vec![("input_values", tensor(&[1, front.frames, front.bands], values).into())]
            }
            FrontEnd::Whisper(features) => {
                let samples = crate::Sound { rate: self.rate, samples: sound.window(start, count).into_owned() };
                let Ok(sound) = Resampled::new(&samples, self.rate) else { return Vec::new() };
                let loudest = features.mel.loudest(&sound, features.samples, 0, features.frames);
                let values = features.mel.input(&sound, features.samples, 0..features.frames, loudest, features.frames);
                vec![("input_features", tensor(&[1, features.mel.bands(), features.frames], values).into())]
            }
        }
    }
}

impl LocalModel for SoundClassifier {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Sound { sound, .. } = input else {
            return Err(ExpertError::BadInput("sound classification takes a sound".to_owned()));
        };
        let sound = Resampled::new(sound, self.rate)?;
        let window = self.window();
        let mut totals: Vec<f32> = Vec::new();
        let mut windows = 0.0;
        for start in (0..sound.len()).step_by(window) {
            call.check()?;
            let count = window.min(sound.len() - start);
            // A remainder of less than a second says nothing beside whole windows.
            if start > 0 && count < self.rate as usize {
                break;
            }
            let (_, logits) = numbers(&self.files, &self.session.run_first(self.inputs(&sound, start, count))?)?;
            let loudest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f32> = logits.iter().map(|logit| (logit - loudest).exp()).collect();
            let sum: f32 = powers.iter().sum();
            totals.resize(powers.len(), 0.0);
            totals.iter_mut().zip(&powers).for_each(|(total, power)| *total += power / sum);
            windows += 1.0;
        }
        let label = |nth: usize| self.labels.get(nth).cloned().unwrap_or_else(|| format!("LABEL_{nth}"));
        let mut scored: Vec<Scored> = totals
            .iter()
            .enumerate()
            .map(|(nth, total)| Scored { label: label(nth), score: total / windows })
            .collect();
        scored.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(Output::Labels(scored))
    }
}
