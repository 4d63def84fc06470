"""The types of what a server says and is asked, generated from its OpenAPI document; ``tests/generate.py`` makes them.

Everything is the JSON itself: a ``TypedDict`` costs no conversion, keeps fields of newer servers, and a type checker knows the kinds
of events apart by ``event["event"]``.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, TypeAlias, Union
from typing_extensions import NotRequired, TypedDict


class ActionEvent(TypedDict):
    """
    What an agent calls in a round.
    """

    at_ms: int
    event: Literal["action"]
    input: str
    run_id: str
    seq: int
    step: int
    tool: str


AnyJson: TypeAlias = Any


AnyObject: TypeAlias = dict[str, Any]
"""
A JSON object with any members.
"""


class ApprovalGivenEvent(TypedDict):
    """
    Somebody decided about a task that waited, or nobody could.
    """

    always: NotRequired[bool]
    answer: NotRequired[str]
    approved: bool
    arguments: NotRequired[dict[str, AnyJson]]
    at_ms: int
    done: NotRequired[bool]
    event: Literal["approval_given"]
    id: int
    run_id: str
    seq: int
    tool: str


class ApprovalReply(TypedDict):
    """
    The decision was taken.
    """

    approved: bool
    run_id: str
    task: int


class BudgetAsk(TypedDict):
    """
    The most that a run may take.
    """

    max_calls: NotRequired[Optional[int]]
    max_cost: NotRequired[Optional[float]]
    max_time_s: NotRequired[Optional[float]]
    max_tokens: NotRequired[Optional[int]]


class BudgetEvent(TypedDict):
    """
    A bound of the budget is used up: nothing new starts from here on.
    """

    at_ms: int
    bound: str
    event: Literal["budget"]
    most: str
    run_id: str
    seq: int
    used: str


class CancelReply(TypedDict):
    """
    Result of asking to cancel a run.
    """

    cancelled: bool
    run_id: str


class Candidate(TypedDict):
    """
    A model that could perform a task, on one host.
    """

    effective_task: str
    host: str
    id: str


class Check(TypedDict):
    """
    Whether one thing that the pipeline needs works.
    """

    detail: NotRequired[Optional[str]]
    name: str
    ok: bool


class ChosenModel(TypedDict):
    """
    A model and why it was chosen.
    """

    hosted_on: NotRequired[str]
    id: str
    reason: str


class ConversationReply(TypedDict):
    """
    The reply to a request that is conversation.
    """

    message: str


DecisionFormat: TypeAlias = Literal["config", "pipeline"]


DecisionStatus: TypeAlias = Literal["selected_not_executed", "unavailable"]


class DecisionSummary(TypedDict):
    """
    How many tasks have a model.
    """

    tasks_unavailable: int
    tasks_with_selections: int
    total_tasks: int


class Detail(TypedDict):
    """
    One of the things that are wrong with a plan.
    """

    field: str
    hint: NotRequired[Optional[str]]
    message: str
    task: NotRequired[Optional[str]]


class Details1(TypedDict):
    """
    The version that the server has; 0 where it has none.
    """

    version: int


Details: TypeAlias = Union[list[Detail], Details1]


Effect: TypeAlias = Literal["reads", "writes", "destroys"]


class ErrorEvent(TypedDict):
    """
    The run ended without an answer.
    """

    at_ms: int
    code: str
    event: Literal["error"]
    hint: NotRequired[str]
    message: str
    ms: int
    run_id: str
    seq: int


class ErrorFields(TypedDict):
    """
    What went wrong.
    """

    code: str
    details: NotRequired[Optional[Details]]
    hint: NotRequired[Optional[str]]
    message: str
    param: NotRequired[Optional[str]]
    type: str


class Fault(TypedDict):
    """
    Why a task of a plan cannot run.
    """

    kind: str
    message: str


class HostedModel(TypedDict):
    """
    A model and where it runs.
    """

    hosted_on: str
    id: str


JsonSchema: TypeAlias = dict[str, Any]
"""
A JSON Schema, as an object with any of its keywords.
"""


class KeptItem(TypedDict):
    """
    One thing that the server keeps.
    """

    until: str
    what: str
    where: str


Language: TypeAlias = Literal["en", "ru", "zh"]


class LoadedModel(TypedDict):
    """
    A model that is in memory now.
    """

    id: str
    idle_s: int
    memory: int
    task: str
    users: int


MappedEvent = TypedDict(
    "MappedEvent",
    {
        "at_ms": int,
        "event": Literal["mapped"],
        "from": str,
        "run_id": str,
        "seq": int,
        "task": int,
        "to": str,
    },
)


MappedType = TypedDict(
    "MappedType",
    {
        "from": str,
        "to": str,
    },
)


ModelChoice: TypeAlias = Union[ChosenModel, str]


class ModelLine(TypedDict):
    """
    A model.
    """

    configured: bool
    description: str
    host: str
    id: str
    likes: int
    task: str


class Money(TypedDict):
    """
    An amount of money.
    """

    amount: float
    currency: str


class MustCall1(TypedDict):
    """
    The one of this name.
    """

    named: str


MustCall: TypeAlias = Union[Literal["any"], MustCall1]


NoteLevel: TypeAlias = Literal["info", "warning"]


class ObservationEvent(TypedDict):
    """
    What came back to the agent.
    """

    at_ms: int
    event: Literal["observation"]
    images: NotRequired[list[str]]
    run_id: str
    seq: int
    step: int
    text: str


OneOrMany: TypeAlias = Union[str, list[str]]


class ParamLine(TypedDict):
    """
    What a task type takes.
    """

    description: NotRequired[str]
    kind: str
    name: str
    required: bool
    schema: NotRequired[JsonSchema]


PipelineLinks = TypedDict(
    "PipelineLinks",
    {
        "downstreams": list[str],
        "inputs_from_upstreams": list[str],
        "outputs_for_downstreams": list[str],
        "sample-reasoning": dict[str, str],
    },
)


PipelineTask = TypedDict(
    "PipelineTask",
    {
        "downstreams": list[str],
        "id": str,
        "inputs_from_upstreams": list[str],
        "model-chosen-reason": str,
        "model_id": str,
        "outputs_for_downstreams": list[str],
        "sample-reasoning": dict[str, str],
        "upstreams": list[str],
    },
)


PlannedPipelineTask = TypedDict(
    "PlannedPipelineTask",
    {
        "downstreams": list[str],
        "id": str,
        "inputs_from_upstreams": list[str],
        "outputs_for_downstreams": list[str],
        "sample-reasoning": dict[str, str],
        "upstreams": list[str],
    },
)


class QuestionArguments(TypedDict):
    """
    What is asked.
    """

    question: str


class QueuedEvent(TypedDict):
    """
    The run waits until another has ended.
    """

    ahead: int
    at_ms: int
    event: Literal["queued"]
    run_id: str
    seq: int


Rating: TypeAlias = Literal["good", "bad"]


class RatingAsk(TypedDict, closed=True):
    """
    What is said of a run.
    """

    rating: Rating


class RatingReply(TypedDict):
    """
    The run is rated.
    """

    rating: Rating
    run_id: str


class Reach(TypedDict):
    """
    Where a kind of work may send what it is given, as configured.
    """

    hosts: list[str]
    kind: str


class RemovedDataReply(TypedDict):
    """
    What was removed.
    """

    chats: int
    experience: int
    going_on: int
    media: int
    plans: int
    runs: int


class RemovedReply(TypedDict):
    """
    A run that was removed.
    """

    deleted: bool
    media: int
    run_id: str


class RemovedRunsReply(TypedDict):
    """
    Runs that were removed.
    """

    deleted: int
    media: int


class ReplyForm(TypedDict):
    """
    The form that a reply is to have.
    """

    frequency_penalty: NotRequired[float]
    max_tokens: NotRequired[int]
    must_call: NotRequired[MustCall]
    presence_penalty: NotRequired[float]
    schema: NotRequired[list[AnyJson]]
    stop: NotRequired[list[str]]
    temperature: NotRequired[float]
    top_p: NotRequired[float]


ResourceKind: TypeAlias = Literal["text", "image", "audio", "video", "json"]


class ResourceSource1(TypedDict):
    """
    The text itself.
    """

    inline: str


class ResourceSource2(TypedDict):
    """
    A file of the server, such as `/images/ab12.png`.
    """

    public: str


class ResourceSource3(TypedDict):
    """
    A web address.
    """

    url: str


ResourceSource: TypeAlias = Union[ResourceSource1, ResourceSource2, ResourceSource3]


class ResultAttempt(TypedDict):
    """
    One try of one model.
    """

    error: Optional[str]
    host: str
    id: str


ResumeReply = TypedDict(
    "ResumeReply",
    {
        "from": NotRequired[Optional[str]],
        "run_id": str,
    },
)


ResumedEvent = TypedDict(
    "ResumedEvent",
    {
        "at_ms": int,
        "event": Literal["resumed"],
        "from": NotRequired[str],
        "from_task": NotRequired[int],
        "ran_ms": int,
        "run_id": str,
        "seq": int,
        "steps": int,
    },
)


RetryAsk = TypedDict(
    "RetryAsk",
    {
        "from": NotRequired[Optional[int]],
    },
    closed=True,
)


RunFile = TypedDict(
    "RunFile",
    {
        "from": int,
        "kind": ResourceKind,
        "name": str,
        "path": Optional[str],
        "url": str,
    },
)


class RunGone(TypedDict):
    """
    That a run is not there.
    """

    run_id: str


class RunLine(TypedDict):
    """
    A run in a line.
    """

    failed: int
    ms: int
    ok: int
    request: str
    resumable: NotRequired[bool]
    run_id: str
    started_at_ms: int
    status: str
    tasks: int
    user: NotRequired[str]


class RunsReply(TypedDict):
    """
    A page of runs.
    """

    next: NotRequired[Optional[str]]
    runs: list[RunLine]


class RunsSseEvent(TypedDict):
    """
    A server-sent event of one of several runs.
    """

    data: str
    event: str
    id: NotRequired[str]


Said: TypeAlias = Literal[
    "approve", "approve_always", "refuse", "retry", "done", "skip"
]


ScenarioAsk = TypedDict(
    "ScenarioAsk",
    {
        "objects-seen": NotRequired[Optional[OneOrMany]],
        "sample-description": str,
    },
)


class Selection(TypedDict):
    """
    The model chosen for a task, and the ranked fallbacks.
    """

    chosen: Candidate
    fallbacks: list[Candidate]
    notes: NotRequired[list[str]]
    reason: str
    task: int


Speaker: TypeAlias = Literal["user", "assistant", "system"]


class Spent(TypedDict):
    """
    A bound of the budget that is used up.
    """

    bound: str
    most: str
    used: str


class SseEvent(TypedDict):
    """
    A server-sent event of a run.
    """

    data: str
    event: str
    id: str


class StageUsage(TypedDict):
    """
    Calls and tokens of one stage.
    """

    cached_tokens: NotRequired[int]
    calls: int
    completion_tokens: int
    cost: NotRequired[float]
    estimated: NotRequired[bool]
    prompt_tokens: int


class StartedReply(TypedDict):
    """
    A run that goes on by itself.
    """

    events: str
    run_id: str
    status: str


class StoredReply(TypedDict):
    """
    How much is kept.
    """

    chats: int
    experience: int
    file_bytes: int
    files: int
    plans: int
    run_bytes: int
    runs: int


class SuggestedModel(TypedDict):
    """
    A model that would serve what nothing serves yet.
    """

    about: str
    bytes: NotRequired[Optional[int]]
    fits: bool
    is_estimate: bool
    license: NotRequired[Optional[str]]
    name: str
    repo: str
    tasks: list[str]


class Taken(TypedDict):
    """
    What was taken of something that is bounded.
    """

    most: float
    used: NotRequired[Optional[float]]


class Task(TypedDict):
    """
    One node of a plan.
    """

    args: dict[str, AnyJson]
    dep: list[int]
    faults: NotRequired[list[Fault]]
    id: int
    mapped_from: NotRequired[str]
    task: str
    unfolded_from: NotRequired[int]


class TaskError(TypedDict):
    """
    Why a task did not succeed.
    """

    code: str
    hint: NotRequired[str]
    message: str


TaskKey: TypeAlias = Union[int, str]


class TaskLine(TypedDict):
    """
    A task type.
    """

    args: list[str]
    description: str
    inputs: list[str]
    name: str
    outputs: list[str]
    params: list[ParamLine]


TaskResult = TypedDict(
    "TaskResult",
    {
        "attempts": NotRequired[list[ResultAttempt]],
        "choose model result": ModelChoice,
        "effective_task": NotRequired[str],
        "inference result": AnyJson,
        "notes": NotRequired[list[str]],
        "task": Task,
    },
)


class TaskStartedEvent(TypedDict):
    """
    A task's inputs are there and its worker starts.
    """

    at_ms: int
    event: Literal["task_started"]
    id: int
    model: str
    run_id: str
    seq: int
    task: str


TaskStatus: TypeAlias = Literal["succeeded", "failed", "skipped", "cancelled"]


TasksReply: TypeAlias = Union[list[Task], ConversationReply]


class TextOutput(TypedDict):
    """
    A text that a task made.
    """

    kind: ResourceKind
    text: str


class ThoughtEvent(TypedDict):
    """
    What an agent thought in a round, before it acts or answers.
    """

    at_ms: int
    event: Literal["thought"]
    run_id: str
    seq: int
    step: int
    text: str


class Thread(TypedDict):
    """
    Place of a request among others of a client, in the client's words.
    """

    id: NotRequired[str]
    message: NotRequired[str]


class Today(TypedDict):
    """
    What the runs of a user took of their budget of this day (UTC): each thing that it bounds.
    """

    calls: NotRequired[Optional[Taken]]
    cost: NotRequired[Optional[Taken]]
    ends_in_s: int
    tokens: NotRequired[Optional[Taken]]


class TokenEvent(TypedDict):
    """
    A piece of the answer, while it is being written. The journal keeps none.
    """

    at_ms: int
    event: Literal["token"]
    piece: int
    run_id: str
    seq: int
    text: str


ToolApproval: TypeAlias = Literal["not_needed", "approved", "new", "changed"]


class ToolCall(TypedDict):
    """
    A call of a tool of the caller's.
    """

    arguments: str
    name: str
    result: NotRequired[str]


class TrialAsk(TypedDict):
    """
    What to try of the planning prompt.
    """

    few_shot_categories: NotRequired[Optional[list[int]]]
    num_few_shot_examples_per_category: NotRequired[Optional[int]]
    test_category_index: int
    test_example_index: NotRequired[Optional[int]]


class TrialCategory(TypedDict):
    """
    A category of examples.
    """

    index: int
    name: str


class TrialInfo(TypedDict):
    """
    Which example was tried, with which others shown.
    """

    few_shot_categories: list[TrialCategory]
    num_few_shot_examples: int
    test_category: str
    test_category_index: int
    test_example_id: str
    test_example_index: int


class TrialScenario(TypedDict):
    """
    What was to be planned.
    """

    description: str
    objects_seen: list[str]


class Turn(TypedDict):
    """
    One message of a conversation.
    """

    calls: NotRequired[list[ToolCall]]
    content: str
    role: Speaker


class UploadForm(TypedDict):
    """
    An upload.
    """

    file: list[bytes]


class Usage(TypedDict):
    """
    Model calls and tokens, in all and by stage.
    """

    by_stage: dict[str, StageUsage]
    calls: dict[str, int]
    completion_tokens: int
    cost: Optional[Money]
    prompt_tokens: int
    unpriced: NotRequired[list[str]]


class ValueOutput(TypedDict):
    """
    Data that a task made.
    """

    kind: ResourceKind
    value: AnyJson


AnswerResource = TypedDict(
    "AnswerResource",
    {
        "from": int,
        "kind": ResourceKind,
        "name": str,
        "path": NotRequired[str],
        "url": str,
    },
)


class Approval(TypedDict):
    """
    A call that waits for approval.
    """

    answer: NotRequired[str]
    arguments: dict[str, AnyJson]
    each: NotRequired[bool]
    effect: Effect
    resumes: NotRequired[bool]
    sources: dict[str, str]
    task: int
    tool: str
    unknown: NotRequired[bool]


class ApprovalAsk(TypedDict, closed=True):
    """
    An answer.
    """

    arguments: NotRequired[Optional[AnyObject]]
    decision: Said
    reason: NotRequired[Optional[str]]


class ApprovalNeededEvent(TypedDict):
    """
    A task would change something, and waits for approval.
    """

    answer: NotRequired[str]
    arguments: dict[str, AnyJson]
    at_ms: int
    each: NotRequired[bool]
    effect: Effect
    event: Literal["approval_needed"]
    resumes: NotRequired[bool]
    run_id: str
    seq: int
    sources: dict[str, str]
    task: int
    tool: str
    unknown: NotRequired[bool]


class Attachment(TypedDict):
    """
    A file, text or address that goes with a request: exactly one of `path`, `text` and `url`.
    """

    kind: ResourceKind
    name: NotRequired[Optional[str]]
    path: NotRequired[Optional[str]]
    text: NotRequired[Optional[str]]
    url: NotRequired[Optional[str]]


class Attempt(TypedDict):
    """
    One try of one model at a task.
    """

    candidate: Candidate
    error: Optional[TaskError]
    ms: int


class CallersTool(TypedDict):
    """
    A tool that the caller performs.
    """

    description: NotRequired[str]
    name: str
    schema: JsonSchema


DecidedResult = TypedDict(
    "DecidedResult",
    {
        "available_candidates_count": NotRequired[int],
        "choose model result": ChosenModel,
        "hosted_on": NotRequired[str],
        "selected_model_id": NotRequired[str],
        "status": DecisionStatus,
        "task": Task,
    },
)


class DoneEvent(TypedDict):
    """
    The run ended with an answer.
    """

    at_ms: int
    cancelled: NotRequired[bool]
    event: Literal["done"]
    ms: int
    ok: bool
    run_id: str
    seq: int
    usage: Usage


class ErrorBody(TypedDict):
    """
    The body of every error.
    """

    error: ErrorFields


class ExecutionLevel(TypedDict):
    """
    Tasks that may run at once.
    """

    level: int
    parallel: bool
    tasks: list[TaskKey]


class ExecutionTask(TypedDict):
    """
    A task of a plan to execute.
    """

    alternatives: NotRequired[list[HostedModel]]
    args: dict[str, AnyJson]
    dependencies: list[TaskKey]
    effective_task: NotRequired[str]
    execution_level: Optional[int]
    hosted_on: NotRequired[Optional[str]]
    mapped_from: NotRequired[str]
    model_id: str
    model_reason: str
    pipeline: NotRequired[PipelineLinks]
    task_id: TaskKey
    task_type: str
    unfolded_from: NotRequired[int]


class FileOutput(TypedDict):
    """
    A file that a task made.
    """

    kind: ResourceKind
    path: Optional[str]
    url: str


class GivenTask(TypedDict):
    """
    A task of a plan that a caller brings. Members that are not listed are ignored.
    """

    alternatives: NotRequired[Optional[list[HostedModel]]]
    args: NotRequired[dict[str, AnyJson]]
    dependencies: NotRequired[Optional[list[TaskKey]]]
    hosted_on: NotRequired[Optional[str]]
    model_id: NotRequired[Optional[str]]
    model_reason: NotRequired[Optional[str]]
    task_id: NotRequired[Optional[TaskKey]]
    task_type: str


class Kept(TypedDict):
    """
    What the server keeps of requests until somebody deletes it.
    """

    chats: bool
    files: bool
    folder: NotRequired[Optional[str]]
    items: list[KeptItem]
    journal: bool
    logs: bool
    plans: int
    until: str


class KeptModel(TypedDict):
    """
    A model on this machine.
    """

    bytes: int
    id: str
    license: NotRequired[Optional[str]]
    loaded: NotRequired[Optional[LoadedModel]]
    name: str
    tasks: list[str]


class LocalModels(TypedDict):
    """
    The models of this machine.
    """

    kept: list[KeptModel]
    pulls: bool
    suggested: list[SuggestedModel]


class MeReply(TypedDict):
    """
    The caller.
    """

    may: list[str]
    oldest_ms: NotRequired[Optional[int]]
    stored: StoredReply
    today: NotRequired[Optional[Today]]
    user: NotRequired[Optional[str]]


class Message(TypedDict):
    """
    One message of a conversation.
    """

    content: str
    role: Speaker


class ModelCallEvent(TypedDict):
    """
    A model call ended.
    """

    at_ms: int
    cached_tokens: NotRequired[int]
    completion_tokens: int
    cost: NotRequired[Money]
    estimated: NotRequired[bool]
    event: Literal["model_call"]
    given_up: NotRequired[bool]
    instead_of: NotRequired[str]
    key: NotRequired[str]
    model: str
    ms: int
    ok: bool
    prompt_tokens: int
    provider: NotRequired[str]
    reply: str
    run_id: str
    seq: int
    stage: str
    taken_over: NotRequired[bool]
    task: NotRequired[int]
    whole: NotRequired[AnyJson]


class ModelChosenEvent(TypedDict):
    """
    A model was chosen for a task.
    """

    at_ms: int
    event: Literal["model_chosen"]
    run_id: str
    selection: Selection
    seq: int
    weights: NotRequired[str]


class ModelSelection(TypedDict):
    """
    The model chosen for a task.
    """

    available_candidates: Optional[int]
    hosted_on: Optional[str]
    reason: str
    selected_model: Optional[str]
    status: DecisionStatus
    task: Task


class ModelsReply(TypedDict):
    """
    The models and task types that the server knows.
    """

    models: list[ModelLine]
    tasks: list[TaskLine]


class NoteEvent(TypedDict):
    """
    Something worth saying that is none of the above.
    """

    at_ms: int
    event: Literal["note"]
    level: NoteLevel
    message: str
    run_id: str
    seq: int


class OfferedTool(TypedDict):
    """
    A tool.
    """

    approval: ToolApproval
    description: str
    effect: Effect
    inputs: JsonSchema
    kind: str
    name: str
    server: NotRequired[Optional[str]]


class Outcome(TypedDict):
    """
    How a task ended, with everything that led there.
    """

    args: dict[str, AnyJson]
    attempts: list[Attempt]
    error: Optional[TaskError]
    id: int
    inference: AnyJson
    made_up_for: NotRequired[bool]
    ms: int
    notes: NotRequired[list[str]]
    selection: Optional[Selection]
    status: TaskStatus
    task: str


class Plan(TypedDict):
    """
    A checked task graph.
    """

    left_out: NotRequired[list[str]]
    more: NotRequired[bool]
    notes: list[str]
    tasks: list[Task]


class PlanEvent(TypedDict):
    """
    The plan stands.
    """

    at_ms: int
    event: Literal["plan"]
    plan: Plan
    run_id: str
    seq: int


class PlanGrewEvent(TypedDict):
    """
    The plan has more tasks: it is still being written, or was planned on.
    """

    at_ms: int
    event: Literal["plan_grew"]
    notes: NotRequired[list[str]]
    round: int
    run_id: str
    seq: int
    tasks: list[Task]
    why: str


class Question(TypedDict):
    """
    A question of the planner's to the person.
    """

    arguments: QuestionArguments
    task: int
    tool: str


class Resource(TypedDict):
    """
    A text, image, audio, video or data.
    """

    kind: ResourceKind
    name: NotRequired[str]
    source: ResourceSource


ResultsReply: TypeAlias = Union[dict[str, TaskResult], ConversationReply]


class RunAnswer(TypedDict):
    """
    The answer of a run.
    """

    notes: NotRequired[list[str]]
    resources: list[RunFile]
    text: str


RunOutput: TypeAlias = Union[FileOutput, TextOutput, ValueOutput]


class RunPlan(TypedDict):
    """
    The plan of a run.
    """

    more: NotRequired[bool]
    notes: list[str]
    tasks: list[Task]


class TaskAttemptEvent(TypedDict):
    """
    A model failed at a task; the next candidate, if there is one, follows.
    """

    at_ms: int
    attempt: Attempt
    event: Literal["task_attempt"]
    id: int
    run_id: str
    seq: int


TaskEdge = TypedDict(
    "TaskEdge",
    {
        "from": TaskKey,
        "to": TaskKey,
    },
)


class TaskFinishedEvent(TypedDict):
    """
    A task ended.
    """

    at_ms: int
    event: Literal["task_finished"]
    outcome: Outcome
    run_id: str
    seq: int


class TaskGraph(TypedDict):
    """
    A plan as a graph.
    """

    edges: list[TaskEdge]
    nodes: list[TaskKey]


class ToolsReply(TypedDict):
    """
    The tools.
    """

    tools: list[OfferedTool]
    warnings: list[str]


class TrialReply(TypedDict):
    """
    What was planned for an example, beside what would be right.
    """

    generated_tasks: list[PlannedPipelineTask]
    ground_truth_tasks: list[PlannedPipelineTask]
    prompt_logs_directory: NotRequired[str]
    test_info: TrialInfo
    test_scenario: TrialScenario
    warnings: NotRequired[list[str]]


class Uploaded(Attachment):
    """
    A file that was taken in.
    """

    bytes: int


class WaitingReply(TypedDict):
    """
    A run that waits until somebody allows what it would do.
    """

    run_id: str
    status: str
    waiting: list[Approval]


class Answer(TypedDict):
    """
    What is said back: text, the files that were made, and what each came from.
    """

    calls: NotRequired[list[ToolCall]]
    notes: NotRequired[list[str]]
    resources: list[AnswerResource]
    text: str


class AnswerEvent(TypedDict):
    """
    The answer stands.
    """

    answer: Answer
    at_ms: int
    event: Literal["answer"]
    run_id: str
    seq: int


class Ask(TypedDict):
    """
    A request, in the shape of the original's HTTP API. Fields that are not listed are ignored.
    """

    api_endpoint: NotRequired[Optional[str]]
    api_key: NotRequired[Optional[str]]
    attachments: NotRequired[list[Attachment]]
    budget: NotRequired[BudgetAsk]
    detached: NotRequired[bool]
    experience: NotRequired[Optional[bool]]
    messages: list[Message]
    model: NotRequired[Optional[str]]
    return_decisions: NotRequired[bool]


class DecideAsk(TypedDict):
    """
    A request for a decision: `messages`, as for an answer, or a `scenario`.
    """

    api_endpoint: NotRequired[Optional[str]]
    api_key: NotRequired[Optional[str]]
    attachments: NotRequired[list[Attachment]]
    experience: NotRequired[Optional[bool]]
    format: NotRequired[Optional[DecisionFormat]]
    messages: NotRequired[Optional[list[Message]]]
    scenario: NotRequired[Optional[ScenarioAsk]]


class Decisions(TypedDict):
    """
    What was decided for each task.
    """

    input: str
    model_selections: dict[str, ModelSelection]
    planned_tasks: list[Task]
    summary: DecisionSummary


class DecisionsReply(TypedDict):
    """
    The planned tasks and the chosen models.
    """

    decisions: Decisions
    raw_results: dict[str, DecidedResult]


class ExecutionConfig(TypedDict):
    """
    A plan to execute: which model is to perform which task, in which order.
    """

    dag: TaskGraph
    execution_order: list[ExecutionLevel]
    more: NotRequired[bool]
    tasks: list[ExecutionTask]
    total_tasks: int
    user_request: str
    warnings: NotRequired[list[str]]


class ExecutionConfigEvent(TypedDict):
    """
    The decisions stand; nothing was executed.
    """

    at_ms: int
    event: Literal["execution_config"]
    run_id: str
    seq: int
    value: ExecutionConfig


class GivenPlan(TypedDict):
    """
    A plan that a caller brings, as it was saved or edited. Members that are not listed are ignored; levels, edges and order are worked out
    anew.
    """

    more: NotRequired[Optional[bool]]
    tasks: list[GivenTask]
    user_request: NotRequired[Optional[str]]


GoingOnReply: TypeAlias = Union[WaitingReply, StartedReply]


class HealthReply(TypedDict):
    """
    How the server is.
    """

    auth: bool
    chat_models: list[str]
    checks: list[Check]
    kept: Kept
    may: list[str]
    model: str
    pipelines: list[str]
    planner: str
    reach: list[Reach]
    runs_live: int
    status: str
    tasks_loaded: int
    today: NotRequired[Optional[Today]]
    user: NotRequired[Optional[str]]
    version: str
    warnings: list[str]


class NewPlanAsk(TypedDict):
    """
    A plan to be carried out that was never saved.
    """

    attachments: NotRequired[Optional[list[Attachment]]]
    detached: NotRequired[Optional[bool]]
    execution_config: GivenPlan
    request: NotRequired[Optional[str]]


class PipelineDecision(TypedDict):
    """
    A decision in the form of a vision pipeline.
    """

    execution_config: ExecutionConfig
    execution_config_file: NotRequired[str]
    llm_calls: int
    mapped: NotRequired[list[MappedType]]
    plan_id: str
    prompt_logs_directory: NotRequired[str]
    tasks: list[PipelineTask]
    timing_ms: int
    usage: Usage
    warnings: NotRequired[list[str]]


class PlanAsk(TypedDict):
    """
    A plan to be carried out, as it was saved or edited.
    """

    attachments: NotRequired[list[Attachment]]
    detached: NotRequired[bool]
    execution_config: NotRequired[Optional[GivenPlan]]
    request: NotRequired[Optional[str]]


class Request(TypedDict):
    """
    What a person asked: text, attachments, earlier turns.
    """

    after: NotRequired[list[Turn]]
    attachments: list[Resource]
    budget: NotRequired[BudgetAsk]
    form: NotRequired[ReplyForm]
    history: list[Turn]
    results: NotRequired[list[str]]
    text: str
    thread: NotRequired[Thread]
    tools: NotRequired[list[CallersTool]]
    without_experience: NotRequired[bool]


class RunOutcome(TypedDict):
    """
    How a task ended, in short.
    """

    effective_task: NotRequired[str]
    error: Optional[TaskError]
    host: Optional[str]
    id: int
    made_up_for: NotRequired[bool]
    model: Optional[str]
    ms: int
    notes: NotRequired[list[str]]
    outputs: list[RunOutput]
    reason: Optional[str]
    status: TaskStatus
    task: str


class RunStartedEvent(TypedDict):
    """
    The run began.
    """

    at_ms: int
    door: NotRequired[str]
    event: Literal["run_started"]
    given: NotRequired[AnyJson]
    model: str
    pipeline: NotRequired[str]
    planner: str
    request: Request
    run_id: str
    seq: int
    settings: NotRequired[dict[str, str]]
    user: NotRequired[str]


class SavedPlan(TypedDict):
    """
    A saved plan: which model is to perform which task, in which order.
    """

    execution_config: ExecutionConfig


class UploadReply(Uploaded):
    """
    Files that were taken in. The first one's fields stand at the top too.
    """

    files: list[Uploaded]


class ConfigDecision(TypedDict):
    """
    A decision with its plan to execute.
    """

    decisions: Decisions
    description: NotRequired[str]
    execution_config: ExecutionConfig
    execution_config_file: NotRequired[str]
    llm_calls: int
    message: str
    plan_id: str
    prompt_logs_directory: NotRequired[str]
    raw_results: NotRequired[dict[str, DecidedResult]]
    timing_ms: int
    usage: Usage
    warnings: NotRequired[list[str]]


DecisionReply: TypeAlias = Union[ConfigDecision, PipelineDecision]


Event: TypeAlias = Union[
    QueuedEvent,
    RunStartedEvent,
    ResumedEvent,
    ModelCallEvent,
    PlanEvent,
    PlanGrewEvent,
    BudgetEvent,
    MappedEvent,
    ModelChosenEvent,
    ExecutionConfigEvent,
    ApprovalNeededEvent,
    ApprovalGivenEvent,
    TaskStartedEvent,
    TaskAttemptEvent,
    TaskFinishedEvent,
    ThoughtEvent,
    ActionEvent,
    ObservationEvent,
    TokenEvent,
    AnswerEvent,
    NoteEvent,
    DoneEvent,
    ErrorEvent,
]


class RunDocument(TypedDict):
    """
    A whole run: plan, outcomes, results, answer and usage.
    """

    answer: RunAnswer
    budget: NotRequired[Spent]
    language: Language
    model: str
    ms: int
    not_done: NotRequired[list[str]]
    ok: bool
    outcomes: list[RunOutcome]
    plan: RunPlan
    planner: str
    reason: NotRequired[str]
    request: str
    results: dict[str, TaskResult]
    rounds: NotRequired[int]
    run_id: str
    usage: Usage
    waiting: NotRequired[Question]


class RunReply(RunLine):
    """
    A run with everything that happened in it.
    """

    events: list[Event]
    waiting: NotRequired[list[Approval]]


RunsEvent: TypeAlias = Union[Event, RunGone]


class AnswerReply(TypedDict):
    """
    An answer in the shape of the original's HTTP API, with the run beside it.
    """

    message: str
    run: RunDocument


AnswerOrDecisions: TypeAlias = Union[AnswerReply, DecisionsReply]
