//! The flags of the original TaskBench scripts that name the chat endpoint.

use std::fmt;

use clap::Args;
use jarvis_net::Secret;
use serde_json::json;

use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::wiring::Special;

#[derive(Args)]
pub(super) struct EndpointArgs {
    /// The host of an endpoint at http://HOST:PORT/v1; --base-url says the same in one
    #[arg(long, value_name = "HOST", conflicts_with = "base_url")]
    api_addr: Option<String>,
    /// Its port [default: 4000]
    #[arg(long, value_name = "PORT", conflicts_with = "base_url")]
    api_port: Option<u16>,
    /// The endpoint's key; kept out of every file. The variable OPENAI_API_KEY also keeps it out of the list of processes
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
}

impl fmt::Debug for EndpointArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EndpointArgs { api_addr, api_port, api_key: _ } = self;
        f.debug_struct("EndpointArgs").field("addr", api_addr).field("port", api_port).finish_non_exhaustive()
    }
}

impl EndpointArgs {
    pub(super) fn configure(&self, config: &mut Config, global: &Global) -> Result<(), Failure> {
        if self.api_addr.is_none() && self.api_port.is_none() {
            return Ok(());
        }
        // Where it stands before the command, the flag's conflict is not seen.
        if global.base_url.is_some() {
            return Err(Failure::usage("--base-url and --api-addr or --api-port are two addresses").hint("use one"));
        }
        if config.llm.is_offline() {
            return Err(Failure::usage("an endpoint is named, but no model to ask for there")
                .hint("name it with --llm; without an address the offline planner plans"));
        }
        let (addr, port) = (self.api_addr.as_deref().unwrap_or("localhost"), self.api_port.unwrap_or(4000));
        config.llm.base_url = Some(format!("http://{addr}:{port}/v1"));
        config.llm.azure = None;
        Ok(())
    }

    /// What calls carry: the key, and `stream: false`, which the original says although it is the default.
    pub(super) fn special(&mut self) -> Special {
        let key = self.api_key.take().as_deref().and_then(Secret::new);
        Special { key, body: [("stream".to_owned(), json!(false))].into_iter().collect() }
    }
}
