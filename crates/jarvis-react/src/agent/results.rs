//! Long results of tools: what the prompt shows of each, and the tool that reads the rest.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jarvis_plan::Effect;
use jarvis_tools::digest::{digest, part, readable};
use jarvis_tools::local::passages::PassageIndex;
use jarvis_tools::{Observation, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};
use serde_json::{Value, json};

use crate::settings::PromptLanguage;

/// The results of one question that can be read. Each has at most [`jarvis_tools::MAX_CHARS`] characters; the oldest go first.
const MOST_KEPT: usize = 16;

/// The most passages that one search gives.
const MOST_PASSAGES: usize = 10;

/// The long results of one question. Cheap to clone; all clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Results {
    /// The tool that reads them.
    tool: Arc<str>,
    /// The most characters that a prompt shows of a result.
    most: usize,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Handles and the whole of what they stand for, in lines.
    wholes: VecDeque<(String, Arc<str>)>,
    /// Whether older ones were let go.
    is_missing_some: bool,
    /// How many results of each step have a name.
    given: HashMap<u32, usize>,
}

impl Results {
    pub(super) fn new(tool: &str, most: usize) -> Results {
        Results { tool: tool.into(), most, kept: Arc::default() }
    }

    /// Whether a tool reads these results, and there is something to read.
    pub(super) fn offers(&self, tool: &str) -> bool {
        *tool == *self.tool && !self.kept().wholes.is_empty()
    }

    /// A result of a step as a prompt shows it: whole where it is short, else shortened, and with the call that reads more.
    pub(super) fn shown(&self, step: u32, text: String, language: PromptLanguage) -> String {
        let Some(_) = text.chars().nth(self.most) else { return text };
        let whole = readable(&text);
        let (chars, lines) = (text.chars().count(), whole.lines().count());
        let handle = self.keep(step, whole.into());
        let how = |from: usize| self.how(&handle, chars, lines, from, language);
        // Where the rest begins is known when it is shortened, and takes no more room than the last line does.
        let room = self.most.saturating_sub(how(lines).chars().count() + 1);
        let shown = digest(&text, room);
        format!("{}\n{}", shown.text, how(shown.next_line))
    }

    /// How more of a result is read, in words for the model.
    fn how(&self, handle: &str, chars: usize, lines: usize, from: usize, language: PromptLanguage) -> String {
        let tool = &self.tool;
        let by_line = json!({"handle": handle, "first_line": from, "count": 40});
        let by_words = json!({"handle": handle, "query": "words"});
        match language {
            PromptLanguage::Zh => {
                format!("[已缩短：原文共 {chars} 个字符、{lines} 行。用 {tool} 读取其余内容：{by_line} 或 {by_words}]")
            }
            PromptLanguage::Auto | PromptLanguage::En => format!(
                "[shortened: {chars} characters in {lines} lines. Read more with {tool}: {by_line} or {by_words}]"
            ),
        }
    }

    /// Keeps a result, and names it by its step; of several of one step the later ones are numbered.
    fn keep(&self, step: u32, whole: Arc<str>) -> String {
        let mut kept = self.kept();
        let names = std::iter::once(format!("result-{step}")).chain((2..).map(|nth| format!("result-{step}-{nth}")));
        // A name is given once, also after what it named is no longer kept.
        let given = kept.given.entry(step).or_default();
        let handle = { names }.nth(*given).expect("the numbers do not end");
        *given += 1;
        if kept.wholes.len() >= MOST_KEPT {
            kept.wholes.pop_front();
            kept.is_missing_some = true;
        }
        kept.wholes.push_back((handle.clone(), whole));
        handle
    }

    fn whole(&self, handle: &str) -> Result<Arc<str>, ToolError> {
        let kept = self.kept();
        if let Some((_, whole)) = kept.wholes.iter().find(|(known, _)| known == handle) {
            return Ok(Arc::clone(whole));
        }
        let known: Vec<String> = kept.wholes.iter().map(|(handle, _)| format!("`{handle}`")).collect();
        let older = if kept.is_missing_some { "; older ones are no longer kept" } else { "" };
        let those = match known.as_slice() {
            [] => "no result was shortened".to_owned(),
            _ => format!("those that can be read are {}{older}", known.join(", ")),
        };
        Err(wrong(format!("there is no result `{}`; {those}", jarvis_net::text::shorten(handle, 80))))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tool that reads parts of long results.
pub(super) struct ReadResult {
    spec: ToolSpec,
    results: Results,
}

/// What is read of a result.
enum Wanted {
    Lines { first: usize, count: usize },
    Passages(String),
}

impl ReadResult {
    pub(super) fn of(results: Results) -> ReadResult {
        let spec = ToolSpec {
            name: results.tool.to_string(),
            description:
                "Reads more of a result that was shortened: lines of it, or the passages that share the rarest words \
                with a query."
                    .to_owned(),
            when: "a result says that it was shortened, and what is needed is not in what it shows".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "handle": {"type": "string", "description": "the result, as it names itself"},
                    "first_line": {"type": "integer", "minimum": 1, "default": 1},
                    "count": {"type": "integer", "minimum": 1, "description": "lines; unless given, as many as fit"},
                    "query": {"type": "string", "description": "words to look for, in the place of lines"},
                },
                "required": ["handle"],
            }),
            example: json!({"handle": "result-1", "first_line": 41, "count": 40}),
            output_schema: None,
            effect: Effect::Reads,
            source: ToolSource::Native,
        };
        ReadResult { spec, results }
    }
}

#[async_trait]
impl Tool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, _: &Scope) -> Result<Observation, ToolError> {
        let handle = input.get("handle").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if handle.is_empty() {
            return Err(wrong("`handle` must name a result, such as `result-1`"));
        }
        let whole = self.results.whole(handle)?;
        let most = self.results.most;
        match wanted(input)? {
            Wanted::Lines { first, count } => {
                let none = || wrong(format!("`{handle}` has no line {first}; it has {}", whole.lines().count()));
                part(&whole, first, count, most).map(Observation::text).ok_or_else(none)
            }
            Wanted::Passages(query) => {
                let found = tokio::task::spawn_blocking(move || passages(&whole, &query, most)).await;
                let broken = || ToolError::new(ToolErrorKind::Unavailable, "the search broke down");
                let none = || Observation::text(format!("No passage of `{handle}` shares a word with the query."));
                Ok(found.map_err(|_| broken())?.map_or_else(none, Observation::text))
            }
        }
    }
}

fn wanted(input: &Value) -> Result<Wanted, ToolError> {
    let given = |name: &str| input.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""));
    let number = |name: &str| match given(name) {
        None => Ok(None),
        Some(value) => {
            let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| *number > 0);
            let number = number.and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or_else(|| wrong(format!("`{name}` must be a whole number above 0")))
        }
    };
    let (first, count) = (number("first_line")?, number("count")?);
    match given("query").map(Value::as_str) {
        None => Ok(Wanted::Lines { first: first.unwrap_or(1), count: count.unwrap_or(usize::MAX) }),
        Some(Some(query)) if first.is_none() && count.is_none() => Ok(Wanted::Passages(query.to_owned())),
        Some(Some(_)) => Err(wrong("give either `query`, or `first_line` and `count`")),
        Some(None) => Err(wrong("`query` must be a text")),
    }
}

/// The passages that fit a query best, as many as `most` characters hold.
fn passages(whole: &str, query: &str, most: usize) -> Option<String> {
    let mut told = String::new();
    for found in PassageIndex::build(whole).search(whole, query, MOST_PASSAGES) {
        let passage = found.to_string();
        if !told.is_empty() && told.chars().count() + passage.chars().count() + 2 > most {
            break;
        }
        if !told.is_empty() {
            told.push_str("\n\n");
        }
        told.push_str(&passage);
    }
    (!told.is_empty()).then_some(told)
}

fn wrong(what: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidInput, what)
}
