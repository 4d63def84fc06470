//! Prompts as Markdown: sections are messages, `{{name}}` is a slot, and rendering gives turns.
//!
//! A file has the sections `## system`, `## demo: user`, `## demo: assistant`, `## user` and `## assistant`, in the
//! order of the conversation; what stands before the first is a comment. Demos may be left out to save room, other
//! sections never. Values go into the messages in one pass: what they contain is never expanded again, and never part
//! of serialised JSON. Text goes in verbatim, anything else as JSON.

mod error;
mod sections;

use std::collections::BTreeSet;

use jarvis_plan::{Role, Turn};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};

pub use error::TemplateError;

use sections::Section;

/// A prompt, parsed and checked: what is left to go wrong is a context without one of its slots.
#[derive(Debug, Clone)]
pub struct Template {
    name: String,
    slots: Vec<String>,
    parts: Vec<Part>,
    env: Environment<'static>,
}

#[derive(Debug, Clone)]
struct Part {
    role: Role,
    demo: bool,
    key: String,
}

impl Template {
    /// Parses a Markdown prompt. `slots` lists the names that its context will have.
    ///
    /// # Errors
    /// Names the template and the line of a section or expression that cannot be understood, or an unknown slot.
    pub fn parse(name: &str, text: &str, slots: &[&str]) -> Result<Template, TemplateError> {
        let mut template = Template {
            name: name.to_owned(),
            slots: slots.iter().map(|slot| (*slot).to_owned()).collect(),
            parts: Vec::new(),
            env: environment(),
        };
        for section in sections::split(name, text)? {
            template.push(section)?;
        }
        Ok(template)
    }

    /// Replaces the system text.
    pub fn with_system(mut self, text: &str) -> Result<Template, TemplateError> {
        let rest = std::mem::take(&mut self.parts);
        self.push(Section {
            role: Role::System,
            demo: false,
            text: text.to_owned(),
            title: "system".to_owned(),
            line: 1,
        })?;
        self.parts.extend(rest.into_iter().filter(|part| part.role != Role::System));
        Ok(self)
    }

    /// Replaces the last user message.
    pub fn with_user(mut self, text: &str) -> Result<Template, TemplateError> {
        self.parts.pop();
        self.push(Section { role: Role::User, demo: false, text: text.to_owned(), title: "user".to_owned(), line: 1 })?;
        Ok(self)
    }

    /// Replaces the messages between the system text and the last user message by a JSON array of messages
    /// `{"role","content"}`, whose contents may have slots.
    ///
    /// # Errors
    /// When it is not such an array, and as [`Template::parse`].
    pub fn with_demos(mut self, json: &str) -> Result<Template, TemplateError> {
        let demos: Vec<Message> = serde_json::from_str(json).map_err(|error| TemplateError::Demos {
            template: self.name.clone(),
            line: error.line(),
            message: error.to_string(),
        })?;
        let old = std::mem::take(&mut self.parts);
        // Messages that carry the request itself are not examples that could be left out.
        let is_between = |part: &Part| part.role != Role::System;
        let between = old.len().saturating_sub(1);
        let droppable = old.iter().take(between).filter(|part| is_between(part)).all(|part| part.demo);
        self.parts.extend(old.iter().filter(|part| !is_between(part)).cloned());
        for (at, demo) in demos.into_iter().enumerate() {
            let title = format!("demo {}", at + 1);
            self.push(Section { role: demo.role, demo: droppable, text: demo.content, title, line: 1 })?;
        }
        self.parts.extend(old.last().cloned());
        Ok(self)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many demos there are: pairs of a user and an assistant message that may be left out.
    pub fn demos(&self) -> usize {
        self.parts.iter().filter(|part| part.demo).count().div_ceil(2)
    }

    pub fn uses(&self, slot: &str) -> bool {
        self.parts.iter().any(|part| self.used(part).contains(slot))
    }

    /// The source of a demo's assistant message.
    pub fn demo_answer(&self, demo: usize) -> Option<String> {
        let part = self.parts.iter().filter(|part| part.demo).nth(demo * 2 + 1)?;
        self.env.get_template(&part.key).ok().map(|template| template.source().to_owned())
    }

    /// Renders the messages with every demo. The context has a field for each slot and no others; debug builds assert it.
    ///
    /// # Errors
    /// When the context lacks a slot, or an expression fails.
    pub fn render(&self, context: &impl Serialize) -> Result<Vec<Turn>, TemplateError> {
        self.render_with(context, |_| true)
    }

    /// Renders the messages with the demos that `keep` says yes to, numbered from 0.
    pub fn render_with(
        &self,
        context: &impl Serialize,
        keep: impl Fn(usize) -> bool,
    ) -> Result<Vec<Turn>, TemplateError> {
        let context = Value::from(Serde(context));
        let mut turns = Vec::with_capacity(self.parts.len());
        let mut demo_parts = 0;
        for part in &self.parts {
            if part.demo {
                demo_parts += 1;
                if !keep((demo_parts - 1) / 2) {
                    continue;
                }
            }
            let fail = |error: minijinja::Error| TemplateError::Render {
                template: self.name.clone(),
                part: part.key.clone(),
                message: error::message(&error),
            };
            let template = self.env.get_template(&part.key).map_err(fail)?;
            let content = template.render(&context).map_err(fail)?;
            turns.push(Turn::said(part.role, content));
        }
        debug_assert!(self.is_bound_to(&context), "`{}` is rendered with other fields than its slots", self.name);
        Ok(turns)
    }

    /// Whether the fields of a context are the slots, no more and no fewer: every test that renders a prompt checks it.
    fn is_bound_to(&self, context: &Value) -> bool {
        let fields: BTreeSet<String> =
            context.try_iter().into_iter().flatten().map(|field| field.to_string()).collect();
        fields == self.slots.iter().cloned().collect()
    }

    fn push(&mut self, section: Section) -> Result<(), TemplateError> {
        // Keys are unique, so that a replaced message does not change the text of another.
        let mut key = section.title.clone();
        let mut count = 1;
        while self.env.get_template(&key).is_ok() {
            count += 1;
            key = format!("{} ({count})", section.title);
        }
        let leading = section.text.len() - section.text.trim_start().len();
        let leading = section.text.get(..leading).expect("blanks are whole characters").matches('\n').count();
        self.env.add_template_owned(key.clone(), section.text.trim().to_owned()).map_err(|error| {
            TemplateError::Syntax {
                template: self.name.clone(),
                part: section.title.clone(),
                line: section.line + leading + error.line().unwrap_or(1).saturating_sub(1),
                message: error::message(&error),
            }
        })?;
        let part = Part { role: section.role, demo: section.demo, key };
        if let Some(slot) = self.used(&part).into_iter().find(|slot| !self.slots.contains(slot)) {
            return Err(TemplateError::UnknownSlot {
                template: self.name.clone(),
                part: section.title,
                slot,
                known: self.slots.join(", "),
            });
        }
        self.parts.push(part);
        Ok(())
    }

    fn used(&self, part: &Part) -> BTreeSet<String> {
        self.env
            .get_template(&part.key)
            .expect("each part was added to the environment")
            .undeclared_variables(false)
            .into_iter()
            .collect()
    }
}

#[derive(Debug, Deserialize)]
struct Message {
    role: Role,
    content: String,
}

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    // A block tag on its own line leaves no blank line. The default delimiters are always valid.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        env.set_syntax(syntax);
    }
    env.add_filter("json", |value: Value| json(&value));
    env.set_formatter(|out, _, value| {
        if let (ValueKind::String, Some(text)) = (value.kind(), value.as_str()) {
            out.write_str(text).map_err(minijinja::Error::from)
        } else {
            out.write_str(&json(value)?).map_err(minijinja::Error::from)
        }
    });
    env
}

/// A value as JSON on one line. The engine's own filter escapes `<` and would spoil `<GENERATED>`.
fn json(value: &Value) -> Result<String, minijinja::Error> {
    serde_json::to_string(value)
        .map_err(|error| minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string()))
}
