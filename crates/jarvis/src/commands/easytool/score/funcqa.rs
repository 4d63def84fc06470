//! `jarvis easytool score funcqa`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use jarvis_easytool::data::read_funcqa;
use jarvis_easytool::log::read_answers;
use jarvis_easytool::score::funcqa::{FuncqaScore, score};

use super::LogArgs;
use crate::commands::easytool::{LOG, QUESTIONS, unusable};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/score_funcqa.txt").trim_end())]
pub(crate) struct FuncqaArgs {
    #[command(flatten)]
    logs: LogArgs,
}

pub(super) fn run(args: &FuncqaArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let data = &args.logs.data;
    let questions = read_funcqa(data).map_err(|error| unusable(error, QUESTIONS))?;
    let score = |log: &Path| {
        let logged = read_answers(log).map_err(|error| unusable(error, LOG))?;
        super::warn_of_notes(log, &logged.notes, printer);
        let score = score(&questions, &logged.rows);
        super::warn_of_gaps(log, &score.coverage, printer);
        if !score.no_gold.is_empty() {
            let without = super::numbers(&score.no_gold);
            printer.warning(&format!("{}: there is no number in the gold answer of: {without}", data.display()));
        }
        Ok(score)
    };
    args.logs.run(printer, score, |score| &score.questions, table)
}

fn table(score: &FuncqaScore) -> String {
    super::table(&[
        ("strict", Some(score.strict)),
        ("any", Some(score.any)),
        ("lenient", Some(score.lenient)),
        ("em", Some(score.em)),
        ("strict, last number", Some(score.strict_last_number)),
        ("strict, last call", Some(score.last_call_strict)),
        ("1 %, last call", Some(score.last_call_1pct)),
        ("human", score.human),
    ])
}
