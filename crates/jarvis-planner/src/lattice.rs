//! The lattice: for each clause the tools it may mean, in the light of what is given and what earlier clauses make; and the
//! choice among them.

use jarvis_plan::{Kind, Request};

use crate::clauses::{Clause, Reading};
use crate::decoding::{self, Candidate, Weights};
use crate::lexicon::{self, ConceptId};
use crate::linking::{kinds_of, own_things};
use crate::matching::{self, AtHand, Step};
use crate::resources::{self, SpanKind};
use crate::retrieval::{Bag, ToolIndex};
use crate::words::Token;

/// The steps of each clause. A clause with a slip of spelling is corrected on the way.
pub(crate) fn choose(reading: &mut Reading, request: &Request, index: &ToolIndex, weights: &Weights) -> Vec<Vec<Step>> {
    let given: Vec<Vec<Kind>> = reading
        .clauses
        .iter()
        .map(|clause| {
            // A question is asked of something else.
            let question = clause.quoted_question().map(|span| span.text.as_str());
            let things = own_things(clause, request);
            let given = things.iter().filter(|thing| question.is_none_or(|text| !thing.is_text(text)));
            given.flat_map(kinds_of).collect()
        })
        .collect();
    let attached = request.attachments.iter().map(|resource| resource.kind);
    let remembered = request.history.iter().flat_map(|turn| resources::spans(&turn.content));
    let mut near: Vec<Kind> = attached
        .chain(
            remembered.filter(|span| matches!(span.what, SpanKind::Path | SpanKind::Url)).filter_map(|span| span.kind),
        )
        .collect();
    let mut made: Vec<ConceptId> = Vec::new();
    let mut document = false;
    let mut done: Vec<usize> = Vec::new();
    let mut lattice: Vec<Vec<Candidate>> = Vec::new();
    let mut earlier = Bag::default();
    let questions: Vec<bool> = reading.clauses.iter().map(|clause| clause.question).collect();
    for (at, clause) in reading.clauses.iter_mut().enumerate() {
        let own = given.get(at).cloned().unwrap_or_default();
        let later = given.iter().skip(at + 1).find(|kinds| !kinds.is_empty());
        let mut hand = AtHand { own, near: near.clone(), made: made.clone(), document };
        hand.near.extend(later.into_iter().flatten());
        let mut bag = Bag::of(&clause.tokens, &earlier);
        let mut found = matching::candidates(clause, &request.text, &hand, &bag, index, weights);
        if !found.iter().any(|candidate| candidate.score >= weights.price(index.tools().len()))
            && let Some(meant) = spelled(clause, &hand, index)
        {
            *clause = meant;
            bag = Bag::of(&clause.tokens, &earlier);
            found = matching::candidates(clause, &request.text, &hand, &bag, index, weights);
        }
        if announces(clause) && questions.get(at + 1) == Some(&true) {
            found.retain(|candidate| candidate.steps.iter().any(|step| !matching::answers(step.tool, index)));
        }
        document |= lexicon::hits(&clause.tokens, |id| index.serves(id)).iter().any(|hit| {
            hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|row| row.name == "document question")
        });
        // What an earlier clause was for is not asked for again with another tool.
        let top = found.iter().max_by(|a, b| a.score.total_cmp(&b.score));
        if let Some(tool) = top.and_then(|best| best.steps.first()).map(|step| step.tool) {
            if done.contains(&tool) && looks_back(clause) {
                found.clear();
            } else if done.contains(&tool) {
                found.retain(|candidate| candidate.steps.first().is_some_and(|step| step.tool == tool));
            } else {
                done.push(tool);
            }
        }
        earlier = bag;
        near.extend(hand.own);
        if let Some(best) = found.iter().max_by(|a, b| a.score.total_cmp(&b.score)) {
            for step in &best.steps {
                made.extend(step.concept);
                near.extend(index.tool(step.tool).into_iter().flat_map(|tool| tool.outputs.clone()));
            }
        }
        if std::env::var_os("JX").is_some() {
            let words: Vec<&str> = clause.tokens.iter().map(|t| t.lower.as_str()).collect();
            eprintln!("[{:?}] {}", clause.join, words.join(" "));
            for c in found.iter().take(6) {
                let n: Vec<String> = c
                    .steps
                    .iter()
                    .map(|s| {
                        format!(
                            "{}{}",
                            index.tool(s.tool).map_or("", |t| &t.name),
                            s.concept.and_then(lexicon::concept).map_or(String::new(), |c| format!("({})", c.name))
                        )
                    })
                    .collect();
                eprintln!("     {:.2} {}", c.score, n.join(" + "));
            }
        }
        lattice.push(found);
    }
    let all: Vec<_> = reading.clauses.iter().flat_map(|clause| clause.tokens.clone()).collect();
    let whole = matching::likely(&Bag::of(&all, &Bag::default()), index, weights);
    decoding::decode(&lattice, &whole, index, weights)
}

/// "After the call, …", "Once that is done, …": it speaks of what was asked for before.
fn looks_back(clause: &Clause) -> bool {
    clause.spans.is_empty()
        && clause.tokens.first().is_some_and(|token| {
            matches!(
                token.lower.as_str(),
                "after" | "once" | "when" | "before" | "upon" | "following" | "while" | "after" | "после" | "когда"
            )
        })
}

/// "Answer the following question": the question itself comes next.
fn announces(clause: &Clause) -> bool {
    let names = |token: &Token| matches!(token.stem.as_str(), "question" | "answer" | "вопрос" | "ответ");
    clause.spans.is_empty() && clause.tokens.len() <= 10 && clause.tokens.last().is_some_and(names)
}

/// The clause with slips corrected, towards what can be done with what is at hand.
fn spelled(clause: &Clause, hand: &AtHand, index: &ToolIndex) -> Option<Clause> {
    let suits = |id: ConceptId| {
        index.serves(id)
            && lexicon::concept(id)
                .is_some_and(|row| row.takes.iter().any(|kind| hand.own.contains(kind) || hand.near.contains(kind)))
    };
    lexicon::corrected(&clause.tokens, suits).map(|(_, tokens)| Clause { tokens, ..clause.clone() })
}
