//! The registry of tools: the built-in ones, and those that the configuration names.

use std::path::Path;
use std::sync::Arc;

use jarvis_catalogue::Host;
use jarvis_catalogue::{Available, Model};
use jarvis_plan::Tool;
use jarvis_tools::approvals::{Approval, ApprovalsError, Change};
use jarvis_tools::config::ToolsConfig;
use jarvis_tools::{OpenError, OpenOptions, Opened, Registry, Unavailable, local, open};
use jarvis_workers::planned_tool;

use super::Folders;
use crate::config::{Config, Loaded};
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) struct Tools {
    pub(crate) registry: Arc<Registry>,
    opened: Opened,
}

/// Opens the registry; what cannot be reached is a warning.
pub(crate) async fn open_tools(loaded: &Loaded, folders: &Folders, printer: Printer) -> Result<Tools, Failure> {
    open_with(loaded, folders, false, (None, &[]), printer).await
}

/// Opens the registry. Prints no warning of a tool that is being approved (`approving`), and none of the `earlier` ones,
/// which have been printed.
async fn open_with(
    loaded: &Loaded,
    folders: &Folders,
    refresh: bool,
    (approving, earlier): (Option<&str>, &[String]),
    printer: Printer,
) -> Result<Tools, Failure> {
    let mut registry = Registry::new();
    local::add_to(&mut registry).and_then(|()| local::add_attached(&mut registry)).map_err(Failure::work)?;
    let base = loaded.path.as_deref().and_then(Path::parent).unwrap_or_else(|| Path::new(""));
    let Config { tools, mcp_servers, .. } = &loaded.config;
    let config = ToolsConfig { tools: tools.clone(), mcp_servers: mcp_servers.clone() };
    let options = OpenOptions { refresh, ..OpenOptions::new(&folders.approvals, base) };
    let opened = open(&config, registry, options).await.map_err(|error| match &error {
        OpenError::Approvals(_) => Failure::work(error),
        _ => Failure::usage(error).hint("see docs/tools.md for the entries of `tools` and `mcp_servers`"),
    })?;
    let warnings: Vec<&str> = match approving {
        Some(name) => opened.warnings_beside(opened.registry.meant(name).map_or(name, |spec| &spec.name)).collect(),
        None => opened.warnings.iter().map(String::as_str).collect(),
    };
    let new = warnings.into_iter().filter(|warning| !earlier.iter().any(|known| known == warning));
    new.for_each(|warning| printer.warning(warning));
    opened.notes.iter().for_each(|note| printer.note(note));
    Ok(Tools { registry: Arc::new(opened.registry.clone()), opened })
}

/// Opens the registry and asks every service anew: how many tools there are, and what is wrong with the rest.
pub(crate) async fn look_at_tools(loaded: &Loaded, folders: &Folders) -> Result<(usize, Vec<String>), Failure> {
    let tools = open_with(loaded, folders, true, (None, &[]), Printer::new(true, 0)).await?;
    Ok((tools.registry.specs().count(), tools.opened.warnings))
}

/// Unapproved changes of a remote tool, or of all tools of an MCP server: those on record, which the user has seen, or
/// else what the servers offer now.
pub(crate) async fn changed_tools(
    loaded: &Loaded,
    folders: &Folders,
    name: &str,
    printer: Printer,
) -> Result<(Tools, Vec<Change>), Failure> {
    let unknown = |error| match error {
        ApprovalsError::Unknown { .. } => Failure::usage(error).hint("`jarvis tools list` names the tools"),
        other => Failure::work(other),
    };
    let tools = open_with(loaded, folders, false, (Some(name), &[]), printer).await?;
    let recorded = match tools.opened.changes(tools.full(name)) {
        Err(ApprovalsError::Unknown { .. }) => Vec::new(),
        recorded => recorded.map_err(unknown)?,
    };
    if !recorded.is_empty() {
        return Ok((tools, recorded));
    }
    let tools = open_with(loaded, folders, true, (Some(name), &tools.opened.warnings), printer).await?;
    let offered = tools.opened.changes(tools.full(name)).map_err(unknown)?;
    Ok((tools, offered))
}

impl Tools {
    /// A tool's own name where one is meant, else the name as it is.
    fn full<'a>(&'a self, name: &'a str) -> &'a str {
        self.registry.meant(name).map_or(name, |spec| &spec.name)
    }

    /// What is approved of a tool that others describe, and what is offered now where that differs.
    pub(crate) fn approval(&self, name: &str) -> Option<Approval> {
        self.opened.approval(name)
    }

    /// Approves changes as they were looked at. Returns the names of the tools; those that are offered differently by now are
    /// left out.
    pub(crate) fn accept(&self, changes: &[Change]) -> Result<Vec<String>, Failure> {
        self.opened.approvals.accept(changes).map_err(Failure::work)
    }

    /// What is wrong with the tools.
    #[cfg(feature = "serve")]
    pub(super) fn warnings(&self) -> &[String] {
        &self.opened.warnings
    }

    /// What others describe and waits for approval: its source, its name, and what is known of it.
    #[cfg(feature = "serve")]
    pub(super) fn waiting(&self) -> Vec<(String, String, Approval)> {
        self.opened.approvals.waiting()
    }

    pub(crate) fn is_planned(&self, name: &str) -> bool {
        self.opened.planned.iter().any(|planned| planned.name == name)
    }

    /// What the configuration names and cannot be used, with the reasons.
    pub(crate) fn unavailable(&self) -> &[Unavailable] {
        &self.opened.unavailable
    }

    /// What is offered now of a tool whose description changed since it was approved: name, description, schema.
    pub(crate) fn changed(&self, name: &str) -> Option<serde_json::Value> {
        let offered = self.opened.approval(name)?.offered?;
        serde_json::to_value(offered).ok()
    }

    /// The tools as tasks of their own names.
    pub(super) fn planned(&self) -> Vec<Tool> {
        let specs = self.opened.planned.iter().filter_map(|planned| self.registry.spec(&planned.name));
        specs.map(planned_tool).filter(|tool| jarvis_catalogue::find(&tool.name).is_none()).collect()
    }

    /// The tools of this program that plans may use without configuration, save those that the configuration plans with.
    pub(super) fn native(&self) -> Vec<Tool> {
        let names = local::OFFERED.into_iter().chain([local::ATTACHED_FILES]).filter(|name| !self.is_planned(name));
        names.filter_map(|name| self.registry.spec(name)).map(planned_tool).collect()
    }

    /// The tools as performers of the task types that they serve.
    pub(super) fn serving(&self) -> Vec<Available> {
        let served = |planned: &jarvis_tools::Planned| {
            let task = planned.serves.as_deref()?;
            let spec = self.registry.spec(&planned.name)?;
            let kind = jarvis_catalogue::find(task)?;
            let model = Model::new(&spec.name, kind.name, Host::Tool, &spec.description);
            Some(Available { model: Arc::new(model), host: Host::Tool })
        };
        self.opened.planned.iter().filter_map(served).collect()
    }
}
