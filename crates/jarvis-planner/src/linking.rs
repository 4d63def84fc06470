//! Linking: whose output, or which resource, each argument gets; and bridges where a kind is missing.
//!
//! The thing a clause works on is, in this order: what it names; what it points at ("the result", "the second
//! picture"); what the clause before made, when it goes on from there; what was spoken of last; what was attached; what
//! a later clause names; what earlier turns named.

mod arguments;
mod own;
mod place;
mod reference;
pub(crate) mod wording;

use jarvis_plan::{Arg, DraftRef, DraftTask, Kind, Note, Request, Tool};

use crate::candidate::Step;
use crate::clauses::{Clause, Join, Reading};
use crate::data;
use crate::lexicon::{ConceptId, Nature};
use crate::resources::{self, SpanKind};
use crate::retrieval::ToolIndex;

/// Something a task can work on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    Given {
        kind: Kind,
        /// The string that stands for it in arguments.
        text: String,
    },
    Made {
        id: i64,
        /// The kinds it gives, the main one first.
        kinds: Vec<Kind>,
    },
}

impl Thing {
    pub(crate) fn is(&self, kind: Kind) -> bool {
        match self {
            Thing::Given { kind: own, .. } => *own == kind,
            Thing::Made { kinds, .. } => kinds.contains(&kind),
        }
    }

    pub(crate) fn is_text(&self, wanted: &str) -> bool {
        matches!(self, Thing::Given { kind: Kind::Text, text } if text == wanted)
    }

    /// The argument that stands for it. What a person wrote is never read as a reference.
    fn arg(&self) -> Arg<DraftRef> {
        match self {
            Thing::Given { text, .. } => Arg::literal(text.clone()),
            Thing::Made { id, .. } => Arg::output(DraftRef(Some(*id))),
        }
    }
}

pub(crate) struct Linker<'a> {
    request: &'a Request,
    reading: &'a Reading,
    index: &'a ToolIndex,
    pub(crate) tasks: Vec<DraftTask>,
    pub(crate) notes: Vec<Note>,
    attachments: Vec<Thing>,
    /// What earlier turns named, the latest turn first.
    remembered: Vec<Thing>,
    /// What was named or worked on last.
    focus: Vec<Thing>,
    /// What the clause before made, and what it was.
    last: Vec<Thing>,
    last_nature: Option<Nature>,
    made: Vec<Thing>,
    /// What each step made, by the concept that asked for it, the latest last.
    by_concept: Vec<(ConceptId, Vec<Thing>)>,
    /// What a step took that only a later clause names.
    borrowed: Vec<Thing>,
    /// What each clause made in the end, in order.
    by_clause: Vec<(usize, Vec<Thing>)>,
}

/// A step of a clause, with what there is to work on.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    /// The clause's place in the request.
    at: usize,
    clause: &'a Clause,
    step: &'a Step,
    /// What the clause names.
    own: &'a [Thing],
    /// What the steps before made for this one.
    inner: &'a [Thing],
}

/// The most tasks of a draft.
const MOST: usize = 32;

impl<'a> Linker<'a> {
    pub(crate) fn new(request: &'a Request, reading: &'a Reading, index: &'a ToolIndex) -> Linker<'a> {
        let excluded = |name: &str| reading.excluded.iter().any(|file| file == name);
        let attachments = request
            .attachments
            .iter()
            .filter(|resource| !resource.name.as_deref().is_some_and(excluded) && !excluded(resource.as_arg()))
            .map(|resource| Thing::Given { kind: resource.kind, text: resource.as_arg().to_owned() })
            .collect();
        let remembered = resources::remembered(request)
            .into_iter()
            .filter_map(|span| Some(Thing::Given { kind: span.kind?, text: span.text }))
            .collect();
        let results = request.results.iter().map(|text| Thing::Given { kind: Kind::Text, text: text.clone() });
        let last: Vec<Thing> = results.collect();
        let last_nature = (!last.is_empty()).then_some(Nature::Make);
        Linker {
            request,
            reading,
            index,
            tasks: Vec::new(),
            notes: Vec::new(),
            attachments,
            remembered,
            focus: Vec::new(),
            last,
            last_nature,
            made: Vec::new(),
            by_concept: Vec::new(),
            borrowed: Vec::new(),
            by_clause: Vec::new(),
        }
    }

    pub(crate) fn clause(&mut self, at: usize, steps: &[Step]) {
        let reading = self.reading;
        let Some(clause) = reading.clauses.get(at) else { return };
        let own = own_things(clause, self.request);
        if steps.is_empty() {
            if !own.is_empty() {
                self.focus = own;
            }
            return;
        }
        let mut inner: Vec<Thing> = Vec::new();
        let nature = steps.last().and_then(Step::nature);
        for step in steps {
            inner = self.step(StepContext { at, clause, step, own: &own, inner: &inner });
        }
        if !inner.is_empty() {
            self.by_clause.push((at, inner.clone()));
            self.last = inner;
            self.last_nature = nature;
        }
    }

    fn kinds_at_hand(&self, at: usize, own: &[Thing]) -> (Vec<Kind>, Vec<Kind>) {
        let later = self.later(at);
        let near = self.attachments.iter().chain(&self.focus).chain(&self.made).chain(&later).chain(&self.remembered);
        (own.iter().flat_map(kinds_of).collect(), near.flat_map(kinds_of).collect())
    }

    /// What the first later clause that names things names, and text to work on anywhere.
    fn later(&self, at: usize) -> Vec<Thing> {
        let later = self.reading.clauses.get(at + 1..).unwrap_or_default();
        later
            .iter()
            .map(|clause| own_things(clause, self.request))
            .find(|things| !things.is_empty())
            .unwrap_or_default()
    }

    /// Adds the tasks of one step, one for each thing it works on; gives what they make.
    fn step(&mut self, cx: StepContext<'_>) -> Vec<Thing> {
        let StepContext { clause, step, .. } = cx;
        let Some(tool) = self.index.tool(step.tool) else { return Vec::new() };
        let sets = arguments::fill(self, cx, tool);
        let mut made = Vec::new();
        let waits: Vec<i64> =
            if clause.join == Join::Then && tool.outputs.is_empty() { ids(&self.last) } else { Vec::new() };
        for args in sets {
            // "Summarise it and give me 3 keywords": a summary comes with the keywords of its text, and its own are none.
            if let Some(summary) = self.same_made(tool, &args).filter(|_| names_keywords(clause)) {
                made.push(summary);
                continue;
            }
            let Some(id) = self.next_id() else { break };
            let mut task = DraftTask::new(id, tool.name.clone());
            for wait in &waits {
                task = task.after(*wait);
            }
            for (name, arg) in args {
                for of in arg.references().filter_map(|reference| reference.0) {
                    if !task.dep.contains(&of) {
                        task.dep.push(of);
                    }
                }
                task.args.insert(name, arg);
            }
            // Two drawings of a cat are two; two readings of one file are one.
            let again = step.nature().is_some_and(|nature| nature != Nature::Create);
            let thing = Thing::Made { id: self.add(task, again), kinds: tool.outputs.clone() };
            if !made.contains(&thing) {
                made.push(thing);
            }
        }
        self.made.extend(made.iter().cloned());
        if let Some(concept) = step.concept {
            self.by_concept.push((concept, made.clone()));
        }
        made
    }

    /// What a task of the same tool made, where it is all that a call would work on.
    fn same_made(&self, tool: &Tool, args: &arguments::Args) -> Option<Thing> {
        let mut made = args.values().flat_map(Arg::references).filter_map(|reference| reference.0);
        let (id, None) = (made.next()?, made.next()) else { return None };
        let is_same = self.tasks.iter().any(|task| task.id == id && task.task == tool.name);
        is_same.then(|| Thing::Made { id, kinds: tool.outputs.clone() })
    }

    /// Adds a task, unless it would only do `again` what another one does; gives the id of the one that stands.
    fn add(&mut self, task: DraftTask, again: bool) -> i64 {
        let same = |other: &&DraftTask| other.task == task.task && other.args == task.args && other.dep == task.dep;
        let gives = self.index.tools.iter().any(|tool| tool.name == task.task && !tool.outputs.is_empty());
        if again
            && gives
            && !task.args.is_empty()
            && let Some(same) = self.tasks.iter().find(same)
        {
            return same.id;
        }
        let id = task.id;
        self.tasks.push(task);
        id
    }

    fn next_id(&mut self) -> Option<i64> {
        if self.tasks.len() >= MOST {
            let note = Note::left_out(format!("the request asks for more than {MOST} tasks; the rest were left out"));
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
            return None;
        }
        i64::try_from(self.tasks.len()).ok()
    }

    /// The things of that kind the clause works on; empty when there is none.
    fn bind(&mut self, cx: StepContext<'_>, kind: Kind) -> Vec<Thing> {
        let StepContext { at, clause, step, own, inner } = cx;
        let of_kind = |things: &[Thing]| things.iter().filter(|thing| thing.is(kind)).cloned().collect::<Vec<_>>();
        let fed = of_kind(inner);
        if !fed.is_empty() {
            return fed;
        }
        if let Some(made) = self.referred(at, clause, kind) {
            return made;
        }
        if let Some(refers) = step.refers
            && let Some((_, made)) = self.by_concept.iter().rev().find(|(concept, _)| *concept == refers)
            && made.iter().any(|thing| thing.is(kind))
        {
            return of_kind(made);
        }
        let named = of_kind(own);
        // "Before you describe it, turn a.png": what was turned is described.
        if clause.join == Join::Then
            && !named.is_empty()
            && named == self.borrowed
            && self.last.iter().any(|t| t.is(kind))
        {
            return of_kind(&self.last);
        }
        if !named.is_empty() {
            self.focus = own.to_vec();
            return named;
        }
        if let Some(nth) = clause.pointers.ordinal {
            let all = Some(self.given(at, kind)).filter(|all| !all.is_empty()).unwrap_or_else(|| self.mentioned(kind));
            if let Some(thing) = all.get(nth) {
                self.focus = vec![thing.clone()];
                return vec![thing.clone()];
            }
        }
        if self.goes_on(clause, step, kind) {
            return of_kind(&self.last);
        }
        if let Some(thing) = self.linked(clause, step, kind) {
            return vec![thing];
        }
        if clause.pointers.each {
            let all = self.given(at, kind);
            if !all.is_empty() {
                return all;
            }
        }
        let named: Vec<Thing> = self.given(at, kind).into_iter().rev().take(1).collect();
        let later = of_kind(&self.later(at));
        for things in [of_kind(&self.focus), of_kind(&self.attachments), named, later.clone()] {
            if !things.is_empty() {
                if things == later {
                    self.borrowed = things.clone();
                }
                self.focus = things.clone();
                return things;
            }
        }
        if let Some(latest) = self.made.iter().rev().find(|thing| thing.is(kind)) {
            return vec![latest.clone()];
        }
        let mentioned = self.mentioned(kind);
        if clause.pointers.original {
            return mentioned.into_iter().take(1).collect();
        }
        if clause.pointers.each {
            let two = clause.tokens.iter().any(|token| data::BOTH_WORDS.has(&token.lower));
            let skipped = if two { mentioned.len().saturating_sub(2) } else { 0 };
            return mentioned.into_iter().skip(skipped).collect();
        }
        of_kind(&self.remembered).into_iter().take(1).collect()
    }

    /// Makes what is missing from what is at hand, by at most two tools that carry content over; empty when that cannot
    /// be done.
    fn bridge(&mut self, cx: StepContext<'_>, to: Kind) -> Vec<Thing> {
        let StepContext { at, own, inner, .. } = cx;
        let (here, near) = self.kinds_at_hand(at, own);
        let mut from: Vec<Kind> = Vec::new();
        for kind in inner.iter().flat_map(kinds_of).chain(here).chain(self.last.iter().flat_map(kinds_of)).chain(near) {
            // Content is told in words; it is not drawn or spoken only to be looked at or listened to again.
            let sensible = to == Kind::Text
                || (kind, to) == (Kind::Video, Kind::Audio)
                || inner.iter().any(|thing| thing.is(kind));
            if kind != to && sensible && !from.contains(&kind) {
                from.push(kind);
            }
        }
        let direct = from.iter().find_map(|kind| Some(vec![(*kind, self.index.bridge(*kind, to)?)]));
        let through = || {
            if to != Kind::Text {
                return None;
            }
            from.iter().find_map(|kind| {
                Kind::ALL.into_iter().filter(|middle| middle != kind && *middle != to).find_map(|middle| {
                    Some(vec![(*kind, self.index.bridge(*kind, middle)?), (middle, self.index.bridge(middle, to)?)])
                })
            })
        };
        let Some(path) = direct.or_else(through) else { return Vec::new() };
        let mut inner: Vec<Thing> = inner.to_vec();
        for (kind, tool) in path {
            let Some(tool) = self.index.tool(tool) else { return Vec::new() };
            let Some(param) = tool.params.iter().find(|param| param.kind == kind) else { return Vec::new() };
            let inputs = self.bind(StepContext { inner: &inner, ..cx }, kind);
            let mut made = Vec::new();
            for input in inputs {
                let Some(id) = self.next_id() else { break };
                let mut task = DraftTask::new(id, tool.name.clone());
                if let Thing::Made { id, .. } = &input {
                    task.dep.push(*id);
                }
                task.args.insert(param.name.clone(), input.arg());
                made.push(Thing::Made { id: self.add(task, true), kinds: tool.outputs.clone() });
            }
            if made.is_empty() {
                return Vec::new();
            }
            self.made.extend(made.iter().cloned());
            inner = made;
        }
        inner
    }

    /// Things as a tool can take them: what is given by its address is fetched first, where some tool fetches it.
    fn fetched(&mut self, things: Vec<Thing>, kind: Kind) -> Vec<Thing> {
        let Some(at) = self.index.fetcher(kind) else { return things };
        let Some(tool) = self.index.tool(at) else { return things };
        let Some(param) = tool.params.iter().find(|param| param.required) else { return things };
        let mut taken = Vec::new();
        for thing in things {
            let address = matches!(&thing, Thing::Given { text, .. } if resources::is_url(text));
            let Some(id) = self.next_id().filter(|_| address) else {
                taken.push(thing);
                continue;
            };
            let mut task = DraftTask::new(id, tool.name.clone());
            task.args.insert(param.name.clone(), thing.arg());
            let made = Thing::Made { id: self.add(task, true), kinds: tool.outputs.clone() };
            self.made.push(made.clone());
            taken.push(made);
        }
        taken
    }
}

fn names_keywords(clause: &Clause) -> bool {
    clause.tokens.iter().any(|token| data::KEYWORD_WORDS.has(&token.lower))
}

pub(crate) fn kinds_of(thing: &Thing) -> Vec<Kind> {
    match thing {
        Thing::Given { kind, .. } => vec![*kind],
        Thing::Made { kinds, .. } => kinds.clone(),
    }
}

fn ids(things: &[Thing]) -> Vec<i64> {
    things
        .iter()
        .filter_map(|thing| match thing {
            Thing::Made { id, .. } => Some(*id),
            Thing::Given { .. } => None,
        })
        .collect()
}

/// The name of a file in small letters, without its folder.
fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase()
}

/// What a clause itself names. The name of an attached file means the attachment.
pub(crate) fn own_things(clause: &Clause, request: &Request) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    for span in &clause.spans {
        let attached = request.attachments.iter().find(|resource| {
            let called = resource.name.as_deref();
            span.what == SpanKind::Path
                && called.is_some_and(|name| name == span.text || file_name(name) == file_name(&span.text))
        });
        let thing = match (attached, span.kind) {
            (Some(resource), _) => Thing::Given { kind: resource.kind, text: resource.as_arg().to_owned() },
            (None, Some(kind)) => Thing::Given { kind, text: span.text.clone() },
            (None, None) => continue,
        };
        if !things.contains(&thing) {
            things.push(thing);
        }
    }
    things
}
