//! The draft of a set: what is wanted, what it needs, and who gives it, in an order in which givers come first.

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Note, Param, Request};

use crate::clauses::{Clause, Join, Reading};
use crate::evidence::Evidence;
use crate::offline::NO_TOOL;
use crate::retrieval::ToolIndex;
use crate::slots;
use crate::weights::Weights;

use super::choose::SetWeights;
use super::segments::{self, Read};
use super::tools::{Need, SetTools, Sort};
use super::{choose, needs};

/// A call that is planned.
#[derive(Debug, Clone)]
struct Call {
    tool: usize,
    /// Where it is asked for.
    segment: usize,
    args: Vec<(String, String)>,
    /// Calls that give a parameter.
    from: Vec<(String, usize)>,
    /// Calls that come before for another reason.
    after: Vec<usize>,
}

/// The most calls of a plan.
const MOST: usize = 32;

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
    let planner = Planner { reading, request, read: &read, index, set, weights: &weights.set };
    let mut calls: Vec<Call> =
        wanted.iter().take(MOST).map(|wanted| planner.call(wanted.tool, wanted.segment)).collect();
    planner.link(&mut calls);
    let mut draft = planner.written(&calls);
    if draft.tasks.is_empty() {
        draft.notes.push(Note::left_out(NO_TOOL));
    }
    draft.notes.extend(evidence.unread());
    draft
}

struct Planner<'a> {
    reading: &'a Reading,
    request: &'a Request,
    read: &'a Read,
    index: &'a ToolIndex,
    set: &'a SetTools,
    weights: &'a SetWeights,
}

impl Planner<'_> {
    fn call(&self, tool: usize, segment: usize) -> Call {
        let mut args = Vec::new();
        if let (Some(tool), Some(clause)) = (self.index.tool(tool), self.clause(segment)) {
            let params: Vec<&Param> = tool.params.iter().collect();
            args = slots::fill(tool, &params, clause, &self.request.text);
        }
        Call { tool, segment, args, from: Vec::new(), after: Vec::new() }
    }

    fn clause(&self, segment: usize) -> Option<&Clause> {
        self.read.segments.get(segment).and_then(|segment| self.reading.clauses.get(segment.clause))
    }

    /// Links each need to what gives it, and adds what gives it where nothing that is wanted does.
    fn link(&self, calls: &mut Vec<Call>) {
        let mut at = 0;
        while let Some(call) = calls.get(at) {
            let (taker, segment) = (call.tool, call.segment);
            let needs = self.set.tools.get(taker).map(|said| said.needs.clone()).unwrap_or_default();
            for (place, need) in needs.iter().enumerate() {
                if calls.get(at).is_some_and(|call| self.is_given(call, place, need)) {
                    continue;
                }
                let found = needs::givers(taker, need, self.set, self.weights);
                let named = |giver: &&needs::Giver| {
                    calls
                        .iter()
                        .position(|call| call.tool == giver.tool)
                        .is_some_and(|from| from != at && !reaches(calls, at, from))
                };
                let chosen = found.iter().find(named).filter(|giver| giver.score >= self.weights.link);
                let other = found.first().filter(|giver| {
                    need.required
                        && need.sort != Sort::Content
                        && giver.score >= self.weights.add
                        && calls.iter().all(|call| call.tool != giver.tool)
                });
                let best = match (chosen, other) {
                    (Some(chosen), Some(other)) if other.score > chosen.score + self.weights.prefer => Some(other),
                    (Some(chosen), _) => Some(chosen),
                    (None, other) => other,
                };
                let Some(best) = best else { continue };
                let from = calls.iter().position(|call| call.tool == best.tool).unwrap_or_else(|| {
                    calls.push(self.call(best.tool, segment));
                    calls.len() - 1
                });
                if let Some(call) = calls.get_mut(at) {
                    call.args.retain(|(name, _)| self.param(taker, place) != Some(name));
                    if let Some(name) = self.param(taker, place) {
                        call.from.push((name.to_owned(), from));
                    }
                }
            }
            self.follow(calls, at);
            at += 1;
            if at >= MOST {
                break;
            }
        }
    }

    /// What acts follows on what looked up the same before it ("find a table and reserve it"), and, behind "then", on whatever stands
    /// before it.
    fn follow(&self, calls: &mut [Call], at: usize) {
        let Some(call) = calls.get(at).filter(|call| call.from.is_empty()) else { return };
        let (Some(clause), Some(said)) = (self.clause(call.segment), self.set.tools.get(call.tool)) else { return };
        let points = clause.pointers.pronoun || clause.pointers.result;
        let mut before: Vec<usize> = (0..calls.len()).filter(|other| Planner::is_before(calls, *other, at)).collect();
        before.sort_by_key(|other| calls.get(*other).map(|call| call.segment));
        let found = |other: &usize| {
            let found = calls.get(*other).and_then(|call| self.set.tools.get(call.tool));
            found.is_some_and(|found| found.looks_up && needs::kinship(said, found, self.set) >= self.weights.kinship)
        };
        let kin = before.iter().rev().find(|other| !said.looks_up && found(other));
        let last = before.last().filter(|_| clause.join == Join::Then && (points || !said.looks_up));
        if let Some(before) = kin.or(last).copied()
            && !reaches(calls, at, before)
            && let Some(call) = calls.get_mut(at)
        {
            call.after.push(before);
        }
    }

    fn is_before(calls: &[Call], one: usize, two: usize) -> bool {
        let segment = |at: usize| calls.get(at).map(|call| call.segment);
        one != two && segment(one) < segment(two)
    }

    fn param(&self, tool: usize, place: usize) -> Option<&String> {
        self.index.tool(tool).and_then(|tool| tool.params.get(place)).map(|param| &param.name)
    }

    /// Whether the request gives a parameter, or people are asked for it rather than another tool.
    fn is_given(&self, call: &Call, place: usize, need: &Need) -> bool {
        let value = self.param(call.tool, place).and_then(|name| call.args.iter().find(|(own, _)| own == name));
        match need.sort {
            Sort::Free => true,
            Sort::Reference => value.is_some_and(|(_, value)| is_code(value)),
            Sort::Number => value.is_some(),
            Sort::Content => {
                value.is_some()
                    && !self
                        .clause(call.segment)
                        .is_some_and(|clause| clause.pointers.pronoun || clause.pointers.result)
            }
        }
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
                if let Some((_, from)) = call.from.iter().find(|(name, _)| *name == param.name) {
                    task.args.insert(param.name.clone(), Arg::output(DraftRef(id(*from))));
                } else if let Some((_, value)) = call.args.iter().find(|(name, _)| *name == param.name) {
                    task.args.insert(param.name.clone(), Arg::literal(value.clone()));
                }
            }
            draft.tasks.push(task);
        }
        draft
    }
}

fn befores(call: &Call) -> impl Iterator<Item = usize> {
    call.from.iter().map(|(_, from)| *from).chain(call.after.iter().copied())
}

/// Whether `from` is reached from `to` along links, so that a link to it would close a circle.
fn reaches(calls: &[Call], at: usize, from: usize) -> bool {
    let mut open = vec![from];
    let mut seen = Vec::new();
    while let Some(next) = open.pop() {
        if next == at {
            return true;
        }
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        open.extend(calls.get(next).into_iter().flat_map(befores));
    }
    false
}

/// A value that may stand for a thing elsewhere: with a digit, or in capitals.
fn is_code(value: &str) -> bool {
    let short = value.split_whitespace().count() <= 2;
    short
        && (value.chars().any(|letter| letter.is_ascii_digit())
            || value.chars().all(|letter| letter.is_uppercase())
            || value.contains(['@', '/']))
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
        lines.push_str(&format!("      [{}] {}\n", segment.clause, words.join(" ")));
    }
    let mut wanted = choose::wanted(&read, (reading, &request.text), index.set(), &weights.set, evidence);
    wanted.sort_by(|one, two| two.probability.total_cmp(&one.probability));
    for wanted in wanted.iter().take(10) {
        let name = index.tool(wanted.tool).map_or("", |tool| tool.name.as_str());
        lines.push_str(&format!("      {:>5.2} {name} (segment {})\n", wanted.probability, wanted.segment));
    }
    lines
}
