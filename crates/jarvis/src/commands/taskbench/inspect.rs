//! `jarvis taskbench inspect`: what a domain folder holds, and what is odd about it.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use jarvis_taskbench::inspect::{FileReport, Inspection, Oddity, inspect};
use serde_json::Value;

use super::DomainArg;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/inspect.txt").trim_end())]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    domain: DomainArg,
    /// Print one JSON document, with long lists uncut
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &InspectArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let domain = args.domain.open()?;
    let found = inspect(&domain).map_err(|error| {
        let hint = match domains_below(domain.dir()).as_slice() {
            [] => "name the folder of one domain, such as data_huggingface".to_owned(),
            below => format!("name the folder of one domain; below it: {}", below.join(", ")),
        };
        Failure::usage(error).hint(hint)
    })?;
    if args.json {
        printer.out(&serde_json::to_string_pretty(&found).map_err(Failure::work)?);
    } else {
        printer.out_piece(&text(&found));
    }
    Ok(ExitCode::SUCCESS)
}

/// The folders in this one that hold a domain, by name; the first few.
fn domains_below(dir: &Path) -> Vec<String> {
    const MOST: usize = 12;
    let is_domain =
        |path: &Path| ["tool_desc.json", "graph_desc.json", "data.json"].iter().any(|name| path.join(name).is_file());
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut below: Vec<String> = entries
        .filter(|entry| is_domain(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    below.sort();
    if below.len() > MOST {
        let more = below.len() - MOST;
        below.truncate(MOST);
        below.push(format!("and {more} more"));
    }
    below
}

const SHOWN: usize = 5;
const LETTERS: usize = 90;

fn text(found: &Inspection) -> String {
    let mut out = match found.dependency_type {
        Some(kind) => format!("{}: {kind} plans ({})\n", found.name, found.because),
        None => format!("{}: {}\n", found.name, found.because),
    };
    for (name, file) in &found.files {
        out.push('\n');
        out.push_str(&of_file(name, file));
    }
    out
}

fn of_file(name: &str, file: &FileReport) -> String {
    let contents = match file {
        FileReport::Missing => return format!("{name}: missing\n"),
        FileReport::Unusable { reason } => return format!("{name}: cannot be used: {reason}\n"),
        FileReport::Read(contents) => contents,
    };
    let mut out = format!("{name}\n");
    let width = contents.facts.keys().map(String::len).max().unwrap_or(0);
    for (fact, value) in &contents.facts {
        let value = match value {
            Value::Object(counts) => counts
                .iter()
                .map(|(name, count)| {
                    // Sizes need a mark between two numbers.
                    let mark = if name.bytes().all(|byte| byte.is_ascii_digit()) { ":" } else { "" };
                    format!("{name}{mark} {}", with_commas(count))
                })
                .collect::<Vec<_>>()
                .join(", "),
            count => with_commas(count),
        };
        out.push_str(&format!("  {:<width$}  {value}\n", fact.replace('_', " ")));
    }
    if contents.odd.is_empty() {
        return out;
    }
    out.push_str("  odd:\n");
    let counts: Vec<String> = contents.odd.iter().map(share).collect();
    let width = counts.iter().map(String::len).max().unwrap_or(0);
    for (odd, count) in contents.odd.iter().zip(&counts) {
        out.push_str(&format!("    {count:>width$}  {}\n", odd.what));
        for line in examples(odd) {
            out.push_str(&format!("    {:>width$}    {line}\n", ""));
        }
    }
    out
}

fn share(odd: &Oddity) -> String {
    match odd.of {
        Some(of) => format!("{} of {}", with_commas(odd.count), with_commas(of)),
        None => with_commas(odd.count),
    }
}

/// The first of a list, and how many more there are; words in one line, sentences in a line each.
fn examples(odd: &Oddity) -> Vec<String> {
    let mut shown: Vec<String> = odd.which.iter().take(SHOWN).map(|item| cut(item)).collect();
    let more = odd.which.len().saturating_sub(SHOWN);
    if more > 0 {
        shown.push(format!("and {} more", with_commas(more)));
    }
    let line = shown.join(", ");
    if line.len() > LETTERS { shown } else { vec![line].into_iter().filter(|line| !line.is_empty()).collect() }
}

fn cut(text: &str) -> String {
    let line = text.replace(char::is_whitespace, " ");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line)),
        None => line,
    }
}

fn with_commas(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
