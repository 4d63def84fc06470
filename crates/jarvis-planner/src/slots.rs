//! Slots: values for named parameters, found in a clause by type, by the words beside them, and by meaning of the name.

use std::sync::LazyLock;

use jarvis_plan::{Param, Tool};
use regex::Regex;
use serde_json::Value;

use crate::clauses::{Clause, strip_polite};
use crate::resources::SpanKind;
use crate::words::{self, slice};

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A calendar day.
    Date,
    /// A time of day.
    Time,
    /// A number, with or without a currency sign.
    Number,
    /// An e-mail address.
    Email,
    /// A web address.
    Url,
    /// A file name or path.
    Path,
    /// Text in quotation marks, or after a colon.
    Quote,
    /// Other words: a name, or what stands after "from", "about" and the like.
    Words,
}

/// A value found in a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it looks like.
    pub shape: Shape,
    /// The value as written.
    pub text: String,
    /// Where it starts in the request, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// The word before it, in lower case, when that word introduces it ("from", "about", "named").
    pub cue: String,
    /// Stems of the few words before it.
    pub before: Vec<String>,
}

fn pattern(text: &str) -> Regex {
    // Literal patterns; the tests compile each of them.
    #[allow(clippy::expect_used)]
    Regex::new(text).expect("the pattern is valid")
}

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?xi)\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b | \b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b
        | \d{4}年\d{1,2}月\d{1,2}[日号] | \d{1,2}月\d{1,2}[日号] | 今天|明天|后天|下周[一二三四五六日]?
        | \b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?\ \d{1,2}(?:st|nd|rd|th)?(?:,?\ \d{4})?\b
        | \b\d{1,2}(?:st|nd|rd|th)?\ (?:of\ )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:,?\ \d{4})?\b
        | \b\d{1,2}\ (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)(?:\ \d{4})?\b
        | \b(?:today|tomorrow|tonight|(?:next|this)\ (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month|weekend)|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b
        | \b(?:сегодня|завтра|послезавтра|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье)\b",
    )
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?|\b(?:noon|midnight|полдень|полночь)\b|\d{1,2}点(?:\d{1,2}分|半)?",
    )
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[$€£¥₽]?\d[\d,]*(?:\.\d+)?%?"));

/// Words that introduce a value.
const CUES: &[&str] = &[
    "from",
    "to",
    "in",
    "at",
    "on",
    "for",
    "about",
    "with",
    "by",
    "of",
    "named",
    "called",
    "titled",
    "entitled",
    "saying",
    "says",
    "that",
    "as",
    "into",
    "via",
    "using",
    "between",
    "until",
    "regarding",
    "из",
    "в",
    "на",
    "для",
    "о",
    "об",
    "про",
    "с",
    "со",
    "от",
    "до",
    "к",
    "под",
    "через",
    "по",
    "от",
    "从",
    "到",
    "去",
    "在",
    "给",
    "关于",
    "用",
    "为",
    "至",
    "飞",
];

/// Every value of a clause, in the order written.
pub fn find(clause: &Clause, request: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for span in &clause.spans {
        let shape = match span.what {
            SpanKind::Email => Shape::Email,
            SpanKind::Url => Shape::Url,
            SpanKind::Path => Shape::Path,
            SpanKind::Quote | SpanKind::Payload => Shape::Quote,
        };
        add(&mut found, clause, shape, span.text.clone(), span.start, span.end);
    }
    let text = clause.text(request);
    for (regex, shape) in [(&*DATE, Shape::Date), (&*TIME, Shape::Time), (&*NUMBER, Shape::Number)] {
        for hit in regex.find_iter(text) {
            let value = hit.as_str().trim_end_matches([',', '.']);
            let start = clause.start + hit.start();
            add(&mut found, clause, shape, value.to_owned(), start, start + value.len());
        }
    }
    phrases(&mut found, clause, request);
    found.sort_by_key(|value| value.start);
    found
}

fn add(found: &mut Vec<Found>, clause: &Clause, shape: Shape, text: String, start: usize, end: usize) {
    if start >= end || found.iter().any(|other| other.start < end && start < other.end) {
        return;
    }
    let before: Vec<_> = clause.tokens.iter().filter(|token| token.end <= start).collect();
    let near = before.iter().rev().take(4);
    let cue = before
        .iter()
        .rev()
        .take(3)
        .take_while(|token| token.start + 24 > start)
        .find(|token| CUES.contains(&token.lower.as_str()))
        .map_or_else(String::new, |token| token.lower.clone());
    found.push(Found { shape, text, start, end, cue, before: near.map(|token| token.stem.clone()).collect() });
}

/// What stands after an introducing word, up to the next one; and runs of capitalised words.
fn phrases(found: &mut Vec<Found>, clause: &Clause, request: &str) {
    let taken =
        |found: &[Found], start: usize, end: usize| found.iter().any(|other| other.start < end && start < other.end);
    let tokens = &clause.tokens;
    // "I want to …": what comes before the order itself holds no values.
    let mut at = tokens.len() - strip_polite(tokens).len();
    while let Some(cue) = tokens.get(at) {
        at += 1;
        let capital = at > 1 && starts_upper(slice(request, cue.start, cue.end));
        let is_cue = CUES.contains(&cue.lower.as_str());
        if !is_cue && !capital {
            continue;
        }
        let mut from = if is_cue { at } else { at - 1 };
        while is_cue && tokens.get(from).is_some_and(|token| token.is_determiner()) {
            from += 1;
        }
        let mut to = from;
        while let Some(token) = tokens.get(to) {
            let breaks = to > from && {
                let gap = tokens.get(to - 1).map_or("", |before| slice(request, before.end, token.start));
                gap.contains([',', '，', '、', ';', '(', ')', '"', '“', '«'])
            };
            let stop = CUES.contains(&token.lower.as_str()) && !(token.lower == "of" && to > from);
            let limit = if token.is_han() { 8 } else { 6 };
            if breaks
                || stop
                || taken(found, token.start, token.end)
                || to - from >= limit
                || (!is_cue && !starts_upper(slice(request, token.start, token.end)))
            {
                break;
            }
            to += 1;
        }
        if let (Some(first), Some(last)) = (tokens.get(from), to.checked_sub(1).and_then(|last| tokens.get(last)))
            && from < to
        {
            let text = slice(request, first.start, last.end).to_owned();
            add(found, clause, Shape::Words, text, first.start, last.end);
            at = to;
        }
    }
}

fn starts_upper(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

/// Values for those of `params` that something in the clause fits, each value used once.
pub fn fill(tool: &Tool, params: &[&Param], clause: &Clause, request: &str) -> Vec<(String, String)> {
    let found = find(clause, request);
    let mut fits: Vec<(f32, usize, usize)> = Vec::new();
    for (p, param) in params.iter().enumerate() {
        for (v, value) in found.iter().enumerate() {
            let fit = fit(tool, param, value);
            if fit > 0.0 {
                fits.push((fit, p, v));
            }
        }
    }
    fits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut values: Vec<Option<String>> = vec![None; params.len()];
    let mut used = vec![false; found.len()];
    for (p, param) in params.iter().enumerate() {
        if let Some(slot) = values.get_mut(p) {
            *slot = by_schema(param, clause, request);
        }
    }
    for (fit, p, v) in fits {
        let (Some(param), Some(slot), Some(taken), Some(value)) =
            (params.get(p), values.get_mut(p), used.get_mut(v), found.get(v))
        else {
            continue;
        };
        let least = if param.required { 0.3 } else { 0.55 };
        if slot.is_none() && !*taken && fit >= least {
            *slot = Some(written(param, &value.text));
            *taken = true;
        }
    }
    params.iter().zip(values).filter_map(|(param, value)| Some((param.name.clone(), value?))).collect()
}

/// An enumerated value that the clause speaks, or a yes where a flag's own name is spoken.
fn by_schema(param: &Param, clause: &Clause, request: &str) -> Option<String> {
    let schema = param.schema.as_ref()?;
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        let text = clause.text(request).to_lowercase();
        let stems: Vec<&str> = clause.tokens.iter().map(|token| token.stem.as_str()).collect();
        return options.iter().filter_map(Value::as_str).find_map(|option| {
            let lower = option.to_lowercase();
            let spoken = words::stems(&words::spell_out(&lower));
            let said = !spoken.is_empty() && spoken.iter().all(|word| stems.contains(&word.as_str()));
            (said || (!lower.is_ascii() && text.contains(&lower))).then(|| option.to_owned())
        });
    }
    if schema.get("type").and_then(Value::as_str) == Some("boolean") {
        let words = words::stems(&words::spell_out(&param.name));
        return words
            .iter()
            .all(|word| clause.tokens.iter().any(|token| token.stem == *word))
            .then(|| "true".to_owned());
    }
    None
}

/// A value as the parameter wants it written: numbers without signs and thousands separators.
fn written(param: &Param, text: &str) -> String {
    if wanted(param) == Some(Shape::Number) {
        return text.trim_start_matches(['$', '€', '£', '¥', '₽']).replace(',', "");
    }
    text.to_owned()
}

/// The shape a parameter asks for; `None` when any will do.
pub fn wanted(param: &Param) -> Option<Shape> {
    let schema = param.schema.as_ref();
    let text = |key: &str| {
        schema.and_then(|schema| schema.get(key)).and_then(Value::as_str).unwrap_or_default().to_lowercase()
    };
    let (kind, format) = (text("type"), text("format"));
    match (kind.as_str(), format.as_str()) {
        (_, "date" | "date-time") | ("date", _) => return Some(Shape::Date),
        (_, "time") | ("time", _) => return Some(Shape::Time),
        (_, "email" | "idn-email") | ("email", _) => return Some(Shape::Email),
        (_, "uri" | "url" | "iri") | ("url", _) => return Some(Shape::Url),
        ("integer" | "number" | "float" | "int", _) => return Some(Shape::Number),
        _ => {}
    }
    let words = words::stems(&words::spell_out(&param.name));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&["date", "day", "deadlin", "birthday"]) {
        Some(Shape::Date)
    } else if has(&["time", "hour"]) {
        Some(Shape::Time)
    } else if has(&["email", "mail"]) {
        Some(Shape::Email)
    } else if has(&["url", "link", "websit", "uri"]) {
        Some(Shape::Url)
    } else if has(&["number", "amount", "count", "price", "quantiti", "year", "age", "limit", "phone", "durat"]) {
        Some(Shape::Number)
    } else {
        None
    }
}

/// Names of parameters and the introducing words that their values stand after.
const CUE_NAMES: &[(&[&str], &[&str])] = &[
    (&["from", "origin", "sourc", "departur", "sender", "start"], &["from", "из", "от", "从", "с", "со"]),
    (
        &["to", "destin", "recipi", "arriv", "receiv", "address", "target", "end"],
        &["to", "into", "в", "на", "к", "до", "для", "到", "去", "给", "飞", "至"],
    ),
    (&["locat", "citi", "place", "countri", "venu", "hotel"], &["in", "at", "to", "в", "на", "из", "在", "for"]),
    (&["date", "day"], &["on", "for", "at", "на"]),
    (&["time"], &["at", "в"]),
    (
        &["topic", "queri", "subject", "keyword", "about", "search"],
        &["about", "for", "on", "regarding", "о", "об", "про", "关于"],
    ),
    (&["titl", "name", "label"], &["named", "called", "titled", "entitled", "as", "под"]),
    (&["bodi", "messag", "content", "text", "comment", "note"], &["saying", "says", "that", "with"]),
    (&["person", "contact", "user", "friend", "guest", "doctor"], &["with", "to", "for", "by", "с", "для"]),
    (
        &["platform", "websit", "app", "tool", "softwar", "method", "servic", "languag"],
        &["on", "via", "using", "in", "from", "at", "через", "в", "на", "用"],
    ),
];

fn fit(tool: &Tool, param: &Param, value: &Found) -> f32 {
    let name = words::stems(&words::spell_out(&param.name));
    let mut score = match (wanted(param), value.shape) {
        (Some(want), shape) if want == shape => 0.6,
        (Some(Shape::Date), Shape::Time) | (Some(Shape::Time), Shape::Date) => 0.1,
        (Some(Shape::Url), Shape::Path | Shape::Quote) => 0.35,
        (Some(Shape::Url), Shape::Words) => 0.15,
        (Some(Shape::Number | Shape::Date | Shape::Time | Shape::Email), Shape::Quote) => 0.1,
        (Some(_), _) => return 0.0,
        (None, Shape::Quote) => 0.35,
        (None, Shape::Words) => 0.2,
        (None, Shape::Email)
            if name.iter().any(|word| matches!(word.as_str(), "to" | "recipi" | "contact" | "address" | "receiv")) =>
        {
            0.5
        }
        (None, Shape::Path | Shape::Url)
            if name
                .iter()
                .any(|word| matches!(word.as_str(), "file" | "path" | "document" | "attach" | "imag" | "packag")) =>
        {
            0.5
        }
        (None, Shape::Email | Shape::Url | Shape::Path) => 0.1,
        (None, Shape::Number) => 0.12,
        (None, Shape::Date | Shape::Time) => 0.05,
    };
    for (names, cues) in CUE_NAMES {
        if cues.contains(&value.cue.as_str()) && name.iter().any(|word| names.contains(&word.as_str())) {
            score += 0.35;
            break;
        }
    }
    // "the movie 'Up'", "an amount of 500": the parameter's own name stands before the value.
    if name.iter().any(|word| value.before.contains(word)) {
        score += 0.3;
    }
    // Half of that for the words that explain it, unless the tool's own name holds them.
    let tool_words = words::stems(&words::spell_out(&tool.name));
    let meaning = words::stems(&param.description);
    if value.before.iter().any(|word| word.len() > 3 && meaning.contains(word) && !tool_words.contains(word)) {
        score += 0.12;
    }
    score
}

#[cfg(test)]
mod tests;
