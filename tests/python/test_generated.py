"""A client that a generator makes of `/openapi.json`: made whole, and used."""

import importlib
import io
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from house import PATIENCE, events, picture

MODEL = "jarvis/hugginggpt"
SENTENCE = "what is the sentiment of: I love this house and its garden"

# What the generator is to read types of replies as that it does not know.
CONFIG = {
    "content_type_overrides": {
        "application/openmetrics-text; version=1.0.0; charset=utf-8": "text/plain",
        "application/x-ndjson": "text/plain",
        "application/zip": "application/octet-stream",
        "audio/wav": "application/octet-stream",
    },
    "post_hooks": [],
}


@pytest.fixture(scope="session")
def document(offline):
    return offline.http.get("/openapi.json").json()


@pytest.fixture(scope="session")
def package(document, tmp_path_factory):
    """The generated package. A part that is left out is a warning, and a warning is a failure."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    command = [
        Path(sys.executable).with_name("openapi-python-client"),
        *["generate", "--path", "openapi.json", "--config", "config.json"],
        *["--output-path", "jarvis_client", "--meta", "none", "--fail-on-warning"],
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield importlib.import_module("jarvis_client")
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def models(package):
    return importlib.import_module("jarvis_client.models")


@pytest.fixture(scope="session")
def operations(package):
    """The modules of the operations by their ids."""
    api = importlib.import_module("jarvis_client.api")
    found = pkgutil.walk_packages(api.__path__, "jarvis_client.api.")
    return {name.rsplit(".", 1)[1]: importlib.import_module(name) for _, name, is_package in found if not is_package}


@pytest.fixture(scope="session")
def call(package, operations, offline):
    """Calls an operation; what its reply is read as."""
    with package.Client(base_url=offline.url, timeout=PATIENCE, httpx_args={"trust_env": False}) as client:
        yield lambda operation, *args, **more: operations[operation].sync(*args, client=client, **more)


@pytest.fixture
def ask(models):
    return lambda text, **more: models.Ask(messages=[models.Message(role=models.Speaker.USER, content=text)], **more)


def test_every_operation_is_a_function(document, operations):
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert sorted(ids) == sorted(operations)


def test_a_run_is_typed_to_its_last_event(call, models, ask):
    reply = call("answer", body=ask(SENTENCE))
    assert isinstance(reply, models.AnswerReply), reply
    run = reply.run
    assert [task.task for task in run.plan.tasks] == ["text-classification"]
    assert [outcome.status for outcome in run.outcomes] == [models.TaskStatus.SUCCEEDED]
    assert run.answer.text == reply.message and run.usage.prompt_tokens == 0
    assert run.results["0"].task.task == "text-classification"
    listed = call("list_runs")
    assert run.run_id in [line.run_id for line in listed.runs]
    shown = call("get_run", run.run_id)
    assert shown.status == "done" and shown.run_id == run.run_id
    kinds = [type(event) for event in shown.events]
    assert kinds[0] is models.RunStartedEvent and kinds[-1] is models.DoneEvent, kinds
    plan = next(event.plan for event in shown.events if isinstance(event, models.PlanEvent))
    assert plan.tasks[0].args.additional_properties["text"]
    ended = next(event.outcome for event in shown.events if isinstance(event, models.TaskFinishedEvent))
    assert ended.selection.chosen.id == run.outcomes[0].model


def test_a_stream_is_read_with_the_same_types(offline, models, ask, document):
    names = {
        word: reference.rsplit("/", 1)[1]
        for word, reference in document["components"]["schemas"]["Event"]["discriminator"]["mapping"].items()
    }
    with offline.http.stream("POST", "/hugginggpt/stream", json=ask(SENTENCE).to_dict()) as reply:
        told = [getattr(models, names[kind]).from_dict(data) for kind, data in events(reply)]
    assert [event.seq for event in told if not isinstance(event, models.TokenEvent)][:2] == [0, 1]
    assert isinstance(told[-1], models.DoneEvent) and told[-1].ok


def test_a_file_goes_in_and_what_is_made_of_it_comes_out(call, models, package, ask):
    file = importlib.import_module("jarvis_client.types").File
    photo = picture()
    form = models.UploadForm(file=[file(payload=io.BytesIO(photo), file_name="photo.png", mime_type="image/png")])
    sent = call("upload_files", body=form)
    assert sent.kind is models.ResourceKind.IMAGE and sent.bytes_ == len(photo)
    assert call("get_image", Path(sent.path).name).payload.read() == photo
    attached = models.Attachment(kind=sent.kind, path=sent.path, name="photo.png")
    reply = call("answer", body=ask("find the edges of photo.png", attachments=[attached]))
    made = reply.run.answer.resources[0]
    assert made.kind is models.ResourceKind.IMAGE
    assert call("get_image", Path(made.url).name).payload.read().startswith(b"\x89PNG")


def test_a_plan_is_decided_kept_and_carried_out(call, models, ask):
    body = models.DecideAsk(messages=ask(SENTENCE).messages)
    decided = call("decide", body=body)
    assert isinstance(decided, models.ConfigDecision), decided
    assert decided.decisions.summary.tasks_with_selections == 1
    saved = call("get_plan", decided.plan_id)
    assert saved.execution_config == decided.execution_config
    task = saved.execution_config.tasks[0]
    given = models.GivenTask.from_dict({"task_id": 0, "task_type": task.task_type, "args": {"text": "I hate rain"}})
    ran = call("run_plan", body=models.NewPlanAsk(execution_config=models.GivenPlan(tasks=[given])))
    assert ran.run.outcomes[0].status is models.TaskStatus.SUCCEEDED, ran


def test_the_protocols_of_chat_are_typed_too(call, models):
    message = models.ChatMessage(role="user", content=SENTENCE)
    completed = call("create_chat_completion", body=models.ChatCompletionRequest(model=MODEL, messages=[message]))
    assert "positive" in completed.choices[0].message.content
    made = call("create_response", body=models.ResponsesRequest(model=MODEL, input_=SENTENCE))
    assert "positive" in made.output[0].content[0].text and made.status == "completed"


def test_a_refusal_is_typed(call, models):
    refused = call("get_run", "00000000-0000-7000-8000-000000000000")
    assert isinstance(refused, models.ErrorBody) and refused.error.code == "not_found"
