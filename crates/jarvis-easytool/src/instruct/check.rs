//! Whether arguments are what an API takes, and whether a description lists every API: shared by all who write or use
//! instructions.

use indexmap::IndexMap;
use jarvis_catalogue::openapi::{ArgumentFault, Schema, SchemaKind};
use jarvis_prompt::literal::Literal;

use crate::instructions::Guideline;

/// What is wrong with arguments by a guideline: a required one missing, a name that it does not have, a value that cannot
/// be converted to the type. Nothing when they are as they should be.
pub fn check_example(guideline: &Guideline, arguments: &IndexMap<String, Literal>) -> Vec<ArgumentFault> {
    let required = guideline.required_parameters.iter().map(|one| (one, true));
    let optional = guideline.optional_parameters.iter().map(|one| (one, false));
    let declared: Vec<(&str, bool, Schema)> = required
        .chain(optional)
        .map(|(one, required)| (one.name.as_str(), required, parameter_schema(&one.kind)))
        .collect();
    faults(declared.iter().map(|(name, required, schema)| (*name, *required, schema)), arguments)
}

pub(super) fn faults<'a>(
    declared: impl Iterator<Item = (&'a str, bool, &'a Schema)> + Clone,
    arguments: &IndexMap<String, Literal>,
) -> Vec<ArgumentFault> {
    let mut faults = Vec::new();
    for (name, _, _) in declared.clone().filter(|(name, required, _)| *required && !arguments.contains_key(*name)) {
        faults.push(ArgumentFault::Missing { name: name.to_owned() });
    }
    for (name, argument) in arguments {
        match declared.clone().find(|(known, _, _)| known == name) {
            Some((_, _, schema)) => {
                if let Err(reason) = schema.accept(&argument.to_json()) {
                    faults.push(ArgumentFault::Wrong { name: name.clone(), reason });
                }
            }
            None => faults.push(ArgumentFault::Unknown {
                name: name.clone(),
                known: declared.clone().map(|(known, _, _)| known.to_owned()).take(40).collect(),
            }),
        }
    }
    faults
}

/// What a type's word allows, in whatever case and language of programming; an unknown word allows anything.
pub fn parameter_schema(word: &str) -> Schema {
    let word = word.trim().to_ascii_lowercase();
    let first = word.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let kind = match first {
        "string" | "str" | "text" | "char" | "date" | "time" | "datetime" | "enum" | "geopoint" | "file" | "binary"
        | "uuid" | "url" | "email" | "choose" => SchemaKind::Text,
        "integer" | "int" | "long" | "int32" | "int64" => SchemaKind::Integer,
        "number" | "float" | "double" | "decimal" | "numeric" => SchemaKind::Number,
        "boolean" | "bool" => SchemaKind::Boolean,
        "array" | "list" | "tuple" | "set" => SchemaKind::List,
        "object" | "dict" | "map" | "json" => SchemaKind::Object,
        _ => SchemaKind::Any,
    };
    Schema { kind, ..Schema::default() }
}

/// The functions that a description lists, in its order: what follows `1.`, `2.`, … each with the words after its name.
///
/// # Errors
/// When a number of the list is followed by no known name, a name stands there twice or not at all, or the count that is
/// told is another. In words that a model can act on.
pub fn check_listing<'a>(description: &str, names: &[&'a str]) -> Result<Vec<(&'a str, String)>, String> {
    let mut listed: Vec<(&str, &str)> = Vec::new();
    let mut rest = description;
    let mut faults = Vec::new();
    for number in 1..=names.len() + 1 {
        let Some((before, after)) = at_number(rest, number) else {
            break;
        };
        if let Some((_, words)) = listed.last_mut() {
            *words = before;
        }
        let bare = after.trim_start_matches(|c: char| c.is_whitespace() || "'\"`*‘“«".contains(c));
        let fits = |name: &&&str| bare.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        match names.iter().filter(fits).max_by_key(|name| name.len()) {
            Some(name) => {
                rest = bare.get(name.len()..).unwrap_or_default();
                listed.push((name, rest));
            }
            None => {
                let word: String = bare.chars().take(40).collect();
                faults.push(format!("number {number} of the list is `{word}`, which is no function of the tool"));
                rest = bare;
            }
        }
    }
    for name in names {
        match listed.iter().filter(|(one, _)| one == name).count() {
            1 => {}
            0 => faults.push(format!("the list lacks the function `{name}`")),
            count => faults.push(format!("the list has the function `{name}` {count} times")),
        }
    }
    if let Some(told) = told_count(description).filter(|told| *told != names.len()) {
        faults.push(format!("the description says that there are {told} functions, but there are {}", names.len()));
    }
    if !faults.is_empty() {
        return Err(faults.into_iter().take(8).collect::<Vec<_>>().join("; "));
    }
    let clean = |words: &str| {
        let words = words.trim_start_matches(|c: char| "'\"`*’”»".contains(c)).trim();
        let words = words.trim_start_matches([':', '-', '–', '—']).trim_start();
        let words = words.strip_prefix("is to ").or_else(|| words.strip_prefix("is used to ")).unwrap_or(words);
        words.trim().trim_end_matches([';', ',', '.']).to_owned()
    };
    Ok(listed.into_iter().map(|(name, words)| (name, clean(words))).collect())
}

fn at_number(text: &str, number: usize) -> Option<(&str, &str)> {
    let mut from = 0;
    let marks = [format!("{number}. "), format!("{number}) "), format!("{number}.\t")];
    loop {
        let rest = text.get(from..)?;
        let at = marks.iter().filter_map(|mark| rest.find(mark.as_str()).map(|at| (at, mark.len()))).min()?;
        let (start, end) = (from + at.0, from + at.0 + at.1);
        let before = text.get(..start)?;
        // A number in a sentence follows a word; one of a list follows a line's start or a sign.
        let head = before.trim_end_matches([' ', '(', '*', '\t']);
        if !before.ends_with(|c: char| c.is_alphanumeric())
            && (head.is_empty() || head.ends_with(['\n', ':', '.', ';', ',', ')']))
        {
            return Some((before, text.get(end..)?));
        }
        from = end;
    }
}

fn told_count(description: &str) -> Option<usize> {
    let lower = description.to_lowercase();
    let at = lower.find("this tool has ")?;
    let rest = lower.get(at + "this tool has ".len()..)?;
    let (count, after) = rest.split_once(' ')?;
    ["function", "api", "tool"].iter().any(|word| after.starts_with(word)).then(|| count.parse().ok())?
}
