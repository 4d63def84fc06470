//! Runs compared with each other and with the published leaderboards, as a table, a JSON document and an HTML page.
//!
//! Figures are measured anew from predictions and gold plans; metrics files are not read.

mod document;
mod left_out;
mod measure;
mod page;
pub mod table;

pub use document::document;
pub use measure::{Against, Run, Sample};
pub use page::page;
pub use table::{Layout, comparison, notes};

use std::path::Path;
use std::sync::LazyLock;

use jarvis_plan::export::text::clean;

use crate::data::{DependencyType, Domain, ToolList};
use crate::evaluate::Wanted;

#[derive(Debug, Clone, Copy)]
pub struct Metric {
    pub short: &'static str,
    pub key: &'static str,
    pub meaning: &'static str,
    /// Whether it is among what was asked for.
    wanted: fn(Wanted) -> bool,
}

/// The columns of the published tables, in their order.
pub const METRICS: [Metric; 7] = [
    metric("R1", "step_rouge1", "ROUGE-1 of the steps", |wanted| wanted.rouge),
    metric("R2", "step_rouge2", "ROUGE-2 of the steps", |wanted| wanted.rouge),
    metric("BsF", "step_bertscore_f1", "BERTScore F1 of the steps", |wanted| wanted.bertscore),
    metric("n-F1", "node_micro_f1_no_matching", "F1 of the tools chosen", |wanted| wanted.nodes),
    metric("e-F1", "link_binary_f1", "F1 of the links between them", |wanted| wanted.links),
    metric("t-F1", "argument_task_argname_binary_f1_no_matching", "F1 of argument names", |wanted| wanted.nodes),
    metric(
        "v-F1",
        "argument_task_argname_value_binary_f1_no_matching",
        "F1 of argument names with their values",
        |wanted| wanted.nodes,
    ),
];

const fn metric(short: &'static str, key: &'static str, meaning: &'static str, wanted: fn(Wanted) -> bool) -> Metric {
    Metric { short, key, meaning, wanted }
}

#[derive(Debug, Clone)]
pub struct Report {
    pub domains: Vec<DomainReport>,
    pub leaderboard: bool,
    pub wanted: Wanted,
}

#[derive(Debug, Clone)]
pub struct DomainReport {
    /// Its name in headers; different from the other domains' of the report.
    pub name: String,
    pub known: Option<&'static str>,
    pub dependency: DependencyType,
    pub tools: ToolList,
    pub runs: Vec<Run>,
}

impl DomainReport {
    pub fn new(domain: &Domain, tools: ToolList, dependency: DependencyType) -> DomainReport {
        let name = clean(&domain.name());
        DomainReport { name, known: domain.known_as(), dependency, tools, runs: Vec::new() }
    }

    /// Adds a run; a name that is there already gets the file's path.
    pub fn add(&mut self, mut run: Run) {
        if self.runs.iter().any(|other| other.name == run.name) {
            run.name = format!("{} ({})", run.name, run.file.display());
        }
        self.runs.push(run);
    }

    /// The published rows of this domain, if they are wanted and there are any.
    pub fn published(&self, wanted: bool) -> impl Iterator<Item = &'static Published> {
        self.known.filter(|_| wanted).into_iter().flat_map(published)
    }
}

impl Report {
    pub fn new(leaderboard: bool, wanted: Wanted) -> Report {
        Report { domains: Vec::new(), leaderboard, wanted }
    }

    /// Adds a domain: published ones in their order, then others as they come. A name that is there already gets a number.
    pub fn add(&mut self, mut domain: DomainReport) {
        let taken = |name: &str| self.domains.iter().any(|other| other.name == name);
        if taken(&domain.name) {
            let numbered = (2..).map(|n| format!("{} {n}", domain.name)).find(|name| !taken(name));
            domain.name = numbered.expect("the numbers do not end");
        }
        let place = |domain: &DomainReport| {
            let known = ["multimedia", "huggingface", "dailylifeapis"]
                .into_iter()
                .position(|known| domain.known == Some(known));
            known.unwrap_or(usize::MAX)
        };
        let at = self.domains.iter().take_while(|other| place(other) <= place(&domain)).count();
        self.domains.insert(at, domain);
    }
}

/// The name of the run in this file: `predictions_use_demos_2/gpt-4.json` is `gpt-4 (use_demos_2)`.
pub fn run_name(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let suffix = folder.as_deref().and_then(|folder| folder.strip_prefix("predictions")).unwrap_or_default();
    match suffix.trim_start_matches('_') {
        "" => stem,
        suffix => format!("{stem} ({suffix})"),
    }
}

/// The leaderboards of microsoft/JARVIS, taskbench/README.md: 17 models on the full, verified data sets.
const CSV: &str = include_str!("../data/leaderboard.csv");

/// One model's published figures in one domain, times 100.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// As [`crate::data::Domain::known_as`] names it.
    pub domain: String,
    pub llm: String,
    /// In the order of [`METRICS`].
    pub figures: [f64; 7],
}

/// All published rows: 17 models in each of three domains.
pub fn leaderboard() -> &'static [Published] {
    static ROWS: LazyLock<Vec<Published>> = LazyLock::new(|| {
        let rows = csv::Reader::from_reader(CSV.as_bytes()).into_deserialize();
        let rows = rows.map(|row| row.map(|(domain, llm, figures)| Published { domain, llm, figures }));
        rows.collect::<Result<_, _>>().expect("the built-in table is valid")
    });
    &ROWS
}

pub fn published(domain: &str) -> impl Iterator<Item = &'static Published> {
    leaderboard().iter().filter(move |row| row.domain == domain)
}

/// How many samples the published figures of a domain rest on.
pub fn full_size(domain: &str) -> Option<usize> {
    match domain {
        "huggingface" => Some(7_546),
        "multimedia" => Some(5_584),
        "dailylifeapis" => Some(4_320),
        _ => None,
    }
}
