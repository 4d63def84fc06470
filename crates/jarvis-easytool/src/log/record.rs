//! What is written about one question.

use jarvis_prompt::literal::Literal;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every subtask has an accepted answer.
    #[default]
    Succeeded,
    /// Some subtask, or a stage around them, failed; what there is was answered with.
    Partial,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subtask {
    pub task: String,
    /// Its number, from 1.
    pub id: i64,
    /// Numbers of the subtasks whose answers it needs; `[-1]` for none.
    pub dep: Vec<i64>,
}

impl Subtask {
    pub(crate) fn waits(&self) -> bool {
        self.dep.first() != Some(&-1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnsweredTask {
    pub task: String,
    pub answer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenApi {
    pub api_name: String,
    /// An object, or a list of objects when it was called several times.
    pub parameters: Literal,
}

/// What was executed, in lists that run parallel to the accepted answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ExecuteLog {
    pub api_result_ls: Vec<Vec<ChosenApi>>,
    /// ToolBench: the parameters of each accepted attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_ls: Option<Vec<Vec<Literal>>>,
    pub call_result_ls: Vec<String>,
    /// ToolBench: why a tool was thought to be needed or not, one a subtask.
    pub tool_check_reason_ls: Vec<Literal>,
    /// FuncQA: the instruction of the tool of each accepted attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_instruction_ls: Option<Vec<Literal>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    pub task_id: i64,
    /// Which attempt of the subtask, from 1.
    pub attempt: u32,
    pub tool_id: i64,
    pub tool: String,
    pub api: String,
    pub arguments: Literal,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// ToolBench's observation code; 0 for success.
    pub code: u8,
    /// How the parameters were faulty against the instruction: a required one missing, an unknown name, a wrong type.
    pub parameter_faults: Vec<String>,
    pub ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageCall {
    pub stage: String,
    /// The subtask, from 1; `None` for the question as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<i64>,
    /// Which attempt at a usable reply, from 1.
    pub attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Literal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub ms: u64,
    #[serde(skip)]
    pub hopeless: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolveRecord {
    /// Its number in the file, from 1.
    #[serde(rename = "ID")]
    pub id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_id: Option<Literal>,
    pub question: String,
    pub final_answer: String,
    pub subtask: Vec<Subtask>,
    pub answer_subtask: Vec<AnsweredTask>,
    pub answer_wrong: Vec<AnsweredTask>,
    /// 1 when the last stage finds the answer good, else −1.
    pub check_index: i8,
    pub execute_log: ExecuteLog,
    /// FuncQA: 0, for a person's verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<u8>,
    /// FuncQA: the full-precision result of the last accepted call, when it is a single number.
    pub final_value: Option<Literal>,
    pub status: Status,
    pub errors: Vec<String>,
    /// ToolBench with retrieval: the numbers of the tools found for each subtask, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retrieved: Vec<Vec<i64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gold_tools: Vec<i64>,
    pub calls: Vec<Call>,
    pub stage_trace: Vec<StageCall>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndpointChoice {
    #[serde(rename = "Task")]
    pub task: String,
    /// The endpoint's number, a list of numbers, or −1.
    #[serde(rename = "ID")]
    pub id: Literal,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RestRecord {
    /// Its number in the file, from 1.
    #[serde(rename = "ID")]
    pub id: u64,
    pub question: String,
    pub task_path: Vec<EndpointChoice>,
    pub tool_choice_ls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_index: Option<i8>,
    pub status: Status,
    pub errors: Vec<String>,
    pub calls: Vec<Call>,
    pub stage_trace: Vec<StageCall>,
}
