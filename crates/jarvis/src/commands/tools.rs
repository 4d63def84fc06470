//! `jarvis tools`: lists, shows, calls and approves tools.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Subcommand;
use jarvis_plan::{Medium, Param, medium};
use jarvis_store::files;
use jarvis_tools::approvals::{Approval, Change, Described};
#[cfg(feature = "grpc")]
use jarvis_tools::grpc::GrpcEndpoint;
use jarvis_tools::{Documents, Observation, Scope, ToolErrorKind, ToolSpec, Unavailable};
use jarvis_workers::planned_tool;
use serde_json::{Value, json};

use super::picture_place;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{Printer, one_line};
use crate::session::cancel_on_interrupt;
use crate::wiring::{Folders, Tools, changed_tools, document_reader, load_config, open_tools};

/// `jarvis tools …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools: built-in ones, and those that the configuration names
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one tool: what it does, when to use it, its input with an example
    Show {
        /// The tool, as `list` names it
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Call a tool
    Call {
        /// The tool, as `list` names it
        name: String,
        /// Its input, a JSON object
        #[arg(value_name = "JSON", default_value = "{}")]
        input: String,
        /// The document that it looks into
        #[arg(short, long, value_name = "DOC")]
        file: Option<PathBuf>,
        /// Write the picture that it makes to this file
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List the methods of a gRPC server that describes itself, with their input
    Methods {
        /// Its address: HOST:PORT, or a URL
        endpoint: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Accept the changed description of a remote tool, or a new tool of a known MCP server, and show what was accepted: what `show` showed
    Approve {
        /// The tool, as `list` names it, or an MCP server for all of its tools
        name: String,
    },
}

pub(super) async fn run(command: ToolsCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let loaded = load_config(global, printer)?;
    let folders = Folders::of(&loaded.config)?;
    match command {
        ToolsCommand::Approve { name } => {
            let (tools, changes) = changed_tools(&loaded, &folders, &name, printer).await?;
            approve(&tools, &changes, printer)
        }
        ToolsCommand::Methods { endpoint, json } => methods(&endpoint, json, printer).await,
        ToolsCommand::List { json } => {
            let tools = open_tools(&loaded, &folders, printer).await?;
            list(&tools, json, printer)
        }
        ToolsCommand::Show { name, json } => {
            let tools = open_tools(&loaded, &folders, printer).await?;
            match find(&tools, &name) {
                Ok(spec) => show(&tools, spec, json, printer),
                Err(failure) => match tools.approval(&name) {
                    // What waits for approval is looked at before.
                    Some(Approval { approved, offered: Some(offered), .. }) if json => {
                        printer.json(&json!({"name": name, "approved": (approved != offered).then_some(approved), "offered": offered}))
                    }
                    Some(Approval { approved, offered: Some(offered), .. }) => {
                        printer.out(versions(&name, &approved, &offered)?.trim_end());
                        printer.progress(&format!("`jarvis tools approve {name}` accepts it"));
                        Ok(ExitCode::SUCCESS)
                    }
                    Some(_) | None => Err(failure),
                },
            }
        }
        ToolsCommand::Call { name, input, file, out, json } => {
            let tools = open_tools(&loaded, &folders, printer).await?;
            let input: Value = serde_json::from_str(&input).map_err(|error| {
                let example = tools.registry.meant(&name).map(|spec| format!(", such as '{}'", spec.example));
                Failure::usage(format!("the input is not JSON: {error}"))
                    .hint(format!("write one JSON object{}", example.unwrap_or_default()))
            })?;
            let spec = find(&tools, &name)?.clone();
            let documents = match &file {
                Some(file) => document(file).await?,
                None => Documents::default(),
            };
            call(&tools, &spec, &input, documents, out.as_deref(), json, printer).await
        }
    }
}

fn find<'a>(tools: &'a Tools, name: &str) -> Result<&'a ToolSpec, Failure> {
    tools
        .registry
        .meant(name)
        .ok_or_else(|| match tools.unavailable().iter().find(|one| one.name == name) {
            Some(Unavailable { reason, .. }) => Failure::usage(format!("`{name}` is unavailable: {reason}")),
            None => Failure::usage(tools.registry.unknown(name).message),
        })
        .map_err(|failure| failure.hint("`jarvis tools list` names them all"))
}

/// The document at a path, whatever its format.
async fn document(path: &Path) -> Result<Documents, Failure> {
    let failed = |error: &dyn std::error::Error| {
        Failure::usage(format!("cannot read the document `{}`: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let read = jarvis_document::read(bytes.into(), document_reader().as_ref()).await.map_err(|error| failed(&error))?;
    Ok(Documents::new(vec![(path.display().to_string(), read.text)]))
}

#[cfg(not(feature = "grpc"))]
async fn methods(_: &str, _: bool, _: Printer) -> Result<ExitCode, Failure> {
    Err(super::not_built("grpc"))
}

#[cfg(feature = "grpc")]
async fn methods(address: &str, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    let endpoint = GrpcEndpoint::new(address, None, None).map_err(Failure::usage)?;
    let methods = endpoint.methods().await.map_err(Failure::work)?;
    if json {
        return printer.json(&json!({"methods": methods}));
    }
    for method in methods {
        let streams = if method.streams { "  (streams; it cannot be a tool)" } else { "" };
        printer.out(&format!("{}{streams}\n  {}", method.name, method.input_schema));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(tools: &Tools, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    if json {
        let rows: Vec<Value> = tools.registry.specs().map(|spec| described(tools, spec)).collect();
        return printer.json(&json!({"tools": rows, "unavailable": tools.unavailable()}));
    }
    let wide = tools.registry.specs().map(|spec| spec.name.chars().count()).max().unwrap_or(0);
    for spec in tools.registry.specs() {
        let (source, effect) = (spec.source.to_string(), spec.effect.to_string());
        printer.out(&format!("{:<wide$}  {source:<7}  {effect:<8}  {}", spec.name, one_line(&spec.description, 100)));
    }
    for Unavailable { name, reason } in tools.unavailable() {
        printer.out(&format!("{name:<wide$}  unavailable: {}", one_line(reason, 200)));
    }
    Ok(ExitCode::SUCCESS)
}

fn described(tools: &Tools, spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "when": spec.when,
        "input_format": spec.input_schema,
        "example": spec.example,
        "source": spec.source,
        "effect": spec.effect,
        "arguments": arguments(spec)
            .iter()
            .map(|(param, medium)| json!({
                "name": param.name, "required": param.required, "takes": param.takes(), "medium": medium,
            }))
            .collect::<Vec<_>>(),
        "planned": tools.is_planned(&spec.name),
        "changed": tools.changed(&spec.name),
    })
}

/// The arguments of a tool, those that a call needs first, each with what its schema makes of it.
fn arguments(spec: &ToolSpec) -> Vec<(Param, Option<String>)> {
    let mut params = planned_tool(spec).params;
    params.sort_by_key(|param| !param.required);
    let medium_of = |param: &Param| match medium(&param.name, param.schema.as_ref().unwrap_or(&Value::Null)) {
        Medium::Kind(kind) => Some(kind.to_string()),
        Medium::Document => Some("document".to_owned()),
        Medium::Path => Some("path".to_owned()),
        Medium::None => None,
    };
    params.into_iter().map(|param| (medium_of(&param), param)).map(|(medium, param)| (param, medium)).collect()
}

fn shown_arguments(spec: &ToolSpec) -> String {
    let line = |(param, medium): &(Param, Option<String>)| {
        let need = if param.required { "required" } else { "optional" };
        let medium = medium.as_ref().map(|medium| format!(" [{medium}]")).unwrap_or_default();
        format!("  {}  {need}, {}{medium}\n", param.name, one_line(&param.takes(), 120))
    };
    arguments(spec).iter().map(line).collect()
}

fn show(tools: &Tools, spec: &ToolSpec, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    if json {
        return printer.json(&described(tools, spec));
    }
    let schema = serde_json::to_string_pretty(&spec.input_schema).map_err(Failure::work)?;
    let approval = tools.approval(&spec.name);
    let changed = match approval.as_ref().and_then(|known| Some((&known.approved, known.offered.as_ref()?))) {
        Some((approved, offered)) => format!("\n\n{}", versions(&spec.name, approved, offered)?),
        None => String::new(),
    };
    printer.out(&format!(
        "{} ({}, {})\n\n{}\n\nUse it when: {}\nExample: jarvis tools call {} '{}'\nArguments:\n{}Input:\n{schema}{changed}",
        spec.name,
        spec.source,
        spec.effect,
        spec.description,
        spec.when,
        spec.name,
        spec.example,
        shown_arguments(spec)
    ));
    Ok(ExitCode::SUCCESS)
}

fn versions(name: &str, approved: &Described, offered: &Described) -> Result<String, Failure> {
    let version = |described: &Described| -> Result<String, Failure> {
        let mut text = String::new();
        if !described.title.is_empty() {
            text.push_str(&format!("Title: {}\n", described.title));
        }
        let schema = serde_json::to_string_pretty(&described.schema).map_err(Failure::work)?;
        text.push_str(&format!("Description: {}\nInput: {schema}\n", described.description));
        if let Some(output) = &described.output_schema {
            let output = serde_json::to_string_pretty(output).map_err(Failure::work)?;
            text.push_str(&format!("Output: {output}\n"));
        }
        if let Some(effect) = described.effect {
            text.push_str(&format!("Effect: {effect}\n"));
        }
        for (hint, set) in &described.hints {
            text.push_str(&format!("{hint}: {set}\n"));
        }
        // Set in, so that no description can look like the words around it.
        Ok(text.lines().map(|line| format!("  | {line}\n")).collect())
    };
    if approved == offered {
        return Ok(format!("`{name}` is new at a known server. Offered:\n{}", version(offered)?));
    }
    Ok(format!(
        "`{name}` changed since it was approved. Approved:\n{}Offered:\n{}",
        version(approved)?,
        version(offered)?
    ))
}

fn approve(tools: &Tools, changes: &[Change], printer: Printer) -> Result<ExitCode, Failure> {
    if changes.is_empty() {
        printer.progress("there is nothing to approve: all is as it was approved");
        return Ok(ExitCode::SUCCESS);
    }
    for change in changes {
        printer.out(&versions(&change.name, &change.approved, &change.offered)?);
    }
    let accepted = tools.accept(changes)?;
    for name in &accepted {
        printer.progress(&format!("`{name}` is approved as it is offered"));
    }
    match changes.iter().find(|change| !accepted.contains(&change.name)) {
        Some(Change { name, .. }) => {
            let words = format!("`{name}` changed once more meanwhile, and is not approved");
            Err(Failure::work(std::io::Error::other(words)).hint(format!("look at it with `jarvis tools show {name}`")))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

async fn call(
    tools: &Tools,
    spec: &ToolSpec,
    input: &Value,
    documents: Documents,
    out: Option<&Path>,
    json: bool,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    out.map_or(Ok(()), picture_place)?;
    let scope = Scope { documents, ..Scope::default() };
    let interrupt = tokio::spawn(cancel_on_interrupt(scope.cancel.clone()));
    let called = tools.registry.call(&spec.name, input, &scope).await;
    interrupt.abort();
    let observation = match called {
        Ok(observation) => observation,
        Err(error) => {
            if json {
                let document =
                    json!({"tool": spec.name, "error": {"code": error.kind.as_str(), "message": error.message}});
                printer.out(&document.to_string());
            }
            let hint = format!("`jarvis tools show {}` shows its arguments", spec.name);
            return Err(match error.kind {
                ToolErrorKind::InvalidInput | ToolErrorKind::UnknownTool => Failure::usage(error).hint(hint),
                _ => Failure::work(error),
            });
        }
    };
    let picture = observation.media.last();
    if let (Some(path), Some(picture)) = (out, picture) {
        files::replace(path, &picture.bytes).map_err(Failure::work)?;
    }
    if json {
        return printer.json(&call_document(spec, &observation));
    }
    printer.out(&observation.text);
    match (out, picture) {
        (Some(path), Some(_)) => printer.progress(&format!("the file is in {}", path.display())),
        (Some(_), None) => printer.warning("the tool made no file"),
        (None, Some(_)) => printer.progress("a file was made; write it with --out FILE"),
        (None, None) => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn call_document(spec: &ToolSpec, observation: &Observation) -> Value {
    let artifact = |artifact: &jarvis_tools::Artifact| json!({"mime": artifact.mime, "bytes": artifact.bytes.len(), "data": STANDARD.encode(&artifact.bytes)});
    let artifacts: Vec<Value> = observation.media.iter().map(artifact).collect();
    json!({"tool": spec.name, "observation": observation.text, "artifacts": artifacts})
}
