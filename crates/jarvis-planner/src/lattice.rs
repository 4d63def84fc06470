//! The lattice: for each clause the tools it may mean, in the light of what is given and what earlier clauses make; and the
//! choice among them.

use jarvis_plan::{Kind, Request, Role};

use rustc_hash::FxHashMap;

use crate::candidate::{Candidate, Step, likeliest};
use crate::clauses::{Clause, Reading};
use crate::data;
use crate::decoding;
use crate::evidence::Evidence;
use crate::lexicon::{self, ConceptId};
use crate::linking::{kinds_of, own_things};
use crate::matching::{self, AtHand, Beside};
use crate::resources;
use crate::retrieval::{Bag, ToolIndex};
use crate::weights::Weights;
use crate::words::grammar::gives_order;
use crate::words::{self, Token};

#[derive(Debug, Clone, Default)]
pub(crate) struct Lattice {
    pub(crate) clauses: Vec<Vec<Candidate>>,
    /// What the words of the whole request say for each tool.
    pub(crate) whole: Vec<f32>,
    /// What plans from before say of each pair of tools.
    pub(crate) links: FxHashMap<(usize, usize), f32>,
}

impl Lattice {
    /// Reads the clauses one after the other: what each one works on depends on those before. A clause with a slip of
    /// spelling is corrected on the way.
    pub(crate) fn new(
        reading: &mut Reading,
        request: &Request,
        index: &ToolIndex,
        weights: &Weights,
        evidence: &Evidence<'_>,
    ) -> Lattice {
        let mut lattice = Lattice::default();
        let mut builder = Builder::new(reading, request, index, evidence);
        for at in 0..reading.clauses.len() {
            let asks_next = reading.clauses.get(at + 1).is_some_and(|clause| clause.question);
            let Some(clause) = reading.clauses.get_mut(at) else { break };
            lattice.clauses.push(builder.clause(at, clause, asks_next, &request.text, index, weights));
        }
        let all: Vec<Token> = reading.clauses.iter().flat_map(|clause| clause.tokens.clone()).collect();
        lattice.whole = matching::likely(&Bag::of(&all, &Bag::default()), index, weights);
        let votes = evidence.votes(&all, &request.text);
        for (score, share) in lattice.whole.iter_mut().zip(votes.tools) {
            *score += weights.past_whole * share;
        }
        lattice.links = votes.links;
        lattice
    }

    pub(crate) fn decode(&self, index: &ToolIndex, weights: &Weights) -> Vec<Vec<Step>> {
        decoding::decode(&self.clauses, &self.whole, &self.links, index, weights)
    }
}

impl Lattice {
    /// What each clause of a request might have meant, the likeliest first, for people to read.
    pub(crate) fn explain(&self, reading: &Reading, request: &str, index: &ToolIndex) -> String {
        let mut lines = String::new();
        for (clause, candidates) in reading.clauses.iter().zip(&self.clauses) {
            lines.push_str(&format!("      {:?} {:?}\n", clause.join, clause.text(request)));
            let mut sorted: Vec<&Candidate> = candidates.iter().collect();
            sorted.sort_by(|a, b| b.score.total_cmp(&a.score));
            for candidate in sorted.into_iter().take(5) {
                let tools = candidate.steps.iter().filter_map(|step| index.tool(step.tool));
                let names: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
                lines.push_str(&format!("      {:>6.2} {}\n", candidate.score, names.join(" + ")));
            }
        }
        lines
    }
}

struct Builder<'e> {
    evidence: &'e Evidence<'e>,
    /// How near each clause is as a sentence to each tool.
    sentences: Vec<Vec<f32>>,
    given: Vec<Vec<Kind>>,
    near: Vec<Kind>,
    made: Vec<ConceptId>,
    /// The tool that each earlier clause most likely means.
    done: Vec<usize>,
    /// Whether a document, form or bill was spoken of.
    document: bool,
    earlier: Bag,
    /// What the turn before made.
    told: Vec<ConceptId>,
}

impl<'e> Builder<'e> {
    fn new(reading: &Reading, request: &Request, index: &ToolIndex, evidence: &'e Evidence<'e>) -> Builder<'e> {
        let given = |clause: &Clause| -> Vec<Kind> {
            // A question is asked of something else.
            let question = clause.quoted_question().map(|span| span.text.as_str());
            let things = own_things(clause, request);
            things.iter().filter(|thing| question.is_none_or(|text| !thing.is_text(text))).flat_map(kinds_of).collect()
        };
        let attached = request.attachments.iter().map(|resource| resource.kind);
        let remembered = resources::remembered(request).into_iter();
        Builder {
            evidence,
            sentences: evidence.near(reading.clauses.iter().map(|clause| clause.text(&request.text))),
            given: reading.clauses.iter().map(given).collect(),
            near: attached.chain(remembered.filter_map(|span| span.kind)).collect(),
            made: Vec::new(),
            done: Vec::new(),
            document: false,
            earlier: Bag::default(),
            told: asked_last(request, index),
        }
    }

    fn clause(
        &mut self,
        at: usize,
        clause: &mut Clause,
        asks_next: bool,
        request: &str,
        index: &ToolIndex,
        weights: &Weights,
    ) -> Vec<Candidate> {
        let later = self.given.iter().skip(at + 1).find(|kinds| !kinds.is_empty());
        let hand = AtHand {
            own: self.given.get(at).cloned().unwrap_or_default(),
            near: self.near.iter().chain(later.into_iter().flatten()).copied().collect(),
            made: self.made.clone(),
            document: self.document,
            told: self.told.clone(),
        };
        let mut bag = Bag::of(&clause.tokens, &self.earlier);
        let shares = self.evidence.votes(&clause.tokens, clause.text(request)).tools;
        let sentence = self.sentences.get(at).map_or(&[][..], Vec::as_slice);
        let beside = Beside { shares: &shares, sentence };
        let mut found = matching::candidates(clause, request, &hand, &bag, index, weights, beside);
        // "Wrote" is no slip of "write".
        if !found.iter().any(|candidate| candidate.score >= weights.cost)
            && !matching::is_report(&clause.tokens)
            && let Some(meant) = spelled(clause, &hand, index)
        {
            *clause = meant;
            bag = Bag::of(&clause.tokens, &self.earlier);
            found = matching::candidates(clause, request, &hand, &bag, index, weights, beside);
        }
        if asks_next && announces(clause) {
            found.retain(|candidate| candidate.steps.iter().any(|step| !matching::answers(step.tool, index)));
        }
        self.once(clause, &mut found);
        self.document |= matching::speaks_of_document(clause, index);
        self.earlier = bag;
        self.near.extend(hand.own);
        if let Some(best) = likeliest(&found) {
            for step in &best.steps {
                self.made.extend(step.concept);
                self.near.extend(index.tool(step.tool).into_iter().flat_map(|tool| tool.outputs.iter().copied()));
            }
        }
        found
    }

    /// What an earlier clause was for is not asked for again with another tool.
    fn once(&mut self, clause: &Clause, found: &mut Vec<Candidate>) {
        let Some(tool) = likeliest(found).and_then(|best| best.steps.first()).map(|step| step.tool) else { return };
        if !self.done.contains(&tool) {
            self.done.push(tool);
        } else if looks_back(clause) {
            found.clear();
        } else {
            found.retain(|candidate| candidate.steps.first().is_some_and(|step| step.tool == tool));
        }
    }
}

/// What the turn before asked for, where it made something: "the summary" is that one.
fn asked_last(request: &Request, index: &ToolIndex) -> Vec<ConceptId> {
    let asked = request.history.iter().rev().find(|turn| turn.role == Role::User);
    let tokens = asked.filter(|_| !request.results.is_empty());
    let tokens = tokens.map(|turn| words::tokens(words::head(&turn.content, MOST_OF_A_TURN))).unwrap_or_default();
    lexicon::hits(&tokens, |concept| index.serves(concept)).into_iter().flat_map(|hit| hit.concepts).collect()
}

/// So much of a turn is read.
const MOST_OF_A_TURN: usize = 400;

/// "After the call, …", "Once that is done, …": it speaks of what was asked for before.
fn looks_back(clause: &Clause) -> bool {
    clause.spans.is_empty()
        && !gives_order(&clause.tokens)
        && clause.tokens.first().is_some_and(|token| data::LOOKING_BACK.has(&token.lower))
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
            && lexicon::concept(id).takes.iter().any(|kind| hand.own.contains(kind) || hand.near.contains(kind))
    };
    lexicon::corrected(&clause.tokens, suits).map(|(_, tokens)| Clause { tokens, ..clause.clone() })
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Request, Tool};

    use super::Lattice;
    use crate::candidate::{Candidate, likeliest};
    use crate::clauses;
    use crate::evidence::Evidence;
    use crate::experience::Experience;
    use crate::retrieval::ToolIndex;
    use crate::weights::Weights;

    /// The best way to serve each clause, `-` for none worth its price.
    fn check(request: &str, expected: &str) {
        let (image, text, audio) = (Kind::Image, Kind::Text, Kind::Audio);
        let index = ToolIndex::new(&[
            Tool::typed("Image Colorizer", "Adds colour to a black and white picture.", &[image], &[image]),
            Tool::typed("Text Summarizer", "Summarizes a text.", &[text], &[text]),
            Tool::typed("Text Translator", "Translates a text.", &[text], &[text]),
            Tool::typed("Text-to-Speech", "Speaks a text.", &[text], &[audio]),
            Tool::typed("Question Answering", "Answers a question from a text.", &[text, text], &[text]),
        ]);
        let (asked, weights) = (Request::new(request), Weights::default());
        let mut reading = clauses::read(request, &[], &index);
        let lattice = Lattice::new(
            &mut reading,
            &asked,
            &index,
            &weights,
            &Evidence::new(&index, &Experience::default(), &weights),
        );
        let best = |candidates: &Vec<Candidate>| {
            let best = likeliest(candidates).filter(|best| best.score >= weights.cost);
            let tools = best.into_iter().flat_map(|best| &best.steps).filter_map(|step| index.tool(step.tool));
            let names: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(" + ") }
        };
        assert_eq!(lattice.clauses.iter().map(best).collect::<Vec<_>>().join(" | "), expected, "{request}");
    }

    #[test]
    fn each_clause_is_read_in_the_light_of_those_before() {
        check("I have a text 'It rained.'. Summarize it", "- | Text Summarizer");
        check("Translate a.txt, then speak the translated text", "Text Translator | Text-to-Speech");
        check("Colorize a.png. After the colorizing, translate b.txt", "Image Colorizer | - | Text Translator");
    }

    #[test]
    fn a_language_and_a_sound_asked_for_end_the_chain() {
        check("Summarize a.txt in French", "Text Summarizer + Text Translator");
        check("Give me an audio summary of a.txt", "Text Summarizer + Text-to-Speech");
    }
}
