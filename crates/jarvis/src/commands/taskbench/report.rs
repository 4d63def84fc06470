//! `jarvis taskbench report`: compares runs with each other and with the published leaderboards.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use jarvis_store::files::replace_derived;
use jarvis_taskbench::data::{DependencyType, Domain, file_stem, same_file};
use jarvis_taskbench::evaluate::Wanted;
use jarvis_taskbench::report::{
    Against, DomainReport, Layout, Report, Run, comparison, document, notes, page, run_name,
};

use super::unusable;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/report.txt").trim_end())]
pub(crate) struct ReportArgs {
    /// A domain folder: tool_desc.json, data.json, predictions*/; may be repeated
    #[arg(long, value_name = "DIR")]
    data_dir: Vec<PathBuf>,
    /// Domain folders, as with --data-dir
    #[arg(value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// A file of predictions inside a domain folder; may be repeated; then only these are compared
    #[arg(long, value_name = "FILE")]
    run: Vec<PathBuf>,
    /// Only runs of this name, such as the model's; may be repeated
    #[arg(long, value_name = "NAME")]
    llm: Vec<String>,
    /// How the table is written
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Write the table to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write an HTML page with the tables, 95 % intervals and the worst samples to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Leave the published rows out
    #[arg(long)]
    no_leaderboard: bool,
    /// Figures: all, f1, ed, link, argument, rouge, bertscore; may be repeated
    #[arg(short, long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// How many of the worst samples of each run the page shows
    #[arg(long, value_name = "N", default_value_t = 20)]
    worst: usize,
    /// What links mean [default: resource where tools are typed, else temporal]
    #[arg(long, value_name = "TYPE")]
    dependency_type: Option<DependencyType>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Columns for a terminal
    Table,
    /// A Markdown table
    Markdown,
    /// Comma-separated values; what the columns mean goes to stderr
    Csv,
    /// One JSON document: rows with figures from 0 to 100, or null
    Json,
}

/// A domain and the files that are compared in it.
struct Job {
    domain: Domain,
    files: Vec<PathBuf>,
}

pub(super) async fn run(args: ReportArgs, printer: Printer) -> Result<ExitCode, Failure> {
    // Reading and counting is work for all cores, and none of it waits.
    let done = tokio::task::spawn_blocking(move || compare(&args, printer)).await;
    done.map_err(Failure::work)?
}

fn compare(args: &ReportArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let metrics = if args.metric.is_empty() { vec!["all"] } else { args.metric.iter().map(String::as_str).collect() };
    let wanted = Wanted::from_words(metrics, "cot").map_err(Failure::usage)?;
    let jobs = jobs(args)?;
    for written in args.out.iter().chain(&args.html) {
        let same = |read: &Path| same_file(written, read);
        if jobs.iter().flat_map(|job| &job.files).any(|read| same(read))
            || jobs.iter().any(|job| ["data.json", "tool_desc.json"].iter().any(|name| same(&job.domain.path(name))))
        {
            return Err(Failure::usage(format!(
                "{} is read for this report and would be overwritten",
                written.display()
            ))
            .hint("name another file with --out or --html"));
        }
    }
    let mut report = Report::new(!args.no_leaderboard, wanted);
    for job in jobs {
        let measured = measure(&job, wanted, args, printer)?;
        report.add(measured);
    }
    let table = |layout| comparison(&report, layout);
    let under = notes(&report).join("\n");
    let text = match args.format {
        FormatArg::Table => format!("{}\n\n{under}", table(Layout::Terminal).text()),
        FormatArg::Markdown => {
            format!("{}\n\n{}", table(Layout::Markdown).markdown(), notes(&report).join("\n\n"))
        }
        FormatArg::Csv => {
            printer.progress(&under);
            table(Layout::Csv).csv().trim_end().to_owned()
        }
        FormatArg::Json => serde_json::to_string_pretty(&document(&report)).map_err(Failure::work)?,
    };
    match &args.out {
        Some(file) => {
            replace_derived(file, format!("{text}\n").as_bytes()).map_err(|error| unusable(error.into()))?;
            printer.progress(&format!("wrote {}", file.display()));
        }
        None => printer.out(&text),
    }
    if let Some(file) = &args.html {
        replace_derived(file, page(&report).as_bytes()).map_err(|error| unusable(error.into()))?;
        printer.progress(&format!("wrote {}", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is compared: the named files, or what the domain folders hold.
fn jobs(args: &ReportArgs) -> Result<Vec<Job>, Failure> {
    let mut jobs: Vec<Job> = Vec::new();
    for dir in args.data_dir.iter().chain(&args.dirs) {
        let domain = Domain::open(dir).map_err(unusable)?;
        if !jobs.iter().any(|job| same_file(job.domain.dir(), domain.dir())) {
            jobs.push(Job { domain, files: Vec::new() });
        }
    }
    for file in &args.run {
        let own =
            file.parent().and_then(Path::parent).map(|dir| if dir == Path::new("") { Path::new(".") } else { dir });
        let own = own.filter(|dir| dir.join("data.json").is_file());
        let at = match (own, jobs.len()) {
            (Some(dir), _) => jobs.iter().position(|job| same_file(job.domain.dir(), dir)),
            (None, 1) if !args.data_dir.is_empty() || !args.dirs.is_empty() => Some(0),
            (None, _) => {
                return Err(Failure::usage(format!("{} is in no domain folder", file.display())).hint(
                    "a run is DOMAIN/predictions/NAME.json; for a file elsewhere name one domain with --data-dir",
                ));
            }
        };
        match (at.and_then(|at| jobs.get_mut(at)), own) {
            (Some(job), _) => job.files.push(file.clone()),
            (None, Some(dir)) => {
                jobs.push(Job { domain: Domain::open(dir).map_err(unusable)?, files: vec![file.clone()] });
            }
            (None, None) => {}
        }
    }
    if jobs.is_empty() {
        return Err(Failure::usage("there is nothing to compare")
            .hint("name a domain folder with --data-dir DIR, or a file of predictions with --run FILE"));
    }
    let stems: Vec<String> = args.llm.iter().map(|llm| file_stem(llm)).collect();
    let mut known = Vec::new();
    if args.run.is_empty() || !stems.is_empty() {
        for job in &mut jobs {
            for file in job.domain.prediction_files() {
                let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                if (stems.is_empty() || stems.contains(&stem)) && !job.files.iter().any(|own| same_file(own, &file)) {
                    job.files.push(file);
                }
                known.push(stem);
            }
        }
    }
    if jobs.iter().all(|job| job.files.is_empty()) {
        let folders: Vec<String> = jobs.iter().map(|job| job.domain.dir().display().to_string()).collect();
        known.sort();
        known.dedup();
        return Err(match known.as_slice() {
            [] => Failure::usage(format!("there are no predictions in {}", folders.join(", ")))
                .hint("make some with `jarvis taskbench infer --data-dir DIR`, or name files with --run"),
            known => {
                Failure::usage(format!("there are no predictions of {} in {}", args.llm.join(", "), folders.join(", ")))
                    .hint(format!("runs that are there: {}", known.join(", ")))
            }
        });
    }
    jobs.retain(|job| !job.files.is_empty());
    Ok(jobs)
}

/// Measures the runs of a domain. One that cannot be read is left out while others can.
fn measure(job: &Job, wanted: Wanted, args: &ReportArgs, printer: Printer) -> Result<DomainReport, Failure> {
    let domain = &job.domain;
    let tools = domain.tools().map_err(unusable)?;
    let gold = domain.gold().map_err(unusable)?;
    let dependency = args.dependency_type.unwrap_or_else(|| tools.dependency());
    let mut report = DomainReport::new(domain, tools.clone(), dependency);
    let against = Against {
        tools: &tools,
        gold: &gold,
        dependency,
        known: domain.known_as(),
        wanted,
        worst: args.worst,
        intervals: args.html.is_some(),
    };
    let mut refused = Vec::new();
    for file in &job.files {
        match Run::read(run_name(file), file, &against) {
            Ok(run) => {
                for bad in run.coverage.bad_predictions.iter().take(5) {
                    printer.warning(&format!("{} {bad}", file.display()));
                }
                report.add(run);
            }
            Err(error) => refused.push(error),
        }
    }
    if report.runs.is_empty()
        && let Some(error) = refused.pop()
    {
        return Err(unusable(error));
    }
    for error in refused {
        printer.warning(&format!("left out: {}", unusable(error).message()));
    }
    Ok(report)
}
