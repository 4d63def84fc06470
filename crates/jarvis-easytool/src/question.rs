//! A question from its subtasks to its record: what FuncQA and ToolBench have in common.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_ask::AskError;
use jarvis_engine::Limits as EngineLimits;
use jarvis_plan::{ErrorCode, TaskError};
use serde_json::{Value, json};

use crate::log::{AnsweredTask, ExecuteLog, SolveRecord, StageCall, Status, Subtask};
use crate::prompts::Prompt;
use crate::replies;
use crate::solve::{self, Attempt, Solved, Step};
use crate::stage::Stages;
use crate::subtasks;

#[async_trait]
pub(crate) trait Solver: Send + Sync + 'static {
    fn stages(&self) -> &Stages;

    fn question(&self) -> &str;

    async fn split(&self) -> Result<Vec<Subtask>, AskError>;

    async fn solve(&self, task: &Subtask, earlier: &Earlier<'_>) -> Solved;

    /// Tries one tool: whether its answer is accepted. What it gave goes into `solved`.
    async fn attempt(&self, attempt: &Attempt<'_>, solved: &mut Solved) -> Result<bool, AskError>;
}

pub(crate) struct Earlier<'a> {
    pub(crate) subtasks: &'a [Subtask],
    pub(crate) solved: &'a IndexMap<i64, Solved>,
}

impl Earlier<'_> {
    /// The steps with these numbers, as far as they have ended. A failed one is marked as failed; its answer is not shown.
    pub(crate) fn steps(&self, ids: &[i64], with_results: bool) -> Vec<Step<'_>> {
        let step = |id: &i64| {
            let task = self.subtasks.iter().find(|task| task.id == *id)?;
            let solved = self.solved.get(id)?;
            let answer = solved.answer.as_deref();
            Some(Step {
                id: *id,
                task: &task.task,
                answer,
                result: answer.and(Some(solved.shown.as_str())).filter(|shown| with_results && !shown.is_empty()),
                failed: answer.is_none().then_some("this step failed; there is no result"),
            })
        };
        ids.iter().filter_map(step).collect()
    }
}

pub(crate) fn empty_record(id: u64, question: &str) -> SolveRecord {
    SolveRecord {
        id,
        query_id: None,
        question: question.to_owned(),
        final_answer: String::new(),
        subtask: Vec::new(),
        answer_subtask: Vec::new(),
        answer_wrong: Vec::new(),
        check_index: -1,
        execute_log: ExecuteLog::default(),
        check: None,
        final_value: None,
        status: Status::Succeeded,
        errors: Vec::new(),
        retrieved: Vec::new(),
        gold_tools: Vec::new(),
        calls: Vec::new(),
        stage_trace: Vec::new(),
    }
}

/// Answers a question. It always returns a record: what went wrong is in it.
pub(crate) async fn answer(solver: Arc<dyn Solver>, mut record: SolveRecord) -> SolveRecord {
    match solver.split().await {
        Ok(subtasks) => solve_all(&solver, subtasks, &mut record).await,
        Err(error) => {
            record.status = Status::Failed;
            solver.stages().note_error(error.to_string());
        }
    }
    let trace = solver.stages().take_trace();
    // In the order of the subtasks, however they ran.
    let place = |id: Option<i64>| match id {
        Some(id) => record.subtask.iter().position(|task| task.id == id).unwrap_or(usize::MAX),
        None => 0,
    };
    record.calls = trace.calls;
    record.calls.sort_by_key(|call| place(Some(call.task_id)));
    record.stage_trace = in_order(trace.stages, place);
    record.errors.extend(trace.errors);
    record
}

/// Stage calls in a stable order: those before the subtasks, the subtasks in the order of `place`, those after them.
fn in_order(mut stages: Vec<StageCall>, place: impl Fn(Option<i64>) -> usize) -> Vec<StageCall> {
    let first = stages.iter().position(|call| call.task_id.is_some()).unwrap_or(stages.len());
    let last = stages.iter().rposition(|call| call.task_id.is_some()).map_or(first, |at| at + 1);
    if let Some(middle) = stages.get_mut(first..last) {
        middle.sort_by_key(|call| place(call.task_id));
    }
    stages
}

async fn solve_all(solver: &Arc<dyn Solver>, subtasks: Vec<Subtask>, record: &mut SolveRecord) {
    let stages = solver.stages();
    stages.plan(&subtasks);
    let limits = EngineLimits {
        concurrency: stages.limits.concurrency,
        task_timeout: stages.limits.subtask_timeout,
        run_timeout: stages.limits.subtask_timeout.saturating_mul(u32::try_from(subtasks.len()).unwrap_or(u32::MAX)),
        max_fallbacks: 0,
    };
    let (worker, all) = (Arc::clone(solver), Arc::new(subtasks.clone()));
    let solve = move |task: Subtask, solved: Arc<IndexMap<i64, Solved>>| {
        let (solver, all) = (Arc::clone(&worker), Arc::clone(&all));
        async move {
            let solved = solver.solve(&task, &Earlier { subtasks: &all, solved: &solved }).await;
            let none = || TaskError::new(ErrorCode::CannotDo, "no answer was accepted");
            let output = solved.answer.clone().map(Into::into).ok_or_else(none);
            (solved, output)
        }
    };
    let ended = subtasks::run(&subtasks, limits, stages.events(), solve).await;
    record.subtask = subtasks;
    for (task, ended) in record.subtask.iter().zip(ended) {
        let solved = ended.unwrap_or_else(|error| {
            stages.note_error(format!("subtask {}: {error}", task.id));
            Solved::default()
        });
        record.answer_wrong.extend(solved.wrong.into_iter().map(|answer| answered(task, answer)));
        let log = &mut record.execute_log;
        log.tool_check_reason_ls.extend(solved.reason);
        if !solved.retrieved.is_empty() {
            record.retrieved.push(solved.retrieved);
        }
        let Some(answer) = solved.answer else {
            record.status = Status::Partial;
            continue;
        };
        record.answer_subtask.push(answered(task, answer));
        record.final_value = solved.value;
        if let Some(parameters) = &mut log.parameter_ls {
            parameters.push(solved.apis.iter().map(|api| api.parameters.clone()).collect());
        }
        log.api_result_ls.push(solved.apis);
        log.call_result_ls.push(solved.result);
        if let (Some(list), Some(instruction)) = (&mut log.tool_instruction_ls, solved.instruction) {
            list.push(instruction);
        }
    }
    if record.answer_subtask.is_empty() && !record.subtask.is_empty() {
        // What is summed up below rests on nothing.
        record.status = Status::Failed;
    }
    finish(solver.as_ref(), record).await;
}

fn answered(task: &Subtask, answer: String) -> AnsweredTask {
    AnsweredTask { task: task.task.clone(), answer }
}

async fn finish(solver: &dyn Solver, record: &mut SolveRecord) {
    let (stages, question) = (solver.stages(), solver.question());
    if stages.is_unreachable() && record.answer_subtask.is_empty() {
        record.status = Status::Failed;
        return;
    }
    match solve::summarize(stages, question, &record.answer_subtask).await {
        Ok(answer) => record.final_answer = answer,
        Err(error) => {
            stages.note_error(error.to_string());
            record.status = Status::Failed;
            return;
        }
    }
    record.check_index = if solve::check(stages, None, question, &record.final_answer).await { 1 } else { -1 };
}

/// Asks what the subtasks wait for. Where no order can be had they run one after another, each knowing all before it.
pub(crate) async fn order(stages: &Stages, question: &str, mut tasks: Vec<String>) -> Result<Vec<Subtask>, AskError> {
    let most = stages.limits.subtasks;
    if tasks.len() > most {
        stages.note_error(format!("{} subtasks are too many; only the first {most} are done", tasks.len()));
        tasks.truncate(most);
    }
    let numbered: Value = tasks.iter().zip(1..).map(|(task, id)| json!({"task": task, "id": id})).collect();
    let context = json!({"question": question, "tasks": numbered.to_string()});
    match stages.ask(Prompt::Topology, None, &context, replies::rows).await {
        Ok(rows) => {
            let (ordered, notes) = subtasks::topology(&tasks, &rows);
            notes.into_iter().for_each(|note| stages.note_error(note));
            Ok(ordered)
        }
        Err(error @ AskError::Unreadable { .. }) => {
            stages.note_error(format!("{error}; the subtasks run one after another"));
            Ok(subtasks::one_after_another(&tasks))
        }
        Err(error) => Err(error),
    }
}
