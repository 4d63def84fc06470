//! Entries for MCP servers.

use std::future::Future;
use std::sync::Arc;

use jarvis_catalogue::openapi::Schema;
use jarvis_plan::Effect;
use serde_json::{Value, json};

use super::{OpenError, OpenOptions, Opening, timeout_of};
use crate::approvals::{Approval, Approvals, Described, Verdict, added, changed};
use crate::config::{McpEntry, NewTools, Trust};
use crate::mcp::{McpServer, McpTool};
use crate::untrusted::first_sentence;
use crate::{ToolSource, ToolSpec};
use jarvis_net::text::shorten;

/// What a server offers: each tool as it was approved.
pub(super) struct Offer {
    server: Arc<McpServer>,
    tools: Vec<(String, Described)>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Checks an entry, and gives what will find out what the server offers: by what is known of it, else by asking it.
pub(super) fn ask(
    name: &str,
    entry: &McpEntry,
    options: OpenOptions,
    approvals: Arc<Approvals>,
) -> Result<impl Future<Output = Offer> + use<>, OpenError> {
    let called = called(name);
    let proper = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.chars().count() > 60 || !name.chars().all(proper) {
        let reason = "its name may hold letters, digits, `_`, `-` and `.`, at most 60".to_owned();
        return Err(OpenError::Invalid { entry: called, reason });
    }
    if entry.command.is_some() == entry.url.is_some() {
        return Err(OpenError::OneOf { entry: called, of: "`command` and `url`" });
    }
    timeout_of(&called, entry.timeout_s)?;
    let server = McpServer::new(name, entry.clone(), options.base, options.env, Arc::clone(&approvals));
    let server = Arc::new(server);
    let new_tools = entry.new_tools;
    Ok(async move { offer(server, &approvals, options.refresh, new_tools).await })
}

fn called(name: &str) -> String {
    format!("the entry `{}` of `mcp_servers`", shorten(name, 80))
}

async fn offer(server: Arc<McpServer>, approvals: &Arc<Approvals>, refresh: bool, new_tools: NewTools) -> Offer {
    let (source, origin) = (server.source(), server.origin());
    let known = approvals.known(&source, &origin);
    let mut offer = Offer { server, tools: Vec::new(), warnings: Vec::new(), notes: Vec::new() };
    let server = Arc::clone(&offer.server);
    // Asking is what needs time: with what is known of the server that can wait until a tool is called.
    let waits = |known: &[(String, Approval)]| known.iter().any(|(_, approval)| approval.unapproved);
    let listing = match &known {
        Some(known) if !refresh && (new_tools == NewTools::Ask || !waits(known)) => None,
        Some(_) | None => match server.listing().await {
            Ok(listing) => Some(listing),
            Err(error) => {
                offer.warnings.push(error.message);
                None
            }
        },
    };
    match (listing, known) {
        (Some(listing), _) => {
            offer.warnings.extend(listing.warnings.iter().cloned());
            let mut fresh = 0;
            for (own, described, verdict) in listing.tools() {
                if verdict == Verdict::Added {
                    offer.warnings.push(added(&server.full(own)).message);
                    continue;
                }
                let mut approved = described.clone();
                fresh += usize::from(verdict == Verdict::New);
                if verdict == Verdict::Changed {
                    let full = server.full(own);
                    offer.warnings.push(changed(&full).message);
                    approved = approvals.get(&source, &full).map_or(approved, |approval| approval.approved);
                }
                offer.tools.push((own.to_owned(), approved));
            }
            if fresh > 0 {
                let words =
                    format!("{fresh} tools of the MCP server `{}` are approved as it describes them", server.name());
                offer.notes.push(words);
            }
        }
        (None, Some(known)) => {
            let start = server.full("");
            for (full, approval) in known {
                let Some(own) = full.strip_prefix(&start) else { continue };
                if approval.unapproved {
                    offer.warnings.push(added(&full).message);
                    continue;
                }
                if approval.offered.is_some() {
                    offer.warnings.push(changed(&full).message);
                }
                offer.tools.push((own.to_owned(), approval.approved));
            }
        }
        (None, None) => {}
    }
    offer
}

impl Opening {
    pub(super) fn add_server(&mut self, name: &str, entry: &McpEntry, offer: Offer) -> Result<(), OpenError> {
        let called = called(name);
        let timeout = timeout_of(&called, entry.timeout_s)?;
        let Offer { server, tools, warnings, notes } = offer;
        let allowed = |own: &str| entry.allow.as_ref().is_none_or(|allow| allow.iter().any(|one| one == own));
        self.warnings.extend(warnings);
        self.notes.extend(notes);
        let mentioned = entry.allow.iter().flatten().chain(entry.when.keys()).chain(entry.examples.keys());
        for own in mentioned.chain(entry.serves.keys()).chain(entry.effects.keys()) {
            let full = format!("{name}/{own}");
            let told = self.warnings.iter().any(|warning| warning.contains(&full));
            if !tools.is_empty() && !tools.iter().any(|(offered, _)| offered == own) && !told {
                self.warnings.push(format!("the MCP server `{name}` offers no tool `{own}` (`{full}`)"));
            }
        }
        for (own, described) in tools.into_iter().filter(|(own, _)| allowed(own)) {
            let spec = ToolSpec {
                name: server.full(&own),
                when: entry.when.get(&own).cloned().unwrap_or_else(|| when_of(&described)),
                example: entry.examples.get(&own).cloned().unwrap_or_else(|| example_of(&described.schema)),
                effect: effect_of(entry, &own, &described),
                output_schema: described.output_schema,
                description: described.description,
                input_schema: described.schema,
                source: ToolSource::Mcp,
            };
            let serves = entry.serves.get(&own).cloned();
            if let Some(task) = serves.as_deref().filter(|task| jarvis_catalogue::find(task).is_none()) {
                let reason = format!("a tool is to serve `{task}`, which is no task type");
                self.leave_out(&spec.name, &OpenError::Invalid { entry: called.clone(), reason });
                continue;
            }
            let name = spec.name.clone();
            let tool = McpTool::new(spec, Arc::clone(&server), own, timeout);
            if let Err(error) = self.take(&called, Arc::new(tool), McpTool::longest(timeout), serves) {
                self.leave_out(&name, &error);
            }
        }
        Ok(())
    }
}

/// What a tool does to the world: as the configuration says, else as its server says where that is believed.
fn effect_of(entry: &McpEntry, own: &str, described: &Described) -> Effect {
    let said = described.effect.filter(|_| entry.trust == Some(Trust::Annotations));
    entry.effects.get(own).copied().or(said).unwrap_or(Effect::Writes)
}

/// When to use a tool, after what its server says of it.
fn when_of(described: &Described) -> String {
    let sentence = first_sentence(&described.description);
    let words = if sentence.is_empty() { &described.title } else { &sentence };
    format!("this is what is needed: {words}")
}

fn example_of(schema: &Value) -> Value {
    let example = Schema::of_json_schema(schema).sample("");
    if example.is_object() { example } else { json!({}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_follow_the_schema() {
        for (schema, example) in [
            (json!({}), json!({})),
            (json!({"type": "object"}), json!({})),
            (
                json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}),
                json!({"message": "text"}),
            ),
            (
                json!({
                    "type": "object",
                    "properties": {
                        "a": {"type": "integer", "default": 7},
                        "b": {"enum": ["x", "y"]},
                        "c": {"type": "number", "examples": [2.5]},
                        "d": {"$ref": "#/$defs/d"},
                        "e": {"type": "boolean"}
                    },
                    "required": ["a", "b", "c", "d"],
                    "$defs": {"d": {"type": "array", "items": {"type": "integer", "minimum": 3}}}
                }),
                json!({"a": 7, "b": "x", "c": 2.5, "d": [3]}),
            ),
            (json!({"type": "object", "examples": [{"q": 1}]}), json!({"q": 1})),
            (json!({"type": "string"}), json!({})),
        ] {
            assert_eq!(example_of(&schema), example, "{schema}");
        }
    }
}
