//! `jarvis models`: the known models, which of them are available, a fresh list from the Hub, and the models on this machine.

mod arguments;
mod kept;
mod loaded;
mod progress;
mod pull;
mod setup;
mod suggest;
mod words;

use std::process::ExitCode;

use jarvis_catalogue::Host;
use jarvis_catalogue::{Catalogue, Listed, RefreshConfig, RefreshProgress, Wanted, refresh};
use jarvis_models::ImportOptions;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{self, App};

pub(crate) use arguments::{ModelsCommand, PrecisionArg};

pub(super) async fn run(command: ModelsCommand, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        ModelsCommand::List { task, json } => {
            let loaded = wiring::load_config(global, printer)?;
            let catalogue = wiring::catalogue(&loaded.config, printer)?;
            list(&catalogue, known_task(task)?, json, printer)
        }
        ModelsCommand::Pull { names, yes, precision, json } => {
            let options = pull::Options { yes, precision: precision.map(pull::precision), json };
            pull::run(&names, options, global, printer).await
        }
        ModelsCommand::Ls { json } => kept::list(json, global, printer),
        ModelsCommand::Show { name, json } => kept::show(&name, json, global, printer),
        ModelsCommand::Rm { names, yes } => kept::remove(&names, yes, global, printer),
        ModelsCommand::Prune { yes } => kept::prune(yes, global, printer),
        ModelsCommand::Verify { names, json } => kept::verify(&names, json, global, printer),
        ModelsCommand::Ps { server, json } => loaded::run(server.as_deref(), json, global, printer).await,
        ModelsCommand::Import { path, name, tasks, copy } => {
            let tasks = tasks.into_iter().map(task_to_import).collect::<Result<Vec<_>, _>>()?;
            let options = ImportOptions { name, tasks, copy };
            kept::import(&path, &options, global, printer).await
        }
        ModelsCommand::Suggest { all, task, json } => suggest::run(all, known_task(task)?, json, global, printer),
        ModelsCommand::Probe { task, json } => {
            let app = App::build(global, printer).await?;
            probe(&app, known_task(task)?, json, printer).await
        }
        ModelsCommand::Refresh { out, pins: true, .. } => pull::pins(&out, global, printer).await,
        ModelsCommand::Refresh { out, limit, pins: false } => {
            let loaded = wiring::load_config(global, printer)?;
            setup::may_ask(global, "listing the models of the Hub")?;
            let config = RefreshConfig { per_task: limit, ..wiring::refresh(&loaded.config)? };
            let report =
                |at: RefreshProgress| printer.progress(&format!("{}/{} {}: {}", at.done, at.of, at.task, at.models));
            let done = refresh(&config, &out, report).await.map_err(|error| {
                let hint = error.hint();
                Failure::work(error).hint(hint)
            })?;
            for note in &done.notes {
                printer.warning(note);
            }
            printer.out(&format!("{}: {} models for {} task types", out.display(), done.models, done.tasks));
            printer.progress(&format!("use it with the configuration line `catalogue: {}`", out.display()));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The task type that an imported model is for: one that plans have, or one of the catalogue of models (`image-ocr`).
fn task_to_import(typed: String) -> Result<String, Failure> {
    let catalogue = jarvis_models::Catalogue::builtin();
    if catalogue.entries().iter().any(|entry| entry.tasks.contains(&typed)) {
        return Ok(typed);
    }
    Ok(known_task(Some(typed.clone()))?.unwrap_or(typed))
}

/// The proper name of a task type typed by a person.
fn known_task(task: Option<String>) -> Result<Option<String>, Failure> {
    let Some(typed) = task else { return Ok(None) };
    match jarvis_catalogue::find(&typed) {
        Some(found) => Ok(Some(found.name.to_owned())),
        None => {
            let names: Vec<&str> = jarvis_catalogue::task_types().iter().map(|task| task.name).collect();
            Err(Failure::usage(format!("there is no task type `{typed}`"))
                .hint(format!("one of: {}", names.join(", "))))
        }
    }
}

fn list(catalogue: &Catalogue, task: Option<String>, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    let models: Vec<Listed<'_>> = catalogue
        .all()
        .filter(|model| task.as_ref().is_none_or(|task| model.task == *task))
        .map(|model| model.listed())
        .collect();
    if json {
        return printer.json(&models);
    }
    let mut last = "";
    for model in &models {
        if model.task != last {
            printer.out(model.task);
            last = model.task;
        }
        let about: String =
            model.description.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(90).collect();
        printer.out(&format!("  {:<52} {:<12} {about}", model.id, model.host.as_str()));
    }
    printer.progress(&format!("{} models", models.len()));
    Ok(ExitCode::SUCCESS)
}

async fn probe(app: &App, task: Option<String>, json: bool, printer: Printer) -> Result<ExitCode, Failure> {
    let sources = &app.pipeline.sources;
    let tasks: Vec<&str> =
        sources.catalogue.tasks().filter(|name| task.as_ref().is_none_or(|task| task == name)).collect();
    let mut rows: Vec<Value> = Vec::new();
    for task in tasks {
        for model in sources.catalogue.candidates(task, &Wanted::native_only()) {
            let missing = (sources.native)(&model.id).err().map(|error| error.message);
            rows.push(row(task, &model.id, "native", missing));
        }
        for ready in sources.ready().iter().filter(|ready| ready.model.task == task) {
            rows.push(row(task, &ready.model.id, ready.host.as_str(), None));
        }
        let Some(prober) = &sources.prober else { continue };
        let probing = prober.all(&sources.catalogue.candidates(task, &sources.wanted)).await;
        for available in &probing.available {
            rows.push(row(task, &available.model.id, available.host.as_str(), None));
        }
        for other in probing.unavailable {
            rows.push(row(task, &other.id, other.host.map_or("", Host::as_str), Some(other.reason)));
        }
    }
    let any = rows.iter().any(|row| row.get("available") == Some(&Value::Bool(true)));
    if json {
        printer.json(&rows)?;
    } else {
        for row in &rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let mark = if row.get("available") == Some(&Value::Bool(true)) { "yes" } else { "no " };
            printer.out(&format!(
                "{mark}  {:<32} {:<52} {:<12} {}",
                text("task"),
                text("id"),
                text("host"),
                text("reason")
            ));
        }
        if sources.prober.is_none() {
            printer
                .progress("only native models were looked at: neither Hugging Face nor a model server is configured");
        }
    }
    Ok(if any { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn row(task: &str, id: &str, host: &str, reason: Option<String>) -> Value {
    json!({"task": task, "id": id, "host": host, "available": reason.is_none(), "reason": reason})
}
