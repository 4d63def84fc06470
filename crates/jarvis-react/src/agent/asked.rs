//! What is asked, and how a run tells it, so that it can be asked again in another process.

use std::sync::Arc;
use std::time::Duration;

use jarvis_events::Began;
use jarvis_plan::{EventKind, Kind, Language, Request, Resource, Source, Thread, Turn};
use jarvis_tools::Documents;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub question: String,
    /// The texts that the question is about; none for a question over tools alone. An empty text is a document too.
    pub documents: Documents,
    /// Earlier turns of the conversation, oldest first, for a chat model; the offline agent looks at the question alone.
    pub history: Vec<Turn>,
    /// Where the question stands among others, where the client said so.
    pub thread: Option<Box<Thread>>,
    /// The language of the prompt and of offline answers; that of the question unless set.
    pub language: Option<Language>,
    pub max_steps: Option<u32>,
    /// The longest it may take, if shorter than the agent grants.
    pub deadline: Option<Duration>,
    /// What was found out about the document before, for the warnings.
    pub warnings: Vec<String>,
}

impl Asked {
    pub fn new(question: impl Into<String>, document: impl Into<Arc<str>>) -> Asked {
        Asked { documents: Documents::unnamed(document), ..Asked::over_tools(question) }
    }

    /// A question without a document.
    pub fn over_tools(question: impl Into<String>) -> Asked {
        Asked { question: question.into(), ..Asked::default() }
    }
}

/// What of a question is no part of its request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Given {
    language: Option<Language>,
    max_steps: Option<u32>,
    deadline_s: Option<f64>,
    warnings: Vec<String>,
}

impl Asked {
    /// The start of a run of this question. Its documents are attached to its request.
    pub(crate) fn started(&self, model: Option<String>) -> EventKind {
        let attached = |(name, text): (&str, &Arc<str>)| Resource {
            kind: Kind::Text,
            name: Some(name.to_owned()),
            source: Source::Inline(text.to_string()),
        };
        let request = Request {
            attachments: self.documents.each().map(attached).collect(),
            history: self.history.clone(),
            thread: self.thread.clone(),
            ..Request::new(&self.question)
        };
        let given = Given {
            language: self.language,
            max_steps: self.max_steps,
            deadline_s: self.deadline.map(|deadline| deadline.as_secs_f64()),
            warnings: self.warnings.clone(),
        };
        let given = serde_json::to_value(given).expect("it has only string keys");
        let mut started = EventKind::run_started(crate::NAME, request, model);
        if let EventKind::RunStarted { given: place, .. } = &mut started {
            *place = Some(Box::new(given));
        }
        started
    }

    /// The question of a run that began so; `None` where it was asked as the request of a pipeline.
    pub fn of(began: &Began) -> Option<Asked> {
        let given: Given = serde_json::from_value(began.given.clone()?).ok()?;
        let texts = began.request.attachments.iter().filter_map(|attached| match &attached.source {
            Source::Inline(text) => Some((attached.name.clone().unwrap_or_default(), Arc::from(text.as_str()))),
            Source::Public(_) | Source::Url(_) => None,
        });
        Some(Asked {
            question: began.request.text.clone(),
            documents: Documents::new(texts.collect()),
            history: began.request.history.clone(),
            thread: began.request.thread.clone(),
            language: given.language,
            max_steps: given.max_steps,
            deadline: given.deadline_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            warnings: given.warnings,
        })
    }
}
