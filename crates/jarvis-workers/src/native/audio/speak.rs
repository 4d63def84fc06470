//! Text to speech with espeak-ng: which voice, what text, and a WAV whose header is right.

use std::sync::LazyLock;
use std::time::Duration;

use jarvis_plan::{ErrorCode, TaskError};
use regex::Regex;

use super::super::programs::{Call, Program, Programs};
use super::super::text::language;
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

/// Voices of languages in Latin script: the voice, its names in a request, and some of its commonest words.
#[rustfmt::skip]
const LATIN: &[(&str, &str, &[&str])] = &[
    ("en", r"\benglish\b|английск|英语|英文", &["the", "and", "is", "of", "to", "you", "are", "this", "with", "for", "it"]),
    ("fr", r"\bfrench\b|français|французск|法语|法文", &["le", "la", "les", "et", "est", "une", "des", "vous", "je", "pas", "dans", "bonjour"]),
    ("de", r"\bgerman\b|\bdeutsch|немецк|德语|德文", &["der", "die", "und", "ist", "nicht", "ein", "das", "ich", "mit", "zu", "den", "guten"]),
    ("es", r"\bspanish\b|español|испанск|西班牙语|西班牙文", &["el", "los", "y", "es", "una", "por", "con", "las", "que", "hola", "está"]),
    ("it", r"\bitalian\b|italiano|итальянск|意大利语", &["il", "che", "è", "di", "una", "per", "sono", "non", "ciao", "gli"]),
    ("pt", r"\bportuguese\b|português|португальск|葡萄牙语", &["o", "não", "uma", "você", "com", "para", "os", "olá", "é", "em"]),
    ("nl", r"\bdutch\b|нидерландск|голландск|荷兰语", &["het", "een", "van", "niet", "ik", "de", "zijn", "dat"]),
    ("pl", r"\bpolish\b|польск|波兰语", &["nie", "się", "jest", "na", "że", "jak", "dzień"]),
    ("tr", r"\bturkish\b|турецк|土耳其语", &["ve", "bir", "bu", "için", "çok", "ne", "merhaba"]),
    ("sv", r"\bswedish\b|шведск|瑞典语", &["och", "att", "det", "är", "inte", "jag"]),
    ("vi", r"\bvietnamese\b|вьетнамск|越南语", &["và", "là", "của", "không", "tôi", "xin"]),
    ("id", r"\bindonesian\b|индонезийск|印尼语", &["dan", "yang", "tidak", "ini", "itu", "saya"]),
];

// Constant patterns; a test compiles each.
static NAMED: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    LATIN.iter().map(|(voice, names, _)| (*voice, Regex::new(names).expect("a valid pattern"))).collect()
});

/// The voice for a text: by its script; where many languages share the script, by the `language` asked for (a code or an
/// English name), by a language named in the request, or by the text's commonest words.
pub(super) fn voice(text: &str, language: Option<&str>, request: &str) -> &'static str {
    let by_script = by_script(text);
    if by_script != "en" {
        return by_script;
    }
    let asked = language.unwrap_or_default().trim().to_lowercase();
    let code = asked.split(['-', '_']).next().expect("a split has a first part");
    let by_code = LATIN.iter().map(|(voice, ..)| *voice).find(|voice| *voice == code);
    let named = |text: &str| NAMED.iter().find(|(_, names)| names.is_match(text)).map(|(voice, _)| *voice);
    by_code
        .or_else(|| named(&asked))
        .or_else(|| by_words(text))
        .or_else(|| named(&request.to_lowercase()))
        .unwrap_or("en")
}

fn by_script(text: &str) -> &'static str {
    let georgian = text.chars().filter(|letter| matches!(letter, '\u{10a0}'..='\u{10ff}')).count();
    match language(text) {
        _ if georgian * 2 > text.chars().filter(|letter| letter.is_alphabetic()).count() => "ka",
        "zh" => "cmn",
        found @ ("uk" | "ru" | "el" | "he" | "ar" | "hi" | "ja" | "ko") => found,
        _ => "en",
    }
}

/// The language with the most of its commonest words in the text; none below two, and none without a clear lead.
fn by_words(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|ch: char| !ch.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let mut counts: Vec<(&str, usize)> = LATIN
        .iter()
        .map(|(voice, _, common)| (*voice, words.iter().filter(|word| common.contains(word)).count()))
        .collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts[..] {
        [(voice, most), (_, next), ..] if most >= 2 && most > next => Some(voice),
        _ => None,
    }
}

pub(super) async fn speak(programs: &Programs, text: &str, voice: &str) -> Result<Vec<u8>, TaskError> {
    let args = ["-v", voice, "-b", "1", "--stdin", "--stdout"];
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
