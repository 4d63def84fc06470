//! Reference: what the words of a clause mean that was given or made before: "the result", "the translated text", what the
//! clause before made.

use std::ops::RangeInclusive;

use jarvis_plan::Kind;

use super::{Linker, StepContext, Thing, own_things, wording};
use crate::candidate::Step;
use crate::clauses::{Clause, Join};
use crate::data;
use crate::flow::kind_at;
use crate::lexicon::{self, Nature};
use crate::words::grammar::is_attribute;
use crate::words::{self, Token, distinct};

impl Linker<'_> {
    /// What the clause means by "the translated text": what was made where an earlier clause translates.
    pub(super) fn referred(&self, at: usize, clause: &Clause, kind: Kind) -> Option<Vec<Thing>> {
        let tokens = &clause.tokens;
        (0..tokens.len()).rev().filter(|place| is_attribute(tokens, *place)).find_map(|place| {
            let stem = &tokens.get(place)?.stem;
            let spoken = |clause: &usize| {
                let clause = self.reading.clauses.get(*clause);
                clause.is_some_and(|clause| clause.tokens.iter().any(|token| token.stem == *stem))
            };
            let mut earlier = self.by_clause.iter().rev().filter(|(of, _)| *of < at && spoken(of));
            earlier.find_map(|(_, made)| {
                let made: Vec<Thing> = made.iter().filter(|thing| thing.is(kind)).cloned().collect();
                (!made.is_empty()).then_some(made)
            })
        })
    }

    /// True when nothing at hand is text, and something can be listened to, or a picture is attached and the clause speaks of it or of
    /// what bears writing: "translate the menu", but not "translate good morning".
    pub(super) fn holds_text(&self, cx: StepContext<'_>) -> bool {
        let (here, near) = self.kinds_at_hand(cx.at, cx.own);
        let has = |wanted: Kind| here.iter().chain(&near).any(|kind| *kind == wanted);
        let tokens = &cx.clause.tokens;
        let is_written = |at: usize| {
            let said = |token: &Token| data::WRITTEN_STEMS.has(&token.stem) || data::WRITTEN_STEMS.has(&token.lower);
            let pair =
                tokens.get(at..at + 2).map(|two| two.iter().map(|token| token.lower.as_str()).collect::<String>());
            kind_at(tokens, at) == Some(Kind::Image)
                || tokens.get(at).is_some_and(said)
                || pair.is_some_and(|pair| data::WRITTEN_STEMS.has(&pair))
        };
        let shown = || self.attachments.iter().any(|thing| thing.is(Kind::Image)) && (0..tokens.len()).any(is_written);
        !has(Kind::Text) && (has(Kind::Audio) || has(Kind::Video) || shown())
    }

    /// The text that a subject such as "inspired by the answer" refers to: all its words occurred before, and it names what
    /// a clause made.
    pub(super) fn meant(&self, at: usize, subject: &str) -> Option<Vec<Thing>> {
        let telling: Vec<String> = words::tokens(subject)
            .into_iter()
            .filter(|token| {
                !token.is_determiner() && !wording::is_hollow(token) && !data::INSPIRED_BY.has(&token.lower)
            })
            .map(|token| token.stem)
            .collect();
        let names = |clause: &Clause, stem: &String| clause.tokens.iter().any(|token| token.stem == *stem);
        let earlier = self.reading.clauses.get(..at).unwrap_or_default();
        if telling.is_empty() || !telling.iter().all(|stem| earlier.iter().any(|clause| names(clause, stem))) {
            return None;
        }
        self.by_clause.iter().rev().filter(|(of, _)| *of < at).find_map(|(of, made)| {
            let clause = self.reading.clauses.get(*of)?;
            let made: Vec<Thing> = made.iter().filter(|thing| thing.is(Kind::Text)).cloned().collect();
            (!made.is_empty() && telling.iter().any(|stem| names(clause, stem))).then_some(made)
        })
    }

    /// The latest thing of that kind made by a tool that the catalogue's graph links to this one.
    pub(super) fn linked(&self, clause: &Clause, step: &Step, kind: Kind) -> Option<Thing> {
        if clause.pointers.original {
            return None;
        }
        let graph = &self.index.graph;
        let links = |thing: &&Thing| match thing {
            Thing::Made { id, .. } => self
                .tasks
                .iter()
                .find(|task| task.id == *id)
                .and_then(|task| self.index.tools.iter().position(|tool| tool.name == task.task))
                .is_some_and(|tool| tool != step.tool && graph.links(tool, step.tool)),
            Thing::Given { .. } => false,
        };
        self.made.iter().rev().filter(|thing| thing.is(kind)).find(links).cloned()
    }

    /// What a tool that takes several of a kind works on beside the one its clause names: what was made last, or else
    /// what was named before.
    pub(super) fn others(&self, cx: StepContext<'_>, kind: Kind, beside: &[Thing]) -> Vec<Thing> {
        let made =
            self.linked(cx.clause, cx.step, kind).or_else(|| self.last.iter().find(|thing| thing.is(kind)).cloned());
        made.into_iter()
            .chain(self.given(cx.at, kind).into_iter().rev())
            .filter(|thing| !beside.contains(thing))
            .collect()
    }

    /// "Brighten a.jpg, darken b.jpg and put them side by side": so many of a kind in the state that they are in by now, what
    /// was made and is not yet worked on, and beside it what was given and is not.
    pub(super) fn latest(&self, at: usize, kind: Kind, wanted: RangeInclusive<usize>) -> Option<Vec<Thing>> {
        let taken = |thing: &Thing| self.tasks.iter().any(|task| task.args.values().any(|arg| *arg == thing.arg()));
        let free = |things: Vec<Thing>| -> Vec<Thing> {
            things.into_iter().filter(|thing| thing.is(kind) && !taken(thing)).collect()
        };
        let made = free(self.made.clone());
        if wanted.contains(&made.len()) {
            return Some(made);
        }
        let given = free(self.given(at, kind));
        let all: Vec<Thing> = given.into_iter().chain(made).collect();
        wanted.contains(&all.len()).then_some(all)
    }

    /// Where the request first names a thing; what was made stands before all that it names.
    pub(super) fn named_at(&self, thing: &Thing) -> Option<usize> {
        let mut named = self.reading.clauses.iter().flat_map(|clause| own_things(clause, self.request));
        named.position(|other| other == *thing)
    }

    /// What earlier turns named of that kind, each once, in the order first named.
    pub(super) fn mentioned(&self, kind: Kind) -> Vec<Thing> {
        distinct(self.remembered.iter().rev().filter(|thing| thing.is(kind)).cloned())
    }

    /// Everything given of that kind: attached, or named up to this clause, or by a later one.
    pub(super) fn given(&self, at: usize, kind: Kind) -> Vec<Thing> {
        let named = self.reading.clauses.iter().take(at + 1).flat_map(|clause| own_things(clause, self.request));
        let all = distinct(self.attachments.iter().cloned().chain(named).filter(|thing| thing.is(kind)));
        if all.is_empty() { self.later(at).into_iter().filter(|thing| thing.is(kind)).collect() } else { all }
    }

    /// True when the clause works on what the clause before made, rather than on what that one worked on.
    pub(super) fn goes_on(&self, clause: &Clause, step: &Step, kind: Kind) -> bool {
        if clause.pointers.original || !self.last.iter().any(|thing| thing.is(kind)) {
            return false;
        }
        let Some(before) = self.last_nature else {
            return clause.pointers.result || clause.pointers.pronoun || clause.join == Join::Then;
        };
        let carries = matches!(before, Nature::Make | Nature::Edit | Nature::Create);
        let judges = matches!(step.nature(), Some(Nature::Label | Nature::Ask));
        let now = || clause.tokens.iter().any(|token| matches!(token.lower.as_str(), "now" | "теперь" | "现"));
        // "Find the edges of a.png and invert them".
        let them =
            || clause.tokens.iter().any(|token| matches!(token.lower.as_str(), "them" | "these" | "those" | "их"));
        if clause.pointers.result || carries && now() || before == Nature::Map && !judges && them() {
            return true;
        }
        // "Tell the mood of a.txt and summarise it": a text that was judged is what is told anew, not the judgement.
        let told_anew = step.nature() == Some(Nature::Make)
            && step.concept.is_some_and(|id| lexicon::concept(id).gives == Kind::Text)
            && self.focus.iter().any(|thing| thing.is(Kind::Text));
        if told_anew && matches!(before, Nature::Label | Nature::Ask) && clause.join != Join::Then && !them() {
            return false;
        }
        // "Crop a.png and tell me how large it is": the picture as it was is not asked about any more.
        if before == Nature::Edit && judges && clause.join == Join::And {
            return true;
        }
        // "Each" of what was given, unless the clause before made several.
        let made = self.last.iter().filter(|thing| thing.is(kind)).count();
        if clause.pointers.each && before != Nature::Create && made < 2 {
            return false;
        }
        match clause.join {
            Join::Then => carries || before == Nature::Map || before == Nature::Ask && kind == Kind::Text && !judges,
            Join::And | Join::Sentence | Join::Start => {
                let changes = matches!(step.nature(), Some(Nature::Make | Nature::Edit));
                let follows = clause.pointers.pronoun || clause.join == Join::And;
                before == Nature::Create && follows
                    || carries && (clause.pointers.pronoun && !judges || changes && follows)
                    || !carries && kind == Kind::Text && step.nature() == Some(Nature::Make) && clause.pointers.pronoun
            }
        }
    }
}
