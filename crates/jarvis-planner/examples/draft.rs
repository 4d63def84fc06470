//! Drafts plans for requests with the built-in task types, without running anything: one request a line on standard input,
//! with `| file …` behind it for attached files. Prints each draft on a line, then what was left out; with `--explain` also
//! what each clause might have meant, the likeliest first.

use std::io::{BufRead, Write};

use jarvis_plan::{Arg, Draft, Kind, Request, Resource, Source};
use jarvis_planner::{Experience, Offline, ToolIndex, Weights};

fn main() -> std::io::Result<()> {
    let explain = std::env::args().any(|word| word == "--explain");
    let index = ToolIndex::new(jarvis_catalogue::vocabulary().tools());
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (text, files) = line.split_once(" | ").unwrap_or((&line, ""));
        let attachments = files.split_whitespace().map(attached).collect();
        let request = Request { attachments, ..Request::new(text) };
        let draft = Offline::draft_with(&index, &request);
        let notes: Vec<String> = draft.notes.iter().map(|note| note.text.clone()).collect();
        writeln!(
            out,
            "{line}\n    {}{}",
            shown(&draft),
            notes.iter().map(|note| format!("  ({note})")).collect::<String>()
        )?;
        if explain {
            write!(out, "{}", Offline::explain(&index, &request, &Weights::default(), &Experience::default()))?;
        }
    }
    Ok(())
}

fn attached(name: &str) -> Resource {
    let kind = Kind::of_name(name).unwrap_or(Kind::Text);
    match kind.is_media() {
        true => Resource { kind, source: Source::Public(name.to_owned()), name: Some(name.to_owned()) },
        false => Resource { kind: Kind::Text, source: Source::Inline(format!("@{name}")), name: Some(name.to_owned()) },
    }
}

fn shown(draft: &Draft) -> String {
    let task = |task: &jarvis_plan::DraftTask| {
        let arg = |(name, arg): (&String, &Arg<_>)| format!("{name}={}", arg.to_string().replace("<GENERATED>-", "@"));
        let args: Vec<String> = task.args.iter().map(arg).collect();
        format!("{}({})", task.task, args.join(", "))
    };
    let tasks: Vec<String> = draft.tasks.iter().map(task).collect();
    if tasks.is_empty() { "nothing".to_owned() } else { tasks.join(" ; ") }
}
