//! Phrases: what a clause asks for by phrases of the lexicon, as steps in the order they must run. Words choose; the kinds
//! at hand decide between tools that words cannot tell apart.

use jarvis_plan::Kind;

use super::inputs::{feasibility, has_nothing_to_change};
use super::{Context, states};
use crate::candidate::Step;
use crate::clauses::Clause;
use crate::flow::kind_at;
use crate::lexicon::{self, ConceptId, Hit, Nature};
use crate::linking::wording;
use crate::retrieval::{Bag, Evidence};
use crate::words::Token;
use crate::words::grammar::{is_attribute, is_outcome, strip_polite};

pub(super) struct Scored {
    pub(super) tool: usize,
    pub(super) concept: ConceptId,
    pub(super) score: f32,
}

/// The least score by which a tool counts as asked for.
pub(super) const ENOUGH: f32 = 0.42;

/// What a weak phrase counts beside a strong one.
const WEAK: f32 = 0.5;

/// The phrases of the lexicon that the clause speaks, each with the tool that serves it best here.
pub(super) fn phrases(cx: Context<'_>, bag: &Bag, evidence: &[Evidence]) -> Vec<(Hit, Scored)> {
    let hits = lexicon::hits(&cx.clause.tokens, |concept| cx.index.serves(concept));
    let best = |hit: Hit| best_for(cx, &hit, evidence).map(|best| (hit, best));
    wanted(cx, hits, bag).into_iter().filter_map(best).collect()
}

/// "Send the summary to Ann": the summary was made before, and what is to be done with it is another thing.
pub(super) fn are_made(cx: Context<'_>, scored: &[(Hit, Scored)]) -> bool {
    let is_made = |(hit, best): &(Hit, Scored)| {
        hit.at.len() == 1 && cx.hand.made.contains(&best.concept) && is_outcome(&cx.clause.tokens, hit.first())
    };
    cx.clause.spans.is_empty() && !scored.is_empty() && scored.iter().all(is_made)
}

/// The tools the clause asks for, in the order they must run; empty when it asks for nothing the list offers.
pub(super) fn steps(cx: Context<'_>, scored: &[(Hit, Scored)]) -> Vec<Step> {
    let Context { clause, request, .. } = cx;
    if let Some(step) = one_for_two(cx, scored) {
        return vec![step];
    }
    // "Draw the outline of it" makes nothing new.
    let maps = scored.iter().any(|(hit, best)| hit.strong && lexicon::concept(best.concept).nature == Nature::Map);
    let idle = |hit: &Hit, best: &Scored| {
        maps && lexicon::concept(best.concept).nature == Nature::Create
            && wording::rest(clause, request, &step(hit, best)).is_none()
    };
    let strong: Vec<&(Hit, Scored)> = scored
        .iter()
        .filter(|(hit, best)| !idle(hit, best))
        .filter(|(hit, best)| hit.strong && best.score >= ENOUGH)
        .collect();
    match strong.as_slice() {
        [] => {
            let question = clause.asks().then(|| question(cx, scored)).flatten();
            let weak =
                scored.iter().filter(|(_, best)| best.score >= ENOUGH).max_by(|a, b| a.1.score.total_cmp(&b.1.score));
            question.or_else(|| weak.map(|(hit, best)| step(hit, best))).into_iter().collect()
        }
        [(hit, best)] => vec![step(hit, best)],
        several => several_hits(cx, several),
    }
}

pub(super) fn step(hit: &Hit, best: &Scored) -> Step {
    Step { concept: Some(best.concept), words: hit.at.clone(), score: best.score, ..Step::of_tool(best.tool) }
}

/// In a question, words for making and mapping mostly describe what is seen; they count only where they can be meant.
fn wanted(cx: Context<'_>, hits: Vec<Hit>, bag: &Bag) -> Vec<Hit> {
    let Context { clause, flow, hand, .. } = cx;
    let start = clause.tokens.len() - strip_polite(&clause.tokens).len();
    let nature = |hit: &Hit| hit.concepts.first().map(|id| lexicon::concept(*id).nature);
    // "Read aloud what is there" is an order, whatever it embeds.
    let order = hits
        .first()
        .is_some_and(|hit| hit.strong && !hit.asks && hit.first() == start && nature(hit) != Some(Nature::Ask));
    let question = clause.question && !order;
    let states = states(&clause.tokens);
    // "Colours of a.png" asks without a verb.
    let terse = clause.tokens.iter().filter(|token| !token.is_determiner()).count() <= 2;
    // "Add it to the audio" makes none.
    let given = |hit: &Hit| {
        let concept = hit.concepts.first().map(|id| lexicon::concept(*id));
        concept.is_some_and(|concept| {
            !concept.takes.contains(&concept.gives)
                && concept.gives.is_media()
                && flow.sources.contains(&concept.gives)
                && !flow.targets.contains(&concept.gives)
                && hit.at.iter().any(|at| *at > start && kind_at(&clause.tokens, *at) == Some(concept.gives))
        })
    };
    // What works on sound alone has no use for the picture that is named, and a hint needs something to work on.
    let useless = |hit: &Hit| {
        let lacks = |kind: &Kind| !(hand.has(*kind) || *kind == Kind::Audio && hand.has(Kind::Video));
        let nothing = hand.own.is_empty() && hand.near.is_empty();
        let concepts = || hit.concepts.iter().map(|id| lexicon::concept(*id));
        let needs = |concept: &lexicon::Concept| concept.takes.iter().all(|kind| kind.is_media() && lacks(kind));
        let named = hand.own.iter().any(|kind| kind.is_media());
        let sound = named && concepts().all(needs);
        let hint = nothing && !hit.strong && concepts().all(|concept| concept.nature == Nature::Make);
        let absent = hit.at == [start]
            && concepts().all(|concept| has_nothing_to_change(cx, &concept.takes, Some(concept.gives)));
        // "Cut ten seconds of film.mp4": its sound alone is not what is wanted back.
        let filmed = hand.has(Kind::Video) && !hand.has(Kind::Audio) && !flow.speaks_of(Kind::Audio);
        let filmed = filmed && concepts().all(|concept| concept.nature == Nature::Edit && concept.gives == Kind::Audio);
        // "What bird is that?" beside a picture asks of no recording, and "write it down" needs one.
        let reaches = |concept: &lexicon::Concept| {
            let told = concept.takes.contains(&Kind::Text) && (hand.has(Kind::Audio) || hand.has(Kind::Video));
            told || concept.takes.iter().any(|kind| !lacks(kind) || flow.speaks_of(*kind))
        };
        let heard = |concept: &lexicon::Concept| concept.takes == [Kind::Audio];
        let unheard = (hit.asks || !hit.strong && concepts().all(heard)) && !concepts().any(reaches);
        sound || hint || absent || filmed || unheard
    };
    hits.into_iter()
        .filter(|hit| !given(hit) && !useless(hit))
        // "the translated text" is one that was made before.
        .filter(|hit| hit.at.len() > 1 || hit.asks || !refers_back(clause, hit.first(), bag))
        .filter(|hit| {
            let told = hit.concepts.iter().any(|concept| hand.told.contains(concept));
            !(told && is_outcome(&clause.tokens, hit.first()))
        })
        .filter(|hit| {
            let counts = |concept: &&lexicon::Concept| match concept.nature {
                Nature::Ask => hit.strong || question || terse,
                // "Who speaks first?" asks nobody to speak.
                Nature::Make if question && !hit.asks && concept.gives.is_media() => false,
                Nature::Label | Nature::Make => {
                    !question
                        || hit.asks
                        || concept.takes.iter().any(|kind| hand.has(*kind))
                            && !hand.own.iter().any(|kind| kind.is_media() && !concept.takes.contains(kind))
                }
                Nature::Create => !states && (!question || hit.asks),
                Nature::Map | Nature::Edit => !question || hit.asks,
            };
            hit.concepts.iter().map(|id| lexicon::concept(*id)).any(|concept| counts(&concept))
        })
        .collect()
}

/// True for "translated" in "the translated text" where an earlier clause translates.
fn refers_back(clause: &Clause, at: usize, bag: &Bag) -> bool {
    (is_attribute(&clause.tokens, at) || is_outcome(&clause.tokens, at))
        && clause.tokens.get(at).is_some_and(|token| bag.was_named(&token.stem))
}

fn best_for(cx: Context<'_>, hit: &Hit, evidence: &[Evidence]) -> Option<Scored> {
    let Context { flow, hand, index, .. } = cx;
    let weight = if hit.strong { 1.0 } else { WEAK };
    let mut best: Option<Scored> = None;
    for concept in &hit.concepts {
        for served in index.serving(*concept).iter().filter(|served| served.fit >= 0.3) {
            let Some(tool) = index.tool(served.tool) else { continue };
            let words = evidence.get(served.tool).copied().unwrap_or_default();
            let score =
                weight * served.fit + 0.3 * words.name + 0.15 * words.text + feasibility(tool, flow, hand, index);
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Scored { tool: served.tool, concept: *concept, score });
            }
        }
    }
    best
}

fn question(cx: Context<'_>, scored: &[(Hit, Scored)]) -> Option<Step> {
    let Context { flow, hand, index, .. } = cx;
    let document =
        hand.document || scored.iter().any(|(_, best)| lexicon::concept(best.concept).name == "document question");
    let text_at_hand = hand.has(Kind::Text) || hand.has(Kind::Json);
    let mut best: Option<Scored> = None;
    for (concept, row) in lexicon::concepts().iter().enumerate().filter(|(_, row)| row.nature == Nature::Ask) {
        let weight = match row.name {
            "document question" if !document => 0.5,
            "document question" => 1.05,
            _ => 0.9,
        };
        let from_text = row.takes.contains(&Kind::Text);
        // What is said can be written down and then asked about.
        let audible = hand.has(Kind::Audio) || hand.has(Kind::Video);
        let text_at_hand =
            text_at_hand || (audible && !hand.has(Kind::Image) && index.bridge(Kind::Audio, Kind::Text).is_some());
        if (from_text && !text_at_hand)
            || (!from_text
                && !row.takes.iter().any(|kind| hand.has(*kind))
                && !row.takes.iter().any(|kind| flow.speaks_of(*kind)))
        {
            continue;
        }
        for served in index.serving(concept).iter().filter(|served| served.fit >= 0.3) {
            let Some(tool) = index.tool(served.tool) else { continue };
            let own = if row.takes.iter().any(|kind| hand.own.contains(kind)) { 0.2 } else { 0.0 };
            let score = weight * served.fit + own + feasibility(tool, flow, hand, index);
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Scored { tool: served.tool, concept, score });
            }
        }
    }
    best.filter(|best| best.score >= ENOUGH).map(|best| Step {
        concept: Some(best.concept),
        score: best.score,
        ..Step::of_tool(best.tool)
    })
}

/// Several things named in one clause: one tool for two of them, or one inside the other ("read the summary aloud").
fn several_hits(cx: Context<'_>, hits: &[&(Hit, Scored)]) -> Vec<Step> {
    let Context { clause, hand, index, .. } = cx;
    // The words nearest the start are done last, except where the language puts the thing before the verb.
    let object_first = clause.tokens.iter().any(|token| matches!(token.lower.as_str(), "把" | "将"));
    let mut order: Vec<&(Hit, Scored)> = hits.to_vec();
    let passive = hits.last().is_some_and(|(hit, _)| is_passive(&clause.tokens, hit.last()));
    if !object_first && !passive {
        order.reverse();
    }
    let Some(outer) = order.pop() else { return Vec::new() };
    let mut chain = vec![outer];
    let mut refers = None;
    for inner in order.into_iter().rev() {
        if chain.len() == 1
            && hand.own.is_empty()
            && inner.1.concept != outer.1.concept
            && hand.made.contains(&inner.1.concept)
        {
            refers = Some(inner.1.concept);
            continue;
        }
        let feeds = chain.first().is_some_and(|next| {
            let gives = index.tool(inner.1.tool).is_some_and(|tool| {
                lexicon::concept(next.1.concept).takes.iter().any(|kind| tool.outputs.first() == Some(kind))
            });
            let labels = lexicon::concept(inner.1.concept).nature == Nature::Label;
            // "Read the names in a.txt aloud": what is found is spoken, not all of the text.
            let spoken = || lexicon::concept(next.1.concept).name == "speaking" && is_part(clause, inner.0.last());
            gives && (!labels || spoken()) && next.1.tool != inner.1.tool
        });
        let spoken = || {
            let (outer, aloud) = (lexicon::concept(outer.1.concept), lexicon::concept(inner.1.concept));
            chain.len() == 1 && aloud.name == "speaking" && outer.gives == Kind::Text && outer.nature == Nature::Make
        };
        if feeds {
            chain.insert(0, inner);
        } else if spoken() {
            // "Прочитай текст на a.png вслух": the word at the end says what becomes of it.
            chain.push(inner);
        }
    }
    // "Write a summary", "write down what is said": what is written is made by the other.
    let gives_text = |(_, best): &(Hit, Scored)| lexicon::concept(best.concept).gives == Kind::Text;
    let writes = |(_, best): &(Hit, Scored)| lexicon::concept(best.concept).name == "writing";
    if let [.., made, last] = chain.as_slice()
        && writes(last)
        && gives_text(made)
    {
        chain.pop();
    }
    let starts: Vec<usize> = chain.iter().map(|(hit, _)| hit.first()).collect();
    let mut steps: Vec<Step> = chain
        .into_iter()
        .map(|(hit, best)| Step {
            until: starts.iter().copied().filter(|start| *start > hit.last()).min(),
            ..step(hit, best)
        })
        .collect();
    if let Some(first) = steps.first_mut() {
        first.refers = refers;
    }
    steps
}

/// "The names in a.txt", "имена из a.txt": the word there names something of what is given, not what it is like.
fn is_part(clause: &Clause, at: usize) -> bool {
    let end = clause.tokens.get(at).map_or(0, |token| token.end);
    let next = clause.tokens.get(at + 1);
    let of = next.is_some_and(|token| matches!(token.lower.as_str(), "of" | "in" | "from" | "из" | "в"));
    let given = clause.spans.iter().find(|span| span.start >= end);
    // Nothing stands between it and what is given, as in "настроение a.txt".
    of || given.is_some_and(|span| next.is_none_or(|token| token.start >= span.start))
}

/// "… translated into French", but not "the segmented picture".
fn is_passive(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let adjective = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(Token::is_determiner);
    !adjective && (token.lower.ends_with("ed") || matches!(token.lower.as_str(), "into" | "spoken"))
}

/// A tool that serves two of the concepts at once and whose inputs are at hand: a picture drawn along edges. The first
/// concept must make something new and say what.
fn one_for_two(cx: Context<'_>, hits: &[(Hit, Scored)]) -> Option<Step> {
    let Context { clause, request, hand, index, .. } = cx;
    let nature = |scored: &Scored| lexicon::concept(scored.concept).nature;
    let create = hits.iter().find(|(_, best)| nature(best) == Nature::Create)?;
    let fit = |concept: ConceptId, tool: usize| {
        index.serving(concept).iter().find(|served| served.tool == tool).map_or(0.0, |served| served.words)
    };
    let mut best: Option<(f32, Step)> = None;
    for other in hits.iter().filter(|(hit, best)| hit.strong && nature(best) == Nature::Map) {
        for (at, tool) in index.tools.iter().enumerate() {
            let (one, two) = (fit(create.1.concept, at), fit(other.1.concept, at));
            let media = || tool.params.iter().filter(|param| param.required && param.kind.is_media());
            let met = media().next().is_some() && media().all(|param| hand.has(param.kind));
            if one < 0.55 || two < 0.55 || !met || best.as_ref().is_some_and(|(score, _)| one + two <= *score) {
                continue;
            }
            let until = (other.0.first() > create.0.last()).then(|| other.0.first());
            let step = Step {
                concept: Some(create.1.concept),
                words: create.0.at.iter().chain(&other.0.at).copied().collect(),
                until,
                score: create.1.score + other.1.score,
                ..Step::of_tool(at)
            };
            if hand.own.contains(&Kind::Text) || wording::rest(clause, request, &step).is_some() {
                best = Some((one + two, step));
            }
        }
    }
    best.map(|(_, step)| step)
}
