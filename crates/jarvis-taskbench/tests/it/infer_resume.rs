//! Five hundred requests to a model that answers well and badly, stopped at random and resumed until all is done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jarvis_batch::{Ended, Summary, Watch};
use jarvis_chat::ChatError;
use jarvis_taskbench::infer::{InferOptions, Job, Outputs, PlanBy};
use jarvis_taskbench::{DataError, FailureKind};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::{GOOD, Scripted, lines, run, studio};

const REQUESTS: usize = 500;

/// How the request of a number is answered: the reply to `plan`, the reply to `reformat`, and how it ends.
type Case = (Result<String, ChatError>, Result<String, ChatError>, Option<FailureKind>);

fn case(number: usize) -> Case {
    let good = || Ok(GOOD.to_owned());
    let text = |text: &str| Ok(text.to_owned());
    let unasked = || Err(ChatError::Config("this call is not to be made".into()));
    match number % 14 {
        0 => (good(), unasked(), None),
        1 => (Ok(format!("Sure!\n```json\n{GOOD}\n```")), unasked(), None),
        2 => (Ok(format!("With {{tools}} like these: {GOOD} That {{is}} it.")), unasked(), None),
        3 => (Ok(GOOD.replace("}]}", "},],}")), unasked(), None),
        4 => (Ok(GOOD.replace('_', "\\_")), unasked(), None),
        5 => (text("Step 1: read a.png"), good(), None),
        6 => (text("{\"steps\": []}"), Ok(format!("# STRICT JSON FORMAT #:\n{GOOD}")), None),
        7 => (text(""), text(""), Some(FailureKind::ContentFormat)),
        8 => (text("no"), text("still no"), Some(FailureKind::ContentFormat)),
        9 => (text("{\"task_steps\": 1}"), text("{\"task_steps\": 2}"), Some(FailureKind::Schema)),
        10 => (Err(ChatError::RateLimited { message: "slow down".into() }), unasked(), Some(FailureKind::RateLimit)),
        11 => (Err(ChatError::Timeout { after: Duration::from_secs(300) }), unasked(), Some(FailureKind::Timeout)),
        12 => (text("no"), Err(ChatError::Timeout { after: Duration::from_secs(120) }), Some(FailureKind::Timeout)),
        _ => (Err(ChatError::Api { status: 500, message: "oh".into() }), unasked(), Some(FailureKind::HttpStatus)),
    }
}

/// Wakes somebody after so many requests have ended.
struct After(AtomicUsize, Notify);

impl After {
    fn new(count: usize) -> After {
        After(AtomicUsize::new(count), Notify::new())
    }
}

impl Watch for After {
    fn ended(&self, _: &Summary, _: &Ended) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.notify_one();
        }
    }
}

/// The number in a request's text. Replies repeat it, so that the second call tells it too; empty ones do not.
fn number(prompt: &str) -> Option<usize> {
    let (_, rest) = prompt.rsplit_once("picture number ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_and_nothing_comes_twice() {
    let texts: Vec<String> = (0..REQUESTS).map(|number| format!("Read picture number {number}.")).collect();
    let mut requests: Vec<(Value, &str)> =
        texts.iter().enumerate().map(|(number, text)| (Value::from(format!("{number:08}")), text.as_str())).collect();
    // Some ids are there twice, as in the published files.
    requests.extend(requests[..7].to_vec());
    let (dir, domain) = studio(&requests);
    let options = InferOptions { reformat: true, workers: 16, ..InferOptions::default() };
    let job = Job::prepare(&domain, options).unwrap();

    let mended = Arc::new(Mutex::new(false));
    let all_well = Arc::clone(&mended);
    let model = Scripted::new(move |stage: &str, prompt: &str| {
        if *all_well.lock().unwrap() {
            return Ok(GOOD.to_owned());
        }
        let Some(number) = number(prompt) else { return Ok(String::new()) };
        let (plan, again, _) = case(number);
        match stage {
            "plan" if plan.as_deref() == Ok("") => plan,
            "plan" => plan.map(|text| format!("{text}\npicture number {number}")),
            _ => again,
        }
    });
    let by = PlanBy::Model(model.clone());
    let path = dir.path().join("m.json");
    let mut random = StdRng::seed_from_u64(7);
    let mut kept: Vec<u8> = Vec::new();
    let mut stops = 0;
    loop {
        let mut outputs = Outputs::open(dir.path(), "m").unwrap();
        // What was whole before is as it was.
        assert!(std::fs::read(&path).unwrap().starts_with(&kept));
        let watch = After::new(if stops < 25 { random.random_range(1..60) } else { usize::MAX });
        let stop = CancellationToken::new();
        let kill = random.random_bool(0.5);
        let summary = {
            let mut work = std::pin::pin!(job.run(&by, &mut outputs, &watch, &stop));
            tokio::select! {
                summary = &mut work => Some(summary.unwrap()),
                () = watch.1.notified() => {
                    stop.cancel();
                    // Either it stops in good order, or it is gone at once.
                    if kill { None } else { Some(work.await.unwrap()) }
                }
            }
        };
        drop(outputs);
        check_files(dir.path());
        if let Some(summary) = summary {
            assert_eq!(summary.already + summary.done + summary.failed + summary.left, REQUESTS);
            if summary.left == 0 {
                assert!(!summary.interrupted);
                break;
            }
        }
        stops += 1;
        kept = std::fs::read(&path).unwrap();
        if random.random_bool(0.5) {
            // The machine went down in the middle of a line.
            let start =
                kept[..kept.len().saturating_sub(1)].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let at = random.random_range(start..kept.len().max(start + 1));
            std::fs::write(&path, &kept[..at]).unwrap();
            kept.truncate(start);
        }
    }
    assert_eq!((stops, model.most()), (25, 16));

    // All is as each case says, whatever happened on the way.
    let predicted: BTreeSet<String> = lines(&path).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
    let good: BTreeSet<String> =
        (0..REQUESTS).filter(|number| case(*number).2.is_none()).map(|number| format!("{number:08}")).collect();
    assert_eq!(predicted, good);
    let failed: BTreeMap<String, String> = lines(&dir.path().join("m.errors.jsonl"))
        .iter()
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line["kind"].as_str().unwrap().to_owned()))
        .collect();
    let bad: BTreeMap<String, String> = (0..REQUESTS)
        .filter_map(|number| Some((format!("{number:08}"), case(number).2?.as_str().to_owned())))
        .collect();
    assert_eq!(failed, bad);

    // Once the model is well again, only what failed is asked, and no error is left.
    *mended.lock().unwrap() = true;
    let before = model.stages().len();
    let summary = run(&job, &by, dir.path()).await;
    assert_eq!((summary.already, summary.done, summary.failed), (good.len(), bad.len(), 0));
    assert_eq!(model.stages().len() - before, bad.len());
    check_files(dir.path());
    assert_eq!(lines(&path).len(), REQUESTS);
    assert!(!dir.path().join("m.errors.jsonl").exists());
    assert_eq!(run(&job, &by, dir.path()).await.calls, 0);
}

/// Every line is whole, and no request is there twice.
fn check_files(dir: &Path) {
    let predictions = lines(&dir.join("m.json"));
    let expected: Value = serde_json::from_str(GOOD).unwrap();
    let mut seen = BTreeSet::new();
    for line in &predictions {
        assert!(seen.insert(line["id"].to_string()), "{line}");
        assert_eq!(line["result"], expected);
        let number: usize = line["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(line["user_request"], format!("Read picture number {number}."));
    }
}

#[tokio::test(start_paused = true)]
async fn errors_tell_the_last_attempt_only() {
    let (dir, domain) = studio(&[("1".into(), "one"), ("2".into(), "two"), ("3".into(), "three")]);
    let fails = |id: &'static str, word: &'static str| {
        PlanBy::Model(Scripted::new(move |_: &str, prompt: &str| {
            if prompt.contains(&format!("# USER REQUEST #: {id}")) { Ok(word.to_owned()) } else { Ok(GOOD.to_owned()) }
        }))
    };
    let kinds = || -> Vec<String> {
        let lines = lines(&dir.path().join("m.errors.jsonl"));
        lines.iter().map(|line| format!("{} {} {}", line["id"], line["kind"], line["raw"])).collect()
    };
    let job =
        |limit: usize| Job::prepare(&domain, InferOptions { limit: Some(limit), ..InferOptions::default() }).unwrap();
    run(&job(3), &fails("t", "first"), dir.path()).await;
    assert_eq!(kinds(), ["\"2\" \"ContentFormat\" \"first\"", "\"3\" \"ContentFormat\" \"first\""]);
    // A request that this run does not ask keeps its error.
    run(&job(2), &fails("two", "{}"), dir.path()).await;
    assert_eq!(kinds(), ["\"3\" \"ContentFormat\" \"first\"", "\"2\" \"Schema\" \"{}\""]);
    // A run that was killed may have left both lines of a request, and a torn one.
    let path = dir.path().join("m.errors.jsonl");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"id\":\"3\",\"kind\":\"Timeout\",\"raw\":null}\n{\"id\":\"2\",\"ki");
    std::fs::write(&path, text).unwrap();
    drop(Outputs::open(dir.path(), "m").unwrap());
    assert_eq!(kinds(), ["\"2\" \"Schema\" \"{}\"", "\"3\" \"Timeout\" null"]);
    run(&job(3), &fails("two", "{}"), dir.path()).await;
    assert_eq!(kinds(), ["\"2\" \"Schema\" \"{}\""]);
}

#[tokio::test]
async fn two_runs_do_not_write_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let first = Outputs::open(dir.path(), "m").unwrap();
    let error = Outputs::open(dir.path(), "m").unwrap_err();
    assert!(matches!(error, DataError::Locked { .. }), "{error}");
    drop(first);
    Outputs::open(dir.path(), "m").unwrap();
}

#[tokio::test(start_paused = true)]
async fn files_of_others_are_gone_on_with() {
    let (dir, domain) = studio(&[("1".into(), "one"), ("2".into(), "two"), ("3".into(), "three"), (4.into(), "four")]);
    let path = dir.path().join("m.json");
    // Blank lines, a line that is no JSON, a repeated id, no line end at the end.
    let before = "\n{\"id\": \"1\", \"task_steps\": []}\nno JSON\n{\"id\": \"1\"}\n{\"id\": 4, \"result\": {}}";
    std::fs::write(&path, before).unwrap();
    let job = Job::prepare(&domain, InferOptions::default()).unwrap();
    let by = PlanBy::Model(Scripted::new(|_: &str, _: &str| Ok(GOOD.to_owned())));
    let mut outputs = Outputs::open(dir.path(), "m").unwrap();
    assert_eq!(outputs.notes().len(), 1, "{:?}", outputs.notes());
    let summary = job.run(&by, &mut outputs, &(), &CancellationToken::new()).await.unwrap();
    assert_eq!((summary.already, summary.done), (2, 2));
    let after = std::fs::read_to_string(&path).unwrap();
    let added = after.strip_prefix(&format!("{before}\n")).unwrap();
    assert_eq!(added.lines().count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_without_an_endpoint_gives_up() {
    let texts: Vec<String> = (0..60).map(|number| format!("Read picture number {number}.")).collect();
    let requests: Vec<(Value, &str)> =
        texts.iter().enumerate().map(|(number, text)| (Value::from(number), text.as_str())).collect();
    let (dir, domain) = studio(&requests);
    let job = Job::prepare(&domain, InferOptions::default()).unwrap();
    let gone = || ChatError::Unreachable { url: "http://h/".into(), reason: "no".into() };
    let summary = run(&job, &PlanBy::Model(Scripted::new(move |_: &str, _: &str| Err(gone()))), dir.path()).await;
    assert_eq!((summary.failed, summary.left, summary.gave_up, summary.is_complete()), (3, 57, true, false));
    // One that answers at all is asked to the end.
    let some = Scripted::new(move |_: &str, prompt: &str| match number(prompt) {
        Some(0..16) => Ok(GOOD.to_owned()),
        Some(_) | None => Err(gone()),
    });
    let summary = run(&job, &PlanBy::Model(some), dir.path()).await;
    assert_eq!((summary.done, summary.failed, summary.gave_up), (16, 44, false));
}
