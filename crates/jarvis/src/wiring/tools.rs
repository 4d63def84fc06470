//! The registry of tools: the built-in ones, and those that the configuration names.

use std::sync::Arc;

use jarvis_tools::{Registry, local};

use super::Folders;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;

/// All tools, and which of them plans may use.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    /// The registry.
    pub(crate) registry: Arc<Registry>,
}

/// Opens the registry; what cannot be reached is a warning.
pub(crate) async fn open_tools(_config: &Config, _folders: &Folders, _printer: Printer) -> Result<Tools, Failure> {
    let mut registry = Registry::new();
    local::add_to(&mut registry).map_err(Failure::work)?;
    Ok(Tools { registry: Arc::new(registry) })
}

/// Accepts the description of a remote tool as it is now.
pub(crate) async fn approve_tool(
    _config: &Config,
    _folders: &Folders,
    _name: &str,
    _printer: Printer,
) -> Result<(), Failure> {
    Ok(())
}

impl Tools {
    /// Whether plans may use a tool.
    pub(crate) fn is_planned(&self, _name: &str) -> bool {
        false
    }

    /// Whether a tool's description changed since it was approved.
    pub(crate) fn changed(&self, _name: &str) -> bool {
        false
    }
}
