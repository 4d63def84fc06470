//! `jarvis planner curve`: what plans from before are worth to the offline planner.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jarvis_plan::export::plural;
use jarvis_taskbench::fit::curve::{Curve, curve, table};

use super::fit;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{basis, load_config};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/curve.txt").trim_end())]
pub(crate) struct CurveArgs {
    /// A folder or file with gold plans, or a folder of TaskBench and a file with plans for its requests; may be repeated
    #[arg(long, value_name = "DIR[=GOLD]", required = true)]
    data_dir: Vec<PathBuf>,
    /// How many plans from before, with commas between; all of them come last
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [0, 10, 50, 200])]
    plans: Vec<usize>,
    /// Parts of each set: plans of one are made by those of the others
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    folds: u16,
}

/// The figures of the sets that were measured before the run ended.
struct Measured {
    curves: Vec<Curve>,
    stopped: bool,
}

impl BatchResult for Measured {
    fn ok(&self) -> bool {
        !self.stopped
    }

    fn cancelled(&self) -> bool {
        self.stopped
    }

    fn text(&self) -> String {
        plural(self.curves.len(), "set")
    }
}

pub(super) async fn run(args: CurveArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    // Here `--data-dir` is that of the plans.
    let global = &Global { data_dir: None, ..global.clone() };
    let config = load_config(global, printer)?.config;
    let basis = basis(&config).await?;
    let sets = fit::read(&args.data_dir, printer).await?;
    let mut counts = args.plans;
    counts.push(usize::MAX);
    let about = format!("the learning curve of {}", plural(sets.len(), "set"));
    let (shown, folds) = (counts.clone(), usize::from(args.folds));
    let measured = session::batch(&config, about, printer, async |_, stop| {
        let mut curves = Vec::new();
        for set in sets {
            printer.progress(&format!("planning {} of {}", plural(set.samples.len(), "request"), set.name));
            let (counts, basis) = (counts.clone(), basis.clone());
            let one = tokio::task::spawn_blocking(move || curve(&set, folds, &counts, &basis)).await;
            curves.push(one.map_err(Failure::work)?);
            if stop.is_cancelled() {
                break;
            }
        }
        Ok(Measured { curves, stopped: stop.is_cancelled() })
    });
    let measured = measured.await?;
    printer.out(&table(&shown, &measured.curves).text());
    printer.out(&format!(
        "\nF1 times 100 of tools / links, {folds}-fold, by so many plans of the other folds; nothing else was learned."
    ));
    Ok(if measured.stopped { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
