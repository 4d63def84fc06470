//! Inputs: the kinds of resources a clause can draw on, and how well they suit a tool.

use jarvis_plan::{Kind, Param, Tool};

use crate::data;
use crate::flow::Flow;
use crate::lexicon::ConceptId;
use crate::meaning;
use crate::retrieval::ToolIndex;
use crate::words::grammar::strip_polite;
use crate::words::{self, Token};

use super::Context;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AtHand {
    pub(crate) own: Vec<Kind>,
    pub(crate) near: Vec<Kind>,
    pub(crate) made: Vec<ConceptId>,
    /// True when an earlier clause spoke of a document, form or bill.
    pub(crate) document: bool,
    /// What the turn before made.
    pub(crate) told: Vec<ConceptId>,
}

impl AtHand {
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.own.contains(&kind) || self.near.contains(&kind)
    }

    fn has_media(&self) -> bool {
        self.own.iter().chain(&self.near).any(|kind| kind.is_media())
    }
}

/// What an input that nothing provides costs.
const MISSING: f32 = 0.5;

/// What it costs where a text is at hand and no picture or recording: the text is meant.
const MISSING_BESIDE: f32 = 1.0;

/// What a file costs that the clause names and the tool cannot take.
const IDLE: f32 = 0.3;

/// What it adds when the tool takes and gives what the clause says, and costs when it does not.
const FLOW: f32 = 0.2;

/// "Trim the hedge", "join me for lunch": what changes a recording or picture has none, and the order is about something of another
/// kind, by the meaning of its words.
pub(super) fn has_nothing_to_change(cx: Context<'_>, takes: &[Kind], gives: Option<Kind>) -> bool {
    let Context { clause, flow, hand, .. } = cx;
    let Some(kind) = gives.filter(|kind| kind.is_media() && takes.contains(kind)) else { return false };
    let at_hand = hand.has(kind) || kind == Kind::Audio && hand.has(Kind::Video);
    let Some((_, about)) = strip_polite(&clause.tokens).split_first() else { return false };
    let mut about =
        about.iter().filter(|token| !data::FUNCTION_WORDS.has(&token.lower) && !token.is_determiner()).peekable();
    let kinds: Vec<meaning::Vector> = names(kind).iter().filter_map(|name| meaning::of(name)).collect();
    let is_other = |token: &Token| {
        let said = meaning::of(&token.lower);
        data::PRONOUNS_OF_PEOPLE.has(&token.lower)
            || said.is_some_and(|said| kinds.iter().all(|kind| meaning::near(&said, kind) < OTHER))
    };
    !at_hand && !flow.speaks_of(kind) && about.peek().is_some() && about.all(is_other)
}

/// Words for things of a kind.
fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Image => &["picture", "photo", "image", "drawing", "scan"],
        Kind::Audio => &["audio", "sound", "song", "recording", "music", "voice"],
        Kind::Video => &["video", "film", "movie", "clip"],
        Kind::Text | Kind::Json => &[],
    }
}

/// What is less near to each of them is of another kind.
const OTHER: f32 = 0.3;

/// How well the inputs at hand suit a tool: something added for what the clause names, something taken for what is
/// missing, less where another tool can make it.
pub(super) fn feasibility(tool: &Tool, flow: &Flow, hand: &AtHand, index: &ToolIndex) -> f32 {
    let mut score = FLOW * flow.agreement(tool);
    // A picture is named, and the tool has no use for one.
    let holds = |param: &Param| {
        param.kind.is_media()
            || words::stems(&words::spell_out(&param.name)).iter().any(|word| data::HOLDING_STEMS.has(word))
    };
    if hand.own.iter().any(|kind| kind.is_media()) && !tool.params.is_empty() && !tool.params.iter().any(holds) {
        score -= IDLE;
    }
    let mut kinds: Vec<Kind> = tool.params.iter().filter(|param| param.required).map(|param| param.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let takes_own = hand.own.contains(&kind);
        if takes_own || flow.sources.contains(&kind) || flow.targets.contains(&kind) {
            score += 0.15;
        }
        if kind != Kind::Text && !takes_own && !hand.near.contains(&kind) {
            let sound = kind == Kind::Audio && hand.has(Kind::Video);
            let makeable = sound && index.bridge(Kind::Video, kind).is_some();
            let beside = kind.is_media() && hand.has(Kind::Text) && !hand.has_media();
            score -= match () {
                () if makeable => 0.2,
                () if beside => MISSING_BESIDE,
                () => MISSING,
            };
        }
    }
    score
}
