//! A run as bars: when each step ran, and what ran beside it.

use serde_json::Value;

/// The width of the bars, in characters.
const WIDTH: u64 = 50;

/// A step with its time, in milliseconds of the run: what lay between two processes does not count.
struct Step {
    name: String,
    from: u64,
    to: u64,
    mark: char,
}

/// The steps of a run, a line each, after a line of their scale.
pub(super) fn lines(events: &[Value]) -> Vec<String> {
    let at = |event: &Value| event.get("at_ms").and_then(Value::as_u64).unwrap_or_default();
    let Some(start) = events.first().map(at) else { return Vec::new() };
    let mut steps: Vec<Step> = Vec::new();
    let mut asked: Vec<(u64, u64)> = Vec::new();
    let (mut idle, mut whole) = (0, 1);
    for event in events {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let number = |path: &str| event.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        if text("/event") == "resumed" && event.get("from").is_none() {
            idle = at(event).saturating_sub(start).saturating_sub(number("/ran_ms"));
        }
        let now = at(event).saturating_sub(start).saturating_sub(idle);
        whole = whole.max(now);
        let mut step = |name: String, ms: u64, mark: char| {
            steps.push(Step { name, from: now.saturating_sub(ms), to: now, mark });
        };
        match text("/event") {
            "model_call" => {
                let mark = if event.get("ok") == Some(&Value::Bool(true)) { '=' } else { 'x' };
                step(text("/stage").to_owned(), number("/ms"), mark);
            }
            "task_finished" => {
                let mark = if text("/outcome/status") == "succeeded" { '#' } else { 'x' };
                let name = format!("task {} {}", number("/outcome/id") + 1, text("/outcome/task"));
                step(name, number("/outcome/ms"), mark);
            }
            "approval_needed" => asked.push((number("/task"), now)),
            "approval_given" => {
                let id = number("/id");
                let since = asked.iter().rposition(|(task, _)| *task == id).map_or(now, |at| asked.swap_remove(at).1);
                step(format!("leave for task {}", id + 1), now.saturating_sub(since), '?');
            }
            "resumed" => step("goes on".to_owned(), 0, '|'),
            _ => {}
        }
    }
    let place = |ms: u64| usize::try_from(ms.min(whole) * WIDTH / whole).unwrap_or_default();
    let widest = steps.iter().map(|step| step.name.chars().count()).max().unwrap_or_default().min(40);
    let bars = steps.iter().map(|step| {
        let (from, to) = (place(step.from), place(step.to));
        let bar: String = step.mark.to_string().repeat((to - from).max(1));
        let name: String = step.name.chars().take(40).collect();
        let ms = step.to.saturating_sub(step.from);
        format!(
            "{name:<widest$}  {:<width$}  {ms:>6} ms",
            format!("{}{bar}", " ".repeat(from)),
            width = WIDTH as usize + 1
        )
    });
    let scale = format!(
        "{:<widest$}  {:<width$}  {whole:>6} ms",
        "",
        format!("0{}", "-".repeat(WIDTH as usize)),
        width = WIDTH as usize + 1
    );
    std::iter::once(scale).chain(bars).map(|line| line.trim_end().to_owned()).collect()
}
