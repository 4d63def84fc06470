//! A generation run: many calls at once, each success one line in `data_raw.json`. A failed sample is counted and the run
//! goes on; a stopped run is continued by running it again.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jarvis_ask::{Ask, Events};
use jarvis_batch::{Batch, Ended, Log, Outcome, Summary, Watch, is_hopeless};
use jarvis_chat::{ChatError, ChatModel, Message};
use jarvis_prompt::template::TemplateError;
use jarvis_store::files::Growing;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::critics::{Critics, judge, write_alignment};
use super::folder::Folder;
use super::job::{Job, SampleSpec, sample_id};
use super::prompt::{Prompts, Shown, tool_entry};
use super::reply::read_reply;
use crate::DataError;
use crate::FailureKind;
use crate::graph::{Drawing, SampledGraph, Sampler, draw_sample};

pub const STAGE: &str = "generate";
const TIMEOUT: Duration = Duration::from_secs(120);
const MAX_TOKENS: u32 = 2500;
const STATISTICS_EVERY: usize = 100;

pub const ALIGNED: &str = "aligned";

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub spec: SampleSpec,
    /// The number of samples that the folder shall hold in the end.
    pub target: usize,
    /// 0 to 2.
    pub temperature: f32,
    /// 0 to 1.
    pub top_p: f32,
    /// Whether the model is to judge its own results.
    pub check: bool,
    /// Whether each sampled graph is drawn into `task_graphs/`.
    pub save_figure: bool,
    /// Calls at once, at least 1.
    pub workers: usize,
    /// What `statistics.json` says of the run beside these settings: the model, the time it began. Never a key.
    pub notes: Value,
}

#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Prompt(#[from] TemplateError),
    #[error(transparent)]
    Refused(ChatError),
    #[error("{message}")]
    Sample { kind: FailureKind, message: String, raw: Option<String> },
}

impl GenerateError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            GenerateError::Data(error) => Some(error.hint()),
            GenerateError::Refused(error) => error.hint(),
            GenerateError::Prompt(_) => None,
            GenerateError::Sample { kind, .. } => match kind {
                FailureKind::ContentFormat => Some("run it again, or try another model"),
                FailureKind::NotReachable => Some("ask for fewer tools or another method"),
                FailureKind::RateLimit | FailureKind::Timeout => Some("wait and run it again"),
                FailureKind::Transport => Some("check the base URL and whether the server runs"),
                FailureKind::ReplayMiss => Some("record the run again, with the same --seed"),
                FailureKind::HttpStatus
                | FailureKind::BadReply
                | FailureKind::Schema
                | FailureKind::Recording
                | FailureKind::Config
                | FailureKind::Planner => None,
            },
        }
    }
}

pub struct Generator {
    ask: Ask,
    folder: Folder,
    settings: Settings,
    sampler: Arc<Sampler>,
    prompts: Prompts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub prompt: String,
    pub record: Value,
    pub critics: Critics,
    pub sampled: SampledGraph,
}

impl Generator {
    pub fn new(model: Arc<dyn ChatModel>, folder: Folder, settings: Settings) -> Result<Generator, GenerateError> {
        let prompts = Prompts::new(folder.dependency)?;
        let ask = Ask::new(model, &Events::unread());
        Ok(Generator { sampler: Arc::new(Sampler::new(&folder.graph)), ask, folder, settings, prompts })
    }

    #[must_use]
    pub fn reporting_to(self, events: &Events) -> Generator {
        Generator { ask: self.ask.reporting_to(events), ..self }
    }

    /// Draws a sample to see whether the graph can give what the settings ask for.
    pub async fn check(&self) -> Result<(), GenerateError> {
        let (spec, sampler) = (self.settings.spec, Arc::clone(&self.sampler));
        let drawn = tokio::task::spawn_blocking(move || spec.check(&sampler)).await;
        let message = match drawn {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(GenerateError::Sample { kind: FailureKind::NotReachable, message, raw: None })
    }

    /// Makes sample number 0 and keeps nothing.
    pub async fn play(&self) -> Result<Done, GenerateError> {
        let job = self.job(0).await.map_err(|failed| failed.error)?;
        self.make(job).await.map_err(|failed| failed.error)
    }

    /// Makes the samples that the folder lacks, calling at most [`Settings::workers`] times at once. Ends early, and
    /// cleanly, when cancelled. Files are written by short blocking calls, so do not share a thread with much else.
    ///
    /// # Errors
    /// When a file cannot be written, or the endpoint refuses the credentials.
    pub async fn run(&self, watch: &dyn Watch, cancel: &CancellationToken) -> Result<Summary, GenerateError> {
        let mut raw = Log::open(&self.folder.raw(), id_of).map_err(DataError::from)?;
        let found = raw.done().len();
        let lacking = self.settings.target.saturating_sub(found);
        let is_new = |number: &u64| !raw.done().contains(&sample_id(self.settings.spec.seed, *number));
        let todo: Vec<u64> = (0..).filter(is_new).take(lacking).collect();
        // A line for each run's options, then lines of counts.
        let statistics = self.folder.dir.join("statistics.json");
        let is_json = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok();
        let (mut statistics, _) = Growing::open(&statistics, is_json).map_err(DataError::from)?;
        let mut write = |line: Value| statistics.append(&line.to_string()).map_err(DataError::from);
        if !todo.is_empty() {
            write(self.options())?;
        }
        let (began, mut told_of) = (Instant::now(), 0);
        let mut batch = Batch::begin(found + todo.len(), todo.len(), raw.notes("sample"), watch, cancel);
        let keep = |(id, attempt), so_far: &Summary| {
            if so_far.ended().is_multiple_of(STATISTICS_EVERY) && so_far.ended() > told_of {
                write(counts(so_far, began.elapsed()))?;
                told_of = so_far.ended();
            }
            self.keep(id, attempt, so_far, &mut raw)
        };
        let ended = batch.run(todo, self.settings.workers, |number| self.attempt(number), keep).await;
        let summary = batch.end();
        if summary.ended() > told_of {
            write(counts(&summary, began.elapsed()))?;
        }
        write_alignment(&self.folder.dir.join("alignment_ids.json"), &self.folder.records()?, self.folder.dependency)?;
        ended.map(|()| summary)
    }

    fn keep(
        &self,
        id: String,
        attempt: Result<Done, Failed>,
        so_far: &Summary,
        raw: &mut Log<String>,
    ) -> Result<Ended, GenerateError> {
        match attempt {
            Ok(Done { record, critics, sampled, .. }) => {
                if self.settings.save_figure {
                    self.save_figure(&id, &sampled)?;
                }
                raw.write(id.clone(), &record.to_string()).map_err(DataError::from)?;
                let counts = vec![(ALIGNED, usize::from(critics.both()))];
                Ok(Ended { id, message: critics.verdict(), counts, ..Ended::default() })
            }
            Err(failed) => {
                keep_failure(&self.folder.errors(), &id, &failed)?;
                let Failed { kind, error, hopeless } = failed;
                let message = format!("{kind}: {error}");
                if matches!(error, GenerateError::Refused(_)) && so_far.done == 0 {
                    return Err(error);
                }
                let kind = Some(kind.as_str());
                Ok(Ended { id, outcome: Outcome::Failed, message, kind, hopeless, ..Ended::default() })
            }
        }
    }

    async fn job(&self, number: u64) -> Result<Job, Failed> {
        let (spec, sampler) = (self.settings.spec, Arc::clone(&self.sampler));
        // A poor graph may take a while to search.
        let drawn = tokio::task::spawn_blocking(move || Job::draw(&spec, &sampler, number)).await;
        let message = match drawn {
            Ok(Ok(job)) => return Ok(job),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let kind = FailureKind::NotReachable;
        Err(Failed { kind, error: GenerateError::Sample { kind, message, raw: None }, hopeless: false })
    }

    async fn attempt(&self, number: u64) -> (String, Result<Done, Failed>) {
        let id = sample_id(self.settings.spec.seed, number);
        let made = match self.job(number).await {
            Ok(job) => self.make(job).await,
            Err(failed) => Err(failed),
        };
        (id, made)
    }

    async fn make(&self, job: Job) -> Result<Done, Failed> {
        let dependency = self.folder.dependency;
        let tools = || job.sampled.nodes.iter().filter_map(|name| self.folder.tools.get(name));
        let shown = Shown {
            nodes: tools().map(|tool| tool_entry(tool, dependency, true)).collect(),
            links: &job.sampled.links,
            seed: job.prompt_seed,
            check: self.settings.check,
        };
        let messages = self.prompts.messages(&shown).map_err(|error| Failed {
            kind: FailureKind::Config,
            error: GenerateError::Prompt(error),
            hopeless: false,
        })?;
        let prompt = messages.iter().map(Message::joined_text).collect::<Vec<_>>().join("\n");
        let question = self.ask.stage(STAGE).messages(messages).timeout(Some(TIMEOUT)).verbatim().request(|request| {
            request.temperature = Some(self.settings.temperature);
            request.top_p = Some(self.settings.top_p);
            request.frequency_penalty = Some(0.0);
            request.presence_penalty = Some(0.0);
            request.max_tokens = Some(MAX_TOKENS);
        });
        let reply = question.call().await.map_err(|error| Failed::of(error.into()))?;
        let result = read_reply(&reply.text).map_err(|error| {
            tracing::debug!(id = job.id, reply = reply.text, "a reply that is no result");
            let kind = FailureKind::ContentFormat;
            let raw = Some(reply.text.clone());
            Failed { kind, error: GenerateError::Sample { kind, message: error.to_string(), raw }, hopeless: false }
        })?;
        let mut record = json!({
            "id": job.id,
            "seed": job.prompt_seed,
            "method": job.method.as_str(),
            "number_of_tools": job.sampled.nodes.len(),
            "sampled_nodes": tools().map(|tool| tool_entry(tool, dependency, false)).collect::<Vec<_>>(),
            "sampled_links": job.sampled.links,
            "result": result,
        });
        let critics = judge(&record, dependency);
        if let Some(record) = record.as_object_mut() {
            record.insert("critics".into(), json!(critics));
        }
        Ok(Done { prompt, record, critics, sampled: job.sampled })
    }

    fn save_figure(&self, id: &str, sampled: &SampledGraph) -> Result<(), DataError> {
        let folder = self.folder.dir.join("task_graphs");
        let path = folder.join(format!("{id}.svg"));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, draw_sample(sampled, Drawing::Svg)))
            .map_err(|error| DataError::write(&path, error))
    }

    /// The options as statistics keep them; there is no key among them.
    fn options(&self) -> Value {
        let Settings { spec, target, temperature, top_p, check, save_figure, workers, notes } = &self.settings;
        json!({"options": {
            "seed": spec.seed,
            "method": spec.method.map(crate::graph::Method::as_str),
            "tool_number": spec.size,
            "number_of_samples": target,
            "temperature": plain(*temperature),
            "top_p": plain(*top_p),
            "check": check,
            "save_figure": save_figure,
            "multiworker": workers,
            "dependency_type": self.folder.dependency.as_str(),
            "run": notes,
        }})
    }
}

#[derive(Debug)]
struct Failed {
    kind: FailureKind,
    error: GenerateError,
    /// Every other sample would fail for the same reason.
    hopeless: bool,
}

impl Failed {
    fn of(error: ChatError) -> Failed {
        let (kind, hopeless) = (FailureKind::of(&error), is_hopeless(&error));
        let error = match error {
            ChatError::Unauthorized { .. } => GenerateError::Refused(error),
            ChatError::Unreachable { .. }
            | ChatError::Timeout { .. }
            | ChatError::RateLimited { .. }
            | ChatError::Api { .. }
            | ChatError::BadReply { .. }
            | ChatError::ReplayMiss { .. }
            | ChatError::Recording { .. }
            | ChatError::Config(_)
            | ChatError::Budget(_)
            | ChatError::Stopped(_) => GenerateError::Sample { kind, message: error.to_string(), raw: None },
        };
        Failed { kind, error, hopeless }
    }
}

fn id_of(line: &[u8]) -> Option<String> {
    let record: Value = serde_json::from_slice(line).ok()?;
    record.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned))
}

fn keep_failure(path: &std::path::Path, id: &str, failed: &Failed) -> Result<(), DataError> {
    let raw = match &failed.error {
        GenerateError::Sample { raw, .. } => raw.as_deref(),
        GenerateError::Data(_) | GenerateError::Prompt(_) | GenerateError::Refused(_) => None,
    };
    let line = json!({"id": id, "kind": failed.kind, "message": failed.error.to_string(), "raw": raw});
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .map_err(|error| DataError::write(path, error))
}

/// The number as it was typed: 0.7, not the nearest binary fraction.
fn plain(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

fn counts(summary: &Summary, time: Duration) -> Value {
    let average = time.as_secs_f64() / summary.done.max(1) as f64;
    json!({
        "total": summary.ended(),
        "success": summary.done,
        "fail": summary.failed,
        "avg_time_cost": if summary.done == 0 { Value::Null } else { json!((average * 1000.0).round() / 1000.0) },
        "errors": summary.failures,
    })
}
