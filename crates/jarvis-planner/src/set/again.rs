//! Again: the same tool for a second thing, where the next item of an enumeration names another of the same form and wants no tool
//! of its own: "the hay for a calf of 10 weeks and for a piglet of 4 weeks".

use jarvis_plan::Tool;
use serde_json::Value;

use super::segments::Segment;
use crate::clauses::{Clause, Join};
use crate::words::{self, listed};

/// Words that lead a thing into an item.
const LEADS: &str = "for of to in from at on für von nach auf для в на из о 给 到";
/// Words that ask anew: "when will it be in Graz, and when in Innsbruck".
const ASKS: &str = "when what how where was wann wie когда сколько";
/// So many words behind one that asks still name no tool.
const FEW: usize = 3;

/// The items behind `first` for which a tool is called again; `wanted` are the items that tools were chosen for.
pub(super) fn objects(
    segments: &[Segment],
    clauses: &[Clause],
    first: usize,
    tool: Option<&Tool>,
    wanted: &[usize],
) -> Vec<usize> {
    // A tool that takes several is called once.
    if tool.is_none_or(takes_several) {
        return Vec::new();
    }
    let goes_on = |one: Option<usize>, two: Option<usize>| match (one, two) {
        (Some(one), Some(two)) => {
            one == two || one + 1 == two && clauses.get(two).is_some_and(|next| next.join == Join::And)
        }
        _ => false,
    };
    let mut found = Vec::new();
    let mut before = first;
    for (at, two) in segments.iter().enumerate().skip(first + 1) {
        let Some(one) = segments.get(before).filter(|one| goes_on(one.clause, two.clause)) else { break };
        if wanted.contains(&at) || !is_alike(one, two) {
            break;
        }
        found.push(at);
        before = at;
    }
    found
}

fn takes_several(tool: &Tool) -> bool {
    let is_list = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("array");
    tool.params.iter().any(|param| param.schema.as_ref().is_some_and(is_list))
}

/// Whether the second item begins with the word that leads the thing of the first.
fn is_alike(one: &Segment, two: &Segment) -> bool {
    let before: Vec<String> = words::lowers(&one.text).collect();
    let lead = words::lowers(&two.text).find(|word| !listed("and or und oder и 和", word));
    lead.is_some_and(|lead| {
        let asks = listed(ASKS, &lead) && two.own.len() <= FEW && before.contains(&lead);
        asks || listed(LEADS, &lead) && before.iter().skip(1).any(|word| *word == lead) && two.inherits
    })
}
