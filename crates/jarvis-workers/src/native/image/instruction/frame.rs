//! Which picture of an animation an order is about.

use super::{FRAME_NTH, FRAME_THICK, FRAMES};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native::image) enum Frame {
    /// Counted from 1.
    Nth(u32),
    Last,
}

/// Stands for the frame that was read, so that its words are no border.
pub(super) const MARK: char = '⌗';

/// The frame that a text in lower case names, and the text without its words.
pub(super) fn extract(text: &str) -> Option<(Frame, String)> {
    const WORDS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    const RUSSIAN: [&str; 6] = ["перв", "втор", "трет", "четверт", "пят", "шест"];
    const CHINESE: &str = "一二三四五六七八九十";
    let found = FRAME_NTH.captures(text)?;
    let whole = found.get(0)?;
    // "A frame 5 px wide" is a border.
    if FRAME_THICK.is_match(text.get(whole.end()..).unwrap_or_default()) {
        return None;
    }
    let number = |name: &str| found.name(name).and_then(|number| number.as_str().parse::<u32>().ok());
    let place = |at: Option<usize>| at.and_then(|at| u32::try_from(at + 1).ok());
    let nth = ["nth", "number", "ru", "zh"].into_iter().find_map(number).or_else(|| {
        let word = found.name("word").or(found.name("ruword")).or(found.name("zhword"))?.as_str();
        place(WORDS.iter().position(|known| *known == word))
            .or_else(|| place(RUSSIAN.iter().position(|known| *known == word)))
            .or_else(|| place(CHINESE.chars().position(|known| word.starts_with(known))))
    });
    let frame = match nth {
        Some(nth) => Frame::Nth(nth),
        None => Frame::Last,
    };
    let mut rest = text.to_owned();
    rest.replace_range(whole.range(), &format!(" {MARK} "));
    Some((frame, rest))
}

/// Whether frames of an animation are meant, and not which.
pub(super) fn means_some(text: &str) -> bool {
    FRAMES.is_match(text)
}
