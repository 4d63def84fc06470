//! `jarvis models ps`: the models that a running server has in memory. A command loads models only while it works, so that there is
//! nothing to tell of this process.

use std::process::ExitCode;
use std::time::Duration;

use jarvis_catalogue::{CallError, JsonClient};
use serde::{Deserialize, Serialize};
use url::Url;

use super::words::{columns, size};
use crate::cli::Global;
use crate::config::env_vars;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring;

/// Where servers listen unless told otherwise: `jarvis serve`, and `jarvis serve --models-only`.
const USUAL: [&str; 2] = ["http://127.0.0.1:8004/", "http://127.0.0.1:8005/"];
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_REPLY: u64 = 1 << 20;

/// A model in memory, as the server's route `/loaded` tells.
#[derive(Debug, Serialize, Deserialize)]
struct Loaded {
    id: String,
    task: String,
    memory: u64,
    idle_s: u64,
    users: usize,
}

#[derive(Deserialize)]
struct Reply {
    models: Vec<Loaded>,
}

pub(super) async fn run(
    server: Option<&str>,
    json: bool,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let config = wiring::load_config(global, printer)?.config;
    let configured = config.http_listen.as_ref().map(|listen| format!("http://{}:{}/", listen.host, listen.port));
    let addresses: Vec<String> = match server.map(str::to_owned).or(configured) {
        Some(address) => vec![address],
        None => USUAL.map(str::to_owned).to_vec(),
    };
    #[cfg(feature = "serve")]
    let token_name = config.server.token_env.as_deref().unwrap_or(env_vars::TOKEN);
    #[cfg(not(feature = "serve"))]
    let token_name = env_vars::TOKEN;
    let mut reasons = Vec::new();
    for address in addresses {
        let url = Url::parse(&address).map_err(|error| Failure::usage(format!("`{address}` is not a URL: {error}")))?;
        let client = JsonClient::new(url, wiring::secret(&[token_name]), None).map_err(Failure::work)?;
        match ask(&client).await {
            Ok(models) => return show(&models, json, printer),
            Err(error) => reasons.push(format!("{} ({error})", client.origin())),
        }
    }
    Err(Failure::work(format!("no server of jarvis answers; tried {}", reasons.join(", ")))
        .hint("start one with `jarvis serve`, or name its address with --server URL"))
}

async fn ask(client: &JsonClient) -> Result<Vec<Loaded>, CallError> {
    let reply = client.get(&["loaded"], MAX_REPLY, TIMEOUT).await?;
    let reply: Reply = serde_json::from_value(reply).map_err(|_| CallError::BadReply)?;
    Ok(reply.models)
}

fn show(models: &[Loaded], json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    if json {
        return printer.json(&models);
    }
    let row = |model: &Loaded| {
        let use_of = match model.users {
            0 => format!("idle for {} s", model.idle_s),
            _ => "in use".to_owned(),
        };
        vec![model.id.clone(), model.task.clone(), size(model.memory), use_of]
    };
    for line in columns(&models.iter().map(row).collect::<Vec<_>>()) {
        printer.out(&line);
    }
    if models.is_empty() {
        printer.progress("no model is in memory");
    }
    Ok(ExitCode::SUCCESS)
}
