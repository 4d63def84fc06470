//! Why a prediction lost points, in plain words.

use std::collections::{BTreeMap, BTreeSet};

use super::Catalogue;
use super::plan::{Argument, Plan};

/// At most so many reasons are kept for one sample.
const MOST_REASONS: usize = 40;
/// At most so many values are named in one reason.
const MOST_VALUES: usize = 10;

/// The reasons, the gravest first: no plan, tools, links, references, arguments, order, then what was repaired.
pub(crate) fn reasons(gold: &Plan, predicted: &Plan, missing: bool, catalogue: &Catalogue) -> Box<[Box<str>]> {
    let mut reasons: Vec<String> = Vec::new();
    if let Some((_, why)) = &gold.malformed {
        reasons.push(format!("the gold plan is malformed: {why}"));
    }
    if missing {
        reasons.push("no prediction".into());
    }
    if let Some((_, why)) = &predicted.malformed {
        reasons.push(format!("malformed prediction: {why}"));
    }
    // Where there is no plan, what it would have held goes without saying.
    if !missing && predicted.malformed.is_none() {
        tools(gold, predicted, catalogue, &mut reasons);
        links(gold, predicted, catalogue, &mut reasons);
        reasons.extend(predicted.dangling.iter().map(|what| format!("dangling reference: {what}")));
        reasons.extend(predicted.bad_links.iter().map(|what| format!("malformed link: {what}")));
        reasons.extend(predicted.bad_arguments.iter().map(|what| format!("malformed argument: {what}")));
        arguments(gold, predicted, catalogue, &mut reasons);
        let (mut wanted, mut found): (Vec<&String>, Vec<&String>) =
            (gold.nodes.iter().collect(), predicted.nodes.iter().collect());
        if wanted != found {
            wanted.sort_unstable();
            found.sort_unstable();
            if wanted == found {
                reasons.push("the tools are listed in another order".into());
            }
        }
        if predicted.steps.is_empty() && !gold.steps.is_empty() {
            reasons.push("no steps".into());
        }
        reasons.extend(predicted.repaired.iter().map(|(kind, times)| match times {
            1 => format!("repaired: {kind}"),
            times => format!("repaired: {kind}, {times} times"),
        }));
    }
    if reasons.len() > MOST_REASONS {
        let more = reasons.len() - MOST_REASONS;
        reasons.truncate(MOST_REASONS);
        reasons.push(format!("and {more} more"));
    }
    reasons.into_iter().map(String::into_boxed_str).collect()
}

fn tools(gold: &Plan, predicted: &Plan, catalogue: &Catalogue, reasons: &mut Vec<String>) {
    let count = |plan: &Plan, name: &str| plan.nodes.iter().filter(|node| *node == name).count();
    for name in firsts(&gold.nodes) {
        let (wanted, found) = (count(gold, name), count(predicted, name));
        let name = cut(catalogue.show(name));
        match (wanted, found) {
            (_, 0) => reasons.push(format!("missed tool {name}")),
            (wanted, found) if found != wanted => {
                reasons.push(format!("tool {name} {found} times, wanted {wanted} times"));
            }
            _ => {}
        }
    }
    for name in firsts(&predicted.nodes) {
        if count(gold, name) == 0 {
            let written = || predicted.nodes.iter().zip(&predicted.written).find(|(node, _)| *node == name);
            reasons.push(match (catalogue.code(name), written()) {
                (None, Some((_, written))) => format!("unknown tool {}", cut(written)),
                (Some(_), _) | (None, None) => format!("surplus tool {}", cut(catalogue.show(name))),
            });
        }
    }
}

fn links(gold: &Plan, predicted: &Plan, catalogue: &Catalogue, reasons: &mut Vec<String>) {
    let show = |(source, target): &(String, String)| {
        format!("{} → {}", cut(catalogue.show(source)), cut(catalogue.show(target)))
    };
    reasons.extend(gold.links.difference(&predicted.links).map(|link| format!("missed link {}", show(link))));
    reasons.extend(predicted.links.difference(&gold.links).map(|link| format!("surplus link {}", show(link))));
}

/// Only of tools that both sides name: the others have been reasons of.
fn arguments(gold: &Plan, predicted: &Plan, catalogue: &Catalogue, reasons: &mut Vec<String>) {
    let shared: BTreeSet<&String> = gold.nodes.iter().filter(|name| predicted.nodes.contains(name)).collect();
    let mut slots: BTreeMap<(&str, &str), [Vec<&str>; 2]> = BTreeMap::new();
    for (side, arguments) in
        [gold.arguments.difference(&predicted.arguments), predicted.arguments.difference(&gold.arguments)]
            .into_iter()
            .enumerate()
    {
        for Argument { task, name, value } in
            arguments.filter(|argument| shared.contains(&argument.task) && !argument.is_counted_elsewhere())
        {
            if let Some(values) = slots.entry((task, name)).or_default().get_mut(side) {
                values.push(value);
            }
        }
    }
    let list = |values: &[&str]| {
        let shown: Vec<String> = values.iter().take(MOST_VALUES).map(|value| format!("`{}`", cut(value))).collect();
        let more = values.len().saturating_sub(MOST_VALUES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    for ((task, name), [wanted, found]) in slots {
        let (task, name) = (cut(catalogue.show(task)), cut(name));
        reasons.push(match (wanted.is_empty(), found.is_empty()) {
            (false, false) => {
                format!("wrong argument of {task}: {name} is {}, wanted {}", list(&found), list(&wanted))
            }
            (false, true) => format!("missed argument of {task}: {name} {}", list(&wanted)),
            (true, _) => format!("surplus argument of {task}: {name} {}", list(&found)),
        });
    }
}

/// Each name once, at its first place.
fn firsts(names: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    names.iter().map(String::as_str).filter(move |name| seen.insert(*name))
}

/// The start of a text from a model or a file.
fn cut(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None if text.is_empty() => "(empty)".into(),
        None => text.to_owned(),
    }
}
