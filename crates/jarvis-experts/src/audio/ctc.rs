//! Speech recognition by models that label each frame (wav2vec 2.0, HuBERT, WavLM): the best label of each frame, repeats and
//! blanks removed. No language model. Recordings longer than a window are read in overlapping windows, and the frames at the
//! overlap's outer halves are dropped.

use std::collections::HashMap;

use rten::ValueOrView;
use serde::Deserialize;
use serde_json::Value;

use super::AudioConfig;
use super::features::{MIN_SAMPLES, Preprocessor, WINDOW_SECONDS, Waveform};
use super::resample::Resampled;
use crate::onnx::{Session, floats, ints, numbers};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Transcript, TranscriptSegment};

/// Seconds of context at each side of a window.
const OVERLAP_SECONDS: usize = WINDOW_SECONDS / 6;
/// Labels that a vocabulary may have: the largest published ones have a few thousand.
const MAX_LABELS: usize = 1 << 17;

/// A recogniser of frames.
#[derive(Debug)]
pub(super) struct CtcRecogniser {
    files: ModelFiles,
    session: Session,
    waveform: Waveform,
    vocabulary: Vocabulary,
    rate: u32,
    /// Samples per frame.
    stride: usize,
}

impl CtcRecogniser {
    pub(super) fn open(
        files: &ModelFiles,
        config: &AudioConfig,
        resources: &Resources,
    ) -> Result<CtcRecogniser, ExpertError> {
        let preprocessor = Preprocessor::read(files)?;
        let strides = config.conv_stride.as_deref().unwrap_or(&[5, 2, 2, 2, 2, 2, 2]);
        let stride = strides.iter().try_fold(1_usize, |product, stride| product.checked_mul(*stride));
        let stride = stride.filter(|stride| (1..=16_000).contains(stride));
        let stride = stride.ok_or_else(|| files.bad("config.json", "`conv_stride` is out of range"))?;
        Ok(CtcRecogniser {
            files: files.clone(),
            session: Session::open(files, "model", resources)?,
            waveform: preprocessor.waveform(),
            vocabulary: Vocabulary::read(files, config.pad_token_id)?,
            rate: preprocessor.sampling_rate,
            stride,
        })
    }

    /// How many labels there are, and the score of each at each frame of one window.
    fn logits(&self, samples: &[f32]) -> Result<(usize, Vec<f32>), ExpertError> {
        let values = self.waveform.input(samples);
        let shape = [1, values.len()];
        let mask = ints(&shape, vec![1; values.len()]);
        let inputs = vec![
            ("input_values", ValueOrView::from(floats(&shape, values))),
            ("attention_mask", ValueOrView::from(mask)),
        ];
        let (shape, logits) = numbers(&self.files, &self.session.run_first(inputs)?)?;
        let width = shape.last().copied().filter(|width| *width > 0);
        Ok((width.ok_or_else(|| self.files.failed("its graph gives no labels"))?, logits))
    }

    /// The best label of each frame of one window.
    fn labels(&self, samples: &[f32]) -> Result<Vec<usize>, ExpertError> {
        let (width, logits) = self.logits(samples)?;
        let best = |row: &[f32]| {
            let worst = (0, f32::NEG_INFINITY);
            let pick =
                |best: (usize, f32), (nth, score): (usize, &f32)| if *score > best.1 { (nth, *score) } else { best };
            row.iter().enumerate().fold(worst, pick).0
        };
        Ok(logits.chunks_exact(width).map(best).collect())
    }
}

impl LocalModel for CtcRecogniser {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Sound { sound, language: _, translate } = input else {
            return Err(ExpertError::BadInput("speech recognition takes a sound".to_owned()));
        };
        if *translate {
            return Err(ExpertError::BadInput(format!("`{}` writes speech in its own language only", self.files.id)));
        }
        let sound = Resampled::new(sound, self.rate)?;
        let mut labels = Vec::new();
        for window in Window::over(sound.len(), self.rate as usize, self.stride) {
            call.check()?;
            let samples = sound.window(window.start, window.len.max(MIN_SAMPLES));
            let mut found = self.labels(&samples)?;
            let kept = window.frames(self.stride);
            found.truncate(kept.end);
            labels.extend(found.into_iter().skip(kept.start));
        }
        Ok(Output::Transcript(self.vocabulary.read_frames(&labels, self.stride as f32 / self.rate as f32)))
    }
}

/// A stretch of samples, and how many at its ends are context only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    start: usize,
    len: usize,
    left: usize,
    right: usize,
}

impl Window {
    /// The windows of a recording: one where it fits, else overlapping ones, aligned to frames.
    fn over(samples: usize, rate: usize, stride: usize) -> impl Iterator<Item = Window> {
        let align = |seconds: usize| ((seconds * rate) as f64 / stride as f64).round_ties_even() as usize * stride;
        let (len, overlap) = (align(WINDOW_SECONDS), align(OVERLAP_SECONDS));
        let step = (len - 2 * overlap).max(1);
        let count = if samples <= len { 1 } else { 1 + (samples - len).div_ceil(step) };
        (0..count).map(move |nth| Window {
            start: nth * step,
            len: len.min(samples - nth * step),
            left: if nth == 0 { 0 } else { overlap },
            right: if nth + 1 == count { 0 } else { overlap },
        })
    }

    /// Which of its frames count.
    fn frames(&self, stride: usize) -> std::ops::Range<usize> {
        if self.left + self.right == 0 {
            return 0..usize::MAX;
        }
        let frames = (self.len as f64 / stride as f64).round_ties_even();
        let scaled = |samples: usize| (samples as f64 / self.len as f64 * frames).round_ties_even() as usize;
        scaled(self.left)..(frames as usize).saturating_sub(scaled(self.right))
    }
}

/// The labels of frames.
#[derive(Debug)]
struct Vocabulary {
    labels: Vec<String>,
    blank: usize,
    delimiter: String,
    lower_case: bool,
}

/// What `tokenizer_config.json` says of it.
#[derive(Debug, Default, Deserialize)]
struct TokenizerConfig {
    pad_token: Option<Value>,
    word_delimiter_token: Option<Value>,
    do_lower_case: Option<bool>,
}

/// A token's text, which may be wrapped (`{"content": …}`).
fn token_text(token: Option<&Value>) -> Option<&str> {
    let token = token?;
    token.as_str().or_else(|| token.get("content")?.as_str())
}

impl Vocabulary {
    fn read(files: &ModelFiles, pad: Option<usize>) -> Result<Vocabulary, ExpertError> {
        let (name, value): (&str, Value) = if files.has("vocab.json") {
            ("vocab.json", files.json("vocab.json")?)
        } else {
            let tokenizer: Value = files.json("tokenizer.json")?;
            let value = tokenizer.pointer("/model/vocab").cloned();
            ("tokenizer.json", value.ok_or_else(|| files.bad("tokenizer.json", "it has no vocabulary"))?)
        };
        // Models of many languages nest one vocabulary per language; the first is the one that the weights come with.
        let nested = value.as_object().and_then(|map| map.values().next()).filter(|first| first.is_object());
        let ids: HashMap<String, usize> =
            serde_json::from_value(nested.unwrap_or(&value).clone()).map_err(|error| files.bad(name, error))?;
        let count = ids.values().max().map_or(0, |most| most.saturating_add(1));
        if count == 0 || count > MAX_LABELS {
            return Err(files.bad(name, format!("it has labels up to {count}, outside 1 to {MAX_LABELS}")));
        }
        let config: TokenizerConfig = files.json_if_there("tokenizer_config.json")?.unwrap_or_default();
        let blank =
            token_text(config.pad_token.as_ref()).and_then(|token| ids.get(token).copied()).or(pad).unwrap_or(0);
        let delimiter = token_text(config.word_delimiter_token.as_ref()).unwrap_or("|").to_owned();
        let mut labels = vec![String::new(); count];
        for (label, id) in ids {
            if let Some(place) = labels.get_mut(id) {
                *place = label;
            }
        }
        Ok(Vocabulary { labels, blank, delimiter, lower_case: config.do_lower_case.unwrap_or(false) })
    }

    /// The text of labelled frames, with a segment for each word.
    fn read_frames(&self, frames: &[usize], seconds: f32) -> Transcript {
        let mut segments: Vec<TranscriptSegment> = Vec::new();
        let mut word: Option<TranscriptSegment> = None;
        let mut at = 0;
        for run in frames.chunk_by(|before, after| before == after) {
            let (start, end) = (at as f32 * seconds, (at + run.len()) as f32 * seconds);
            at += run.len();
            let Some(label) = run.first().filter(|id| **id != self.blank).and_then(|id| self.labels.get(*id)) else {
                continue;
            };
            if *label == self.delimiter {
                segments.extend(word.take());
                continue;
            }
            let word = word.get_or_insert_with(|| TranscriptSegment { start, end, text: String::new() });
            word.text.push_str(label);
            word.end = end;
        }
        segments.extend(word);
        if self.lower_case {
            segments.iter_mut().for_each(|segment| segment.text = segment.text.to_lowercase());
        }
        let words: Vec<&str> = segments.iter().map(|segment| segment.text.as_str()).collect();
        Transcript { text: words.join(" "), language: None, segments }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{difference, expected, files, resources, sound};
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        count: i64,
        seed: u32,
        logits: Vec<f32>,
    }

    #[test]
    fn logits_are_those_of_the_reference() {
        let files = files("audio-wav2vec2-ctc");
        let config = files.json("config.json").unwrap();
        let model = CtcRecogniser::open(&files, &config, &resources()).unwrap();
        for case in expected::<Vec<Case>>("audio-wav2vec2-ctc") {
            let (width, logits) = model.logits(&sound(case.count.min(32_000), case.seed).samples).unwrap();
            let picked: Vec<f32> = logits.chunks_exact(width).step_by(10).flatten().copied().collect();
            let worst = difference(&picked, &case.logits);
            println!("sound {}: largest difference {worst:e}", case.seed);
            assert!(worst <= 1e-4, "{worst}");
        }
    }

    #[test]
    fn long_recordings_are_read_in_overlapping_windows() {
        let windows = |seconds: usize| Window::over(seconds * 16_000, 16_000, 320).collect::<Vec<_>>();
        assert_eq!(windows(30), [Window { start: 0, len: 480_000, left: 0, right: 0 }]);
        for seconds in [31, 49, 50, 51, 70, 3_601] {
            let mut next = 0;
            for window in windows(seconds) {
                assert!(window.start + window.len <= seconds * 16_000);
                assert_eq!(window.start + window.left, next, "{seconds} s: no gap and no frame twice");
                next = window.start + window.len - window.right;
                assert_eq!(window.frames(320).len(), (window.len - window.left - window.right) / 320);
            }
            assert_eq!(next, seconds * 16_000);
        }
    }

    #[test]
    fn frames_become_words() {
        let labels = ["<pad>", "|", "a", "b"].map(str::to_owned).to_vec();
        let vocabulary = Vocabulary { labels, blank: 0, delimiter: "|".to_owned(), lower_case: false };
        let check = |frames: &[usize], text: &str, spans: &[(f32, f32)]| {
            let transcript = vocabulary.read_frames(frames, 1.0);
            let found: Vec<(f32, f32)> = transcript.segments.iter().map(|word| (word.start, word.end)).collect();
            assert_eq!((transcript.text.as_str(), found.as_slice()), (text, spans));
        };
        check(&[], "", &[]);
        check(&[0, 0, 1, 1, 0], "", &[]);
        check(&[0, 2, 2, 0, 2, 3, 1, 1, 3, 9, 0], "aab b", &[(1.0, 6.0), (8.0, 9.0)]);
    }
}
