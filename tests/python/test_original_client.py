"""What the original's web client and its users send, and the shapes that they read."""

import json
import re

import pytest

from house import events, picture

MOOD = "what is the sentiment of: I love this house"


def test_the_web_client_reads_message(offline):
    # The original page sends the model's name, and a key that its user typed; the first it ignores.
    body = {"model": "gpt-3.5-turbo", "messages": [{"role": "user", "content": MOOD}]}
    reply = offline.http.post("/hugginggpt", content=json.dumps(body), headers={"content-type": "application/json"})
    assert reply.status_code == 200 and "positive" in reply.json()["message"]
    assert reply.headers["x-request-id"]


def test_a_conversation_refers_to_what_was_made(offline):
    up = offline.http.post("/upload", files={"file": ("photo.png", picture(), "image/png")}).json()
    assert up["kind"] == "image" and re.fullmatch(r"/images/[\w.-]+\.png", up["path"]) and up["bytes"] > 0
    asked = {"role": "user", "content": f"find the edges of {up['path']}"}
    first = offline.http.post("/hugginggpt", json={"messages": [asked]}).json()
    # The page shows what looks like a path of a picture in the text.
    shown = [path for path in re.findall(r"/images/[\w.-]+\.png", first["message"]) if path != up["path"]]
    assert shown, first["message"]
    file = offline.http.get(shown[0])
    assert file.status_code == 200 and file.headers["content-type"] == "image/png"
    again = [asked, {"role": "assistant", "content": first["message"]}, {"role": "user", "content": f"make {shown[0]} half the size"}]
    second = offline.http.post("/hugginggpt", json={"messages": again}).json()
    assert [task["status"] for task in second["run"]["outcomes"]] == ["succeeded"], second["message"]


def test_tasks_are_a_list(offline):
    tasks = offline.http.post("/tasks", json={"messages": [{"role": "user", "content": MOOD}]}).json()
    assert tasks == [{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": "I love this house"}}]


def test_results_are_a_map_by_id(offline):
    results = offline.http.post("/results", json={"messages": [{"role": "user", "content": MOOD}]}).json()
    assert list(results) == ["0"] and set(results["0"]) == {"task", "inference result", "choose model result"}
    assert results["0"]["inference result"][0]["label"] == "POSITIVE"
    assert set(results["0"]["choose model result"]) == {"id", "reason"}


@pytest.mark.parametrize("route", ["/tasks", "/results"])
def test_conversation_comes_as_a_message(spoken, route):
    reply = spoken.http.post(route, json={"messages": [{"role": "user", "content": "good morning"}]})
    assert reply.status_code == 200 and reply.json()["message"] == "Good morning! What shall I do?"


def test_a_task_that_fails_is_told_in_the_results(spoken):
    results = spoken.http.post("/results", json={"messages": [{"role": "user", "content": "a film of a cat"}]}).json()
    assert results["0"]["inference result"]["error"]["message"], results


WRONG = [
    ("not JSON", "{", 400),
    ("a list", [], 400),
    ("no messages", {}, 400),
    ("empty messages", {"messages": []}, 400),
    ("messages of another type", {"messages": "hello"}, 400),
    ("a message without content", {"messages": [{"role": "user"}]}, 400),
    ("a role that is none", {"messages": [{"role": "robot", "content": "x"}]}, 400),
    ("content of another type", {"messages": [{"role": "user", "content": 7}]}, 400),
    ("an endpoint of the caller", {"messages": [{"role": "user", "content": "x"}], "api_endpoint": "http://127.0.0.1:1"}, 403),
    ("a key of the caller", {"messages": [{"role": "user", "content": "x"}], "api_key": "sk-secret"}, 403),
    ("a file of the system", {"messages": [{"role": "user", "content": "x"}], "attachments": [{"kind": "image", "path": "/images/../../etc/passwd"}]}, 400),
    ("too much", {"messages": [{"role": "user", "content": "x" * (2 << 20)}]}, 413),
]


@pytest.mark.parametrize("body, status", [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
@pytest.mark.parametrize("route", ["/hugginggpt", "/hugginggpt/stream", "/tasks", "/results"])
def test_a_wrong_request_is_told(offline, route, body, status):
    content = body if isinstance(body, str) else json.dumps(body)
    reply = offline.http.post(route, content=content, headers={"content-type": "application/json"})
    assert reply.status_code == status, reply.text
    error = reply.json()["error"]
    assert error["code"] and error["message"] and "sk-secret" not in reply.text


def test_a_connection_that_cannot_be_used_again_says_so(offline):
    body = json.dumps({"messages": [{"role": "user", "content": "x" * (4 << 20)}]})
    for _ in range(3):
        refused = offline.http.post("/tasks", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == 413 and refused.headers["connection"] == "close"
        assert offline.http.get("/health").status_code == 200


def test_a_stream_tells_the_run(offline):
    body = {"messages": [{"role": "user", "content": MOOD}]}
    with offline.http.stream("POST", "/hugginggpt/stream", json=body) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        told = list(events(reply))
    kinds = [kind for kind, _ in told]
    assert kinds[0] == "run_started" and kinds[-1] == "done"
    assert [kind for kind in kinds if kind in ("plan", "model_chosen", "task_started", "task_finished", "answer")] == [
        "plan", "model_chosen", "task_started", "task_finished", "answer",
    ]
    assert all(event["event"] == kind for kind, event in told)
    assert [event["seq"] for _, event in told] == sorted({event["seq"] for _, event in told})
    run_id = told[0][1]["run_id"]
    assert offline.run_ended(run_id)[0] == "done"
    assert run_id in [run["run_id"] for run in offline.http.get("/runs").json()["runs"]]
