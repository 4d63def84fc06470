//! A run of inference on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use jarvis_taskbench::infer::{Begun, Progress, Summary, Watch};

use crate::printer::{Printer, Verbosity, harmless};

/// What a million tokens cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    sent: f64,
    received: f64,
}

impl Prices {
    /// The prices; none when neither is given.
    pub(super) fn new(sent: Option<f64>, received: Option<f64>) -> Option<Prices> {
        (sent.is_some() || received.is_some())
            .then(|| Prices { sent: sent.unwrap_or(0.0), received: received.unwrap_or(0.0) })
    }

    pub(super) fn of_summary(self, summary: &Summary) -> f64 {
        self.of(summary.prompt_tokens, summary.completion_tokens)
    }

    fn of(self, sent: u64, received: u64) -> f64 {
        (sent as f64 * self.sent + received as f64 * self.received) / 1e6
    }
}

/// The number of failures printed one by one; further ones are counted, and all are in the log.
const TOLD: usize = 5;

/// The longest time without a plain line while requests end, and the shortest between two.
const SILENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_secs(2);

pub(super) struct Shown {
    printer: Printer,
    llm: String,
    prices: Option<Prices>,
    state: Mutex<State>,
}

struct State {
    bar: Option<ProgressBar>,
    since: Instant,
    last: Instant,
    twentieths: usize,
}

impl Shown {
    pub(super) fn new(printer: Printer, llm: String, prices: Option<Prices>) -> Shown {
        let now = Instant::now();
        Shown { printer, llm, prices, state: Mutex::new(State { bar: None, since: now, last: now, twentieths: 0 }) }
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }

    pub(super) fn end(&self, summary: &Summary, log: &Path) {
        let Summary { completed, failed, left, mended, reformatted, .. } = *summary;
        if completed + failed + left == 0 {
            return;
        }
        let kinds: Vec<String> = summary.failures.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        let mut line = format!("completed {completed}, failed {failed}{kinds} in {:.1} s", summary.seconds);
        if mended + reformatted > 0 {
            line.push_str(&format!("; mended {mended}, reformatted {reformatted}"));
        }
        if summary.calls > 0 {
            let used = self.used(summary.prompt_tokens, summary.completion_tokens);
            line.push_str(&format!("; {}{used}", several(summary.calls, "call")));
        }
        self.printer.progress(&line);
        if let Some(errors) = summary.errors.as_ref().filter(|_| failed > 0) {
            self.printer.progress(&format!("what failed and why: {}; log: {}", errors.display(), log.display()));
        }
        let left = several(left, "request");
        if summary.gave_up {
            self.printer.progress(&format!("gave up: the model answered none of the first {failed}; left: {left}"));
        } else if summary.interrupted {
            self.printer.progress(&format!("stopped; left: {left}"));
        }
        if summary.gave_up {
            self.printer.progress(
                "\nhint: check the address (--base-url), the model's name, the key, and whether the server runs",
            );
        } else if !summary.is_complete() {
            self.printer.progress("\nhint: run the same command again to ask for what is missing");
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `, 1200 + 300 tokens, $0.01`; empty when the endpoint tells none.
    fn used(&self, sent: u64, received: u64) -> String {
        if sent + received == 0 {
            return String::new();
        }
        let cost = self.prices.map(|prices| format!(", ${:.4}", prices.of(sent, received))).unwrap_or_default();
        format!(", {sent} + {received} tokens{cost}")
    }
}

/// `1 call`, `2 calls`.
fn several(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Watch for Shown {
    fn begun(&self, begun: &Begun) {
        for note in &begun.notes {
            self.printer.warning(note);
        }
        if begun.pending == 0 {
            return;
        }
        let there = if begun.already > 0 { format!("; there already: {}", begun.already) } else { String::new() };
        let plans = several(begun.pending, "plan");
        let planner = if self.llm == "offline" { "the offline planner" } else { &self.llm };
        self.printer.progress(&format!("asking {planner} for {plans}{there}"));
        if self.printer.draws() {
            let bar = ProgressBar::new(begun.pending as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {rate} eta {eta} {msg}") {
                let rate = |state: &ProgressState, out: &mut dyn Write| {
                    let _ = write!(out, "{:.1}/s", state.per_sec());
                };
                bar.set_style(style.with_key("rate", rate));
            }
            self.state().bar = Some(bar);
        }
    }

    fn answered(&self, progress: &Progress<'_>) {
        let done = progress.completed + progress.failed;
        let used = self.used(progress.usage.prompt, progress.usage.completion);
        let mut state = self.state();
        let told = progress.failed <= TOLD || self.printer.verbosity() >= Verbosity::Verbose;
        let failure = progress
            .failure
            .filter(|_| told)
            .map(|failure| format!("request {} failed: {}: {}", failure.id, failure.kind, failure.message));
        if let Some(bar) = &state.bar {
            if let Some(failure) = failure {
                bar.println(harmless(&failure));
            }
            bar.set_position(done as u64);
            bar.set_message(format!("{} failed{used}", progress.failed));
            return;
        }
        if let Some(failure) = failure {
            self.printer.progress(&failure);
        }
        let twentieths = (done * 20).checked_div(progress.of).unwrap_or(20);
        let pause = if twentieths > state.twentieths { PAUSE } else { SILENCE };
        if done < progress.of && state.last.elapsed() > pause {
            let rate = done as f64 / state.since.elapsed().as_secs_f64().max(0.001);
            let left = Duration::from_secs_f64((progress.of - done) as f64 / rate.max(0.001));
            let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
            let (of, failed) = (progress.of, progress.failed);
            self.printer.progress(&format!("{done}/{of}, {failed} failed, {rate:.1} a second, {left} left{used}"));
            (state.last, state.twentieths) = (Instant::now(), twentieths);
        }
    }
}
