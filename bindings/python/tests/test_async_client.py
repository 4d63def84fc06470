"""The client for asyncio. It is the other one's text, so only what differs is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jarvis
import pytest
from house import Jarvis

MOOD = "tell the mood of: I love this house"


def running(url: str, work: Callable[[jarvis.AsyncClient], Awaitable[None]]) -> None:
    async def main() -> None:
        async with jarvis.AsyncClient(url) as client:
            await work(client)

    asyncio.run(main())


def test_runs_go_side_by_side(server: Any, photo: Path) -> None:
    async def work(client: jarvis.AsyncClient) -> None:
        results = await asyncio.gather(*(client.run(f"tell the mood of: I love {number}") for number in range(4)))
        assert all(result.ok for result in results) and len({result.run_id for result in results}) == 4
        (attached,) = await client.upload(photo)
        result = await client.run("find the edges of photo.png", attachments=[attached])
        assert result.files[0].url is not None
        assert (await client.download(result.files[0].url)).startswith(b"\x89PNG")
        plan = await client.plan(MOOD)
        assert (await client.run_plan(plan)).ok and "hugginggpt" in await client.pipelines()

    running(server.url, work)


def test_a_stream_is_read_while_it_is_told(server: Any) -> None:
    async def work(client: jarvis.AsyncClient) -> None:
        kinds = [event["event"] async for event in client.stream(MOOD)]
        assert kinds[-1] == "done" and "plan" in kinds
        started = await client.start(MOOD)
        assert (await client.wait(started["run_id"]))["status"] == "done"
        told = [event async for event in client.follow_all([started["run_id"]])]
        assert told[-1].get("event") == "done"

    running(server.url, work)


def test_whoever_stops_waiting_cancels_the_run(slow: Any) -> None:
    async def work(client: jarvis.AsyncClient) -> None:
        asked = asyncio.create_task(client.run("good morning"))
        assert await asyncio.to_thread(slow.held.wait, 30)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await asyncio.to_thread(slow.aborted.wait, 30)

    with Jarvis("--llm", "fake", "--base-url", slow.url) as server:
        running(server.url, work)


def test_refusals_are_raised(server: Any) -> None:
    async def work(client: jarvis.AsyncClient) -> None:
        with pytest.raises(jarvis.ApiError) as raised:
            await client.run(MOOD, model="no such model")
        assert raised.value.status == 400
        with pytest.raises(jarvis.ApiError):
            async for _ in client.stream(MOOD, pipeline="none"):
                pass

    running(server.url, work)
