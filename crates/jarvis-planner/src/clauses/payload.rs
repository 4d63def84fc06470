//! Payload: unquoted text to work on, told from the order it stands beside.

use std::sync::LazyLock;

use jarvis_plan::{Kind, is_han};
use regex::Regex;

use super::orders::{begins_with_action, names_action, opens_action};
use crate::data;
use crate::lexicon;
use crate::resources::{self, Span, SpanKind};
use crate::retrieval::ToolIndex;
use crate::words::grammar::{is_question_word, strip_polite};
use crate::words::{self, Token, pattern, slice};

static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:^|[\s.?!。？！，])(?:the )?(?:context|text|passage|article|контекст|текст|статья|文本|上下文|原文|文章|正文)\s*[:：]",
    )
});
static QUESTION_LABEL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[\s.?!。？！](?:question|вопрос|问题)\s*[:：]"));
static THEN_SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"[.!?。！？\n]\s*(?:Then|After that|Afterwards|Finally|Затем|Потом|После этого|然后|接着|之后|最后)")
});

/// Text that is plainly longer than an order.
const LONG: usize = 40;

/// The text to work on, when the request holds some outside quotation marks.
pub(super) fn find(request: &str, spans: &[Span], index: &ToolIndex) -> Option<Span> {
    labelled(request, spans).or_else(|| after_colon(request, spans, index)).or_else(|| apart(request, spans, index))
}

/// The weight of a text that is plainly no order: a Chinese character counts 3, another letter 1.
const ARTICLE: usize = 160;

/// The whole request, when it is a long text of several sentences none of which asks for anything.
pub(super) fn article(request: &str, spans: &[Span], index: &ToolIndex) -> Option<Span> {
    let weight: usize = request.chars().map(|c| if is_han(c) { 3 } else { 1 }).sum();
    let borders = sentence_borders(request, spans);
    if weight < ARTICLE
        || borders.len() < 2
        || request.trim_end().ends_with(['?', '？'])
        || spans.iter().any(|span| !matches!(span.what, SpanKind::Quote | SpanKind::Email))
    {
        return None;
    }
    let mut from = 0;
    for to in borders.into_iter().chain([request.len()]) {
        if orders(&unmasked(request, from, to, spans), index) {
            return None;
        }
        from = to;
    }
    span(request, 0, request.len(), &[])
}

/// True when the sentence opens with an order or a question, or with politeness and what may be one.
fn orders(sentence: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(sentence);
    let polite = core.len() < sentence.len() && names_action(sentence, index);
    let opens = core.first().is_some_and(|first| opens_action(first, index) || is_question_word(first));
    let hits = || lexicon::hits(core, |concept| index.serves(concept));
    polite || opens || hits().iter().any(|hit| hit.strong && hit.first() == 0)
}

/// "Context: …", "Text: …".
fn labelled(request: &str, spans: &[Span]) -> Option<Span> {
    // The patterns are expensive to compile, and most requests hold no colon.
    if !request.contains([':', '：']) {
        return None;
    }
    let label = LABEL.find_iter(request).find(|found| !covered(spans, found.start()))?;
    let rest = request.get(label.end()..)?;
    if opens_with_quote(request, label.end(), spans) {
        return None;
    }
    let end = label.end() + QUESTION_LABEL.find(rest).map_or(rest.len(), |found| found.start() + 1);
    span(request, label.end(), end, spans)
}

/// "Summarise: …": an order, a colon, and the text.
fn after_colon(request: &str, spans: &[Span], index: &ToolIndex) -> Option<Span> {
    // An order and its colon stand near the start.
    for (at, colon) in request.char_indices().filter(|(_, c)| matches!(c, ':' | '：')).take(8) {
        let end = at + colon.len_utf8();
        let before = request.get(..at).expect("the colon starts here");
        let after = request.get(end..).expect("the colon ends here");
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if covered(spans, at) || (digit(before.chars().next_back()) && digit(after.chars().next())) {
            continue;
        }
        let from = before.rfind(['.', '!', '?', '。', '！', '？', '\n']).map_or(0, |at| at + 1);
        let order = unmasked(request, from, at, spans);
        let names = |hit: &lexicon::Hit| {
            let row = hit.concepts.first().map(|id| lexicon::concept(*id));
            hit.strong || (hit.first() <= 1 && row.is_some_and(|row| row.name == "lettering"))
        };
        let acts = lexicon::hits(&order, |concept| index.serves(concept)).iter().any(names)
            // "…, and answer: how many are there?"
            && !order.last().is_some_and(|token| matches!(token.lower.as_str(), "answer" | "question" | "ответь" | "вопрос" | "答" | "题"));
        if opens_with_quote(request, end, spans) {
            continue;
        }
        if acts && !spans.iter().any(|span| span.start >= end && span.kind.is_some_and(Kind::is_media)) {
            return span(request, end, end + then_at(after, index), spans);
        }
    }
    None
}

/// True when a quotation is the first thing after that byte: then it is the text, and what follows it is not.
fn opens_with_quote(request: &str, at: usize, spans: &[Span]) -> bool {
    let first = request.get(at..).map(|rest| at + rest.len() - rest.trim_start().len());
    spans.iter().any(|span| span.what == SpanKind::Quote && Some(span.start) == first)
}

/// A paragraph or sentences that give no order, beside an order that points at them.
fn apart(request: &str, spans: &[Span], index: &ToolIndex) -> Option<Span> {
    if spans.iter().any(|span| span.what == SpanKind::Quote || span.kind.is_some_and(Kind::is_media)) {
        return None;
    }
    let borders = sentence_borders(request, spans);
    let (first, last) = (*borders.first()?, *borders.last()?);
    let trimmed = |from: usize, to: usize| slice(request, from, to).trim();
    let points = |from: usize, to: usize| resources::pointers(&unmasked(request, from, to, spans));
    // The order first, the text after it.
    let newline =
        slice(request, 0, first.max(1)).ends_with('\n') || request.get(first..).is_some_and(|r| r.starts_with('\n'));
    let order = unmasked(request, 0, first, spans);
    let rest = unmasked(request, first, request.len(), spans);
    if names_action(&order, index)
        && trimmed(0, first).len() < 200
        && trimmed(first, request.len()).len() >= LONG
        && !begins_with_action(&rest, index)
        && !begins_with_then(&rest)
        && (newline || points(0, first).cataphora)
    {
        return span(request, first, first + then_at(request.get(first..)?, index), spans);
    }
    // The text first, the order at the end.
    let tail = unmasked(request, last, request.len(), spans);
    let head = unmasked(request, 0, last, spans);
    let pointing = points(last, request.len());
    if begins_with_action(&tail, index)
        && !begins_with_action(&head, index)
        && !begins_with_then(&tail)
        && trimmed(0, last).len() >= LONG
        && (pointing.cataphora || pointing.pronoun || slice(request, 0, last).ends_with('\n'))
        && spans.iter().all(|span| span.start >= last || span.what == SpanKind::Email)
    {
        return span(request, 0, last, spans);
    }
    None
}

/// Ends of sentences that another sentence follows, the first and the last of them being what matters.
fn sentence_borders(request: &str, spans: &[Span]) -> Vec<usize> {
    let mut borders = Vec::new();
    let mut letters = request.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, c)| *c);
        let ends = match letter {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        let end = at + letter.len_utf8();
        if ends && !covered(spans, at) && request.get(end..).is_some_and(|rest| !rest.trim().is_empty()) {
            borders.push(end);
        }
    }
    borders
}

/// Where in `after` a new order begins ("Then read it aloud"), else its end.
fn then_at(after: &str, index: &ToolIndex) -> usize {
    THEN_SENTENCE
        .find_iter(after)
        .take(MOST_MARKS)
        .find(|found| {
            after.get(found.end()..).is_some_and(|rest| names_action(&words::tokens(words::head(rest, ORDER)), index))
        })
        .and_then(|found| found.as_str().chars().next().map(|mark| found.start() + mark.len_utf8()))
        .unwrap_or(after.len())
}

/// So many "Then"s in a text are looked behind, and so far, for an order.
const MOST_MARKS: usize = 64;
const ORDER: usize = 300;

fn begins_with_then(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|token| data::THEN_OPENERS.has(&token.lower))
}

fn unmasked(request: &str, from: usize, to: usize, spans: &[Span]) -> Vec<Token> {
    words::tokens(slice(request, from, to))
        .into_iter()
        .map(|token| Token { start: token.start + from, end: token.end + from, ..token })
        .filter(|token| !covered(spans, token.start))
        .collect()
}

fn covered(spans: &[Span], at: usize) -> bool {
    spans.iter().any(|span| span.covers(at))
}

/// The span of the trimmed text between two borders; `None` when nothing is there but other spans.
fn span(request: &str, from: usize, to: usize, spans: &[Span]) -> Option<Span> {
    let text = slice(request, from, to);
    let start = from + (text.len() - text.trim_start().len());
    let text = text.trim();
    let end = start + text.len();
    let letters = |inside: bool| {
        text.char_indices().filter(|(at, c)| c.is_alphanumeric() && covered(spans, start + at) == inside).count()
    };
    // Mostly quotations and paths: those are the resources, and what is between them is not.
    (letters(false) > letters(true) && start < end).then(|| Span {
        start,
        end,
        what: SpanKind::Payload,
        text: text.to_owned(),
        kind: Some(Kind::Text),
    })
}
