//! What an MCP server offers: asked for page by page, bounded, and cleaned.

use std::collections::{HashMap, HashSet};

use jarvis_plan::Effect;
use rmcp::model::{PaginatedRequestParams, Tool};

use super::connect::Connection;
use crate::approvals::{Described, Verdict};
use crate::untrusted::{self, Found, MAX_DESCRIPTION};
use crate::{ToolError, ToolErrorKind};
use jarvis_net::text::shorten;

/// The most tools of a server.
const MAX_TOOLS: usize = 1_000;

/// The most bytes of all that a server says of its tools.
const MAX_BYTES: usize = 4 << 20;

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

/// What a server offers, by the tools' own names, in its order.
pub(crate) struct Listing {
    tools: Vec<(String, Described, Verdict)>,
    by_name: HashMap<String, usize>,
    /// What a person should know of it.
    pub(crate) warnings: Vec<String>,
}

impl Listing {
    pub(super) fn new(tools: Vec<(String, Described)>, verdicts: Vec<Verdict>, warnings: Vec<String>) -> Listing {
        let tools: Vec<_> =
            tools.into_iter().zip(verdicts).map(|((own, described), verdict)| (own, described, verdict)).collect();
        let by_name = tools.iter().enumerate().map(|(at, (own, ..))| (own.clone(), at)).collect();
        Listing { tools, by_name, warnings }
    }

    pub(super) fn get(&self, own: &str) -> Option<(&Described, Verdict)> {
        let (_, described, verdict) = self.tools.get(*self.by_name.get(own)?)?;
        Some((described, *verdict))
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = (&str, &Described, Verdict)> {
        self.tools.iter().map(|(own, described, verdict)| (own.as_str(), described, *verdict))
    }
}

/// All tools that a server offers, by their own names, and warnings about them.
pub(super) async fn tools(
    server: &str,
    connection: &Connection,
) -> Result<(Vec<(String, Described)>, Vec<String>), ToolError> {
    let flood = |what: &str| {
        let message = format!("the MCP server `{server}` {what}");
        ToolError::new(ToolErrorKind::Transport, message)
    };
    let mut kept = Vec::new();
    let mut warnings = Vec::new();
    let mut names = HashSet::new();
    let mut cursors = HashSet::new();
    let (mut count, mut bytes) = (0, 0);
    let mut cursor: Option<String> = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page =
            connection.peer().list_tools(Some(params)).await.map_err(|error| connection.failed(server, &error))?;
        for tool in page.tools {
            count += 1;
            bytes += serde_json::to_vec(&tool).map_or(MAX_BYTES, |text| text.len());
            if count > MAX_TOOLS {
                return Err(flood(&format!("offers more than {MAX_TOOLS} tools")));
            }
            if bytes > MAX_BYTES {
                return Err(flood(&format!("says more than {} MiB of its tools", MAX_BYTES >> 20)));
            }
            let shown = shorten(&tool.name, 80);
            match described(server, &tool) {
                Ok(_) if !names.insert(tool.name.clone().into_owned()) => {
                    warnings
                        .push(format!("the MCP server `{server}` offers two tools named `{shown}`; the first is used"));
                }
                Ok((described, found)) => {
                    if let Some(words) = found.words() {
                        warnings.push(format!("`{server}/{shown}`: {words}"));
                    }
                    kept.push((tool.name.into_owned(), described));
                }
                Err(reason) => warnings.push(format!("the tool `{shown}` of the MCP server `{server}` {reason}")),
            }
        }
        let Some(next) = page.next_cursor.filter(|next| !next.is_empty()) else {
            return Ok((kept, warnings));
        };
        // A list that goes round in circles is as good as endless, and so are pages with nothing on them.
        if !cursors.insert(next.clone()) || cursors.len() > MAX_TOOLS {
            return Err(flood("has an endless list of tools"));
        }
        cursor = Some(next);
    }
}

/// What a server says of a tool, cleaned; or why the tool is left out.
fn described(server: &str, tool: &Tool) -> Result<(Described, Found), String> {
    let proper = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if tool.name.is_empty() || !tool.name.chars().all(proper) || server.len() + tool.name.chars().count() >= 128 {
        return Err("has a name that cannot be used, and is left out".into());
    }
    let mut found = Found::default();
    let title = tool.title.as_deref().or_else(|| tool.annotations.as_ref()?.title.as_deref()).unwrap_or_default();
    let title = untrusted::clean(title, MAX_TITLE, &mut found);
    let description = untrusted::clean(tool.description.as_deref().unwrap_or_default(), MAX_DESCRIPTION, &mut found);
    if description.is_empty() && title.is_empty() {
        return Err("says not what it does, and is left out".into());
    }
    let schema = serde_json::Value::Object((*tool.input_schema).clone());
    let schema = untrusted::clean_schema(&schema, &mut found)
        .ok_or("has a schema that is too large or hides something, and is left out")?;
    let description = if description.is_empty() { title.clone() } else { description };
    let output_schema = tool.output_schema.as_ref().map(|schema| serde_json::Value::Object((**schema).clone()));
    let output_schema = output_schema.and_then(|schema| untrusted::clean_schema(&schema, &mut found));
    let hints = tool.annotations.as_ref();
    let effect = match hints.map(|hints| (hints.read_only_hint, hints.destructive_hint)) {
        Some((Some(true), _)) => Some(Effect::Reads),
        // A tool that writes may destroy unless it says otherwise.
        Some((Some(false), Some(false))) => Some(Effect::Writes),
        Some((Some(false), _) | (None, Some(true))) => Some(Effect::Destroys),
        Some((None, Some(false))) => Some(Effect::Writes),
        Some((None, None)) | None => None,
    };
    let said = hints.map(|hints| {
        [
            ("readOnlyHint", hints.read_only_hint),
            ("destructiveHint", hints.destructive_hint),
            ("idempotentHint", hints.idempotent_hint),
            ("openWorldHint", hints.open_world_hint),
        ]
    });
    let said = said.into_iter().flatten().filter_map(|(name, hint)| Some((name.to_owned(), hint?)));
    Ok((Described { title, description, schema, output_schema, effect, hints: said.collect() }, found))
}
