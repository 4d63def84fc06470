"""The client against a real server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import jarvis
import pytest
from house import Jarvis
from jarvis import types

MOOD = "tell the mood of: I love this house"
NOBODY = "00000000-0000-7000-8000-000000000000"


def test_a_run_is_waited_for(client: jarvis.Client) -> None:
    result = client.run(MOOD)
    assert result.ok and result.outcomes[0].model == "native/vader" and "positive" in result.text
    kept = client.get_run(result.run_id)
    assert kept["status"] == "done" and kept["events"][0]["event"] == "run_started"
    assert client.run(MOOD, pipeline="hugginggpt", budget={"max_calls": 3}, experience=False).ok


def test_a_stream_is_of_typed_events(client: jarvis.Client) -> None:
    told = list(client.stream(MOOD))
    assert told[0]["event"] in ("queued", "run_started")
    # What a type checker knows of an event by its kind.
    for event in told:
        if event["event"] == "task_finished":
            assert event["outcome"]["status"] == "succeeded"
        elif event["event"] == "done":
            assert event["ok"] and event["usage"]["prompt_tokens"] == 0
    last = told[-1]
    assert last["event"] == "done"
    followed = list(client.follow(last["run_id"]))
    assert [event["seq"] for event in followed] == list(range(len(followed)))
    assert list(client.follow(last["run_id"], last_event_id=str(len(followed) - 2))) == followed[-1:]
    assert list(client.follow(last["run_id"], last_event_id=str(last["seq"]))) == [], "nothing is behind the end"


def test_a_run_goes_on_by_itself(client: jarvis.Client) -> None:
    started = [client.start(MOOD)["run_id"] for _ in range(2)]
    for run_id in started:
        ended = client.wait(run_id)
        assert ended["status"] == "done" and ended["events"][-1]["event"] == "done"
    told = list(client.follow_all([*started, NOBODY]))
    ended_runs = {event["run_id"] for event in told if event.get("event") == "done"}
    assert ended_runs == set(started)
    assert {"run_id": NOBODY} in told
    assert {event["run_id"] for event in client.follow_all(started[0])} == {started[0]}, "one id is no list of letters"


def test_runs_come_in_pages(client: jarvis.Client) -> None:
    ids = [client.run(f"tell the mood of: page {number}").run_id for number in range(3)]
    first = client.runs(limit=2, text="page", status=["done", "failed"])
    assert [run["run_id"] for run in first["runs"]] == ids[:0:-1]
    second = client.runs(limit=2, text="page", status="done", before=first.get("next"))
    assert [run["run_id"] for run in second["runs"]] == ids[:1]
    assert client.rate(ids[0], "good")["run_id"] == ids[0]
    assert client.remove_run(ids[0])["deleted"]
    with pytest.raises(jarvis.ApiError) as raised:
        client.get_run(ids[0])
    assert (raised.value.status, raised.value.code) == (404, "not_found")


def test_a_file_goes_in_and_what_is_made_comes_out(client: jarvis.Client, photo: Path) -> None:
    attached = client.upload(photo, ("notes.txt", b"I love it"))
    assert [(file["kind"], file.get("name")) for file in attached] == [("image", "photo.png"), ("text", "notes.txt")]
    result = client.run("find the edges of photo.png", attachments=attached[:1])
    assert result.files[0].url is not None
    assert client.download(result.files[0].url).startswith(b"\x89PNG")
    mood = client.run("tell the mood of the text", attachments=attached[1:])
    assert "positive" in mood.text


@pytest.mark.parametrize("url", ["https://example.org/a.png", "//example.org/a.png", "images/a.png"])
def test_the_token_goes_to_no_other_host(client: jarvis.Client, url: str) -> None:
    with pytest.raises(jarvis.JarvisError, match="no file of the server"):
        client.download(url)


def test_a_plan_is_decided_edited_and_carried_out(client: jarvis.Client) -> None:
    plan = client.plan(MOOD)
    assert plan.complete and plan.plan_id is not None and "<svg" in plan.to_svg()
    assert client.get_plan(plan.plan_id).execution_config == plan.execution_config
    assert "positive" in client.run_plan(plan.plan_id).text
    plan.tasks[0]["args"] = {"text": "I hate rain"}
    assert "negative" in client.run_plan(plan).text
    unsaved = jarvis.Plan(plan.execution_config)
    kinds = [event["event"] for event in client.stream_plan(unsaved)]
    assert kinds[-1] == "done" and "task_finished" in kinds
    plan.tasks[0]["task_type"] = "no such task"
    with pytest.raises(jarvis.ApiError) as raised:
        client.run_plan(plan)
    assert raised.value.status == 422 and raised.value.details


def test_a_call_that_waits_is_answered(shop_client: jarvis.Client, shop: Any) -> None:
    with pytest.raises(jarvis.ApprovalNeeded) as raised:
        shop_client.run("reserve article 17")
    waiting = raised.value
    assert waiting.run_id is not None and waiting.waiting[0]["arguments"] == {"article": 17}
    task = waiting.waiting[0]["task"]
    assert shop_client.approve(waiting.run_id, task, arguments={"article": 18})["approved"]
    assert shop_client.wait(waiting.run_id)["status"] == "done"
    assert shop.reserved == [{"article": 18}]

    run_id = shop_client.start("reserve article 19")["run_id"]
    for event in shop_client.follow(run_id):
        if event["event"] == "approval_needed":
            assert not shop_client.refuse(run_id, event["task"], reason="too dear")["approved"]
    assert shop_client.get_run(run_id)["status"] == "failed"
    assert shop.reserved == [{"article": 18}]
    # Tried again, it asks again.
    again = shop_client.retry(run_id)["run_id"]
    for event in shop_client.follow(again):
        if event["event"] == "approval_needed":
            shop_client.approve(again, event["task"], decision="approve_always")
    assert shop.reserved == [{"article": 18}, {"article": 19}]


def test_a_run_is_cancelled_or_left(slow: Any) -> None:
    with (
        Jarvis("--llm", "fake", "--base-url", slow.url) as server,
        jarvis.Client(server.url) as client,
    ):
        run_id = client.start("good morning")["run_id"]
        assert slow.held.wait(30)
        assert client.cancel(run_id)["cancelled"]
        assert client.wait(run_id)["status"] == "cancelled"
        slow.held.clear()
        slow.aborted.clear()
        stream = client.stream("good morning")
        first = next(event for event in stream if event["event"] == "run_started")
        assert slow.held.wait(30)
        stream.close()  # type: ignore[attr-defined]
        assert slow.aborted.wait(30), "whoever alone wants a run and goes away cancels it"
        assert client.wait(first["run_id"])["status"] == "cancelled"
        with pytest.raises(jarvis.ApiError) as raised:
            client.resume(first["run_id"])
        assert raised.value.status == 409


def test_what_there_is(client: jarvis.Client) -> None:
    assert "hugginggpt" in client.pipelines() and client.health()["planner"] == "offline"
    assert any(model["id"] == "native/canny" for model in client.models()["models"])
    assert client.tools()["tools"] and client.local_models() is not None


def test_the_token_is_sent() -> None:
    with Jarvis("--llm", "offline", env={"JARVIS_TOKEN": "open sesame"}) as server:
        with jarvis.Client(server.url, token="open sesame") as client:
            assert client.run(MOOD).ok
        with jarvis.Client(server.url) as stranger:
            calls: list[Callable[[], object]] = [lambda: stranger.run(MOOD), lambda: list(stranger.stream(MOOD))]
            for call in calls:
                with pytest.raises(jarvis.ApiError) as raised:
                    call()
                assert raised.value.status == 401 and raised.value.hint


def test_a_client_of_ones_own_is_used_and_left_open() -> None:
    with Jarvis("--llm", "offline", env={"JARVIS_TOKEN": "open sesame"}) as server:
        with httpx.Client() as http:
            with jarvis.Client(server.url, token="open sesame", http=http) as client:
                assert client.run(MOOD).ok and list(client.stream(MOOD))[-1]["event"] == "done"
            assert not http.is_closed, "whoever made it closes it"
        with httpx.Client(base_url=server.url, headers={"Authorization": "Bearer open sesame"}) as http:
            assert jarvis.Client(http=http).run(MOOD).ok, "its own address and headers, where no others are given"
    client = jarvis.Client(server.url)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.health()


def test_the_token_is_for_the_server_alone() -> None:
    asked: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((str(request.url), request.headers.get("Authorization")))
        if request.url.host == "house":
            return httpx.Response(307, headers={"location": "https://elsewhere/health"})
        return httpx.Response(200, json={})

    transport = httpx.MockTransport(answer)
    with httpx.Client(
        base_url="https://other", auth=("who", "else"), follow_redirects=True, transport=transport
    ) as http:
        jarvis.Client("https://house/jarvis/", token="open sesame", http=http).health()
        jarvis.Client("https://guarded", http=http).health()
    assert [url for url, _ in asked] == [
        "https://house/jarvis/health",
        "https://elsewhere/health",
        "https://guarded/health",
    ]
    assert [said for _, said in asked] == ["Bearer open sesame", None, "Basic d2hvOmVsc2U="]


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(jarvis.JarvisError, match="`http://house:port` is no address of a server") as raised:
        jarvis.Client("http://house:port")
    assert raised.value.hint and raised.value.exit_code == 2


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with jarvis.Client(url) as client:
            calls: list[Callable[[], object]] = [client.health, lambda: list(client.stream(MOOD))]
            for call in calls:
                with pytest.raises(jarvis.JarvisError, match="cannot be reached") as raised:
                    call()
                assert raised.value.code == "unreachable" and "jarvis serve" in (raised.value.hint or "")


class Odd(BaseHTTPRequestHandler):
    """A server that is none of jarvis, or breaks off."""

    bodies = {
        "/health": (200, "text/html", b"<p>hello</p>"),
        "/models": (502, "text/html", b"<p>bad gateway</p>"),
        "/runs/cut/events": (
            200,
            "text/event-stream",
            b': hello\n\nid: 0\ndata: {"event": "run_started", "run_id": "cut"}\n\n',
        ),
        # Two streams that break off before anything comes: of a run that goes on, and of one whose end was not told.
        "/runs/on/events": (200, "text/event-stream", b": hello\n\n"),
        "/runs/on": (200, "application/json", b'{"events": [{"event": "run_started", "seq": 0}]}'),
        "/runs/over/events": (200, "text/event-stream", b": hello\n\n"),
        "/runs/over": (200, "application/json", b'{"events": [{"event": "done", "seq": 5}]}'),
        "/runs/page/events": (200, "text/html", b"<p>hello</p>"),
        "/runs/odd/events": (200, "text/event-stream", b"id: 0\ndata: {\n\n"),
    }

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        status, kind, body = self.bodies[self.path]
        self.send_response(status)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(body)


def test_replies_that_are_none_are_errors() -> None:
    odd = HTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=odd.serve_forever, args=(0.05,), daemon=True).start()
    try:
        with jarvis.Client(f"http://127.0.0.1:{odd.server_port}") as client:
            with pytest.raises(jarvis.ApiError, match="is not JSON"):
                client.health()
            with pytest.raises(jarvis.ApiError, match="502 Bad Gateway: <p>bad gateway</p>"):
                client.models()
            told: list[types.Event] = []
            for run_id, seen in [("cut", None), ("on", None), ("on", "0"), ("over", None), ("over", "4")]:
                with pytest.raises(jarvis.ApiError) as raised:
                    told.extend(client.follow(run_id, last_event_id=seen))
                assert raised.value.code == "cut_off", (run_id, seen)
            assert [event["event"] for event in told] == ["run_started"]
            assert list(client.follow("over", last_event_id="5")) == []
            with pytest.raises(jarvis.ApiError, match="no stream of events"):
                list(client.follow("page"))
            with pytest.raises(jarvis.ApiError, match="not JSON"):
                list(client.follow("odd"))
    finally:
        odd.shutdown()
        odd.server_close()
