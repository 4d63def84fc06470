//! `jarvis easytool mock`: stands in for a tool server or an API.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::mock::{ApiMock, Recorded, serve};
use tokio::net::TcpListener;

use super::source::document;
use super::unusable;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::signals::Signals;
use jarvis_plan::export::plural;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/mock.txt").trim_end())]
pub(crate) struct MockArgs {
    /// The answers, as JSON Lines
    #[arg(long, value_name = "FILE", required_unless_present = "openapi")]
    answers: Option<PathBuf>,
    /// Stand in for the API of this OpenAPI document: requests are checked against it and answered with its examples
    #[arg(long, value_name = "FILE", conflicts_with = "answers")]
    openapi: Option<PathBuf>,
    /// Where to listen; port 0 for a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    http: SocketAddr,
    /// The environment variable with the key that callers must show; without it anyone is answered
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
}

pub(super) async fn run(args: MockArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let key = match &args.key_env {
        Some(name) => Some(std::env::var(name).ok().filter(|key| !key.is_empty()).ok_or_else(|| {
            Failure::usage(format!("{name} is not set")).hint("set it to the key that callers must show")
        })?),
        None => None,
    };
    let (router, about) = match (args.answers, args.openapi) {
        (Some(file), _) => {
            let recorded = tokio::task::spawn_blocking(move || Recorded::open(&file, key)).await;
            let form = "give JSON Lines with category, tool_name, api_name, tool_input, error, response";
            let recorded = recorded.map_err(Failure::work)?.map_err(|error| unusable(error, form))?;
            let about = format!("answers to {}", plural(recorded.len(), "call"));
            (recorded.router(), about)
        }
        (None, Some(file)) => {
            let mock = ApiMock::new(document(&file).await?);
            let mock = match key {
                Some(key) => mock.with_key(key),
                None => mock,
            };
            (mock.router(), "the API of the document".to_owned())
        }
        (None, None) => {
            return Err(Failure::usage("there is nothing to serve").hint("name --answers FILE or --openapi FILE"));
        }
    };
    let mut signals = Signals::taken();
    let listener = TcpListener::bind(args.http).await.map_err(|error| {
        Failure::work(format!("cannot listen on {}: {error}", args.http)).hint("choose another with --http ADDR:PORT")
    })?;
    let bound = listener.local_addr().map_err(Failure::work)?;
    printer.out(&format!("http://{bound}"));
    printer.progress(&format!("{about}; stop with Ctrl-C"));
    tokio::select! {
        ended = serve(listener, router) => ended.map_err(Failure::work)?,
        _ = signals.next() => {}
    }
    Ok(ExitCode::SUCCESS)
}
