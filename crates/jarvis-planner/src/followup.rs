//! Requests that only make sense after earlier turns: "do the same with b.png", "undo that". What "it" is belongs to linking.

use std::borrow::Cow;
use std::sync::LazyLock;

use jarvis_plan::{Kind, Request, Role, Turn};
use regex::Regex;

use crate::resources::{Span, files, is_file, spans, without};
use crate::words::{head, pattern, slice};

/// A request to do again what the turn before asked for, its file names replaced by `⟨⟩`; nothing else may be said.
// A test reads it.
static SAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)^\W*(?:
            (?:(?:please|and|now|then|ok(?:ay)?|also)\W+)*
            (?:(?:(?:can|could)\ you\s+)?(?:do|make|apply|repeat|try)\s+)?
            (?:(?:exactly\s+)?(?:the\s+)?same(?:\s+thing)?|that|this|it|them)?(?:\s+(?:again|too|as\ well))?\s*
            (?:with|for|to|on|using)\s+(?:the\s+)?⟨⟩(?:\W+(?:and\s+)?⟨⟩)*(?:[\s,]*(?:too|as\ well|again|please|instead|now))*
          | (?:(?:and|now|what\ about|how\ about)\W+)+(?:(?:of|for|in|with)\s+)?⟨⟩(?:\W+(?:and\s+)?⟨⟩)*(?:[\s,]*(?:too|as\ well|please))*
          | (?:(?:пожалуйста|и|а|теперь)\W+)*
            (?:(?:сделай\w*|повтори\w*|проделай\w*)\s+)?(?:это\s+)?(?:то\s+же(?:\s+самое)?|также|так\s+же)?\s*
            (?:с|со|для|к)\s+⟨⟩(?:\W+(?:и\s+)?⟨⟩)*(?:[\s,]*(?:тоже|пожалуйста))*
          | (?:а|теперь|и)\W+(?:(?:в|у|для|с)\s+)?⟨⟩(?:\s*тоже)?
          | (?:请|再|现在|然后)*(?:对|把|给|用)?\s*⟨⟩\s*(?:(?:也|再)?(?:做|进行|来)?(?:同样|一样|相同|这样)的?(?:事|操作|处理|做|来)?(?:一[次遍下])?|也(?:一样|是|要)|呢)
        )\W*$",
    )
});

/// The same, without a file: again.
static AGAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:(?:please|and|now)\W+)*(?:do|make|repeat|try)\s+(?:it|that|this|the same(?: thing)?)(?:\s+(?:again|once more|please))*\W*$|^\W*(?:once more|again)\W*$|^\W*(?:повтори\S*|ещё раз|еще раз)(?:\s+это)?\W*$|^\W*再(?:来|做)一[次遍]\W*$",
    )
});

/// Again, and so more of it, where a picture or a sound came of it.
static MORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:(?:please|and|now|even)\W+)*(?:a (?:bit|little) )?more(?: of (?:it|that))?(?:\W+please)?\W*$|^\W*(?:ещё|еще)(?: (?:немного|чуть-чуть|больше))?\W*$|^\W*再多?一?点\W*$",
    )
});

static UNDO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\W*(?:(?:please|no|now|ok|oh|too much)\W+)*(?:undo|revert|take)(?:\s+(?:that|it|this|back|the last (?:step|change|edit)|the change))*(?:\s+(?:please|again))*\W*$|^\W*(?:(?:please|no|too much)\W+)*(?:go back(?: (?:one|a) step)?|put it back|back to (?:the )?(?:previous|last)(?: (?:one|version|picture))?)\W*$|^\W*(?:отмени|отменить|откати|верни)(?:\s+(?:это|назад|обратно|как было|последнее|последнее действие|изменение))*\W*$|^\W*(?:撤销|撤回|还原|取消)(?:刚才的?|上一步|这个|那个)*(?:操作|修改|更改)?\W*$",
    )
});

/// What "undo that" goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// The file that there was before: its kind and how the conversation names it.
    To(Kind, String),
    /// The conversation names no file to go back to.
    Nothing,
}

/// The request that a follow-up stands for: the last one that was no follow-up, about the files that this one names, or about what
/// came of the last turn where it only says "again".
pub(crate) fn resolved(request: &Request) -> Cow<'_, Request> {
    if request.history.is_empty() {
        return Cow::Borrowed(request);
    }
    let said = head(&request.text, LONGEST);
    if let Some(text) = again_so(said, request) {
        return Cow::Owned(Request { text, ..request.clone() });
    }
    let files = files(said, request);
    let more = files.is_empty() && MORE.is_match(&said.to_lowercase());
    let again = more || files.is_empty() && AGAIN.is_match(&said.to_lowercase());
    if !(again || !files.is_empty() && SAME.is_match(&without(said, &files))) {
        return Cow::Borrowed(request);
    }
    let is_follow_up = |text: &str| {
        let named = spans(text);
        AGAIN.is_match(&text.to_lowercase())
            || MORE.is_match(&text.to_lowercase())
            || UNDO.is_match(&text.to_lowercase())
            || SAME.is_match(&without(text, &named))
    };
    let turns = || request.history.iter().rev().filter(|turn| turn.role == Role::User);
    let Some(base) = turns().map(|turn| head(&turn.content, LONGEST)).find(|text| !is_follow_up(text)) else {
        return Cow::Borrowed(request);
    };
    let mut names: Vec<&str> = files.iter().map(|span| span.text.as_str()).collect();
    // "Once more" goes on from what came of it.
    let made = latest(request);
    match &made {
        Some((kind, path))
            if again && spans(base).iter().filter(|span| is_file(span)).all(|file| file.kind == Some(*kind)) =>
        {
            names.push(path);
        }
        None if more => return Cow::Borrowed(request),
        Some(_) | None => {}
    }
    match about(base, &names) {
        Some(text) => Cow::Owned(Request { text, ..request.clone() }),
        None => Cow::Borrowed(request),
    }
}

/// How the last summary or speech is to be otherwise, and nothing else: "in one sentence", "now with a female voice".
static OTHERWISE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)^\W*(?:(?:please|and|now|but|no|ok(?:ay)?|only|just|then|again|this\ time|теперь|а|но|ещё\ раз|еще\ раз|снова|再|现在)\W+)*
        (?:(?P<length>(?:in\ |only\ |just\ )?(?:\d{1,2}|one|two|three|four|five|six|a\ single)\ (?:short\ )?(?:sentences?|bullet\ points?|bullets|points|words)
            |(?:в|одним|двумя|тремя)\ (?:\S+\ )?предложени\S*)
         |(?P<voice>(?:with|in|using)\ (?:a|an|the)\ [\w\ -]*(?:voice|accent)|(?:женским|мужским|детским|низким|высоким)\ голосом|用[女男童]声))
        (?:\W+(?:please|пожалуйста|instead|this\ time))*\W*$",
    )
});
static SUMMED: LazyLock<Regex> = LazyLock::new(|| pattern(r"summar|shorten|gist|перескаж|кратк|резюм|总结|概括|摘要"));
static SPOKEN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:read|say|speak|narrate)\b|aloud|вслух|озвуч|прочит|произнес|朗读|读"));
static LENGTH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\s*\b(?:in|as|of)\ (?:exactly\ )?(?:\d{1,2}|one|two|three|four|five|six)\ (?:short\ )?(?:sentences?|bullet\ points?|bullets|points|words)\b|\s*\bв\ \S+\ предложени\S*",
    )
});

/// The last request for a summary or for speech, with the form that a follow-up asks for in the place of its own.
fn again_so(said: &str, request: &Request) -> Option<String> {
    let lower = said.to_lowercase();
    let found = OTHERWISE.captures(&lower)?;
    let asked = |text: &&str| {
        let is_form = OTHERWISE.is_match(&text.to_lowercase());
        !is_form && !AGAIN.is_match(&text.to_lowercase())
    };
    let turns = request.history.iter().rev().filter(|turn| turn.role == Role::User);
    let base = turns.map(|turn| head(&turn.content, LONGEST)).find(asked)?;
    let plain = base.to_lowercase();
    // What "it" was is another thing by now.
    let names = spans(base).iter().any(is_file) || !IT.is_match(&plain);
    let base = base.trim_end().trim_end_matches(['.', '!', '?']);
    if let Some(length) = found.name("length").filter(|_| SUMMED.is_match(&plain)) {
        return Some(format!("{} {}", LENGTH.replace_all(base, ""), length.as_str().trim_start_matches("only ")));
    }
    let voice = found.name("voice").filter(|_| SPOKEN.is_match(&plain) && names)?;
    Some(format!("{base}, {}", voice.as_str()))
}

/// The part of a request that may be a follow-up, in bytes.
const LONGEST: usize = 2048;

/// A request with its files replaced by others; `None` when it is not clear which by which.
fn about(base: &str, names: &[&str]) -> Option<String> {
    if names.is_empty() {
        return Some(base.to_owned());
    }
    let old: Vec<Span> = spans(base).into_iter().filter(is_file).collect();
    let all = names.join(", ");
    match (old.as_slice(), names) {
        // "Rotate it": the file takes the place of the pronoun, or comes after.
        ([], _) => {
            let it = IT.find(base);
            Some(match it {
                Some(it) => format!("{}{all}{}", slice(base, 0, it.start()), slice(base, it.end(), base.len())),
                None => format!("{} {all}", base.trim_end().trim_end_matches(['.', '!', '?'])),
            })
        }
        ([one], _) => Some(format!("{}{all}{}", slice(base, 0, one.start), slice(base, one.end, base.len()))),
        (several, names) if several.len() == names.len() => {
            let mut text = String::new();
            let mut from = 0;
            for (span, name) in several.iter().zip(names) {
                text.push_str(slice(base, from, span.start));
                text.push_str(name);
                from = span.end;
            }
            text.push_str(slice(base, from, base.len()));
            Some(text)
        }
        (_, _) => None,
    }
}

static IT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:it|that|this(?: one)?|the (?:result|picture|image|photo|recording|sound))\b|\b(?:её|ее|его)\b|它",
    )
});

/// What a request to undo goes back to; `None` when it is no such request.
pub fn undone(request: &Request) -> Option<Undone> {
    if !request.attachments.is_empty() || !UNDO.is_match(&head(&request.text, LONGEST).to_lowercase()) {
        return None;
    }
    // What there was, the latest last; a result is named after what it came from.
    let mut versions: Vec<(Kind, String)> = Vec::new();
    let mut undoes = false;
    // A turn that made no file cannot be undone by going back to an older one.
    let mut made = true;
    for turn in &request.history {
        match turn.role {
            Role::User => {
                undoes = UNDO.is_match(&head(&turn.content, LONGEST).to_lowercase());
                if undoes {
                    versions.pop();
                }
            }
            Role::Assistant if !undoes => made = media(turn, &mut versions),
            Role::Assistant | Role::System => {}
        }
    }
    if !made {
        return Some(Undone::Nothing);
    }
    versions.pop();
    Some(versions.pop().map_or(Undone::Nothing, |(kind, text)| Undone::To(kind, text)))
}

/// The medium that the last answer named last.
fn latest(request: &Request) -> Option<(Kind, String)> {
    let mut versions = Vec::new();
    let answer = request.history.iter().rev().find(|turn| turn.role == Role::Assistant)?;
    media(answer, &mut versions);
    versions.pop()
}

/// Adds the media that a turn names, each once; one that is named again is the latest again. Whether there are any.
fn media(turn: &Turn, versions: &mut Vec<(Kind, String)>) -> bool {
    let before = versions.clone();
    for span in spans(head(&turn.content, LONGEST)).into_iter().filter(is_file) {
        let Some(kind) = span.kind.filter(|kind| kind.is_media()) else { continue };
        versions.retain(|(_, text)| *text != span.text);
        versions.push((kind, span.text));
    }
    *versions != before
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Resource, Source};

    use super::*;

    fn talk(turns: &[&str], text: &str) -> Request {
        let turn = |(at, text): (usize, &&str)| if at % 2 == 0 { Turn::user(*text) } else { Turn::assistant(*text) };
        Request { history: turns.iter().enumerate().map(turn).collect(), ..Request::new(text) }
    }

    #[test]
    fn the_same_is_what_was_asked_last() {
        let check = |before: &[&str], text: &str, want: &str| {
            assert_eq!(resolved(&talk(before, text)).text, want, "{before:?} {text}");
        };
        let grey = ["make a.jpg grey", "/images/1.jpg"];
        for text in [
            "do the same with b.png",
            "Now the same for b.png, please!",
            "same with b.png",
            "and b.png?",
            "what about b.png",
            "and of b.png?",
            "а в b.png?",
            "repeat that for b.png",
            "сделай то же самое с b.png",
            "а теперь то же с b.png",
            "对 b.png 也做同样的处理",
            "b.png 也一样",
        ] {
            check(&grey, text, "make b.png grey");
        }
        check(&grey, "do the same with b.png and c.png", "make b.png, c.png grey");
        check(&grey, "do it again", "make /images/1.jpg grey");
        check(&["rotate a.jpg by 90 degrees", "/images/1.jpg"], "once more", "rotate /images/1.jpg by 90 degrees");
        check(&["blur a.jpg", "/images/1.jpg", "more", "/images/2.jpg"], "a bit more", "blur /images/2.jpg");
        check(&["name 3 keywords of a.txt", "sun, sea, sand"], "more", "more");
        check(&["how big is a.jpg?", "600 x 400"], "again", "how big is a.jpg?");
        check(&["rotate it by 90 degrees", "/images/2.jpg"], "do the same with b.png", "rotate b.png by 90 degrees");
        check(&["grey", "?", "do the same with b.png", "/images/2.jpg"], "and c.png", "grey c.png");
        check(
            &["put a.png and b.png side by side", "x"],
            "the same with c.png and d.png",
            "put c.png and d.png side by side",
        );
        let short = ["summarise a.txt in 3 sentences", "It rained."];
        check(&short, "in one sentence", "summarise a.txt in one sentence");
        check(&short, "no, in two sentences please", "summarise a.txt in two sentences");
        check(&["read a.txt aloud", "a.wav"], "now with a female voice", "read a.txt aloud, with a female voice");
        check(&grey, "in one sentence", "in one sentence");
        // More is said, or there is nothing to repeat.
        for text in ["do the same with b.png but in red", "describe b.png", "blur b.png", "b.png", "read it to me"] {
            check(&grey, text, text);
        }
        check(&[], "do the same with b.png", "do the same with b.png");
        check(&["put a.png and b.png side by side", "x"], "the same with c.png", "the same with c.png");
    }

    #[test]
    fn undoing_goes_back_one_version_at_a_time() {
        let check = |before: &[&str], text: &str, want: Option<&str>| {
            let went = undone(&talk(before, text)).map(|undone| match undone {
                Undone::To(_, path) => path,
                Undone::Nothing => String::new(),
            });
            assert_eq!(went.as_deref(), want, "{before:?} {text}");
        };
        let edited =
            ["make a.jpg grey", "Changed — /images/0.jpg:\n  /images/1.jpg", "blur it", "Changed:\n /images/2.jpg"];
        for text in [
            "undo that",
            "Undo!",
            "please undo the last step",
            "go back",
            "too much, go back one step",
            "отмени это",
            "撤销",
        ] {
            check(&edited, text, Some("/images/1.jpg"));
        }
        let twice: Vec<&str> = edited.into_iter().chain(["undo that", "As before: /images/1.jpg"]).collect();
        check(&twice, "undo that", Some("/images/0.jpg"));
        check(&["hello", "hi"], "undo that", Some(""));
        let booked: Vec<&str> = edited.into_iter().chain(["book a lamp", "shop.reserve: done"]).collect();
        check(&booked, "undo that", Some(""));
        check(&edited, "undo the blur and rotate it", None);
        let mut attached = talk(&edited, "undo that");
        attached.attachments.push(Resource {
            kind: Kind::Image,
            source: Source::Public("/images/9.png".into()),
            name: None,
        });
        assert_eq!(undone(&attached), None);
    }
}
