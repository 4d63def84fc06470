//! The registry: the one place where all tools are, whatever they are and whoever calls them.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use indexmap::IndexMap;
use jarvis_net::text::shorten;
use jarvis_net::trace::CONTENT;
use jarvis_plan::schema::Checker;
use serde_json::Value;
use tracing::{Instrument as _, Level, field};

use crate::digest::digest;
use crate::local::on_a_thread;
use crate::{Observation, Scope, Tool, ToolAddress, ToolError, ToolErrorKind, ToolSource, ToolSpec, names};

/// The longest a call may take unless the tool says otherwise.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest text of an observation, in characters; of a longer one a [`digest`] is kept. A bound for memory: what a prompt shows
/// is for its maker to say.
pub const MAX_CHARS: usize = 256 << 10;

/// The most bytes of all files that one call may give.
const MAX_ARTIFACTS: usize = 32 << 20;

/// All tools, by name, in the order in which they were added.
#[derive(Clone, Default)]
pub struct Registry {
    tools: IndexMap<String, Entry>,
    /// Names of other systems for these tools, such as `GET /movie/{movie_id}`, which are no names of tools here.
    aliases: HashMap<String, String>,
}

#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    timeout: Duration,
    /// The schema of its input, made ready when it is first called.
    checker: Arc<OnceLock<Option<Checker>>>,
}

/// Why a tool is not taken into a registry.
#[allow(missing_docs, reason = "each message says what its variant is")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("the tool `{name}` lacks {missing}")]
    Incomplete { name: String, missing: String },
    #[error("`{0}` cannot be the name of a tool: letters, digits, `_`, `-`, `.` and `/`, at most 128")]
    Name(String),
    #[error("there are two tools named `{0}`")]
    Twice(String),
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a tool, with the usual time for a call.
    ///
    /// # Errors
    /// As [`Registry::add_with`].
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        self.add_with(tool, CALL_TIMEOUT)
    }

    /// Adds a tool, with a time for a call.
    ///
    /// # Errors
    /// When its description is incomplete, or its name invalid or taken.
    pub fn add_with(&mut self, tool: Arc<dyn Tool>, timeout: Duration) -> Result<(), RegistryError> {
        let spec = tool.spec();
        let proper = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if spec.name.is_empty() || spec.name.chars().count() > 128 || !spec.name.chars().all(proper) {
            return Err(RegistryError::Name(shorten(&spec.name, 80)));
        }
        let missing = missing(spec);
        if !missing.is_empty() {
            return Err(RegistryError::Incomplete { name: spec.name.clone(), missing: missing.join(", ") });
        }
        if self.tools.contains_key(&spec.name) {
            return Err(RegistryError::Twice(spec.name.clone()));
        }
        self.tools.insert(spec.name.clone(), Entry { tool, timeout, checker: Arc::default() });
        Ok(())
    }

    /// Lets [`Registry::meant`] find a tool by a name that another system has for it, in any characters. The first tool of
    /// an alias keeps it.
    pub fn alias(&mut self, alias: &str, name: &str) {
        self.aliases.entry(alias.trim().to_owned()).or_insert_with(|| name.to_owned());
    }

    pub(crate) fn named(&self, alias: &str) -> Option<String> {
        self.aliases.get(alias).cloned()
    }

    /// A name that is allowed and free, like the wanted one.
    pub fn free_name(&self, wanted: &str) -> String {
        let name = names::tool_name(wanted);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(numbered).find(|name| !self.tools.contains_key(name)).unwrap_or(name)
    }

    /// The tools, in the order in which they were added.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values().map(|entry| entry.tool.spec())
    }

    /// What the calls of the tool of that name connect to.
    pub fn address(&self, name: &str) -> Option<ToolAddress> {
        Some(self.tools.get(name)?.tool.address())
    }

    /// Whether the tool of that name makes no change twice, see [`Tool::takes_key`].
    pub fn takes_key(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|entry| entry.tool.takes_key())
    }

    /// The tool of that name.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.get(name).map(|entry| entry.tool.spec())
    }

    /// The tool that a model means: by an alias, else by the name without blanks, quotes, brackets and backticks around it,
    /// exactly or, failing that, without regard to case; else by the last part of a name, where only one tool has it.
    pub fn meant(&self, name: &str) -> Option<&ToolSpec> {
        if let Some(name) = self.aliases.get(name.trim()) {
            return self.spec(name);
        }
        let bare = bare(name);
        self.spec(bare).or_else(|| {
            let folded = bare.to_lowercase();
            let by_name = self.specs().find(|spec| spec.name.to_lowercase() == folded);
            by_name.or_else(|| {
                let last =
                    |name: &str| name.rsplit(['/', '.']).next().is_some_and(|part| part.to_lowercase() == folded);
                let mut own = self.specs().filter(|spec| last(&spec.name));
                own.next().filter(|_| own.next().is_none())
            })
        })
    }

    /// The tool whose name is nearest to an unknown one: mistyped by a letter in three, its beginning, or the name of a
    /// server's tool without the server. `None` when nothing is near.
    pub fn nearest(&self, name: &str) -> Option<&ToolSpec> {
        let bare = bare(name);
        let said = folded(bare);
        let length = said.chars().count();
        if !(2..=128).contains(&length) {
            return None;
        }
        let most = (length / 3).max(1);
        let far = |known: &str| {
            let known = folded(known);
            if known.chars().count().abs_diff(length) <= most {
                Some(strsim::osa_distance(&said, &known)).filter(|far| *far <= most)
            } else {
                // A beginning is the weakest of reasons.
                (length > 2 && known.starts_with(&said)).then_some(most + 1)
            }
        };
        let near = self.specs().filter_map(|spec| {
            let own = spec.name.rsplit_once('/').filter(|_| !bare.contains('/')).and_then(|(_, own)| far(own));
            Some((far(&spec.name).into_iter().chain(own).min()?, spec))
        });
        near.min_by_key(|(far, _)| *far).map(|(_, spec)| spec)
    }

    /// The failure of a call of a tool that there is not, with the name that may have been meant.
    pub fn unknown(&self, name: &str) -> ToolError {
        let meant = self.nearest(name).map_or_else(String::new, |spec| format!("; did you mean `{}`?", spec.name));
        ToolError::new(ToolErrorKind::UnknownTool, format!("there is no tool `{}`{meant}", shorten(name, 80)))
    }

    /// Whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools whose names are wanted, as a registry of their own; the rest is left out.
    pub fn only(&self, wanted: impl Fn(&ToolSpec) -> bool) -> Registry {
        let kept = self.tools.iter().filter(|(_, entry)| wanted(entry.tool.spec()));
        let tools: IndexMap<String, Entry> = kept.map(|(name, entry)| (name.clone(), entry.clone())).collect();
        let aliases = self.aliases.iter().filter(|(_, name)| tools.contains_key(*name));
        Registry { aliases: aliases.map(|(alias, name)| (alias.clone(), name.clone())).collect(), tools }
    }

    /// Calls a tool by its exact name, within its time. A tool that panics takes nothing with it.
    ///
    /// # Errors
    /// When there is no such tool, it failed, it took too long, or it was cancelled.
    pub async fn call(&self, name: &str, input: &Value, scope: &Scope) -> Result<Observation, ToolError> {
        self.check(name, input)?;
        let Some(entry) = self.tools.get(name) else { return Err(self.unknown(name)) };
        let spec = entry.tool.spec();
        let span = tracing::debug_span!("tool", tool = name, source = %spec.source, effect = %spec.effect, error = field::Empty);
        let own = span.clone();
        let work = async {
            if tracing::enabled!(target: CONTENT, Level::TRACE) {
                tracing::trace!(target: CONTENT, arguments = %input);
            }
            let done = Registry::call_entry(name, entry, input, scope).await;
            match &done {
                Ok(observation) => tracing::trace!(target: CONTENT, result = observation.text),
                Err(error) => {
                    own.record("error", error.kind.as_str());
                }
            }
            done
        };
        work.instrument(span).await
    }

    async fn call_entry(name: &str, entry: &Entry, input: &Value, scope: &Scope) -> Result<Observation, ToolError> {
        let called = AssertUnwindSafe(entry.tool.call(input, scope)).catch_unwind();
        let done = tokio::select! {
            biased;
            () = scope.cancel.cancelled() => {
                return Err(ToolError::new(ToolErrorKind::Timeout, "the call was cancelled"));
            }
            done = tokio::time::timeout(entry.timeout, called) => done,
        };
        match done {
            Ok(Ok(Ok(observation))) => bounded(name, observation).await,
            Ok(Ok(Err(error))) => {
                Err(ToolError { message: digest(&error.message, MAX_CHARS).text.into_owned(), ..error })
            }
            Ok(Err(_)) => Err(ToolError::new(ToolErrorKind::Unavailable, format!("`{name}` broke down"))),
            Err(_) => {
                let message = format!("`{name}` gave no answer within {} s", entry.timeout.as_secs_f64());
                Err(ToolError::new(ToolErrorKind::Timeout, message))
            }
        }
    }

    /// Whether a tool takes this input, without calling it.
    ///
    /// # Errors
    /// When there is no such tool, or what its schema says against the input.
    pub fn check(&self, name: &str, input: &Value) -> Result<(), ToolError> {
        let Some(entry) = self.tools.get(name) else { return Err(self.unknown(name)) };
        if !input.is_object() {
            let message = format!("the input of `{name}` must be a JSON object, such as {}", entry.tool.spec().example);
            return Err(ToolError::new(ToolErrorKind::InvalidInput, message));
        }
        // Native tools say what is wrong in their own words.
        let spec = entry.tool.spec();
        if spec.source != ToolSource::Native {
            if let Some(missing) = required(&spec.input_schema).find(|name| input.get(name).is_none()) {
                let message = format!("`{name}` needs `{}`; an input is {}", shorten(missing, 80), spec.example);
                return Err(ToolError::new(ToolErrorKind::InvalidInput, message));
            }
            let checker = entry.checker.get_or_init(|| Checker::new(&spec.input_schema));
            let problems = checker.as_ref().map(|checker| checker.problems(input)).unwrap_or_default();
            if let Some((at, problem)) = problems.first() {
                let at = if at.is_empty() { "its input".to_owned() } else { format!("`{}`", shorten(at, 80)) };
                let message = format!("`{name}` refuses {at}: {}; an input is {}", shorten(problem, 200), spec.example);
                return Err(ToolError::new(ToolErrorKind::InvalidInput, message));
            }
        }
        Ok(())
    }
}

/// A name without what models put around it.
fn bare(name: &str) -> &str {
    name.trim_matches(|c: char| c.is_whitespace() || "'\"`[](){}<>“”‘’«»「」".contains(c))
}

/// A name without what is easily confused in it: case, and what divides its words.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The names of the fields that are missing from a description.
pub(crate) fn missing(spec: &ToolSpec) -> Vec<&'static str> {
    let fields = [
        (!spec.name.trim().is_empty(), "`name`"),
        (!spec.description.trim().is_empty(), "`description`"),
        (!spec.when.trim().is_empty(), "`when`"),
        (spec.input_schema.is_object(), "`input_schema`"),
        (spec.example.is_object(), "`example`"),
    ];
    fields.into_iter().filter(|(there, _)| !there).map(|(_, name)| name).collect()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

async fn bounded(name: &str, observation: Observation) -> Result<Observation, ToolError> {
    if observation.media.iter().map(|artifact| artifact.bytes.len()).sum::<usize>() > MAX_ARTIFACTS {
        let message = format!("`{name}` gave files of more than {} MiB", MAX_ARTIFACTS >> 20);
        return Err(ToolError::new(ToolErrorKind::Transport, message));
    }
    let Observation { text, value, media } = observation;
    let text = match text.len() > MAX_CHARS {
        // Reading data of many megabytes takes a while.
        true => on_a_thread(name, move || digest(&text, MAX_CHARS).text.into_owned()).await?,
        false => text,
    };
    Ok(Observation { text, value, media })
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use jarvis_testing::rows;
    use serde_json::json;

    use super::*;
    use crate::Artifact;

    struct Scripted(ToolSpec, fn() -> Result<Observation, ToolError>);

    #[async_trait]
    impl Tool for Scripted {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
            if input.get("hang").is_some() {
                std::future::pending::<()>().await;
            }
            (self.1)()
        }
    }

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: "Does it.".into(),
            when: "it is to be done".into(),
            input_schema: json!({"type": "object"}),
            example: json!({}),
            output_schema: None,
            effect: jarvis_plan::Effect::Reads,
            source: ToolSource::Native,
        }
    }

    fn registry(act: fn() -> Result<Observation, ToolError>) -> Registry {
        let mut registry = Registry::new();
        registry.add(Arc::new(Scripted(spec("Do_It"), act))).unwrap();
        registry
    }

    #[test]
    fn what_is_not_described_is_not_taken() {
        let act = || Ok(Observation::default());
        let refused = |change: fn(&mut ToolSpec)| {
            let mut spec = spec("do");
            change(&mut spec);
            Registry::new().add(Arc::new(Scripted(spec, act))).unwrap_err().to_string()
        };
        assert_eq!(refused(|spec| spec.description = " ".into()), "the tool `do` lacks `description`");
        assert_eq!(refused(|spec| spec.when.clear()), "the tool `do` lacks `when`");
        assert!(refused(|spec| spec.input_schema = json!([])).contains("`input_schema`"));
        assert!(refused(|spec| spec.example = Value::Null).contains("`example`"));
        assert!(refused(|spec| spec.name = "a b".into()).contains("cannot be the name"));
        let mut twice = registry(act);
        assert_eq!(
            twice.add(Arc::new(Scripted(spec("Do_It"), act))).unwrap_err(),
            RegistryError::Twice("Do_It".into())
        );
    }

    #[test]
    fn names_are_recognised_as_models_write_them() {
        let registry = registry(|| Ok(Observation::default()));
        for (said, known) in
            [("Do_It", true), (" `do_it` ", true), ("[DO_IT]", true), ("do not do_it", false), ("", false)]
        {
            assert_eq!(registry.meant(said).is_some(), known, "{said}");
        }
    }

    #[tokio::test]
    async fn a_name_that_is_none_is_told_with_the_nearest() {
        let mut registry = Registry::new();
        for name in
            ["add", "plot", "calculator", "count_occurrences", "search", "everything/echo", "everything/get-sum"]
        {
            registry.add(Arc::new(Scripted(spec(name), || Ok(Observation::default())))).unwrap();
        }
        for (said, meant) in rows::<(String, Option<String>)>(include_str!("registry.json"), "nearest") {
            assert_eq!(registry.nearest(&said).map(|spec| spec.name.clone()), meant, "{said}");
        }
        let error = registry.call("plott", &json!({}), &Scope::default()).await.unwrap_err();
        assert_eq!(error.message, "there is no tool `plott`; did you mean `plot`?");
        assert_eq!(registry.unknown("sing").message, "there is no tool `sing`");
    }

    #[tokio::test(start_paused = true)]
    async fn a_tool_cannot_hang_panic_or_flood() {
        let scope = Scope::default();
        let flood = registry(|| Ok(Observation::text("ы".repeat(MAX_CHARS + 5))));
        let text = flood.call("Do_It", &json!({}), &scope).await.unwrap().text;
        assert!(text.chars().count() <= MAX_CHARS && text.contains("left out"));
        let late = flood.call("Do_It", &json!({"hang": 1}), &scope).await.unwrap_err();
        assert_eq!((late.kind, late.message.as_str()), (ToolErrorKind::Timeout, "`Do_It` gave no answer within 20 s"));
        let broken = registry(|| panic!("no"));
        assert_eq!(broken.call("Do_It", &json!({}), &scope).await.unwrap_err().kind, ToolErrorKind::Unavailable);
        assert_eq!(broken.call("Do_It", &json!([1]), &scope).await.unwrap_err().kind, ToolErrorKind::InvalidInput);
        assert_eq!(broken.call("other", &json!({}), &scope).await.unwrap_err().kind, ToolErrorKind::UnknownTool);
        let heavy = registry(|| {
            let bytes = bytes::Bytes::from(vec![0; MAX_ARTIFACTS + 1]);
            Ok(Observation { media: vec![Artifact { mime: "image/png".into(), bytes }], ..Observation::default() })
        });
        assert_eq!(heavy.call("Do_It", &json!({}), &scope).await.unwrap_err().kind, ToolErrorKind::Transport);
        scope.cancel.cancel();
        assert!(flood.call("Do_It", &json!({"hang": 1}), &scope).await.unwrap_err().message.contains("cancelled"));
    }
}
