//! `jarvis health`: whether a server answers, by exit code. For health checks where there is no other client, as in an image from
//! scratch.

use std::process::ExitCode;
use std::time::Duration;

use jarvis_net::causes::innermost;
use jarvis_net::http::{ClientOptions, Route, client};
use url::Url;

use crate::cli::HealthArgs;
use crate::failure::Failure;
use crate::printer::Printer;

pub(super) async fn run(args: &HealthArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let address = &args.address;
    let base = Url::parse(address)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .and_then(|url| url.join("health").ok())
        .ok_or_else(|| {
            Failure::usage(format!("`{address}` is not an address")).hint("name one such as http://127.0.0.1:8004")
        })?;
    let options = ClientOptions { route: Route::to(&base, None), ..ClientOptions::default() };
    let client = client(options).map_err(|error| Failure::work(error.to_string()).hint(error.hint()))?;
    let asked = client.get(base).timeout(Duration::from_secs(args.timeout)).send().await;
    match asked {
        Ok(response) if response.status().is_success() => {
            printer.out("healthy");
            Ok(ExitCode::SUCCESS)
        }
        Ok(response) => Err(Failure::work(format!("{address} answers with {}", response.status()))),
        Err(error) => Err(Failure::work(format!("no server answers at {address}: {}", innermost(&error)))
            .hint("start one with `jarvis serve`, or name its address")),
    }
}
