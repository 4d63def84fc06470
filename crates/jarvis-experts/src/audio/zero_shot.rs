//! Which of given labels fit a sound, by CLAP: a spectrogram of ten seconds and a sentence for each label, compared by one graph.
//! Shorter sounds are repeated while they fit, and silent after that; longer ones get the mean of their windows, where the reference
//! takes a window by chance.

use serde::Deserialize;

use super::mel::LogMel;
use super::resample::Resampled;
use crate::onnx::{Session, floats, ints, numbers};
use crate::vision::LabelTokenizer;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Scored, Sound};

/// More labels than anybody writes.
const MAX_LABELS: usize = 1000;

/// The most tokens of a label.
const MAX_TOKENS: usize = 77;

/// `preprocessor_config.json`, with the defaults of the published extractor.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Settings {
    feature_size: usize,
    sampling_rate: u32,
    fft_window_size: usize,
    hop_length: usize,
    max_length_s: usize,
    frequency_min: f64,
    frequency_max: f64,
    /// `fusion` where the model takes four spectrograms at once.
    truncation: String,
    /// `repeatpad`, `repeat`, or anything else for silence.
    padding: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            feature_size: 64,
            sampling_rate: 48_000,
            fft_window_size: 1024,
            hop_length: 480,
            max_length_s: 10,
            frequency_min: 0.0,
            frequency_max: 14_000.0,
            truncation: "fusion".to_owned(),
            padding: "repeatpad".to_owned(),
        }
    }
}

impl Settings {
    fn read(files: &ModelFiles) -> Result<Settings, ExpertError> {
        const NAME: &str = "preprocessor_config.json";
        let settings: Settings = files.json(NAME)?;
        if settings.truncation == "fusion" {
            return Err(files.unsupported("it takes long sounds in four parts (fusion); the unfused models are run"));
        }
        for (name, value, low, high) in [
            ("feature_size", settings.feature_size, 1, 512),
            ("sampling_rate", settings.sampling_rate as usize, 4_000, 48_000),
            ("fft_window_size", settings.fft_window_size, 16, 8_192),
            ("hop_length", settings.hop_length, 16, settings.fft_window_size),
            ("max_length_s", settings.max_length_s, 1, 60),
        ] {
            if !(low..=high).contains(&value) {
                return Err(files.bad(NAME, format!("`{name}` is {value}, outside {low} to {high}")));
            }
        }
        let (low, high) = (settings.frequency_min, settings.frequency_max);
        if !(0.0..high).contains(&low) || high > f64::from(settings.sampling_rate) {
            return Err(files.bad(NAME, format!("frequencies from {low} to {high} Hz")));
        }
        Ok(settings)
    }
}

#[derive(Debug)]
pub(super) struct ZeroShotClassifier {
    files: ModelFiles,
    session: Session,
    tokenizer: LabelTokenizer,
    mel: LogMel,
    settings: Settings,
}

impl ZeroShotClassifier {
    pub(super) fn open(files: &ModelFiles, resources: &Resources) -> Result<ZeroShotClassifier, ExpertError> {
        let settings = Settings::read(files)?;
        let tokenizer = LabelTokenizer::open(files, Some(MAX_TOKENS))?;
        let session = Session::open(files, "model", resources)?;
        if !session.output_names().iter().any(|name| name == SCORES) {
            return Err(files.unsupported(format!("its graph has no output `{SCORES}`")));
        }
        let range = (settings.frequency_min, settings.frequency_max);
        let (bands, size, hop) = (settings.feature_size, settings.fft_window_size, settings.hop_length);
        let mel = LogMel::between(range, bands, size, hop, settings.sampling_rate);
        Ok(ZeroShotClassifier { files: files.clone(), session, tokenizer, mel, settings })
    }

    /// The spectrogram of a window in decibels, frame by frame.
    fn spectrogram(&self, samples: Vec<f32>) -> Result<Vec<f32>, ExpertError> {
        let window = self.window();
        let sound = Sound { rate: self.settings.sampling_rate, samples: self.filled(samples) };
        let sound = Resampled::new(&sound, self.settings.sampling_rate)?;
        let logs = self.mel.frames(&sound, window, 0, self.frames());
        Ok(logs.into_iter().map(|log| 10.0 * log).collect())
    }

    /// Samples of a window.
    fn window(&self) -> usize {
        self.settings.max_length_s * self.settings.sampling_rate as usize
    }

    fn frames(&self) -> usize {
        self.window() / self.settings.hop_length + 1
    }

    /// A window from what may be less.
    fn filled(&self, samples: Vec<f32>) -> Vec<f32> {
        let window = self.window();
        let times = window / samples.len().max(1);
        let length = match self.settings.padding.as_str() {
            "repeatpad" => samples.len() * times,
            "repeat" => window,
            _ => samples.len(),
        };
        let mut filled: Vec<f32> = samples.into_iter().cycle().take(length.min(window)).collect();
        filled.resize(window, 0.0);
        filled
    }
}

/// The output of the whole graph.
const SCORES: &str = "logits_per_audio";

/// A sound and labels, of which none is empty.
fn asked(input: &Input) -> Result<(&Sound, &[String]), ExpertError> {
    let Input::SoundChoices { sound, labels } = input else {
        return Err(ExpertError::BadInput("this model takes a sound and labels".to_owned()));
    };
    if labels.is_empty() || labels.iter().any(|label| label.trim().is_empty()) {
        return Err(ExpertError::BadInput("this model needs at least one label, and no empty ones".to_owned()));
    }
    if labels.len() > MAX_LABELS {
        return Err(ExpertError::BadInput(format!("this model takes at most {MAX_LABELS} labels at once")));
    }
    Ok((sound, labels))
}

impl LocalModel for ZeroShotClassifier {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let (sound, labels) = asked(input)?;
        let sound = Resampled::new(sound, self.settings.sampling_rate)?;
        let texts: Vec<String> = labels.iter().map(|label| format!("This is a sound of {label}.")).collect();
        let rows = self.tokenizer.rows(&texts, None)?;
        let window = self.window();
        let mut totals = vec![0.0; labels.len()];
        let mut windows = 0.0;
        for start in (0..sound.len()).step_by(window) {
            call.check()?;
            let count = window.min(sound.len() - start);
            // A remainder of less than a second says nothing beside whole windows.
            if start > 0 && count < self.settings.sampling_rate as usize {
                break;
            }
            let features = self.spectrogram(sound.window(start, count).into_owned())?;
            let shape = [1, 1, self.frames(), self.settings.feature_size];
            let inputs = vec![
                ("input_ids", ints(&rows.shape, rows.ids.clone()).into()),
                ("attention_mask", ints(&rows.shape, rows.mask.clone()).into()),
                ("input_features", floats(&shape, features).into()),
                ("is_longer", ints(&[1, 1], vec![0]).into()),
            ];
            let made = self.session.run(inputs, &[SCORES])?;
            let made = made.first().ok_or_else(|| self.files.failed("the engine gave no output"))?;
            let (_, logits) = numbers(&self.files, made)?;
            if logits.len() != labels.len() {
                return Err(self.files.failed("it gave another number of scores than of labels"));
            }
            let loudest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f32> = logits.iter().map(|logit| (logit - loudest).exp()).collect();
            let sum: f32 = powers.iter().sum();
            // A window counts by how much of the sound it holds.
            let weight = count as f32 / window as f32;
            totals.iter_mut().zip(&powers).for_each(|(total, power)| *total += weight * power / sum);
            windows += weight;
        }
        let scored = labels.iter().zip(totals);
        let mut scored: Vec<Scored> =
            scored.map(|(label, total)| Scored { label: label.clone(), score: total / windows }).collect();
        scored.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(Output::Labels(scored))
    }
}
