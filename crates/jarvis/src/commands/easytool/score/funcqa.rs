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
#[command(after_help = "Examples:\n  \
    jarvis easytool score funcqa --log FuncQA_funcqa_mh_gpt-4o-mini_easytool.jsonl --data funcqa_mh.json\n  \
    jarvis easytool score funcqa --log run.jsonl --data funcqa_oh.json --json --per-question questions.jsonl\n\n\
    The prediction is `final_value` where the log has it, else the last number of the final answer.\n\
    strict    the prediction is within 0.1 % of the gold number; the figure to quote\n\
    any       some number of the answer is within 0.1 %\n\
    lenient   some number of the answer is within 1 %, or within 0.005\n\
    em        prediction and gold number are equal once rounded as the function hub rounds\n\
    Every question of the data counts; one without a row in the log is wrong. Intervals are Wilson's, 95 %.\n\n\
    Exit status: 0 scored, 1 a file cannot be written, 2 for wrong use.")]
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
