//! Links of a set: what a call must be given from what another gives, and what follows on what by the words of the request.

use super::again;
use super::choose;
use super::draft::{Call, MOST, Planner, befores};
use super::needs;
use super::segments::Points;
use super::things::{self, Form, Thing};
use super::tools::{Need, Side, Sort, Word};
use rustc_hash::FxHashMap;

use crate::clauses::Join;
use crate::resources::SpanKind;
use crate::thesaurus;
use crate::words;

impl Planner<'_> {
    /// Links each need to what gives it, and adds what gives it where nothing that is wanted does.
    pub(super) fn link(&self, calls: &mut Vec<Call>) {
        let mut known: FxHashMap<(usize, usize), Vec<needs::Giver>> = FxHashMap::default();
        let mut at = 0;
        while let Some(call) = calls.get(at) {
            let (taker, segment) = (call.tool, call.segment);
            let needs = self.needs(taker);
            for (place, need) in needs.iter().enumerate() {
                if calls.get(at).is_some_and(|call| self.is_given(call, place, need)) {
                    continue;
                }
                let found =
                    known.entry((taker, place)).or_insert_with(|| needs::givers(taker, need, self.set, self.weights));
                let named = |giver: &&needs::Giver| self.giving(calls, at, giver.tool).is_some();
                let before = |giver: &&needs::Giver| {
                    need.sort != Sort::Free
                        || calls.iter().any(|one| one.tool == giver.tool && one.segment < segment)
                            && self.set.tools.get(giver.tool).is_some_and(|said| said.looks_up)
                };
                let chosen = found.iter().filter(before).find(named).filter(|giver| giver.score >= self.weights.link);
                let other = found.iter().find(|giver| self.may_be_added(giver.tool)).filter(|giver| {
                    calls.len() < MOST
                        && need.required
                        && need.sort != Sort::Content
                        && (need.sort != Sort::Free || giver.result >= WHOLLY && is_told(need))
                        && giver.score >= self.weights.add
                        && calls.iter().all(|other| other.tool != giver.tool || is_for_another(other, calls.get(at)))
                });
                let best = match (chosen, other) {
                    (Some(chosen), Some(other)) if other.score > chosen.score + self.weights.prefer => Some(other),
                    (Some(chosen), _) => Some(chosen),
                    (None, other) => other,
                };
                let Some(best) = best else { continue };
                // A way has two ends.
                let other_end = |other: &Need| need.side.is_some() && other.side.is_some() && other.side != need.side;
                let side = need.side.filter(|_| needs.iter().any(other_end));
                let from = self.giver(calls, at, best.tool, side);
                if need.sort == Sort::Reference {
                    self.look_up_by_name(calls, from);
                }
                let others = self.others(calls, at, place, from);
                if let Some(call) = calls.get_mut(at) {
                    call.args.retain(|(name, _)| self.param(taker, place) != Some(name));
                    if let Some(name) = self.param(taker, place) {
                        let all = std::iter::once(from).chain(others);
                        call.from.extend(all.map(|from| (name.to_owned(), from)));
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

    /// Whether a tool may be called for what it gives alone: what changes the world is not. A name that says to send, such as
    /// `forward_geocode`, speaks of something else there, since what sends gives nothing.
    fn may_be_added(&self, tool: usize) -> bool {
        self.set.tools.get(tool).is_some_and(|said| !said.acts || said.sends())
    }

    /// The calls of a tool that another may be given something by.
    fn open(calls: &[Call], at: usize, tool: usize) -> Vec<usize> {
        let is_open = |from: &usize| *from != at && calls.get(*from).is_some_and(|call| call.tool == tool);
        (0..calls.len()).filter(is_open).filter(|from| !reaches(calls, at, *from)).collect()
    }

    /// The one that gives something to a call: for a thing the one for the same, or one that is for none; else the one for the thing that
    /// the words of the call name, else the first.
    fn giving(&self, calls: &[Call], at: usize, tool: usize) -> Option<usize> {
        let taker = calls.get(at)?;
        let open = Planner::open(calls, at, tool);
        let thing = |from: &usize| calls.get(*from).and_then(|call| call.thing.as_ref());
        let found = match &taker.thing {
            Some(own) => {
                let same = open.iter().find(|from| thing(from) == Some(own));
                same.or_else(|| open.iter().find(|from| thing(from).is_none()))
            }
            None => {
                let text = self.segment(taker.segment).map_or("", |segment| segment.text.as_str());
                let is_named = |from: &&usize| thing(from).is_some_and(|thing| text.contains(&thing.text));
                open.iter().find(is_named).or(open.first())
            }
        };
        found.copied()
    }

    /// The same, made where there is none. Where a call needs it for two ends, it is one call for each.
    fn giver(&self, calls: &mut Vec<Call>, at: usize, tool: usize, side: Option<Side>) -> usize {
        let (own, segment) = calls.get(at).map_or((None, 0), |call| (call.thing.clone(), call.segment));
        let wanted = own.or_else(|| self.end(segment, side?).cloned());
        let found = self.giving(calls, at, tool);
        let Some(wanted) = wanted else {
            return found.unwrap_or_else(|| {
                let made = calls.len();
                let mut each = self.for_each(self.call(tool, segment, &[], true));
                // What is looked up is what is named, and not all that is said of it.
                if let ([one], Some(thing)) = (each.as_mut_slice(), self.only(segment)) {
                    *one = self.call_for(tool, segment, &thing);
                }
                calls.extend(each);
                made
            });
        };
        // One that was asked for and names nothing ("look their codes up") is for the first end.
        let is_blank = |call: &Call| call.thing.is_none() && self.names_nothing(call.segment);
        let open = Planner::open(calls, at, tool);
        let is_for = |from: &&usize| calls.get(**from).is_some_and(|call| call.thing.as_ref() == Some(&wanted));
        let blank = |from: &&usize| side.is_some() && calls.get(**from).is_some_and(is_blank);
        if let Some(same) = open.iter().find(is_for) {
            return *same;
        }
        if let Some(blank) = open.iter().find(blank).copied()
            && let Some(call) = calls.get_mut(blank)
        {
            let made = self.call_for(tool, call.segment, &wanted);
            (call.args, call.thing) = (made.args, made.thing);
            return blank;
        }
        let shared = found.filter(|from| side.is_none() && calls.get(*from).is_some_and(|call| call.thing.is_none()));
        shared.unwrap_or_else(|| {
            calls.push(self.call_for(tool, segment, &wanted));
            calls.len() - 1
        })
    }

    /// The thing at one end of what the clause of an item names, or of the only way of the request: "from Leeds to Seville".
    fn end(&self, segment: usize, side: Side) -> Option<&Thing> {
        let clause = self.segment(segment)?.clause;
        let own = self.groups.iter().find(|group| group.things.len() == 2 && Some(group.clause) == clause);
        let group = own.or_else(|| self.groups.iter().find(|group| group.is_way))?;
        match side {
            Side::First => group.things.first(),
            Side::Second => group.things.get(1),
        }
    }

    fn names_nothing(&self, segment: usize) -> bool {
        let (Some(own), Some(clause)) = (self.segment(segment), self.clause(segment)) else { return false };
        things::things(&clause.part(own.from, own.to), &self.request.text).is_empty()
    }

    /// "Find the id of the user Dora": what gives an id is given the name alone.
    fn look_up_by_name(&self, calls: &mut [Call], at: usize) {
        let Some(call) = calls.get_mut(at) else { return };
        let Some(name) = self.only(call.segment) else { return };
        for (_, value) in call.args.iter_mut().filter(|(_, value)| value.ends_with(&name.text)) {
            value.clone_from(&name.text);
        }
    }

    /// The only thing that the clause of an item names.
    fn only(&self, segment: usize) -> Option<Thing> {
        let mut named = things::things(self.clause(segment)?, &self.request.text).into_iter();
        named.next().filter(|thing| named.next().is_none() && thing.form == Form::Name)
    }

    /// A call for one thing, which the first parameter takes that can.
    fn call_for(&self, tool: usize, segment: usize, thing: &Thing) -> Call {
        let mut call = self.call(tool, segment, &[], true);
        // A name before a code, what must be given before what may.
        let takes = |(_, need): &(usize, &Need)| need.sort != Sort::Number;
        let rank = |(_, need): &(usize, &Need)| (!need.required, need.sort == Sort::Reference);
        let place = self.needs(tool).iter().enumerate().filter(takes).min_by_key(rank);
        if let Some(name) = place.and_then(|(place, _)| self.param(tool, place)) {
            call.args.retain(|(own, _)| own != name);
            call.args.push((name.clone(), thing.text.clone()));
        }
        Call { thing: Some(thing.clone()), ..call }
    }

    /// The other calls of the same tool for things of their own, where a parameter takes a list.
    fn others(&self, calls: &[Call], at: usize, place: usize, from: usize) -> Vec<usize> {
        let Some((taker, giver)) = calls.get(at).zip(calls.get(from)) else { return Vec::new() };
        let tool = self.index.tool(taker.tool).and_then(|tool| tool.params.get(place));
        let is_list = tool.is_some_and(again::is_list);
        let same = |other: &usize| *other != from && calls.get(*other).is_some_and(|call| call.thing.is_some());
        let open = Planner::open(calls, at, giver.tool).into_iter();
        open.filter(|_| is_list && taker.thing.is_none() && giver.thing.is_some()).filter(same).collect()
    }

    /// What acts follows on what looked up the same before it ("find a table and reserve it"), on what its words point at or the
    /// condition of its sentence, and, behind "then", on whatever stands before it.
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
        // "Send both to Petra", "mail her the time of it", "tell my wife": what looked something up is passed on by what acts.
        let looked = |other: &&usize| {
            let looked = calls.get(**other).and_then(|call| self.set.tools.get(call.tool));
            looked.is_some_and(|looked| looked.looks_up)
        };
        let segment = self.segment(call.segment);
        let points = segment.map_or(Points::Nowhere, |segment| segment.points);
        let passes = said.sends() && !self.says_itself(call);
        let made = || before.iter().rev().find(|other| self.made(call, calls.get(**other)));
        let pointed: Vec<usize> = match points {
            _ if said.looks_up => Vec::new(),
            Points::All => before.iter().filter(looked).copied().collect(),
            Points::Last if self.lacks(call) => before.iter().rev().find(looked).into_iter().copied().collect(),
            Points::Nowhere if passes => before.iter().rev().find(looked).or_else(made).into_iter().copied().collect(),
            Points::Last | Points::Nowhere => made().into_iter().copied().collect(),
        };
        let chosen: Vec<usize> = match kin.or(last) {
            Some(one) if pointed.len() < 2 => vec![*one],
            _ if pointed.is_empty() => self.condition(call.segment, calls, &before).into_iter().collect(),
            _ => pointed.clone(),
        };
        let named = made().is_some_and(|made| chosen == [*made]);
        let content = self.content(call, named).map(str::to_owned).filter(|_| chosen == pointed && chosen.len() == 1);
        for before in chosen {
            if reaches(calls, at, before) {
                continue;
            }
            let Some(call) = calls.get_mut(at) else { continue };
            match &content {
                Some(name) => {
                    call.args.retain(|(own, _)| own != name);
                    call.from.push((name.clone(), before));
                }
                None => call.after.push(before),
            }
        }
    }

    /// "If it rains, call a taxi": the call that tells of the condition of the sentence.
    fn condition(&self, segment: usize, calls: &[Call], before: &[usize]) -> Option<usize> {
        let clause = |at: usize| self.segment(at).and_then(|segment| segment.clause);
        let own = clause(segment)?;
        let in_one = |other: usize| {
            (other + 1..=own).all(|at| self.reading.clauses.get(at).is_some_and(|clause| clause.join == Join::And))
        };
        let opens = |at: &usize| {
            let first = self.segment(*at).and_then(|segment| words::lowers(&segment.text).next());
            first.is_some_and(|first| words::listed("if unless wenn falls если 如果 要是", &first))
        };
        let condition = (0..segment).rev().take_while(|at| clause(*at).is_some_and(in_one)).find(opens)?;
        before.iter().rev().find(|other| calls.get(**other).is_some_and(|call| call.segment == condition)).copied()
    }

    /// "Save the translation", "order prints of that album": what an earlier call makes is named by the word that its tool has for it,
    /// and that the later one's tool has not.
    fn made(&self, call: &Call, giver: Option<&Call>) -> bool {
        let (Some(giver), Some(segment)) = (giver, self.segment(call.segment)) else { return false };
        let said = |call: &Call| self.set.tools.get(call.tool).map(|tool| tool.name.clone()).unwrap_or_default();
        let is_like = |word: &Word, names: &[(usize, f32)]| {
            let mut names = names.iter().filter_map(|(at, _)| self.set.words.get(*at));
            names.any(|name| choose::alike(word, name, self.weights) >= ALIKE)
        };
        let (givers, takers) = (said(giver), said(call));
        let pale = |word: &Word| word.senses.iter().any(|sense| thesaurus::sense(*sense).is_pale);
        let mut words = segment.own.iter().filter_map(|at| self.read.words.get(*at));
        // "The summary" is what summarising gives.
        let deed = |word: &Word| {
            let does = |call: &Call| self.set.tools.get(call.tool).map_or(&[][..], |tool| tool.does.as_slice());
            word.senses.iter().any(|sense| does(giver).contains(sense) && !does(call).contains(sense))
        };
        words.any(|word| !pale(word) && (is_like(word, &givers) || deed(word)) && !is_like(word, &takers))
    }

    /// "Tell her that I am late": what is sent stands in the request.
    fn says_itself(&self, call: &Call) -> bool {
        let that = self
            .segment(call.segment)
            .is_some_and(|segment| words::lowers(&segment.text).any(|word| words::listed("that dass что", &word)));
        that || self
            .clause(call.segment)
            .is_some_and(|clause| clause.spans.iter().any(|span| span.what == SpanKind::Quote))
    }

    /// Whether a value that must be given is not.
    fn lacks(&self, call: &Call) -> bool {
        let params = self.index.tool(call.tool).map(|tool| tool.params.as_slice()).unwrap_or_default();
        params.iter().any(|param| param.required && !call.args.iter().any(|(name, _)| *name == param.name))
    }

    /// The text that a call must be given to pass on, and is not, or only by the word for what an earlier call made ("mail the summary").
    fn content(&self, call: &Call, is_named: bool) -> Option<&str> {
        let needs = self.needs(call.tool);
        let place = needs.iter().position(|need| need.required && need.sort == Sort::Content)?;
        let name = self.param(call.tool, place)?;
        let value = call.args.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let is_open = value.is_none_or(|value| is_named && !self.says_itself(call) && !value.contains(' '));
        is_open.then_some(name.as_str())
    }

    fn is_before(calls: &[Call], one: usize, two: usize) -> bool {
        let segment = |at: usize| calls.get(at).map(|call| call.segment);
        one != two && segment(one) < segment(two)
    }

    /// Whether the request gives a parameter, or people are asked for it rather than another tool.
    fn is_given(&self, call: &Call, place: usize, need: &Need) -> bool {
        let value = self.param(call.tool, place).and_then(|name| call.args.iter().find(|(own, _)| own == name));
        match need.sort {
            Sort::Free => value.is_some() || !need.required,
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
}

/// Whether a call is for another thing than a second one is.
fn is_for_another(call: &Call, than: Option<&Call>) -> bool {
    let own = than.and_then(|than| than.thing.as_ref());
    own.is_some() && call.thing.is_some() && call.thing.as_ref() != own
}

/// Whether several words of its name say what a need is: an "amino acid sequence", but no "city".
fn is_told(need: &Need) -> bool {
    need.words.iter().filter(|(_, weight)| *weight >= 1.0).count() > 1
}

/// So much of such a need a result says that gives it.
const WHOLLY: f32 = 0.8;

/// From which two words say the same.
const ALIKE: f32 = 0.75;

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
    let words = value.split_whitespace().count();
    let digits = value.chars().any(|letter| letter.is_ascii_digit());
    // "4 CV 1187".
    words <= 3 && digits
        || words <= 2 && (value.chars().all(|letter| letter.is_uppercase()) || value.contains(['@', '/']))
}
