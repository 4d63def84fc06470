//! One run from a request to its end: events go to the journal, to stderr and, when asked for, to stdout.

#[cfg(feature = "bench")]
mod batch;

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::Executable;
use jarvis_pipeline::{Pipeline, Run, RunError};
use jarvis_plan::{Event, EventKind, Request, RunId, Usage};
use jarvis_store::Journal;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::wiring::App;

#[cfg(feature = "bench")]
pub(crate) use batch::{BatchResult, batch};

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
    pub(crate) ms: u64,
    /// Whether the answer's text was already printed piece by piece.
    pub(crate) streamed: bool,
}

pub(crate) enum Work {
    Request(Request, Arc<dyn Pipeline>),
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

pub(crate) struct Watched<T> {
    pub(crate) run_id: RunId,
    pub(crate) ended: T,
    pub(crate) usage: Usage,
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
    let screen = Screen { progress: Progress::new(printer), live, printer, streamed_text: String::new(), ms: 0 };
    let work = async |events: &Events, cancel: CancellationToken| {
        events.metered(&app.meter);
        let ended = work(events, cancel).await;
        (ended, events.usage())
    };
    let ((ended, usage), mut screen) = recorded(&run_id, app.journal.clone(), screen, printer, work).await;
    screen.progress.clear();
    let Screen { streamed_text, ms, .. } = screen;
    Watched { run_id, ended, usage, ms, streamed_text }
}

trait Observer: Send + 'static {
    fn observe(&mut self, event: &Event);
}

struct Screen {
    progress: Progress,
    live: Live,
    printer: Printer,
    streamed_text: String,
    ms: u64,
}

impl Observer for Screen {
    fn observe(&mut self, event: &Event) {
        self.progress.show(&event.kind);
        match (self.live, &event.kind) {
            (Live::Events, _) => self.printer.out(&event.to_value().to_string()),
            (Live::Tokens, EventKind::Token { text }) => {
                self.printer.out_piece(text);
                self.streamed_text.push_str(text);
            }
            (Live::Tokens | Live::Nothing, _) => {}
        }
        if let EventKind::Done { ms, .. } | EventKind::Error { ms, .. } = &event.kind {
            self.ms = *ms;
        }
    }
}

/// Does work whose events go to the journal and to an observer. The first Ctrl-C cancels it; the second ends the process.
async fn recorded<T, O: Observer>(
    run_id: &RunId,
    journal: Option<Arc<Journal>>,
    mut observer: O,
    printer: Printer,
    work: impl AsyncFnOnce(&Events, CancellationToken) -> T,
) -> (T, O) {
    let (events, mut receiver) = Events::channel(run_id.clone());
    let cancel = CancellationToken::new();
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel.clone()));
    let written = journal.clone();
    let observed = tokio::spawn(async move {
        while let Some(event) = receiver.recv().await {
            if let Some(journal) = &written {
                journal.append(&event);
                // Whoever reads of the end finds the whole run in the journal. What is lost is told below.
                if event.kind.is_end() {
                    let _ = journal.flush().await;
                }
            }
            observer.observe(&event);
        }
        observer
    });
    let ended = work(&events, cancel).instrument(tracing::info_span!("run", %run_id)).await;
    drop(events);
    interrupt.abort();
    let observer = observed.await.expect("observing events does not panic");
    if let Some(journal) = &journal
        && let Err(error) = journal.flush().await
    {
        printer.warning(&format!("the journal could not be written: {error}"));
    }
    (ended, observer)
}

fn failure(run_id: &RunId, error: RunError) -> Failure {
    let (hint, code) = (error.hint(), error.code());
    let failure = match error {
        RunError::InvalidRequest(_) => return Failure::usage(error).of_run(run_id.clone(), code),
        error => Failure::work(error).of_run(run_id.clone(), code),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("see what happened with `jarvis runs show {run_id} --reply`")),
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
