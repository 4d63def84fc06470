//! Models of sound: speech to text, labels, voice activity, and text to speech.

mod classify;
mod ctc;
mod features;
#[cfg(test)]
mod fixtures;
mod mel;
mod resample;
mod silero;
mod speak;
mod whisper;
mod zero_shot;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use self::speak::espeak_voice;

use crate::{ExpertError, LocalModel, ModelFiles, Resources};

/// The parts of `config.json` that models of sound share.
#[derive(Debug, Clone, Default, Deserialize)]
struct AudioConfig {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Option<Vec<String>>,
    #[serde(default)]
    id2label: Option<BTreeMap<String, String>>,
    conv_stride: Option<Vec<usize>>,
    pad_token_id: Option<usize>,
    sampling_rate: Option<u32>,
}

impl AudioConfig {
    /// The names of the classes by number; a class without one is named by its number.
    fn labels(&self) -> Vec<String> {
        let names = self.id2label.clone().unwrap_or_default();
        (0..names.len())
            .map(|nth| names.get(&nth.to_string()).cloned().unwrap_or_else(|| format!("LABEL_{nth}")))
            .collect()
    }

    /// Whether an architecture of this ending is named; any will do where the file names none.
    fn is_for(&self, ending: &str) -> bool {
        match self.architectures.as_deref() {
            Some([]) | None => true,
            Some(names) => names.iter().any(|name| name.ends_with(ending)),
        }
    }

    /// Whether the model listens to waveforms through wav2vec 2.0's convolutions.
    fn is_waveform(&self) -> bool {
        const TYPES: [&str; 8] = [
            "wav2vec2",
            "hubert",
            "wavlm",
            "unispeech",
            "unispeech-sat",
            "data2vec-audio",
            "sew",
            "wav2vec2-conformer",
        ];
        self.model_type.as_deref().is_some_and(|kind| TYPES.contains(&kind))
    }
}

/// The model for this task type, where it is one of these.
pub(crate) fn open(
    files: &ModelFiles,
    task: &str,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    fn boxed<M: LocalModel + 'static>(model: M) -> Option<Box<dyn LocalModel>> {
        Some(Box::new(model))
    }
    // Voice detectors come without a configuration.
    if task == "voice-activity-detection" {
        return Ok(silero::VoiceDetector::open(files, resources)?.and_then(boxed));
    }
    if !TASKS.contains(&task) {
        return Ok(None);
    }
    let config: AudioConfig = files.json_if_there("config.json")?.unwrap_or_default();
    let kind = config.model_type.as_deref().unwrap_or_default();
    Ok(match task {
        "automatic-speech-recognition" if config.is_waveform() && config.is_for("ForCTC") => {
            boxed(ctc::CtcRecogniser::open(files, &config, resources)?)
        }
        "automatic-speech-recognition" if kind == "whisper" && config.is_for("ForConditionalGeneration") => {
            boxed(whisper::WhisperRecogniser::open(files, resources)?)
        }
        "audio-classification"
            if (config.is_waveform() && config.is_for("ForSequenceClassification"))
                || kind == "audio-spectrogram-transformer"
                || (kind == "whisper" && config.is_for("ForAudioClassification")) =>
        {
            boxed(classify::SoundClassifier::open(files, &config, resources)?)
        }
        "zero-shot-audio-classification" if kind == "clap" => {
            boxed(zero_shot::ZeroShotClassifier::open(files, resources)?)
        }
        "text-to-speech" => speak::Speaker::open(files, &config, resources)?.and_then(boxed),
        _ => None,
    })
}

/// Task types with a `config.json` to look at.
const TASKS: [&str; 4] =
    ["automatic-speech-recognition", "audio-classification", "zero-shot-audio-classification", "text-to-speech"];
