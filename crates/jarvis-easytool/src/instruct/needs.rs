//! What must be known before an endpoint can be called, and which endpoint gives it: worked out from paths and words.
//!
//! `/movie/{movie_id}/keywords` needs a `movie_id`, and `GET /search/movie` gives one. Only evident links are made: an
//! endpoint that the description names, a search for the thing, a list of such things, or a search that says it finds them.

use std::collections::{BTreeMap, HashMap};

use jarvis_catalogue::openapi::Operation;

use super::text::singular;

pub(super) struct Links {
    /// What it needs, and what gives it: name and usage.
    pub(super) needs: Vec<Vec<(String, String)>>,
    pub(super) gives: Vec<Vec<String>>,
}

/// How an endpoint could give the id of a thing. A search for such things gives any; a search for all kinds of things does
/// too, and a list of them gives those that are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Search,
    General,
    List,
}

pub(super) fn links(operations: &[Operation]) -> Links {
    let by_usage: HashMap<String, usize> =
        operations.iter().enumerate().map(|(at, operation)| (operation.usage(), at)).collect();
    let mut providers: HashMap<String, BTreeMap<Rank, usize>> = HashMap::new();
    let mut offer = |noun: String, rank: Rank, at: usize| {
        providers.entry(noun).or_default().entry(rank).or_insert(at);
    };
    let mut general = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        if operation.method != "GET" || operation.path.contains('{') {
            continue;
        }
        let segments: Vec<&str> = operation.path.split('/').filter(|part| !part.is_empty()).collect();
        let Some(last) = segments.last() else { continue };
        let searches = |part: &&&str| matches!(part.to_ascii_lowercase().as_str(), "search" | "find" | "lookup");
        if searches(&last) {
            general.push(at);
        } else {
            let rank = if segments.iter().any(|part| searches(&part)) { Rank::Search } else { Rank::List };
            let plural = singular(last) != last.to_ascii_lowercase();
            if rank == Rank::Search || plural {
                offer(singular(last), rank, at);
            }
        }
    }
    for at in general {
        let Some(operation) = operations.get(at) else { continue };
        for noun in found_by(operation) {
            offer(noun, Rank::General, at);
        }
    }
    let mut needs = Vec::with_capacity(operations.len());
    let mut gives = vec![Vec::new(); operations.len()];
    for operation in operations {
        let mut needed: Vec<(String, String)> = Vec::new();
        let named = mentioned(operation, &by_usage);
        for placeholder in operation.placeholders() {
            let Some((noun, label)) = thing(&operation.path, placeholder) else {
                continue;
            };
            let known = providers.get(&noun).into_iter().flatten();
            let from = match named {
                Some(at) => vec![at],
                None if providers.get(&noun).is_some_and(|ranks| ranks.contains_key(&Rank::Search)) => {
                    known.take(1).map(|(_, at)| *at).collect()
                }
                None => known.map(|(_, at)| *at).collect(),
            };
            let mut usages = Vec::new();
            for at in from {
                let usage = operations.get(at).map(Operation::usage).filter(|usage| *usage != operation.usage());
                let Some(usage) = usage else { continue };
                if let Some(given) = gives.get_mut(at).filter(|given| !given.contains(&label)) {
                    given.push(label.clone());
                }
                usages.push(usage);
            }
            if !usages.is_empty() {
                needed.push((label, usages.join(" or ")));
            }
        }
        needs.push(needed);
    }
    Links { needs, gives }
}

/// What a placeholder is the id of, and how to call it; `None` when it is no id.
fn thing(path: &str, placeholder: &str) -> Option<(String, String)> {
    let before = || {
        let (head, _) = path.split_once(&format!("{{{placeholder}}}"))?;
        let segment = head.trim_end_matches('/').rsplit('/').next()?;
        (!segment.is_empty() && !segment.contains('}')).then(|| singular(segment))
    };
    let lower = placeholder.to_ascii_lowercase();
    match lower.as_str() {
        "id" | "ids" | "key" | "slug" | "uuid" => before().map(|noun| (noun.clone(), format!("the {noun} {lower}"))),
        _ => {
            let stem = lower.strip_suffix("_id").or_else(|| lower.strip_suffix("-id"));
            let stem = stem.or_else(|| lower.strip_suffix("id").filter(|_| placeholder.ends_with("Id")));
            stem.filter(|stem| !stem.is_empty()).map(|stem| (singular(stem), placeholder.to_owned()))
        }
    }
}

/// The endpoint that an operation's description mentions: `GET /me`.
fn mentioned(operation: &Operation, by_usage: &HashMap<String, usize>) -> Option<usize> {
    let text = &operation.description;
    text.match_indices("GET /").find_map(|(at, _)| {
        let path = text.get(at + "GET ".len()..)?;
        let end = path.find(|c: char| c.is_whitespace() || "`'\")],;".contains(c)).unwrap_or(path.len());
        let path = path.get(..end)?.trim_end_matches(['.', ':', '/']);
        by_usage.get(&format!("GET {path}")).copied()
    })
}

/// The things that a general search says it finds: in its words, and in the values that its parameters allow.
fn found_by(operation: &Operation) -> Vec<String> {
    let mut nouns: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
            let noun = singular(word);
            if !nouns.contains(&noun) {
                nouns.push(noun);
            }
        }
    };
    add(&operation.summary);
    add(&operation.description.chars().take(400).collect::<String>());
    for parameter in &operation.parameters {
        let inner = parameter.schema.items.as_deref();
        for schema in [Some(&parameter.schema), inner].into_iter().flatten() {
            schema.enumeration.iter().filter_map(|one| one.as_str()).for_each(&mut add);
        }
    }
    nouns
}
