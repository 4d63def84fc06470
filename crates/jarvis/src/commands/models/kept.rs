//! The models on this machine: listed, shown, verified, removed, imported.

use std::path::Path;
use std::process::ExitCode;

use jarvis_experts::memory_needed;
use jarvis_models::{Checked, FileState, ImportOptions, Local, ModelError, Origin, Record, Removed, Source, Store};
use jarvis_plan::export::plural;
use serde::Serialize;
use serde_json::{Value, json};

use super::setup::{self, failure};
use super::words::{ago, columns, confirm, size};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{self, Folders, LocalRuntime};

pub(super) fn list(json: bool, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, ..) = setup::store(global, printer)?;
    let models = store.local_models();
    if json {
        return printer.json(&models);
    }
    let rows: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let origin = match model.origin {
                Origin::Pulled => "pulled",
                Origin::Imported => "imported",
                Origin::Found => "found in the cache",
            };
            let tasks = if model.tasks.is_empty() { "-".to_owned() } else { model.tasks.join(", ") };
            let used = format!("used {}", ago(model.used));
            vec![
                model.name.clone(),
                size(model.bytes),
                model.engine.as_str().to_owned(),
                used,
                origin.to_owned(),
                tasks,
            ]
        })
        .collect();
    for line in columns(&rows) {
        printer.out(&line);
    }
    for Record { name, source, root, .. } in store.damaged().map_err(failure)? {
        let mend = match source {
            Source::Pulled => format!("`jarvis models pull {name}` gets them again"),
            Source::Imported | Source::Copied => {
                let (root, name) = (root.display(), &name);
                format!(
                    "`jarvis models import {root} --name {name}` takes it anew, `jarvis models rm {name}` forgets it"
                )
            }
        };
        printer.warning(&format!("files of {name} are missing or changed; {mend}"));
    }
    if models.is_empty() {
        printer.progress("there are no models on this machine; `jarvis models suggest` says what would help");
    }
    Ok(ExitCode::SUCCESS)
}

/// One model, whether it is here or only in the catalogue.
#[derive(Serialize)]
struct Shown {
    name: String,
    about: Option<String>,
    is_local: bool,
    repo: Option<String>,
    revision: Option<String>,
    is_pinned: bool,
    license: Option<String>,
    tasks: Vec<String>,
    engine: &'static str,
    bytes: Option<u64>,
    /// Whether `bytes` is an estimate.
    is_estimate: bool,
    memory: Option<u64>,
    larger: Option<String>,
    folder: Option<String>,
    files: Vec<Value>,
}

pub(super) fn show(name: &str, json: bool, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, _, config) = setup::store(global, printer)?;
    let memory = |local: &Local| memory_needed(&wiring::files_of(local), wiring::limits(&config).max_memory);
    let Some(shown) = find(&store, name, &memory)? else {
        return Err(failure(ModelError::UnknownName {
            name: name.to_owned(),
            similar: store.catalogue().similar(name),
        }));
    };
    if json {
        return printer.json(&shown);
    }
    printer.out(&match &shown.about {
        Some(about) => format!("{}: {about}", shown.name),
        None => shown.name.clone(),
    });
    let pinned = if shown.is_pinned { " (pinned by the catalogue)" } else { "" };
    let about = if shown.is_estimate { "about " } else { "" };
    let bytes = |bytes: Option<u64>, about: &str| bytes.map(|bytes| format!("{about}{}", size(bytes)));
    for (what, text) in [
        ("repository", shown.repo.clone()),
        ("revision", shown.revision.as_ref().map(|revision| format!("{revision}{pinned}"))),
        ("licence", shown.license.clone()),
        ("tasks", (!shown.tasks.is_empty()).then(|| shown.tasks.join(", "))),
        ("engine", Some(shown.engine.to_owned())),
        ("size", bytes(shown.bytes, about)),
        ("memory", bytes(shown.memory, if shown.is_local { "at most " } else { "about " })),
        ("larger", shown.larger.clone()),
        ("folder", shown.folder.clone()),
    ] {
        if let Some(text) = text {
            printer.out(&format!("  {what:<11} {text}"));
        }
    }
    let text = |file: &Value, key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let bytes = |file: &Value| file.get("size").and_then(Value::as_u64).map(size).unwrap_or_default();
    let rows: Vec<Vec<String>> =
        shown.files.iter().map(|file| vec![text(file, "path"), bytes(file), text(file, "digest")]).collect();
    for line in columns(&rows) {
        printer.out(&format!("  {line}"));
    }
    if !shown.is_local {
        printer.progress(&format!("it is not on this machine; `jarvis models pull {name}` downloads it"));
    }
    Ok(ExitCode::SUCCESS)
}

fn find(store: &Store, name: &str, memory: &dyn Fn(&Local) -> u64) -> Result<Option<Shown>, Failure> {
    let reference = setup::reference(store, name).ok();
    let known = reference.as_ref().map_or_else(|| name.to_owned(), jarvis_models::Reference::name);
    let entry = store.catalogue().find(&known);
    if let Some(local) = store.resolve(&known) {
        let record = store.record(&local.name).map_err(failure)?;
        return Ok(Some(shown_local(&local, record.as_ref(), entry, memory(&local))));
    }
    let shown = entry.map(|entry| {
        let weight = entry.weight();
        let file = |(path, pin): (&jarvis_models::FilePath, &jarvis_models::Pin)| {
            let digest = pin.sha256.as_ref().map(|sha| format!("sha256:{sha}"));
            json!({"path": path, "size": pin.size, "digest": digest})
        };
        Shown {
            name: entry.name.clone(),
            about: Some(entry.about.clone()),
            is_local: false,
            repo: Some(entry.repo.to_string()),
            revision: entry.revision.as_ref().map(ToString::to_string),
            is_pinned: entry.revision.is_some(),
            license: entry.license.clone(),
            tasks: entry.tasks.clone(),
            engine: entry.engine.as_str(),
            bytes: weight.map(|(bytes, _)| bytes),
            is_estimate: weight.is_some_and(|(_, estimate)| estimate),
            memory: entry.memory(),
            larger: entry.larger.clone(),
            folder: None,
            files: entry.pins.iter().map(file).collect(),
        }
    });
    Ok(shown)
}

fn shown_local(local: &Local, record: Option<&Record>, entry: Option<&jarvis_models::Entry>, memory: u64) -> Shown {
    let files = record.map(|record| {
        let file = |file: &jarvis_models::RecordFile| json!({"path": file.path, "size": file.size, "digest": file.blob.digest()});
        record.files.iter().map(file).collect()
    });
    Shown {
        name: local.name.clone(),
        about: entry.map(|entry| entry.about.clone()),
        is_local: true,
        repo: local.repo.as_ref().map(ToString::to_string),
        revision: local.revision.as_ref().map(ToString::to_string),
        is_pinned: record.is_some_and(|record| record.is_pinned),
        license: local.license.clone(),
        tasks: local.tasks.clone(),
        engine: local.engine.as_str(),
        bytes: Some(local.bytes),
        is_estimate: false,
        memory: Some(memory),
        larger: entry.and_then(|entry| entry.larger.clone()),
        folder: Some(local.folder.display().to_string()),
        files: files.unwrap_or_default(),
    }
}

pub(super) fn remove(names: &[String], yes: bool, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, ..) = setup::store(global, printer)?;
    let mut known = Vec::new();
    for name in names {
        match store.record(name).map_err(failure)? {
            Some(record) => known.push(record),
            None => {
                return Err(failure(match store.resolve(name) {
                    Some(local) => ModelError::NotOurs { name: local.name },
                    None => ModelError::NotLocal { name: name.clone() },
                }));
            }
        }
    }
    let list: Vec<String> = known.iter().map(|record| format!("{} ({})", record.name, size(record.bytes()))).collect();
    confirm(&format!("removing {}", list.join(", ")), yes)?;
    for record in &known {
        let removed = store.remove(&record.name).map_err(failure)?;
        tell_removed(&removed, printer);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn prune(yes: bool, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, ..) = setup::store(global, printer)?;
    let free = store.unreferenced().map_err(failure)?;
    if free.is_empty() {
        printer.progress("there is nothing to prune");
        return Ok(ExitCode::SUCCESS);
    }
    for record in &free {
        let revision = record.revision.as_ref().map(|commit| commit.short().to_owned()).unwrap_or_default();
        printer.progress(&format!("{} at {revision}", record.name));
    }
    confirm(&format!("removing what is left of {}", plural(free.len(), "download")), yes)?;
    tell_removed(&store.prune().map_err(failure)?, printer);
    Ok(ExitCode::SUCCESS)
}

fn tell_removed(removed: &Removed, printer: Printer) {
    let kept = match removed.kept {
        0 => String::new(),
        1 => "; 1 file stays, because it is in use or not jarvis'".to_owned(),
        kept => format!("; {} stay, because they are in use or not jarvis'", plural(kept, "file")),
    };
    let (names, files) = (removed.models.join(", "), plural(removed.files, "file"));
    if removed.files == 0 && removed.bytes == 0 {
        printer.out(&format!("forgot {names}; the files stay where they are"));
        return;
    }
    printer.out(&format!("removed {names}: {files}, {} freed{kept}", size(removed.bytes)));
}

pub(super) fn verify(names: &[String], json: bool, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, ..) = setup::store(global, printer)?;
    let names: Vec<String> = match names.is_empty() {
        false => names.to_vec(),
        true => {
            let damaged = store.damaged().map_err(failure)?.into_iter().map(|record| record.name);
            let ours = store.local_models().into_iter().filter(|model| model.origin != Origin::Found);
            ours.map(|model| model.name).chain(damaged).collect()
        }
    };
    let mut all_ok = true;
    let mut documents = Vec::new();
    for name in &names {
        let known = setup::reference(&store, name).map_or_else(|_| name.clone(), |reference| reference.name());
        let files = store.verify(&known, |_, _| {}).map_err(failure)?;
        let bad: Vec<&Checked> = files.iter().filter(|file| file.state != FileState::Ok).collect();
        all_ok &= bad.is_empty();
        if json {
            documents.push(json!({"name": known, "ok": bad.is_empty(), "files": files}));
            continue;
        }
        if bad.is_empty() {
            printer.out(&format!("{known}: {} verified", plural(files.len(), "file")));
        }
        for file in bad {
            let what = match &file.state {
                FileState::Changed { found } => format!("its hash is {found} instead of {}", file.blob),
                FileState::Missing => "it is missing".to_owned(),
                FileState::Unknown => "nobody knows what it should be".to_owned(),
                FileState::Ok => continue,
            };
            printer.out(&format!("{known}: {}: {what}", file.path));
        }
    }
    if json {
        printer.json(&documents)?;
    } else if names.is_empty() {
        printer.progress("there are no models to verify");
    } else if !all_ok {
        printer.progress("\nhint: `jarvis models rm NAME`, then pull or import it anew");
    }
    Ok(if all_ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Bytes from which on a file takes long enough to read that it is told.
const LONG: u64 = 50_000_000;

pub(super) async fn import(
    path: &Path,
    options: &ImportOptions,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let loaded = wiring::load_config(global, printer)?;
    let runtime = LocalRuntime::open(&loaded.config, &Folders::of(&loaded.config)?)?;
    let mut told = None;
    let model = runtime.store.look_at(path, options, |file, read| {
        if read > LONG && told.as_ref() != Some(file) {
            printer.progress(&format!("reading {file}"));
            told = Some(file.clone());
        }
    });
    let model = model.map_err(failure)?;
    if let Some(doubt) = runtime.try_out(&model.local(), wiring::local_timeout(&loaded.config)).await? {
        printer.warning(&doubt);
    }
    let local = runtime.store.import(model).map_err(failure)?;
    let tasks = if local.tasks.is_empty() { "no known task type".to_owned() } else { local.tasks.join(", ") };
    printer.out(&format!("{}: {} in {}, {tasks}", local.name, size(local.bytes), local.folder.display()));
    if local.tasks.is_empty() {
        printer.progress(
            "\nhint: give the same command again with what it is for, such as `--task image-ocr` or `--task object-detection`; \
             `jarvis models suggest --all` shows the task types",
        );
    }
    Ok(ExitCode::SUCCESS)
}
