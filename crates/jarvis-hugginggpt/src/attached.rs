//! Texts that came as files: a plan names them, workers get what they hold.
//!
//! A plan that carried whole documents in its arguments could not be read, and no model should have to repeat one.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{
    Arg, Draft, ErrorCode, Kind, Medium, Plan, Request, Resource, Source, TaskError, Vocabulary, medium,
};
use jarvis_tables::tables_of;
use jarvis_tools::attached_texts;
use jarvis_tools::local::TABLE_QUERY;
use serde_json::Value;

/// The content and the name of an attached text.
fn texts(request: &Request) -> impl Iterator<Item = (&str, &str)> {
    request.attachments.iter().filter_map(|resource| match (&resource.source, &resource.name) {
        (Source::Inline(content), Some(name)) => Some((name.as_str(), content.as_str())),
        (Source::Inline(_) | Source::Public(_) | Source::Url(_), _) => None,
    })
}

/// Puts the name of an attached text wherever a draft holds the text itself.
pub(crate) fn by_name(mut draft: Draft, request: &Request) -> Draft {
    for arg in draft.tasks.iter_mut().flat_map(|task| task.args.values_mut()) {
        if let Some(literal) = arg.as_literal()
            && let Some((name, _)) = texts(request).find(|(_, content)| content.trim() == literal.trim())
        {
            *arg = Arg::literal(name);
        }
    }
    draft
}

/// The files that the text of a request names and no task of a plan takes, by their names. A plan without tasks takes none.
pub(crate) fn unused<'r>(request: &'r Request, plan: &Plan) -> Vec<&'r str> {
    if plan.tasks().is_empty() {
        return Vec::new();
    }
    let reads_tables = plan.tasks().iter().any(|task| task.task == TABLE_QUERY);
    let literals: Vec<_> =
        plan.tasks().iter().flat_map(|task| task.args.values()).filter_map(Arg::as_literal).collect();
    let named = request.attachments.iter().filter_map(|file| Some((file, file.name.as_deref()?)));
    let is_unused = |file: &Resource, name: &str| {
        let path = file.as_arg();
        let is_named =
            request.text.contains(name) || (!matches!(file.source, Source::Inline(_)) && request.text.contains(path));
        let is_taken = || literals.iter().any(|value| value.contains(name) || value.contains(path));
        // A query is over all tables that are attached.
        let has_table = || matches!(&file.source, Source::Inline(text) if !tables_of([(name, text.as_str())].into_iter()).is_empty());
        is_named && !is_taken() && !(reads_tables && has_table())
    };
    named.filter(|(file, name)| is_unused(file, name)).map(|(_, name)| name).collect()
}

/// The names of files in the text of a request that are none of its files, and that no task of a plan holds: files that are not
/// there, and texts that a result was to be written to.
pub(crate) fn unknown(request: &Request, plan: &Plan) -> Vec<String> {
    if plan.tasks().is_empty() {
        return Vec::new();
    }
    let values: Vec<String> =
        plan.tasks().iter().flat_map(|task| task.args.values()).map(ToString::to_string).collect();
    let is_of = |file: &Resource, word: &str| {
        file.as_arg().contains(word)
            || file.name.as_deref().is_some_and(|name| name.contains(word) || word.ends_with(name))
    };
    let is_known = |word: &str| {
        request.attachments.iter().any(|file| is_of(file, word)) || values.iter().any(|value| value.contains(word))
    };
    let mut names = jarvis_planner::files_to_be(&request.text);
    names.retain(|word| !is_known(word));
    names.dedup();
    names
}

/// Characters of an attached text that the planning model sees.
const PREVIEW: usize = 300;

/// Tables of an attached text that the planning model sees.
const SHOWN_TABLES: usize = 10;

/// The attachments as the planning model sees them: a text by its name and beginning, so that a plan names it.
pub(crate) fn shown(request: &Request) -> Vec<Resource> {
    // Named as `table-query` names them.
    let mut tables = jarvis_tables::tables_by_text(attached_texts(request)).into_iter();
    let mut shown = |resource: &Resource| match (&resource.source, &resource.name) {
        (Source::Inline(content), Some(name)) => {
            let preview: String = content.chars().take(PREVIEW).collect();
            let tables = tables.next().unwrap_or_default();
            let tables: Vec<String> =
                tables.iter().take(SHOWN_TABLES).map(|table| format!("`{}`", table.signature())).collect();
            let tables =
                if tables.is_empty() { String::new() } else { format!(" with the tables {}", tables.join(", ")) };
            let length = content.chars().count();
            Resource {
                kind: Kind::Text,
                source: Source::Inline(name.clone()),
                name: Some(format!("a text of {length} characters{tables} that begins: {preview}")),
            }
        }
        (Source::Inline(_), None) => {
            tables.next();
            resource.clone()
        }
        (Source::Public(_) | Source::Url(_), _) => resource.clone(),
    };
    request.attachments.iter().map(&mut shown).collect()
}

/// Gives the worker inside the content of an attached text where an argument is its name.
pub(crate) struct Expand {
    pub(crate) worker: Arc<dyn Worker>,
    /// Tells which arguments are paths, which stay as they are.
    pub(crate) vocabulary: Arc<Vocabulary>,
}

impl Expand {
    /// Whether the tool opens the file itself: then it gets the path and never what the file holds.
    fn is_path(&self, task: &str, arg: &str) -> bool {
        let param = self.vocabulary.find(task).and_then(|tool| tool.param(arg));
        let schema = param.and_then(|param| param.schema.as_ref());
        schema.is_some_and(|schema| medium(arg, schema) == Medium::Path)
    }
}

#[async_trait]
impl Worker for Expand {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let content = |arg: &str, value: &Value| {
            let value = value.as_str().filter(|_| !self.is_path(&job.task.task, arg))?.trim();
            texts(&job.request).find(|(name, _)| *name == value).map(|(_, content)| content)
        };
        if let Some(name) = job.args.iter().find_map(|(arg, value)| missing(job, arg, value.as_str()?)) {
            return Err(TaskError::new(ErrorCode::NotFound, format!("there is no text file `{name}` to read"))
                .hint("name a file in the request, or attach one"));
        }
        if !job.args.iter().any(|(name, value)| content(name, value).is_some()) {
            return self.worker.perform(job).await;
        }
        let args = job.args.iter().map(|(name, value)| {
            (name.clone(), content(name, value).map_or_else(|| value.clone(), |content| content.to_owned().into()))
        });
        self.worker.perform(&Job { args: args.collect(), ..job.clone() }).await
    }
}

/// The name of a text file that a plan names and that is not attached: working on the name itself would be a wrong
/// answer that looks like a right one.
fn missing<'a>(job: &Job, arg: &str, value: &'a str) -> Option<&'a str> {
    const TEXTS: [&str; 4] = ["text", "context", "text1", "text2"];
    let name = value.trim();
    let planned = job.task.literal(arg).is_some_and(|planned| planned.trim() == name);
    if !TEXTS.contains(&arg) || !planned || name.len() > 200 || name.contains(char::is_whitespace) {
        return None;
    }
    // Chinese has no blanks: a sentence that ends in a file's name is an order, not a name.
    if name.contains(['，', '。', '；', '、', '：', '！', '？']) {
        return None;
    }
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, ending)| ending);
    let is_ending = (1..=5).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric());
    // Addresses of mails and sites are words of a text.
    let file = (is_ending && !name.contains('@') && !name.starts_with("www."))
        || ["/", "./", "../", "~/"].iter().any(|start| name.starts_with(start))
        || name.contains("://")
        || (name.contains('/') && job.request.text.contains(&format!("/{name}")));
    (file && !texts(&job.request).any(|(known, _)| known == name)).then_some(name)
}

/// The request's text with its attachments described after it, as a model reads it.
pub(crate) fn described(request: &Request) -> String {
    let mut text = request.text.clone();
    for resource in &request.attachments {
        let name = resource.name.as_deref();
        match &resource.source {
            Source::Inline(content) => {
                text.push_str(&format!(
                    "\n\nAttached text{}:\n<attached>\n{content}\n</attached>",
                    name.map(|name| format!(" `{name}`")).unwrap_or_default()
                ));
            }
            Source::Public(path) | Source::Url(path) if !text.contains(path.as_str()) => {
                text.push_str(&format!("\n\nAttached {}: {path}", kind_word(resource)));
            }
            Source::Public(_) | Source::Url(_) => {}
        }
    }
    text
}

fn kind_word(resource: &Resource) -> &'static str {
    match resource.kind {
        Kind::Json => "data",
        kind => kind.as_str(),
    }
}
