//! Wording: what of a clause's own words becomes an argument: a question, an instruction, what to draw or say.

use std::ops::Range;

use crate::candidate::Step;
use crate::clauses::Clause;
use crate::data;
use crate::lexicon;
use crate::resources::{SpanKind, is_file_noun};
use crate::words::grammar::{is_question_word, strip_polite};
use crate::words::{self, Token, is_language, slice};

/// The clause as a question or instruction: its own words and quotations, without paths, addresses, what ties them in,
/// and what is polite only.
pub(crate) fn words(clause: &Clause, request: &str) -> String {
    if let Some(question) = clause.quoted_question() {
        return question.text.clone();
    }
    let mut text = join(clause, request, &own(clause, request), true);
    if clause.question && !text.is_empty() {
        let mark = request.get(clause.end..).and_then(|rest| rest.trim_start().chars().next());
        if let Some(mark) = mark.filter(|mark| matches!(mark, '?' | '？')) {
            text.push(mark);
        }
    }
    text
}

/// The clause's own words, without what ties paths and addresses in.
fn own(clause: &Clause, request: &str) -> Vec<Token> {
    let asked = asked(clause, request);
    let lies = in_the_folder(asked);
    let kept = asked.iter().enumerate().filter(|(at, _)| !lies.contains(at)).map(|(_, token)| token);
    let dropped = |at: &Token| {
        // Joints right before or after a path go with it.
        clause.spans.iter().filter(|span| is_place(span.what)).any(|span| {
            let between = |from: usize, to: usize| {
                clause.tokens.iter().filter(|t| t.start >= from && t.end <= to).all(|t| data::JOINTS.has(&t.lower))
            };
            (at.end <= span.start
                && data::JOINTS.has(&at.lower)
                && between(at.end, span.start)
                && !slice(request, at.end, span.start).contains([',', '，']))
                || (at.is_han()
                    && at.start >= span.end
                    && "中里的上这张图片".contains(&at.lower)
                    && between(span.end, at.start))
        })
    };
    kept.filter(|token| !dropped(token)).cloned().collect()
}

/// The clause's words from where the question itself begins.
fn asked<'a>(clause: &'a Clause, request: &str) -> &'a [Token] {
    let tokens = strip_polite(&clause.tokens);
    if !clause.question {
        return tokens;
    }
    let begins = (1..tokens.len()).find(|at| {
        let (Some(before), Some(token)) = (tokens.get(at - 1), tokens.get(*at)) else { return false };
        let apart = slice(request, before.end, token.start).contains([',', '，', ':', '：']);
        is_question_word(token) && (apart || matches!(before.lower.as_str(), "me" | "know" | "скажи" | "узнать"))
    });
    begins.and_then(|at| tokens.get(at..)).unwrap_or(tokens)
}

/// The order of a clause, without what it is about: "Translate into French".
pub(crate) fn instruction(clause: &Clause, request: &str) -> String {
    let order = own(clause, request);
    let object_first = order.first().is_some_and(|token| matches!(token.lower.as_str(), "把" | "将"));
    let text = join(clause, request, order.get(usize::from(object_first)..).unwrap_or_default(), false);
    text.trim_end_matches([':', '：', ',', ' ']).to_owned()
}

/// The words that tell where all of the files lie: "every picture *in the folder*", "*文件夹里的*每张图片". Where something is
/// saved they may tell where to, and what else lies in a folder may be in the picture: they stay.
fn in_the_folder(order: &[Token]) -> Range<usize> {
    let any = |is: &dyn Fn(&Token) -> bool| order.iter().any(is);
    if any(&|token| data::SAVING_VERBS.has(&token.lower)) {
        return 0..0;
    }
    let begins_all = |at: usize| {
        let said = |at: usize| order.get(at).map_or("", |token| token.lower.as_str());
        data::EACH_WORDS.has(said(at))
            || order.get(at).is_some_and(is_question_word)
            || (said(at), said(at + 1)) == ("所", "有")
    };
    let Some(each) = (0..order.len()).find(|at| begins_all(*at)) else { return 0..0 };
    if order.get(each).is_some_and(Token::is_han) {
        return folder_before(order, each);
    }
    let Some(folder) = order.iter().position(|token| data::FOLDER_STEMS.has(&token.stem)) else { return 0..0 };
    let before = |place: usize| order.iter().take(place).rposition(|token| !token.is_determiner());
    let tie = before(folder).filter(|tie| order.get(*tie).is_some_and(|token| data::FOLDER_TIES.has(&token.lower)));
    let lies = tie.and_then(|tie| tie.checked_sub(1)).is_some_and(|before| is_file_noun(order, before));
    match tie.filter(|tie| lies && each < *tie) {
        Some(tie) => tie..folder + 1,
        None => 0..0,
    }
}

/// "在文件夹里的每", without 每.
fn folder_before(order: &[Token], each: usize) -> Range<usize> {
    let before = order.get(..each).unwrap_or_default();
    let ties = before.iter().rev().take_while(|token| data::FOLDER_TIES_HAN.has(&token.lower)).count();
    let end = each - ties;
    let named = data::FOLDER_HAN.words().find_map(|folder| {
        let start = end.checked_sub(folder.chars().count())?;
        let said: String = order.get(start..end)?.iter().map(|token| token.lower.as_str()).collect();
        (said == folder).then_some(start)
    });
    let Some(start) = named.filter(|_| ties > 0) else { return 0..0 };
    let leads = start.checked_sub(1).filter(|lead| order.get(*lead).is_some_and(|token| token.lower == "在"));
    leads.unwrap_or(start)..each
}

/// What is left of a clause without the words that chose its tool; `None` when that names nothing.
pub(crate) fn rest(clause: &Clause, request: &str, step: &Step) -> Option<String> {
    let polite = clause.tokens.len() - strip_polite(&clause.tokens).len();
    let start = step.words.iter().copied().min().map_or(polite, |first| first.min(polite));
    let mut kept: Vec<Token> = Vec::new();
    let lettered = step.concept.is_some_and(|id| lexicon::concept(id).name == "lettering");
    let mut skip_language = false;
    for (at, token) in clause.tokens.iter().enumerate() {
        if step.until.is_some_and(|until| at >= until) {
            break;
        }
        // "a picture of": the article goes with the words that chose the tool.
        let article = matches!(token.lower.as_str(), "a" | "an" | "the" | "new") && step.words.contains(&(at + 1));
        // "a poster of a cat": what kind of picture it is belongs to the subject.
        let kind = lettered && step.words.iter().min() != Some(&at);
        let chosen = (step.words.contains(&at) && !kind) || at < start || (article && !lettered);
        let next_language = clause.tokens.get(at + 1).is_some_and(is_language);
        let ties_language = next_language && matches!(token.lower.as_str(), "into" | "to" | "in" | "на" | "по");
        let han_language = token.is_han()
            && (matches!(token.lower.as_str(), "成" | "为")
                && clause.tokens.get(at + 2).is_some_and(|t| matches!(t.lower.as_str(), "文" | "语")));
        if han_language {
            skip_language = true;
        }
        let skipped = skip_language || ties_language || (is_language(token) && at > 0);
        if token.is_han() && skip_language && matches!(token.lower.as_str(), "文" | "语") {
            skip_language = false;
        }
        if !chosen && !skipped {
            kept.push(token.clone());
        }
    }
    while kept.last().is_some_and(|token| token.lower == "的") {
        kept.pop();
    }
    if step.until.is_some() {
        // "a castle using the …": what ties in the other request goes too.
        while kept.last().is_some_and(|token| data::TYING.has(&token.lower) || data::JOINTS.has(&token.lower)) {
            kept.pop();
        }
    }
    while kept.first().is_some_and(|token| is_hollow(token) || data::BEFORE_CONTENT.has(&token.lower))
        && kept.len() > 1
        && !starts_content(&kept)
    {
        kept.remove(0);
    }
    let telling = kept.iter().any(|token| !is_hollow(token));
    let generic = kept.iter().find(|token| !token.is_determiner()).is_none_or(is_generic);
    if !telling || generic {
        return None;
    }
    Some(join(clause, request, &kept, true)).filter(|text| !text.is_empty())
}

/// Whether what is left of a clause may be words to speak: behind a verb of saying, and neither a reference nor only how it is
/// to be spoken. For steps that do something else it is theirs anyway.
pub(crate) fn may_be_spoken(clause: &Clause, step: &Step, rest: &str) -> bool {
    if step.concept.is_none_or(|id| lexicon::concept(id).name != "speaking") {
        return true;
    }
    let said = words::tokens(rest);
    let points = said.first().is_some_and(|token| data::POINTING_FIRST.has(&token.lower));
    let style_only = said.iter().all(|token| data::STYLE_WORDS.has(&token.lower) || is_hollow(token));
    let says = clause.tokens.iter().any(|token| data::SAYING_VERBS.has(&token.lower));
    let han = said.iter().any(Token::is_han);
    !style_only && (han || !points && (says || !is_read(clause)))
}

/// Whether the clause orders reading, which needs something to read.
fn is_read(clause: &Clause) -> bool {
    clause.tokens.iter().any(|token| data::READING_VERBS.has(&token.lower))
}

/// The words alone that a title card or poster is to bear; `None` when it is to show more than words, or when the step
/// makes something else.
pub(crate) fn lettering(clause: &Clause, request: &str, step: &Step) -> Option<String> {
    if step.concept.is_none_or(|id| lexicon::concept(id).name != "lettering") {
        return None;
    }
    let noun = step.words.iter().max().and_then(|last| clause.tokens.get(*last))?;
    let after: Vec<&Token> = clause.tokens.iter().filter(|token| token.start >= noun.end).collect();
    let bears =
        |token: &Token| data::LETTERING.has(&token.lower) || (token.is_han() && data::LETTERING_HAN.has(&token.lower));
    let written = clause.spans.iter().find(|span| matches!(span.what, SpanKind::Quote | SpanKind::Payload));
    if let Some(written) = written {
        return after.iter().all(|token| bears(token) || is_hollow(token)).then(|| written.text.clone());
    }
    let cue = after.iter().position(|token| data::LETTERING_CUES.has(&token.lower))?;
    let (before, spoken) = after.split_at(cue + 1);
    let (first, last) = (spoken.first()?, spoken.last()?);
    let only = before.iter().all(|token| bears(token) || is_hollow(token));
    only.then(|| slice(request, first.start, last.end).to_owned())
}

/// An article right before a telling word belongs to the content: "a cat".
fn starts_content(kept: &[Token]) -> bool {
    let article =
        kept.first().is_some_and(|token| matches!(token.lower.as_str(), "a" | "an" | "the" | "two" | "one" | "一"));
    article && kept.get(1).is_some_and(|token| !is_hollow(token) && !data::BEFORE_CONTENT.has(&token.lower))
}

pub(crate) fn is_hollow(token: &Token) -> bool {
    data::CONTENTLESS.has(&token.lower) || (token.is_han() && data::CONTENTLESS_HAN.has(&token.lower))
}

/// A word that stands for a resource, so that what follows only says which.
fn is_generic(token: &Token) -> bool {
    data::GENERIC_STEMS.has(&token.stem)
}

fn is_place(what: SpanKind) -> bool {
    matches!(what, SpanKind::Path | SpanKind::Url)
}

/// The kept words as they stand in the request, with punctuation between neighbours; quotations between them stay when
/// `quotes`.
fn join(clause: &Clause, request: &str, kept: &[Token], quotes: bool) -> String {
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else { return String::new() };
    // "What's" and "Anna's" are read as "what" and "Anna", and stay what they are.
    let whole = |token: &Token| {
        let rest = slice(request, token.end, request.len());
        let ending = words::GENITIVES.into_iter().find(|ending| rest.starts_with(ending));
        (token.start, token.end + ending.map_or(0, str::len))
    };
    let mut pieces: Vec<(usize, usize)> = kept.iter().map(whole).collect();
    if quotes {
        for span in clause.spans.iter().filter(|span| span.what == SpanKind::Quote) {
            let beside = slice(request, last.end, span.start).trim().is_empty();
            if span.start >= first.start && (span.end <= last.end || beside) {
                pieces.push((span.start, span.end));
            }
        }
    }
    pieces.sort_unstable();
    let mut text = String::new();
    let mut before: Option<usize> = None;
    for (start, end) in pieces {
        if let Some(before) = before {
            let gap = slice(request, before, start);
            // Words that were left out of the clause stay out of its text.
            let clean = !gap.contains(char::is_alphanumeric)
                && !clause.spans.iter().any(|span| span.start < start && span.end > before)
                && !clause.tokens.iter().any(|token| token.start >= before && token.end <= start);
            if clean {
                text.push_str(gap);
            } else if gap.contains(char::is_whitespace) {
                text.push(' ');
            }
        }
        text.push_str(slice(request, start, end));
        before = Some(end);
    }
    text.trim().to_owned()
}
