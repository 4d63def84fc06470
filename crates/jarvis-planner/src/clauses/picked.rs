//! Words that pick some of several attached files: "every picture wider than 200 pixels", "only the png pictures". Nothing here looks
//! at what a file is before it plans, so such a request is refused rather than done to all of them.

use std::collections::HashSet;

use jarvis_plan::{Kind, Request, cardinal};

use crate::data;
use crate::resources::is_file_noun;
use crate::words::grammar::is_order_verb;
use crate::words::{Token, is_language, slice, tokens};

/// The most words between "every" and what there is several of.
const MOST_WORDS: usize = 5;

/// The words of a request that pick some of its attached files.
pub(crate) fn picked(request: &Request) -> Option<&str> {
    let kinds: Vec<Kind> = request.attachments.iter().map(|file| file.kind).collect();
    let is_several = kinds.iter().enumerate().any(|(at, kind)| kinds.iter().take(at).any(|before| before == kind));
    if !is_several {
        return None;
    }
    let names = request.attachments.iter().filter_map(|file| file.name.as_deref());
    let endings: HashSet<String> =
        names.filter_map(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_lowercase()).collect();
    let tokens = tokens(&request.text);
    let (start, end) = (0..tokens.len()).find_map(|at| chosen(&tokens, at, &endings))?;
    Some(slice(&request.text, start, end))
}

/// From where to where the words go that pick some of several things, if the word at this place begins to name them.
fn chosen(tokens: &[Token], at: usize, endings: &HashSet<String>) -> Option<(usize, usize)> {
    let each = tokens.get(at)?;
    let is_only = matches!(each.lower.as_str(), "only" | "только");
    if !is_only && !data::EACH_WORDS.has(&each.lower) {
        return None;
    }
    if each.is_han() {
        return before_each(tokens, at);
    }
    let mut is_described = false;
    let mut noun = None;
    for (place, token) in tokens.iter().enumerate().skip(at + 1).take(MOST_WORDS) {
        if is_file_noun(tokens, place) {
            noun = Some(place);
            break;
        }
        if is_ending(token) {
            if !endings.iter().all(|ending| is_same_format(ending, &token.lower)) {
                return Some((each.start, token.end));
            }
            continue;
        }
        // "All of the pictures"; "all names of the picture" are no files.
        if matches!(token.lower.as_str(), "of" | "из") && !is_described {
            continue;
        }
        let goes_without_saying = token.is_determiner()
            || data::ALL_THE_SAME.has(&token.lower)
            || data::EACH_WORDS.has(&token.lower)
            || cardinal(&token.lower).is_some()
            || is_number(token)
            || is_language(token);
        if !goes_without_saying && (data::JOINTS.has(&token.lower) || is_order_verb(token)) {
            return None;
        }
        is_described |= !goes_without_saying;
    }
    let noun = noun?;
    if is_described {
        return Some((each.start, tokens.get(noun)?.end));
    }
    let behind = tokens.get(noun + 1)?;
    if data::DESCRIBING.has(&behind.lower) {
        return Some((each.start, tokens.get(noun + 2)?.end));
    }
    let is_first = tokens.iter().take(at).all(|token| data::JOINTS.has(&token.lower));
    if is_first && matches!(behind.lower.as_str(), "with" | "without") {
        return Some((each.start, behind.end));
    }
    if !data::COMPARED.has(&behind.lower) {
        return None;
    }
    let unit = tokens.iter().enumerate().skip(noun + 2).take(2).find(|(_, token)| is_number(token))?.0 + 1;
    // "Make every picture smaller than 400 pixels" is the edit itself; with more behind it, the edit is that.
    let verb = at.checked_sub(1).and_then(|before| tokens.get(before));
    let is_edit = verb.is_some_and(|verb| data::MAKING_VERBS.has(&verb.lower));
    let goes_on = tokens.get(unit + 1).is_some_and(|next| {
        !data::AND_PHRASES.has(&next.lower) && !data::THEN_PHRASES.has(&next.lower) && !is_order_verb(next)
    });
    (goes_on || !is_edit).then(|| (each.start, tokens.get(unit).unwrap_or(behind).end))
}

/// "宽度大于400像素的每张图片": a description before 每, which is more than where the files lie.
fn before_each(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 12;
    let ties = at.checked_sub(1).filter(|tie| tokens.get(*tie).is_some_and(|token| token.lower == "的"))?;
    let opens = |token: &Token| matches!(token.lower.as_str(), "把" | "将" | "对" | "给");
    let begins = tokens.iter().take(ties).rposition(opens).map_or(0, |opens| opens + 1);
    let described = tokens.get(begins..ties)?;
    let said: String = described.iter().map(|token| token.lower.as_str()).collect();
    let lies = data::FOLDER_HAN.words().fold(said, |said, folder| said.replace(folder, ""));
    let ties = |sign: char| "在这个我".contains(sign) || data::FOLDER_TIES_HAN.has(sign.to_string().as_str());
    let is_more = !lies.chars().all(ties);
    (is_more && described.len() <= LONGEST).then_some((described.first()?.start, tokens.get(at)?.end))
}

/// Whether a word is the ending of a file, as in "every png".
fn is_ending(token: &Token) -> bool {
    Kind::of_name(&format!("a.{}", token.lower)).is_some()
}

fn is_same_format(one: &str, other: &str) -> bool {
    let is_jpeg = |ending: &str| matches!(ending, "jpg" | "jpeg");
    one == other || is_jpeg(one) && is_jpeg(other)
}

fn is_number(token: &Token) -> bool {
    token.lower.starts_with(|ch: char| ch.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Resource, Source};

    use super::*;

    fn with(text: &str) -> Request {
        let file = |name: &str| Resource {
            kind: Kind::Image,
            source: Source::Public(format!("/images/{name}")),
            name: Some(name.to_owned()),
        };
        Request { attachments: vec![file("a.png"), file("b.jpg")], ..Request::new(text) }
    }

    #[test]
    fn some_of_the_files_are_picked() {
        let check = |text: &str, want: &str| assert_eq!(picked(&with(text)), Some(want), "{text}");
        check("make every picture wider than 200 pixels half the size", "every picture wider than 200 pixels");
        check("crop every picture wider than 500 pixels to a square", "every picture wider than 500 pixels");
        check("make only the png pictures grey", "only the png");
        check("convert every png to jpg", "every png");
        check("make each portrait photo grey", "each portrait photo");
        check("make every small picture larger", "every small picture");
        check("for every picture with a cat make it grey", "every picture with");
        check("blur every picture that is dark", "every picture that is");
        check("сделай все вертикальные картинки серыми", "все вертикальные картинки");
        check("уменьши каждую картинку шире 200 пикселей", "каждую картинку шире 200 пикселей");
        check("把宽度大于400像素的每张图片缩小一半", "宽度大于400像素的每");
    }

    #[test]
    fn all_of_them_are_meant() {
        for text in [
            "make each picture grey",
            "make every picture smaller than 400 pixels",
            "make all of the pictures in the folder half the size",
            "for each picture in the folder, blur it",
            "rotate all 2 pictures by 90 degrees",
            "find all names in the picture",
            "find all names of the pictures",
            "frame every picture with a black border",
            "convert all pictures to png",
            "сделай каждую картинку в папке серой",
            "把文件夹里的每张图片变成灰色",
            "把每张图片缩小一半",
            "it is only slightly dark",
        ] {
            assert_eq!(picked(&with(text)), None, "{text}");
        }
        let mut written = with("summarise all pdf files");
        for file in &mut written.attachments {
            file.name = Some("a.pdf".to_owned());
        }
        assert_eq!(picked(&written), None);
        let mut alone = with("make each portrait photo grey");
        alone.attachments.truncate(1);
        assert_eq!(picked(&alone), None);
    }
}
