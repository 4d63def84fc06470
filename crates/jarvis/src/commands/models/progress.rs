//! A pull as it happens: a bar on a terminal, plain lines elsewhere, or lines of JSON in the words of Ollama.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jarvis_models::{BlobId, PullEvent, PullPlan};

use super::words::size;
use crate::printer::{Printer, harmless};
use crate::wiring::pulls::PullLines;

/// The longest time without a plain line.
const SILENCE: Duration = Duration::from_secs(10);

pub(super) struct PullProgress {
    printer: Printer,
    name: String,
    is_json: bool,
    total: u64,
    state: Mutex<State>,
}

struct State {
    bar: Option<ProgressBar>,
    /// Bytes of each content.
    completed: HashMap<BlobId, u64>,
    lines: PullLines,
    last_line: Instant,
    waiting: bool,
}

impl PullProgress {
    pub(super) fn new(plan: &PullPlan, is_json: bool, printer: Printer) -> PullProgress {
        let present = plan.total().saturating_sub(plan.missing());
        let bar = (!is_json && printer.draws()).then(|| bar(plan.total(), present, &plan.name));
        let state = State {
            bar,
            completed: HashMap::new(),
            lines: PullLines::default(),
            last_line: Instant::now(),
            waiting: false,
        };
        PullProgress { printer, name: plan.name.clone(), is_json, total: plan.total(), state: Mutex::new(state) }
    }

    pub(super) fn show(&self, event: &PullEvent) {
        let mut state = self.state();
        if self.is_json {
            for line in state.lines.of(event) {
                self.printer.out(&line.to_string());
            }
        }
        match event {
            PullEvent::Progress { blob, completed, .. } => {
                state.completed.insert(blob.clone(), *completed);
                if !self.is_json {
                    self.progress(&mut state);
                }
            }
            PullEvent::Waiting { file } => {
                if !std::mem::replace(&mut state.waiting, true) {
                    self.note(&state, &format!("another program downloads {file}; waiting for it"));
                }
            }
            PullEvent::Retry { file, reason, pause } => {
                let pause = if pause.is_zero() {
                    "now".to_owned()
                } else {
                    format!("in {:.0} s", pause.as_secs_f64().max(1.0))
                };
                self.note(&state, &format!("{file}: {reason}; trying again {pause}"));
            }
            PullEvent::Verified | PullEvent::Complete => {}
        }
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if let Some(bar) = self.state().bar.take() {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self, state: &mut State) {
        let done: u64 = state.completed.values().sum();
        match &state.bar {
            // A bar that starts with what was here already does not go back when files are told of one by one.
            Some(bar) => bar.set_position(bar.position().max(done)),
            None if state.last_line.elapsed() >= SILENCE => {
                state.last_line = Instant::now();
                self.printer.progress(&format!("{}: {} of {}", self.name, size(done), size(self.total)));
            }
            None => {}
        }
    }

    fn note(&self, state: &State, text: &str) {
        match &state.bar {
            Some(bar) => bar.println(harmless(text)),
            None => self.printer.progress(text),
        }
    }
}

fn bar(total: u64, present: u64, name: &str) -> ProgressBar {
    let template = "{prefix} {bar:30} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} eta {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style);
    bar.set_prefix(name.to_owned());
    bar.set_position(present);
    // The rate is that of the download.
    bar.reset_eta();
    bar
}
