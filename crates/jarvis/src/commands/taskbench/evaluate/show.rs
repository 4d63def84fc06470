//! Output of an evaluation: what the figures rest on to stderr, the tables to stdout.

use jarvis_taskbench::data::{Domain, Gold, SampleId};
use jarvis_taskbench::evaluate::table::{Column, Form, LEGACY_COLUMNS, STRICT_COLUMNS, Table};
use jarvis_taskbench::evaluate::{Evaluation, Group, Predictions};
use serde_json::{Map, Value};

use super::EvaluateArgs;
use super::files::{Figures, Job};
use crate::printer::Printer;

const SHOWN: usize = 5;

/// What the letters over the columns mean.
const LEGEND: [(&[&str], &str); 7] = [
    (&["R1", "R2", "RL"], "R1, R2, RL: ROUGE of the steps"),
    (&["BsF"], "BsF: BERTScore of the steps"),
    (&["n-F1"], "n: nodes"),
    (&["exact"], "exact: plans with just the gold tools"),
    (&["e-F1"], "e: links"),
    (&["t-F1", "v-F1"], "t, v: argument names, and with values"),
    (&["ED"], "ED: edit distance, 0 to 1, 0 is best"),
];

pub(super) fn basis(job: &Job, evaluation: &Evaluation, args: &EvaluateArgs, domain: &Domain, printer: Printer) {
    if let (Some(why), Some(_)) = (&evaluation.no_bertscore, &args.bert_model) {
        printer.warning(&format!("BERTScore is left out: {why}"));
    }
    let coverage = &evaluation.coverage;
    let files = [
        (domain.path("data.json"), &coverage.bad_gold, "gold plans"),
        (job.predictions.clone(), &coverage.bad_predictions, "predictions"),
    ];
    for (path, bad, what) in files {
        for bad in bad.iter().take(SHOWN) {
            printer.warning(&format!("{}, {bad}", path.display()));
        }
        if bad.len() > SHOWN {
            printer.warning(&format!("{}: {} more lines are no {what}", path.display(), bad.len() - SHOWN));
        }
    }
    let mut line = format!("{}: {} of {} gold plans have a prediction", job.name, coverage.predicted, coverage.gold);
    for (count, one, many) in [
        (coverage.surplus, "prediction without gold", "predictions without gold"),
        (coverage.repeated, "repeated prediction", "repeated predictions"),
    ] {
        if count > 0 {
            line.push_str(&format!(", {count} {}", if count == 1 { one } else { many }));
        }
    }
    printer.progress(&line);
    let dropped: usize = coverage.dropped.values().sum();
    if dropped > 0 {
        let causes: Vec<String> = coverage.dropped.iter().map(|(why, count)| format!("{why} ({count})")).collect();
        printer.progress(&format!("  the legacy figures leave {dropped} of these out: {}", causes.join(", ")));
    }
    if coverage.malformed_links > 0 {
        printer.progress(&format!("  {} malformed links were left out", coverage.malformed_links));
    }
}

pub(super) fn no_overlap(job: &Job, gold: &Gold, predictions: &Predictions<'_>, printer: Printer) {
    let path = job.predictions.display();
    let Some(first) = predictions.lines.first() else {
        let why = if predictions.bad.is_empty() { "it is empty" } else { "no line of it is a prediction" };
        printer.warning(&format!("{path}: {why}; each line is one prediction, {{\"id\": …, \"result\": …}}"));
        return;
    };
    let wanted = gold.records().flatten().next().map(|record| record.id);
    let Some(wanted) = wanted else { return };
    let kind = |id: &SampleId| match id {
        SampleId::Text(_) => "text",
        SampleId::Number(_) => "numbers",
    };
    if kind(&first.id) == kind(&wanted) {
        printer.warning(&format!(
            "none of the ids in {path} is in data.json; the first there is {}, here {wanted}: is it of another domain?",
            first.id
        ));
    } else {
        printer.warning(&format!(
            "the ids in {path} are {}, those of data.json {}; 1 and \"1\" are different ids",
            kind(&first.id),
            kind(&wanted)
        ));
    }
}

/// Prints a table for each run and profile, a row for each group.
pub(super) fn groups(runs: &[(&Job, Figures)], args: &EvaluateArgs, printer: Printer) {
    let mut headers = Vec::new();
    for (job, figures) in runs {
        for (profile, meaning, groups, file, columns) in figures.parts(job) {
            if groups.is_empty() {
                continue;
            }
            printer.out(&format!("{}, {profile} ({meaning}) -> {}", job.name, file.display()));
            let table = Table::of_groups(&filled(groups, columns), columns);
            headers.extend(table.headers.clone());
            printer.out(&table.text());
            printer.out("");
            let named = |group: &&String| group.as_str() != "overall_overall";
            let empty = groups.iter().filter(|(_, figures)| !counts(figures, columns)).map(|(group, _)| group);
            let empty: Vec<&str> = empty.filter(named).map(String::as_str).collect();
            let asked = |group: &&str| args.n_tools.iter().any(|n| n != "all" && group.ends_with(&format!("_{n}")));
            if profile == "strict" && empty.iter().any(asked) {
                printer.warning(&format!("no gold plan is in {}", empty.join(", ")));
            }
        }
    }
    legend(&headers, printer);
    if args.intervals.is_some()
        && let [(job, figures)] = runs
        && !figures.strict.is_empty()
    {
        printer.progress(&format!("the 95 % intervals are in {}", job.strict.display()));
    }
}

/// Prints one table for each profile, a row for each run: the figures over all samples.
pub(super) fn compare(runs: &[(&Job, Figures)], printer: Printer) {
    let mut headers = Vec::new();
    let overall = Group::OVERALL.to_string();
    for (at, title) in [(0, "legacy (the original's rules)"), (1, "strict (every gold plan counts)")] {
        let mut rows = Map::new();
        let mut columns: &[Column<'_>] = &[];
        for (job, figures) in runs {
            let parts = figures.parts(job);
            let Some((_, _, groups, _, known)) = parts.get(at) else { continue };
            columns = known;
            if let Some(figures) = groups.get(&overall) {
                rows.insert(job.name.clone(), figures.clone());
            }
        }
        if rows.is_empty() {
            continue;
        }
        let mut table = Table::of_groups(&rows, columns);
        if let Some(first) = table.headers.first_mut() {
            *first = "run".into();
        }
        printer.out(title);
        headers.extend(table.headers.clone());
        printer.out(&table.text());
        printer.out("");
    }
    legend(&headers, printer);
    if let Some((job, _)) = runs.first()
        && let Some(folder) = job.legacy.parent()
    {
        printer.progress(&format!("all groups are in {}; --splits all --n-tools all prints them", folder.display()));
    }
}

/// Groups that nothing is in say nothing, unless all are such.
fn filled(groups: &Map<String, Value>, columns: &[Column<'_>]) -> Map<String, Value> {
    if !groups.values().any(|figures| counts(figures, columns)) {
        return groups.clone();
    }
    let filled = groups.iter().filter(|(_, figures)| counts(figures, columns));
    filled.map(|(key, figures)| (key.clone(), figures.clone())).collect()
}

/// True when the first column, which counts samples, is not 0.
fn counts(figures: &Value, columns: &[Column<'_>]) -> bool {
    let (_, key, _) = columns.first().copied().unwrap_or(("", "", Form::Count));
    figures.get(key).and_then(Value::as_u64).is_some_and(|count| count > 0)
}

/// What stands under the tables: the letters that are over them.
fn legend(headers: &[String], printer: Printer) {
    let there = |names: &&[&str]| names.iter().any(|name| headers.iter().any(|header| header == name));
    let legend: Vec<&str> = LEGEND.iter().filter(|(names, _)| there(names)).map(|(_, meaning)| *meaning).collect();
    for (at, part) in legend.chunks(5).enumerate() {
        printer.out(&format!("{}{}", if at == 0 { "times 100: " } else { "  " }, part.join("; ")));
    }
}

impl Figures {
    /// Both profiles: name, meaning, groups, file, columns.
    fn parts<'f>(&'f self, job: &'f Job) -> [Part<'f>; 2] {
        [
            ("legacy", "the original's rules", &self.legacy, &job.legacy, &LEGACY_COLUMNS[..]),
            ("strict", "every gold plan counts", &self.strict, &job.strict, &STRICT_COLUMNS[..]),
        ]
    }

    pub(super) fn document(&self, name: &str) -> Value {
        let mut document = Map::new();
        document.insert("name".into(), name.into());
        for (profile, groups) in [("legacy", &self.legacy), ("strict", &self.strict)] {
            if !groups.is_empty() {
                document.insert(profile.into(), Value::Object(groups.clone()));
            }
        }
        Value::Object(document)
    }
}

type Part<'f> =
    (&'static str, &'static str, &'f Map<String, Value>, &'f std::path::PathBuf, &'static [Column<'static>]);
