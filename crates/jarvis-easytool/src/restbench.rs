//! RestBench: a question into a path of endpoints, and the path carried out.

mod execute;

use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_ask::Events;
use jarvis_chat::ChatModel;
use serde_json::{Value, json};

use crate::instructions::EndpointInstruction;
use crate::log::{RestRecord, Status};
use crate::prompts::Prompt;
use crate::replies;
use crate::score::restbench::extract_path;
use crate::stage::{Limits, Stages};

pub use execute::Execution;

pub struct Restbench {
    pub model: Arc<dyn ChatModel>,
    pub events: Events,
    pub endpoints: Vec<EndpointInstruction>,
    /// Whose endpoints they are, in a few words: "Spotify, a music service".
    pub service: String,
    /// How paths are carried out; `None` plans only.
    pub execution: Option<Execution>,
    pub limits: Limits,
}

const EXAMPLE: &str =
    r#"[{"Task": "Find out what the player is playing", "ID": 15}, {"Task": "Pause the player", "ID": 19}]"#;

impl Restbench {
    pub fn new(
        model: Arc<dyn ChatModel>,
        endpoints: Vec<EndpointInstruction>,
        service: impl Into<String>,
    ) -> Restbench {
        let (service, limits) = (service.into(), Limits::default());
        Restbench { model, events: Events::unread(), endpoints, service, execution: None, limits }
    }

    /// Plans one question, and carries the path out where that is wanted. It always returns a record: what went wrong is in
    /// it. `id` is the question's number, from 1.
    pub async fn answer(&self, id: u64, question: &str) -> RestRecord {
        let stages = Stages::new(&self.model, &self.events, self.limits);
        let mut record = RestRecord {
            id,
            question: question.to_owned(),
            task_path: Vec::new(),
            tool_choice_ls: Vec::new(),
            final_answer: None,
            check_index: None,
            status: Status::Succeeded,
            errors: Vec::new(),
            calls: Vec::new(),
            stage_trace: Vec::new(),
        };
        let tools = self.endpoints.iter().map(|EndpointInstruction { id, tool_usage, tool_description, .. }| {
            json!({"id": id, "usage": tool_usage, "description": tool_description})
        });
        let context = json!({
            "question": question, "service": self.service, "tools": tools.collect::<Value>(),
            "example": {"question": "Pause the player", "reply": EXAMPLE},
        });
        match stages.ask(Prompt::DecomposeRestbench, None, &context, replies::path).await {
            Ok(path) => {
                let usages: IndexMap<i64, String> =
                    self.endpoints.iter().map(|tool| (tool.id, tool.tool_usage.clone())).collect();
                let extracted = extract_path(&path, &usages);
                extracted.warnings.into_iter().for_each(|warning| stages.note_error(warning));
                record.task_path = path;
                record.tool_choice_ls = extracted.path;
                if let Some(execution) = &self.execution {
                    execution.carry_out(&stages, &self.endpoints, &mut record).await;
                }
            }
            Err(error) => {
                record.status = Status::Failed;
                stages.note_error(error.to_string());
            }
        }
        let trace = stages.take_trace();
        RestRecord { errors: trace.errors, calls: trace.calls, stage_trace: trace.stages, ..record }
    }
}
