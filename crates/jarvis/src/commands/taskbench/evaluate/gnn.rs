//! `jarvis taskbench evaluate --format gnn4taskplan`: that project's figures from its files.

use std::process::ExitCode;

use jarvis_taskbench::data::Domain;
use jarvis_taskbench::evaluate::gnn4taskplan::{self, Mode, Options};

use super::super::{one_or_list, unusable};
use super::EvaluateArgs;
use super::files::Job;
use crate::failure::Failure;
use crate::printer::Printer;

pub(super) fn evaluate(
    args: &EvaluateArgs,
    domain: &Domain,
    jobs: &[Job],
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let mode = match args.splits.as_slice() {
        [] => Mode::Chain,
        [word] if word == "chain" => Mode::Chain,
        [word] if word == "single" => Mode::Single,
        words => {
            return Err(Failure::usage(format!("GNN4TaskPlan has no figures for `{}`", words.join(", ")))
                .hint("--splits is chain (the default) or single"));
        }
    };
    let unused = [
        ("--alignment", args.alignment.is_some()),
        ("--ids", args.ids.is_some()),
        ("--n-tools", !args.n_tools.is_empty()),
        ("--per-sample", args.per_sample.is_some()),
        ("--intervals", args.intervals.is_some()),
        ("--bert-model", args.bert_model.is_some()),
        ("--save-dir", args.save_dir.is_some()),
        ("--use-demos", args.use_demos.is_some()),
    ];
    for (option, _) in unused.iter().filter(|(_, given)| *given) {
        printer.warning(&format!("{option} does not apply to the figures of GNN4TaskPlan and is ignored"));
    }
    let steps = args.metric.iter().any(|word| word == "rouge" || word == "all");
    let options = Options { mode, remove_non_pred: args.remove_non_pred != Some(0), steps };
    let mut documents = Vec::new();
    for job in jobs {
        let figures = gnn4taskplan::evaluate_file(domain, &job.predictions, options).map_err(unusable)?;
        figures.notes.iter().for_each(|note| printer.progress(&format!("note: {note}")));
        for error in figures.errors.iter().take(5) {
            printer.warning(&format!("sample {}: {}", error.id, error.reason));
        }
        let more = figures.errors.len().saturating_sub(5);
        if more > 0 {
            printer.warning(&format!("{more} more samples could not be read as they should; --json lists them all"));
        }
        let value = figures.to_value();
        if !args.json {
            printer.out(&format!("{}, GNN4TaskPlan, {}", job.name, mode.as_str()));
            for (name, figure) in value.as_object().into_iter().flatten().filter(|(_, figure)| !figure.is_array()) {
                let written = match (figure.as_f64(), figure.as_str()) {
                    (Some(number), _) if figure.is_f64() => format!("{number:.4}"),
                    (_, Some(word)) => word.to_owned(),
                    (_, None) => figure.to_string(),
                };
                printer.out(&format!("  {name:<8} {written}"));
            }
        }
        documents.push(value);
    }
    if args.json {
        let document = one_or_list(documents, args.llm.is_some());
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    }
    Ok(ExitCode::SUCCESS)
}
