"""Requests carried out and planned by the installed program."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jarvis
import pytest

MOOD = "tell the mood of: I love this house"


def test_a_run_is_typed_and_whole() -> None:
    result = jarvis.run(MOOD)
    assert result.ok and result.planner == "offline" and result.raise_if_failed() is result
    (outcome,) = result.outcomes
    assert (outcome.task, outcome.status, outcome.model) == ("text-classification", "succeeded", "native/vader")
    text, value = outcome.outputs
    assert text.kind == "text" and value.kind == "json" and value.value[0]["label"] == "POSITIVE"
    assert "positive" in result.text and result.usage["prompt_tokens"] == 0
    assert result.document["plan"]["tasks"][0]["task"] == outcome.task
    assert result.ms >= outcome.ms >= 0


def test_a_file_goes_in_and_what_is_made_comes_out(photo: Path, at_home: Path) -> None:
    result = jarvis.run("find the edges of photo.png", files=photo, out=at_home / "made")
    (made,) = result.files
    assert made.kind == "image" and made.path is not None
    assert made.path.read_bytes().startswith(b"\x89PNG")
    assert list((at_home / "made").iterdir()), "the folder has it too"
    html = result._repr_html_()
    assert "data:image/png;base64," in html and "canny-control" in html


@pytest.mark.parametrize("request_", ["--help", "-", "summarise: naïve café 猫\nand a second line"])
def test_no_request_is_an_option(request_: str) -> None:
    assert jarvis.run(request_).request == request_


def test_a_name_of_a_file_is_no_option(at_home: Path) -> None:
    (at_home / "-").write_text("I love it", encoding="utf-8")
    (at_home / "--yes").write_text("I love it", encoding="utf-8")
    for name in ["-", "--yes"]:
        result = jarvis.run("tell the mood of the text", files=[name])
        assert result.ok, result.text


def test_what_is_not_done_is_no_success() -> None:
    result = jarvis.run("fly to the moon")
    assert not result.ok and result.not_done == ("no tool fits the request",) and result.outcomes == ()
    with pytest.raises(jarvis.JarvisError, match="no tool fits") as raised:
        result.raise_if_failed()
    assert (raised.value.code, raised.value.run_id) == ("no_plan", result.run_id)


def test_a_failure_has_its_hint_and_its_code(at_home: Path) -> None:
    dead = {"llm": "some-model", "base_url": "http://127.0.0.1:9/v1", "env": {"OPENAI_API_KEY": "unused"}}
    with pytest.raises(jarvis.JarvisError, match="http://127.0.0.1:9") as raised:
        jarvis.run("hello", **dead)  # type: ignore[arg-type]
    error = raised.value
    assert (error.code, error.exit_code) == ("unavailable", 1)
    assert error.hint == "check the base URL and whether the server runs" and error.hint in str(error)
    # Planning has no document of failures: the same is read from stderr.
    with pytest.raises(jarvis.JarvisError, match="http://127.0.0.1:9") as planned:
        jarvis.plan("hello", **dead)  # type: ignore[arg-type]
    assert (planned.value.hint, planned.value.exit_code) == (error.hint, 1)
    with pytest.raises(jarvis.JarvisError, match="cannot read the configuration") as raised:
        jarvis.run("hello", config=at_home / "none.yaml")
    assert (raised.value.code, raised.value.exit_code) == ("usage", 2)
    with pytest.raises(jarvis.JarvisError, match="invalid value 'sometimes'") as raised:
        jarvis.run("hello", replan="sometimes")  # type: ignore[arg-type]
    assert raised.value.exit_code == 2


def test_the_arguments_are_looked_at_first() -> None:
    with pytest.raises(jarvis.JarvisError, match="neither a request nor a plan"):
        jarvis.run()
    with pytest.raises(jarvis.JarvisError, match="a request and a plan"):
        jarvis.run("hello", plan={"tasks": []})
    with pytest.raises(jarvis.JarvisError, match="no plan"):
        jarvis.run(plan={"nothing": 1})


def test_a_folder_to_work_in_is_looked_at_first(at_home: Path) -> None:
    (at_home / "file").touch()
    for name, why in [("none", "does not exist"), ("file", "is no folder")]:
        for call in (jarvis.run, jarvis.plan):
            with pytest.raises(jarvis.JarvisError, match=f"`cwd` is `.*{name}`, which {why}") as raised:
                call("hello", cwd=at_home / name)
            assert raised.value.hint and raised.value.exit_code == 2
            assert not isinstance(raised.value, jarvis.ProgramNotFound)


def test_a_run_that_takes_too_long_is_stopped(slow: Any) -> None:
    with pytest.raises(jarvis.TimedOut, match="within 3 s"):
        jarvis.run("good morning", llm="fake", base_url=slow.url, timeout=3)
    # On a slow machine the time may be over before the model is asked.
    assert not slow.held.is_set() or slow.aborted.wait(30), "the call of the model goes with it"


def test_a_call_that_changes_something_needs_leave(shop: Any, at_home: Path) -> None:
    (at_home / "shop.json").write_text(json.dumps(shop.document()), encoding="utf-8")
    config = at_home / "jarvis.yaml"
    config.write_text(shop.config("shop.json"), encoding="utf-8")
    refused = jarvis.run("reserve article 17", config=config)
    assert not refused.ok and shop.reserved == []
    assert jarvis.run("reserve article 17", config=config, yes=True).ok
    assert jarvis.run("reserve article 18", config=config, approve="shop.*").ok
    assert shop.reserved == [{"article": 17}, {"article": 18}]


EDGES = "find the edges of photo.png, then make the result grey"


def test_a_plan_is_typed_and_drawn_as_the_program_draws_it(photo: Path) -> None:
    plan = jarvis.plan(EDGES, files=photo)
    assert plan.complete and plan.request == EDGES
    assert [task["task_type"] for task in plan.tasks] == ["canny-control", "image-to-image"]
    for form, drawn in [("svg", plan.to_svg()), ("dot", plan.to_dot()), ("mermaid", plan.to_mermaid())]:
        command = [str(jarvis.program()), "plan", EDGES, f"--file={photo}", "--format", form]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == drawn


def test_a_plan_is_edited_and_carried_out(photo: Path, at_home: Path) -> None:
    plan = jarvis.plan("find the edges of photo.png", files=photo)
    plan.tasks.append(
        {
            "task_id": 1,
            "task_type": "text-classification",
            "model_id": "native/vader",
            "model_reason": "",
            "args": {"text": "I hate rain"},
            "dependencies": [],
            "execution_level": 0,
        }
    )
    plan.save(at_home / "plan.json")
    for given in [plan, at_home / "plan.json", plan.execution_config]:
        result = jarvis.run(plan=given)  # type: ignore[arg-type]
        assert [outcome.status for outcome in result.outcomes] == ["succeeded", "succeeded"], result.text
    assert jarvis.Plan.load(at_home / "plan.json") == plan
    assert "text-classification" in plan.to_svg()


def test_a_file_that_may_not_be_replaced_is_written_to(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "mounted by itself")

    plan = jarvis.plan(MOOD)
    target = at_home / "plan.json"
    target.write_text("x" * 100_000)
    monkeypatch.setattr(os, "replace", busy)
    plan.save(target)
    assert jarvis.Plan.load(target).tasks == plan.tasks
    assert [path.name for path in at_home.iterdir() if path.name.startswith(".jarvis-")] == []
    with pytest.raises(jarvis.JarvisError, match="mounted by itself|busy"):
        plan.save(at_home / "new.json")


def test_a_plan_is_saved_whole_or_not_at_all(at_home: Path) -> None:
    plan = jarvis.plan(MOOD)
    folder = at_home / "plans"
    plan.save(folder / "plan.json")
    (folder / "plan.json").chmod(0o640)
    (folder / "link").symlink_to("plan.json")
    plan.save(folder / "link")
    assert (folder / "link").is_symlink() and (folder / "plan.json").stat().st_mode & 0o777 == 0o640
    before = (folder / "plan.json").read_bytes()
    for text, why in [("\ud83d", "surrogates not allowed"), ({1}, "cannot be written as JSON: .*set")]:
        plan.tasks[0]["args"] = {"text": text}
        with pytest.raises(jarvis.JarvisError, match=why) as raised:
            plan.save(folder / "plan.json")
        assert raised.value.hint
    with pytest.raises(jarvis.JarvisError, match="the plan cannot be written as JSON"):
        jarvis.run(plan=plan)
    plan.tasks[0]["args"] = {}
    places = {folder: "Is a directory$", Path("/dev/full"): "No space left", folder / "link/plan": "director"}
    for place, why in places.items():
        with pytest.raises(jarvis.JarvisError) as raised:
            plan.save(place)
        assert re.search(f"the plan cannot be written to {place}: .*{why}", raised.value.message)
    assert (folder / "plan.json").read_bytes() == before
    assert {path.name for path in folder.iterdir()} == {"plan.json", "link"}
    assert not list(at_home.glob(".jarvis-*"))


def test_a_plan_that_leaves_something_out_says_so(photo: Path) -> None:
    plan = jarvis.plan("find the edges of photo.png and fax it", files=photo)
    assert plan.tasks and not plan.complete and "fax it" in plan.warnings[0]
    nothing = jarvis.plan("fly to the moon")
    assert nothing.tasks == [] and "an empty graph" in nothing.to_svg()


def test_a_file_that_is_no_plan_is_named(at_home: Path) -> None:
    for text in ["", "[1]", '{"execution_config": 5}']:
        (at_home / "plan.json").write_text(text)
        with pytest.raises(jarvis.JarvisError, match="no plan"):
            jarvis.run(plan=at_home / "plan.json")
    (at_home / "plan.json").write_bytes(b"\xff")
    with pytest.raises(jarvis.JarvisError, match="no plan"):
        jarvis.run(plan=at_home / "plan.json")
    with pytest.raises(jarvis.JarvisError, match="cannot read the plan .*none.json: No such file"):
        jarvis.run(plan=at_home / "none.json")
