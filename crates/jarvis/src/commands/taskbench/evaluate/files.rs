//! The files of an evaluation: predictions to score, where metrics go, and which exist already.

use std::path::{Path, PathBuf};

use jarvis_store::files::replace_derived;
use jarvis_taskbench::data::{Alignment, Domain, SampleId, file_stem};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::evaluate::table::Table;
use jarvis_taskbench::evaluate::{Evaluation, Group, Options, Wanted, output};
use serde_json::{Map, Value};

use super::super::unusable;
use super::{AlignmentArg, EvaluateArgs, FormatArg};
use crate::failure::Failure;

/// A file of predictions and where its figures go.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) predictions: PathBuf,
    pub(super) legacy: PathBuf,
    pub(super) strict: PathBuf,
    log: PathBuf,
}

pub(super) fn jobs(args: &EvaluateArgs, domain: &Domain) -> Result<Vec<Job>, Failure> {
    let folder = domain.path(&args.prediction_dir);
    let save = match &args.save_dir {
        Some(folder) => domain.path(folder),
        None => {
            let mut name = metrics_dir(&args.prediction_dir);
            if let Some(AlignmentArg(Some(kind))) = args.alignment {
                name = format!("{name}_alignment_{kind}");
            }
            // Figures of some samples must not stand where those of all are looked for.
            if let Some(stem) = args.ids.as_deref().and_then(Path::file_stem) {
                name = format!("{name}_ids_{}", file_stem(&stem.to_string_lossy()));
            }
            domain.path(name)
        }
    };
    let there = names(&folder);
    let names = match &args.llm {
        Some(llm) => {
            let name = file_stem(llm);
            let bare = name.strip_suffix(".json").filter(|bare| there.iter().any(|name| name == bare));
            vec![bare.map_or(name.clone(), str::to_owned)]
        }
        None if there.is_empty() => {
            return Err(Failure::usage(format!("there are no predictions in {}", folder.display()))
                .hint("make some with `jarvis taskbench infer`, or name their folder with --prediction-dir"));
        }
        None => there.clone(),
    };
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    // The figures of GNN4TaskPlan go to no file.
    if args.format == FormatArg::Original && real(&save) == real(&folder) {
        return Err(Failure::usage("the figures would be written over the predictions")
            .hint("name another folder with --save-dir"));
    }
    let job = |name: String| {
        if name.ends_with(".strict") {
            return Err(Failure::usage(format!("`{name}` is the name of strict figures, not of a run"))
                .hint("rename the file of predictions"));
        }
        let predictions = folder.join(format!("{name}.json"));
        if !predictions.is_file() {
            let known = if there.is_empty() { "none".into() } else { there.join(", ") };
            return Err(Failure::usage(format!("there is no {}", predictions.display()))
                .hint(format!("predictions in this folder: {known}")));
        }
        let file = |ending: &str| save.join(format!("{name}.{ending}"));
        Ok(Job { predictions, legacy: file("json"), strict: file("strict.json"), log: file("log"), name })
    };
    names.into_iter().map(job).collect()
}

/// The folder of figures for one of predictions: its name with `metrics` for `predictions`. Of an absolute path only the
/// last part changes, since the folders above belong to the user.
fn metrics_dir(predictions: &Path) -> String {
    let renamed = |name: &str| name.replace("predictions", "metrics");
    match (predictions.is_absolute(), predictions.file_name()) {
        (true, Some(name)) => {
            predictions.with_file_name(renamed(&name.to_string_lossy())).to_string_lossy().into_owned()
        }
        (true, None) | (false, _) => renamed(&predictions.to_string_lossy()),
    }
}

/// The names of the predictions in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file())
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

pub(super) struct Figures {
    pub(super) legacy: Map<String, Value>,
    pub(super) strict: Map<String, Value>,
}

/// What figures depend on beside the predictions, in one line: it begins the log, and figures of other options are not
/// taken for those of these.
pub(super) fn made_with(args: &EvaluateArgs, options: &Options<'_>) -> String {
    let EvaluateArgs { alignment, ids, bert_model, bert_layer, .. } = args;
    let mut examples: Vec<&str> = options.examples.iter().map(SampleId::as_str).collect();
    examples.sort_unstable();
    examples.dedup();
    let Wanted { nodes, edit_distance, links, rouge, bertscore } = options.wanted;
    let of_bootstrap = |Bootstrap { resamples, seed, all }| {
        format!("{resamples} with seed {seed} for {}", if all { "every figure" } else { "ROUGE" })
    };
    let settings = [
        ("dependencies", options.dependency.to_string()),
        ("legacy", options.profile.legacy().to_string()),
        ("strict", options.profile.strict().to_string()),
        ("nodes", nodes.to_string()),
        ("edit-distance", edit_distance.to_string()),
        ("links", links.to_string()),
        ("rouge", rouge.to_string()),
        ("bertscore", bertscore.to_string()),
        ("alignment", alignment.and_then(|kind| kind.0).map_or("none", Alignment::as_str).to_owned()),
        ("ids", ids.as_ref().map_or("all".to_owned(), |file| file.display().to_string())),
        ("examples", examples.join(",")),
        ("intervals", options.bootstrap.map_or("none".to_owned(), of_bootstrap)),
        ("bert-model", bert_model.clone().unwrap_or_else(|| "none".to_owned())),
        ("bert-layer", bert_layer.map_or("default".to_owned(), |layer| layer.to_string())),
        ("groups", options.groups.iter().map(Group::to_string).collect::<Vec<_>>().join(",")),
    ];
    let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("made with: {}", settings.join("; "))
}

impl Job {
    /// True when the figures of all groups are there, made with the same options, and newer than what they come from.
    pub(super) fn is_done(&self, domain: &Domain, args: &EvaluateArgs, options: &Options<'_>) -> Result<bool, Failure> {
        let earlier = std::fs::read_to_string(&self.log).unwrap_or_default();
        if earlier.lines().next() != Some(made_with(args, options).as_str()) {
            return Ok(false);
        }
        let changed = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
        let of_domain = ["data.json", "tool_desc.json", "alignment_ids.json"].map(|name| domain.path(name));
        let errors = self.predictions.with_extension("errors.jsonl");
        let sources = of_domain.iter().chain([&self.predictions, &errors]).chain(&args.ids);
        let Some(newest) = sources.filter_map(|path| changed(path)).max() else { return Ok(false) };
        for (file, wanted) in [(&self.legacy, options.profile.legacy()), (&self.strict, options.profile.strict())] {
            if !wanted {
                continue;
            }
            if changed(file).is_none_or(|made| made <= newest) {
                return Ok(false);
            }
            let groups = output::read_metrics(file).map_err(unusable)?;
            if options.groups.iter().any(|group| !groups.contains_key(&group.to_string())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The groups asked for, as they stand in the files.
    pub(super) fn saved(&self, options: &Options<'_>) -> Result<Figures, Failure> {
        let read = |file: &Path, wanted: bool| -> Result<Map<String, Value>, Failure> {
            if !wanted {
                return Ok(Map::new());
            }
            let mut groups = output::read_metrics(file).map_err(unusable)?;
            let keys = options.groups.iter().map(Group::to_string);
            Ok(keys.filter_map(|key| groups.remove(&key).map(|figures| (key, figures))).collect())
        };
        Ok(Figures {
            legacy: read(&self.legacy, options.profile.legacy())?,
            strict: read(&self.strict, options.profile.strict())?,
        })
    }
}

/// Writes the files of one job; also names the groups of earlier runs that stay in them.
pub(super) fn save(
    job: &Job,
    evaluation: &Evaluation,
    args: &EvaluateArgs,
    options: &Options<'_>,
) -> Result<(Figures, Vec<String>), Failure> {
    let legacy: Map<String, Value> =
        evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
    let strict: Map<String, Value> =
        evaluation.strict.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
    let mut kept = Vec::new();
    let mut log = format!("{}\n\n", made_with(args, options));
    if options.profile.legacy() {
        kept.extend(output::update_metrics(&job.legacy, legacy.clone()).map_err(unusable)?);
        log.push_str(&output::log_text(&format!("{} legacy", job.name), &legacy, Table::of_tools));
    }
    if options.profile.strict() {
        kept.extend(output::update_metrics(&job.strict, strict.clone()).map_err(unusable)?);
        log.push_str(&output::log_text(&format!("{} strict", job.name), &strict, Table::of_occurring_tools));
    }
    replace_derived(&job.log, log.as_bytes()).map_err(|error| unusable(error.into()))?;
    kept.sort();
    kept.dedup();
    Ok((Figures { legacy, strict }, kept))
}

/// The per-sample file of one of several jobs has the job's name in it.
pub(super) fn file_for(file: &Path, job: &Job, jobs: usize) -> PathBuf {
    if jobs == 1 {
        return file.to_owned();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let ending = file.extension().map_or_else(|| "jsonl".into(), |ending| ending.to_string_lossy());
    file.with_file_name(format!("{stem}.{}.{ending}", job.name))
}

pub(super) fn write_samples(file: &Path, evaluation: &Evaluation) -> Result<(), Failure> {
    let mut text = String::new();
    for sample in &evaluation.samples {
        text.push_str(&sample.to_value().to_string());
        text.push('\n');
    }
    replace_derived(file, text.as_bytes()).map_err(|error| unusable(error.into()))
}
