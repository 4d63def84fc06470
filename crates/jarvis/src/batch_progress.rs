//! A run over many items on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jarvis_batch::{Begun, Ended, Outcome, Summary, Watch};
use jarvis_plan::export::plural;

use crate::printer::{Printer, Verbosity, harmless};

/// What a million tokens cost, sent and received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prices {
    sent: f64,
    received: f64,
}

impl Prices {
    pub(crate) fn new(sent: Option<f64>, received: Option<f64>) -> Option<Prices> {
        (sent.is_some() || received.is_some())
            .then(|| Prices { sent: sent.unwrap_or(0.0), received: received.unwrap_or(0.0) })
    }

    pub(crate) fn of(self, summary: &Summary) -> f64 {
        let usage = summary.usage;
        (usage.prompt as f64 * self.sent + usage.completion as f64 * self.received) / 1e6
    }
}

/// With more items than this they are counted and not listed.
const LISTED: usize = 50;
/// Failures that are listed then.
const FAILURES_LISTED: usize = 5;
/// The longest time without a plain line while items end.
const SILENCE: Duration = Duration::from_secs(30);

pub(crate) struct BatchProgress {
    printer: Printer,
    asked: String,
    /// What an item is and what it is asked for: `request` and `plan`.
    words: (&'static str, &'static str),
    failures: String,
    /// Whether items that went well are listed too, while they are few.
    pub(crate) lists_all: bool,
    pub(crate) prices: Option<Prices>,
    state: Mutex<State>,
}

struct State {
    bar: Option<ProgressBar>,
    since: Instant,
    last: Instant,
}

impl BatchProgress {
    /// `asked` answers, `words` are what an item is and what it is asked for, and `failures` is the file with all failures.
    pub(crate) fn new(
        printer: Printer,
        asked: impl Into<String>,
        words: (&'static str, &'static str),
        failures: &std::path::Path,
    ) -> BatchProgress {
        let now = Instant::now();
        BatchProgress {
            printer,
            asked: asked.into(),
            words,
            failures: failures.display().to_string(),
            lists_all: false,
            prices: None,
            state: Mutex::new(State { bar: None, since: now, last: now }),
        }
    }

    pub(crate) fn clear(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Says why a run is not complete, and how to go on.
    pub(crate) fn end(&self, summary: &Summary, how_to_go_on: &str) {
        let (failed, left) = (summary.failed, plural(summary.left, self.words.0));
        if summary.gave_up {
            self.printer.progress(&format!("gave up: the endpoint answered none of the first {failed}; left: {left}"));
            self.printer.progress(
                "\nhint: check the address (--base-url), the model's name, the key, and whether the server runs",
            );
            return;
        }
        if summary.interrupted {
            self.printer.progress(&format!("stopped; left: {left}"));
        }
        if !summary.is_complete() {
            self.printer.progress(&format!("\nhint: {how_to_go_on}"));
        }
    }

    /// `, 1200 + 300 tokens, $0.01`; empty when the endpoint reports none.
    pub(crate) fn used(&self, summary: &Summary) -> String {
        let (sent, received) = (summary.usage.prompt, summary.usage.completion);
        if sent + received == 0 {
            return String::new();
        }
        let cost = self.prices.map(|prices| format!(", ${:.4}", prices.of(summary))).unwrap_or_default();
        format!(", {sent} + {received} tokens{cost}")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, state: &State, text: &str) {
        match &state.bar {
            Some(bar) => bar.println(harmless(text)),
            None => self.printer.progress(text),
        }
    }

    fn line_for(&self, summary: &Summary, ended: &Ended) -> Option<String> {
        let (item, Ended { id, message, .. }) = (self.words.0, ended);
        let verbose = self.printer.verbosity() >= Verbosity::Verbose;
        let few = summary.pending() <= LISTED;
        match ended.outcome {
            Outcome::Failed => {
                (verbose || few || summary.failed <= FAILURES_LISTED).then(|| format!("{item} {id} failed: {message}"))
            }
            Outcome::Partial => verbose.then(|| format!("{item} {id} is partial: {message}")),
            Outcome::Done => (!message.is_empty() && (verbose || (self.lists_all && few)))
                .then(|| format!("{}/{} {id}: {message}", summary.ended(), summary.pending())),
        }
    }
}

/// A bar for so many items with a word in front; hidden where nothing may be drawn.
pub(crate) fn bar(printer: Printer, items: usize, what: &str) -> ProgressBar {
    let target = if printer.draws() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} {rate} eta {eta} {msg}");
    let style = style.expect("the template is valid").with_key("rate", rate);
    ProgressBar::with_draw_target(Some(items as u64), target).with_style(style).with_prefix(what.to_owned())
}

/// ` (Timeout 2, Schema 1)`: how often each kind of failure happened.
pub(crate) fn kinds(summary: &Summary) -> String {
    let kinds: Vec<String> = summary.failures.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

impl Watch for BatchProgress {
    fn begun(&self, begun: &Begun) {
        for note in &begun.notes {
            self.printer.warning(note);
        }
        if begun.pending == 0 {
            return;
        }
        let there = if begun.already > 0 { format!("; done before: {}", begun.already) } else { String::new() };
        let wanted = plural(begun.pending, self.words.1);
        self.printer.progress(&format!("asking {} for {wanted}{there}", self.asked));
        if self.printer.draws() {
            self.state().bar = Some(bar(self.printer, begun.pending, ""));
        }
    }

    fn ended(&self, summary: &Summary, ended: &Ended) {
        let mut state = self.state();
        if let Some(line) = self.line_for(summary, ended) {
            self.line(&state, &line);
        }
        let (done, of, failed) = (summary.ended(), summary.pending(), summary.failed);
        if ended.outcome == Outcome::Failed && failed == FAILURES_LISTED && of > LISTED {
            self.line(&state, &format!("further failures are only in {}", self.failures));
        }
        let used = self.used(summary);
        if let Some(bar) = &state.bar {
            bar.set_position(done as u64);
            bar.set_message(format!("{failed} failed{used}"));
            return;
        }
        // Of many items a line for each twentieth.
        let twentieths = |done: usize| (done * 20).checked_div(of).unwrap_or(20);
        let due = of > LISTED && twentieths(done) > twentieths(done.saturating_sub(1));
        if done < of && (due || state.last.elapsed() > SILENCE) {
            let rate = done as f64 / state.since.elapsed().as_secs_f64().max(0.001);
            let left = humantime::format_duration(Duration::from_secs(((of - done) as f64 / rate.max(0.001)) as u64));
            self.printer.progress(&format!("{done}/{of}, {failed} failed, {rate:.1} a second, {left} left{used}"));
            state.last = Instant::now();
        }
    }
}
