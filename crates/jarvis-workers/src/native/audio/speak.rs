//! Text to speech with espeak-ng: what text, the options, and a WAV whose header is right.

use std::time::Duration;

use jarvis_plan::{ErrorCode, TaskError};

use super::super::programs::{Call, Program, Programs};
use super::style::Style;
use super::wav;

/// The longest text, in characters: about a quarter of an hour.
pub(super) const MOST_CHARS: usize = 12_000;
/// The most that may come back: an hour at 22 kHz.
const MOST_BYTES: usize = 160 << 20;
const TIMEOUT: Duration = Duration::from_secs(120);

/// The text without what cannot be spoken. Empty or too long is an error.
pub(super) fn prepare(text: &str) -> Result<String, TaskError> {
    let text: String = text.chars().filter(|ch| !ch.is_control() || ch.is_whitespace()).collect();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(TaskError::new(ErrorCode::InvalidInput, "the text has nothing that can be spoken"));
    }
    let length = text.chars().count();
    if length > MOST_CHARS {
        let message = format!("the text has {length} characters; the limit for speech is {MOST_CHARS}");
        return Err(TaskError::new(ErrorCode::TooLarge, message).hint("summarise it first, or speak it in parts"));
    }
    Ok(text)
}

pub(super) async fn speak(programs: &Programs, text: &str, voice: &str, style: &Style) -> Result<Vec<u8>, TaskError> {
    let options = style.options();
    let mut args = vec!["-v", voice, "-b", "1"];
    args.extend(options.iter().map(String::as_str));
    args.extend(["--stdin", "--stdout"]);
    let call = Call { args: &args, stdin: text.as_bytes(), limit: MOST_BYTES, timeout: TIMEOUT };
    let spoken = wav::mend(programs.run(Program::EspeakNg, call).await?);
    let reader = hound::WavReader::new(spoken.as_slice());
    let length = reader.map(|reader| reader.len()).unwrap_or(0);
    if length == 0 {
        let message = format!("`espeak-ng` gave no sound for the voice `{voice}`");
        return Err(TaskError::new(ErrorCode::BadReply, message).hint("check with `espeak-ng --voices`"));
    }
    Ok(spoken)
}
