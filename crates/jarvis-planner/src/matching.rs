//! Matching: the tools one clause asks for, in the order they must run. Words choose; the kinds at hand decide between
//! tools that words cannot tell apart.

use jarvis_plan::{Kind, Param, Tool};

use crate::clauses::{Clause, is_attribute, opens_with_order, strip_polite};
use crate::decoding::{Candidate, Weights};
use crate::flow::{Flow, kind_at};
use crate::lexicon::{self, ConceptId, Hit, Nature};
use crate::linking::wording;
use crate::resources::SpanKind;
use crate::retrieval::{Bag, Evidence, ToolIndex};
use crate::words::{self, Token};

/// One call that a clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The tool's place in the list.
    pub tool: usize,
    /// The concept it was found by; `None` when its own words were enough.
    pub concept: Option<ConceptId>,
    /// The words of the clause that asked for it, as places in [`Clause::tokens`].
    pub words: Vec<usize>,
    /// The first word of another request inside the same clause, where this one's own words end.
    pub until: Option<usize>,
    /// A concept made before, whose output the clause means by its noun ("read the summary aloud").
    pub refers: Option<ConceptId>,
    /// What the clause says for it.
    pub score: f32,
    /// True when the clause names what it works on.
    pub own: bool,
}

impl Step {
    /// A step that no words of a clause chose.
    pub(crate) fn of_tool(tool: usize) -> Step {
        Step { tool, concept: None, words: Vec::new(), until: None, refers: None, score: 0.0, own: false }
    }

    /// What the tool makes of its input, as far as the lexicon knows.
    pub fn nature(&self) -> Option<Nature> {
        self.concept.and_then(lexicon::concept).map(|concept| concept.nature)
    }
}

/// The kinds of resources a clause can draw on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtHand {
    /// Named in the clause itself.
    pub own: Vec<Kind>,
    /// Given or made elsewhere.
    pub near: Vec<Kind>,
    /// The concepts that earlier clauses asked for.
    pub made: Vec<ConceptId>,
    /// True when an earlier clause spoke of a document, form or bill.
    pub document: bool,
}

impl AtHand {
    fn has(&self, kind: Kind) -> bool {
        self.own.contains(&kind) || self.near.contains(&kind)
    }
}

/// The least score by which a tool counts as asked for.
const ENOUGH: f32 = 0.42;
/// What an input that nothing provides costs.
const MISSING: f32 = 0.5;
/// What a file costs that the clause names and the tool cannot take.
const IDLE: f32 = 0.3;
/// What the kinds that the clause wants and gives count.
const FLOW: f32 = 0.2;
/// What a weak phrase counts beside a strong one.
const WEAK: f32 = 0.5;

/// The ways to serve a clause: what its phrases ask for, and the tools whose own words fit, best first.
pub fn candidates(
    clause: &Clause,
    request: &str,
    hand: &AtHand,
    bag: &Bag,
    index: &ToolIndex,
    weights: &Weights,
) -> Vec<Candidate> {
    let evidence = index.evidence(bag, weights.kinship());
    let flow = Flow::of(clause);
    let mut found: Vec<Candidate> = Vec::new();
    let own = !clause.spans.is_empty();
    let telling = if states(&clause.tokens) || presents(clause) { weights.telling } else { 1.0 };
    let scored = phrases(clause, &flow, hand, bag, index, &evidence);
    let asked = steps(clause, request, &flow, hand, index, &scored);
    if !asked.is_empty() {
        let steps: Vec<Step> = asked.into_iter().map(|step| Step { own, ..step }).collect();
        found.push(Candidate {
            score: telling * weights.phrase * steps.iter().map(|step| step.score).sum::<f32>(),
            steps,
        });
    }
    // Who answers is told by what is at hand, not by the words for asking.
    let answered =
        clause.asks() && found.iter().flat_map(|found| &found.steps).any(|step| step.nature() == Some(Nature::Ask));
    let mut fitting: Vec<Candidate> = Vec::new();
    for (at, (tool, words)) in index.tools().iter().zip(&evidence).enumerate() {
        // "Text-to-Video" is not meant wherever a text and a video are spoken of.
        let name = match () {
            () if index.is_bare(at) => flow.direction(tool),
            () if index.is_directed(at) && !flow.makes(tool) => 0.5 * words.name,
            () => words.name,
        };
        let spoken = weights.name * name + weights.text * words.text;
        if spoken < weights.spoken || (answered && answers(at, index)) {
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
    found.extend(fitting);
    spoken_aloud(&mut found, &flow, index);
    let best = found.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    for candidate in &mut found {
        candidate.score -= weights.behind * (best - candidate.score);
    }
    found
}

/// True for a tool that answers questions.
pub fn answers(tool: usize, index: &ToolIndex) -> bool {
    lexicon::concepts()
        .iter()
        .enumerate()
        .filter(|(_, row)| row.nature == Nature::Ask)
        .any(|(concept, _)| index.serving(concept).iter().any(|served| served.tool == tool && served.fit >= 0.3))
}

/// "An audio summary": what the clause wants as sound or picture, and the best tool makes as text, is turned into it.
fn spoken_aloud(found: &mut Vec<Candidate>, flow: &Flow, index: &ToolIndex) {
    let best = found.iter().filter(|candidate| !candidate.steps.is_empty()).max_by(|a, b| a.score.total_cmp(&b.score));
    let Some(best) = best.cloned() else { return };
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

/// What the words alone say for each tool.
pub fn likely(bag: &Bag, index: &ToolIndex, weights: &Weights) -> Vec<f32> {
    let evidence = index.evidence(bag, weights.kinship());
    evidence.iter().map(|words| weights.name * words.name + weights.text * words.text).collect()
}

struct Scored {
    tool: usize,
    concept: ConceptId,
    score: f32,
}

/// The phrases of the lexicon that the clause speaks, each with the tool that serves it best here.
fn phrases(
    clause: &Clause,
    flow: &Flow,
    hand: &AtHand,
    bag: &Bag,
    index: &ToolIndex,
    evidence: &[Evidence],
) -> Vec<(Hit, Scored)> {
    let hits = wanted(lexicon::hits(&clause.tokens, |concept| index.serves(concept)), clause, flow, hand, bag);
    let best = |hit: Hit| best_for(&hit, flow, hand, index, evidence).map(|best| (hit, best));
    hits.into_iter().filter_map(best).collect()
}

/// The tools the clause asks for, in the order they must run; empty when it asks for nothing the list offers.
fn steps(
    clause: &Clause,
    request: &str,
    flow: &Flow,
    hand: &AtHand,
    index: &ToolIndex,
    scored: &[(Hit, Scored)],
) -> Vec<Step> {
    if let Some(step) = one_for_two(scored, clause, request, hand, index) {
        return vec![step];
    }
    // "Draw the outline of it" makes nothing new.
    let maps = scored
        .iter()
        .any(|(hit, best)| hit.strong && lexicon::concept(best.concept).is_some_and(|c| c.nature == Nature::Map));
    let idle = |hit: &Hit, best: &Scored| {
        maps && lexicon::concept(best.concept).is_some_and(|c| c.nature == Nature::Create)
            && wording::rest(clause, request, &step(hit, best)).is_none()
    };
    let strong: Vec<&(Hit, Scored)> = scored
        .iter()
        .filter(|(hit, best)| !idle(hit, best))
        .filter(|(hit, best)| hit.strong && best.score >= ENOUGH)
        .collect();
    match strong.as_slice() {
        [] => {
            let question = clause.asks().then(|| question(scored, flow, hand, index)).flatten();
            let weak =
                scored.iter().filter(|(_, best)| best.score >= ENOUGH).max_by(|a, b| a.1.score.total_cmp(&b.1.score));
            question.or_else(|| weak.map(|(hit, best)| step(hit, best))).into_iter().collect()
        }
        [(hit, best)] => vec![step(hit, best)],
        several => several_hits(several, clause, hand, index),
    }
}

fn step(hit: &Hit, best: &Scored) -> Step {
    Step { concept: Some(best.concept), words: hit.at.clone(), score: best.score, ..Step::of_tool(best.tool) }
}

/// In a question, words for making and mapping mostly describe what is seen; they count only where they can be meant.
fn wanted(hits: Vec<Hit>, clause: &Clause, flow: &Flow, hand: &AtHand, bag: &Bag) -> Vec<Hit> {
    let start = clause.tokens.len() - strip_polite(&clause.tokens).len();
    let nature = |hit: &Hit| hit.concepts.first().and_then(|id| lexicon::concept(*id)).map(|concept| concept.nature);
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
        let concept = hit.concepts.first().and_then(|id| lexicon::concept(*id));
        concept.is_some_and(|concept| {
            !concept.takes.contains(&concept.gives)
                && concept.gives.is_media()
                && flow.sources.contains(&concept.gives)
                && !flow.targets.contains(&concept.gives)
                && hit.at.iter().any(|at| kind_at(&clause.tokens, *at) == Some(concept.gives))
        })
    };
    hits.into_iter()
        .filter(|hit| !given(hit))
        // "the translated text" is one that was made before.
        .filter(|hit| hit.at.len() > 1 || hit.asks || !refers_back(clause, hit.first(), bag))
        .filter(|hit| {
            let counts = |concept: &&lexicon::Concept| match concept.nature {
                Nature::Ask => hit.strong || question || terse,
                Nature::Label | Nature::Make => {
                    !question
                        || hit.asks
                        || concept.takes.iter().any(|kind| hand.has(*kind))
                            && !hand.own.iter().any(|kind| kind.is_media() && !concept.takes.contains(kind))
                }
                Nature::Create => !states && (!question || hit.asks),
                Nature::Map | Nature::Edit => !question || hit.asks,
            };
            hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|concept| counts(&concept))
        })
        .collect()
}

/// True for "translated" in "the translated text" where an earlier clause translates.
fn refers_back(clause: &Clause, at: usize, bag: &Bag) -> bool {
    is_attribute(&clause.tokens, at) && clause.tokens.get(at).is_some_and(|token| bag.was_said(&token.stem))
}

/// "I have a picture of …": it tells what is there and orders nothing new.
fn states(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    matches!(
        (lower(0), lower(1)),
        ("i" | "we", "have" | "got" | "took" | "am" | "received" | "found")
            | ("here" | "this" | "there", "is" | "are")
            | ("у", "меня" | "нас")
            | ("我", "有")
            | ("这", "是")
    ) || matches!(lower(0), "вот" | "there's" | "here's" | "i've" | "we've" | "i’ve" | "i'm" | "i’m" | "user" | "given")
}

/// "Here is the text: …": it only hands over what the rest is about.
fn presents(clause: &Clause) -> bool {
    let Some(last) = clause.tokens.last() else { return false };
    let handed = clause.spans.iter().any(|span| {
        matches!(span.what, SpanKind::Quote | SpanKind::Payload) && span.start >= last.end && span.kind.is_some()
    });
    let label = matches!(
        last.lower.as_str(),
        "is" | "are"
            | "text"
            | "paragraph"
            | "message"
            | "content"
            | "sentence"
            | "passage"
            | "script"
            | "article"
            | "follows"
            | "description"
            | "document"
            | "context"
            | "контекст"
            | "текст"
            | "сообщение"
            | "статья"
    );
    handed && label && clause.tokens.len() <= 8 && !clause.question && !opens_with_order(&clause.tokens)
}

fn best_for(hit: &Hit, flow: &Flow, hand: &AtHand, index: &ToolIndex, evidence: &[Evidence]) -> Option<Scored> {
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

/// How well the inputs at hand suit a tool: something added for what the clause names, something taken for what is
/// missing, less where another tool can make it.
fn feasibility(tool: &Tool, flow: &Flow, hand: &AtHand, index: &ToolIndex) -> f32 {
    let mut score = FLOW * flow.agreement(tool);
    // A picture is named, and the tool has no use for one.
    let holds = |param: &Param| {
        param.kind.is_media()
            || words::stems(&words::spell_out(&param.name)).iter().any(|word| {
                matches!(
                    word.as_str(),
                    "file"
                        | "path"
                        | "document"
                        | "packag"
                        | "content"
                        | "attach"
                        | "imag"
                        | "photo"
                        | "item"
                        | "input"
                        | "media"
                        | "url"
                        | "titl"
                        | "sourc"
                )
            })
    };
    if hand.own.iter().any(|kind| kind.is_media()) && !tool.params.is_empty() && !tool.params.iter().any(holds) {
        score -= IDLE;
    }
    let mut kinds: Vec<Kind> = tool.params.iter().filter(|param| param.required).map(|param| param.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let takes_own = hand.own.contains(&kind);
        if takes_own || flow.sources.contains(&kind) || flow.targets.contains(&kind) {
            score += 0.15;
        }
        if kind != Kind::Text && !takes_own && !hand.near.contains(&kind) {
            let sound = kind == Kind::Audio && hand.has(Kind::Video);
            let makeable = sound && index.bridge(Kind::Video, kind).is_some();
            score -= if makeable { 0.2 } else { MISSING };
        }
    }
    score
}

/// The tool that answers the clause as a question.
fn question(scored: &[(Hit, Scored)], flow: &Flow, hand: &AtHand, index: &ToolIndex) -> Option<Step> {
    let document = hand.document
        || scored.iter().any(|(_, best)| lexicon::concept(best.concept).is_some_and(|c| c.name == "document question"));
    let text_at_hand = hand.has(Kind::Text) || hand.has(Kind::Json);
    let mut best: Option<Scored> = None;
    for (concept, row) in lexicon::concepts().iter().enumerate().filter(|(_, row)| row.nature == Nature::Ask) {
        let weight = match row.name {
            "document question" if !document => 0.5,
            "document question" => 1.05,
            _ => 0.9,
        };
        let from_text = row.takes.contains(&Kind::Text);
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
fn several_hits(hits: &[&(Hit, Scored)], clause: &Clause, hand: &AtHand, index: &ToolIndex) -> Vec<Step> {
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
                lexicon::concept(next.1.concept)
                    .is_some_and(|concept| concept.takes.iter().any(|kind| tool.outputs.first() == Some(kind)))
            });
            let labels = lexicon::concept(inner.1.concept).is_some_and(|concept| concept.nature == Nature::Label);
            gives && !labels && next.1.tool != inner.1.tool
        });
        if feeds {
            chain.insert(0, inner);
        }
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

/// "… translated into French", but not "the segmented picture".
fn is_passive(tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let adjective = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(Token::is_determiner);
    !adjective && (token.lower.ends_with("ed") || matches!(token.lower.as_str(), "into" | "spoken"))
}

/// A tool that serves two of the concepts at once and whose inputs are at hand: a picture drawn along edges. The first
/// concept must make something new and say what.
fn one_for_two(
    hits: &[(Hit, Scored)],
    clause: &Clause,
    request: &str,
    hand: &AtHand,
    index: &ToolIndex,
) -> Option<Step> {
    let nature = |scored: &Scored| lexicon::concept(scored.concept).map(|concept| concept.nature);
    let create = hits.iter().find(|(_, best)| nature(best) == Some(Nature::Create))?;
    let fit = |concept: ConceptId, tool: usize| {
        index.serving(concept).iter().find(|served| served.tool == tool).map_or(0.0, |served| served.words)
    };
    let mut best: Option<(f32, Step)> = None;
    for other in hits.iter().filter(|(hit, best)| hit.strong && nature(best) == Some(Nature::Map)) {
        for (at, tool) in index.tools().iter().enumerate() {
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
