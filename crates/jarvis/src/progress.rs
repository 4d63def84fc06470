//! A run as it happens, on stderr: bars on a terminal, plain lines elsewhere, nothing when quiet.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jarvis_pipeline::approval::ASK_PERSON;
use jarvis_plan::{EventKind, Level, Outcome, Status, Task, TaskError, TaskId};

use serde_json::Value;
use tokio::sync::watch;

use crate::printer::{Printer, Verbosity, harmless, one_line};

/// The bars of this process's terminal.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// What came to be told while a question stands at the terminal.
static HELD: Mutex<Option<Vec<(Printer, String)>>> = Mutex::new(None);

/// How many calls have been shown to wait for leave.
static SHOWN: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(0));

/// How long a question waits for what comes before it, where nobody may be showing it.
const TO_BE_SHOWN: Duration = Duration::from_secs(1);

/// Does something at the terminal while no bars are drawn over it and no line is written into it.
pub(crate) fn without_bars<T>(work: impl FnOnce() -> T) -> T {
    // A terminal that cannot be cleared shows the last bars above the question.
    let _ = BARS.clear();
    BARS.set_draw_target(ProgressDrawTarget::hidden());
    *held() = Some(Vec::new());
    let done = work();
    let lines = held().take().unwrap_or_default();
    BARS.set_draw_target(ProgressDrawTarget::stderr());
    for (printer, line) in lines {
        printer.progress(&line);
    }
    done
}

fn held() -> MutexGuard<'static, Option<Vec<(Printer, String)>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until so many calls have been shown to wait for leave, and with them the plan.
pub(crate) async fn until_shown(calls: u64) {
    let mut shown = SHOWN.subscribe();
    // The question is asked in any case.
    let _ = tokio::time::timeout(TO_BE_SHOWN, shown.wait_for(|shown| *shown >= calls)).await;
}

pub(crate) struct Progress {
    printer: Printer,
    bars: Option<MultiProgress>,
    running: HashMap<TaskId, ProgressBar>,
    waiting: Option<ProgressBar>,
    /// Whether an agent thinks in rounds, which are shown; the tasks that come of them need no lines of their own.
    rounds: bool,
    /// Why tasks failed, as far as it was told.
    told: HashSet<String>,
}

impl Progress {
    pub(crate) fn new(printer: Printer) -> Progress {
        let bars = printer.draws().then(|| BARS.clone());
        let (running, told) = (HashMap::new(), HashSet::new());
        Progress { printer, bars, running, waiting: None, rounds: false, told }
    }

    pub(crate) fn show(&mut self, event: &EventKind) {
        self.tell(event);
        if matches!(event, EventKind::ApprovalNeeded { .. }) {
            SHOWN.send_modify(|shown| *shown += 1);
        }
    }

    fn tell(&mut self, event: &EventKind) {
        match event {
            EventKind::Queued { .. } => self.wait("waiting for a place"),
            EventKind::RunStarted { planner, model, .. } => match planner.as_str() {
                "offline" => self.wait("planning offline"),
                "plan" => {}
                _ => self.wait(&format!("asking {model}")),
            },
            EventKind::Plan { .. } | EventKind::TaskStarted { .. } | EventKind::TaskFinished { .. } if self.rounds => {}
            EventKind::Plan { plan } => {
                self.settle();
                self.line(&format!("plan: {}", steps(plan.tasks())));
                for note in plan.notes() {
                    self.note(&note.text);
                }
            }
            EventKind::Mapped { task, from, to } => {
                self.line(&format!("task {}: `{from}` was taken to mean `{to}`", task.0 + 1));
            }
            EventKind::ApprovalNeeded { approval } if approval.tool == ASK_PERSON => {
                let question = approval.arguments.get("question").and_then(Value::as_str).unwrap_or_default();
                self.line(&format!("the planner asks: {question}"));
            }
            EventKind::ApprovalGiven { tool, .. } if tool == ASK_PERSON => {}
            EventKind::ApprovalNeeded { approval } if approval.unknown => {
                let (task, tool) = (approval.task.0 + 1, &approval.tool);
                self.line(&format!(
                    "task {task}: `{tool}` was called before the run was cut off, and may have been done"
                ));
            }
            EventKind::ApprovalNeeded { approval } => {
                self.line(&format!("task {}: `{}` waits for leave", approval.task.0 + 1, approval.tool));
            }
            EventKind::ApprovalGiven { id, tool, approved, .. } => {
                let decided = if *approved { "is allowed" } else { "is not allowed" };
                self.line(&format!("task {}: `{tool}` {decided}", id.0 + 1));
            }
            EventKind::ExecutionConfig { .. } | EventKind::Resumed { .. } => {}
            // The first plan is shown when it stands.
            EventKind::PlanGrew { round: 0, .. } => {}
            EventKind::PlanGrew { tasks, notes, .. } => {
                self.settle();
                self.line(&format!("planned on: {}", steps(tasks)));
                notes.iter().for_each(|note| self.note(note));
            }
            EventKind::Budget { spent } => self.line(&format!("{spent}; nothing new starts")),
            EventKind::ModelChosen { selection, .. } => {
                let chosen = &selection.chosen;
                self.note(&format!(
                    "task {}: chose {} ({}): {}",
                    selection.task.0 + 1,
                    chosen.id,
                    chosen.host,
                    selection.reason
                ));
            }
            EventKind::TaskStarted { id, task, model } => self.start(*id, task, model),
            EventKind::TaskAttempt { id, attempt } => {
                if let Some(error) = &attempt.error {
                    let why = self.why(error);
                    self.line(&format!("{}. {} failed{why}", id.0 + 1, attempt.candidate.id));
                }
            }
            EventKind::TaskFinished { outcome } => self.finish(outcome),
            EventKind::ModelCall { stage, ms, prompt_tokens, completion_tokens, ok, .. } => {
                let how = if *ok { "" } else { " (failed)" };
                self.note(&format!("{stage}: {ms} ms, {prompt_tokens} + {completion_tokens} tokens{how}"));
            }
            EventKind::Note { level: Level::Warning, message } => self.line(&format!("warning: {message}")),
            EventKind::Note { level: Level::Info, message } => self.note(message),
            EventKind::Thought { step, text } => {
                self.rounds = true;
                self.line(&format!("{step}. thought: {}", one_line(text, 400)));
            }
            EventKind::Action { step, tool, input } => {
                self.rounds = true;
                self.line(&format!("{step}. action: {tool} {}", one_line(input, 400)))
            }
            EventKind::Observation { step, text, .. } => {
                self.line(&format!("{step}. observation: {}", one_line(text, 400)));
            }
            EventKind::Token { .. } => self.settle(),
            EventKind::Answer { .. } | EventKind::Done { .. } | EventKind::Error { .. } => self.clear(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.settle();
        for (_, bar) in self.running.drain() {
            bar.finish_and_clear();
        }
    }

    fn wait(&mut self, what: &str) {
        match &self.bars {
            Some(bars) => self.waiting = Some(spinner(bars, what)),
            None => self.note(what),
        }
    }

    fn settle(&mut self) {
        if let Some(bar) = self.waiting.take() {
            bar.finish_and_clear();
        }
    }

    fn start(&mut self, id: TaskId, task: &str, model: &str) {
        let what = format!("{}. {task} with {model}", id.0 + 1);
        match &self.bars {
            Some(bars) => {
                let bar = spinner(bars, &what);
                if let Some(before) = self.running.insert(id, bar) {
                    before.finish_and_clear();
                }
            }
            None => self.note(&what),
        }
    }

    fn finish(&mut self, outcome: &Outcome) {
        if let Some(bar) = self.running.remove(&outcome.id) {
            bar.finish_and_clear();
        }
        let number = outcome.id.0 + 1;
        let model = outcome.performer().map(|performer| format!(" with {}", performer.id)).unwrap_or_default();
        let why = outcome.error.as_ref().map(|error| self.why(error)).unwrap_or_default();
        let line = match outcome.status {
            Status::Succeeded => format!("{number}. {} done{model} in {} ms", outcome.task, outcome.ms),
            Status::Failed => format!("{number}. {} failed{why}", outcome.task),
            Status::Skipped => format!("{number}. {} skipped{why}", outcome.task),
            Status::Cancelled => format!("{number}. {} cancelled", outcome.task),
        };
        self.line(&line);
        for note in &outcome.notes {
            self.note(&format!("task {number}: {note}"));
        }
        let next_answer = self.running.is_empty() && self.bars.is_some();
        if next_answer {
            self.settle();
        }
    }

    /// A reason that was told before is not told again.
    fn why(&mut self, error: &TaskError) -> String {
        let why = error.to_string();
        match self.told.insert(why.clone()) {
            true => format!(": {why}"),
            false => ", as told above".to_owned(),
        }
    }

    fn line(&self, text: &str) {
        if let Some(lines) = held().as_mut() {
            lines.push((self.printer, text.to_owned()));
            return;
        }
        match self.bars.as_ref().filter(|bars| !bars.is_hidden()) {
            Some(bars) => {
                let _ = bars.println(harmless(text));
            }
            None => self.printer.progress(text),
        }
    }

    fn note(&self, text: &str) {
        if self.printer.verbosity() >= Verbosity::Verbose {
            self.line(&format!("note: {text}"));
        }
    }
}

/// Tasks in a line, each with those that it waits for.
fn steps(tasks: &[Task]) -> String {
    let step = |task: &Task| {
        let after: Vec<String> = task.dep.iter().map(|dep| (dep.0 + 1).to_string()).collect();
        let after = if after.is_empty() { String::new() } else { format!(" (after {})", after.join(", ")) };
        format!("{}. {}{after}", task.id.0 + 1, task.task)
    };
    let steps: Vec<String> = tasks.iter().map(step).collect();
    if steps.is_empty() { "no tasks".to_owned() } else { steps.join("; ") }
}

fn spinner(bars: &MultiProgress, what: &str) -> ProgressBar {
    let bar = bars.add(ProgressBar::new_spinner());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
