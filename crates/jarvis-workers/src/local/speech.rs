//! Texts for local voices: each speaks one language, and some read phonemes in the place of letters.

use jarvis_experts::{ModelFiles, espeak_voice};
use jarvis_plan::{ErrorCode, TaskError};
use serde::Deserialize;

use super::task_error;
use crate::native::{Programs, language_of, sound};

/// The text as the voice reads it.
///
/// # Errors
/// When nothing of it can be spoken, it is in another language than the voice, or espeak-ng is missing where it is needed.
pub(super) async fn prepared(
    text: &str,
    voice: Option<&str>,
    files: &ModelFiles,
    programs: &Programs,
) -> Result<String, TaskError> {
    let voice = espeak_voice(files, voice).map_err(task_error)?;
    let speaks = match &voice {
        Some(voice) => voice.split(['-', '_']).next().map(str::to_owned),
        None => of_tokenizer(files),
    };
    let written = language_of(text);
    if let Some(speaks) = speaks.filter(|speaks| written != "und" && speaks != written) {
        let message = format!("the voice `{}` speaks `{speaks}`, and the text is in `{written}`", files.id);
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("pull a voice of that language"));
    }
    sound::spoken(programs, text, voice.as_deref()).await
}

/// The language of a voice that reads letters: transformers writes it down for MMS, with three letters.
fn of_tokenizer(files: &ModelFiles) -> Option<String> {
    #[derive(Deserialize)]
    struct Settings {
        language: Option<String>,
    }
    let settings: Settings = files.json_if_there("tokenizer_config.json").ok()??;
    let code = settings.language?;
    let short = match code.as_str() {
        "eng" => "en",
        "deu" => "de",
        "fra" => "fr",
        "spa" => "es",
        "ita" => "it",
        "por" => "pt",
        "nld" => "nl",
        "rus" => "ru",
        "ukr" => "uk",
        other => other,
    };
    Some(short.to_owned())
}
