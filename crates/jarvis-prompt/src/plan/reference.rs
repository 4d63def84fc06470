//! References in texts, in the many forms in which models write them.

use std::sync::LazyLock;

use jarvis_plan::{Arg, DraftRef, Fault, FieldPath, Piece, pattern};
use regex::Regex;

use super::labels::{Denoted, Labels, is_whole};

/// What a text is, once its references are found.
pub(super) struct Scanned {
    pub(super) arg: Arg<DraftRef>,
    pub(super) faults: Vec<Fault>,
    /// Whether something was written otherwise than the plan format asks for.
    pub(super) mended: bool,
}

/// Who asks, and where.
pub(super) struct Place<'a> {
    /// The place of the task whose argument it is.
    pub(super) at: usize,
    pub(super) arg: &'a str,
    pub(super) labels: &'a Labels<'a>,
    /// The ids of the tasks by their places.
    pub(super) ids: &'a [i64],
    /// The text of the request: what stands in it is data.
    pub(super) request: &'a str,
    /// Whether `<EACH>` is the element of a list.
    pub(super) in_each: bool,
}

/// Forms that stand for results wherever they are: `<GENERATED>-0`, `<node-0>`, `${0}`, `{{0}}`, `GENERATED-0`, `#E1`,
/// `$task0`, "output of task 0". A path may follow. The last, an opening that nothing closes, is a reference that was damaged.
static ANYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)<<\s*generated\s*>{0,2}\s*[-_]\s*(?P<double>[0-9]+)>{0,2}",
        r"|<\s*generated\s*>\s*[-_–—]?\s*#?(?P<tag>[0-9]+)",
        r"|<\s*generated\s*-\s*(?P<closed>[0-9]+)(?P<inside>[\w.\[\]*]*)\s*>",
        r"|(?P<bare><\s*generated\s*>)",
        r"|\$\{(?P<shell>[^{}\n]{1,80})\}",
        r"|\{\{(?P<template>[^{}\n]{1,80})\}\}",
        r"|<(?P<angle>[^<>\n]{1,60})>(?:-(?P<after>[0-9]+))?",
        r"|\bgenerated[-_](?P<word>[0-9]+)\b",
        r"|#E(?P<evidence>[0-9]+)\b",
        r"|\$(?P<dollar>(?:task|step|node|output|result)[_-]?[0-9]+)\b",
        r"|\b(?P<phrase>(?:the )?(?:output|result|response|caption|text|answer)s? (?:of|from) (?:the )?(?:task|step|node|action) #?[0-9]+)\b(?:\.$)?",
        r"|\b(?P<owned>(?:task|step|node|action)[ _-]?[0-9]+(?:'s|’s)?[ _-](?:output|result|response))\b",
        r"|(?P<open>\{\{\s*(?:tasks?\b|[0-9])|<\s*(?:generated|node|resource)\s*-)",
    ))
});

/// How only references begin, whatever follows.
static OPENING: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^<\s*(?:generated|node|resource)\s*-"));

/// Forms that stand for results only where they are the whole value: `$0`, `$name`, `{name}`, `[name]`.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:\$(?P<dollar>[\w.\[\]-]{1,60})|\{(?P<brace>[^{}\n]{1,60})\}|\[(?P<bracket>[^\[\]\n]{1,60})\])$")
});

/// Numbers by which results are referred to in a text, for [`Labels::count`].
pub(super) fn numbers(text: &str) -> Vec<i64> {
    let within = |name: &str| {
        ANYWHERE
            .captures_iter(text)
            .filter_map(|found| found.name(name))
            .map(|part| part.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    let whole = WHOLE.captures(text.trim()).and_then(|found| found.name("dollar").map(|part| part.as_str().to_owned()));
    ["double", "tag", "closed", "shell", "template", "angle", "after", "word", "evidence", "dollar", "phrase", "owned"]
        .iter()
        .flat_map(|name| within(name))
        .chain(whole)
        .filter_map(|said| {
            let digits: Vec<&str> = said.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
            digits.first()?.parse().ok()
        })
        .collect()
}

/// The only reference among pieces whose words say no more than that it is a result: "the generated text from task 0".
fn only_reference(pieces: &[Piece<DraftRef>]) -> Option<Piece<DraftRef>> {
    const SAYING: [&str; 20] = [
        "the",
        "a",
        "generated",
        "output",
        "result",
        "text",
        "of",
        "from",
        "in",
        "for",
        "task",
        "step",
        "image",
        "picture",
        "description",
        "caption",
        "summary",
        "answer",
        "content",
        "use",
    ];
    let (texts, references): (Vec<_>, Vec<_>) = pieces.iter().partition(|piece| matches!(piece, Piece::Text(_)));
    let said: Vec<String> = texts
        .iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Output(_) | Piece::Part(..) => None,
        })
        .flat_map(|text| text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()))
        .map(str::to_lowercase)
        .collect();
    let is_saying = !said.is_empty() && said.len() <= 8 && said.iter().all(|word| SAYING.contains(&word.as_str()));
    match references.as_slice() {
        [only] if is_saying => Some((*only).clone()),
        _ => None,
    }
}

impl Place<'_> {
    /// Whether something stands in the request as it stands here: then it is data.
    fn is_said(&self, token: &str) -> bool {
        !token.trim().is_empty() && self.request.contains(token.trim())
    }

    /// Finds the references in a text.
    pub(super) fn scan(&self, text: &str) -> Scanned {
        let mut pieces = Vec::new();
        let mut faults = Vec::new();
        let mut mended = false;
        let mut end = 0;
        let whole = text.trim();
        for found in ANYWHERE.captures_iter(text) {
            let all = found.get(0).expect("group 0 is the whole match");
            if all.start() < end || self.is_said(all.as_str()) {
                continue;
            }
            let part = |name: &str| found.name(name).map(|part| part.as_str());
            let is_path = |inside: &str| FieldPath::at_start(inside).1 == inside.len();
            let is_element = part("angle").is_some_and(|said| said.trim().eq_ignore_ascii_case("each"));
            if (is_element && self.in_each) || !part("inside").is_none_or(is_path) {
                continue;
            }
            if part("open").is_some() {
                faults.push(self.unresolved(text));
                continue;
            }
            let number = |name: &str| part(name).and_then(|digits| digits.parse::<i64>().ok());
            let is_canonical = part("tag").is_some() || part("closed").is_some();
            let tagged = number("tag").or_else(|| number("closed")).or_else(|| number("double"));
            let (denoted, must_be_one) = if let Some(number) = tagged {
                (Some(self.labels.number(number, self.at, true)), true)
            } else if part("bare").is_some() {
                // The check binds it to the nearest task that gives what is needed.
                let before = text.get(end..all.start()).expect("matches are in order");
                pieces.push(Piece::Text(before.to_owned()));
                end = all.end();
                let tail = tail(text, end);
                end += tail.len();
                match self.labels.expression(tail.trim_start_matches(['-', '_']), self.at) {
                    Some(denoted) => self.push(denoted, FieldPath::default(), all.as_str(), &mut pieces, &mut faults),
                    None if tail.is_empty() => pieces.push(Piece::Output(DraftRef(None))),
                    None => faults.push(self.unresolved(text)),
                }
                continue;
            } else if let Some(number) = number("word").or_else(|| number("after")) {
                (Some(self.labels.number(number, self.at, true)), true)
            } else if let Some(number) = number("evidence") {
                (Some(self.evidence(number)), true)
            } else if let Some(said) = part("shell").or_else(|| part("template")) {
                (self.labels.expression(said, self.at), true)
            } else if let Some(said) = part("dollar").or_else(|| part("phrase")).or_else(|| part("owned")) {
                (self.labels.expression(said, self.at), false)
            } else {
                let said = part("angle").unwrap_or_default();
                // `<b>` in a text is markup; alone, or with a number, it stands for something.
                let alone = all.as_str() == whole && !said.contains(['/', '@']);
                (self.labels.expression(said, self.at), alone || is_element || OPENING.is_match(all.as_str()))
            };
            let Some(denoted) = denoted else {
                if must_be_one {
                    faults.push(Fault::UnresolvedReference { arg: self.arg.to_owned(), value: quoted(all.as_str()) });
                }
                continue;
            };
            let before = text.get(end..all.start()).expect("matches are in order and end between characters");
            pieces.push(Piece::Text(before.to_owned()));
            end = all.end();
            let (path, length) = match part("inside") {
                Some(inside) => (FieldPath::at_start(inside).0, 0),
                None => FieldPath::at_start(text.get(end..).expect("matches end between characters")),
            };
            end += length;
            let tail = tail(text, end);
            if !tail.is_empty() && is_canonical {
                let word = tail.trim_start_matches(['-', '_']);
                let same = self.labels.expression(word, self.at).is_some_and(|named| named == denoted);
                if !same && !word.split(['-', '_']).all(is_whole) {
                    faults.push(self.unresolved(text));
                }
                end += tail.len();
                mended = true;
            }
            if says_all(text.get(end..).expect("matches end between characters")) {
                end = text.len();
                mended = true;
            }
            mended |= !is_canonical;
            self.push(denoted, path, all.as_str(), &mut pieces, &mut faults);
        }
        if pieces.is_empty()
            && faults.is_empty()
            && !self.is_said(whole)
            && let Some(scanned) = self.whole(whole)
        {
            return scanned;
        }
        pieces.push(Piece::Text(text.get(end..).expect("matches end between characters").to_owned()));
        if let Some(only) = only_reference(&pieces) {
            return Scanned { arg: Arg::text(vec![only]), faults, mended: true };
        }
        Scanned { arg: Arg::text(pieces), faults, mended }
    }

    fn unresolved(&self, text: &str) -> Fault {
        Fault::UnresolvedReference { arg: self.arg.to_owned(), value: quoted(text) }
    }

    /// `#E1` counts from 1, whatever the ids.
    fn evidence(&self, number: i64) -> Denoted {
        match self.labels.expression(&format!("E{number}"), self.at) {
            Some(Denoted::Task(at, path)) if at < self.at => Denoted::Task(at, path),
            _ => match usize::try_from(number - 1).ok().filter(|at| *at < self.at) {
                Some(at) => Denoted::Task(at, FieldPath::default()),
                None => Denoted::Missing(number),
            },
        }
    }

    fn push(
        &self,
        denoted: Denoted,
        behind: FieldPath,
        said: &str,
        pieces: &mut Vec<Piece<DraftRef>>,
        faults: &mut Vec<Fault>,
    ) {
        match denoted {
            Denoted::Task(at, mut path) => {
                path.0.extend(behind.0);
                let path = self.labels.meant(at, path);
                let of = DraftRef(self.ids.get(at).copied());
                pieces.push(if path.is_empty() { Piece::Output(of) } else { Piece::Part(of, path) });
            }
            // The check finds that there is no such task.
            Denoted::Missing(number) => pieces.push(Piece::Output(DraftRef(Some(self.absent(number))))),
            Denoted::Several(places) => {
                let readings = places.iter().filter_map(|at| self.ids.get(*at));
                let readings = readings.map(|id| format!("<GENERATED>-{id}")).collect();
                faults.push(Fault::Ambiguous { arg: self.arg.to_owned(), value: quoted(said), readings });
            }
        }
    }

    /// An id that no task has, for a number that no task has.
    fn absent(&self, number: i64) -> i64 {
        if self.ids.contains(&number) { self.ids.iter().max().map_or(0, |id| id + 1) } else { number }
    }

    /// A whole value that may stand for a result.
    fn whole(&self, text: &str) -> Option<Scanned> {
        let read = |denoted: Denoted| {
            let (mut pieces, mut faults) = (Vec::new(), Vec::new());
            self.push(denoted, FieldPath::default(), text, &mut pieces, &mut faults);
            Scanned { arg: Arg::text(pieces), faults, mended: true }
        };
        if let Some(found) = WHOLE.captures(text) {
            let part = ["dollar", "brace", "bracket"].iter().find_map(|name| found.name(name));
            let said = part.map_or("", |part| part.as_str());
            if let Some(denoted) = self.labels.expression(said, self.at) {
                return Some(read(denoted));
            }
            // Data and amounts of money are no placeholders.
            let is_words = said.chars().any(char::is_alphabetic) && !said.contains(['"', '\'', ',', ':', '=']);
            let fault = Fault::UnresolvedReference { arg: self.arg.to_owned(), value: quoted(text) };
            return is_words.then(|| Scanned { arg: Arg::literal(text), faults: vec![fault], mended: false });
        }
        if text.len() > 80 {
            return None;
        }
        self.labels.word(text, self.at).or_else(|| self.labels.phrase(text, self.at)).map(read)
    }
}

/// The word that goes on where a reference ends, `-t1` of `<GENERATED>-t1`, with the sign before it.
fn tail(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let goes_on = rest.starts_with(['-', '_']) && rest.chars().nth(1).is_some_and(char::is_alphanumeric);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    rest.get(..length).filter(|_| goes_on).unwrap_or_default()
}

/// Whether what stands behind a reference only says that all of it is meant: `'s output`, `(caption)`.
fn says_all(rest: &str) -> bool {
    let rest = rest.trim();
    let owned = rest.strip_prefix("'s ").or_else(|| rest.strip_prefix("’s "));
    let aside = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    owned.or(aside).is_some_and(|word| is_whole(word.trim()))
}

/// The references of a value, each as a value of its own.
pub(super) fn references(arg: &Arg<DraftRef>) -> Vec<Arg<DraftRef>> {
    match arg {
        Arg::Text(pieces) => {
            let is_reference = |piece: &&Piece<DraftRef>| !matches!(piece, Piece::Text(_));
            pieces.iter().filter(is_reference).map(|piece| Arg::text([piece.clone()])).collect()
        }
        Arg::Value(_) | Arg::List(_) | Arg::Object(_) => Vec::new(),
    }
}

/// A value as a message shows it.
pub(super) fn quoted(text: &str) -> String {
    jarvis_plan::schema::shown(&text.into())
}
