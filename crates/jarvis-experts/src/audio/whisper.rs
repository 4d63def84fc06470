//! Speech to text by Whisper and its kin (distil-whisper, English-only models): windows of 30 seconds, each decoded with
//! timestamps and followed by the window at its last complete segment, as published in section 3.8 of the paper.
//!
//! Decoding is greedy, or with beams where `generation_config.json` says so. There is no fallback to higher temperatures and
//! windows are not conditioned on the text before them; in their place a window that ends in a loop keeps the first turn of it
//! (see [`segments::cut_loop`]), and a window without speech is skipped by the published thresholds.

mod segments;
mod timestamps;
mod tokens;

use rten::{Value, ValueOrView};
use tokenizers::Tokenizer;

use self::segments::{Segments, cut_loop};
use self::timestamps::TimestampRules;
use self::tokens::WhisperTokens;
use super::features::{Preprocessor, WhisperFeatures};
use super::resample::Resampled;
use crate::generate::{Decoder, Generated, GenerationConfig, Hooks, Source, log_softmax};
use crate::onnx::{Session, floats};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Transcript, TranscriptSegment};

/// A window without a sample above this (−80 dB) is silent, and not decoded: the model makes words of digital silence.
const SILENCE: f32 = 1e-4;

/// A window is also taken as silent when `<|nospeech|>` is likelier than this and the text less likely (mean log-probability of a
/// token) than that.
const NO_SPEECH: f32 = 0.6;
const UNLIKELY: f32 = -1.0;

/// A Whisper model.
#[derive(Debug)]
pub(super) struct WhisperRecogniser {
    files: ModelFiles,
    features: WhisperFeatures,
    rate: u32,
    encoder: Session,
    decoder: Decoder,
    config: GenerationConfig,
    tokens: WhisperTokens,
    tokenizer: Tokenizer,
}

impl WhisperRecogniser {
    pub(super) fn open(files: &ModelFiles, resources: &Resources) -> Result<WhisperRecogniser, ExpertError> {
        let preprocessor = Preprocessor::read(files)?;
        let text = files.text("tokenizer.json")?;
        let tokenizer = text.parse::<Tokenizer>().map_err(|error| files.bad("tokenizer.json", error))?;
        let mut config = GenerationConfig::read(files, &[])?;
        if config.max_length.is_none() && config.max_new_tokens.is_none() {
            config.max_length = config.max_positions;
        }
        let tokens = WhisperTokens::read(files, &config, &tokenizer)?;
        Ok(WhisperRecogniser {
            files: files.clone(),
            features: preprocessor.whisper(),
            rate: preprocessor.sampling_rate,
            encoder: Session::open(files, "encoder_model", resources)?,
            decoder: Decoder::open(files, resources)?,
            config,
            tokens,
            tokenizer,
        })
    }

    /// The encoder's states of one window.
    fn encode(&self, features: Vec<f32>) -> Result<Value, ExpertError> {
        let input = floats(&[1, self.features.mel.bands(), self.features.frames], features);
        self.encoder.run_first(vec![("input_features", ValueOrView::from(input))])
    }

    /// The logits of the token after `<|startoftranscript|>`.
    fn first_logits(&self, states: &Value, call: &Call) -> Result<Vec<f32>, ExpertError> {
        let source = Source { states, mask: None };
        let mut rows = self.decoder.next_logits(Some(source), &[vec![self.tokens.start]], call)?;
        rows.pop().ok_or_else(|| self.files.failed("its decoder gives no logits"))
    }

    /// The tokens of one window after the prompt.
    fn decode(&self, states: &Value, prompt: &[u32], call: &Call) -> Result<Generated, ExpertError> {
        let rules = TimestampRules::new(&self.tokens, prompt.len());
        let mut adjust = |tokens: &[u32], scores: &mut [f32]| rules.apply(tokens, scores);
        let mut hooks = Hooks { adjust: Some(&mut adjust), ..Hooks::default() };
        let source = Source { states, mask: None };
        let mut generated = self.decoder.generate(Some(source), &[prompt.to_vec()], &self.config, &mut hooks, call)?;
        generated.pop().ok_or_else(|| self.files.failed("its decoder gives no tokens"))
    }

    fn is_digital_silence(&self, sound: &Resampled<'_>, first: usize, frames: usize) -> bool {
        let hop = self.features.mel.hop();
        sound.window(first * hop, frames * hop).iter().all(|sample| sample.abs() < SILENCE)
    }

    /// Whether a window has no speech, although the decoder found words for it.
    fn is_silent(&self, generated: &Generated, states: &Value, call: &Call) -> Result<bool, ExpertError> {
        let length = generated.tokens.len() + usize::from(generated.is_complete);
        if generated.log_probability / length.max(1) as f32 >= UNLIKELY {
            return Ok(false);
        }
        let mut scores = self.first_logits(states, call)?;
        log_softmax(&mut scores);
        Ok(self.tokens.no_speech().and_then(|id| scores.get(id as usize)).is_some_and(|log| log.exp() > NO_SPEECH))
    }

    /// The text of these tokens without special tokens and timestamps.
    fn text(&self, tokens: &[u32]) -> Result<String, ExpertError> {
        let text: Vec<u32> = tokens.iter().copied().filter(|id| *id < self.tokens.timestamp_begin).collect();
        self.tokenizer.decode(&text, true).map_err(|error| self.files.failed(error))
    }

    fn transcribe(
        &self,
        sound: &Resampled<'_>,
        language: Option<&str>,
        translate: bool,
        call: &Call,
    ) -> Result<Transcript, ExpertError> {
        let mut language = self.tokens.language(&self.files, language, translate)?;
        let plan = Windows::new(sound.len(), &self.features);
        let loudest = plan.loudest(sound, &self.features, call)?;
        let seconds_per_frame = self.features.mel.hop() as f64 / f64::from(self.rate);
        let mut transcript = Transcript::default();
        let mut seek = 0;
        while seek < plan.content {
            call.check()?;
            let content = (plan.content - seek).min(self.features.frames);
            if self.is_digital_silence(sound, seek, content) {
                seek += content;
                continue;
            }
            let frames = seek..plan.frames.min(seek + self.features.frames);
            let features = self.features.mel.input(sound, plan.samples, frames, loudest, self.features.frames);
            let states = self.encode(features)?;
            if language.is_none() && self.tokens.is_multilingual() {
                language = self.tokens.detect(&self.first_logits(&states, call)?);
            }
            let prompt = self.tokens.prompt(language.as_deref(), translate);
            let mut generated = self.decode(&states, &prompt, call)?;
            if self.is_silent(&generated, &states, call)? {
                seek += content;
                continue;
            }
            if !generated.is_complete {
                cut_loop(&mut generated.tokens);
            }
            let found = Segments::new(&generated.tokens, self.tokens.timestamp_begin, content, seconds_per_frame);
            let offset = seek as f64 * seconds_per_frame;
            for segment in &found.segments {
                let text = self.text(segment.tokens)?;
                call.tell(&text);
                transcript.text.push_str(&text);
                let text = text.trim().to_owned();
                if !text.is_empty() {
                    let (start, end) = ((offset + segment.start) as f32, (offset + segment.end) as f32);
                    transcript.segments.push(TranscriptSegment { start, end, text });
                }
            }
            seek += found.advance.clamp(1, self.features.frames);
        }
        transcript.text = transcript.text.trim().to_owned();
        transcript.language = if self.tokens.is_multilingual() { language } else { Some("en".to_owned()) };
        Ok(transcript)
    }
}

/// How a recording falls into frames.
struct Windows {
    /// Samples, silence at the end of a short recording included.
    samples: usize,
    /// Frames of these samples.
    frames: usize,
    /// Frames of the recording itself.
    content: usize,
}

impl Windows {
    /// A recording shorter than a window is followed by silence up to there; a longer one ends where it ends.
    fn new(samples: usize, features: &WhisperFeatures) -> Windows {
        let content = (samples / features.mel.hop()).max(1);
        if samples <= features.samples {
            Windows { samples: features.samples, frames: features.frames, content: content.min(features.frames) }
        } else {
            Windows { samples, frames: content, content }
        }
    }

    /// The loudest point of the whole recording, which all windows are relative to.
    fn loudest(&self, sound: &Resampled<'_>, features: &WhisperFeatures, call: &Call) -> Result<f32, ExpertError> {
        // The last frames reach into the silence, and no later one is louder.
        let end = self.frames.min(self.content + features.mel.overlap());
        let mut loudest = f32::NEG_INFINITY;
        for first in (0..end).step_by(features.frames.max(1)) {
            call.check()?;
            let count = features.frames.min(end - first);
            loudest = loudest.max(features.mel.loudest(sound, self.samples, first, count));
        }
        Ok(loudest)
    }
}

impl LocalModel for WhisperRecogniser {
    fn memory(&self) -> u64 {
        self.encoder.memory() + self.decoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Sound { sound, language, translate } = input else {
            return Err(ExpertError::BadInput("speech recognition takes a sound".to_owned()));
        };
        let sound = Resampled::new(sound, self.rate)?;
        self.transcribe(&sound, language.as_deref(), *translate, call).map(Output::Transcript)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::fixtures::{difference, expected, files, resources, sound};
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        count: i64,
        seed: u32,
        first_logits: Vec<f32>,
    }

    #[test]
    fn logits_are_those_of_the_reference() {
        let model = WhisperRecogniser::open(&files("audio-whisper"), &resources()).unwrap();
        let call = Call::default();
        for case in expected::<Vec<Case>>("audio-whisper") {
            let sound = sound(case.count, case.seed);
            let sound = Resampled::new(&sound, 16_000).unwrap();
            let plan = Windows::new(sound.len(), &model.features);
            let loudest = plan.loudest(&sound, &model.features, &call).unwrap();
            let width = model.features.frames;
            let features = model.features.mel.input(&sound, plan.samples, 0..width, loudest, width);
            let logits = model.first_logits(&model.encode(features).unwrap(), &call).unwrap();
            let worst = difference(&logits, &case.first_logits);
            println!("sound {}: largest difference {worst:e}", case.seed);
            assert!(worst <= 1e-4, "{worst}");
        }
    }
}
