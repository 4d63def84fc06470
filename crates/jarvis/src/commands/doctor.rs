//! `jarvis doctor`: what works, what does not, and how to mend it. Looks at each thing on its own, so that one fault does
//! not hide another.

mod chat;
mod mend;
#[cfg(feature = "restate")]
mod restate;

use std::process::ExitCode;

use jarvis_catalogue::Wanted;
use jarvis_store::{Journal, JournalError};
use serde::Serialize;

use crate::cli::{DoctorArgs, Global};
use crate::config::Loaded;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{self, App, Folders};

const JOURNAL: &str = "run journal";

#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    ok: bool,
    /// Whether the main job needs it.
    needed: bool,
    found: String,
    fix: Option<String>,
    /// What `--fix` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Finding {
        Finding { what: what.into(), ok: true, needed: true, found: found.into(), fix: None, fixed: None }
    }

    fn bad(what: &str, needed: bool, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { what: what.into(), ok: false, needed, found: found.into(), fix: Some(fix.into()), fixed: None }
    }

    /// What was wrong and is mended.
    fn mended(what: &str, found: impl Into<String>, fixed: impl Into<String>) -> Finding {
        Finding { fixed: Some(fixed.into()), ..Finding::good(what, found) }
    }

    /// What failed, with the failure's own hint or else `fix`.
    fn failed(what: &str, needed: bool, failure: &Failure, fix: &str) -> Finding {
        Finding::bad(what, needed, failure.error().to_string(), failure.advice().unwrap_or(fix))
    }
}

pub(super) async fn run(args: &DoctorArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let mut findings = Vec::new();
    let quiet = Printer::new(true, 0);
    let loaded = match wiring::load_config(global, quiet) {
        Ok(loaded) => {
            let from = loaded.path.as_ref().map_or("built-in defaults".into(), |path| path.display().to_string());
            findings.push(Finding::good("configuration", from));
            for warning in &loaded.warnings {
                let fix = "remove the key or mend its spelling";
                findings.push(Finding::bad("configuration", false, warning.clone(), fix));
            }
            Some(loaded)
        }
        Err(failure) => {
            findings.push(Finding::failed("configuration", true, &failure, "mend the file"));
            None
        }
    };
    if let Some(loaded) = &loaded {
        match Folders::of(&loaded.config) {
            Ok(folders) => {
                findings.extend(mend::look_and_mend(&loaded.config, &folders, args.fix));
                let media = wiring::media(&loaded.config, &folders);
                findings.push(match media.and_then(|media| media.check_writable().map_err(wiring::media_failure)) {
                    Ok(()) => Finding::good("media folder", folders.public.display().to_string()),
                    Err(failure) => Finding::failed("media folder", true, &failure, "choose another with --data-dir"),
                });
                // One that could not be mended has been told.
                let journal = match findings.iter().any(|finding| finding.what == JOURNAL && !finding.ok) {
                    true => None,
                    false => Some(Journal::open(&folders.journal)),
                };
                findings.extend(journal.map(|opened| match opened {
                    Ok(_) => Finding::good(JOURNAL, folders.journal.display().to_string()),
                    Err(error) => {
                        let fix = match &error {
                            JournalError::Corrupt { .. } => {
                                "`jarvis doctor --fix` renames it, and a new one is made".to_owned()
                            }
                            error => error.hint().unwrap_or_else(|| "choose another folder with --data-dir".into()),
                        };
                        Finding::bad(JOURNAL, false, error.to_string(), fix)
                    }
                }));
                tools(loaded, &folders, &mut findings).await;
            }
            Err(failure) => {
                findings.push(Finding::failed("data folder", true, &failure, "name one with --data-dir"));
            }
        }
    }
    match App::build(global, quiet).await {
        Ok(app) => {
            chat::look(&app, &mut findings).await;
            native(&app, &mut findings);
            local(&app, &mut findings);
            experts(&app, &mut findings).await;
            #[cfg(feature = "serve")]
            if let Err(failure) = super::serve::checked_options(&app.config) {
                findings.push(Finding::failed("server", false, &failure, "mend `server` in the configuration"));
            }
            #[cfg(feature = "serve")]
            if let Err(failure) = super::serve::grpc_options(&app.config.grpc) {
                findings.push(Finding::failed("gRPC door", false, &failure, "mend `grpc` in the configuration"));
            }
            service(&app, &mut findings).await;
        }
        Err(failure) if loaded.is_some() && !is_among(&findings, &failure) => {
            findings.push(Finding::failed("start", true, &failure, "see the message"));
        }
        Err(_) => {}
    }
    #[cfg(feature = "restate")]
    restate::look(args, &mut findings).await;
    if args.json {
        printer.json(&findings)?;
    } else {
        for finding in &findings {
            let mark = match (finding.ok, finding.needed, &finding.fixed) {
                (true, _, Some(_)) => "done",
                (true, _, None) => "ok  ",
                (false, true, _) => "FAIL",
                (false, false, _) => "-   ",
            };
            printer.out(&format!("{mark}  {:<34} {}", finding.what, finding.found));
            if let Some(fix) = &finding.fix {
                printer.out(&format!("      {:<34} fix: {fix}", ""));
            }
            if let Some(fixed) = &finding.fixed {
                printer.out(&format!("      {:<34} fixed: {fixed}", ""));
            }
        }
    }
    let broken = findings.iter().any(|finding| !finding.ok && finding.needed);
    Ok(if broken { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The tools that the configuration names, each service asked.
async fn tools(loaded: &Loaded, folders: &Folders, findings: &mut Vec<Finding>) {
    match wiring::look_at_tools(loaded, folders).await {
        Ok((count, wrong)) => {
            findings.push(Finding::good("tools", format!("{count}; `jarvis tools list` names them")));
            let fix = "see that the program or server runs; docs/tools.md tells how tools are named";
            findings.extend(wrong.into_iter().map(|warning| Finding::bad("tools", false, warning, fix)));
        }
        Err(failure) => findings.push(Finding::failed("tools", true, &failure, "see docs/tools.md")),
    }
}

fn is_among(findings: &[Finding], failure: &Failure) -> bool {
    let found = failure.error().to_string();
    findings.iter().any(|finding| finding.found == found)
}

async fn service(app: &App, findings: &mut Vec<Finding>) {
    let Some(base) = &app.config.decisions.model_api_base_url else { return };
    let what = "catalogue service";
    let decisions = match app.decisions() {
        Ok(decisions) => decisions,
        Err(failure) => {
            findings.push(Finding::failed(what, false, &failure, "see the message"));
            return;
        }
    };
    findings.push(match decisions.source.tasks().await {
        Ok(tasks) => {
            // Without what an address may hold besides: a password.
            let origin =
                base.parse().map_or_else(|_| String::new(), |base: url::Url| base.origin().ascii_serialization());
            Finding::good(what, format!("{origin}: {} tasks", tasks.offered.len()))
        }
        Err(error) => Finding::bad(what, false, error.message, error.hint.unwrap_or_else(|| "see the message".into())),
    });
}

/// Each native model and the program it may need.
fn native(app: &App, findings: &mut Vec<Finding>) {
    let sources = &app.pipeline.sources;
    let mut works = Vec::new();
    let mut tasks: Vec<&str> = sources.catalogue.tasks().collect();
    tasks.dedup();
    for task in tasks {
        for model in sources.catalogue.candidates(task, &Wanted::native_only()) {
            match (sources.native)(&model.id) {
                Ok(()) => works.push(model.id.clone()),
                Err(error) => findings.push(Finding::bad(
                    &format!("{task} ({})", model.id),
                    false,
                    error.message.clone(),
                    error.hint.unwrap_or_else(|| "see the message".into()),
                )),
            }
        }
    }
    findings.push(Finding::good("native models", works.join(", ")));
}

/// The models of this machine, and which more would serve what nothing serves.
fn local(app: &App, findings: &mut Vec<Finding>) {
    let what = "local models";
    let Some(local) = app.local() else {
        findings.push(Finding::bad(what, false, "turned off", "set `local.enabled: true` to use them"));
        return;
    };
    if !wiring::RUNS_LOCAL_MODELS {
        let fix = "build with `--features experts,llm`, or use a release of jarvis";
        findings.push(Finding::bad(what, false, "this build does not run them", fix));
        return;
    }
    let kept = local.kept();
    for model in &kept {
        let tasks = local.tasks_of(model).join(", ");
        let found = format!("{tasks}; {} MB, {}", model.bytes / 1_000_000, model.engine.as_str());
        findings.push(Finding::good(&format!("{what} ({})", model.name), found));
    }
    if kept.is_empty() {
        let fix = "`jarvis models suggest` says which fit this machine; nothing is downloaded unasked";
        findings.push(Finding::bad(what, false, "none on this machine", fix));
    }
}

async fn experts(app: &App, findings: &mut Vec<Finding>) {
    let sources = &app.pipeline.sources;
    for endpoint in &sources.endpoints {
        findings.push(Finding::good(
            &format!("{} ({})", endpoint.model.task, endpoint.model.id),
            "configured; not called, since a call may cost money",
        ));
    }
    if wiring::token(&app.config).is_none() && !app.config.huggingface.anonymous {
        findings.push(Finding::bad(
            "Hugging Face",
            false,
            "no token: models at Hugging Face are not used",
            "set HF_TOKEN to a token that may call inference providers",
        ));
    }
    if app.config.local_inference_endpoint.is_none() {
        findings.push(Finding::bad(
            "model server",
            false,
            "none configured",
            "set `local_inference_endpoint` if you run one; most people need none",
        ));
    }
    let Some(prober) = &sources.prober else { return };
    if let Some(endpoint) = &app.config.local_inference_endpoint {
        findings.push(match prober.model_server_runs().await {
            Ok(()) => Finding::good("model server", endpoint.url()),
            Err(reason) => Finding::bad(
                "model server",
                false,
                format!("{}: {reason}", endpoint.url()),
                "start it, or remove `local_inference_endpoint`; tasks go to other models meanwhile",
            ),
        });
    }
    let probing = prober.all(&sources.catalogue.candidates("image-to-text", &sources.wanted)).await;
    findings.push(if probing.available.is_empty() {
        let why = probing.unavailable.first().map_or("no candidates".into(), |other| other.reason.clone());
        Finding::bad(
            "expert models (image-to-text)",
            false,
            format!("none available: {why}"),
            "`jarvis models probe` says why for each; `jarvis models refresh --out FILE` makes a fresh catalogue",
        )
    } else {
        Finding::good("expert models (image-to-text)", format!("{} available", probing.available.len()))
    });
}
