//! The prompts: one user message each, with the section labels that recordings and scripted servers match on.

use std::io;

use jarvis_chat::Message;
use jarvis_prompt::template::TemplateError;
use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value, json};

use super::Links;
use super::demos::Demo;
use crate::data::{DependencyType, ToolList};
use crate::prompts::Prompt;

#[derive(Debug, Clone)]
pub struct Prompts {
    table: jarvis_ask::Prompts<Prompt>,
    dependency: DependencyType,
    links: Links,
    tools: String,
    demos: Vec<Shown>,
}

#[derive(Debug, Clone, Serialize)]
struct Shown {
    request: String,
    result: String,
}

impl Prompts {
    pub fn new(dependency: DependencyType, tools: &ToolList, demos: &[Demo]) -> Result<Prompts, TemplateError> {
        let lines: Vec<String> = tools.tools.iter().map(|tool| line(&entry(&tool.entry, dependency))).collect();
        Ok(Prompts {
            table: jarvis_ask::Prompts::builtin()?,
            dependency,
            links: Links::Order,
            tools: lines.join("\n"),
            demos: demos
                .iter()
                .map(|demo| Shown { request: demo.request.clone(), result: line(&demo.result) })
                .collect(),
        })
    }

    /// The same with this meaning of links; [`Links::Order`] unless set.
    #[must_use]
    pub fn linked(self, links: Links) -> Prompts {
        Prompts { links, ..self }
    }

    pub fn plan(&self, request: &str) -> Result<Vec<Message>, TemplateError> {
        #[derive(Serialize)]
        struct Context<'a> {
            tools: &'a str,
            demos: &'a [Shown],
            request: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<bool>,
        }
        let (prompt, data) = match self.dependency {
            DependencyType::Resource => (Prompt::PlanResource, None),
            DependencyType::Temporal => (Prompt::PlanTemporal, Some(self.links == Links::Data)),
        };
        self.table.messages(prompt, &Context { tools: &self.tools, demos: &self.demos, request, data })
    }

    pub fn reformat(&self, reply: &str) -> Result<Vec<Message>, TemplateError> {
        let temporal = self.dependency == DependencyType::Temporal;
        self.table.messages(Prompt::Reformat, &json!({"temporal": temporal, "reply": reply}))
    }
}

/// A catalogue entry as the prompt lists it: as it is, or with its parameters reduced to their names.
fn entry(entry: &Value, dependency: DependencyType) -> Value {
    let mut entry = entry.clone();
    if dependency == DependencyType::Temporal
        && let Some(Value::Array(parameters)) = entry.get_mut("parameters")
    {
        for parameter in parameters {
            if let Some(name) = parameter.get("name") {
                *parameter = name.clone();
            }
        }
    }
    entry
}

/// JSON on one line with a blank after each comma and colon, as the original writes it into prompts: models see the
/// same text, so that results compare.
fn line(value: &Value) -> String {
    let mut out = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, Spaced));
    written.expect("values have text keys, and memory takes every write");
    String::from_utf8(out).expect("JSON is UTF-8")
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
