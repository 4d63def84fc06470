//! Again: the same tool for a second thing. Either the next item of an enumeration names another of the same form and wants no tool of its
//! own ("the hay for a calf of 10 weeks and for a piglet of 4 weeks"), or things stand side by side ([`super::things`]) and a call takes
//! one at a time.

use jarvis_plan::{Param, Tool};
use serde_json::Value;

use super::draft::{Call, Planner};
use super::segments::Segment;
use super::things::{self, Group, Thing};
use super::tools::{Need, Sort};
use crate::clauses::{Clause, Join};
use crate::data;
use crate::slots;
use crate::words::{self, listed, slice};

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
    let is_next = |at: usize| {
        let pair = at.checked_sub(1).and_then(|before| segments.get(before)).zip(segments.get(at));
        pair.is_some_and(|(one, two)| {
            goes_on(one.clause, two.clause) && (is_alike(one, two) || slots::measure_alike(&one.text, &two.text))
        })
    };
    // "Set the bedroom to 18 and the study to 21": the second may say more for the tool.
    let first = (1..=chosen).rev().take_while(|at| is_next(*at) && !wanted.contains(&(at - 1))).last();
    let first = first.map_or(chosen, |at| at - 1);
    let behind = (chosen + 1..segments.len()).take_while(|at| is_next(*at) && !wanted.contains(at));
    (first..=chosen).chain(behind).collect()
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
        let Some(name) = self.takes(&call, group) else { return vec![call] };
        let one = |thing: &Thing| {
            let mut call = Call { thing: Some(thing.clone()), ..call.clone() };
            call.args.retain(|(own, _)| *own != name);
            // Where an id is wanted, a name is what it is looked up by.
            call.args.push((name.clone(), thing.text.clone()));
            call
        };
        group.things.iter().map(one).collect()
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
        let said_words: Vec<String> = words::lowers(slice(&self.request.text, segment.from, segment.to)).collect();
        // "The second one", "together", but neither "one day" nor "the first of May".
        let is_one = |at: usize| {
            let word = |at: usize| said_words.get(at).map_or("", String::as_str);
            data::AT_ONCE.has(word(at))
                || data::ONE_OF_TWO.has(word(at)) && at > 0 && word(at - 1) == "the" && word(at + 1) != "of"
        };
        if (0..said_words.len()).any(is_one) {
            return None;
        }
        // "For each of them, find …, and list …"
        let joined = |at: &usize| self.reading.clauses.get(*at).is_some_and(|clause| clause.join == Join::And);
        let opens = (0..=at).rev().find(|at| !joined(at)).and_then(|at| self.reading.clauses.get(at));
        let opens = opens.map(|opens| words::lowers(opens.text(&self.request.text)).take(2).collect::<String>());
        let each = words::lowers(slice(&self.request.text, clause.start, segment.to)).any(|word| is_each(&word))
            || opens.as_deref().and_then(|opens| opens.strip_prefix("for")).is_some_and(is_each);
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

    /// The parameter that takes one of the things; `None` where a call takes none of them, or two.
    fn takes(&self, call: &Call, group: &Group) -> Option<String> {
        let holds = |value: &str| {
            let is_part = |thing: &Thing| thing.text.split_whitespace().any(|word| word == value);
            group.things.iter().any(|thing| value.contains(&thing.text) || is_part(thing))
        };
        let mut given = call.args.iter().filter(|(_, value)| holds(value)).map(|(name, _)| name);
        let required = self.required(call.tool);
        let named = self.clause(call.segment).map(|clause| things::things(clause, &self.request.text))?;
        // What was put there because nothing else was at hand may be replaced, and what names something else not.
        let is_open = |place: &&usize| {
            let own = self.param(call.tool, **place);
            let value = own.and_then(|own| call.args.iter().find(|(name, _)| name == own)).map(|(_, value)| value);
            value.is_none_or(|value| required.len() == 1 && !named.iter().any(|thing| value.contains(&thing.text)))
        };
        let found = match (given.next(), given.next()) {
            (Some(_), Some(_)) => None,
            (Some(name), None) => Some(name),
            (None, _) => {
                let mut open = required.iter().filter(is_open);
                let only = open.next().filter(|_| open.next().is_none());
                only.and_then(|place| self.param(call.tool, *place))
            }
        };
        // "Symbols" takes several at once.
        found.filter(|name| !is_plural(name)).cloned()
    }
}

/// So far behind an item the things stand that it speaks of.
const BESIDE: usize = ", ".len();

fn is_plural(name: &str) -> bool {
    let singular = ["ss", "us", "is", "series", "news"];
    name.len() > 3 && name.ends_with('s') && !singular.iter().any(|ending| name.ends_with(ending))
}

/// Words that stand for all that were named.
fn is_each(word: &str) -> bool {
    word != "all" && data::EACH_WORDS.has(word)
        || data::BOTH_WORDS.has(word)
        || listed("beide beiden beides jeden jede", word)
}

/// Whether the second item begins with the word that leads the thing of the first.
fn is_alike(one: &Segment, two: &Segment) -> bool {
    let before: Vec<String> = words::lowers(&one.text).collect();
    let lead = words::lowers(&two.text).find(|word| !listed("and or und oder и 和", word));
    lead.is_some_and(|lead| {
        let mut words = two.text.split_whitespace().skip(1);
        let named = words.any(|word| {
            word.len() > 1 && word.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit())
        });
        let asks = data::ASKING.has(&lead) && two.own.len() <= FEW && before.contains(&lead) && named;
        let led = data::LEADS.has(&lead) && before.iter().skip(1).any(|word| *word == lead);
        // "Set the bedroom to 18 and the study to 21": a number is for each.
        let counted = amount_lead(&one.text).is_some_and(|one| amount_lead(&two.text).is_some_and(|two| one == two));
        asks || two.inherits && (led || counted)
    })
}

/// The word that leads the last number of an item: "to" of "the study to 21 degrees".
fn amount_lead(text: &str) -> Option<String> {
    let said: Vec<String> = words::lowers(text).collect();
    let number = said.iter().rposition(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    said.get(number.checked_sub(1)?).filter(|lead| data::LEADS.has(lead)).cloned()
}
