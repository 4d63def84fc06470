//! Which of espeak-ng's voices speaks a text: that of the language it is written in. A text in one language is not spoken
//! by the voice of another: that would be no translation, only noise.

use std::sync::LazyLock;

use jarvis_plan::{ErrorCode, TaskError, pattern};
use regex::Regex;

use super::super::text::{is_function_word, language};
use super::style::Style;

#[derive(Debug)]
pub(super) struct Voice {
    pub(super) id: &'static str,
    /// The language in English.
    pub(super) name: &'static str,
    named: Regex,
    asked: Regex,
    accent: Regex,
    words: Vec<&'static str>,
}

static VOICES: LazyLock<Vec<Voice>> = LazyLock::new(|| {
    let rows = include_str!("../../../data/voices.tsv").lines();
    let rows = rows.filter(|row| !row.starts_with('#')).map(|row| row.split('\t').collect::<Vec<_>>());
    rows.map(|row| {
        let [id, name, names, words] = row[..].try_into().expect("a voice has four fields");
        let before = r"\b(?:in|into|to|using)\s+(?:a\s+|the\s+)?(?:\w+\s+)?|\bна\s+|\bпо[- ]?|用|以|成|为";
        let after = r"\w*\s*(?:voice|speaker|pronunciation|speech|голос\w*|произношени\w*|речь\w*|的?声音|语音|发音|朗读|读|念)";
        Voice {
            id,
            name,
            named: pattern(names),
            asked: pattern(&format!("(?:{before})(?:{names})|(?:{names}){after}")),
            accent: pattern(&format!(r"(?:{names})\w*\s*(?:accent|акцент\w*|口音|腔)")),
            words: words.split_whitespace().collect(),
        }
    })
    .collect()
});

/// The names of languages.
pub(in crate::native) static LANGUAGES: LazyLock<Regex> = LazyLock::new(|| {
    let rows = include_str!("../../../data/voices.tsv").lines().filter(|row| !row.starts_with('#'));
    let names: Vec<&str> = rows.filter_map(|row| row.split('\t').nth(2)).collect();
    pattern(&format!(r"(?:{})\w*", names.join("|")))
});

/// The voice that clauses about the speech ask for: "in French", "with a German voice".
pub(super) fn asked(clause: &str) -> Option<&'static Voice> {
    VOICES.iter().find(|voice| voice.asked.is_match(clause))
}

/// The voice whose accent is asked for; the language stays that of the text.
pub(super) fn accent(clause: &str) -> Option<&'static Voice> {
    VOICES.iter().find(|voice| voice.accent.is_match(clause))
}

/// The language that one of these words stands before in a clause: "into French", "на английский". An ISO 639-1 code.
pub(crate) fn language_after(clause: &str, words: &[&str]) -> Option<String> {
    language_where(clause, |before, _| ends_in(before, words))
}

/// The language that a request says a recording is in: "it is in German", "the German interview". An ISO 639-1 code.
pub(crate) fn language_of_recording(request: &str) -> Option<String> {
    const BEFORE: [&str; 8] =
        ["is in", "it's in", "spoken", "spoken in", "speaks", "speaking", "recorded in", "говорят на"];
    const AFTER: [&str; 14] = [
        "recording",
        "audio",
        "speech",
        "talk",
        "interview",
        "podcast",
        "lecture",
        "voice",
        "memo",
        "message",
        "song",
        "запис",
        "录音",
        "音频",
    ];
    let begins = |after: &str| AFTER.iter().any(|word| after.trim_start_matches([' ', '-']).starts_with(word));
    // "What is spoken in german.wav": a name of a file tells nothing.
    let is_name = |after: &str| after.strip_prefix('.').is_some_and(|end| end.starts_with(char::is_alphanumeric));
    language_where(request, |before, after| !is_name(after) && (ends_in(before, &BEFORE) || begins(after)))
}

fn ends_in(before: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let rest = before.strip_suffix(word);
        rest.is_some_and(|rest| !word.is_ascii() || !rest.ends_with(char::is_alphanumeric))
    })
}

/// The first language named in a clause between words that fit: those before it, and those after it, all in lower case.
fn language_where(clause: &str, fits: impl Fn(&str, &str) -> bool) -> Option<String> {
    let lower = clause.to_lowercase();
    let found = VOICES.iter().flat_map(|voice| voice.named.find_iter(&lower).map(move |found| (found.range(), voice)));
    let is_fitting = |(at, _): &(std::ops::Range<usize>, &Voice)| {
        let before = lower.get(..at.start).unwrap_or_default().trim_end();
        // The name of the language may be longer than its stem.
        let after = lower.get(at.end..).unwrap_or_default().trim_start_matches(char::is_lowercase);
        fits(before, after)
    };
    let (_, voice) = found.filter(is_fitting).min_by_key(|(at, _)| at.start)?;
    Some(match base(voice.id) {
        "cmn" | "yue" => "zh".to_owned(),
        "nb" => "no".to_owned(),
        base => base.to_owned(),
    })
}

/// The voice for a text: the one asked for where the text is in its language, else by script, by the `language` given (a
/// code or an English name), by the text's commonest words, or by a language that the request names.
///
/// # Errors
/// `InvalidInput` when the text is plainly in another language than it is to be spoken in.
pub(super) fn voice(text: &str, language: Option<&str>, style: &Style) -> Result<&'static str, TaskError> {
    let written = by_script(text);
    if let Some(accent) = style.accent {
        return match other_script(text, written, accent) {
            false => Ok(accent.id),
            true => {
                let message =
                    format!("a voice with {} accent does not read the script of this text", article(accent.name));
                Err(TaskError::new(ErrorCode::InvalidInput, message)
                    .hint("leave the accent out, or give the text in a script that such a voice reads"))
            }
        };
    }
    let given = language.map(|language| language.trim().to_lowercase()).unwrap_or_default();
    let code = given.split(['-', '_']).next().unwrap_or_default();
    let given = VOICES.iter().find(|voice| voice.id == code || (!given.is_empty() && voice.named.is_match(&given)));
    if let Some(wanted) = style.language.or(given) {
        return match other_language(text, written, wanted) {
            None => Ok(wanted.id),
            Some(found) => Err(not_in(found, wanted)),
        };
    }
    let named = || VOICES.iter().find(|voice| voice.named.is_match(&style.request)).map(|voice| voice.id);
    Ok(match written {
        Some(script) => script,
        None => by_words(text).or_else(named).unwrap_or("en"),
    })
}

/// True when a text is written in another script than a voice reads.
fn other_script(text: &str, written: Option<&'static str>, voice: &Voice) -> bool {
    let of_voice = by_script_of(base(voice.id));
    let of_text = written.map_or("latin", by_script_of);
    text.contains(char::is_alphabetic) && of_voice != of_text
}

/// The script that a language is written in.
fn by_script_of(language: &str) -> &str {
    match language {
        "ru" | "uk" => "cyrillic",
        "cmn" | "yue" | "ja" => "han",
        "ko" | "ar" | "hi" | "el" | "he" | "ka" => language,
        _ => "latin",
    }
}

fn article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'I', 'O']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// The language that a text is plainly in, when that is not the one wanted.
fn other_language(text: &str, written: Option<&'static str>, wanted: &Voice) -> Option<&'static str> {
    let base = base(wanted.id);
    let latin = !wanted.words.is_empty() || base == "en";
    match written {
        _ if !text.contains(char::is_alphabetic) => None,
        // Kanji alone may be Japanese, Cantonese is written as Mandarin is, and short Ukrainian may look Russian.
        Some("cmn") if matches!(base, "ja" | "yue") => None,
        Some("ru") if base == "uk" && !text.to_lowercase().contains(['ы', 'э', 'ъ', 'ё']) => None,
        Some(script) if script != base => Some(script),
        Some(_) => None,
        // Latin script.
        None if !latin => Some(by_words(text).unwrap_or("en")),
        None => {
            let own = score(text, base);
            let rivals = VOICES.iter().filter(|voice| !voice.words.is_empty());
            // Of languages with as many hits the first counts.
            let best = rivals.map(|voice| (voice.id, score(text, voice.id))).rev().max_by_key(|(_, score)| *score);
            best.filter(|(id, score)| *score > own && *id != base).map(|(id, _)| id)
        }
    }
}

/// The voice's language without its region.
fn base(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

fn not_in(found: &str, wanted: &Voice) -> TaskError {
    let found = VOICES.iter().find(|voice| voice.id == found).map_or("another language", |voice| voice.name);
    let message =
        format!("the text is in {found} and was to be spoken in {}; no model here translates it", wanted.name);
    TaskError::new(ErrorCode::InvalidInput, message)
        .hint("configure a chat model that translates (`llm.model`), or give the text in that language")
}

/// The voice of a text that is not in Latin script.
fn by_script(text: &str) -> Option<&'static str> {
    let georgian = text.chars().filter(|letter| matches!(letter, '\u{10a0}'..='\u{10ff}')).count();
    match language(text) {
        _ if georgian * 2 > text.chars().filter(|letter| letter.is_alphabetic()).count() => Some("ka"),
        "zh" => Some("cmn"),
        found @ ("uk" | "ru" | "el" | "he" | "ar" | "hi" | "ja" | "ko") => Some(found),
        _ => None,
    }
}

/// How many words of a text are among the commonest of this language.
fn score(text: &str, id: &str) -> usize {
    let Some(voice) = VOICES.iter().find(|voice| voice.id == id) else { return 0 };
    let lower = text.to_lowercase();
    let words = lower.split(|ch: char| !ch.is_alphabetic()).filter(|word| !word.is_empty()).take(2000);
    words.filter(|word| voice.words.contains(word) || is_function_word(id, word)).count()
}

/// The language with the most of its commonest words in the text; none below two, and none without a clear lead.
fn by_words(text: &str) -> Option<&'static str> {
    let with_words = VOICES.iter().filter(|voice| !voice.words.is_empty());
    let mut counts: Vec<(&str, usize)> = with_words.map(|voice| (voice.id, score(text, voice.id))).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match counts[..] {
        [(voice, most), (_, next), ..] if most >= 2 && most > next => Some(voice),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::language_of_recording;

    #[test]
    fn the_language_of_a_recording_is_told_in_words() {
        for (request, language) in [
            ("transcribe talk.wav, it is in German", Some("de")),
            ("Transcribe talk.wav. The speaker speaks French.", Some("fr")),
            ("what is said in the Italian interview a.mp3?", Some("it")),
            ("расшифруй немецкую запись a.wav", Some("de")),
            ("转写这段德语录音", Some("de")),
            ("transcribe talk.wav and translate it into French", None),
            ("transcribe german.wav", None),
            ("what is spoken in german.wav?", None),
            ("transcribe talk.wav; is French spoken in it?", None),
            ("transcribe talk.wav", None),
        ] {
            assert_eq!(language_of_recording(request).as_deref(), language, "{request}");
        }
    }
}
