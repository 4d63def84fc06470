//! Arguments of one call: media by kind, text by the part it plays, named values by [`crate::slots`].

use indexmap::IndexMap;
use jarvis_plan::{Arg, DraftRef, Kind, Param, Tool};
use serde_json::Value;

use super::{Linker, StepContext, Thing, place, wording};
use crate::candidate::Step;
use crate::clauses::Clause;
use crate::lexicon::Nature;
use crate::resources::SpanKind;
use crate::retrieval::is_address;
use crate::slots;
use crate::words;
use crate::words::grammar::is_outcome;

pub(super) type Args = IndexMap<String, Arg<DraftRef>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What is worked on: things that are at hand, made before, or quoted.
    Content,
    /// One of several texts worked on together.
    Numbered,
    /// The clause's own words: a question or an instruction.
    Words,
    /// What something new should show or say.
    Subject,
    /// The text worked on, with the clause's own words before it.
    Instructed,
    Slot,
}

fn part(tool: &Tool, param: &Param, step: &Step) -> Part {
    let name = words::stems(&words::spell_out(&param.name));
    let is = |list: &[&str]| name.last().is_some_and(|word| list.contains(&word.as_str()));
    let others = || tool.params.iter().filter(|other| other.name != param.name);
    if param.schema.is_some() {
        return Part::Slot;
    }
    if param.name.ends_with(|c: char| c.is_ascii_digit()) && param.name.starts_with("text") {
        return Part::Numbered;
    }
    if is(&["context", "passag", "document", "articl", "sourc", "content"]) {
        return Part::Content;
    }
    if is(&["question", "queri", "instruct", "prompt"]) && (is(&["question", "instruct"]) || others().next().is_some())
    {
        return Part::Words;
    }
    if !is(&["text", "input", "sentenc", "prompt", "script", "queri"]) {
        return Part::Slot;
    }
    let media = others().any(|other| other.required && other.kind.is_media());
    let holds_context = others().any(|other| {
        words::stems(&other.name).iter().any(|word| matches!(word.as_str(), "context" | "passag" | "document"))
    });
    let meaning = words::stems(&param.description);
    let says = |word: &str| meaning.iter().any(|other| other == word);
    match step.nature() {
        // A picture drawn along another still needs a subject.
        Some(Nature::Create) if tool.gives(Kind::Text) => Part::Words,
        Some(Nature::Create) => Part::Subject,
        _ if media || holds_context => Part::Words,
        Some(Nature::Make | Nature::Edit) if says("instruct") || says("languag") => Part::Instructed,
        _ => Part::Content,
    }
}

/// The arguments of each call that the step needs: one call, or one for each thing worked on.
pub(super) fn fill(linker: &mut Linker<'_>, cx: StepContext<'_>, tool: &Tool) -> Vec<Args> {
    let step = cx.step;
    let numbered: Vec<&Param> =
        tool.params.iter().filter(|param| is_plain(param) && part(tool, param, step) == Part::Numbered).collect();
    let mut columns: Vec<(String, Vec<Arg<DraftRef>>)> = Vec::new();
    let mut paired = false;
    if numbered.len() >= 2 {
        let mut texts = several_texts(linker.bind(cx, Kind::Text));
        if texts.len() == 1 {
            let others = linker.others(cx, Kind::Text, &texts);
            texts.splice(0..0, others.into_iter().take(1));
        }
        if texts.len() >= 2 || numbered.iter().any(|param| param.required) {
            for (param, text) in numbered.iter().zip(&texts) {
                columns.push((param.name.clone(), vec![text.arg()]));
            }
            paired = true;
        }
    }
    let mut slots: Vec<&Param> = Vec::new();
    let mut by_kind: Vec<(Kind, Vec<&Param>)> = Vec::new();
    for param in &tool.params {
        if paired && param.kind != Kind::Image && !param.required {
            continue;
        }
        if is_plain(param) {
            match part(tool, param, step) {
                Part::Numbered => {}
                Part::Slot => slots.push(param),
                part => {
                    if let Some(arg) = text(linker, cx, param, part) {
                        columns.push((param.name.clone(), arg));
                    }
                }
            }
        } else {
            match by_kind.iter_mut().find(|(kind, _)| *kind == param.kind) {
                Some((_, params)) => params.push(param),
                None => by_kind.push((param.kind, vec![param])),
            }
        }
    }
    for (kind, params) in by_kind {
        media(linker, cx, kind, &params, &mut columns);
    }
    named(linker, cx.clause, tool, &slots, &mut columns);
    rows(tool, columns)
}

fn is_plain(param: &Param) -> bool {
    param.kind == Kind::Text || (param.kind == Kind::Json && param.schema.is_some())
}

fn media(
    linker: &mut Linker<'_>,
    cx: StepContext<'_>,
    kind: Kind,
    params: &[&Param],
    columns: &mut Vec<(String, Vec<Arg<DraftRef>>)>,
) {
    if !params.iter().any(|param| param.required) && kind == Kind::Json {
        return;
    }
    let wanted = params.iter().filter(|param| param.required).count();
    let unnamed = !cx.own.iter().chain(cx.inner).any(|thing| thing.is(kind));
    let pointed = cx.clause.pointers.pronoun || cx.clause.pointers.each;
    let together = (wanted > 1 && unnamed && pointed).then(|| linker.latest(cx.at, kind, wanted..=params.len()));
    let mut things = together.flatten().unwrap_or_else(|| linker.bind(cx, kind));
    if things.is_empty() && params.iter().any(|param| param.required) {
        things = linker.bridge(cx, kind);
    }
    // "Join the result with b.png": what is not named is what was made before.
    if !things.is_empty() && things.len() < wanted {
        let others = linker.others(cx, kind, &things);
        let missing = wanted - things.len();
        things.splice(0..0, others.into_iter().take(missing).collect::<Vec<_>>().into_iter().rev());
        // What the request names stands in the order in which it does.
        things.sort_by_cached_key(|thing| linker.named_at(thing));
    }
    if params.len() > 1 {
        things.sort_by_cached_key(|thing| place::said(cx.clause, thing, linker.request));
    }
    if !params.iter().any(|param| is_address(&param.name)) {
        things = linker.fetched(things, kind);
    }
    if let [param] = params {
        columns.push((param.name.clone(), things.iter().map(Thing::arg).collect()));
        return;
    }
    for (nth, param) in params.iter().enumerate() {
        let column: Vec<Arg<DraftRef>> = things.iter().skip(nth).step_by(params.len()).map(Thing::arg).collect();
        columns.push((param.name.clone(), column));
    }
}

fn text(linker: &mut Linker<'_>, cx: StepContext<'_>, param: &Param, part: Part) -> Option<Vec<Arg<DraftRef>>> {
    let StepContext { at, clause, step, own, inner } = cx;
    let request = &linker.request.text;
    match part {
        Part::Words => {
            // "… using the generated topics as the script".
            if !clause.question
                && own.iter().all(|thing| !thing.is(Kind::Text))
                && let Some(made) = linker.referred(at, clause, Kind::Text)
            {
                return args_of(&made);
            }
            let words = wording::words(clause, request);
            // "Write a poem about b.jpg": what the new text is about goes with the order.
            if step.nature() == Some(Nature::Create) && !own.is_empty() && !words.is_empty() {
                let about = content(linker, cx, param, false);
                if let Some(thing) = about.first() {
                    return Some(vec![thing.arg().after(&format!("{words}: "))]);
                }
            }
            (!words.is_empty()).then(|| vec![Arg::literal(words)])
        }
        Part::Subject => {
            if own.is_empty()
                && let Some(made) = linker.referred(at, clause, Kind::Text)
            {
                return args_of(&made);
            }
            let subject = wording::lettering(clause, request, step).or_else(|| wording::rest(clause, request, step));
            if own.is_empty()
                && let Some(subject) = &subject
                && let Some(made) = linker.meant(at, subject)
            {
                return args_of(&made);
            }
            if !inner.iter().any(|thing| thing.is(Kind::Text))
                && let Some(subject) = subject
                && !(clause.pointers.result && own.is_empty())
            {
                return Some(vec![Arg::literal(subject)]);
            }
            let things = content(linker, cx, param, false);
            args_of(&things)
        }
        Part::Instructed => {
            let instruction = wording::instruction(clause, request);
            let things = content(linker, cx, param, true);
            (!things.is_empty()).then(|| {
                let with_instruction = |thing: &Thing| {
                    if instruction.is_empty() {
                        return thing.arg();
                    }
                    thing.arg().after(&format!("{instruction}: "))
                };
                things.iter().map(with_instruction).collect()
            })
        }
        Part::Content | Part::Numbered | Part::Slot => {
            let mut things = content(linker, cx, param, true);
            if part == Part::Content && !is_address(&param.name) {
                things = linker.fetched(things, Kind::Text);
            }
            args_of(&things)
        }
    }
}

/// A quotation of so few words belongs to the question around it.
const SHORT_QUOTE: usize = 3;

fn content(linker: &mut Linker<'_>, cx: StepContext<'_>, param: &Param, own_words: bool) -> Vec<Thing> {
    let StepContext { clause, step, own, inner, .. } = cx;
    let own_media = own.iter().any(|thing| Kind::ALL.into_iter().any(|kind| kind.is_media() && thing.is(kind)));
    let own_text = own.iter().any(|thing| thing.is(Kind::Text));
    let made = inner.iter().any(|thing| thing.is(Kind::Text));
    if own_media && !own_text && !made && param.required {
        let bridged = linker.bridge(cx, Kind::Text);
        if !bridged.is_empty() {
            return bridged;
        }
    }
    let mut things = linker.bind(cx, Kind::Text);
    // "Read the summary aloud": of what the turn before made, the last.
    let told = |thing: &Thing| linker.request.results.iter().any(|text| thing.is_text(text));
    if things.len() > 1 && things.iter().all(told) && (0..clause.tokens.len()).any(|at| is_outcome(&clause.tokens, at))
    {
        things.drain(..things.len() - 1);
    }
    // "How often does 'the' occur in notes.txt": the file is asked about, the quote belongs to the question.
    if step.nature() == Some(Nature::Ask) && clause.spans.iter().any(|span| span.what == SpanKind::Path) {
        let quotes = || clause.spans.iter().filter(|span| matches!(span.what, SpanKind::Quote | SpanKind::Payload));
        let is_quoted = |thing: &Thing| quotes().any(|quote| thing.is_text(&quote.text));
        if things.iter().any(|thing| !is_quoted(thing)) {
            things.retain(|thing| !is_quoted(thing));
        }
    }
    // The same where the file is attached and not named: a word or two in quotes are no text to search.
    let is_short = |thing: &Thing| {
        let mut quotes = clause.spans.iter().filter(|span| span.what == SpanKind::Quote);
        quotes.any(|quote| thing.is_text(&quote.text) && quote.text.split_whitespace().count() <= SHORT_QUOTE)
    };
    if step.nature() == Some(Nature::Ask) && param.name != "text" && things.iter().all(is_short) {
        let attached: Vec<Thing> = linker.attachments.iter().filter(|thing| thing.is(Kind::Text)).cloned().collect();
        if !attached.is_empty() {
            things = attached;
        }
    }
    if things.is_empty() {
        things = linker.bind(cx, Kind::Json);
    }
    // What is said in a recording or stands on a picture is nearer than the order's own words.
    if things.is_empty() && (param.required || step.nature() == Some(Nature::Ask)) && linker.holds_text(cx) {
        things = linker.bridge(cx, Kind::Text);
    }
    if things.is_empty()
        && own_words
        && let Some(rest) = wording::rest(clause, &linker.request.text, step)
    {
        // "Read that aloud, slowly": no words to speak, and what was made last is meant; of several texts the last one.
        if !wording::may_be_spoken(clause, step, &rest) {
            let texts = linker.last.iter().filter(|thing| thing.is(Kind::Text)).rev();
            let several = clause.pointers.each || clause.pointers.pronoun;
            let mut last: Vec<Thing> = texts.take(if several { usize::MAX } else { 1 }).cloned().collect();
            last.reverse();
            return if last.is_empty() { linker.bridge(cx, Kind::Text) } else { last };
        }
        things.push(Thing::Given { kind: Kind::Text, text: rest });
    }
    if things.is_empty() && param.required {
        things = linker.bridge(cx, Kind::Text);
    }
    things
}

fn args_of(things: &[Thing]) -> Option<Vec<Arg<DraftRef>>> {
    (!things.is_empty()).then(|| things.iter().map(Thing::arg).collect())
}

/// One text that holds two, cut in two where it is plainly made of them.
fn several_texts(things: Vec<Thing>) -> Vec<Thing> {
    let [Thing::Given { text, .. }] = things.as_slice() else { return things };
    for border in ["\n", " | ", "; ", "；", " / ", ". ", "。", " vs "] {
        let parts: Vec<&str> = text.split(border).map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.len() == 2 {
            return parts.into_iter().map(|text| Thing::Given { kind: Kind::Text, text: text.to_owned() }).collect();
        }
    }
    things
}

/// Named values; a text that is to be passed on may be what the clause before made.
fn named(
    linker: &Linker<'_>,
    clause: &Clause,
    tool: &Tool,
    params: &[&Param],
    columns: &mut Vec<(String, Vec<Arg<DraftRef>>)>,
) {
    let mut values = slots::fill(tool, params, clause, &linker.request.text);
    for param in params {
        let name = words::stems(&words::spell_out(&param.name));
        let passes_on = name.iter().any(|word| {
            matches!(word.as_str(), "bodi" | "messag" | "content" | "text" | "comment" | "note" | "summari")
        });
        let given = values.iter().position(|(name, _)| *name == param.name);
        let text = linker.last.iter().find(|thing| thing.is(Kind::Text));
        if passes_on
            && (clause.pointers.pronoun || clause.pointers.result || given.is_none() && param.required)
            && let Some(thing) = text
        {
            if let Some(given) = given {
                values.remove(given);
            }
            columns.push((param.name.clone(), vec![thing.arg()]));
        }
    }
    for (name, value) in values {
        columns.push((name, vec![Arg::literal(value)]));
    }
}

/// Columns of values to rows of arguments: as many calls as the longest column, shorter ones repeating their last value.
fn rows(tool: &Tool, columns: Vec<(String, Vec<Arg<DraftRef>>)>) -> Vec<Args> {
    let calls = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(1);
    (0..calls)
        .map(|call| {
            let mut args = Args::new();
            // In the order in which the tool declares them.
            for param in &tool.params {
                if let Some((name, values)) = columns.iter().find(|(name, _)| *name == param.name)
                    && let Some(value) = values.get(call).or(values.last())
                {
                    args.insert(name.clone(), typed(param, value.clone()));
                }
            }
            args
        })
        .collect()
}

/// A literal as the type that the parameter's schema asks for: a list is its items as the person enumerated them, a number
/// what the digits say.
fn typed(param: &Param, arg: Arg<DraftRef>) -> Arg<DraftRef> {
    let (Some(schema), Some(Value::String(text))) = (&param.schema, arg.as_value()) else { return arg };
    match param.takes_list() {
        true => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let parts = text.split([',', '，', '、', ';', '；']).map(str::trim).filter(|part| !part.is_empty());
            Arg::Value(parts.map(|part| scalar(part, items)).collect())
        }
        false => Arg::Value(scalar(text, schema)),
    }
}

fn scalar(text: &str, schema: &Value) -> Value {
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    match serde_json::from_str(&text.trim().to_lowercase()) {
        Ok(number @ Value::Number(_)) if ["integer", "number"].contains(&wanted) => number,
        Ok(flag @ Value::Bool(_)) if wanted == "boolean" => flag,
        Ok(_) | Err(_) => Value::String(text.to_owned()),
    }
}
