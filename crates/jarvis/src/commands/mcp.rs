//! `jarvis mcp`: an MCP server for the one client that started it. Standard output is the protocol's alone.

use std::process::ExitCode;

use tokio_util::sync::CancellationToken;

use super::serve;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::App;

pub(super) async fn run(global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let app = App::build(global, printer).await?;
    if let Some(endpoint) = app.endpoint.clone() {
        // So that the first request does not wait for the tokenizer.
        tokio::spawn(async move { endpoint.preload().await });
    }
    let options = serve::options(&app.config);
    let parts = serve::parts(app)?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        serve::signal().await;
        stopped.cancel();
    });
    jarvis_server::mcp_stdio(parts, options, stop).await.map_err(serve::refused)?;
    Ok(ExitCode::SUCCESS)
}
