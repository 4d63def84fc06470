//! Writes descriptions and Examples with a model: each is one item, and several run at once.

use std::ops::Range;

use futures::stream::{self, StreamExt as _};
use jarvis_ask::{Ask, AskError};
use jarvis_chat::{Message, request_sha256};
use jarvis_prompt::template::TemplateError;
use jarvis_tools::{Registry, Scope, ToolErrorKind};
use tokio_util::sync::CancellationToken;

use super::InstructError;
use super::document::{ApiEntry, ToolDocument};
use super::memo::Memo;
use super::offline;
use super::report::InstructReport;
use super::stages::{self, DESCRIBE_TOOL, Described, WRITE_SCENARIO};
use super::{BY_DEFAULT, BY_SPECIFICATION, InstructOptions, Writer};
use crate::instructions::Example;

/// The most functions that a model describes in one call.
const PER_CALL: usize = 20;

#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    pub(super) description: String,
    pub(super) apis: Vec<WrittenApi>,
}

#[derive(Debug, Clone)]
pub(super) struct WrittenApi {
    pub(super) description: String,
    pub(super) example: Example,
}

enum Item<'a> {
    Description(&'a ToolDocument, Range<usize>),
    Example(&'a ToolDocument, &'a ApiEntry),
}

enum Done {
    /// `None` when the document must speak for itself.
    Description(Option<Described>),
    Example(Box<Example>),
}

pub(super) async fn write(
    documents: &[ToolDocument],
    writer: &Writer,
    options: InstructOptions,
    memo: &Memo,
    stop: &CancellationToken,
    report: &mut InstructReport,
) -> Result<Vec<Written>, InstructError> {
    let mut items = Vec::new();
    for document in documents {
        items.extend(chunks(document).map(|range| Item::Description(document, range)));
        items.extend(document.apis.iter().map(|entry| Item::Example(document, entry)));
    }
    let work = |item| async move {
        let mut took = InstructReport::default();
        let done = one(&item, writer, options, memo, &mut took).await;
        (done, took)
    };
    let mut running = std::pin::pin!(stream::iter(items.into_iter().map(work)).buffered(options.concurrency.max(1)));
    let mut descriptions = Vec::new();
    let mut examples = Vec::new();
    loop {
        let ended = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(InstructError::Stopped),
            ended = running.next() => ended,
        };
        let Some((done, took)) = ended else { break };
        report.add(took);
        match done? {
            Done::Description(described) => descriptions.push(described),
            Done::Example(example) => examples.push(*example),
        }
    }
    let (mut descriptions, mut examples) = (descriptions.into_iter(), examples.into_iter());
    let assemble = |document: &ToolDocument| {
        let parts: Vec<Option<Described>> = descriptions.by_ref().take(chunks(document).count()).collect();
        assembled(document, parts, examples.by_ref().take(document.apis.len()))
    };
    Ok(documents.iter().map(assemble).collect())
}

/// The functions of a document in groups that a model can describe at once; one group at least.
fn chunks(document: &ToolDocument) -> impl Iterator<Item = Range<usize>> {
    let count = document.apis.len();
    (0..count.max(1)).step_by(PER_CALL).map(move |start| start..(start + PER_CALL).min(count))
}

fn assembled(
    document: &ToolDocument,
    mut parts: Vec<Option<Described>>,
    examples: impl Iterator<Item = Example>,
) -> Written {
    let offline = |entry: &ApiEntry| offline::phrase(entry);
    let mut phrases: Vec<Option<String>> = Vec::new();
    for (range, part) in chunks(document).zip(&parts) {
        match part {
            Some(described) => phrases.extend(described.phrases.iter().cloned().map(Some)),
            None => phrases.extend(range.map(|_| None)),
        }
    }
    let description = match (parts.len(), parts.first_mut().and_then(Option::take)) {
        (1, Some(whole)) => whole.text,
        (1, None) => offline::description(document),
        (_, first) => {
            let purpose = first.map_or_else(|| offline::purpose(document), |first| first.purpose);
            let list: Vec<(&str, String)> = document
                .apis
                .iter()
                .zip(&phrases)
                .map(|(entry, phrase)| (entry.name.as_str(), phrase.clone().unwrap_or_else(|| offline(entry))))
                .collect();
            offline::listing(&purpose, &list)
        }
    };
    let apis = document.apis.iter().zip(phrases).zip(examples).map(|((entry, phrase), example)| WrittenApi {
        description: phrase.filter(|words| !words.is_empty()).unwrap_or_else(|| entry.description.clone()),
        example,
    });
    Written { description, apis: apis.collect() }
}

async fn one(
    item: &Item<'_>,
    writer: &Writer,
    options: InstructOptions,
    memo: &Memo,
    took: &mut InstructReport,
) -> Result<Done, InstructError> {
    let tools = writer.tools.as_deref();
    let Some(model) = writer.model.clone() else {
        return Ok(match item {
            Item::Description(..) => Done::Description(None),
            Item::Example(_, entry) => {
                let example = offline::example(entry, BY_SPECIFICATION);
                Done::Example(Box::new(tried(tools, entry, example, took).await))
            }
        });
    };
    let ask = Ask::new(model, &writer.events);
    let asker = |document, api| Asker { ask: &ask, memo, attempts: options.attempts, document, api };
    match item {
        Item::Description(document, range) => {
            let apis = document.apis.get(range.clone()).expect("chunks are ranges of the functions");
            let messages = |fault: &str| stages::describe(ask.model(), document, apis, fault);
            let read = async |reply: &str, _: bool, _: &mut InstructReport| stages::described(reply, document, apis);
            Ok(Done::Description(asker(document, "").run(DESCRIBE_TOOL, messages, read, took).await?))
        }
        Item::Example(document, entry) => {
            let messages = |fault: &str| stages::scenario(document, entry, fault);
            let read = async |reply: &str, fresh: bool, took: &mut InstructReport| {
                let example = stages::example(reply, entry)?;
                match execute(tools.filter(|_| fresh), entry, &example, took).await {
                    Some(error) => Err(format!("calling the function with these Parameters gave an error: {error}")),
                    None => Ok(example),
                }
            };
            let example = match asker(document, &entry.name).run(WRITE_SCENARIO, messages, read, took).await? {
                Some(example) => example,
                None => tried(tools, entry, offline::example(entry, BY_DEFAULT), took).await,
            };
            Ok(Done::Example(Box::new(example)))
        }
    }
}

/// The Example, or none when executing it gives an error.
async fn tried(tools: Option<&Registry>, entry: &ApiEntry, example: Example, took: &mut InstructReport) -> Example {
    match execute(tools, entry, &example, took).await {
        None => example,
        Some(_) => {
            took.dropped.push(entry.name.clone());
            Example::default()
        }
    }
}

/// Executes an Example. The error if the Example caused one; `None` when it works or cannot be tested.
async fn execute(
    tools: Option<&Registry>,
    entry: &ApiEntry,
    example: &Example,
    took: &mut InstructReport,
) -> Option<String> {
    let tools = tools?;
    // What changes something is not called for a mere example.
    let reads = entry.operation.as_ref().is_some_and(|operation| matches!(operation.method.as_str(), "GET" | "HEAD"));
    if !reads {
        took.untested += 1;
        return None;
    }
    let name = tools.meant(&entry.name).map_or(entry.name.as_str(), |spec| &spec.name);
    let input = example.parameters.to_json();
    match tools.call(name, &input, &Scope::default()).await {
        Ok(_) => {
            took.executed += 1;
            None
        }
        Err(error) if error.kind.blames_input() || error.kind == ToolErrorKind::UnknownTool => Some(error.message),
        Err(_) => {
            took.untested += 1;
            None
        }
    }
}

struct Asker<'a> {
    ask: &'a Ask,
    memo: &'a Memo,
    attempts: u32,
    document: &'a ToolDocument,
    /// The function that is asked about; empty for the tool as a whole.
    api: &'a str,
}

impl Asker<'_> {
    /// What was read of a reply; `None` when no reply was usable. `read` gets whether the reply is a fresh one.
    async fn run<T>(
        &self,
        stage: &'static str,
        messages: impl Fn(&str) -> Result<Vec<Message>, TemplateError> + Send + Sync,
        read: impl AsyncFn(&str, bool, &mut InstructReport) -> Result<T, String>,
        took: &mut InstructReport,
    ) -> Result<Option<T>, InstructError> {
        let first = messages("").map_err(|source| AskError::Prompt { stage, source })?;
        let question = self.ask.stage(stage).messages(first).asking(self.attempts).verbatim();
        let question = question.again(|sent, refused| {
            *sent = messages(refused.reason)?;
            Ok(())
        });
        let mut asking = question.attempts();
        // The model's name is no part of the request.
        let key = format!("{}:{}", self.ask.model().model_name(stage), request_sha256(asking.request()));
        if let Some(reply) = self.memo.get(&key)
            && let Ok(taken) = read(reply, false, took).await
        {
            took.resumed += 1;
            return Ok(Some(taken));
        }
        loop {
            let reply = asking.next().await?;
            took.calls += 1;
            took.prompt_tokens += reply.usage.prompt;
            took.completion_tokens += reply.usage.completion;
            match read(&reply.text, true, took).await {
                Ok(taken) => {
                    self.memo.put(key, &reply.text)?;
                    return Ok(Some(taken));
                }
                Err(fault) => {
                    took.refused += 1;
                    match asking.refuse(&reply, &fault) {
                        Err(AskError::Unreadable { .. }) => {
                            took.fell_back(stage, &self.document.name, self.api, &fault);
                            return Ok(None);
                        }
                        again => again?,
                    }
                }
            }
        }
    }
}
