//! `jarvis taskbench format`: generated samples to gold plans and requests.

use std::process::ExitCode;

use clap::Args;
use clap::builder::BoolishValueParser;
use jarvis_plan::export::plural;
use jarvis_taskbench::data::DependencyType;
use jarvis_taskbench::generate::{FormatError, FormatOptions, format};
use serde_json::{Value, json};

use super::{DomainArg, wrong_use};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/format.txt").trim_end())]
pub(crate) struct FormatArgs {
    #[command(flatten)]
    domain: DomainArg,
    /// `resource` or `temporal` [default: as each sample's tools show]
    #[arg(long, value_name = "TYPE")]
    dependency_type: Option<DependencyType>,
    /// Reject samples that no teacher judged (those made without --check)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", default_value = "false",
        action = clap::ArgAction::Set, value_parser = BoolishValueParser::new(), hide_default_value = true)]
    require_check: bool,
    /// Write over data.json and user_requests.json though they hold lines that formatting does not make
    #[arg(long)]
    overwrite: bool,
    /// Print the counts, and each rejected line with its reason, as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &FormatArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let domain = args.domain.open()?;
    let raw = domain.path("data_raw.json");
    if !raw.is_file() {
        return Err(
            Failure::usage(format!("{} does not exist", raw.display())).hint("`jarvis taskbench generate` makes it")
        );
    }
    let options = FormatOptions {
        dependency: args.dependency_type,
        require_check: args.require_check,
        overwrite: args.overwrite,
    };
    let formatted = format(&domain, options).map_err(wrong_use(FormatError::hint))?;
    let named = |id: &Option<String>| id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    for rejected in &formatted.rejected {
        printer.note(&format!("line {}{}: {}", rejected.line, named(&rejected.id), rejected.reason));
    }
    if formatted.repeated_ids > 0 {
        let repeated = plural(formatted.repeated_ids, "accepted sample");
        printer.warning(&format!("{repeated} with the id of another"));
    }
    if args.json {
        let rejected: Vec<Value> = formatted
            .rejected
            .iter()
            .map(|rejected| json!({"line": rejected.line, "id": rejected.id, "reason": rejected.reason.as_str()}))
            .collect();
        let document = json!({
            "total": formatted.total, "accepted": formatted.accepted, "reasons": formatted.reasons(),
            "repeated_ids": formatted.repeated_ids, "rejected": rejected,
        });
        printer.out(&serde_json::to_string_pretty(&document).map_err(Failure::work)?);
    } else {
        printer.out(&format!(
            "accepted {} of {}: gold plans in {}, requests in {}",
            formatted.accepted,
            formatted.total,
            domain.path("data.json").display(),
            domain.path("user_requests.json").display(),
        ));
        for (reason, count) in formatted.reasons() {
            printer.out(&format!("rejected {count}: {reason}"));
        }
        if !formatted.rejected.is_empty() {
            printer.out(&format!("the rejected are in {}", domain.path("data_error.json").display()));
        }
    }
    if formatted.wrote_alignment {
        printer.progress("alignment_ids.json was missing and has been written");
    }
    Ok(if formatted.accepted > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
