//! What a sound file says of itself: artist, album, title and the like, as ffmpeg reads it in every format.

use std::collections::HashMap;

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};

use super::super::unread::with_rest;
use super::super::{Native, required};
use super::{ffmpeg, instruction};

/// A tag's name in files, its word in English, Russian and Chinese, and the row of `data/audio_edits.tsv` that asks for it.
pub(super) const TAGS: [(&str, [&str; 3], &str); 6] = [
    ("artist", ["artist", "исполнитель", "艺术家"], "TAG_ARTIST"),
    ("album", ["album", "альбом", "专辑"], "TAG_ALBUM"),
    ("title", ["title", "название", "标题"], "TAG_TITLE"),
    ("genre", ["genre", "жанр", "流派"], "TAG_GENRE"),
    ("date", ["year", "год", "年份"], "TAG_YEAR"),
    ("composer", ["composer", "композитор", "作曲"], "TAG_COMPOSER"),
];

/// What the tags of the file say to a question about them.
///
/// # Errors
/// When they say nothing about it, or ffmpeg is not there to read them.
pub(super) async fn answer(native: &Native, job: &Job, asked: &[usize]) -> Result<TaskOutput, TaskError> {
    let bytes = native.inputs.bytes(required(job, "audio")?, Kind::Audio).await?;
    let tags = read(&ffmpeg::metadata(&native.programs, &bytes).await?);
    let language = Language::of(&job.request.text);
    let (mut told, mut lacking) = (Vec::new(), Vec::new());
    for (name, words, _) in asked.iter().filter_map(|nth| TAGS.get(*nth)) {
        let [english, russian, chinese] = *words;
        let word = language.pick(english, russian, chinese);
        match tags.get(*name) {
            Some(value) => told.push(format!("{word}: {value}")),
            None => lacking.push(word.to_owned()),
        }
    }
    if told.is_empty() {
        let message = format!("the tags of the file do not say this: {}", lacking.join(", "));
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("what is sung or played is not recognised here"));
    }
    Ok(with_rest(TaskOutput::text(told.join(language.pick("; ", "; ", "；"))), lacking))
}

/// The tags that a question asks for, by their place in [`TAGS`]; none where it asks for more.
pub(super) fn asked(question: &str) -> Vec<usize> {
    instruction::tags(question, TAGS.map(|(_, _, row)| row))
}

/// Lines `name=value` in which a backslash keeps the sign behind it; the first of a name counts.
fn read(text: &str) -> HashMap<String, String> {
    let mut tags = HashMap::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let mut signs = value.chars();
        let mut plain = String::new();
        while let Some(sign) = signs.next() {
            plain.extend(if sign == '\\' { signs.next() } else { Some(sign) });
        }
        if !plain.trim().is_empty() {
            tags.entry(name.to_lowercase()).or_insert_with(|| plain.trim().to_owned());
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_and_asked_for() {
        let tags = read(";FFMETADATA1\nARTIST=Ada \\= Bo\nalbum=\ntitle=One\ntitle=Two\n");
        assert_eq!((tags.get("artist").map(String::as_str), tags.get("album")), (Some("Ada = Bo"), None));
        assert_eq!(tags.get("title").map(String::as_str), Some("One"));
        let names = |question: &str| {
            let asked = asked(question);
            asked.into_iter().filter_map(|nth| TAGS.get(nth)).map(|(name, ..)| *name).collect::<Vec<_>>()
        };
        assert_eq!(names("who is the artist and which album is it from?"), ["artist", "album"]);
        assert_eq!(names("what is the title of this song?"), ["title"]);
        assert_eq!(names("кто исполнитель и какой альбом?"), ["artist", "album"]);
        for other in
            ["who is the artist that they talk about?", "how long is the album?", "what do they say of the artist?"]
        {
            assert!(names(other).is_empty(), "{other}");
        }
    }
}
