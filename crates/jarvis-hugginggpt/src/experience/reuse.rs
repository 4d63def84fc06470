//! A plan from before with the values of a new request, without a model: where the new request says the same words and only values are
//! others.
//!
//! Every value of the plan must stand in the old request. The old request without its values is a pattern, which the new one must fit
//! in exactly one way; what then stands in a value's place is the new value. So a word more or less, such as a "not", is no fit.

use std::collections::HashSet;
use std::sync::LazyLock;

use jarvis_plan::{Arg, Draft, Note, Piece, Plan, Request, TaskId, pattern};
use regex::Regex;
use serde_json::{Number, Value};

use super::entry::{AttachedFile, attached};
use super::{Entry, Known, Remembered};

/// How many of the most alike requests are tried.
const TRIED: usize = 10;
/// Longer requests are planned anew.
const LONGEST: usize = 2_000;

/// How a plan from before was made one of a new request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reused {
    pub(crate) id: String,
    pub(crate) likeness: f32,
    /// What was asked then.
    pub(crate) request: String,
    pub(crate) draft: Draft,
}

impl Known {
    /// The plans that fit a request with other values, the most alike first. A plan that a person rated as bad is none of them.
    pub(crate) fn reusable(&self, request: &Request, tools: &HashSet<&str>) -> Vec<Reused> {
        if !request.history.is_empty() || request.is_of_a_protocol() || request.text.len() > LONGEST {
            return Vec::new();
        }
        let at_hand = |one: &Remembered| one.entry.tools.iter().all(|tool| tools.contains(tool.as_str()));
        let refused: Vec<Plan> = self.bad.iter().filter_map(|one| carried(&one.entry, request)).collect();
        let found = self.similar(&request.text, TRIED, at_hand).into_iter();
        let reused = found.filter_map(|(likeness, one)| {
            let plan = carried(&one.entry, request).filter(|plan| !refused.contains(plan))?;
            let mut draft = Draft::from(&plan);
            draft.notes.push(Note::from(format!(
                "planned as in run {}, whose request differs in its values alone; no model was asked",
                one.id
            )));
            Some(Reused { id: one.id.clone(), likeness, request: one.entry.request.clone(), draft })
        });
        reused.collect()
    }
}

/// The plan with the values of another request; `None` where one of them cannot be told for certain.
fn carried(entry: &Entry, request: &Request) -> Option<Plan> {
    let new = attached(request);
    let kinds = |files: &[AttachedFile]| files.iter().map(|file| file.kind).collect::<Vec<_>>();
    if entry.follows || !entry.is_whole() || entry.request.len() > LONGEST || kinds(&entry.attachments) != kinds(&new) {
        return None;
    }
    let mut literals = Vec::new();
    for arg in entry.plan.tasks().iter().flat_map(|task| task.args.values()) {
        told(arg, &mut literals)?;
    }
    let file = |literal: &str| entry.attachments.iter().position(|file| !file.arg.is_empty() && file.arg == literal);
    literals.retain(|literal| file(literal).is_none());
    literals.sort_unstable();
    literals.dedup();
    let (old_text, new_text) = (placed(&entry.request, &entry.attachments), placed(&request.text, &new));
    let values = Values { old: &literals, new: fit(&old_text, &literals, &new_text)? };
    let replace = |literal: &str| match file(literal) {
        Some(at) => new.get(at).map(|file| file.arg.clone()),
        None => values.of(literal),
    };
    let mut tasks = entry.plan.tasks().to_vec();
    for arg in tasks.iter_mut().flat_map(|task| task.args.values_mut()) {
        *arg = put(arg, &replace)?;
    }
    Plan::restored(tasks, Vec::new(), false).ok()
}

/// Values of the old request with those of the new one.
struct Values<'a> {
    old: &'a [String],
    new: Vec<String>,
}

impl Values<'_> {
    fn of(&self, literal: &str) -> Option<String> {
        let at = self.old.iter().position(|old| old == literal)?;
        self.new.get(at).cloned()
    }
}

/// Adds the values of an argument; `None` where one of them is neither text nor a number.
fn told(arg: &Arg, into: &mut Vec<String>) -> Option<()> {
    match arg {
        Arg::Value(value) => in_value(value, into),
        Arg::Text(pieces) => pieces.iter().try_for_each(|piece| match piece {
            // A separator is no value.
            Piece::Text(text) if !text.contains(char::is_alphanumeric) => Some(()),
            Piece::Text(text) => {
                into.push(text.trim().to_owned());
                Some(())
            }
            Piece::Output(_) | Piece::Part(..) => Some(()),
        }),
        Arg::List(items) => items.iter().try_for_each(|item| told(item, into)),
        Arg::Object(fields) => fields.values().try_for_each(|field| told(field, into)),
    }
}

fn in_value(value: &Value, into: &mut Vec<String>) -> Option<()> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => {
            into.push(text.trim().to_owned());
            Some(())
        }
        Value::Number(number) => {
            into.push(number.to_string());
            Some(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| in_value(item, into)),
        Value::Object(fields) => fields.values().try_for_each(|field| in_value(field, into)),
        Value::Bool(_) | Value::Null => None,
    }
}

/// An argument with other values.
fn put(arg: &Arg, replace: &dyn Fn(&str) -> Option<String>) -> Option<Arg> {
    Some(match arg {
        Arg::Value(value) => Arg::Value(put_value(value, replace)?),
        Arg::Text(pieces) => {
            let piece = |piece: &Piece<TaskId>| match piece {
                Piece::Text(text) if text.contains(char::is_alphanumeric) => {
                    let said = text.trim();
                    Some(Piece::Text(text.replacen(said, &replace(said)?, 1)))
                }
                Piece::Text(_) | Piece::Output(_) | Piece::Part(..) => Some(piece.clone()),
            };
            Arg::text(pieces.iter().map(piece).collect::<Option<Vec<_>>>()?)
        }
        Arg::List(items) => Arg::list(items.iter().map(|item| put(item, replace)).collect::<Option<_>>()?),
        Arg::Object(fields) => {
            let field = |(name, field): (&String, &Arg)| Some((name.clone(), put(field, replace)?));
            Arg::object(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}

fn put_value(value: &Value, replace: &dyn Fn(&str) -> Option<String>) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(replace(text.trim())?),
        // A whole number stays one.
        Value::Number(number) => {
            let new: Number = serde_json::from_str(&replace(&number.to_string())?).ok()?;
            Value::Number(Some(new).filter(|new| new.is_f64() == number.is_f64())?)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| put_value(item, replace)).collect::<Option<Vec<_>>>()?)
        }
        Value::Object(fields) => {
            let field = |(name, field): (&String, &Value)| Some((name.clone(), put_value(field, replace)?));
            Value::Object(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Value::Bool(_) | Value::Null => return None,
    })
}

/// Where a file stands in a text: from here on, a character for each.
const FILES: u32 = 0xE000;

/// The text with a character of its own for each attached file, wherever its path or name stands.
fn placed(text: &str, files: &[AttachedFile]) -> String {
    let mut text: String = text.chars().filter(|c| !('\u{E000}'..='\u{F8FF}').contains(c)).collect();
    for (at, file) in files.iter().enumerate() {
        let mark = u32::try_from(at).ok().and_then(|at| char::from_u32(FILES + at)).unwrap_or('\u{F8FF}').to_string();
        for name in std::iter::once(file.arg.as_str()).chain(file.name.as_deref()).filter(|name| name.len() > 2) {
            text = text.replace(name, &mark);
        }
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Text in quotes.
    Quoted,
    /// A path, an address, the name of a file.
    Name,
    /// Digits: a number, a date, a time.
    Number,
    Word,
    /// A file that came with the request.
    File,
    Mark,
}

#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    shape: Shape,
    start: usize,
    end: usize,
    text: &'t str,
}

static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?x)
        (?P<quoted>"[^"\n]+"|“[^”\n]+”|«[^»\n]+»|「[^」\n]+」|\B'[^'\n]+'\B)
        |(?P<file>[\u{E000}-\u{F8FF}])
        |(?P<name>[a-z]+://[^\s"'<>]*[^\s"'<>.,;:!?)]|[\w.~%+-]*[/@\\][\w./~%@\\+-]*[\w/]|[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{1,4}\b)
        |(?P<number>[+-]?\d+(?:[.,:/-]\d+)*%?)
        |(?P<word>[\u{3400}-\u{9FFF}]|[\w][\w’'-]*)
        |(?P<mark>[^\s\w])"#,
    )
});

fn tokens(text: &str) -> Vec<Token<'_>> {
    let shapes = [
        ("quoted", Shape::Quoted),
        ("file", Shape::File),
        ("name", Shape::Name),
        ("number", Shape::Number),
        ("word", Shape::Word),
        ("mark", Shape::Mark),
    ];
    let token = |captures: regex::Captures<'_>| {
        let (shape, found) = shapes.into_iter().find_map(|(name, shape)| Some((shape, captures.name(name)?)))?;
        let text = text.get(found.start()..found.end())?;
        Some(Token { shape, start: found.start(), end: found.end(), text })
    };
    let mut tokens: Vec<Token<'_>> = TOKENS.captures_iter(text).filter_map(token).collect();
    let is_polite = |token: &Token<'_>| {
        matches!(token.text, "." | "!" | "。" | "！" | ",")
            || ["please", "kindly", "пожалуйста", "请"].contains(&token.text.to_lowercase().as_str())
    };
    // Neither how a request begins nor how it ends makes it another.
    let begins = tokens.iter().take_while(|token| is_polite(token)).count();
    tokens.drain(..begins);
    while tokens.last().is_some_and(is_polite) {
        tokens.pop();
    }
    tokens
}

impl<'t> Token<'t> {
    /// What stands within its quotes.
    fn inner(&self) -> &'t str {
        let mut chars = self.text.chars();
        match self.shape {
            Shape::Quoted => {
                chars.next();
                chars.next_back();
                chars.as_str()
            }
            _ => self.text,
        }
    }

    fn is_same(&self, other: &Token<'_>) -> bool {
        self.text == other.text || self.text.to_lowercase() == other.text.to_lowercase()
    }
}

/// A part of the pattern.
#[derive(Debug)]
enum Part<'t> {
    Fixed(Token<'t>),
    Value {
        /// Which of the values.
        which: usize,
        /// The tokens that it was.
        was: Vec<Token<'t>>,
        /// Whether it was what stands within quotes.
        inner: bool,
    },
}

/// The values of the new text, in the order of those of the old one; `None` unless there is exactly one way to see them.
fn fit(old: &str, values: &[String], new: &str) -> Option<Vec<String>> {
    let parts = parts(old, values)?;
    let (new_tokens, mut found) = (tokens(new), Vec::new());
    let mut steps = MOST_STEPS;
    let so_far = vec![None; values.len()];
    search(&parts, &new_tokens, new, so_far, &mut found, &mut steps);
    match found.as_slice() {
        [only] if steps > 0 => only.iter().cloned().collect(),
        _ => None,
    }
}

/// The most ways that are looked at.
const MOST_STEPS: usize = 20_000;

/// The old text as fixed words and values. Each value must stand in it, and none in another.
fn parts<'t>(old: &'t str, values: &[String]) -> Option<Vec<Part<'t>>> {
    let tokens = tokens(old);
    // For each token that begins a value: which, how many tokens, and whether within quotes.
    let mut begins: Vec<Option<(usize, usize, bool)>> = vec![None; tokens.len()];
    let mut taken = vec![false; tokens.len()];
    for (which, value) in values.iter().enumerate() {
        let mut stands = false;
        for (at, token) in tokens.iter().enumerate() {
            let inner = token.shape == Shape::Quoted && token.inner().trim() == value;
            let whole = || {
                old.get(token.start..)
                    .filter(|rest| rest.starts_with(value.as_str()))
                    .map(|_| token.start + value.len())
            };
            let length = match inner {
                true => 1,
                false => match whole() {
                    Some(end) => match tokens.iter().skip(at).position(|token| token.end == end) {
                        Some(last) => last + 1,
                        None => continue,
                    },
                    None => continue,
                },
            };
            stands = true;
            for place in taken.iter_mut().skip(at).take(length) {
                if std::mem::replace(place, true) {
                    return None;
                }
            }
            *begins.get_mut(at)? = Some((which, length, inner));
        }
        if !stands {
            return None;
        }
    }
    let (mut parts, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        match begins.get(at).copied().flatten() {
            Some((which, length, inner)) => {
                parts.push(Part::Value { which, was: tokens.get(at..at + length)?.to_vec(), inner });
                at += length;
            }
            None => {
                parts.push(Part::Fixed(*token));
                at += 1;
            }
        }
    }
    Some(parts)
}

/// Adds every way in which the tokens fit the pattern, up to two of them.
fn search(
    parts: &[Part<'_>],
    tokens: &[Token<'_>],
    text: &str,
    so_far: Vec<Option<String>>,
    found: &mut Vec<Vec<Option<String>>>,
    steps: &mut usize,
) {
    *steps = steps.saturating_sub(1);
    if *steps == 0 || found.len() > 1 {
        return;
    }
    match parts.split_first() {
        None if tokens.is_empty() && !found.contains(&so_far) => found.push(so_far),
        None => {}
        Some((Part::Fixed(fixed), rest)) => {
            if let Some((token, others)) = tokens.split_first()
                && fixed.is_same(token)
            {
                search(rest, others, text, so_far, found, steps);
            }
        }
        Some((Part::Value { which, was, inner }, rest)) => {
            for length in 1..=tokens.len().min(was.len() + LONGER) {
                let (here, others) = tokens.split_at(length);
                let Some(value) = value(was, *inner, here, text) else { continue };
                let known = so_far.get(*which).and_then(Option::as_ref);
                if known.is_some_and(|known| *known != value) {
                    continue;
                }
                let mut so_far = so_far.clone();
                if let Some(place) = so_far.get_mut(*which) {
                    *place = Some(value);
                }
                search(rest, others, text, so_far, found, steps);
            }
        }
    }
}

/// How many words more a name may have: "New York City" for "Rome".
const LONGER: usize = 2;

/// Words that join another order to one, or turn it around.
const TURNS: [&str; 38] = [
    "and",
    "then",
    "but",
    "or",
    "not",
    "no",
    "none",
    "nothing",
    "nobody",
    "nowhere",
    "don't",
    "dont",
    "without",
    "except",
    "also",
    "after",
    "before",
    "if",
    "unless",
    "instead",
    "only",
    "и",
    "а",
    "но",
    "или",
    "потом",
    "затем",
    "не",
    "без",
    "если",
    "кроме",
    "также",
    "和",
    "并",
    "然",
    "不",
    "别",
    "再",
];

/// What these tokens give in the place of others, if they can stand there.
fn value(was: &[Token<'_>], inner: bool, here: &[Token<'_>], text: &str) -> Option<String> {
    let (first, last) = (here.first()?, here.last()?);
    if let [old] = was
        && old.shape != Shape::Word
    {
        let [token] = here else { return None };
        let fits = token.shape == old.shape;
        return fits.then(|| if inner { token.inner().trim() } else { token.text }.to_owned());
    }
    let is_name = here.iter().all(|token| token.text.starts_with(char::is_uppercase));
    let has = |shape: Shape| was.iter().any(|token| token.shape == shape);
    let had = |token: &Token<'_>| was.iter().any(|old| old.is_same(token));
    let fits = |token: &Token<'_>| match token.shape {
        Shape::Word => {
            let lower = token.text.to_lowercase();
            had(token) || !TURNS.contains(&lower.as_str()) && !jarvis_planner::is_small_word(&lower)
        }
        Shape::Mark => had(token),
        Shape::Quoted | Shape::Name | Shape::Number => has(token.shape),
        Shape::File => false,
    };
    // In the place of a name stands a name: not "him" for Bob, nor "summer" for Rome.
    let was_name = was.iter().all(|token| token.text.starts_with(char::is_uppercase));
    if (here.len() > was.len() || was_name) && !is_name || !here.iter().all(fits) {
        return None;
    }
    text.get(first.start..last.end).map(str::to_owned)
}
