//! `jarvis planner fit`: learns from gold plans and searches the offline planner's weights.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use jarvis_plan::export::plural;
use jarvis_planner::{Basis, Encoder, Fitted, Learned, Memo, Weights};
use jarvis_store::files::{FileError, replace_derived};
use jarvis_taskbench::bench::{BenchError, GoldSource, PlanSet};
use jarvis_taskbench::fit::{
    FitError, Folds, Found, Hold, Options, SetFigures, Step, Watch, cross, cross_validate, learn, measure, search,
};
use tokio_util::sync::CancellationToken;

use crate::cli::Global;
use crate::commands::taskbench::infer::at_least_one;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::{self, BatchResult};
use crate::wiring::{basis, load_config};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/fit.txt").trim_end())]
pub(crate) struct FitArgs {
    /// A folder or file with gold plans, or a folder of TaskBench and a file with plans for its requests; may be repeated
    #[arg(long, value_name = "DIR[=GOLD]", required = true)]
    data_dir: Vec<PathBuf>,
    /// The same, for the weights alone: nothing is learned from its plans; may be repeated
    #[arg(long, value_name = "DIR[=GOLD]")]
    weigh_dir: Vec<PathBuf>,
    /// Write the weights and what was learned to this file
    #[arg(short, long, value_name = "FILE", required_unless_present = "measure")]
    out: Option<PathBuf>,
    /// Begin with these weights [default: those of --planner-weights, else those built in]
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
    /// Requests that must not lose their tools: those of jarvis, or of a file of tools; may be repeated
    #[arg(long, value_name = "FILE[=TOOLS]")]
    hold: Vec<PathBuf>,
    /// Parts of each set for cross-validation; 0 or 1 leaves it out
    #[arg(long, value_name = "N", default_value_t = Options::default().folds)]
    folds: usize,
    /// How often the search goes over all weights
    #[arg(long, value_name = "N", default_value_t = Options::default().rounds)]
    rounds: usize,
    /// The most samples of each set that the search plans for
    #[arg(long, value_name = "N", default_value_t = Options::default().most, value_parser = at_least_one)]
    most: usize,
    /// Keep the weights, and learn the plans only
    #[arg(long, conflicts_with_all = ["measure", "hold"])]
    learn_only: bool,
    /// Fit nothing: print the cross-validated figures of the weights as they are
    #[arg(long, conflicts_with_all = ["out", "hold"])]
    measure: bool,
}

impl FitArgs {
    fn options(&self) -> Options {
        let folds = if self.folds < 2 { Options::default().folds } else { self.folds };
        Options { folds, most: self.most, rounds: self.rounds, ..Options::default() }
    }
}

pub(super) async fn run(args: FitArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    // Here `--data-dir` is that of the plans.
    let global = &Global { data_dir: None, ..global.clone() };
    let config = load_config(global, printer)?.config;
    if args.measure && args.folds < 2 {
        return Err(Failure::usage("--measure needs at least 2 folds").hint("leave out --folds for five"));
    }
    if let Some(out) = args.out.as_deref().filter(|out| out.is_dir()) {
        return Err(Failure::usage(format!("{} is a folder", out.display())).hint("name a file with --out"));
    }
    let mut start = basis(&config).await?;
    if let Some(path) = &args.start {
        start.fitted = Arc::new(Fitted::read(path).map_err(|error| {
            let hint = error.hint();
            Failure::usage(error).hint(hint)
        })?);
    }
    // The same requests are planned again and again.
    start.encoder = start.encoder.map(|encoder| Arc::new(Memo::new(encoder, usize::MAX)) as Arc<dyn Encoder>);
    let mut sets = read(&args.data_dir, printer).await?;
    let taught = sets.len();
    if !args.weigh_dir.is_empty() {
        sets.extend(read(&args.weigh_dir, printer).await?);
    }
    let plans: usize = sets.iter().map(|set| set.samples.len()).sum();
    let about = format!("{} of {}", plural(plans, "gold plan"), plural(sets.len(), "set"));
    printer.progress(&format!("read {about}"));
    let request = format!("fitting the offline planner to {about}");
    let fit = session::batch(&config, request, printer, async |_, stop| {
        let work = move || Fit { args, sets, taught, start, printer, stop }.carry_out();
        tokio::task::spawn_blocking(work).await.map_err(Failure::work)?
    });
    let ended = fit.await?;
    Ok(if ended.stopped { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Reads gold plans, and warns of what is odd about them.
pub(super) async fn read(dirs: &[PathBuf], printer: Printer) -> Result<Vec<PlanSet>, Failure> {
    let sources: Vec<GoldSource> = dirs.iter().map(|path| GoldSource::parse(path)).collect();
    // Large benchmarks take seconds to read.
    let read = tokio::task::spawn_blocking(move || GoldSource::read_all(&sources)).await;
    let sets = read.map_err(Failure::work)?.map_err(unreadable)?;
    for set in &sets {
        set.notes.iter().for_each(|note| printer.warning(&format!("{}: {note}", set.name)));
    }
    Ok(sets)
}

/// How it ended.
struct Ended {
    /// The last line.
    told: String,
    stopped: bool,
}

impl BatchResult for Ended {
    fn ok(&self) -> bool {
        !self.stopped
    }

    fn cancelled(&self) -> bool {
        self.stopped
    }

    fn text(&self) -> String {
        self.told.clone()
    }
}

/// What a search is made of.
struct Fit {
    args: FitArgs,
    sets: Vec<PlanSet>,
    /// The first so many are learned from.
    taught: usize,
    /// Where the search begins; with a sentence model it is for the weights that go with one.
    start: Basis,
    printer: Printer,
    stop: CancellationToken,
}

impl Fit {
    fn carry_out(self) -> Result<Ended, Failure> {
        let Fit { args, sets, start, printer, .. } = &self;
        let options = Options { taught: self.taught, encoder: start.encoder.clone(), ..args.options() };
        let Fitted { weights, with_sentences, .. } = start.fitted.as_ref();
        let begin = if start.encoder.is_some() { with_sentences } else { weights };
        let Some(out) = args.out.as_deref().filter(|_| !args.measure) else {
            self.show(&measure(sets, &options, begin), options.folds);
            return Ok(Ended { told: "measured".to_owned(), stopped: false });
        };
        let learned = learn(sets, self.taught);
        printer.progress(&format!("learned from {}", plural(learned.len(), "plan")));
        if args.learn_only {
            return self.write(out, begin.clone(), &learned, false);
        }
        let vocabulary = jarvis_catalogue::vocabulary();
        let hold = match args.hold.as_slice() {
            [] => None,
            files => {
                Some(Hold::read(files, vocabulary.tools(), &self.basis(begin.clone(), &learned)).map_err(wrong_hold)?)
            }
        };
        if args.folds > 1 {
            let watch = |fold: usize| -> Box<dyn Watch + '_> {
                Box::new(self.shown(format!("fold {fold} of {}: ", options.folds), hold.as_ref(), None))
            };
            let Some(figures) = cross_validate(sets, hold.as_ref(), begin, &options, watch) else {
                printer.progress("stopped in cross-validation; nothing is written");
                return Ok(Ended { told: "stopped in cross-validation".to_owned(), stopped: true });
            };
            self.show(&figures, options.folds);
        }
        let folds = Folds::new(sets, &options, None);
        let keep = |weights: &Weights| self.keep(out, weights.clone(), &learned);
        let shown = self.shown(String::new(), hold.as_ref(), Some(&keep));
        let Found { weights, objective, kept, stopped } = search(&folds, hold.as_ref(), begin, options.rounds, &shown);
        let (before, after) = objective;
        printer.out(&format!("search on all folds, {}: {before:.2} → {after:.2}", plural(folds.len(), "plan")));
        if let Some(hold) = &hold {
            printer.out(&format!("held requests with their tools, of {}: {} → {}", hold.len(), kept.0, kept.1));
        }
        self.write(out, weights, &learned, stopped)
    }

    fn shown<'f>(&'f self, prefix: String, hold: Option<&'f Hold>, keep: Option<&'f Keep<'f>>) -> Shown<'f> {
        Shown { prefix, held: hold.map_or(0, Hold::len), keep, printer: self.printer, stop: &self.stop }
    }

    fn show(&self, figures: &[SetFigures], folds: usize) {
        let printer = self.printer;
        printer.out(&cross::table(figures).text());
        let fitted = match cross::aim(figures) {
            (start, Some(fitted)) => {
                format!(
                    "{start:.2} → {fitted:.2}\nfitted: with weights that were searched without the plans of the fold."
                )
            }
            (start, None) => format!("{start:.2}"),
        };
        printer.out(&format!(
            "\nF1 times 100 of tools (n-) and links (e-), {folds}-fold: nothing was learned from the plans of the fold.\n\
             Mean of both over the rows, each weighted by the square root of its samples: {fitted}"
        ));
    }

    /// These weights in the place of those that are searched, and what was learned.
    fn basis(&self, found: Weights, learned: &Learned) -> Basis {
        let start = self.start.fitted.as_ref().clone();
        let fitted = match self.start.encoder {
            Some(_) => Fitted { with_sentences: found, learned: learned.clone(), ..start },
            None => Fitted { weights: found, learned: learned.clone(), ..start },
        };
        Basis { fitted: Arc::new(fitted), encoder: self.start.encoder.clone() }
    }

    fn keep(&self, out: &Path, found: Weights, learned: &Learned) -> Result<(), FileError> {
        replace_derived(out, self.basis(found, learned).fitted.to_json().as_bytes())
    }

    fn write(&self, out: &Path, weights: Weights, learned: &Learned, stopped: bool) -> Result<Ended, Failure> {
        self.keep(out, weights, learned).map_err(Failure::work)?;
        let told = match stopped {
            true => format!("stopped; the best weights so far are in {}", out.display()),
            false => format!("wrote {}", out.display()),
        };
        self.printer.out(&told);
        Ok(Ended { told, stopped })
    }
}

/// Writes what was found so far.
type Keep<'f> = dyn Fn(&Weights) -> Result<(), FileError> + Sync + 'f;

/// A search on stderr, a line for each change; what was found is written after every round.
struct Shown<'f> {
    prefix: String,
    held: usize,
    keep: Option<&'f Keep<'f>>,
    printer: Printer,
    stop: &'f CancellationToken,
}

impl Watch for Shown<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    fn began(&self, objective: f64, kept: usize) {
        let held = match self.held {
            0 => String::new(),
            all => format!("; {kept} of {} get their tools", plural(all, "held request")),
        };
        self.printer.progress(&format!("{}start {objective:.2}{held}", self.prefix));
    }

    fn stepped(&self, step: &Step) {
        let Step { round, name, change: (from, to), objective } = step;
        self.printer.progress(&format!("{}round {round}: {objective:.2} with {name} {from} → {to}", self.prefix));
    }

    fn rounded(&self, round: usize, weights: &Weights, objective: f64) {
        self.printer.progress(&format!("{}round {round} ended at {objective:.2}", self.prefix));
        if let Some(keep) = self.keep
            && let Err(error) = keep(weights)
        {
            self.printer.warning(&error.to_string());
        }
    }
}

fn unreadable(error: BenchError) -> Failure {
    let hint = error.hint();
    if error.is_usage() { Failure::usage(error) } else { Failure::work(error) }.maybe_hint(hint)
}

fn wrong_hold(error: FitError) -> Failure {
    let hint = error.hint();
    Failure::usage(error).hint(hint)
}
