//! `jarvis models pull`, and the pins of the catalogue.

use std::path::Path;
use std::process::ExitCode;

use jarvis_models::{Hub, Precision, PullPlan, Store};
use jarvis_plan::export::plural;
use serde_json::json;

use super::PrecisionArg;
use super::progress::PullProgress;
use super::setup::{self, failure};
use super::words::{confirm, size};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) yes: bool,
    pub(super) precision: Option<Precision>,
    pub(super) json: bool,
}

pub(super) fn precision(typed: PrecisionArg) -> Precision {
    match typed {
        PrecisionArg::Fp32 => Precision::Fp32,
        PrecisionArg::Fp16 => Precision::Fp16,
        PrecisionArg::Q8 => Precision::Q8,
        PrecisionArg::Q4 => Precision::Q4,
    }
}

/// Shows what would be downloaded, asks, and downloads it.
pub(super) async fn run(
    names: &[String],
    options: Options,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let (store, environment, config) = setup::store(global, printer)?;
    let hub = setup::hub(&environment, &config);
    let work = async {
        let mut plans = Vec::new();
        for name in names {
            if let Some(plan) = plan(&store, &hub, name, options, printer).await? {
                plans.push(plan);
            }
        }
        let missing: u64 = plans.iter().map(PullPlan::missing).sum();
        for plan in &plans {
            describe(plan, printer);
            plan.check_space().map_err(failure)?;
        }
        if missing > 0 {
            confirm(&format!("downloading {}", size(missing)), options.yes)?;
        }
        for plan in &plans {
            pull(&store, &hub, plan, options.json, printer).await?;
        }
        Ok(ExitCode::SUCCESS)
    };
    // Dropped by Ctrl-C, the pull keeps what has come.
    let result = tokio::select! {
        result = work => result,
        _ = tokio::signal::ctrl_c() => Err(Failure::work("stopped; what was downloaded is kept")
            .hint("the same command goes on where this one ended")),
    };
    if let (true, Err(failure)) = (options.json, &result) {
        printer.out(&json!({"error": failure.message()}).to_string());
    }
    result
}

/// What one name stands for; nothing when it is here and nobody may be asked for a newer one.
async fn plan(
    store: &Store,
    hub: &Hub,
    name: &str,
    options: Options,
    printer: Printer,
) -> Result<Option<PullPlan>, Failure> {
    let reference = setup::reference(store, name)?;
    if options.json {
        printer.out(&json!({"status": "pulling manifest"}).to_string());
    }
    if let (true, Some(local)) = (hub.is_offline(), store.resolve(&reference.name())) {
        printer.progress(&format!("{} is here; offline, nobody was asked for a newer one", local.name));
        if options.json {
            printer.out(&json!({"status": "success"}).to_string());
        }
        return Ok(None);
    }
    store.plan(hub, &reference, options.precision).await.map(Some).map_err(failure)
}

/// Licence, size, revision and free space, before anything is downloaded.
fn describe(plan: &PullPlan, printer: Printer) {
    let revision = match (plan.is_pinned, plan.requested.commit()) {
        (true, _) => "pinned by the catalogue".to_owned(),
        (false, Some(_)) => "as asked for".to_owned(),
        (false, None) => format!("what `{}` is now; the catalogue does not pin it", plan.requested),
    };
    let license = plan.license.as_deref().unwrap_or("not stated by the repository");
    let gated = if plan.is_gated { "; gated" } else { "" };
    let free = plan.free.map(|free| format!(", {} free", size(free))).unwrap_or_default();
    let files = plural(plan.files.len(), "file");
    let rest = match plan.missing() {
        0 => "all of it is here".to_owned(),
        missing => format!("{} to download", size(missing)),
    };
    printer.progress(&format!("{}: {}", plan.name, plan.repo));
    for (what, text) in [
        ("revision", format!("{} ({revision})", plan.commit)),
        ("licence", format!("{license}{gated}")),
        ("size", format!("{} in {files}, {rest}", size(plan.total()))),
        ("weights", plan.weights.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        ("tasks", if plan.tasks.is_empty() { "not stated".to_owned() } else { plan.tasks.join(", ") }),
        ("folder", format!("{}{free}", plan.root.display())),
    ] {
        printer.progress(&format!("  {what:<9} {text}"));
    }
}

async fn pull(store: &Store, hub: &Hub, plan: &PullPlan, json: bool, printer: Printer) -> Result<(), Failure> {
    let progress = PullProgress::new(plan, json, printer);
    let report = |event| progress.show(&event);
    let pulled = store.pull(hub, plan, &report).await;
    progress.clear();
    let local = pulled.map_err(failure)?;
    if !json {
        printer.progress(&format!("{} is ready: {}", local.name, local.folder.display()));
    }
    Ok(())
}

/// Writes the catalogue with the pins of what the Hub has now.
pub(super) async fn pins(out: &Path, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let (store, environment, config) = setup::store(global, printer)?;
    let hub = setup::hub(&environment, &config);
    let report = |name: &str| printer.progress(name);
    let (pinned, failures) = jarvis_models::pin(&hub, store.catalogue(), &report).await.map_err(failure)?;
    std::fs::write(out, pinned.to_json())
        .map_err(|error| Failure::work(format!("cannot write {}: {error}", out.display())))?;
    for text in &failures {
        printer.warning(text);
    }
    let count = pinned.entries().len() - failures.len();
    printer.out(&format!("{}: {} pinned", out.display(), plural(count, "model")));
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
