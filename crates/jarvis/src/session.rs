//! One run from a request to its end: events go to the journal, to stderr and, when asked for, to stdout.

use std::sync::Arc;
use std::time::Instant;

use jarvis_batch::Summary;
use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::Executable;
use jarvis_pipeline::{Pipeline, Run, RunError};
use jarvis_plan::{Answer, Event, EventKind, Request, RunId, Usage};
use jarvis_store::Journal;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::wiring::{App, Folders};

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
    let screen = Screen { progress: Progress::new(printer), live, printer, streamed_text: String::new(), ms: 0 };
    let work = async |events: &Events, cancel: CancellationToken| {
        let ended = work(events, cancel).await;
        (ended, events.usage())
    };
    let ((ended, usage), mut screen) = recorded(&run_id, app.journal.clone(), screen, printer, work).await;
    screen.progress.clear();
    let Screen { streamed_text, ms, .. } = screen;
    Watched { run_id, ended, usage, ms, streamed_text }
}

/// How a batch came out, as its last event reports it.
pub(crate) trait BatchResult {
    /// Whether anything came of it, as [`EventKind::Done`] means it.
    fn ok(&self) -> bool;
    /// Whether it was stopped before its end.
    fn cancelled(&self) -> bool {
        false
    }
    /// One line for `jarvis runs show`.
    fn text(&self) -> String;
}

impl BatchResult for Summary {
    fn ok(&self) -> bool {
        !self.interrupted && (self.done > 0 || self.is_complete())
    }

    fn cancelled(&self) -> bool {
        self.interrupted
    }

    fn text(&self) -> String {
        let Summary { items, already, done, failed, left, .. } = self;
        format!("{} of {items} done; failed: {failed}, left: {left}", already + done)
    }
}

/// Does work over many items as one run of the journal, from [`EventKind::RunStarted`] to [`EventKind::Done`] or
/// [`EventKind::Error`]; Ctrl-C cancels it. `request` says in the journal what the batch is. The work reports its model
/// calls to the events it is given. What happens is shown by the caller, as a [`crate::batch_progress::BatchProgress`].
pub(crate) async fn batch<T: BatchResult>(
    config: &Config,
    request: impl Into<String>,
    printer: Printer,
    work: impl AsyncFnOnce(&Events, CancellationToken) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let run_id = RunId(App::new_run_id());
    let request = Request::new(request);
    let (planner, model) = match config.llm.model.trim() {
        "" | "offline" => ("offline", "offline"),
        model => ("llm", model),
    };
    let work = async |events: &Events, cancel: CancellationToken| {
        let began = Instant::now();
        events.emit(EventKind::RunStarted { request, planner: planner.to_owned(), model: model.to_owned() });
        let ended = work(events, cancel.clone()).await;
        let ms = began.elapsed().as_millis() as u64;
        match &ended {
            Ok(result) => {
                events.emit(EventKind::Answer { answer: Answer { text: result.text(), ..Answer::default() } });
                let (ok, cancelled) = (result.ok(), result.cancelled());
                events.emit(EventKind::Done { ok, cancelled, usage: events.usage(), ms });
            }
            Err(failure) => {
                let code = if cancel.is_cancelled() { "cancelled" } else { "failed" };
                let hint = failure.advice().map(str::to_owned);
                events.emit(EventKind::Error { code: code.to_owned(), message: failure.message(), hint, ms });
            }
        }
        ended
    };
    recorded(&run_id, journal(config, printer), (), printer, work).await.0
}

/// The journal of a configuration; `None` when it could not be opened, which is a warning.
fn journal(config: &Config, printer: Printer) -> Option<Arc<Journal>> {
    let opened = Folders::of(config).and_then(|folders| Journal::open(&folders.journal).map_err(Failure::work));
    opened
        .map(Arc::new)
        .inspect_err(|failure| printer.warning(&format!("this run will not be in the journal: {}", failure.error())))
        .ok()
}

/// Sees the events of a run.
trait Observer: Send + 'static {
    fn observe(&mut self, event: &Event);
}

/// Sees nothing.
impl Observer for () {
    fn observe(&mut self, _: &Event) {}
}

/// Shows a run on stderr and, when asked for, on stdout.
struct Screen {
    progress: Progress,
    live: Live,
    printer: Printer,
    streamed_text: String,
    /// How long the run took, in milliseconds.
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
    let failure = Failure::work(error).of_run(run_id.clone(), code);
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

#[cfg(test)]
mod tests {
    use jarvis_plan::EventKind;
    use jarvis_store::{Journal, RunStatus};
    use serde_json::Value;

    use super::{BatchResult, batch};
    use crate::config::Config;
    use crate::failure::Failure;
    use crate::printer::Printer;

    struct Written(bool);

    impl BatchResult for Written {
        fn ok(&self) -> bool {
            self.0
        }

        fn text(&self) -> String {
            "3 files written".to_owned()
        }
    }

    #[tokio::test]
    async fn a_batch_is_a_run_of_the_journal_from_its_start_to_its_end() {
        let call = || EventKind::ModelCall {
            stage: "plan".to_owned(),
            task: None,
            prompt_tokens: 10,
            completion_tokens: 2,
            ms: 1,
            reply: String::new(),
            ok: true,
        };
        for (ended, status, last) in [
            (Ok(Written(true)), RunStatus::Done, "done"),
            (Ok(Written(false)), RunStatus::Failed, "done"),
            (Err(Failure::work("the disk is full")), RunStatus::Failed, "error"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
            config.llm.model = "gpt-4o-mini".to_owned();
            let work = async |events: &jarvis_engine::Events, _| {
                events.emit(call());
                ended
            };
            let returned = batch(&config, "write 3 files", Printer::new(true, 0), work).await;
            let journal = Journal::open(&folder.path().join("runs.db")).unwrap();
            let [summary] = &journal.runs(9).unwrap()[..] else { panic!("one run") };
            assert_eq!((summary.request.as_str(), summary.status), ("write 3 files", status));
            let events = journal.run(&summary.run_id.0).unwrap().events;
            assert_eq!((&events[0]["event"], &events[0]["model"]), (&"run_started".into(), &"gpt-4o-mini".into()));
            let end = events.last().unwrap();
            assert_eq!(end["event"], last);
            if returned.is_ok() {
                assert_eq!(end["usage"]["prompt_tokens"], 10, "{end}");
                assert_eq!(events[events.len() - 2]["answer"]["text"], "3 files written");
            } else {
                assert_eq!(end["message"], Value::from("the disk is full"));
            }
        }
    }
}
