//! Matching: the ways to serve one clause, each with a score: what phrases of the lexicon ask for, and the tools whose own
//! words fit. Which of them is taken is decided for all clauses together, by [`crate::decoding`].

mod inputs;
mod phrases;

use jarvis_plan::Kind;

use crate::candidate::{Candidate, Step, likeliest};
use crate::clauses::Clause;
use crate::data;
use crate::flow::Flow;
use crate::lexicon::{self, ConceptId, Nature};
use crate::resources::SpanKind;
use crate::retrieval::{Bag, ToolIndex};
use crate::thesaurus;
use crate::weights::Weights;
use crate::words::grammar::{gives_order, is_order_verb, opens_with_order};
use crate::words::{self, Token};

use inputs::{feasibility, has_nothing_to_change};
use phrases::{ENOUGH, are_made, phrases, step, steps};

pub(crate) use inputs::AtHand;

/// A clause, and what there is to serve it with.
#[derive(Clone, Copy)]
struct Context<'a> {
    clause: &'a Clause,
    request: &'a str,
    flow: &'a Flow,
    hand: &'a AtHand,
    index: &'a ToolIndex,
}

/// What is known of each tool beside its words: the share of the plans alike that took it, and how near it is as a sentence. Empty where
/// nothing is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) shares: &'a [f32],
    pub(crate) sentence: &'a [f32],
}

/// The ways to serve a clause: what its phrases ask for, and the tools whose own words fit, best first.
pub(crate) fn candidates(
    clause: &Clause,
    request: &str,
    hand: &AtHand,
    bag: &Bag,
    index: &ToolIndex,
    weights: &Weights,
    beside: Beside<'_>,
) -> Vec<Candidate> {
    let evidence = index.fields.evidence(bag, weights);
    let flow = Flow::of(clause);
    let near = if weights.near == 0.0 { Vec::new() } else { crate::set::choose::nearness(&clause.tokens, index.set()) };
    let Beside { shares, sentence } = beside;
    let most_shared = shares.iter().copied().fold(0.0, f32::max);
    let past =
        |tool: usize| shares.get(tool).map_or(0.0, |share| weights.past * (share - weights.past_to * most_shared));
    let nearest = near.iter().copied().fold(0.0, f32::max);
    let nearest_sentence = sentence.iter().copied().fold(0.0, f32::max);
    let mut found: Vec<Candidate> = Vec::new();
    // "The second one": another thing than before.
    let own = !clause.spans.is_empty() || clause.pointers.ordinal.is_some();
    let cx = Context { clause, request, flow: &flow, hand, index };
    let scored = phrases(cx, bag, &evidence);
    let handed = presents(clause) && !scored.iter().any(|(hit, _)| hit.strong);
    let telling = if !clause.question && (states(&clause.tokens) || is_report(&clause.tokens) || handed) {
        weights.telling
    } else {
        1.0
    };
    let made = are_made(cx, &scored);
    let asked = if made { Vec::new() } else { steps(cx, &scored) };
    if !asked.is_empty() {
        let steps: Vec<Step> = asked.into_iter().map(|step| Step { own: own || step.may_repeat(), ..step }).collect();
        let before: f32 = steps.iter().map(|step| past(step.tool)).sum::<f32>() / steps.len() as f32;
        found.push(Candidate {
            score: telling * (weights.phrase * steps.iter().map(|step| step.score).sum::<f32>() + before),
            steps,
        });
    }
    // What is at hand decides who answers, not the words for asking.
    let answered =
        clause.asks() && found.iter().flat_map(|found| &found.steps).any(|step| step.nature() == Some(Nature::Ask));
    let mut fitting: Vec<Candidate> = Vec::new();
    for (at, (tool, words)) in index.tools.iter().zip(&evidence).enumerate() {
        // "Text-to-Video" is not meant wherever a text and a video are spoken of.
        let name = match () {
            // "Make the picture blue" is about the one at hand.
            () if index.is_bare(at) && flow.targets.iter().all(|kind| hand.has(*kind)) && !hand.has(Kind::Text) => {
                0.5 * flow.direction(tool)
            }
            () if index.is_bare(at) => flow.direction(tool),
            () if index.is_directed(at) && !flow.makes(tool) => 0.5 * words.name,
            () => words.name,
        };
        let spoken = weights.name * name
            + weights.text * words.text
            + past(at)
            + near.get(at).map_or(0.0, |near| weights.near * (near - weights.near_to * nearest))
            + sentence.get(at).map_or(0.0, |near| weights.sentence * (near - weights.sentence_to * nearest_sentence));
        // Where tools say what they make, "make coffee" names none of them.
        let names_it =
            words.telling || tool.outputs.is_empty() || (flow.makes(tool) && (index.is_bare(at) || words.action > 0.0));
        let is_idle = || {
            let takes = tool.params.iter().filter(|param| param.required).map(|param| param.kind);
            has_nothing_to_change(cx, &takes.collect::<Vec<_>>(), tool.outputs.first().copied())
        };
        let again = made && scored.iter().any(|(_, best)| best.tool == at);
        if again
            || index.is_own(at)
            || !names_it
            || words.opposed
            || spoken < weights.spoken
            || (answered && answers(at, index))
            || is_idle()
        {
            continue;
        }
        let inputs = weights.inputs * feasibility(tool, &flow, hand, index);
        let score = telling * (spoken + weights.action * words.action + inputs);
        let phrase = scored.iter().find(|(hit, best)| best.tool == at && (hit.strong || best.score >= ENOUGH));
        let step = phrase.map_or_else(|| Step::of_tool(at), |(hit, best)| step(hit, best));
        fitting.push(Candidate { steps: vec![Step { score, own, ..step }], score });
    }
    fitting.sort_by(|a, b| b.score.total_cmp(&a.score));
    fitting.truncate(weights.choices);
    // Against a tool whose own words fit, a phrase is one piece of evidence; alone it is enough.
    if let Some(asked) = found.first_mut() {
        let meant = |candidate: &&Candidate| {
            candidate.steps.first().is_some_and(|step| asked.steps.iter().all(|other| other.tool != step.tool))
        };
        let rival = fitting.iter().find(meant).map_or(0.0, |candidate| candidate.score.max(0.0));
        asked.score -= weights.rival * rival;
    }
    found.extend(fitting);
    if telling >= 1.0 && words::asks_language(&clause.tokens) && !in_that_language(clause) {
        translated(&mut found, hand, index);
    }
    spoken_aloud(&mut found, &flow, index);
    found
}

/// True when the clause speaks of a document, a form, a bill.
pub(crate) fn speaks_of_document(clause: &Clause, index: &ToolIndex) -> bool {
    let document = |id: &ConceptId| lexicon::concept(*id).name == "document question";
    lexicon::hits(&clause.tokens, |id| index.serves(id)).iter().any(|hit| hit.concepts.iter().any(document))
}

pub(crate) fn answers(tool: usize, index: &ToolIndex) -> bool {
    lexicon::concepts()
        .iter()
        .enumerate()
        .filter(|(_, row)| row.nature == Nature::Ask)
        .any(|(concept, _)| index.serving(concept).iter().any(|served| served.tool == tool && served.fit >= 0.3))
}

/// "Say 'bonjour' in French": the words are French already, as far as their script or some well-known word tells.
fn in_that_language(clause: &Clause) -> bool {
    let mut quotes =
        clause.spans.iter().filter(|span| matches!(span.what, SpanKind::Quote | SpanKind::Payload)).peekable();
    quotes.peek().is_some() && quotes.all(|quote| clause.tokens.iter().any(|token| words::is_in(token, &quote.text)))
}

/// "Summarise it in French": what the best steps make as text is translated before it is given or spoken.
fn translated(found: &mut Vec<Candidate>, hand: &AtHand, index: &ToolIndex) {
    let Some(tool) =
        lexicon::find("translation").and_then(|id| index.serving(id).first()).filter(|best| best.fit >= 0.5)
    else {
        return;
    };
    let step = Step { concept: lexicon::find("translation"), ..Step::of_tool(tool.tool) };
    let makes = |step: &Step, kind: Kind| index.tool(step.tool).is_some_and(|tool| tool.outputs.first() == Some(&kind));
    let best = likeliest(found).cloned();
    let mut added = match best {
        Some(best) if best.steps.iter().any(|step| step.tool == tool.tool) => return,
        // "How do you say 'welcome' in French?"
        Some(best)
            if hand.own.contains(&Kind::Text) && best.steps.iter().all(|step| step.nature() == Some(Nature::Ask)) =>
        {
            Candidate { steps: Vec::new(), score: best.score }
        }
        Some(best) if best.score > 0.0 => best,
        // "Say 'welcome' in French" has a text and nothing else to be done with it.
        _ if hand.has(Kind::Text) => Candidate { steps: Vec::new(), score: 0.0 },
        _ => return,
    };
    match added.steps.last() {
        Some(last) if makes(last, Kind::Text) => added.steps.push(step),
        Some(last) if makes(last, Kind::Audio) => added.steps.insert(added.steps.len() - 1, step),
        Some(_) => return,
        None => added.steps.push(step),
    }
    added.score += TURNED;
    found.push(added);
}

/// "An audio summary": what the clause wants as sound or picture, and the best tool makes as text, is turned into it.
fn spoken_aloud(found: &mut Vec<Candidate>, flow: &Flow, index: &ToolIndex) {
    let Some(best) = likeliest(found).cloned() else { return };
    let Some(last) = best.steps.last().and_then(|step| index.tool(step.tool)) else { return };
    let [wanted] = flow.targets.as_slice() else { return };
    if !wanted.is_media() || last.outputs.as_slice() != [Kind::Text] {
        return;
    }
    if let Some(bridge) =
        index.bridge(Kind::Text, *wanted).filter(|bridge| best.steps.iter().all(|step| step.tool != *bridge))
    {
        let mut steps = best.steps;
        steps.push(Step::of_tool(bridge));
        found.push(Candidate { steps, score: best.score + TURNED });
    }
}

/// What the last step of such a chain is worth by itself.
const TURNED: f32 = 0.6;

pub(crate) fn likely(bag: &Bag, index: &ToolIndex, weights: &Weights) -> Vec<f32> {
    let evidence = index.fields.evidence(bag, weights);
    evidence.iter().map(|words| weights.name * words.name + weights.text * words.text).collect()
}

/// "The weather is nice": somebody or something is, and nobody is told to do anything.
pub(crate) fn describes(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let is = (1..=4).any(|at| matches!(lower(at), "is" | "are" | "was" | "were" | "seems" | "looks"));
    data::SUBJECTS.has(lower(0)) && is && !opens_with_order(tokens)
}

/// "I have a picture of …": it tells what is there and orders nothing new.
pub(crate) fn states(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    if describes(tokens) {
        return true;
    }
    matches!(
        (lower(0), lower(1)),
        (
            "i" | "we",
            "have" | "got" | "took" | "am" | "received" | "found" | "love" | "hate" | "enjoy" | "prefer" | "think"
        ) | ("here" | "this" | "there", "is" | "are")
            | ("у", "меня" | "нас")
            | ("我", "有")
            | ("这", "是")
    ) || matches!(lower(0), "вот" | "there's" | "here's" | "i've" | "we've" | "i’ve" | "i'm" | "i’m" | "user" | "given")
}

/// "I already sent it", "my sister paints pictures": somebody did or does something, and nobody is told to. What they wished, or what
/// anything follows on ("so", "to", "and need"), may well be an order.
pub(crate) fn is_report(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let (subject, is_third) = match lower(0) {
        "i" | "we" | "they" => (1, false),
        "he" | "she" => (1, true),
        "my" | "our" | "his" | "her" | "their" => (2, true),
        _ => return false,
    };
    let beside = tokens.iter().skip(subject).take_while(|token| data::BESIDE_VERBS.has(&token.lower)).count();
    let said = tokens.get(subject + beside..).unwrap_or_default();
    let [verb, rest @ ..] = said else { return false };
    let is_aim = |two: &[Token]| matches!(two, [to, act] if to.lower == "to" && (is_order_verb(act) || thesaurus::is_action(act)));
    if said.windows(2).any(is_aim)
        || data::WISHED.has(&verb.lower)
        || rest.iter().any(|token| data::AFTER_REPORTS.has(&token.lower))
        || gives_order(said)
    {
        return false;
    }
    // "My photo resized" is no sentence.
    let past = verb.lower.len() > 4 && verb.lower.ends_with("ed") && (subject == 1 || !rest.is_empty());
    let present = is_third && verb.lower.ends_with('s') && !verb.lower.ends_with("ss") && is_order_verb(verb);
    past || data::PASTS.has(&verb.lower) || present
}

/// "Here is the text: …": it only hands over what the rest is about.
fn presents(clause: &Clause) -> bool {
    let Some(last) = clause.tokens.last() else { return false };
    let handed = clause.spans.iter().any(|span| {
        matches!(span.what, SpanKind::Quote | SpanKind::Payload) && span.start >= last.end && span.kind.is_some()
    });
    let label = data::HANDING_OVER.has(&last.lower);
    handed && label && clause.tokens.len() <= 8 && !clause.question && !opens_with_order(&clause.tokens)
}
