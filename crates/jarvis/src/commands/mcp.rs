//! `jarvis mcp`: an MCP server for the one client that started it. Standard output is the protocol's alone.

use std::process::ExitCode;
use std::sync::Arc;

use jarvis_server::Desk;
use tokio_util::sync::CancellationToken;

use super::serve;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::signals::Signals;
use crate::wiring::{App, Flags, Reader};

pub(super) async fn run(global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    // The terminal, where there is one, is the protocol's; files are named by their place on disk.
    let desk = Desk::default();
    let approver = Arc::new(desk.clone());
    let app = App::build_for(Reader::Here { out: None }, Flags::default(), approver, global, printer).await?;
    if let Some(endpoint) = app.endpoint.clone() {
        // So that the first request does not wait for the tokenizer.
        tokio::spawn(async move { endpoint.preload().await });
    }
    let options = serve::options(&app.config);
    let parts = serve::parts(&app, desk)?;
    let setup = serve::setup(app, global)?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let mut signals = Signals::taken();
    tokio::spawn(async move {
        signals.next().await;
        stopped.cancel();
    });
    jarvis_server::mcp_stdio(parts, setup, options, stop).await.map_err(serve::refused)?;
    Ok(ExitCode::SUCCESS)
}
