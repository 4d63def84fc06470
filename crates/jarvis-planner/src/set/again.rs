//! Again: the same tool for a second thing. Either the next item of an enumeration names another of the same form and wants no tool of its
//! own ("the hay for a calf of 10 weeks and for a piglet of 4 weeks"), or things stand side by side ([`super::things`]) and a call takes
//! one at a time.

use jarvis_plan::{Param, Tool};
use serde_json::Value;

use super::draft::{Call, Planner};
use super::segments::Segment;
use super::things::{self, Form, Group, Thing};
use super::tools::{Need, Sort};
use crate::clauses::{Clause, Join};
use crate::slots;
use crate::words::{self, listed, slice};

/// Words that lead a thing into an item.
const LEADS: &str = "for of to in from at on für von nach auf для в на из о 给 到";
/// Words that ask anew: "when will it be in Graz, and when in Innsbruck".
const ASKS: &str = "when what how where was wann wie когда сколько";
/// So many words behind one that asks still name no tool.
const FEW: usize = 3;

/// The items for which a tool is called, in their order: the one that it was chosen for, and those beside it; `wanted` are the items that
/// tools were chosen for.
pub(super) fn objects(
    segments: &[Segment],
    clauses: &[Clause],
    chosen: usize,
    tool: Option<&Tool>,
    wanted: &[usize],
) -> Vec<usize> {
    // A tool that takes several is called once.
    if tool.is_none_or(takes_several) {
        return vec![chosen];
    }
    let goes_on = |one: Option<usize>, two: Option<usize>| match (one, two) {
        (Some(one), Some(two)) => {
            one == two || one + 1 == two && clauses.get(two).is_some_and(|next| next.join == Join::And)
        }
        _ => false,
    };
    let goes_on = |at: &usize| {
        let pair = at.checked_sub(1).and_then(|before| segments.get(before)).zip(segments.get(*at));
        pair.filter(|_| !wanted.contains(at)).is_some_and(|(one, two)| {
            goes_on(one.clause, two.clause) && (is_alike(one, two) || slots::measure_alike(&one.text, &two.text))
        })
    };
    std::iter::once(chosen).chain((chosen + 1..segments.len()).take_while(goes_on)).collect()
}

/// Whether one call takes several things.
fn takes_several(tool: &Tool) -> bool {
    tool.params.iter().any(is_list)
}

/// Whether a parameter takes a list.
pub(super) fn is_list(param: &Param) -> bool {
    let schema = param.schema.as_ref();
    schema.is_some_and(|schema| schema.get("type").and_then(Value::as_str) == Some("array"))
}

impl Planner<'_> {
    /// The call once for each of the things that its words name side by side, or point at: "the income statements of Adidas and Puma",
    /// "for both, the reviews".
    pub(super) fn for_each(&self, call: Call) -> Vec<Call> {
        let several = self.index.tool(call.tool).is_none_or(takes_several);
        let Some(group) = self.group(&call).filter(|_| !several) else { return vec![call] };
        let Some(place) = self.takes(&call, group) else { return vec![call] };
        let name = self.param(call.tool, place).cloned().unwrap_or_default();
        let needs = self.needs(call.tool);
        let is_reference = needs.get(place).is_some_and(|need| need.sort == Sort::Reference);
        let one = |thing: &Thing| {
            let mut call = Call { thing: Some(thing.clone()), ..call.clone() };
            call.args.retain(|(own, _)| *own != name);
            if !is_reference || thing.form != Form::Name {
                call.args.push((name.clone(), thing.text.clone()));
            }
            call
        };
        group.things.iter().map(one).collect()
    }

    fn needs(&self, tool: usize) -> &[Need] {
        self.set.tools.get(tool).map_or(&[], |said| said.needs.as_slice())
    }

    /// The things that a call is for: those of its own item, else, for "both" and "each" and for what looks up by a name, the last before.
    fn group(&self, call: &Call) -> Option<&Group> {
        let segment = self.segment(call.segment)?;
        let (at, clause) = (segment.clause?, self.clause(call.segment)?);
        let place = |group: &Group| Some((group.things.first()?.from, group.things.last()?.to));
        let is_here = |group: &&Group| {
            // "Two cars, A and B".
            place(group).is_some_and(|(from, to)| from <= segment.to + BESIDE && to > segment.from) && !group.is_way
        };
        let said = self.set.tools.get(call.tool)?;
        let here = self.groups.iter().filter(|group| group.clause == at).find(is_here);
        // "A contract between Ann and Tom" is one, "to Ann and to Tom" are two.
        let here = here.filter(|group| !said.acts || group.is_led);
        let says = |list: &str, from: usize| {
            words::lowers(slice(&self.request.text, from, segment.to)).any(|word| listed(list, &word))
        };
        // "The second one", "in one go".
        if says(ONE, segment.from) {
            return None;
        }
        // "For each of them, find …, and list …"
        let joined = |at: &usize| self.reading.clauses.get(*at).is_some_and(|clause| clause.join == Join::And);
        let opens = (0..=at).rev().find(|at| !joined(at)).and_then(|at| self.reading.clauses.get(at));
        let opens = opens.map(|opens| opens.text(&self.request.text).split_whitespace().take(2).collect::<String>());
        let each = says(EACH, clause.start.min(segment.from))
            || opens.is_some_and(|opens| EACH.split(' ').any(|each| opens.to_lowercase() == format!("for{each}")));
        let resolves = said.looks_up && self.required(call.tool).len() == 1;
        let before = || {
            let names_own = !things::things(&clause.part(segment.from, segment.to), &self.request.text).is_empty();
            let before = self.groups.iter().rev().filter(|group| !group.is_way && group.clause <= at);
            let mut before = before.filter(|group| place(group).is_some_and(|(_, to)| to <= segment.from));
            // "Mail both to Ann": what was found, once.
            before.next().filter(|group| !names_own && (each && (!said.acts || group.is_led) || resolves))
        };
        here.or_else(before)
    }

    /// The places of the parameters that must be given words.
    fn required(&self, tool: usize) -> Vec<usize> {
        let words = |need: &Need| need.required && need.sort != Sort::Number;
        let needs = self.needs(tool).iter().enumerate();
        needs.filter(|(_, need)| words(need)).map(|(place, _)| place).collect()
    }

    /// The place of the parameter that takes one of the things; `None` where a call takes none of them, or two.
    fn takes(&self, call: &Call, group: &Group) -> Option<usize> {
        let holds = |value: &str| {
            let mut things = group.things.iter();
            things.any(|thing| value.contains(&thing.text) || thing.text.contains(value))
        };
        let place =
            |name: &String| (0..self.needs(call.tool).len()).find(|place| self.param(call.tool, *place) == Some(name));
        let mut given = call.args.iter().filter(|(_, value)| holds(value)).map(|(name, _)| name);
        let required = self.required(call.tool);
        let is_open = |place: &&usize| {
            let name = self.param(call.tool, **place);
            name.is_some_and(|name| call.args.iter().all(|(own, _)| own != name))
        };
        let found = match (given.next(), given.next(), required.as_slice()) {
            (Some(_), Some(_), _) => None,
            (Some(name), None, _) => place(name),
            (None, _, [only]) => Some(*only),
            (None, _, several) => {
                let mut open = several.iter().filter(is_open);
                open.next().filter(|_| open.next().is_none()).copied()
            }
        };
        // "Symbols" takes several at once.
        found.filter(|place| self.param(call.tool, *place).is_some_and(|name| !is_plural(name)))
    }
}

/// So far behind an item the things stand that it speaks of.
const BESIDE: usize = ", ".len();

fn is_plural(name: &str) -> bool {
    name.ends_with('s') && !name.ends_with("ss") && name.len() > 3
}

/// Words that speak of one of them, or of all at once.
const ONE: &str =
    "former latter first second one former's latter's together combined erste zweite zusammen первый второй вместе";
/// Words that stand for all that were named.
const EACH: &str = "both each beide beiden beides jeden jede оба обе обеих каждой каждого";

/// Whether the second item begins with the word that leads the thing of the first.
fn is_alike(one: &Segment, two: &Segment) -> bool {
    let before: Vec<String> = words::lowers(&one.text).collect();
    let lead = words::lowers(&two.text).find(|word| !listed("and or und oder и 和", word));
    lead.is_some_and(|lead| {
        let mut words = two.text.split_whitespace().skip(1);
        let named = words.any(|word| {
            word.len() > 1 && word.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit())
        });
        let asks = listed(ASKS, &lead) && two.own.len() <= FEW && before.contains(&lead) && named;
        asks || listed(LEADS, &lead) && before.iter().skip(1).any(|word| *word == lead) && two.inherits
    })
}
