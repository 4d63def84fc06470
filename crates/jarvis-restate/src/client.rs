//! The client of runs: starts, follows, attaches, decides, cancels.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use futures::stream::{self, Stream};
use jarvis_plan::{RunId, TaskId};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::admin::{Admin, Api};
use crate::contract::{Decided, Decision, Page, RunEnd, RunInput};
use crate::error::Error;
use crate::host::WORKFLOW;
use crate::shared::{APPROVE, From, NEXT};

/// How Restate says that a run has not ended yet.
const NOT_READY: u16 = 470;

/// Speaks to the ingress and the admin API of Restate.
#[derive(Clone)]
pub struct Client {
    ingress: Api,
    admin: Admin,
    workflow: String,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Restate's id of it.
    pub invocation: String,
    /// Whether it had been started before; what was given now is not looked at then.
    pub before: bool,
}

/// What became of a run that was to be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It had ended before.
    Before,
    /// It ended, and said so.
    Ended,
    /// It was killed, without a word.
    Killed,
}

impl Client {
    /// A client of runs of [`WORKFLOW`].
    pub fn new(ingress: Url, admin: Admin) -> Client {
        Client { ingress: Api::new(ingress), admin, workflow: WORKFLOW.to_owned() }
    }

    /// The same for runs of another workflow, such as an older version that is being drained.
    #[must_use]
    pub fn of(self, workflow: impl Into<String>) -> Client {
        Client { workflow: workflow.into(), ..self }
    }

    /// The admin API.
    pub fn admin(&self) -> &Admin {
        &self.admin
    }

    /// Starts a run. A second start of the same id changes nothing and finds the first.
    ///
    /// # Errors
    /// [`Error::NotServed`] when the plan needs what no worker serves, [`Error::NoHost`] when nobody hosts runs, or what hinders the
    /// call.
    pub async fn start(&self, run: &RunId, input: &RunInput) -> Result<Started, Error> {
        let mut input = input.clone();
        if let Some(plan) = &input.plan {
            let wanted = plan.capabilities();
            let missing = self.admin.not_served(&wanted).await?;
            // One candidate that is served is enough for a task.
            let short = plan.tasks.iter().filter(|task| task.fault.is_none()).flat_map(|task| {
                let needed: Vec<String> =
                    task.candidates().into_iter().map(|candidate| candidate.effective_task).collect();
                if needed.iter().all(|name| missing.contains(name)) { needed } else { Vec::new() }
            });
            let short: BTreeSet<String> = short.collect();
            if !short.is_empty() {
                return Err(Error::NotServed { capabilities: short });
            }
            input.served = Some(wanted.difference(&missing).cloned().collect());
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Accepted {
            invocation_id: String,
            status: String,
        }
        let url = self.ingress.url(&[&self.workflow, &run.0, "run", "send"]);
        let request = self.ingress.request(Method::POST, &url).await?.json(&input);
        let response = self.ingress.send(&url, request).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::NoHost { workflow: self.workflow.clone() });
        }
        let Accepted { invocation_id, status } = self.ingress.read(&url, response).await?;
        Ok(Started { invocation: invocation_id, before: status == "PreviouslyAccepted" })
    }

    /// Waits for the end of a run.
    ///
    /// # Errors
    /// [`Error::NoRun`], [`Error::Ended`] when it was killed, or what hinders the call.
    pub async fn attach(&self, run: &RunId) -> Result<RunEnd, Error> {
        self.ended(run, "attach").await.and_then(|end| end.ok_or_else(|| Error::NoRun { run: run.0.clone() }))
    }

    /// The end of a run, if it has ended.
    ///
    /// # Errors
    /// As [`Client::attach`].
    pub async fn end(&self, run: &RunId) -> Result<Option<RunEnd>, Error> {
        self.ended(run, "output").await
    }

    async fn ended(&self, run: &RunId, how: &str) -> Result<Option<RunEnd>, Error> {
        let url = self.ingress.url(&["restate", "workflow", &self.workflow, &run.0, how]);
        let request = self.ingress.request(Method::GET, &url).await?;
        let response = self.ingress.send(&url, request).await?;
        match response.status().as_u16() {
            NOT_READY => return Ok(None),
            404 => return Err(Error::NoRun { run: run.0.clone() }),
            _ => {}
        }
        match self.ingress.read(&url, response).await {
            Ok(end) => Ok(Some(end)),
            // A proxy says this of itself, not of the run.
            Err(error @ Error::Refused { status: 429 | 502..=504, .. }) => Err(error),
            Err(Error::Refused { message, .. }) => Err(Error::Ended { run: run.0.clone(), message }),
            Err(error) => Err(error),
        }
    }

    /// The events of a run from a number on, as they come, up to its last. Each is the JSON of a [`jarvis_plan::Event`]. While
    /// Restate is away, the stream ends with an error; following again from the next number leaves no gap and no double.
    pub fn follow(&self, run: RunId, from: u64) -> impl Stream<Item = Result<Value, Error>> + Send + use<> {
        let state = Following {
            client: self.clone(),
            run,
            from,
            reads_on: from == 0,
            page: VecDeque::new(),
            known: false,
            done: false,
        };
        stream::unfold(state, |mut state| async move { state.next().await.map(|event| (event, state)) })
    }

    /// The events of a run that there are now.
    ///
    /// # Errors
    /// [`Error::NoRun`], or what hinders the call.
    pub async fn so_far(&self, run: &RunId) -> Result<Vec<Value>, Error> {
        match self.end(run).await {
            Ok(_) | Err(Error::Ended { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut events = Vec::new();
        loop {
            let from = From { from: events.len() as u64, reads_on: true, now: true };
            let mut page = self.call::<Page>(run, NEXT, json!(from)).await?.events;
            if page.is_empty() {
                return Ok(events);
            }
            events.append(&mut page);
        }
    }

    /// Decides about a task that waits for a person, whatever it waits for.
    ///
    /// # Errors
    /// [`Error::Refused`] with status 409 when it waits for no decision or has one, and with 422 when it waits for another kind.
    pub async fn approve(&self, run: &RunId, task: TaskId, decision: Decision) -> Result<(), Error> {
        self.call::<Value>(run, APPROVE, json!(Decided { task, decision, asked: None })).await.map(drop)
    }

    /// Answers the question about a task that the event of this number asked. Said again, it answers no later question.
    ///
    /// # Errors
    /// As [`Client::approve`], with status 409 too when another question was asked meanwhile.
    pub async fn answer(&self, run: &RunId, task: TaskId, asked: u64, decision: Decision) -> Result<(), Error> {
        let decided = Decided { task, decision, asked: Some(asked) };
        self.call::<Value>(run, APPROVE, json!(decided)).await.map(drop)
    }

    /// Cancels a run. It ends its tasks as cancelled and reports its end; work that workers have under way goes on to its end. A run
    /// that has not ended when `grace` has passed is killed, and so is the work: it reports no end then.
    ///
    /// # Errors
    /// [`Error::NoRun`], or what hinders the call.
    pub async fn cancel(&self, run: &RunId, grace: Duration) -> Result<Cancelled, Error> {
        let invocation = self.invocation(run).await?;
        match self.admin.end(&invocation, "cancel").await {
            // It has ended before.
            Err(Error::Refused { status: 404 | 409, .. }) => return Ok(Cancelled::Before),
            cancelled => cancelled?,
        }
        match tokio::time::timeout(grace, self.attach(run)).await {
            Ok(Ok(_) | Err(Error::Ended { .. })) => return Ok(Cancelled::Ended),
            Ok(Err(error)) => return Err(error),
            Err(_) => {}
        }
        // Children first: when their caller is gone, nothing leads to them.
        for child in self.children(&invocation).await? {
            self.admin.end(&child, "kill").await.or_else(gone)?;
        }
        self.admin.end(&invocation, "kill").await.or_else(gone)?;
        Ok(Cancelled::Killed)
    }

    /// Restate's id of a run.
    async fn invocation(&self, run: &RunId) -> Result<String, Error> {
        let sql = format!(
            "select id from sys_invocation where target_service_name = {} and target_service_key = {} and \
             target_handler_name = 'run'",
            quoted(&self.workflow),
            quoted(&run.0)
        );
        let rows = self.admin.query(&sql).await?;
        let id = rows.first().and_then(|row| row.get("id")?.as_str());
        id.map(str::to_owned).ok_or_else(|| Error::NoRun { run: run.0.clone() })
    }

    async fn children(&self, invocation: &str) -> Result<Vec<String>, Error> {
        let sql = format!(
            "select id from sys_invocation where invoked_by_id = {} and status != 'completed'",
            quoted(invocation)
        );
        let rows = self.admin.query(&sql).await?;
        Ok(rows.iter().filter_map(|row| Some(row.get("id")?.as_str()?.to_owned())).collect())
    }

    async fn call<T: serde::de::DeserializeOwned>(&self, run: &RunId, handler: &str, body: Value) -> Result<T, Error> {
        let url = self.ingress.url(&[&self.workflow, &run.0, handler]);
        let request = self.ingress.request(Method::POST, &url).await?.json(&body);
        let response = self.ingress.send(&url, request).await?;
        self.ingress.read(&url, response).await
    }
}

/// An invocation that has ended by itself meanwhile needs no kill.
fn gone(error: Error) -> Result<(), Error> {
    match error {
        Error::Refused { status: 404 | 409, .. } => Ok(()),
        other => Err(other),
    }
}

/// A text as SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

struct Following {
    client: Client,
    run: RunId,
    /// The next event to ask for.
    from: u64,
    /// Whether that is the first of a page.
    reads_on: bool,
    page: VecDeque<Value>,
    /// Whether there is such a run.
    known: bool,
    done: bool,
}

impl Following {
    async fn next(&mut self) -> Option<Result<Value, Error>> {
        loop {
            if let Some(event) = self.page.pop_front() {
                let is_end = matches!(event.get("event").and_then(Value::as_str), Some("done" | "error"));
                self.done = is_end;
                if is_end {
                    self.page.clear();
                }
                return Some(Ok(event));
            }
            if self.done {
                return None;
            }
            match self.more().await {
                Ok(()) => {}
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Asks for the next page. An empty one says to ask again, unless the run has ended and nothing comes any more.
    async fn more(&mut self) -> Result<(), Error> {
        if !self.known {
            // The events of a run that was never started would be waited for.
            match self.client.end(&self.run).await {
                Ok(_) | Err(Error::Ended { .. }) => self.known = true,
                Err(error) => return Err(error),
            }
        }
        let page = self.page_from(self.from).await?;
        if page.is_empty() && self.client.end(&self.run).await?.is_some() {
            // Its last events may have come between the two questions.
            let last = self.page_from(self.from).await?;
            if last.is_empty() {
                let message = "there are no further events".to_owned();
                return Err(Error::Ended { run: self.run.0.clone(), message });
            }
            self.take(last);
            return Ok(());
        }
        self.take(page);
        Ok(())
    }

    fn take(&mut self, page: Vec<Value>) {
        self.from += page.len() as u64;
        self.reads_on |= !page.is_empty();
        self.page.extend(page);
    }

    async fn page_from(&self, from: u64) -> Result<Vec<Value>, Error> {
        Ok(self
            .client
            .call::<Page>(&self.run, NEXT, json!(From { from, reads_on: self.reads_on, now: false }))
            .await?
            .events)
    }
}
