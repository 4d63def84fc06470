"""The official SDK of the Model Context Protocol against `jarvis serve` and `jarvis mcp`, in both generations."""

import asyncio
import base64
import os
import tempfile

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from house import BINARY, PATIENCE, picture

MOOD = "tell the mood of: I love this house"
MODES = ["legacy", "auto", "2026-07-28"]


@pytest.fixture
def program():
    """How a client starts `jarvis mcp`, with its data in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="jarvis-mcp-") as folder:
        yield StdioServerParameters(
            command=str(BINARY),
            args=["mcp", "--llm", "offline", "--data-dir", folder],
            env={"PATH": os.environ.get("PATH", ""), "HOME": folder},
            cwd=folder,
        )


def speak(server, mode, conversation):
    """Holds a conversation with a server."""

    async def held():
        async with Client(server, mode=mode, read_timeout_seconds=PATIENCE) as client:
            return await conversation(client)

    return asyncio.run(asyncio.wait_for(held(), 2 * PATIENCE))


@pytest.fixture(params=["http", "stdio"])
def server(request, offline):
    """The same server, through each of its doors."""
    return f"{offline.url}/mcp" if request.param == "http" else request.getfixturevalue("program")


@pytest.mark.parametrize("mode", MODES)
def test_a_request_is_handed_over_and_told_of(server, mode):
    told = []

    async def progress(done, total, message):
        told.append((done, message))

    async def conversation(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["run", "plan", "ask"]
        plan = await client.call_tool("plan", {"request": MOOD})
        assert plan.structured_content["execution_config"]["tasks"][0]["task_type"] == "text-classification"
        return await client.call_tool("run", {"request": MOOD}, progress_callback=progress)

    done = speak(server, mode, conversation)
    assert not done.is_error and "positive" in done.content[0].text, done
    assert done.structured_content["outcomes"][0]["status"] == "succeeded"
    assert [at for at, _ in told] == sorted({at for at, _ in told}) and told, told
    assert told[0][1] == "planned: text-classification", told


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_pictures_go_in_and_come_back(server, mode):
    data = base64.b64encode(picture()).decode()

    async def conversation(client):
        files = [{"name": "photo.png", "data": data}]
        return await client.call_tool("run", {"request": "find the edges of photo.png", "files": files})

    done = speak(server, mode, conversation)
    assert not done.is_error, done
    made = [block for block in done.content if block.type == "image"]
    assert made and made[0].mime_type == "image/png"
    assert base64.b64decode(made[0].data).startswith(b"\x89PNG")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_wrong_arguments_are_refused_with_words(server, mode):
    async def conversation(client):
        with pytest.raises(MCPError, match="missing field `request`"):
            await client.call_tool("run", {})
        with pytest.raises(MCPError, match="there is no tool `sing`"):
            await client.call_tool("sing", {})

    speak(server, mode, conversation)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_guarded_server_needs_the_token(guarded, mode):
    async def names(headers):
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as http:
            transport = streamable_http_client(f"{guarded.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(names({"authorization": f"Bearer {guarded.token}"})) == ["run", "plan", "ask"]
    with pytest.raises(BaseException) as refused:
        asyncio.run(asyncio.wait_for(names({}), PATIENCE))
    assert not isinstance(refused.value, TimeoutError)
