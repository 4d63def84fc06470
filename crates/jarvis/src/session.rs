//! One run from a request to its end: events go to the journal, to stderr and, when asked for, to stdout.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_hugginggpt::{Run, RunError};
use jarvis_plan::{Event, EventKind, Request, RunId, Usage};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::wiring::App;

/// What is printed on stdout while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    /// Nothing.
    Nothing,
    /// Every event, as a line of JSON.
    Events,
    /// The answer's text as a model writes it.
    Tokens,
}

/// A run that came to its end.
pub(crate) struct Finished {
    /// The run's id.
    pub(crate) run_id: RunId,
    /// What became of it.
    pub(crate) run: Run,
    /// Calls and tokens.
    pub(crate) usage: Usage,
    /// How long it took, in milliseconds.
    pub(crate) ms: u64,
    /// Whether the answer's text was already printed piece by piece.
    pub(crate) streamed: bool,
}

/// Runs one request. The first Ctrl-C cancels the run in good order; the second ends the process.
pub(crate) async fn run(app: &App, request: Request, live: Live, printer: Printer) -> Result<Finished, Failure> {
    let run_id = RunId(App::new_run_id());
    let (events, mut receiver) = Events::channel(run_id.clone());
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let journal = app.journal.clone();
    let shown = tokio::spawn(async move {
        let mut progress = Progress::new(printer);
        let mut streamed = false;
        let mut ms = 0;
        while let Some(event) = receiver.recv().await {
            if let Some(journal) = &journal {
                journal.append(&event);
            }
            progress.show(&event.kind);
            streamed |= print(&event, live, printer);
            if let EventKind::Done { ms: took, .. } | EventKind::Error { ms: took, .. } = &event.kind {
                ms = *took;
            }
        }
        progress.clear();
        (streamed, ms)
    });
    let ended = app.pipeline.run(Arc::new(request), &events, cancel).await;
    let usage = events.usage();
    drop(events);
    interrupt.abort();
    let (streamed, ms) = shown.await.unwrap_or((false, 0));
    if let Some(journal) = &app.journal
        && let Err(error) = journal.flush().await
    {
        printer.warning(&format!("the journal could not be written: {error}"));
    }
    match ended {
        Ok(run) => Ok(Finished { run_id, run, usage, ms, streamed }),
        Err(error) => Err(failure(&run_id, error)),
    }
}

fn failure(run_id: &RunId, error: RunError) -> Failure {
    let hint = error.hint();
    let failure = Failure::work(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("see what happened with `jarvis runs show {run_id} --reply`")),
    }
}

/// Prints what the caller wants to see live; true when it was a piece of the answer.
fn print(event: &Event, live: Live, printer: Printer) -> bool {
    match (live, &event.kind) {
        (Live::Events, _) => {
            printer.out(&event.to_value().to_string());
            false
        }
        (Live::Tokens, EventKind::Token { text }) => {
            printer
                .out_piece(&text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect::<String>());
            true
        }
        (Live::Tokens | Live::Nothing, _) => false,
    }
}

async fn cancel_on_interrupt(cancel: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        cancel.cancel();
    }
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(130);
    }
}
