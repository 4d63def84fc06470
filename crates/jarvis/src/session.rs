//! One run from a request to its end: events go to the journal, to stderr and, when asked for, to stdout.

#[cfg(feature = "bench")]
mod batch;

use std::sync::Arc;

use jarvis_engine::{Events, NotWritten, Past};
use jarvis_events::Journal as _;
use jarvis_hugginggpt::decisions::Executable;
use jarvis_pipeline::{Kept, Pipeline, Run, RunError, Shelf, put_out};
use jarvis_plan::{Event, EventKind, Request, RunId, Usage};
use jarvis_react::Asked;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, field};

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
    /// A question of `jarvis ask` that goes on.
    Question(Box<Asked>),
}

/// Runs one request. The first Ctrl-C cancels the run in good order; the second ends the process.
pub(crate) async fn run(app: &App, work: Work, live: Live, printer: Printer) -> Result<Finished, Failure> {
    let run_id = RunId(App::new_run_id());
    run_as(app, run_id, Past::default(), work, live, printer).await
}

/// The same for a run that goes on from its record, or takes over that of another.
pub(crate) async fn run_as(
    app: &App,
    run_id: RunId,
    past: Past,
    work: Work,
    live: Live,
    printer: Printer,
) -> Result<Finished, Failure> {
    let watched = watch_as(app, run_id, past, live, printer, async |events, cancel| match work {
        Work::Request(request, pipeline) => {
            let cx = app.contexts.of(app.pipeline.chat.clone(), events, cancel);
            pipeline.run(Arc::new(request), &cx).await
        }
        Work::Plan(request, plan) => app.pipeline.run_plan(Arc::new(request), &plan, events, cancel).await,
        Work::Question(asked) => {
            let mut run = app.agent.carry_on(&asked, events, cancel).await?;
            let shelf = app.results.clone().map(|results| results as Arc<dyn Shelf>);
            run.answer.resources = put_out(shelf.as_ref(), run.answer.resources, events).await;
            Ok(run)
        }
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
    watch_as(app, RunId(App::new_run_id()), Past::default(), live, printer, work).await
}

/// The same for a run that goes on from its record, or takes over that of another.
async fn watch_as<T>(
    app: &App,
    run_id: RunId,
    past: Past,
    live: Live,
    printer: Printer,
    work: impl AsyncFnOnce(&Events, CancellationToken) -> T,
) -> Watched<T> {
    let screen = Screen { progress: Progress::new(printer), live, printer, streamed_text: String::new(), ms: 0 };
    let work = async |events: &Events, cancel: CancellationToken| {
        events.metered(&app.meter);
        let ended = work(events, cancel).await;
        (ended, events.usage())
    };
    let journal = app.journal.clone().map(Kept::awaited);
    let stream = Events::resumed(run_id.clone(), past);
    let ((ended, usage), mut screen) = recorded(stream, journal, screen, printer, work).await;
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

/// How many events are shown together.
const MOST_AT_ONCE: usize = 256;

/// The span of a run, whose pipeline and end its events say.
pub(crate) fn run_span(run_id: &RunId) -> tracing::Span {
    tracing::error_span!("run", %run_id, pipeline = field::Empty, planner = field::Empty, error = field::Empty)
}

/// Does work whose events go to the journal and then to an observer: what is kept is shown when it is. The first Ctrl-C cancels the
/// work; the second ends the process.
async fn recorded<T, O: Observer>(
    (events, mut receiver): (Events, UnboundedReceiver<Event>),
    journal: Option<Kept>,
    mut observer: O,
    printer: Printer,
    work: impl AsyncFnOnce(&Events, CancellationToken) -> T,
) -> (T, O) {
    let run_id = events.run_id().clone();
    if let Some(journal) = &journal {
        events.kept_in(Arc::new(journal.clone()));
    }
    let cancel = CancellationToken::new();
    let kept = journal.clone().filter(Kept::is_awaited);
    let interrupt = tokio::spawn(interruptible(cancel.clone(), run_id.clone(), printer, kept));
    let (written, run) = (journal.clone(), run_id.clone());
    let observed = tokio::spawn(async move {
        let mut came = Vec::new();
        while receiver.recv_many(&mut came, MOST_AT_ONCE).await > 0 {
            let is_lost = match written.as_ref().filter(|_| came.iter().any(|event| event.kind.is_kept())) {
                Some(journal) => journal.written(&run).await.is_err(),
                None => false,
            };
            // What is not kept is not shown, but for how it ended.
            let is_shown = |event: &Event| !is_lost || !event.kind.is_kept() || event.kind.is_end();
            came.drain(..).filter(is_shown).for_each(|event| observer.observe(&event));
        }
        observer
    });
    let ended = work(&events, cancel).instrument(run_span(&run_id)).await;
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

/// As [`cancel_on_interrupt`], and on being told to end, with how the run goes on.
async fn interruptible(cancel: CancellationToken, run_id: RunId, printer: Printer, kept: Option<Kept>) {
    tokio::select! {
        () = cancel_on_interrupt(cancel.clone()) => {}
        () = cancelled_elsewhere(kept.as_ref(), &run_id, &cancel) => {}
        () = told_to_end() => {
            if kept.is_some() {
                printer.warning(&format!("cut off; `jarvis runs resume {run_id}` goes on with it"));
            }
            crate::logs::exit(143);
        }
    }
}

/// How often it is looked whether somebody wants the run cancelled.
const LOOK: std::time::Duration = std::time::Duration::from_secs(2);

/// Cancels the run when `jarvis runs cancel` asks for it; never ends, so that what follows is heard too.
async fn cancelled_elsewhere(kept: Option<&Kept>, run: &RunId, cancel: &CancellationToken) {
    let Some(kept) = kept else { return std::future::pending().await };
    loop {
        tokio::time::sleep(LOOK).await;
        if kept.is_to_be_cancelled(run).await {
            cancel.cancel();
        }
    }
}

/// Waits until the system tells the process to end.
async fn told_to_end() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        terminate.recv().await;
        return;
    }
    std::future::pending().await
}

fn failure(run_id: &RunId, error: RunError) -> Failure {
    if let RunError::Stopped(NotWritten::Unknown(why)) = &error {
        return Failure::work(format!("a person must decide: {why}")).of_run(run_id.clone(), error.code()).hint(format!(
            "look whether it was done, and say so: `jarvis runs resume {run_id}` asks in a terminal, and `jarvis serve` asks on its page \
             once the run is resumed there"
        ));
    }
    let (hint, code) = (error.hint().map(str::to_owned), error.code());
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
        crate::logs::exit(130);
    }
}
