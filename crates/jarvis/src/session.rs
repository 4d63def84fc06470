//! One run from a request to its end: events go to the journal, to stderr and, when asked for, to stdout.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::Executable;
use jarvis_pipeline::{Pipeline, Run, RunError};
use jarvis_plan::{Event, EventKind, Request, RunId, Usage};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::wiring::App;

/// What is printed on stdout while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    Nothing,
    /// Every event, as a line of JSON.
    Events,
    /// The answer's text as a model writes it.
    Tokens,
}

pub(crate) struct Finished {
    pub(crate) run_id: RunId,
    pub(crate) run: Run,
    pub(crate) usage: Usage,
    /// How long it took, in milliseconds.
    pub(crate) ms: u64,
    /// Whether the answer's text was already printed piece by piece.
    pub(crate) streamed: bool,
}

pub(crate) enum Work {
    /// A request, by the pipeline that carries it out.
    Request(Request, Arc<dyn Pipeline>),
    /// A plan that was made before, for a request.
    Plan(Request, Box<Executable>),
}

/// Runs one request. The first Ctrl-C cancels the run in good order; the second ends the process.
pub(crate) async fn run(app: &App, work: Work, live: Live, printer: Printer) -> Result<Finished, Failure> {
    let watched = watch(app, live, printer, async |events, cancel| match work {
        Work::Request(request, pipeline) => {
            let cx = app.contexts.of(app.pipeline.chat.clone(), events, cancel);
            pipeline.run(Arc::new(request), &cx).await
        }
        Work::Plan(request, plan) => app.pipeline.run_plan(Arc::new(request), &plan, events, cancel).await,
    });
    let Watched { run_id, ended, usage, ms, streamed_text } = watched.await;
    match ended {
        Ok(run) => {
            // An answer that broke off and was written anew has not been shown.
            let streamed = !streamed_text.is_empty() && streamed_text.trim() == run.answer.text.trim();
            if !streamed && !streamed_text.is_empty() {
                printer.out("\n");
            }
            Ok(Finished { run_id, run, usage, ms, streamed })
        }
        Err(error) => Err(failure(&run_id, error)),
    }
}

/// A run of whatever kind that came to its end.
pub(crate) struct Watched<T> {
    pub(crate) run_id: RunId,
    pub(crate) ended: T,
    pub(crate) usage: Usage,
    /// How long it took, in milliseconds.
    pub(crate) ms: u64,
    /// What of the answer was printed piece by piece.
    streamed_text: String,
}

/// Does work as a run: its events go to the journal, to stderr and, when asked for, to stdout; Ctrl-C cancels it.
pub(crate) async fn watch<T>(
    app: &App,
    live: Live,
    printer: Printer,
    work: impl AsyncFnOnce(&Events, CancellationToken) -> T,
) -> Watched<T> {
    let run_id = RunId(App::new_run_id());
    let (events, mut receiver) = Events::channel(run_id.clone());
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let journal = app.journal.clone();
    let shown = tokio::spawn(async move {
        let mut progress = Progress::new(printer);
        let mut streamed_text = String::new();
        let mut ms = 0;
        while let Some(event) = receiver.recv().await {
            if let Some(journal) = &journal {
                journal.append(&event);
            }
            progress.show(&event.kind);
            print(&event, live, &mut streamed_text, printer);
            if let EventKind::Done { ms: took, .. } | EventKind::Error { ms: took, .. } = &event.kind {
                ms = *took;
            }
        }
        progress.clear();
        (streamed_text, ms)
    });
    let ended = work(&events, cancel).instrument(tracing::info_span!("run", %run_id)).await;
    let usage = events.usage();
    drop(events);
    interrupt.abort();
    let (streamed_text, ms) = shown.await.expect("printing events does not panic");
    if let Some(journal) = &app.journal
        && let Err(error) = journal.flush().await
    {
        printer.warning(&format!("the journal could not be written: {error}"));
    }
    Watched { run_id, ended, usage, ms, streamed_text }
}

fn failure(run_id: &RunId, error: RunError) -> Failure {
    let (hint, code) = (error.hint(), error.code());
    let failure = Failure::work(error).of_run(run_id.clone(), code);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("see what happened with `jarvis runs show {run_id} --reply`")),
    }
}

/// Prints what the caller wants to see live, and keeps what of the answer was printed.
fn print(event: &Event, live: Live, streamed_text: &mut String, printer: Printer) {
    match (live, &event.kind) {
        (Live::Events, _) => printer.out(&event.to_value().to_string()),
        (Live::Tokens, EventKind::Token { text }) => {
            printer.out_piece(text);
            streamed_text.push_str(text);
        }
        (Live::Tokens | Live::Nothing, _) => {}
    }
}

pub(crate) async fn cancel_on_interrupt(cancel: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        cancel.cancel();
    }
    if tokio::signal::ctrl_c().await.is_ok() {
        std::process::exit(130);
    }
}
