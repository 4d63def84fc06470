//! `jarvis worker`: performs tasks of runs that a Restate server drives, until a signal ends it.

use std::net::SocketAddr;
use std::process::ExitCode;

use jarvis_restate::{Admin, Endpoint};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::approval;
use crate::cli::{Global, RestateArgs, WorkerArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::signals::Signals;
use crate::wiring::scale::CHECKUP;
use crate::wiring::{App, Flags, Reader};

pub(super) async fn run(args: WorkerArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let approver = approval::at_this_machine();
    let app = App::build_for(Reader::Wire, Flags::default(), approver, global, printer).await?;
    let (host, served) = app.task_host(&args.kinds, args.slots.map(Into::into))?;
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(Signals::taken(), stop.clone(), printer));
    let endpoint = endpoint(args.listen, args.restate_admin, args.restate, printer).await?;
    if let Ok(Err(error)) = tokio::time::timeout(CHECKUP, endpoint.admin.health()).await {
        printer.warning(&format!("{error}; this worker registers when it answers"));
    }
    let capabilities = served.len();
    printer.progress(&format!("jarvis performs {capabilities} kinds of tasks: {}", served.join(", ")));
    host.serve(endpoint, stop).await.map_err(failed)?;
    printer.progress("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Opens the socket that Restate calls, and says where it is.
///
/// # Errors
/// When it cannot be opened.
pub(super) async fn endpoint(
    listen: SocketAddr,
    admin: Url,
    args: RestateArgs,
    printer: Printer,
) -> Result<Endpoint, Failure> {
    if listen.ip().is_unspecified() && args.advertise.is_none() {
        return Err(Failure::usage(format!("Restate cannot reach a process at {listen}"))
            .hint("say where it is reached with --advertise http://HOST:PORT"));
    }
    let mut endpoint = Endpoint::bind(listen, args.advertise, Admin::new(admin)).await.map_err(failed)?;
    endpoint.identity_key = args.identity_key;
    let (at, admin) = (endpoint.advertise.clone(), endpoint.admin.base().clone());
    printer.progress(&format!("Restate reaches this process at {at}"));
    endpoint.registered = Some(Box::new(move || printer.progress(&format!("registered at {admin}"))));
    Ok(endpoint)
}

pub(super) fn failed(error: jarvis_restate::Error) -> Failure {
    let hint = error.hint();
    let failure = match error {
        jarvis_restate::Error::IdentityKey(_) | jarvis_restate::Error::Listen { .. } => Failure::usage(error),
        other => Failure::work(other),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The first signal stops in good order, the second at once.
async fn stop_on_signal(mut signals: Signals, stop: CancellationToken, printer: Printer) {
    signals.next().await;
    printer.progress("stopping: tasks under way go on to their end; once more stops at once");
    stop.cancel();
    signals.next().await;
    crate::logs::exit(130);
}
