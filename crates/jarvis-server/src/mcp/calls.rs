//! The tools' work: a call becomes a run, and its end a result.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use jarvis_net::trace::TraceContext;
use jarvis_plan::{Kind, Turn};
use jarvis_react::{AgentAnswer, Asked};
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tracing::{Instrument as _, field};

use super::content::Naming;
use super::{Client, Jarvis, args, leave, progress};
use crate::error::ApiError;
use crate::files::taken_in;
use crate::request::{self, RunRequest};
use crate::runs::{Ended, Keep, Lost, Started};
use crate::users::{Caller, Right};
use crate::wire::ask::{Ask, Attachment, MOST_ATTACHMENTS};

/// How long what is left to tell of a run may keep back its result.
const LATE: Duration = Duration::from_secs(2);

pub(super) type Context = RequestContext<RoleServer>;

impl Jarvis {
    pub(super) async fn carry_out(&self, call: args::Call, context: &Context) -> Result<CallToolResult, ErrorData> {
        let caller = self.caller(context);
        caller.must(Right::Run).map_err(refused)?;
        // Where the call stands in a trace is told with the call itself, whatever it came by.
        let place = TraceContext::read(|field| context.meta.get(field)?.as_str());
        let place = match context.extensions.get::<Parts>() {
            Some(sent) if place.is_empty() => TraceContext::of_headers(&sent.headers),
            _ => place,
        };
        let request_id = caller.request_id().map(|id| field::display(id.as_str()));
        let span = tracing::error_span!(
            parent: None,
            "mcp_call",
            request_id,
            mcp_method = "tools/call",
            tool = call.name(),
            run_id = field::Empty,
            error = field::Empty,
        );
        let own = span.clone();
        let work = async {
            match call {
                args::Call::Run(run) => self.run(run, context).await,
                args::Call::Plan(run) => self.plan(run, context).await,
                args::Call::Ask(ask) => self.ask(ask, context).await,
            }
        };
        // Boxed, since every session holds this future.
        let done = Box::pin(work).instrument(place.adopt(span)).await;
        if done.as_ref().map_or(true, |result| result.is_error == Some(true)) {
            own.record("error", "tool_error");
        }
        done
    }

    async fn run(&self, run: args::Run, context: &Context) -> Result<CallToolResult, ErrorData> {
        let name = run.pipeline.clone();
        let caller = self.caller(context);
        let asked = self.request(run, &caller).await?;
        let can_ask = leave::can_ask(&context.peer) && caller.may(Right::Approve);
        let started = asked.start(&self.server, &caller, name.as_deref(), can_ask);
        let started = started.map_err(|error| match error.fields.status.as_u16() {
            403 | 429 | 500.. => refused(error),
            _ => args::wrong(in_full(&error)),
        })?;
        let live = Arc::clone(&started.live);
        let (run_id, Ended { result, usage, ms }) = tokio::select! {
            biased;
            finished = finished(started, context) => finished?,
            () = leave::ask(&self.server, &caller, &live, &context.peer), if can_ask => return Err(refused(ApiError::stopping())),
        };
        let run = match done(result) {
            Ok(run) => run,
            Err(reason) => return Ok(error_result(reason)),
        };
        let naming = self.naming(context);
        let document = asked.document(&run_id, &run, usage, ms, |url| naming.disk(url));
        let mut content = vec![ContentBlock::text(run.answer.text.clone())];
        let mut files = Vec::new();
        for made in &run.answer.resources {
            // What a tool only spoke of may be somebody else's.
            if self.server.check_file(&caller, &made.url).await.is_ok() {
                files.push(made.url.clone());
            }
        }
        content.extend(naming.blocks(files).await);
        let mut result = if run.ok() { CallToolResult::success(content) } else { CallToolResult::error(content) };
        result.structured_content = serde_json::to_value(&document).ok();
        Ok(result)
    }

    async fn plan(&self, run: args::Run, context: &Context) -> Result<CallToolResult, ErrorData> {
        let caller = self.caller(context);
        let request = self.request(run, &caller).await?.request;
        let decisions = self.server.decisions_for(&caller, &self.server.setup().decisions);
        let text = request.text.clone();
        let work = move |events, cancel| async move { decisions.decide(request, &events, cancel).await };
        let started = self.server.runs.start(&caller, &text, Keep::Nothing, work).map_err(refused)?;
        let decision = match done(finished(started, context).await?.1.result) {
            Ok(decision) => decision,
            Err(reason) => return Ok(error_result(reason)),
        };
        let mut document = decision.execution_config();
        let fields = document.as_object_mut().expect("an execution plan is an object");
        fields.insert("plan_id".to_owned(), json!(decision.plan_id));
        let mut result = CallToolResult::success(vec![ContentBlock::text(in_words(&document))]);
        result.structured_content = Some(document);
        Ok(result)
    }

    async fn ask(&self, ask: args::Ask, context: &Context) -> Result<CallToolResult, ErrorData> {
        let most = self.server.options.max_upload;
        let bytes = match (ask.document, ask.document_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(data)) => args::bytes("document_base64", &data, most)?,
            (None, None) => return Err(args::wrong("give the document: `document` (its text) or `document_base64`")),
            (Some(_), Some(_)) => return Err(args::wrong("give `document` or `document_base64`, not both")),
        };
        if bytes.len() > most {
            return Err(args::wrong(format!("the document has {} bytes, and {most} are taken at most", bytes.len())));
        }
        let agent = Arc::clone(&self.server.setup().agent);
        let document = agent
            .read(bytes.into())
            .await
            .map_err(|error| args::wrong(format!("the document cannot be read: {error}")))?;
        let args::Ask { question, language, max_steps, .. } = ask;
        let asked = Asked { language, max_steps, warnings: document.warnings, ..Asked::new(question, document.text) };
        let question = asked.question.clone();
        let work = move |events, cancel| async move { agent.ask(&asked, &events, cancel).await };
        let started = self.server.runs.start(&self.caller(context), &question, Keep::Events, work).map_err(refused)?;
        let (_, ended) = finished(started, context).await?;
        let reached = match ended.result {
            Ok(Ok(reached)) => reached,
            Ok(Err(error)) => return Ok(error_result(with_hint(&error.whole(), error.hint()))),
            Err(lost) => return Ok(error_result(in_full(&lost.into()))),
        };
        let AgentAnswer { text, images, rounds, finish, warnings, not_done, .. } = reached;
        let document = json!({
            "text_answer": text,
            "finish_reason": finish.as_str(),
            "steps": rounds,
            "images": images,
            "warnings": warnings,
        });
        let none = text.is_empty() && images.is_empty();
        let answer = if none { "there is no answer".to_owned() } else { text };
        let mut content = Vec::new();
        if !answer.is_empty() {
            content.push(ContentBlock::text(answer));
        }
        content.extend(self.naming(context).blocks(images).await);
        let failed = none || !not_done.is_empty();
        let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = Some(document);
        Ok(result)
    }

    fn naming(&self, context: &Context) -> Naming {
        Naming::new(&self.server.parts.media, self.client, context.extensions.get::<Parts>())
    }

    /// Who calls: whoever sent the request over HTTP, or whoever started this program.
    pub(super) fn caller(&self, context: &Context) -> Caller {
        let sent = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>());
        match self.client {
            Client::There => sent.expect("the guard before the route puts the caller in").clone(),
            Client::Here => self.server.users.at_home(),
        }
    }

    /// What is asked of the pipeline, its files taken in.
    async fn request(&self, run: args::Run, caller: &Caller) -> Result<RunRequest, ErrorData> {
        if run.files.len() > MOST_ATTACHMENTS {
            return Err(args::wrong(format!("a request may have {MOST_ATTACHMENTS} files")));
        }
        let mut attachments = Vec::with_capacity(run.files.len());
        for (at, file) in run.files.into_iter().enumerate() {
            attachments.push(self.attached(caller, &format!("files[{at}]"), file).await?);
        }
        let ask = Ask { messages: vec![Turn::user(run.request)], attachments, ..Ask::default() };
        RunRequest::of(&self.server, &ask).map_err(|error| args::wrong(in_full(&error)))
    }

    /// A file as an attachment: bytes are taken in as an upload's are.
    async fn attached(&self, caller: &Caller, at: &str, file: args::File) -> Result<Attachment, ErrorData> {
        let args::File { name, data, text, url, kind } = file;
        match (data, text, url) {
            (Some(data), None, None) => {
                let name = name.ok_or_else(|| args::wrong(format!("`{at}` has no `name`, such as photo.jpg")))?;
                let bytes = args::bytes(&format!("{at}.data"), &data, self.server.options.max_upload)?;
                if bytes.is_empty() {
                    return Err(args::wrong(format!("`{at}` is empty")));
                }
                let taken = taken_in(&self.server, caller, &name, bytes).await;
                taken.map_err(|error| match error.fields.status.is_server_error() {
                    true => refused(error),
                    false => args::wrong(format!("`{at}`: {}", in_full(&error))),
                })
            }
            (None, Some(text), None) => {
                let kind = kind.unwrap_or(Kind::Text);
                Ok(Attachment { kind, path: None, text: Some(text), url: None, name })
            }
            (None, None, Some(url)) => {
                let kind = kind
                    .ok_or_else(|| args::wrong(format!("`{at}` has no `kind`: text, image, audio, video or json")))?;
                Ok(Attachment { kind, path: None, text: None, url: Some(url), name })
            }
            _ => Err(args::wrong(format!("`{at}` needs exactly one of `data`, `text` and `url`"))),
        }
    }
}

/// Waits for the end of a run, and reports progress meanwhile if the client asked for it.
async fn finished<T>(started: Started<T>, context: &Context) -> Result<(String, Ended<T>), ErrorData> {
    let log = Arc::clone(&started.live.log);
    let (over, is_over) = oneshot::channel::<()>();
    let waiting = async {
        let ended = request::wait(started).await;
        drop(over);
        ended
    };
    let reporting = async {
        let Some(token) = context.meta.get_progress_token() else { return };
        // A client that takes nothing more, such as one that closed standard input, may still want the result.
        let late = async {
            let _ = is_over.await;
            tokio::time::sleep(LATE).await;
        };
        tokio::select! {
            () = progress::report(log, token, &context.peer) => {}
            () = late => {}
        }
    };
    let (ended, ()) = tokio::join!(waiting, reporting);
    ended.map_err(refused)
}

pub(super) fn refused(error: ApiError) -> ErrorData {
    let data = json!({"code": error.fields.code, "retry": matches!(error.fields.code, "overloaded" | "stopping" | "too_many_runs")});
    ErrorData::internal_error(in_full(&error), Some(data))
}

/// The result of a run, or why there is none, as the model that asked can read it.
fn done<T, E>(ended: Result<Result<T, E>, Lost>) -> Result<T, String>
where
    ApiError: From<E>,
{
    let result = match ended {
        Ok(result) => result.map_err(ApiError::from),
        Err(lost) => Err(<ApiError as From<Lost>>::from(lost)),
    };
    result.map_err(|error| in_full(&error))
}

fn error_result(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

fn in_full(error: &ApiError) -> String {
    with_hint(&error.fields.message, error.fields.hint.as_deref())
}

fn with_hint(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message.to_owned(),
    }
}

fn in_words(document: &Value) -> String {
    let tasks = document.pointer("/execution_config/tasks").and_then(Value::as_array);
    let tasks = tasks.map(Vec::as_slice).unwrap_or_default();
    if tasks.is_empty() {
        return "No task was planned: nothing in the request fits a known task type".to_owned();
    }
    let field = |task: &Value, name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lines = tasks.iter().map(|task| {
        let after: Vec<String> = task
            .get("dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_i64)
            .filter(|id| *id >= 0)
            .map(|id| id.to_string())
            .collect();
        let after = if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
        let id = task.get("task_id").map(Value::to_string).unwrap_or_default();
        format!("{id}. {}: {}{after}", field(task, "task_type"), field(task, "model_id"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
