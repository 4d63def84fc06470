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

/// The phonemes of a text in the International Phonetic Alphabet with its punctuation, a line for each sentence, for models that
/// read them.
pub(super) async fn phonemes(programs: &Programs, text: &str, voice: &str) -> Result<String, TaskError> {
    let args = ["-v", voice, "-b", "1", "-q", "--ipa", "--stdin"];
    let call = Call { args: &args, stdin: text.as_bytes(), limit: MOST_BYTES, timeout: TIMEOUT };
    let written = programs.run(Program::EspeakNg, call).await?;
    let written = String::from_utf8_lossy(&written);
    let lines: Vec<&str> = written.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Ok(punctuated(&lines, &clause_ends(text)))
}

/// The mark at the end of each clause, of those that a voice minds. The last clause may have none.
fn clause_ends(text: &str) -> Vec<Option<char>> {
    let mut ends = Vec::new();
    let (mut has_words, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        let ends_clause =
            matches!(c, '.' | ',' | ';' | ':' | '!' | '?') && chars.peek().is_none_or(|next| next.is_whitespace());
        if ends_clause && has_words {
            ends.push(Some(c));
            has_words = false;
        } else {
            has_words |= c.is_alphanumeric();
        }
    }
    ends.extend(has_words.then_some(None));
    ends
}

/// Clauses as espeak-ng writes them, a line each, with the marks that it leaves out. Where it has seen other clauses, each is a
/// sentence.
fn punctuated(lines: &[&str], ends: &[Option<char>]) -> String {
    if lines.len() != ends.len() {
        return lines.join("\n");
    }
    let mut text = String::new();
    for (line, end) in lines.iter().zip(ends) {
        text.push_str(line);
        text.extend(*end);
        text.push(if matches!(end, Some(',' | ';' | ':')) { ' ' } else { '\n' });
    }
    text.trim_end().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phonemes_keep_the_punctuation_of_the_text() {
        let check = |text: &str, lines: &[&str], wanted: &str| {
            assert_eq!(punctuated(lines, &clause_ends(text)), wanted, "{text}");
        };
        check("Hello, world! How are you", &["a", "b", "c"], "a, b!\nc");
        check("At 3.5 km: stop.", &["a", "b"], "a: b.");
        check("... Yes?! No.", &["a", "b"], "a!\nb.");
        // It has seen more clauses than stand there.
        check("one two", &["a", "b"], "a\nb");
        check("", &[], "");
    }
}
