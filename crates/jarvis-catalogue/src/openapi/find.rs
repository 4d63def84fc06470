//! Which operation a name or a request means.

use percent_encoding::percent_decode_str;

use super::operation::placeholders;
use super::{ApiDocument, Operation};

#[derive(Debug, Clone, PartialEq)]
pub enum Found<'a> {
    /// This operation, with the values of its placeholders, decoded.
    Operation(&'a Operation, Vec<(String, String)>),
    OtherMethods(Vec<&'a str>),
    Nothing,
}

impl ApiDocument {
    /// The operation that a name means: `GET /movie/{movie_id}`, whatever the placeholder is called, or its `operationId`.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        let name = name.trim();
        if let Some(found) = self.operations.iter().find(|one| one.id == name && !name.is_empty()) {
            return Some(found);
        }
        let (method, path) = name.split_once(char::is_whitespace)?;
        let wanted = anonymous(path.trim());
        let fits = |one: &&Operation| one.method.eq_ignore_ascii_case(method) && anonymous(&one.path) == wanted;
        self.operations.iter().find(fits)
    }

    /// What a request for a method and a path means; the path as on the wire, without the address of the API. Of several
    /// that fit, the one with the most fixed segments, from the left.
    pub fn find(&self, method: &str, path: &str) -> Found<'_> {
        let mut methods: Vec<&str> = Vec::new();
        let mut best: Option<(Vec<bool>, Found<'_>)> = None;
        for operation in &self.operations {
            let Some(values) = matched(&operation.path, path) else {
                continue;
            };
            if operation.method != method {
                methods.push(&operation.method);
                continue;
            }
            let fixed: Vec<bool> = segments(&operation.path).map(|segment| !segment.contains('{')).collect();
            if best.as_ref().is_none_or(|(other, _)| *other < fixed) {
                best = Some((fixed, Found::Operation(operation, values)));
            }
        }
        match best {
            Some((_, found)) => found,
            None if methods.is_empty() => Found::Nothing,
            None => Found::OtherMethods(methods),
        }
    }
}

/// A path whose placeholders have no names.
fn anonymous(path: &str) -> String {
    placeholders(path).into_iter().fold(path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), "{}"))
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.trim_matches('/').split('/')
}

fn matched(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let mut values = Vec::new();
    let mut parts = segments(path);
    for wanted in segments(template) {
        let part = percent_decode_str(parts.next()?).decode_utf8().ok()?;
        segment(wanted, &part, &mut values)?;
    }
    parts.next().is_none().then_some(values)
}

/// Fits one segment, in which a placeholder may stand between fixed texts.
fn segment(mut wanted: &str, part: &str, values: &mut Vec<(String, String)>) -> Option<()> {
    let mut rest = part;
    while let Some((before, after)) = wanted.split_once('{') {
        rest = rest.strip_prefix(before)?;
        let (name, after) = after.split_once('}')?;
        let fixed = after.split('{').next().expect("a split has a first part");
        // The last placeholder takes all but the end, another up to the next fixed text.
        let end = match (fixed.is_empty(), after.contains('{')) {
            (true, _) => rest.len(),
            (false, true) => rest.find(fixed)?,
            (false, false) => rest.len().checked_sub(fixed.len()).filter(|_| rest.ends_with(fixed))?,
        };
        let value = rest.get(..end).filter(|value| !value.is_empty())?;
        values.push((name.to_owned(), value.to_owned()));
        rest = rest.get(end..)?;
        wanted = after;
    }
    (rest == wanted).then_some(())
}
