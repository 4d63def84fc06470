//! Runs that waited for leave when their process ended, taken up again from what the journal has of them.

use std::sync::Arc;

use jarvis_hugginggpt::decisions::read_plan;
use jarvis_hugginggpt::{HuggingGpt, LeftOff};
use jarvis_pipeline::approval::ASK_PERSON;
use jarvis_plan::{
    Approval, Event, EventKind, INTERRUPTED, Note, Outcome, Plan, Request, RunId, Selection, Tokens, Usage,
};
use jarvis_store::{Journal, RunRecord, is_cut};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Begin, Frame, Keep, Log, Runs, Tally, short};
use jarvis_engine::Events;

/// What a run needs to go on.
struct Waiting {
    request: Request,
    left: LeftOff,
    asked: Vec<Approval>,
    usage: Usage,
}

impl Runs {
    /// Goes on with every run that waited for leave when its process ended. One that cannot go on has failed, and says why.
    pub(crate) async fn restore(self: &Arc<Runs>, pipeline: &Arc<HuggingGpt>) {
        let Some(journal) = self.journal.clone() else { return };
        let read = Arc::clone(&journal);
        let left = match tokio::task::spawn_blocking(move || read.left_waiting()).await {
            Ok(Ok(left)) => left,
            Ok(Err(error)) => {
                tracing::error!(%error, "runs that wait for leave cannot be read");
                return;
            }
            Err(error) => {
                tracing::error!(%error, "runs that wait for leave cannot be read");
                return;
            }
        };
        for record in left {
            let run = record.summary.run_id.clone();
            let next =
                record.events.iter().filter_map(|event| event.get("seq")?.as_u64()).max().map_or(0, |seq| seq + 1);
            match Waiting::of(&record, pipeline) {
                Ok(waiting) => self.go_on(&record, waiting, next, pipeline),
                Err(reason) => give_up(&journal, run, next, &record, &reason),
            }
        }
    }

    fn go_on(self: &Arc<Runs>, record: &RunRecord, waiting: Waiting, next: u64, pipeline: &Arc<HuggingGpt>) {
        let run = record.summary.run_id.clone();
        let Waiting { request, left, asked, usage } = waiting;
        let frames = record.events.iter().filter_map(Frame::recorded).collect();
        let begin = Begin {
            stream: Events::resumed(run.clone(), next, usage),
            run_id: run.clone(),
            request: short(&record.summary.request),
            started_at_ms: record.summary.started_at_ms,
            keep: Keep::Answerable { resumes: true },
            log: Log::of(frames),
            tally: Tally {
                tasks: record.summary.tasks,
                ok: record.summary.ok,
                failed: record.summary.failed,
                ended: None,
            },
            known: true,
            asked,
        };
        let pipeline = Arc::clone(pipeline);
        let work = move |events: Events, cancel| -> futures::future::BoxFuture<'static, ()> {
            Box::pin(async move {
                // How it ended is told by its events; nobody waits for more.
                let _ = pipeline.resume(Arc::new(request), left, &events, cancel).await;
            })
        };
        match self.begin(begin, Box::new(work)) {
            Ok(_) => tracing::info!(%run, "a run waits for leave again"),
            Err(_) => tracing::warn!(%run, "a run that waits for leave was not taken up; it waits for the next start"),
        }
    }
}

/// Ends a run that cannot go on.
fn give_up(journal: &Journal, run_id: RunId, seq: u64, record: &RunRecord, reason: &str) {
    tracing::warn!(run = %run_id, reason, "a run that waited for leave cannot go on");
    let message = format!("the server stopped while the run waited for leave, and it cannot go on: {reason}");
    let kind = EventKind::Error { code: INTERRUPTED.into(), message, hint: None, ms: record.summary.ms };
    let at_ms = record.summary.started_at_ms.saturating_add(record.summary.ms);
    journal.append(&Event { run_id, seq, at_ms, kind });
}

impl Waiting {
    fn of(record: &RunRecord, pipeline: &HuggingGpt) -> Result<Waiting, String> {
        let of_kind = |kind: &'static str| {
            record.events.iter().filter(move |event| event.get("event").and_then(Value::as_str) == Some(kind))
        };
        let request: Request = field(of_kind("run_started").next(), "request")?;
        let recorded = of_kind("plan").next_back().and_then(|event| event.get("plan"));
        let planned =
            recorded.and_then(|plan| plan.get("tasks")?.as_array()).ok_or("its plan is not in the journal")?;
        let grown = |first: bool| {
            let of = move |event: &&Value| event.get("round").is_some_and(|round| (*round == 0) == first);
            of_kind("plan_grew").filter(of).map(|event| event.get("tasks")?.as_array())
        };
        let (mut tasks, mut grown_at) = (planned.clone(), Vec::new());
        for added in grown(false).flatten() {
            grown_at.push(tasks.len());
            tasks.extend(added.iter().cloned());
        }
        let tasks = &Value::Array(tasks);
        let read = read_plan(tasks, &pipeline.vocabulary, &pipeline.sources, pipeline.settings.plan);
        let mut plan = read.map_err(|error| format!("its plan cannot be read any more ({error})"))?.plan;
        plan.set_may_grow(recorded.and_then(|plan| plan.get("more")).is_some_and(|more| more == true));
        let left_out = recorded.and_then(|plan| plan.get("left_out")).and_then(Value::as_array);
        for text in left_out.into_iter().flatten().filter_map(Value::as_str) {
            plan.note(Note::left_out(text));
        }
        let name = |task: &Value| Some((task.get("id")?.as_u64()?, task.get("task")?.as_str()?.to_owned()));
        let before: Vec<(u64, String)> = tasks.as_array().into_iter().flatten().filter_map(name).collect();
        let now = plan.tasks().iter().map(|task| (u64::from(task.id.0), task.task.clone()));
        if !now.eq(before) || plan.tasks().iter().any(|task| !task.faults.is_empty()) {
            return Err("its tools are not what they were".to_owned());
        }
        // Tasks that ran while the plan was written are part of it where it says the same of them.
        let written: Vec<&Value> = grown(true).flatten().flatten().collect();
        let stands =
            planned.iter().zip(&written).all(|(task, written)| task == *written) && written.len() <= planned.len();
        let seq = |event: &Value| event.get("seq").and_then(Value::as_u64);
        let since = of_kind("plan").next_back().and_then(seq).filter(|_| !stands);
        let counts = |event: &&Value| since.is_none_or(|since| seq(event).is_some_and(|seq| seq > since));
        let ended = of_kind("task_finished").filter(counts);
        let ended = ended.map(|event| field(Some(event), "outcome")).collect::<Result<Vec<Outcome>, _>>()?;
        let chosen = of_kind("model_chosen")
            .map(|event| field(Some(event), "selection"))
            .collect::<Result<Vec<Selection>, _>>()?;
        if let Some(name) = cut_text(&request, &plan, &ended) {
            return Err(format!("the journal keeps only the beginning of {name}"));
        }
        let is_given = |asked: &Value| {
            let of = |event: &&Value| {
                event.get("id") == asked.get("task")
                    && event.get("seq").and_then(Value::as_u64) > asked.get("seq").and_then(Value::as_u64)
            };
            of_kind("approval_given").any(|event| of(&event))
        };
        let open = of_kind("approval_needed").filter(|asked| !is_given(asked));
        let asked = open.map(|event| read_value(event.clone())).collect::<Result<Vec<Approval>, _>>()?;
        let mut usage = Usage::default();
        for call in of_kind("model_call") {
            let tokens = |name: &str| call.get(name).and_then(Value::as_u64).unwrap_or(0);
            let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
            let taken = Tokens {
                prompt: tokens("prompt_tokens"),
                cached: tokens("cached_tokens"),
                completion: tokens("completion_tokens"),
                estimated: call.get("estimated").is_some_and(|estimated| estimated == true),
            };
            let cost = call.get("cost").and_then(|cost| read_value(cost.clone()).ok());
            usage.add_call(text("stage"), text("model"), taken, cost);
        }
        let question = |asked: &Value| {
            let is_question = asked.get("tool").is_some_and(|tool| tool == ASK_PERSON);
            asked.pointer("/arguments/question").and_then(Value::as_str).filter(|_| is_question).map(str::to_owned)
        };
        let answer = |asked: &Value| {
            let given = of_kind("approval_given").filter(|given| given.get("id") == asked.get("task"));
            let later = given.filter(|given| seq(given) > seq(asked)).find_map(|given| given.get("answer")?.as_str());
            later.map(str::to_owned)
        };
        let questions = || of_kind("approval_needed").filter_map(|asked| Some((asked, question(asked)?)));
        let told = questions().filter_map(|(asked, question)| Some((question, answer(asked)?))).collect();
        let question = questions().filter(|(asked, _)| !is_given(asked)).map(|(_, question)| question).next();
        let left = LeftOff { plan, grown_at, ended, chosen, told, question };
        Ok(Waiting { request, left, asked, usage })
    }
}

fn field<T: DeserializeOwned>(event: Option<&Value>, name: &str) -> Result<T, String> {
    let value = event.and_then(|event| event.get(name)).ok_or_else(|| format!("the journal has no `{name}` of it"))?;
    read_value(value.clone())
}

fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value)
        .map_err(|error| format!("the journal has it otherwise than it is written now ({error})"))
}

/// An attached text of which the journal has only the beginning, and that a task still needs.
fn cut_text<'a>(request: &'a Request, plan: &Plan, ended: &[Outcome]) -> Option<&'a str> {
    let open = || plan.tasks().iter().filter(|task| ended.iter().all(|outcome| outcome.id != task.id));
    request.attachments.iter().find_map(|one| {
        let name =
            one.name.as_deref().filter(|_| matches!(&one.source, jarvis_plan::Source::Inline(text) if is_cut(text)))?;
        open().flat_map(|task| task.args.values()).any(|arg| arg.as_literal().as_deref() == Some(name)).then_some(name)
    })
}
