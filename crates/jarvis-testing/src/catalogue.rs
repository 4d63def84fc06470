//! A fake model catalogue service: the three calls of the protocol on a loopback socket, with data and faults of a test's
//! choosing. Every task it is asked about and does not know has no models.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::stub::{Canned, Captured, Stub};

#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The reply to `GET /query/context/tasks`, in whatever shape.
    pub tasks: Value,
    pub models: BTreeMap<String, Value>,
    pub examples: Value,
}

impl Default for Data {
    fn default() -> Data {
        Data { tasks: json!([]), models: BTreeMap::new(), examples: json!([]) }
    }
}

impl Data {
    /// Tasks by name, each with models of these ids.
    pub fn of(tasks: &[(&str, &[&str])]) -> Data {
        let model = |id: &&str| json!({"id": id, "description": format!("the model {id}"), "likes": 1});
        Data {
            tasks: tasks.iter().map(|(name, _)| Value::from(*name)).collect(),
            models: tasks
                .iter()
                .map(|(name, models)| ((*name).to_owned(), models.iter().map(model).collect()))
                .collect(),
            ..Data::default()
        }
    }

    /// The models of a catalogue file: one JSON object a line with `id` and `task`.
    ///
    /// # Errors
    /// When a line is not such an object.
    pub fn of_jsonl(text: &str) -> Result<Data, String> {
        let mut models: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut names: Vec<String> = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let record: Value = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
            let task = record.get("task").and_then(Value::as_str).ok_or(format!("line {}: no `task`", at + 1))?;
            if !names.iter().any(|name| name == task) {
                names.push(task.to_owned());
            }
            models.entry(task.to_owned()).or_default().push(record);
        }
        let models = models.into_iter().map(|(task, models)| (task, Value::from(models))).collect();
        Ok(Data { tasks: names.into(), models, ..Data::default() })
    }

    pub fn examples(mut self, examples: Value) -> Data {
        self.examples = examples;
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fault {
    #[default]
    None,
    Status(u16),
    Body(String),
    /// It begins to answer and never ends.
    Hang,
    /// The connection breaks in the middle of the answer.
    Cut,
}

#[derive(Debug, Default)]
struct State {
    data: Data,
    fault: Fault,
    /// So many calls fail, then the service is well; `None` for all calls.
    faults_left: Option<usize>,
}

/// The service. It stops when dropped.
#[derive(Debug)]
pub struct FakeCatalogue {
    stub: Stub,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeCatalogue {
    pub async fn start(data: Data) -> io::Result<FakeCatalogue> {
        let state = Arc::new(Mutex::new(State { data, ..State::default() }));
        let shared = Arc::clone(&state);
        let stub = Stub::start(move |request| {
            let mut state = lock(&shared);
            let fault = match state.faults_left.as_mut() {
                Some(0) => Fault::None,
                Some(left) => {
                    *left -= 1;
                    state.fault.clone()
                }
                None => state.fault.clone(),
            };
            match fault {
                Fault::None => answer(&state.data, request),
                Fault::Status(status) => Canned::json(&json!({"error": "on purpose"})).status(status),
                Fault::Body(text) => Canned::bytes("application/json", text),
                Fault::Hang => Canned::bytes("application/json", "[").endless(),
                Fault::Cut => Canned::bytes("application/json", "[\"face-").cut(),
            }
        })
        .await?;
        Ok(FakeCatalogue { stub, state })
    }

    pub fn base(&self) -> String {
        self.stub.url("")
    }

    pub fn fail(&self, fault: Fault) {
        let mut state = lock(&self.state);
        (state.fault, state.faults_left) = (fault, None);
    }

    pub fn fail_times(&self, fault: Fault, count: usize) {
        let mut state = lock(&self.state);
        (state.fault, state.faults_left) = (fault, Some(count));
    }

    pub fn set(&self, data: Data) {
        lock(&self.state).data = data;
    }

    pub fn requests(&self) -> Vec<Captured> {
        self.stub.requests()
    }

    pub fn calls(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.path == path).count()
    }
}

fn answer(data: &Data, request: &Captured) -> Canned {
    let body = request.json();
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/query/context/tasks") => Canned::json(&data.tasks),
        ("POST", "/query/get_models_for_task") => match body.get("task_id").and_then(Value::as_str) {
            Some(task) => Canned::json(data.models.get(task).unwrap_or(&json!([]))),
            None => refused("`task_id` is missing"),
        },
        ("POST", "/query/get_examples_for_task_pipelines") => {
            let named = |name: &str| body.get(name).and_then(Value::as_str);
            match (named("task_id"), named("scenario_id"), body.get("num_examples").and_then(Value::as_u64)) {
                (Some(_), Some(_), Some(count)) => match data.examples.as_array() {
                    Some(examples) => {
                        let count = usize::try_from(count).unwrap_or(usize::MAX);
                        Canned::json(&examples.iter().take(count).cloned().collect())
                    }
                    None => Canned::json(&data.examples),
                },
                _ => refused("`task_id`, `scenario_id` and `num_examples` are needed"),
            }
        }
        _ => Canned::json(&json!({"detail": "Not Found"})).status(404),
    }
}

fn refused(why: &str) -> Canned {
    Canned::json(&json!({ "detail": why })).status(422)
}
