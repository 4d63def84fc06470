//! A command over many items as one run of the journal.

use std::sync::Arc;
use std::time::Instant;

use jarvis_batch::Summary;
use jarvis_engine::Events;
use jarvis_pipeline::Kept;
use jarvis_plan::{Answer, Event, EventKind, Request, RunId};
use jarvis_store::Journal;
use tokio_util::sync::CancellationToken;

use super::{Observer, recorded};
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{App, Folders};

/// How a batch came out, as its last event reports it.
pub(crate) trait BatchResult {
    /// Whether anything came of it, as [`EventKind::Done`] means it.
    fn ok(&self) -> bool;
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
    let model = (!config.llm.is_offline()).then(|| config.llm.name().to_owned());
    let work = async |events: &Events, cancel: CancellationToken| {
        let began = Instant::now();
        events.emit(EventKind::run_started("batch", request, model));
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
    // It has a log of its own to go on from.
    let journal = journal(config, printer).map(Kept::told);
    recorded(Events::channel(run_id), journal, (), printer, work).await.0
}

/// The journal of a configuration; `None` when it could not be opened, which is a warning.
fn journal(config: &Config, printer: Printer) -> Option<Arc<Journal>> {
    let opened = Folders::of(config).and_then(|folders| Journal::open(&folders.journal).map_err(Failure::work));
    opened
        .map(Arc::new)
        .inspect_err(|failure| printer.warning(&format!("this run will not be in the journal: {}", failure.error())))
        .ok()
}

impl Observer for () {
    fn observe(&mut self, _: &Event) {}
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
            model: "m".to_owned(),
            provider: String::new(),
            instead_of: String::new(),
            prompt_tokens: 10,
            cached_tokens: 0,
            completion_tokens: 2,
            estimated: false,
            cost: None,
            ms: 1,
            reply: String::new(),
            ok: true,
            given_up: false,
            key: String::new(),
            whole: None,
            taken_over: false,
        };
        for (ended, status, last) in [
            (Ok(Written(true)), RunStatus::Done, "done"),
            (Ok(Written(false)), RunStatus::Failed, "done"),
            (Err(Failure::work("the disk is full")), RunStatus::Failed, "error"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
            config.llm.model = Some("gpt-4o-mini".to_owned());
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
