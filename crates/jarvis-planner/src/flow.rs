//! Flow: which kinds of resources a clause wants made and which it works on, by the words around their nouns: "turn the
//! *text* into *speech*", "a *picture* from the *recording*".

use jarvis_plan::{Kind, Tool};

use crate::clauses::Clause;
use crate::data;
use crate::words::Token;
use crate::words::grammar::{opens_with_order, strip_polite};

/// The kinds a clause speaks of, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) targets: Vec<Kind>,
    pub(crate) sources: Vec<Kind>,
}

impl Flow {
    pub(crate) fn of(clause: &Clause) -> Flow {
        let mut flow = Flow::default();
        let tokens = &clause.tokens;
        for (at, _) in tokens.iter().enumerate() {
            let Some(kind) = kind_at(tokens, at) else { continue };
            let list = if is_wanted(tokens, at) { &mut flow.targets } else { &mut flow.sources };
            if !list.contains(&kind) {
                list.push(kind);
            }
        }
        for kind in clause.spans.iter().filter_map(|span| span.kind).filter(|kind| kind.is_media()) {
            if !flow.sources.contains(&kind) {
                flow.sources.push(kind);
            }
        }
        flow
    }

    pub(crate) fn speaks_of(&self, kind: Kind) -> bool {
        self.targets.contains(&kind) || self.sources.contains(&kind)
    }

    pub(crate) fn makes(&self, tool: &Tool) -> bool {
        tool.outputs.iter().any(|kind| self.targets.contains(kind))
    }

    /// How plainly the clause says the direction of a tool that is named after its kinds, such as `text-to-image`, 0 to 1.
    pub(crate) fn direction(&self, tool: &Tool) -> f32 {
        let takes = |kind: &Kind| tool.params.iter().any(|param| param.kind == *kind);
        // "Audio to audio" is no direction.
        let turns = tool.outputs.iter().any(|kind| !takes(kind));
        match (self.makes(tool) && turns, self.sources.is_empty(), self.sources.iter().any(takes)) {
            (false, _, _) => 0.0,
            (true, _, true) => 1.0,
            (true, true, _) => 0.8,
            (true, false, false) => 0.4,
        }
    }

    /// How well what a tool takes and gives agrees with what the clause says, -1 to 1; 0 for tools without kinds.
    pub(crate) fn agreement(&self, tool: &Tool) -> f32 {
        if tool.outputs.is_empty() {
            return 0.0;
        }
        let mut agreement = 0.0;
        if !self.targets.is_empty() {
            agreement += if self.makes(tool) { 0.6 } else { -0.6 };
        }
        let takes = |kind: &Kind| tool.params.iter().any(|param| param.kind == *kind);
        if !self.sources.is_empty() {
            agreement += if self.sources.iter().any(takes) { 0.4 } else { -0.4 };
        }
        agreement
    }
}

fn is_wanted(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    if token.is_han() {
        // "把文字变成图片": the verb stands before what is made, and what is given follows another word.
        let before = tokens.get(..at).unwrap_or_default().iter().rev().take(24);
        let marks = before.filter(|token| token.is_han()).find_map(|token| match () {
            () if data::BEFORE_WANTED_HAN.has(&token.lower) => Some(true),
            () if data::BEFORE_GIVEN_HAN.has(&token.lower) => Some(false),
            () => None,
        });
        return marks.unwrap_or(false);
    }
    // "An image of a cat" alone asks for one.
    // "Take a photo" asks no tool for one.
    let other = opens_with_order(tokens)
        && strip_polite(tokens)
            .first()
            .is_some_and(|verb| !data::BEFORE_WANTED.has(&verb.lower) && verb.start < token.start);
    let new = !other
        && at
            .checked_sub(1)
            .and_then(|place| tokens.get(place))
            .is_some_and(|t| matches!(t.lower.as_str(), "a" | "an"));
    for back in 1..=5 {
        let Some(before) = at.checked_sub(back).and_then(|place| tokens.get(place)) else { return new };
        let word = before.lower.as_str();
        if kind_at(tokens, at - back).is_some() && !data::BEFORE_WANTED.has(word) {
            // "an image file", "text and audio".
            continue;
        }
        if matches!(word, "to" | "в" | "на") {
            // "From text to speech", "turn it to a video", but not "add it to the video".
            let changes = |token: &Token| data::TURNING_VERBS.has(&token.lower);
            return tokens.get(..at - back).is_some_and(|before| before.iter().any(changes))
                || (word == "to" && (at - back).checked_sub(1).is_some_and(|place| kind_at(tokens, place).is_some()));
        }
        if data::WORKING_VERBS.has(word) {
            return false;
        }
        if data::BEFORE_WANTED.has(word) {
            return true;
        }
        if data::BEFORE_GIVEN.has(word) {
            return false;
        }
    }
    new
}

/// The kind that the word at that place is a noun for.
pub(crate) fn kind_at(tokens: &[Token], at: usize) -> Option<Kind> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1).map_or("", |token| token.lower.as_str());
    let stem = token.stem.as_str();
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", |token| token.lower.as_str());
    match (stem, next) {
        ("照", "片") => Some(Kind::Image),
        ("音" | "录", "频" | "音") | ("语", "音") => Some(Kind::Audio),
        ("文", "本" | "章" | "字") => Some(Kind::Text),
        ("视", "频") => Some(Kind::Video),
        // "Make it sound friendlier" speaks of no sound.
        ("sound", _) if matches!(before, "it" | "this" | "that" | "them" | "they") || next.ends_with("er") => None,
        _ if data::IMAGE_STEMS.has(stem) => Some(Kind::Image),
        _ if data::AUDIO_STEMS.has(stem) => Some(Kind::Audio),
        _ if data::TEXT_STEMS.has(stem) => Some(Kind::Text),
        _ if data::VIDEO_STEMS.has(stem) || token.lower.starts_with("animat") => Some(Kind::Video),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;
    use crate::clauses::{Clause, Join};
    use crate::resources::Pointers;
    use crate::words::tokens;

    fn check(text: &str, expected: &str) {
        let clause = Clause {
            start: 0,
            end: text.len(),
            join: Join::Start,
            tokens: tokens(text),
            spans: Vec::new(),
            pointers: Pointers::default(),
            question: false,
        };
        let flow = Flow::of(&clause);
        assert_eq!(format!("{:?} > {:?}", flow.sources, flow.targets), expected, "{text}");
    }

    #[test]
    fn what_is_there_and_what_is_wanted() {
        check("convert the text into an audio file", "[Text] > [Audio]");
        check("extract a still image from the video", "[Video] > [Image]");
        check("create a video based on the text", "[Text] > [Video]");
        check("generate an image", "[] > [Image]");
        check("describe the picture", "[Image] > []");
        check("把文字变成图片", "[Text] > [Image]");
    }
}
