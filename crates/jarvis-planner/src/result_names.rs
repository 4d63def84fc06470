//! Names that results are to have ("save it as cat.png"), and the request without the orders that give them: they are no tasks of
//! their own, since whoever makes a result names it.

use jarvis_plan::Kind;

use crate::data;
use crate::resources::{PATH, is_file, spans};
use crate::words::{Token, slice, tokens};

/// The files that a request names and that there should be, and texts that a result is to be written to: nothing here writes them.
pub fn files_to_be(text: &str) -> Vec<String> {
    let given = spans(text).into_iter().filter(|span| is_file(span) && span.kind.is_some()).map(|span| span.text);
    let written = PATH.find_iter(text).filter(|found| Kind::of_name(found.as_str()) == Some(Kind::Text));
    let written = written.filter(|found| names_result(text, found.start())).map(|found| found.as_str().to_owned());
    given.chain(written).collect()
}

/// Whether the file name at this place of a request, in bytes, is the one that a result is to have: "save it as cat.png".
pub fn names_result(text: &str, at: usize) -> bool {
    let (_, sentence) = before_name(text, at);
    let said = tokens(sentence);
    let saves = |token: &Token| data::SAVING_VERBS.has(&token.lower);
    let saved = said.last().is_some_and(|token| data::BEFORE_RESULT_NAMES.has(&token.lower)) && said.iter().any(saves);
    // "Call it".
    let calls = matches!(said.as_slice(), [.., verb, it] if data::CALLING_VERBS.has(&verb.lower)
        && matches!(it.lower.as_str(), "it" | "this" | "that" | "его" | "её" | "ее"));
    let is_text = || PATH.find_at(text, at).is_some_and(|name| Kind::of_name(name.as_str()) == Some(Kind::Text));
    saved || calls || is_turned_into(&said) || is_text() && order_to_write(text, at).is_some()
}

/// The words of a sentence before the file name at this place, and where they begin. An order is short, and texts may be long.
fn before_name(text: &str, at: usize) -> (usize, &str) {
    let before = slice(text, 0, at);
    let near = before.char_indices().rev().nth(120).map_or(0, |(near, _)| near);
    let before = slice(text, near, at);
    let sentence = before.rsplit([';', '；', '。', '\n']).next().unwrap_or(before);
    let sentence = sentence.rsplit(". ").next().unwrap_or(sentence);
    (at - sentence.len(), sentence)
}

/// Whether words right before a file's name say that something is turned into it: "join … into", "склей … в один файл", "copy … into
/// a text file called".
fn is_turned_into(said: &[Token]) -> bool {
    const NEAR: usize = 5;
    let turns = said.iter().any(|token| data::RESULT_VERBS.has(&token.lower));
    let Some(last) = said.last() else { return false };
    if !turns {
        return false;
    }
    let ends_a_file = data::FILE_WORDS.has(&last.lower) || data::NAMING_WORDS.has(&last.lower);
    let near = said.iter().rev().take(NEAR);
    data::INTO_WORDS.has(&last.lower) || ends_a_file && near.into_iter().any(|token| data::INTO_WORDS.has(&token.lower))
}

/// The request without the order to save a sound that it has made under a name: no task of its own, since whoever makes the sound
/// names it. `None` where there is no such order, or where the sound is a given one, which is then converted.
pub(crate) fn without_sound_name(text: &str) -> Option<String> {
    let names: Vec<_> =
        PATH.find_iter(text).filter(|found| Kind::of_name(found.as_str()) == Some(Kind::Audio)).collect();
    let [name] = names.as_slice() else { return None };
    if !names_result(text, name.start()) {
        return None;
    }
    let said = tokens(slice(text, 0, name.start()));
    let verb = said.iter().rfind(|token| data::SAVING_VERBS.has(&token.lower))?;
    without_order(text, verb.start, name.end())
}

/// The request without the order to write what it makes into a text file, which is no task of its own.
pub(crate) fn without_text_name(text: &str) -> Option<String> {
    let (order, name) = written_text(text)?;
    without_order(text, order, name.end())
}

/// The text file that a request wants its result written to, and that nothing here writes.
pub fn text_to_be(text: &str) -> Option<String> {
    written_text(text).map(|(_, name)| name.as_str().to_owned())
}

/// "And write it to talk.txt": where the order begins, and the name.
fn written_text(text: &str) -> Option<(usize, regex::Match<'_>)> {
    let mut texts = PATH.find_iter(text).filter(|found| Kind::of_name(found.as_str()) == Some(Kind::Text));
    texts.find_map(|name| Some((order_to_write(text, name.start())?, name)))
}

/// Where the verb of an order stands that wants what was made written to the file name at this place: "put the summary into a file
/// called x.txt". Facts "in facts.txt" are there already.
fn order_to_write(text: &str, at: usize) -> Option<usize> {
    const LONGEST: usize = 9;
    let (start, sentence) = before_name(text, at);
    let said = tokens(sentence);
    let lists = [&data::BEFORE_RESULT_NAMES, &data::INTO_WORDS, &data::FILE_WORDS, &data::NAMING_WORDS];
    let leads = |token: &&Token| lists.iter().any(|list| list.has(&token.lower)) || token.lower == "in";
    let writes = |token: &&Token| data::SAVING_VERBS.has(&token.lower) || data::WRITING_VERBS.has(&token.lower);
    let behind = said.iter().rev().take(LONGEST).position(|token| writes(&token))?;
    let (verb, order) = said.get(said.len() - 1 - behind..)?.split_first()?;
    let lead = order.iter().position(|token| leads(&token))?;
    let (object, led) = order.split_at(lead);
    let pale = |token: &Token| data::DETERMINERS.has(&token.lower) || data::MADE_TEXTS.has(&token.lower);
    let points = |token: &Token| data::PRONOUNS.has(&token.lower);
    let is_made = object.iter().all(|token| pale(token) || points(token));
    let is_led = led.iter().all(|token| leads(&token) || pale(token));
    let is_there = led.first().is_some_and(|word| word.lower == "in") && !object.iter().any(points);
    (is_made && is_led && !is_there).then_some(start + verb.start)
}

/// The text without an order from `start` on, the words that join it to what comes before, to `end`; `None` where nothing is left
/// before it.
fn without_order(text: &str, start: usize, end: usize) -> Option<String> {
    let before = slice(text, 0, start);
    let said = tokens(before);
    let joins = |token: &&Token| data::AND_PHRASES.has(&token.lower) || data::THEN_PHRASES.has(&token.lower);
    let joining = said.iter().rev().take_while(joins).last().map_or(start, |token| token.start);
    let kept = slice(text, 0, joining).trim_end().trim_end_matches([',', ';', '，', '；']);
    let rest = text.get(end..)?.trim_start_matches(['"', '”', '»', '`', '\'']);
    (!kept.trim().is_empty()).then(|| format!("{kept}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_to_save_a_sound_is_left_out() {
        assert_eq!(without_sound_name("read a.txt slowly and save it as b.wav").as_deref(), Some("read a.txt slowly"));
        assert_eq!(without_sound_name("прочитай a.txt, затем сохрани как b.mp3.").as_deref(), Some("прочитай a.txt."));
        assert_eq!(without_sound_name("cut a.wav and save it as b.wav"), None);
        assert_eq!(without_sound_name("save it as b.wav"), None);
    }

    #[test]
    fn an_order_to_write_a_text_is_left_out() {
        for (text, kept) in [
            ("transcribe a.wav and write it to a.txt", Some("transcribe a.wav")),
            ("transcribe a.wav, then save the transcript as b.txt.", Some("transcribe a.wav.")),
            ("summarize a.txt and put the result into a file called b.md", Some("summarize a.txt")),
            ("расшифруй a.wav и запиши это в a.txt", Some("расшифруй a.wav")),
            ("write a poem and save it as poem.txt", Some("write a poem")),
            ("write a poem to poem.txt", None),
            ("write a poem about the things in notes.txt", None),
            ("write the text in notes.txt in capitals", None),
            ("read a.txt and put it in b.txt", Some("read a.txt")),
            ("read a.txt and write a summary of it", None),
            ("copy the words out of a.png into a text file called b.txt", None),
            ("summarize a.txt", None),
        ] {
            assert_eq!(without_text_name(text).as_deref(), kept, "{text}");
        }
    }
}
