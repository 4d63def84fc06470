//! Text to speech: VITS checkpoints of transformers, which read letters, and the voices of piper and Kokoro, which read
//! phonemes.
//!
//! Phonemes are the caller's work (espeak-ng makes them, and it is a program of its own): see [`espeak_voice`]. The text is
//! spoken piece by piece, a sentence or a line at once, so that memory does not grow with it.

mod kokoro;
mod letters;
mod piper;

use rten::ValueOrView;
use serde::Deserialize;

use self::kokoro::KokoroVoices;
use self::letters::Letters;
use self::piper::PiperVoice;
use super::AudioConfig;
use crate::onnx::{Session, floats, ints, numbers};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Sound};

/// Characters that are spoken in one call: about half an hour.
const MAX_TEXT: usize = 30_000;
/// Characters of a piece. A longer sentence is cut between words.
const MAX_PIECE: usize = 400;
/// Silence between pieces, in seconds.
const PAUSE: f32 = 0.2;
/// How much slower or faster speech can be asked for.
const SPEEDS: std::ops::RangeInclusive<f32> = 0.25..=4.0;

/// A voice.
#[derive(Debug)]
pub(super) struct Speaker {
    files: ModelFiles,
    session: Session,
    script: Script,
    rate: u32,
}

/// What the voice reads.
#[derive(Debug)]
enum Script {
    Letters(Letters),
    Phonemes(PiperVoice),
    Styled(KokoroVoices),
}

/// The espeak-ng voice (`en-us`) whose phonemes a text-to-speech model is given in place of the text, in the letters of the IPA
/// with punctuation kept and one sentence a line; none where it reads the text itself. `voice` is that of [`Input::Speak`].
///
/// # Errors
/// When the settings of the model cannot be read.
pub fn espeak_voice(files: &ModelFiles, voice: Option<&str>) -> Result<Option<String>, ExpertError> {
    if let Some((_, piper)) = PiperVoice::find(files)? {
        return Ok(piper.espeak().map(str::to_owned));
    }
    if let Some(kokoro) = KokoroVoices::find(files)? {
        return Ok(Some(kokoro.espeak(voice).to_owned()));
    }
    #[derive(Deserialize)]
    struct Tokenizer {
        tokenizer_class: Option<String>,
        phonemize: Option<bool>,
    }
    let tokenizer: Option<Tokenizer> = files.json_if_there("tokenizer_config.json")?;
    let reads_phonemes = tokenizer.is_some_and(|tokenizer| {
        tokenizer.tokenizer_class.as_deref() == Some("VitsTokenizer") && tokenizer.phonemize == Some(true)
    });
    Ok(reads_phonemes.then(|| "en-us".to_owned()))
}

impl Speaker {
    /// The voice, where the files are one of these.
    pub(super) fn open(
        files: &ModelFiles,
        config: &AudioConfig,
        resources: &Resources,
    ) -> Result<Option<Speaker>, ExpertError> {
        if config.model_type.as_deref() == Some("vits") {
            let rate = config.sampling_rate.unwrap_or(16_000);
            if !(4_000..=96_000).contains(&rate) {
                return Err(files.bad("config.json", format!("`sampling_rate` is {rate}")));
            }
            let script = Script::Letters(Letters::read(files)?);
            let session = Session::open(files, "model", resources)?;
            return Ok(Some(Speaker { files: files.clone(), session, script, rate }));
        }
        if let Some((path, voice)) = PiperVoice::find(files)? {
            let session = Session::open_file(files, &path, resources)?;
            let rate = voice.rate;
            return Ok(Some(Speaker { files: files.clone(), session, script: Script::Phonemes(voice), rate }));
        }
        let Some(voices) = KokoroVoices::find(files)? else { return Ok(None) };
        let session = Session::open(files, "model", resources)?;
        if session.input("style").is_none() {
            return Ok(None);
        }
        Ok(Some(Speaker { files: files.clone(), session, script: Script::Styled(voices), rate: kokoro::RATE }))
    }

    /// The samples of one piece; none where nothing of it can be spoken.
    fn speak(&self, piece: &str, voice: Option<&str>, speed: f32) -> Result<Vec<f32>, ExpertError> {
        let (ids, mut inputs) = match &self.script {
            Script::Letters(letters) => (letters.ids(piece), Vec::new()),
            Script::Phonemes(piper) => {
                let scales = piper.scales(speed);
                let mut inputs = vec![("scales", ValueOrView::from(floats(&[scales.len()], scales.to_vec())))];
                if let Some(speaker) = piper.speaker(&self.files, voice)? {
                    inputs.push(("sid", ints(&[1], vec![speaker]).into()));
                }
                (piper.ids(piece), inputs)
            }
            Script::Styled(voices) => {
                let ids = voices.ids(piece);
                let width = self.session.input("style").and_then(|port| port.shape.last().copied().flatten());
                let width = width.unwrap_or(256);
                let style = voices.style(&self.files, voice, ids.len(), width)?;
                let style = floats(&[1, width], style);
                (ids, vec![("style", style.into()), ("speed", floats(&[1], vec![speed]).into())])
            }
        };
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let shape = [1, ids.len()];
        inputs.push(("attention_mask", ints(&shape, vec![1; ids.len()]).into()));
        inputs.push(("input_lengths", ints(&[1], vec![ids.len() as i32]).into()));
        // Each kind of graph names the tokens in its own way, and takes no other.
        inputs.push(("input_ids", ints(&shape, ids.clone()).into()));
        inputs.push(("tokens", ints(&shape, ids.clone()).into()));
        inputs.push(("input", ints(&shape, ids).into()));
        let (_, mut samples) = numbers(&self.files, &self.session.run_first(inputs)?)?;
        if matches!(self.script, Script::Phonemes(_)) {
            // Piper's voices differ in loudness; its own program brings each sentence to full scale.
            let peak = samples.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs())).max(0.01);
            samples.iter_mut().for_each(|sample| *sample /= peak);
        }
        Ok(samples)
    }
}

impl LocalModel for Speaker {
    fn memory(&self) -> u64 {
        self.session.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Speak { text, voice, language: _, speed } = input else {
            return Err(ExpertError::BadInput("text to speech takes a text to speak".to_owned()));
        };
        let length = text.chars().count();
        if length > MAX_TEXT {
            return Err(ExpertError::BadInput(format!("a text of {length} characters is longer than {MAX_TEXT}")));
        }
        if !SPEEDS.contains(speed) {
            return Err(ExpertError::BadInput(format!("the speed {speed} is outside 0.25 to 4")));
        }
        if matches!(self.script, Script::Letters(_)) && (speed - 1.0).abs() > 1e-3 {
            return Err(ExpertError::BadInput(format!("`{}` speaks at one speed only", self.files.id)));
        }
        let pause = vec![0.0; (PAUSE * self.rate as f32) as usize];
        let mut samples: Vec<f32> = Vec::new();
        for piece in pieces(text) {
            call.check()?;
            let spoken = self.speak(piece, voice.as_deref(), *speed)?;
            if !samples.is_empty() && !spoken.is_empty() {
                samples.extend(&pause);
            }
            samples.extend(spoken);
        }
        if samples.is_empty() {
            return Err(ExpertError::BadInput(format!("the text has nothing that `{}` can speak", self.files.id)));
        }
        Ok(Output::Sound(Sound { rate: self.rate, samples }))
    }
}

/// The pieces of a text: lines, and in them sentences, and in very long ones runs of words.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len();
        let mut space = None;
        let mut before = ' ';
        for (count, (at, letter)) in rest.char_indices().enumerate() {
            let ends_sentence = letter.is_whitespace() && matches!(before, '.' | '!' | '?' | '…');
            if letter == '\n' || ends_sentence || matches!(before, '。' | '！' | '？') {
                end = at;
                break;
            }
            if count >= MAX_PIECE {
                end = space.unwrap_or(at);
                break;
            }
            if letter.is_whitespace() && at > 0 {
                space = Some(at);
            }
            before = letter;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece.trim());
        rest = after.trim_start();
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_spoken_in_pieces() {
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("One. Two!  Three?\nFour 3.5 five"), ["One.", "Two!", "Three?", "Four 3.5 five"]);
        assert_eq!(pieces("\n\n a \n"), ["a"]);
        assert_eq!(pieces("一。二"), ["一。", "二"]);
        let long = "word ".repeat(200);
        let cut = pieces(&long);
        assert!(cut.iter().all(|piece| piece.len() <= MAX_PIECE && piece.ends_with("word")), "{cut:?}");
        assert_eq!(cut.join(" "), long.trim());
        let solid = "x".repeat(1_000);
        assert_eq!(pieces(&solid).concat(), solid);
    }
}
