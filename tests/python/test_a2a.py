"""The official SDK of Agent2Agent against `jarvis serve`, over each of its bindings, and as a client of the version before."""

import asyncio
import base64
import json
import subprocess

import grpc
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.helpers.proto_helpers import get_artifact_text
from a2a.types import a2a_pb2 as types
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError
import httpx

from house import PATIENCE, ROOT, Jarvis, picture

MOOD = "tell the mood of: I love this house"
BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"]


@pytest.fixture(scope="module")
def agent():
    """A server of every binding."""
    with Jarvis("--llm", "offline", "--grpc", "127.0.0.1:0") as server:
        yield server


def speak(server, binding, conversation, **config):
    """Holds a conversation with the agent that the card of a server describes."""

    async def held():
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            if server.token:
                http.headers["authorization"] = f"Bearer {server.token}"
            factory = ClientFactory(
                ClientConfig(
                    httpx_client=http,
                    grpc_channel_factory=grpc.aio.insecure_channel,
                    supported_protocol_bindings=[binding],
                    **config,
                )
            )
            client = await factory.create_from_url(server.url)
            async with client:
                return await conversation(client)

    return asyncio.run(asyncio.wait_for(held(), 2 * PATIENCE))


def said(*parts, **more):
    message = types.Message(message_id="message", role=types.ROLE_USER, parts=parts, **more)
    return types.SendMessageRequest(message=message)


def text(words):
    return types.Part(text=words)


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_message_is_answered_as_it_goes_on(agent, binding):
    async def conversation(client):
        return [told async for told in client.send_message(said(text(MOOD), context_id="talk"))]

    first, *rest = speak(agent, binding, conversation)
    assert first.task.context_id == "talk" and first.task.id
    last = rest[-1].status_update
    assert (last.task_id, last.status.state) == (first.task.id, types.TASK_STATE_COMPLETED)
    made = [told.artifact_update.artifact for told in rest if told.HasField("artifact_update")]
    made += list(first.task.artifacts)
    answer = "".join(get_artifact_text(artifact) for artifact in made if artifact.artifact_id == "answer")
    assert "positive" in answer
    assert any(artifact.artifact_id == "task-1" for artifact in made)


@pytest.mark.parametrize("binding", BINDINGS)
def test_tasks_are_read_listed_and_not_cancelled_when_they_are_over(agent, binding):
    async def conversation(client):
        [sent] = [told async for told in client.send_message(said(text(MOOD), context_id=f"list {binding}"))]
        task = await client.get_task(types.GetTaskRequest(id=sent.task.id, history_length=0))
        listed = await client.list_tasks(types.ListTasksRequest(context_id=f"list {binding}"))
        with pytest.raises((TaskNotCancelableError, A2AClientError, A2AError)) as refused:
            await client.cancel_task(types.CancelTaskRequest(id=sent.task.id))
        with pytest.raises((TaskNotFoundError, A2AClientError, A2AError)) as missing:
            await client.get_task(types.GetTaskRequest(id="0198a0b0-0000-7000-8000-000000000000"))
        return sent.task, task, listed, refused.value, missing.value

    sent, task, listed, refused, missing = speak(agent, binding, conversation, streaming=False)
    assert sent.status.state == types.TASK_STATE_COMPLETED
    assert (task.id, len(task.history), len(task.artifacts)) == (sent.id, 0, 2)
    assert [one.id for one in listed.tasks] == [sent.id] and listed.total_size == 1
    assert isinstance(refused, TaskNotCancelableError), refused
    assert isinstance(missing, TaskNotFoundError), missing


@pytest.mark.parametrize("binding", BINDINGS)
def test_files_go_in_and_out(agent, binding):
    async def conversation(client):
        file = types.Part(raw=picture(), media_type="image/png", filename="square.png")
        request = said(text("find the edges of square.png"), file)
        [sent] = [told async for told in client.send_message(request)]
        return sent.task

    task = speak(agent, binding, conversation, streaming=False)
    assert task.status.state == types.TASK_STATE_COMPLETED, task
    files = [part for artifact in task.artifacts for part in artifact.parts if part.url]
    made = [part for part in files if part.media_type == "image/png"]
    assert made, task
    reply = httpx.get(made[0].url, timeout=PATIENCE, trust_env=False)
    assert reply.status_code == 200 and reply.content.startswith(b"\x89PNG")


@pytest.mark.parametrize("binding", BINDINGS[:2])
def test_whoever_has_the_token_sees_the_extended_card(guarded, binding):
    async def conversation(client):
        return await client.get_extended_agent_card(types.GetExtendedAgentCardRequest())

    open_card = httpx.get(f"{guarded.url}/.well-known/agent-card.json", trust_env=False).json()
    card = speak(guarded, binding, conversation)
    skills = {skill.id for skill in card.skills}
    assert {skill["id"] for skill in open_card["skills"]} < skills and "text-classification" in skills


def test_a_client_of_the_version_before_is_understood(agent):
    card = types.AgentCard(
        name="old",
        supported_interfaces=[
            types.AgentInterface(url=f"{agent.url}/a2a", protocol_binding="JSONRPC", protocol_version="0.3")
        ],
        capabilities=types.AgentCapabilities(streaming=True),
    )

    async def held():
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            file = types.Part(raw=base64.b64decode("eA=="), media_type="text/plain", filename="a.txt")
            told = [told async for told in client.send_message(said(text(MOOD), file))]
            task = next(one.task for one in told if one.HasField("task"))
            return told, await client.get_task(types.GetTaskRequest(id=task.id))

    told, task = asyncio.run(asyncio.wait_for(held(), 2 * PATIENCE))
    assert told[-1].status_update.status.state == types.TASK_STATE_COMPLETED
    assert task.status.state == types.TASK_STATE_COMPLETED and task.artifacts


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_the_javascript_sdk_speaks_with_it(agent, binding):
    if not (ROOT / "target/node/node_modules/@a2a-js").exists():
        pytest.skip("the npm packages of tests/node are not installed")
    script = ROOT / "tests/node/a2a.mjs"
    done = subprocess.run(
        ["node", str(script), agent.url, binding], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout)
    assert "positive" in came["answer"] and "positive" in came["streamed"]
    assert came["kinds"][0] == "task" and came["kinds"][-1] == "statusUpdate"
    assert came["read"] == types.TASK_STATE_COMPLETED
    assert came["refused"] == "TaskNotCancelableError"
