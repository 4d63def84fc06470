//! Reads a catalogue file: JSON Lines in the format of the original's `p0_models.jsonl`.
//!
//! A line that cannot be used is left out with a note, so that one bad line does not cost a catalogue; a file without
//! a single usable line is an error.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::Host;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Model, cut_description, find};

/// The longest line that is read, in bytes. The longest of the original's file has 66 thousand.
const MAX_LINE: u64 = 4 << 20;
/// The most models that are kept from one file.
const MAX_MODELS: usize = 200_000;
/// The most notes that are kept; the rest are counted.
const MAX_NOTES: usize = 20;
/// How much of a description is kept, in characters. Prompts show far less.
const KEPT_DESCRIPTION: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read the model catalogue {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} holds no model: {reason}", path.display())]
    NoModels {
        path: PathBuf,
        /// What is wrong with its first bad line, or that it is empty.
        reason: String,
    },
}

impl LoadError {
    pub fn hint(&self) -> &'static str {
        match self {
            LoadError::Io { .. } => {
                "check the path and its permissions, or leave the setting out to use the built-in list"
            }
            LoadError::NoModels { .. } => "each line must be a JSON object with at least `id` and `task`",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    pub models: Vec<Model>,
    pub notes: Vec<String>,
}

/// A line of the file. Fields that are not needed are skipped unread.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    task: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pipeline_tag: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    likes: Option<&'a RawValue>,
    #[serde(borrow, default)]
    downloads: Option<&'a RawValue>,
    #[serde(borrow, default)]
    description: Option<&'a RawValue>,
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Card {
    #[serde(default)]
    tags: Option<Value>,
}

/// Reads a catalogue file. Blocking: some milliseconds for a few hundred models.
///
/// # Errors
/// When the file cannot be read, or no line of it is a model.
pub fn read_models(path: &Path) -> Result<Loaded, LoadError> {
    let io = |source| LoadError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let (loaded, first_bad) = read_lines(BufReader::with_capacity(1 << 16, file)).map_err(io)?;
    if loaded.models.is_empty() {
        let reason = first_bad.unwrap_or_else(|| "it is empty".to_owned());
        return Err(LoadError::NoModels { path: path.to_owned(), reason });
    }
    Ok(loaded)
}

/// Reads lines until the end, and says what was wrong with the first bad one.
fn read_lines(mut reader: impl BufRead) -> io::Result<(Loaded, Option<String>)> {
    let mut loaded = Loaded::default();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let mut line = Vec::new();
    let mut first_bad = None;
    let mut bad = 0;
    for number in 1_usize.. {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if number == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        let read = if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            reader.skip_until(b'\n')?;
            Err(format!("longer than {MAX_LINE} bytes"))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            read_line(&line)
        };
        let model = read.and_then(|model| {
            if loaded.models.len() >= MAX_MODELS {
                Err(format!("more than {MAX_MODELS} models"))
            } else if seen.insert((model.id.clone(), model.task.clone())) {
                Ok(model)
            } else {
                Err(format!("{} is there already", model.id))
            }
        });
        match model {
            Ok(model) => loaded.models.push(model),
            Err(reason) => {
                let note = format!("line {number}: {reason}");
                bad += 1;
                first_bad.get_or_insert_with(|| note.clone());
                if bad <= MAX_NOTES {
                    loaded.notes.push(note);
                }
            }
        }
    }
    if bad > MAX_NOTES {
        loaded.notes.push(format!("and {} more lines that cannot be used", bad - MAX_NOTES));
    }
    Ok((loaded, first_bad))
}

/// Reads one line; the error says what is wrong with it.
fn read_line(line: &[u8]) -> Result<Model, String> {
    match serde_json::from_slice::<Row<'_>>(line) {
        Ok(row) => model_of(&row),
        // Python writes NaN and Infinity into JSON, which has no such numbers; model cards hold some.
        Err(error) => match without_odd_numbers(line) {
            Some(mended) => model_of(&serde_json::from_slice(&mended).map_err(|error| error.to_string())?),
            None => Err(error.to_string()),
        },
    }
}

/// The line with `NaN`, `Infinity` and `-Infinity` outside strings as `null`; `None` when it has none.
fn without_odd_numbers(line: &[u8]) -> Option<Vec<u8>> {
    let mut mended = Vec::with_capacity(line.len());
    let (mut rest, mut quoted, mut found) = (line, false, false);
    while let Some((&byte, tail)) = rest.split_first() {
        let odd = [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find_map(|word| rest.strip_prefix(word));
        match (odd, byte) {
            (Some(after), _) if !quoted => {
                mended.extend_from_slice(b"null");
                (rest, found) = (after, true);
                continue;
            }
            (_, b'"') => quoted = !quoted,
            (_, b'\\') if quoted && let Some((&escaped, after)) = tail.split_first() => {
                mended.extend_from_slice(&[byte, escaped]);
                rest = after;
                continue;
            }
            _ => {}
        }
        mended.push(byte);
        rest = tail;
    }
    found.then_some(mended)
}

fn model_of(row: &Row<'_>) -> Result<Model, String> {
    let id = row.id.trim();
    if id.is_empty() || id.len() > 300 || id.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("`id` is not a model id".to_owned());
    }
    let tag = row.pipeline_tag.as_deref().map(str::trim).filter(|tag| !tag.is_empty());
    let task = row.task.as_deref().map(str::trim).filter(|task| !task.is_empty()).or(tag);
    let task = task.ok_or("neither `task` nor `pipeline_tag` is given")?;
    let description: Option<Cow<'_, str>> =
        row.description.and_then(|text| serde_json::from_str::<Text<'_>>(text.get()).ok()).map(|text| text.0);
    Ok(Model {
        id: id.to_owned(),
        task: find(task).map_or(task, |known| known.name).to_owned(),
        host: Host::Huggingface,
        likes: count(row.likes),
        downloads: count(row.downloads),
        description: description.map(|text| cut_description(&text, KEPT_DESCRIPTION).to_owned()).unwrap_or_default(),
        tags: row.meta.and_then(tags),
        pipeline_tag: tag.map(str::to_owned),
        specialty: false,
        note: None,
    })
}

/// A string that borrows where it can.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A count that may be null, a fraction, a string or missing.
fn count(value: Option<&RawValue>) -> u64 {
    let text = value.map_or("", |value| value.get()).trim_matches('"');
    text.parse::<u64>().ok().or_else(|| text.parse::<f64>().ok().map(|number| number as u64)).unwrap_or(0)
}

/// `meta.tags` as texts; `meta` may be an object, empty text, null or anything else.
fn tags(meta: &RawValue) -> Option<Vec<String>> {
    let card: Card = serde_json::from_str(meta.get()).ok()?;
    match card.tags? {
        Value::Array(tags) => Some(
            tags.into_iter()
                .filter_map(|tag| match tag {
                    Value::String(text) => Some(text),
                    // Cards are written in YAML, where `no` is a language to people and `false` to parsers.
                    Value::Bool(flag) => Some(flag.to_string()),
                    Value::Number(number) => Some(number.to_string()),
                    Value::Null | Value::Array(_) | Value::Object(_) => None,
                })
                .collect(),
        ),
        Value::String(tag) => Some(vec![tag]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests;
