//! The two ends of a run: the request and the answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Budget, CallersTool, Kind, ReplyForm, Resource, Source, TaskId, ToolCall};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model or jarvis.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
    /// Tools of the caller that were called, of a turn of the assistant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
}

impl Turn {
    /// A turn in which nothing was called.
    pub fn said(role: Role, content: impl Into<String>) -> Turn {
        Turn { role, content: content.into(), calls: Vec::new() }
    }

    /// A turn of a person.
    pub fn user(content: impl Into<String>) -> Turn {
        Turn::said(Role::User, content)
    }

    /// A turn of the model.
    pub fn assistant(content: impl Into<String>) -> Turn {
        Turn::said(Role::Assistant, content)
    }

    /// Instructions.
    pub fn system(content: impl Into<String>) -> Turn {
        Turn::said(Role::System, content)
    }
}

/// Where a request stands among others of a client, in the client's words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Thread {
    /// The conversation that it belongs to; empty where it begins one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The message that it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What a person asks: text, attachments, earlier turns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Request {
    /// The text.
    pub text: String,
    /// Files and addresses given beside the text.
    #[serde(default)]
    pub attachments: Vec<Resource>,
    /// Earlier turns, oldest first.
    #[serde(default)]
    pub history: Vec<Turn>,
    /// Texts that the turn before made, where that is known: what "it" is in "read it aloud".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<String>,
    /// The most that the run may take, beside what the configuration allows.
    #[serde(default, skip_serializing_if = "is_unbounded")]
    pub budget: Budget,
    /// Whether its plan is neither made by experience nor kept as such.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_experience: bool,
    /// Tools that the caller performs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<CallersTool>,
    /// What was said after the text, which is still to be answered: calls of these tools and what they gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Turn>,
    /// The form that the reply is to have.
    #[serde(default, skip_serializing_if = "is_free")]
    pub form: Box<ReplyForm>,
    /// Where it stands among others, where the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Box<Thread>>,
}

fn is_free(form: &ReplyForm) -> bool {
    form.is_free()
}

fn is_unbounded(budget: &Budget) -> bool {
    *budget == Budget::default()
}

impl Request {
    /// A request that is only text.
    pub fn new(text: impl Into<String>) -> Request {
        Request { text: text.into(), ..Request::default() }
    }

    /// Whether it is more than words and files: tools of the caller's, or the form of the reply.
    pub fn is_of_a_protocol(&self) -> bool {
        !self.tools.is_empty() || !self.after.is_empty() || !self.form.is_free()
    }

    /// The text as the person wrote it: files by the names that they were given, not by the paths they were taken in under.
    pub fn typed(&self) -> String {
        let mut text = self.text.clone();
        for resource in &self.attachments {
            if let (Source::Public(path), Some(name)) = (&resource.source, &resource.name) {
                text = text.replace(path, name);
            }
        }
        text
    }
}

/// A file in an answer, and the task it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerResource {
    /// What it is.
    pub kind: Kind,
    /// Its display path.
    pub url: String,
    /// The task that made it.
    pub from: TaskId,
    /// What a person would call it: `photo-edges.png`.
    #[serde(default)]
    pub name: String,
    /// Where a person at this machine finds it under that name, when it was put somewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// What is said back: text plus resources plus what each came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The files made, in task order.
    #[serde(default)]
    pub resources: Vec<AnswerResource>,
    /// What a reader should know about the text: paths it names that no task made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Calls of tools of the caller's, which the caller makes before there is more to say. Then the text may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
}
