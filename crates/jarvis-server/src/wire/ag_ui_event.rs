//! The schema of the events of AG-UI that a run is told in.
#![allow(dead_code, reason = "only their schemas are used")]

use utoipa::ToSchema;

use super::run::Approval;
use super::schema::{AnyJson, AnyObject, JsonSchema, tagged};

tagged! {
    /// What happens in an exchange. The field `type` says which.
    AgUiEvent by "type" [#[schema(rename_all = "camelCase")]] {}

    /// The exchange began.
    "RUN_STARTED" AgUiRunStarted {
        thread_id: String,
        /// The exchange, as the client called it.
        run_id: String,
    }

    /// The state of the front end; what jarvis says of its run stands in it under `jarvis`.
    "STATE_SNAPSHOT" AgUiStateSnapshot {
        snapshot: AnyObject,
    }

    /// Changes of the state.
    "STATE_DELTA" AgUiStateDelta {
        delta: Vec<JsonPatch>,
    }

    /// The plan.
    "ACTIVITY_SNAPSHOT" AgUiActivitySnapshot {
        message_id: String,
        /// `PLAN`.
        activity_type: String,
        content: AgUiPlan,
    }

    /// Changes of the plan.
    "ACTIVITY_DELTA" AgUiActivityDelta {
        message_id: String,
        /// `PLAN`.
        activity_type: String,
        patch: Vec<JsonPatch>,
    }

    /// A task began.
    "STEP_STARTED" AgUiStepStarted {
        /// Number and task type.
        step_name: String,
    }

    /// A task ended.
    "STEP_FINISHED" AgUiStepFinished {
        /// Number and task type.
        step_name: String,
    }

    /// A tool is called for a task.
    "TOOL_CALL_START" AgUiToolCallStart {
        tool_call_id: String,
        /// The task type or tool.
        tool_call_name: String,
    }

    /// The arguments of a call.
    "TOOL_CALL_ARGS" AgUiToolCallArgs {
        tool_call_id: String,
        /// JSON, as text.
        delta: String,
    }

    /// The arguments of a call are whole.
    "TOOL_CALL_END" AgUiToolCallEnd {
        tool_call_id: String,
    }

    /// What a call gave.
    "TOOL_CALL_RESULT" AgUiToolCallResult {
        message_id: String,
        tool_call_id: String,
        /// The result or the error, as text.
        content: String,
        /// `tool`.
        role: String,
    }

    /// The answer begins.
    "TEXT_MESSAGE_START" AgUiTextMessageStart {
        message_id: String,
        /// `assistant`.
        role: String,
    }

    /// More of the answer.
    "TEXT_MESSAGE_CONTENT" AgUiTextMessageContent {
        message_id: String,
        /// What is new.
        delta: String,
    }

    /// The answer is whole.
    "TEXT_MESSAGE_END" AgUiTextMessageEnd {
        message_id: String,
    }

    /// A thought of an agent follows.
    "REASONING_START" AgUiReasoningStart {
        message_id: String,
    }

    /// A thought begins.
    "REASONING_MESSAGE_START" AgUiReasoningMessageStart {
        message_id: String,
        /// `reasoning`.
        role: String,
    }

    /// The thought.
    "REASONING_MESSAGE_CONTENT" AgUiReasoningMessageContent {
        message_id: String,
        /// Its text.
        delta: String,
    }

    /// A thought is whole.
    "REASONING_MESSAGE_END" AgUiReasoningMessageEnd {
        message_id: String,
    }

    /// The thought has ended.
    "REASONING_END" AgUiReasoningEnd {
        message_id: String,
    }

    /// A note of the run.
    "CUSTOM" AgUiCustom {
        /// `note`.
        name: String,
        /// Of a note its `level` and `message`.
        value: AnyJson,
    }

    /// The exchange ended: with an answer, or because the run waits.
    "RUN_FINISHED" AgUiRunFinished {
        thread_id: String,
        /// The exchange, as the client called it.
        run_id: String,
        outcome: AgUiOutcome,
        #[schema(required = false)]
        result: AgUiResult,
        /// Tokens of all model calls.
        #[schema(required = false)]
        usage: Vec<AgUiUsage>,
    }

    /// The exchange failed.
    "RUN_ERROR" AgUiRunError {
        /// What happened, and what to try.
        message: String,
        /// A stable word.
        code: String,
    }
}

/// A change of a JSON document (RFC 6902).
#[derive(ToSchema)]
pub(crate) struct JsonPatch {
    /// `add` or `replace`.
    op: String,
    /// A JSON pointer.
    path: String,
    /// What stands there now.
    value: AnyJson,
}

/// A plan as it is shown.
#[derive(ToSchema)]
pub(crate) struct AgUiPlan {
    steps: Vec<AgUiStep>,
}

/// A task as it is shown.
#[derive(ToSchema)]
pub(crate) struct AgUiStep {
    /// From 1.
    id: u32,
    /// The task type or tool.
    description: String,
    /// `pending`, `running`, `done`, `failed`, `skipped` or `cancelled`.
    status: String,
}

/// How an exchange ended.
#[derive(ToSchema)]
pub(crate) struct AgUiOutcome {
    /// `success`, `interrupt` or `cancelled`.
    #[schema(rename = "type")]
    kind: String,
    /// What the run waits for.
    #[schema(required = false)]
    interrupts: Vec<AgUiInterrupt>,
}

/// What a run waits for.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct AgUiInterrupt {
    /// Names it for the answer.
    id: String,
    /// `tool_approval`, or `input_required` for a question.
    reason: String,
    /// The question.
    message: String,
    /// What an answer looks like.
    response_schema: JsonSchema,
    metadata: AgUiMetadata,
    /// The call that waits.
    #[schema(required = false)]
    tool_call_id: String,
}

/// More about what a run waits for.
#[derive(ToSchema)]
pub(crate) struct AgUiMetadata {
    jarvis: Approval,
}

/// What came of a run.
#[derive(ToSchema)]
pub(crate) struct AgUiResult {
    run_id: String,
    /// Whether the request was carried out.
    ok: bool,
}

/// Tokens of a run.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct AgUiUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}
