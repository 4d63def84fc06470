//! `jarvis easytool score restbench`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::data::read_restbench;
use jarvis_easytool::instructions::read_endpoints;
use jarvis_easytool::log::read_paths;
use jarvis_easytool::score::restbench::{RestbenchScore, score};

use super::LogArgs;
use crate::commands::easytool::{LOG, QUESTIONS, TOOLS, unusable};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/score_restbench.txt").trim_end())]
pub(crate) struct RestbenchArgs {
    #[command(flatten)]
    logs: LogArgs,
    /// The tool instructions, such as tmdb_tool.json, for logs without paths
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
}

pub(super) fn run(args: &RestbenchArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let questions = read_restbench(&args.logs.data).map_err(|error| unusable(error, QUESTIONS))?;
    let tools = match &args.tools {
        Some(file) => {
            let tools = read_endpoints(file).map_err(|error| unusable(error, TOOLS))?;
            Some(tools.into_iter().map(|tool| (tool.id, tool.tool_usage)).collect())
        }
        None => None,
    };
    let score = |log: &Path| {
        let logged = read_paths(log).map_err(|error| unusable(error, LOG))?;
        super::warn_of_notes(log, &logged.notes, printer);
        if tools.is_none() && logged.rows.iter().all(|row| row.path.is_none()) {
            return Err(Failure::usage(format!("{} has plans and no paths (`tool_choice_ls`)", log.display()))
                .hint("add --tools FILE, from which the numbers of the plans are read"));
        }
        let score = score(&questions, &logged.rows, tools.as_ref());
        super::warn_of_notes(log, &score.warnings, printer);
        super::warn_of_gaps(log, &score.coverage, printer);
        Ok(score)
    };
    args.logs.run(printer, score, |score| &score.questions, table)
}

fn table(score: &RestbenchScore) -> String {
    let rates = super::table(&[
        ("correct path", Some(score.correct_path)),
        ("exact", Some(score.exact)),
        ("contiguous", Some(score.contiguous)),
        ("untrimmed", Some(score.untrimmed)),
    ]);
    match score.mean_extra_calls {
        Some(extra) => format!("{rates}\n\nextra calls in a correct path, on average: {extra:.2}"),
        None => rates,
    }
}
