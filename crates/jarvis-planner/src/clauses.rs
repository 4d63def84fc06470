//! Clauses: a request cut into the things asked for, in their order.
//!
//! Sentences end clauses. Discourse marks ("then", "затем", "然后") cut and order. Commas and "and" cut only between
//! two parts that each name an action. Quoted text, paths, addresses and text to work on are never cut.

mod borders;
mod negation;
mod orders;
mod parts;
mod payload;
mod picked;

use jarvis_plan::Kind;

use borders::{Cut, Force, cuts};
use orders::{is_question, strip_order};
use parts::Part;

pub(crate) use negation::taken_out;
pub(crate) use orders::{is_bare_verb, is_name, names_action, orders_by_form, points_back};
pub(crate) use picked::picked;

use crate::data;
use crate::lexicon;
use crate::resources::{self, Pointers, Span, SpanKind};
use crate::retrieval::ToolIndex;
use crate::words::{self, Token, slice};

/// How a clause follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Start,
    /// Joined by "and" or a comma.
    And,
    /// Ordered after it by a word such as "then".
    Then,
    Sentence,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clause {
    /// Bytes of the request where it begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) join: Join,
    /// Its words; words of spans are left out.
    pub(crate) tokens: Vec<Token>,
    pub(crate) spans: Vec<Span>,
    pub(crate) pointers: Pointers,
    /// True when it asks a question rather than gives an order.
    pub(crate) question: bool,
}

impl Clause {
    /// The quoted question that the clause asks ("answer the question 'Who is it?'").
    pub(crate) fn quoted_question(&self) -> Option<&Span> {
        let names = |token: &Token| {
            matches!(token.stem.as_str(), "question" | "answer" | "ask" | "вопрос" | "ответ" | "спрос" | "问" | "答")
        };
        let asks = |span: &&Span| {
            matches!(span.what, SpanKind::Quote | SpanKind::Payload) && span.text.trim_end().ends_with(['?', '？'])
        };
        self.tokens.iter().any(names).then(|| self.spans.iter().find(asks)).flatten()
    }

    pub(crate) fn asks(&self) -> bool {
        self.question || self.quoted_question().is_some()
    }

    /// The part of it between two places of the request.
    pub(crate) fn part(&self, from: usize, to: usize) -> Clause {
        let (start, end) = (from.max(self.start), to.min(self.end));
        let tokens = self.tokens.iter().filter(|token| token.start >= start && token.end <= end).cloned().collect();
        let spans = self.spans.iter().filter(|span| span.start >= start && span.end <= end).cloned().collect();
        Clause { start, end, tokens, spans, ..self.clone() }
    }

    pub(crate) fn text<'a>(&self, request: &'a str) -> &'a str {
        slice(request, self.start, self.end)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reading {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) spans: Vec<Span>,
    /// Files that the request takes out of what is to be done.
    pub(crate) excluded: Vec<String>,
}

/// Bounds on what is read of an order, so that no request takes long. Text to work on is one span, however long.
const MOST_SPANS: usize = 200;
const MOST_WORDS: usize = 1500;
const MOST_CUTS: usize = 100;

/// Reads a request. `files` are names of attached files that the text may speak of; `index` tells which words name an
/// action.
pub(crate) fn read(request: &str, files: &[(&str, Kind)], index: &ToolIndex) -> Reading {
    let mut spans = resources::spans_with(request, files);
    spans.truncate(MOST_SPANS);
    if files.is_empty()
        && lexicon::find("summary").is_some_and(|summary| index.serves(summary))
        && let Some(article) = payload::article(request, &spans, index)
    {
        return to_summarise(article);
    }
    if let Some(payload) = payload::find(request, &spans, index) {
        spans.retain(|span| span.end <= payload.start || span.start >= payload.end);
        spans.push(payload);
        spans.sort_by_key(|span| span.start);
    }
    let tokens: Vec<Token> = words::tokens(request)
        .into_iter()
        .filter(|token| !spans.iter().any(|span| span.covers(token.start)))
        .take(MOST_WORDS)
        .collect();
    let mut negated = negation::find(request, &tokens, index);
    let mut excluded = Vec::new();
    spans.retain(|span| {
        let left_out = negation::leaves_out(request, &tokens, span);
        negated.extend(left_out);
        excluded.extend(left_out.map(|_| span.text.clone()));
        left_out.is_none()
    });
    let kept = |at: usize| !negated.iter().any(|not| (not.start..not.end).contains(&at));
    let tokens: Vec<Token> = tokens.into_iter().filter(|token| kept(token.start)).collect();
    let mut cuts = cuts(request, &tokens, &spans);
    for not in &negated {
        // What is not to be done may still name what the rest is done to.
        let mut from = not.start;
        for span in spans.iter().filter(|span| span.start >= not.start && span.end <= not.end) {
            cuts.push(Cut { start: from, end: span.start, force: Force::Soft });
            from = span.end;
        }
        cuts.push(Cut { start: from, end: not.end, force: Force::Soft });
    }
    cuts.retain(|cut| cut.start < cut.end);
    cuts.sort_by_key(|cut| (cut.start, std::cmp::Reverse(cut.end)));
    let mut reached = 0;
    cuts.retain(|cut| {
        let after = cut.start >= reached;
        reached = reached.max(cut.end);
        after
    });
    cuts.truncate(MOST_CUTS);
    let mut parts: Vec<Part> = Vec::new();
    let mut from = 0;
    let mut join = Join::Start;
    for cut in cuts.iter().copied().chain([Cut { start: request.len(), end: request.len(), force: Force::Sentence }]) {
        let part = Part::new(request, from..cut.start, join, &tokens, &spans, index);
        if !part.is_empty() {
            parts.push(part);
            join = cut.force.join();
        } else if rank(cut.force.join()) > rank(join) {
            join = cut.force.join();
        }
        from = cut.end;
    }
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(before) if before.goes_on_with(&part, index) => before.extend(part, &tokens),
            Some(_) => merged.push(part),
            None => merged.push(part.first()),
        }
    }
    // "Too loud, make it quieter": what is wrong is no order beside the one that mends it.
    if merged.len() > 1 && merged.iter().any(|part| !is_complaint(part)) {
        merged.retain(|part| !is_complaint(part));
    }
    in_order(&mut merged);
    let count = merged.len();
    let clauses = merged
        .into_iter()
        .enumerate()
        .map(|(at, part)| {
            let tokens = strip_order(part.tokens);
            // "When Ann is back, translate it": it tells when, and asks nothing.
            let comma = request.get(part.end..).is_some_and(|rest| rest.trim_start().starts_with([',', '，']));
            let when = tokens.first().is_some_and(|token| matches!(token.lower.as_str(), "when" | "когда" | "当"));
            let waits = when && comma && at + 1 < count;
            let asked = request.get(part.end..).is_some_and(|rest| rest.trim_start().starts_with(['?', '？']));
            Clause {
                start: part.start,
                end: part.end,
                join: part.join,
                question: (asked || !waits) && is_question(&tokens, asked),
                pointers: resources::pointers(&tokens),
                tokens,
                spans: part.spans,
            }
        })
        .collect();
    Reading { clauses, spans, excluded }
}

/// "Too loud", "it's too dark".
fn is_complaint(part: &Part) -> bool {
    const LONGEST: usize = 3;
    let opens = |token: &&Token| data::BEFORE_COMPLAINTS.has(&token.lower);
    let told: Vec<&Token> = part.tokens.iter().skip_while(opens).collect();
    let too = told.first().is_some_and(|token| matches!(token.lower.as_str(), "too" | "слишком" | "太"));
    too && told.len() <= LONGEST && part.spans.is_empty()
}

/// Puts first what is to be done first: "before you describe it, turn it", "read it after translating it".
fn in_order(parts: &mut [Part]) {
    for at in 1..parts.len() {
        let (Some(one), Some(two)) = (parts.get(at - 1), parts.get(at)) else { break };
        if two.join == Join::And && (one.comes_after_next() || two.comes_before_last()) {
            let joins = (one.join, Join::Then);
            parts.swap(at - 1, at);
            if let Some(first) = parts.get_mut(at - 1) {
                first.join = joins.0;
            }
            if let Some(second) = parts.get_mut(at) {
                second.join = joins.1;
            }
        }
    }
}

/// A text without any order is to be summed up.
fn to_summarise(article: Span) -> Reading {
    let at = article.start;
    let tokens = words::tokens("summarise").into_iter().map(|token| Token { start: at, end: at, ..token }).collect();
    let clause = Clause {
        start: at,
        end: at,
        join: Join::Start,
        tokens,
        spans: vec![article.clone()],
        pointers: Pointers::default(),
        question: false,
    };
    Reading { clauses: vec![clause], spans: vec![article], excluded: Vec::new() }
}

fn rank(join: Join) -> u8 {
    match join {
        Join::Start => 0,
        Join::And => 1,
        Join::Sentence => 2,
        Join::Then => 3,
    }
}

#[cfg(test)]
mod tests;
