//! Stands in for entries of MCP servers in a build without them: naming one is an error, not tools that are missing.

use std::future::Ready;
use std::sync::Arc;

use super::{OpenError, OpenOptions, Opening};
use crate::approvals::Approvals;
use crate::config::McpEntry;

/// Nothing is ever offered.
pub(super) enum Offer {}

pub(super) fn ask(name: &str, _: &McpEntry, _: OpenOptions, _: Arc<Approvals>) -> Result<Ready<Offer>, OpenError> {
    Err(OpenError::NotBuilt { entry: format!("the entry `{name}` of `mcp_servers`"), feature: "mcp" })
}

impl Opening {
    pub(super) fn add_server(&mut self, _: &str, _: &McpEntry, offer: Offer) -> Result<(), OpenError> {
        match offer {}
    }
}
