//! Own tools and the clauses of a request: a clause that tells more of the call before it is no clause of its own.

use jarvis_plan::Tool;

use super::{Call, Meant, Own, lex};
use crate::clauses::{Clause, Join};
use crate::data;
use crate::words::slice;

/// What a clause of a request is to own tools.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Own(Meant),
    /// It belongs to the call of the clause before it.
    Absorbed,
}

/// What each clause means; `served` says which of them something else can serve.
pub(crate) fn meanings(request: &str, clauses: &[Clause], served: &[bool], own: &[Own], tools: &[Tool]) -> Vec<Part> {
    if own.is_empty() {
        return Vec::new();
    }
    let all = lex::read(request, 0, request.len());
    let read = |start: usize, end: usize| super::read(request, start, end, own, tools, &all);
    let mut parts: Vec<Part> = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        if parts.len() > at {
            continue;
        }
        let mut meant = read(clause.start, clause.end);
        let mut absorbed = 0;
        let mut end = clause.end;
        for (next, clause_after) in clauses.iter().enumerate().skip(at + 1) {
            let Meant::Call(call) = &meant else { break };
            let gap = slice(request, end, clause_after.start).trim();
            let told =
                gap.starts_with([':', '：']) || slice(request, clause.start, end).trim_end().ends_with([':', '：']);
            // "Dr. Weber" is no border of two sentences.
            let last = slice(request, clause.start, end).trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
            let titled = data::TITLES.has(&last.to_lowercase()) && gap.chars().all(|c| c == '.');
            let told = told || titled;
            let other = served.get(next).copied().unwrap_or_default();
            let apart = matches!(clause_after.join, Join::Sentence | Join::Then);
            if !told && (other || apart || !matches!(read(clause_after.start, clause_after.end), Meant::Nothing)) {
                break;
            }
            let whole = read(clause.start, clause_after.end);
            let Meant::Call(longer) = &whole else { break };
            if !tells_more(call, longer) {
                break;
            }
            end = clause_after.end;
            absorbed += 1;
            meant = whole;
        }
        let before = parts.iter().rev().find_map(|part| match part {
            Part::Own(meant) => Some(meant),
            Part::Absorbed => None,
        });
        // "Cancel booking 1 and booking 2": the second is to be cancelled too, and not only shown.
        let hangs = at > 0
            && clause.join == Join::And
            && !led_by_a_verb(&lex::read(request, clause.start, clause.end))
            && matches!((before, &meant), (Some(Meant::Call(before)), Meant::Call(call)) if before.writes && !call.writes);
        parts.push(Part::Own(if hangs { Meant::Nothing } else { meant }));
        parts.extend(std::iter::repeat_n(Part::Absorbed, absorbed));
    }
    parts
}

/// Whether a clause begins with a verb of its own, or with a word that asks.
fn led_by_a_verb(words: &[lex::Word]) -> bool {
    let first = words.iter().find(|word| !word.is("and then also please и а затем 并 然后"));
    first.is_some_and(|word| {
        data::ORDER_VERBS.has(&word.lower)
            || word.is(super::VERBS)
            || word.is(super::ASKS)
            || data::QUESTION_WORDS.has(&word.lower)
    })
}

/// Whether the longer reading is the same call with more arguments, and leaves nothing that the shorter did not.
fn tells_more(call: &Call, longer: &Call) -> bool {
    let count = |call: &Call| call.rows.iter().map(Vec::len).sum::<usize>();
    call.tool == longer.tool
        && longer.left.len() <= call.left.len()
        && longer.strange.len() <= call.strange.len() + 1
        && (count(longer) > count(call) || longer.rows != call.rows)
}
