//! The draft of a set: what is wanted, what it needs, and who gives it, in an order in which givers come first.

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Note, Param, Request, Tool};

use crate::clauses::{Clause, Reading};
use crate::evidence::Evidence;
use crate::offline::NO_TOOL;
use crate::retrieval::ToolIndex;
use crate::slots;
use crate::thesaurus;
use crate::weights::Weights;
use crate::words::listed;

use super::again;
use super::choose;
use super::choose::SetWeights;
use super::segments::{self, Read, Segment};
use super::things::{self, Group, Thing};
use super::tools::{Need, Said, SetTools, Side};

/// A call that is planned.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) tool: usize,
    /// Where it is asked for.
    pub(super) segment: usize,
    /// Which of several things it is for, where it is made for each.
    pub(super) thing: Option<Thing>,
    /// Whether the request asks for it; others only give what these need.
    pub(super) is_asked: bool,
    pub(super) args: Vec<(String, String)>,
    /// Calls that give a parameter.
    pub(super) from: Vec<(String, usize)>,
    /// Calls that come before for another reason.
    pub(super) after: Vec<usize>,
}

/// The most calls that are asked for; what these need comes on top, each for at most one need of one call.
pub(super) const MOST: usize = 32;

pub(crate) fn draft(
    reading: &Reading,
    request: &Request,
    index: &ToolIndex,
    weights: &Weights,
    evidence: &Evidence<'_>,
) -> Draft {
    let (read, set) = (segments::read(request, reading), index.set());
    let mut wanted =
        choose::best(choose::wanted(&read, (reading, &request.text), set, &weights.set, evidence), &weights.set);
    wanted.sort_by(|one, two| one.segment.cmp(&two.segment).then(two.probability.total_cmp(&one.probability)));
    let taken: Vec<usize> = wanted.iter().map(|wanted| wanted.segment).collect();
    let groups = things::groups(&reading.clauses, &request.text);
    let planner = Planner { reading, request, read: &read, groups: &groups, index, set, weights: &weights.set };
    let mut calls: Vec<Call> = Vec::new();
    for wanted in wanted.iter().take(MOST) {
        let mut made = planner.for_each(planner.call(wanted.tool, wanted.segment, &taken, true));
        if let [_] = made.as_slice() {
            let (tool, clauses) = (index.tool(wanted.tool), &reading.clauses);
            let several = again::objects(&read.segments, clauses, wanted.segment, tool, &taken);
            if several.len() > 1 {
                let borders: Vec<usize> = taken.iter().chain(&several).copied().collect();
                made = several.iter().map(|segment| planner.call(wanted.tool, *segment, &borders, false)).collect();
            }
        }
        made.iter_mut().for_each(|call| call.is_asked = true);
        calls.extend(made.into_iter().take(MOST - calls.len().min(MOST)));
    }
    planner.spread(&mut calls);
    planner.link(&mut calls);
    let mut draft = planner.written(&calls);
    if draft.tasks.is_empty() {
        draft.notes.push(Note::left_out(NO_TOOL));
    }
    draft.notes.extend(evidence.unread());
    draft
}

pub(super) struct Planner<'a> {
    pub(super) reading: &'a Reading,
    pub(super) request: &'a Request,
    pub(super) read: &'a Read,
    pub(super) groups: &'a [Group],
    pub(super) index: &'a ToolIndex,
    pub(super) set: &'a SetTools,
    pub(super) weights: &'a SetWeights,
}

impl Planner<'_> {
    /// A call for a segment. Its numbers stand between the borders around it, which begin what other calls are for; where the tool is
    /// called `once`, words may stand anywhere in its clause.
    pub(super) fn call(&self, tool: usize, segment: usize, borders: &[usize], once: bool) -> Call {
        let mut args = Vec::new();
        let at = tool;
        if let (Some(tool), Some(clause)) = (self.index.tool(tool), self.clause(segment)) {
            let own_clause = self.segment(segment).and_then(|own| own.clause);
            let place = |at: usize| self.segment(at).filter(|other| other.clause == own_clause);
            let before = borders.iter().any(|at| *at < segment && place(*at).is_some());
            let from = self.segment(segment).filter(|_| before).map_or(clause.start, |own| own.from);
            let to = borders.iter().filter(|at| **at > segment).filter_map(|at| place(*at)).map(|next| next.from).min();
            let own = clause.part(from, to.unwrap_or(clause.end));
            let params: Vec<&Param> = tool.params.iter().collect();
            args = slots::fill(tool, &params, &own, &self.request.text);
            let open =
                |param: &&Param| once && !slots::counts(param) && args.iter().all(|(name, _)| *name != param.name);
            let open: Vec<&Param> = tool.params.iter().filter(open).collect();
            let more = slots::fill(tool, &open, clause, &self.request.text);
            // What one parameter has is no other's: the 90 of "90 kg" is no place.
            let is_taken = |value: &str, taken: &str| {
                value == taken || value.split_whitespace().next() == Some(taken) && taken.parse::<f64>().is_ok()
            };
            let is_new = |(_, value): &(String, String)| args.iter().all(|(_, taken)| !is_taken(value, taken));
            let new: Vec<_> = more.into_iter().filter(is_new).collect();
            args.extend(new);
            // Where a way is told, nothing else is where something begins or ends.
            let way = self.way(own_clause, (from, to.unwrap_or(clause.end)));
            let is_end = |name: &str| {
                let mut params = tool.params.iter().zip(self.needs(at));
                params.any(|(param, need)| param.name == name && need.side.is_some() && slots::takes_words(param))
            };
            args.retain(|(name, value)| {
                way.is_none_or(|way| !is_end(name) || way.things.iter().any(|thing| value.contains(&thing.text)))
            });
            args.extend(self.ends((at, tool), way, &args));
        }
        Call { tool, segment, thing: None, is_asked: false, args, from: Vec::new(), after: Vec::new() }
    }

    /// "From Graz to Linz": the way that a part of a clause tells, or else the only one of the clause.
    fn way(&self, clause: Option<usize>, (from, to): (usize, usize)) -> Option<&Group> {
        let ways = || self.groups.iter().filter(|group| group.is_way && Some(group.clause) == clause);
        let is_here = |group: &&Group| group.things.iter().all(|thing| thing.from >= from && thing.to <= to);
        let only = || ways().next().filter(|_| ways().nth(1).is_none());
        ways().find(is_here).or_else(only)
    }

    /// "From Graz to Linz": what is not given yet of where something begins and where it ends.
    fn ends(
        &self,
        (at, tool): (usize, &Tool),
        way: Option<&Group>,
        args: &[(String, String)],
    ) -> Vec<(String, String)> {
        let Some(way) = way else { return Vec::new() };
        let ends = [Side::First, Side::Second].into_iter().zip(&way.things);
        let needs = self.needs(at);
        let open = |side: Side| {
            let of = |(param, need): &(&Param, &Need)| {
                let is_given = args.iter().any(|(name, _)| *name == param.name);
                !is_given && slots::takes_words(param) && need.side == Some(side)
            };
            let mut params = tool.params.iter().zip(needs).filter(of);
            params.next().filter(|_| params.next().is_none()).map(|(param, _)| param)
        };
        ends.filter(|(_, thing)| args.iter().all(|(_, value)| !value.contains(&thing.text)))
            .filter_map(|(side, thing)| Some((open(side)?.name.clone(), thing.text.clone())))
            .collect()
    }

    pub(super) fn segment(&self, at: usize) -> Option<&Segment> {
        self.read.segments.get(at)
    }

    /// "My wall is 14 square metres. How much paint do I need?": numbers that a clause without a call of its own gives to what looks up
    /// or computes. What acts, such as a payment, takes none from beside its order.
    fn spread(&self, calls: &mut [Call]) {
        let taken: Vec<usize> = calls.iter().filter_map(|call| self.segment(call.segment)?.clause).collect();
        for call in calls.iter_mut().filter(|call| self.set.tools.get(call.tool).is_some_and(computes)) {
            let Some(tool) = self.index.tool(call.tool) else { continue };
            for (_, clause) in self.reading.clauses.iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
                let open: Vec<&Param> =
                    tool.params.iter().filter(|param| call.args.iter().all(|(name, _)| *name != param.name)).collect();
                call.args.extend(slots::measured(tool, &open, clause, &self.request.text));
            }
        }
    }

    pub(super) fn clause(&self, segment: usize) -> Option<&Clause> {
        self.segment(segment).and_then(|segment| self.reading.clauses.get(segment.clause?))
    }

    /// What a tool must be given, a place for each of its parameters.
    pub(super) fn needs(&self, tool: usize) -> &[Need] {
        self.set.tools.get(tool).map_or(&[], |said| said.needs.as_slice())
    }

    pub(super) fn param(&self, tool: usize, place: usize) -> Option<&String> {
        self.index.tool(tool).and_then(|tool| tool.params.get(place)).map(|param| &param.name)
    }

    fn written(&self, calls: &[Call]) -> Draft {
        let mut order: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = (0..calls.len()).collect();
        waiting.sort_by_key(|at| calls.get(*at).map(|call| call.segment));
        while !waiting.is_empty() {
            let ready =
                |at: &usize| calls.get(*at).is_some_and(|call| befores(call).all(|before| order.contains(&before)));
            let next = waiting.iter().position(ready).unwrap_or(0);
            order.push(waiting.remove(next));
        }
        let id = |call: usize| order.iter().position(|at| *at == call).and_then(|at| i64::try_from(at).ok());
        let mut draft = Draft::default();
        for at in &order {
            let (Some(call), Some(own)) = (calls.get(*at), id(*at)) else { continue };
            let Some(tool) = self.index.tool(call.tool) else { continue };
            let mut task = DraftTask::new(own, tool.name.clone());
            for before in befores(call).filter_map(id) {
                if !task.dep.contains(&before) {
                    task.dep.push(before);
                }
            }
            for param in &tool.params {
                let given = call.from.iter().filter(|(name, _)| *name == param.name);
                let mut given: Vec<_> = given.map(|(_, from)| Arg::output(DraftRef(id(*from)))).collect();
                if given.len() > 1 {
                    task.args.insert(param.name.clone(), Arg::list(given));
                } else if let Some(given) = given.pop() {
                    task.args.insert(param.name.clone(), given);
                } else if let Some((_, value)) = call.args.iter().find(|(name, _)| *name == param.name) {
                    task.args.insert(param.name.clone(), Arg::literal(value.clone()));
                }
            }
            draft.tasks.push(task);
        }
        draft
    }
}

/// Whether a tool looks something up or computes it, and changes nothing.
fn computes(said: &Said) -> bool {
    said.looks_up || said.does.iter().any(|sense| listed("calculate convert analyse", thesaurus::sense(*sense).name))
}

pub(super) fn befores(call: &Call) -> impl Iterator<Item = usize> {
    call.from.iter().map(|(_, from)| *from).chain(call.after.iter().copied())
}

/// What each segment says, for people to read.
pub(crate) fn explain(
    reading: &Reading,
    request: &Request,
    index: &ToolIndex,
    weights: &Weights,
    evidence: &Evidence<'_>,
) -> String {
    let read = segments::read(request, reading);
    let mut lines = String::new();
    for segment in &read.segments {
        let words: Vec<&str> =
            segment.own.iter().filter_map(|at| read.words.get(*at)).map(|word| word.key.as_str()).collect();
        let clause = segment.clause.map_or("before".to_owned(), |clause| clause.to_string());
        lines.push_str(&format!("      [{clause}] {}\n", words.join(" ")));
    }
    let mut wanted = choose::wanted(&read, (reading, &request.text), index.set(), &weights.set, evidence);
    wanted.sort_by(|one, two| two.probability.total_cmp(&one.probability));
    for wanted in wanted.iter().take(10) {
        let name = index.tool(wanted.tool).map_or("", |tool| tool.name.as_str());
        lines.push_str(&format!("      {:>5.2} {name} (segment {})\n", wanted.probability, wanted.segment));
    }
    lines
}
