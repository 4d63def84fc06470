"""Plans that are looked at, edited and executed over HTTP; and what the description of the API says of itself."""

import re

import pytest

from house import events, picture

SENTENCE = "I love this house and its garden"


@pytest.fixture
def photo(offline):
    return offline.http.post("/upload", files={"file": ("photo.png", picture(), "image/png")}).json()["path"]


def decided(server, text):
    reply = server.http.post("/decisions", json={"messages": [{"role": "user", "content": text}]})
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_a_plan_is_decided_and_then_executed(offline, photo):
    plan = decided(offline, f"segment {photo}, then find the edges of the result")
    config = plan["execution_config"]
    assert [task["task_type"] for task in config["tasks"]] == ["image-segmentation", "canny-control"]
    assert config["total_tasks"] == 2 and config["tasks"][1]["dependencies"] == [config["tasks"][0]["task_id"]]
    assert config["dag"]["edges"] == [{"from": config["tasks"][0]["task_id"], "to": config["tasks"][1]["task_id"]}]
    assert offline.http.get(f"/plans/{plan['plan_id']}").json()["execution_config"] == config
    run = offline.http.post(f"/plans/{plan['plan_id']}/run", json={}).json()["run"]
    assert [outcome["status"] for outcome in run["outcomes"]] == ["succeeded", "succeeded"], run
    made = run["outcomes"][1]["outputs"][0]["url"]
    assert offline.http.get(made).content.startswith(b"\x89PNG")


def test_an_edited_plan_is_executed_as_edited(offline, photo):
    plan = decided(offline, f"segment {photo}, then find the edges of the result")
    config = plan["execution_config"]
    config["tasks"] = config["tasks"][:1]
    with offline.http.stream("POST", f"/plans/{plan['plan_id']}/run/stream", json={"execution_config": config}) as reply:
        assert reply.status_code == 200
        told = list(events(reply))
    assert told[-1][0] == "done"
    assert [event["outcome"]["status"] for kind, event in told if kind == "task_finished"] == ["succeeded"]


def test_a_plan_that_cannot_be_executed_is_refused(offline, photo):
    plan = decided(offline, f"segment {photo}, then find the edges of the result")
    config = plan["execution_config"]
    config["tasks"] = config["tasks"][1:]
    reply = offline.http.post(f"/plans/{plan['plan_id']}/run", json={"execution_config": config})
    assert reply.status_code == 422, reply.text
    assert reply.json()["error"]["message"]


def test_decisions_come_with_a_request_too(offline):
    body = {"messages": [{"role": "user", "content": f"what is the sentiment of: {SENTENCE}"}], "return_decisions": True}
    reply = offline.http.post("/hugginggpt", json=body).json()
    assert [task["task"] for task in reply["decisions"]["planned_tasks"]] == ["text-classification"], reply
    assert reply["decisions"]["model_selections"]["0"]["status"] == "selected_not_executed", reply


def test_every_path_parameter_is_in_its_path(offline):
    wrong = []
    for path, item in offline.http.get("/openapi.json").json()["paths"].items():
        names = set(re.findall(r"{(\w+)}", path))
        for method, operation in item.items():
            told = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
            if told != names:
                wrong.append(f"{method.upper()} {path} describes {sorted(told)}")
    assert not wrong, "\n".join(wrong)


def test_pages_of_other_sites_are_kept_out(offline):
    assert offline.http.get("/models", headers={"host": "evil.example"}).status_code == 421
    assert offline.http.get("/models", headers={"origin": "https://evil.example"}).status_code == 403
    kept = offline.http.post("/hugginggpt", json={"messages": []}, headers={"origin": "https://evil.example"})
    assert kept.status_code == 403 and "access-control-allow-origin" not in kept.headers


def test_what_is_counted_can_be_scraped(offline):
    text = offline.http.get("/metrics").text
    line = re.compile(r'(# .*|[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? [0-9.e+-]+)')
    assert text.endswith("# EOF\n") and all(line.fullmatch(one) for one in text.splitlines()), text[:2000]
