//! Runs gone on with, tried anew, cancelled and removed.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jarvis_engine::{Account, Past};
use jarvis_events::Began;
use jarvis_hugginggpt::decisions::PlanStore;
use jarvis_hugginggpt::{GoingOn, RequestLogs};
use jarvis_plan::{Budget, RunId, TaskId};
use jarvis_react::Asked;
use jarvis_store::{Claim, Journal, Prune, RunRecord, RunStatus, Sweep, Swept};

use super::record;
use crate::cli::{Global, ResumeArgs};
use crate::commands::run;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::retention::Logs;
use crate::session::{self, Live, Work};
use crate::wiring::{self, App, Flags, Folders, MODEL, load_config};

/// A run that goes on here, and what it has done.
struct Going {
    record: RunRecord,
    past: Past,
    app: App,
}

/// Goes on with a run that was cut off.
pub(super) async fn resume(args: ResumeArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let Going { record, past, app } = going(&args, global, printer).await?;
    let run = record.summary.run_id.clone();
    if !record.summary.resumable {
        let status = record.summary.status.as_str();
        let hint = match status {
            "running" => "follow it where it runs".to_owned(),
            "waiting" => "the server that it waits at takes the answer".to_owned(),
            "done" => format!("`jarvis runs retry {run} --from TASK` does a part of it anew"),
            _ => format!("`jarvis runs retry {run}` tries it anew"),
        };
        return Err(Failure::usage(format!("run {run} was not cut off: it is {status}")).hint(hint));
    }
    let began = began(&past)?;
    let missing = app.meter.missing(&past);
    if !missing.is_empty() {
        return Err(Failure::work(format!("run {run} cannot go on: {}", missing.join("; ")))
            .hint(format!("give it what it had, or try it anew with `jarvis runs retry {run}`")));
    }
    let work = work(&app, &began)?;
    let journal = journal(&app)?;
    match journal.claim(&run).await.map_err(Failure::work)? {
        Claim::Ours => {}
        Claim::Held | Claim::Ended | Claim::Unknown => {
            return Err(Failure::work(format!("another process goes on with run {run}, or ended it")));
        }
    }
    // Another process may have gone on with it before it was ours.
    let past = whole(journal, &super::record(journal, &run.0)?)?;
    let steps = past.steps();
    printer.progress(&format!("going on; {steps} step{} done", if steps == 1 { " is" } else { "s are" }));
    carry_out(&args, &app, &began, run, past, work, printer).await
}

/// Tries a run anew as another one.
pub(super) async fn retry(
    args: ResumeArgs,
    from: Option<u32>,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let Going { record, past, app } = going(&args, global, printer).await?;
    let old = record.summary.run_id.clone();
    if !record.summary.resumable && matches!(record.summary.status, RunStatus::Running | RunStatus::Waiting) {
        return Err(
            Failure::usage(format!("run {old} still goes on")).hint(format!("`jarvis runs cancel {old}` ends it"))
        );
    }
    let from = from.map(|task| TaskId(task - 1));
    let past = past.for_retry(old.clone(), from).map_err(|error| {
        Failure::usage(format!("run {old} cannot be tried anew: {error}"))
            .hint(format!("`jarvis runs show {old}` numbers the tasks; name one with --from"))
    })?;
    let began = began(&past)?;
    let work = work(&app, &began)?;
    let run = RunId(App::new_run_id());
    printer.progress(&format!("run {run} takes over {} steps of {old}", past.steps()));
    carry_out(&args, &app, &began, run, past, work, printer).await
}

/// A run that no server follows and that goes on elsewhere all the same is nobody's here.
fn left_to_engine(record: &RunRecord) -> Result<(), Failure> {
    let Some(engine) = record.engine().filter(|_| record.summary.resumable) else { return Ok(()) };
    let run = &record.summary.run_id;
    Err(Failure::usage(format!(
        "run {run} is carried out by {engine}, where it goes on whether a server follows it or not"
    ))
    .hint(format!("a server that is started with {engine} on this data folder takes it up, and cancels it when asked")))
}

/// Reads a run and builds what it needs: with its own model, where none is named.
async fn going(args: &ResumeArgs, global: &Global, printer: Printer) -> Result<Going, Failure> {
    let journal = wiring::open_journal(global, printer)?;
    let record = record(&journal, &args.id)?;
    left_to_engine(&record)?;
    let past = whole(&journal, &record)?;
    drop(journal);
    let mut global = global.clone();
    let model = past.began().and_then(|began| began.settings.get(MODEL));
    global.llm = global.llm.or(model.cloned());
    let flags = Flags { approval: args.approval.clone(), ..Flags::default() };
    let mut app = App::build_with(flags, &global, printer).await?;
    if let (user, Some(journal)) = (&record.summary.user, &app.journal)
        && !user.is_empty()
    {
        // It stays its user's, and so does what it makes.
        app.meter.account = Arc::new(Account::new(user, Budget::default()));
        journal.owns_what_is_made(app.media.made());
    }
    Ok(Going { record, past, app })
}

/// What is on record of a run, with what it took over of another.
fn whole(journal: &Journal, record: &RunRecord) -> Result<Past, Failure> {
    let read = |record: &RunRecord| {
        Past::of(&record.clone().whole_events()).map_err(|error| {
            Failure::work(format!("run {} cannot be read: {error}", record.summary.run_id))
                .hint("it was begun by another version of jarvis; ask for it again")
        })
    };
    let past = read(record)?;
    let Some((other, from)) = past.took_over().cloned() else { return Ok(past) };
    let base = read(&super::record(journal, &other.0)?)?;
    // What it could not take over then it cannot now.
    Ok(match base.for_retry(other, from) {
        Ok(base) => past.over(base),
        Err(_) => past,
    })
}

fn began(past: &Past) -> Result<Began, Failure> {
    let began = past.began().cloned();
    began.ok_or_else(|| Failure::work("the beginning of the run is not in the journal").hint("ask for it again"))
}

fn journal(app: &App) -> Result<&Journal, Failure> {
    app.journal.as_deref().ok_or_else(|| Failure::work("the journal cannot be opened"))
}

/// What the run carries out.
fn work(app: &App, began: &Began) -> Result<Work, Failure> {
    if began.pipeline == jarvis_react::NAME
        && let Some(asked) = Asked::of(began)
    {
        return Ok(Work::Question(Box::new(asked)));
    }
    let going = app.pipeline.going_on(began).map_err(|error| {
        let hint = error.hint();
        Failure::work(error).hint(hint)
    })?;
    Ok(match going {
        GoingOn::Request(request) => Work::Request(*request, app.pipeline_named(&began.pipeline)?),
        GoingOn::Plan(request, plan) => Work::Plan(*request, plan),
    })
}

async fn carry_out(
    args: &ResumeArgs,
    app: &App,
    began: &Began,
    run: RunId,
    past: Past,
    work: Work,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let live = if args.events { Live::Events } else { Live::Nothing };
    let finished = session::run_as(app, run, past, work, live, printer).await?;
    if args.json {
        printer.json(&run::document(app, &began.planner, &began.request.text, &finished))?;
    } else if !args.events {
        run::show(app, &began.planner, &finished, printer);
    }
    run::all_put(app, &finished)?;
    Ok(if finished.run.ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Cancels a run: the process that goes on with it is told, or, where there is none, the run ends here.
pub(super) async fn cancel(id: &str, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let journal = wiring::open_journal(global, printer)?;
    let record = record(&journal, id)?;
    let run = record.summary.run_id.clone();
    let ended = || {
        let status = record.summary.status.as_str();
        Err(Failure::usage(format!("run {run} has ended: it is {status}")))
    };
    left_to_engine(&record)?;
    match journal.ask_to_cancel(&run).await.map_err(Failure::work)? {
        Claim::Held => printer.out(&format!("run {run} is told to end")),
        Claim::Ended | Claim::Unknown => return ended(),
        Claim::Ours => match journal.end_cancelled(&run).await.map_err(Failure::work)? {
            true => printer.out(&format!("run {run} is cancelled")),
            false => return ended(),
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes runs that have ended.
pub(super) async fn prune(
    older: Option<Duration>,
    most: Option<u64>,
    dry: bool,
    global: &Global,
    printer: Printer,
) -> Result<ExitCode, Failure> {
    let journal = wiring::open_journal(global, printer)?;
    let before_ms = older.map(|older| now_ms().saturating_sub(u64::try_from(older.as_millis()).unwrap_or(u64::MAX)));
    let media = Arc::new(wiring::open_media(global, printer)?);
    let loaded = load_config(global, printer)?;
    let folders = Folders::of(&loaded.config)?;
    let spoken_of = PlanStore::new(&folders.plans, 0).spoken_of();
    let prune =
        Prune { before_ms, most_bytes: most, spoken_of: spoken_of.clone(), shrink: true, dry, ..Prune::default() };
    let pruned = journal.prune(prune, Arc::clone(&media)).await.map_err(Failure::work)?;
    // What nothing speaks of any more, and logs, go by their age too.
    let swept = match older {
        Some(_) => {
            let sweep = Sweep { older, grace: GRACE, spoken_of, dry, ..Sweep::default() };
            journal.sweep(sweep, media).await.map_err(Failure::work)?
        }
        None => Swept::default(),
    };
    if older.is_some() && !dry {
        let requests = RequestLogs::open(&folders.logs).map_err(Failure::work)?;
        let trace = loaded.config.react.trace_file.clone();
        let logs = Logs { requests: Some(&requests), prompts: folders.prompts, trace };
        logs.prune(older, None).map_err(|error| Failure::work(format!("old logs cannot be removed: {error}")))?;
    }
    pruned.stuck.iter().chain(&swept.stuck).for_each(|why| printer.warning(why));
    let files = pruned.media.len() + swept.media.len();
    let done = if dry { "would remove" } else { "removed" };
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let (runs, files) = (count(pruned.runs, "run"), count(files as u64, "file"));
    printer.out(&format!("{done} {runs} ({} kB of events) and {files}", pruned.bytes.div_ceil(1_000)));
    Ok(ExitCode::SUCCESS)
}

/// Files that were stored so shortly ago may be those of a request that has not begun.
const GRACE: Duration = Duration::from_secs(60 * 60);

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
