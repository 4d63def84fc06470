//! Carries out a path: fills parameters from the question and from earlier results, calls the API, and writes one answer.

use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::Registry;
use jarvis_tools::digest::digest;
use serde::Serialize;

use crate::instructions::{EndpointInstruction, Guideline};
use crate::log::{AnsweredTask, RestRecord, Status, Subtask};
use crate::solve::{self, KEYWORDS, Site};
use crate::stage::Stages;
use crate::toolbench::faults;

/// Attempts at one step: a call that fails is asked for again with the reason.
const STEP_ATTEMPTS: u32 = 3;

const MAX_STEPS: usize = 32;

#[derive(Clone)]
pub struct Execution {
    /// The endpoints as tools, known by their `tool_usage`.
    pub tools: Arc<Registry>,
    /// Guidelines by `tool_usage`, where there are any: they list parameters that the endpoint's line lacks.
    pub guidelines: IndexMap<String, Guideline>,
}

#[derive(Debug, Serialize)]
struct Done {
    id: i64,
    task: String,
    endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Literal>,
    #[serde(flatten)]
    outcome: StepOutcome,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum StepOutcome {
    Result(String),
    Failed(String),
}

impl Execution {
    pub(super) async fn carry_out(&self, stages: &Stages, endpoints: &[EndpointInstruction], record: &mut RestRecord) {
        let mut done: Vec<Done> = Vec::new();
        let steps = self.steps(record, endpoints);
        if steps.len() > MAX_STEPS {
            stages.note_error(format!("{} steps are too many; the first {MAX_STEPS} are carried out", steps.len()));
        }
        for (task, endpoint) in steps.into_iter().take(MAX_STEPS) {
            if stages.is_unreachable() {
                break;
            }
            self.step(stages, &record.question, &task, endpoint, &mut done).await;
        }
        if done.iter().any(|step| matches!(step.outcome, StepOutcome::Failed(_))) {
            record.status = Status::Partial;
        }
        let answers: Vec<AnsweredTask> = done
            .into_iter()
            .map(|step| AnsweredTask {
                answer: match step.outcome {
                    StepOutcome::Result(result) => format!("{} gave: {result}", step.endpoint),
                    StepOutcome::Failed(why) => format!("{} failed: {why}", step.endpoint),
                },
                task: step.task,
            })
            .collect();
        match solve::summarize(stages, &record.question, &answers).await {
            Ok(answer) => {
                let good = solve::check(stages, None, &record.question, &answer).await;
                record.check_index = Some(if good { 1 } else { -1 });
                record.final_answer = Some(answer);
            }
            Err(error) => {
                stages.note_error(error.to_string());
                record.status = Status::Failed;
            }
        }
    }

    /// The steps that call an endpoint, numbered by their place in the path.
    fn steps<'a>(
        &self,
        record: &RestRecord,
        endpoints: &'a [EndpointInstruction],
    ) -> Vec<(Subtask, &'a EndpointInstruction)> {
        let mut steps = Vec::new();
        for (choice, number) in record.task_path.iter().zip(1..) {
            let ids: Vec<i64> = match &choice.id {
                Literal::List(ids) => ids.iter().filter_map(Literal::id).collect(),
                id => id.id().into_iter().collect(),
            };
            for endpoint in ids.iter().filter_map(|id| endpoints.iter().find(|endpoint| endpoint.id == *id)) {
                steps.push((Subtask { task: choice.task.clone(), id: number, dep: Vec::new() }, endpoint));
            }
        }
        steps
    }

    async fn step(
        &self,
        stages: &Stages,
        question: &str,
        task: &Subtask,
        endpoint: &EndpointInstruction,
        done: &mut Vec<Done>,
    ) {
        #[derive(Serialize)]
        struct Log<'a> {
            #[serde(rename = "Original Question")]
            question: &'a str,
            steps: &'a [Done],
        }
        let guideline = self.guidelines.get(&endpoint.tool_usage);
        let usage = guideline.map_or_else(|| solve::json(endpoint), solve::json);
        let number = task.id;
        for attempt in 1..=STEP_ATTEMPTS {
            let log = solve::json(&Log { question, steps: done });
            let ended = |parameters, outcome| {
                let (task, endpoint) = (task.task.clone(), endpoint.tool_usage.clone());
                Done { id: number, task, endpoint, parameters, outcome }
            };
            let parameters = match solve::choose_parameters(stages, task, &usage, Some(&log), KEYWORDS).await {
                Ok(parameters) => parameters,
                Err(error) => {
                    stages.note_error(format!("step {number}: {error}"));
                    done.push(ended(None, StepOutcome::Failed(error.to_string())));
                    return;
                }
            };
            let site = Site {
                task_id: number,
                attempt,
                tool_id: endpoint.id,
                tool: &endpoint.tool_name,
                api: &endpoint.tool_usage,
                names: &[&endpoint.tool_usage],
                faults: &|arguments| guideline.map_or_else(Vec::new, |guideline| faults(guideline, arguments)),
            };
            let results = solve::call_all(stages, &self.tools, &site, &parameters).await;
            let shown = solve::shown(&results, |text| digest(text, stages.limits.result_chars).text.into_owned());
            if results.iter().any(Result::is_ok) {
                done.push(ended(Some(parameters), StepOutcome::Result(shown)));
                return;
            }
            stages.note_error(format!("step {number}: {shown}"));
            done.push(ended(Some(parameters), StepOutcome::Failed(shown)));
            if attempt < STEP_ATTEMPTS
                && results.iter().flat_map(|result| result.as_ref().err()).any(|error| !error.kind.blames_input())
            {
                return;
            }
        }
    }
}
