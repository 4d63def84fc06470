//! Voice activity by silero-vad (version 5 and later): a recurrent network gives each 32 ms the probability of speech, and
//! thresholds with hysteresis make segments of them. Thresholds and lengths are the published defaults.

use rten::ValueOrView;

use super::resample::Resampled;
use crate::onnx::{Session, floats, ints, numbers};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Transcript, TranscriptSegment};

const RATE: usize = 16_000;
/// Samples that the network judges at once, after the context.
const WINDOW: usize = 512;
/// Samples of the previous window that come before.
const CONTEXT: usize = 64;
/// The shape of the recurrent state.
const STATE: [usize; 3] = [2, 1, 128];
/// Probability at which speech begins, and below which it ends.
const BEGIN: f32 = 0.5;
const END: f32 = 0.35;
/// Samples of silence that separate two segments (100 ms).
const MIN_SILENCE: usize = RATE / 10;
/// Samples below which a segment is dropped (250 ms).
const MIN_SPEECH: usize = RATE / 4;
/// Samples added at both ends of a segment (30 ms).
const PADDING: usize = RATE * 3 / 100;

/// A voice activity detector. Its output is a transcript without text: one segment per stretch of speech.
#[derive(Debug)]
pub(super) struct VoiceDetector {
    files: ModelFiles,
    session: Session,
}

impl VoiceDetector {
    /// The detector, where the files are one: an ONNX graph with the inputs `input` and `state`, and `sr` where it knows
    /// another rate as well.
    pub(super) fn open(files: &ModelFiles, resources: &Resources) -> Result<Option<VoiceDetector>, ExpertError> {
        let parts = ["model", "silero_vad", "silero_vad_16k_op15", "silero_vad_op18_ifless"];
        let Some(path) = parts.iter().find_map(|part| files.find_onnx(part)) else { return Ok(None) };
        let session = Session::open_file(files, &path, resources)?;
        let has_outputs = session.output_names().iter().any(|name| name == "stateN");
        let is_silero = has_outputs && session.input("input").is_some() && session.input("state").is_some();
        Ok(is_silero.then(|| VoiceDetector { files: files.clone(), session }))
    }

    /// The probability of speech in each window.
    fn probabilities(&self, sound: &Resampled<'_>, call: &Call) -> Result<Vec<f32>, ExpertError> {
        let mut state = vec![0.0; STATE.iter().product()];
        let mut context = vec![0.0; CONTEXT];
        let mut probabilities = Vec::with_capacity(sound.len().div_ceil(WINDOW));
        for start in (0..sound.len()).step_by(WINDOW) {
            call.check()?;
            let window = sound.window(start, WINDOW);
            let mut samples = std::mem::take(&mut context);
            samples.extend_from_slice(&window);
            context = samples.iter().skip(samples.len() - CONTEXT).copied().collect();
            let inputs: Vec<(&str, ValueOrView<'_>)> = vec![
                ("input", floats(&[1, samples.len()], samples).into()),
                ("state", floats(&STATE, state).into()),
                ("sr", ints(&[], vec![RATE as i32]).into()),
            ];
            let outputs = self.session.run(inputs, &["output", "stateN"])?;
            let [probability, next] = outputs.as_slice() else { return Err(self.files.failed("it gave no state")) };
            let (_, probability) = numbers(&self.files, probability)?;
            probabilities.push(probability.first().copied().unwrap_or(0.0));
            let (shape, next) = numbers(&self.files, next)?;
            if shape != STATE {
                return Err(self.files.failed(format!("its state has the shape {shape:?}")));
            }
            state = next;
        }
        Ok(probabilities)
    }
}

impl LocalModel for VoiceDetector {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Sound { sound, .. } = input else {
            return Err(ExpertError::BadInput("voice activity detection takes a sound".to_owned()));
        };
        let sound = Resampled::new(sound, RATE as u32)?;
        let spans = speech(&self.probabilities(&sound, call)?, sound.len());
        let seconds = |samples: usize| samples as f32 / RATE as f32;
        let segments = spans
            .into_iter()
            .map(|(start, end)| TranscriptSegment { start: seconds(start), end: seconds(end), text: String::new() })
            .collect();
        Ok(Output::Transcript(Transcript { text: String::new(), language: None, segments }))
    }
}

/// The stretches of speech in samples, from the probability of each window.
fn speech(probabilities: &[f32], samples: usize) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut start = None;
    let mut silence = None;
    for (nth, probability) in probabilities.iter().enumerate() {
        let at = nth * WINDOW;
        if *probability >= BEGIN {
            silence = None;
            start.get_or_insert(at);
        }
        let Some(begun) = start else { continue };
        if *probability < END {
            let quiet = *silence.get_or_insert(at);
            if at - quiet >= MIN_SILENCE {
                if quiet - begun > MIN_SPEECH {
                    spans.push((begun, quiet));
                }
                (start, silence) = (None, None);
            }
        }
    }
    spans.extend(start.filter(|begun| samples.saturating_sub(*begun) > MIN_SPEECH).map(|begun| (begun, samples)));
    pad(&mut spans, samples);
    spans
}

/// Widens the stretches; two that would meet share the silence between them.
fn pad(spans: &mut [(usize, usize)], samples: usize) {
    if let Some((start, _)) = spans.first_mut() {
        *start = start.saturating_sub(PADDING);
    }
    for nth in 0..spans.len() {
        let Some([(_, end), rest @ ..]) = spans.get_mut(nth..) else { return };
        let Some((next, _)) = rest.first_mut() else {
            *end = (*end + PADDING).min(samples);
            return;
        };
        let share = ((*next - *end) / 2).min(PADDING);
        (*end, *next) = (*end + share, *next - share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities as runs of windows.
    fn check(runs: &[(f32, usize)], expected: &[(usize, usize)]) {
        let probabilities: Vec<f32> = runs.iter().flat_map(|(value, count)| vec![*value; *count]).collect();
        let samples = probabilities.len() * WINDOW;
        assert_eq!(speech(&probabilities, samples), expected, "{runs:?}");
    }

    #[test]
    fn probabilities_become_stretches() {
        check(&[(0.1, 20)], &[]);
        // 250 ms is 7.8 windows: seven are dropped.
        check(&[(0.1, 10), (0.9, 7), (0.1, 20)], &[]);
        check(&[(0.1, 10), (0.9, 8), (0.1, 20)], &[(5_120 - 480, 9_216 + 480)]);
        // Between the thresholds nothing begins and nothing ends.
        check(&[(0.4, 20)], &[]);
        check(&[(0.9, 10), (0.4, 20), (0.1, 10)], &[(0, 15_360 + 480)]);
        // Short silences are bridged; padding stays within the sound.
        check(&[(0.9, 10), (0.1, 3), (0.9, 10)], &[(0, 23 * 512)]);
        // A longer one separates.
        check(&[(0.9, 10), (0.1, 5), (0.9, 10)], &[(0, 5_120 + 480), (7_680 - 480, 12_800)]);
    }
}
