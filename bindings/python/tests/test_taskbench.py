"""The figures are those of the command, and of the original."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jarvis
import pytest
from conftest import ROOT
from jarvis import taskbench

DOMAINS = ROOT / "examples/taskbench"
STUDIO, ERRANDS = DOMAINS / "data_studio", DOMAINS / "data_errands"
#: Samples with the original's figures, which are not in the repository.
OUTSIDE = ROOT.parent / "shared/data/taskbench/sample"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def of_command(domain: Path, *more: str) -> dict[str, Any]:
    """What the program says of the example's predictions."""
    options = [f"--data-dir={domain}", "--llm", "example-model", "--json", *more]
    done = subprocess.run(
        [str(jarvis.program()), "taskbench", "evaluate", *options], capture_output=True, text=True, check=True
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    del figures["name"]
    return figures


@pytest.fixture
def studio(at_home: Path) -> Path:
    """A domain that may be written to."""
    return Path(shutil.copytree(STUDIO, at_home / "data_studio"))


@pytest.mark.parametrize("name", ["data_studio", "data_errands"])
def test_the_figures_are_those_of_the_command(at_home: Path, name: str) -> None:
    domain = Path(shutil.copytree(DOMAINS / name, at_home / name))
    predictions = domain / "predictions/example-model.json"
    cases: list[tuple[list[str], dict[str, Any]]] = [
        ([], {}),
        (["-s", "all", "-n", "all"], {"splits": "all", "n_tools": "all"}),
        (
            ["-s", "chain", "-s", "dag", "-n", "2", "-n", "3", "--mode", "mul"],
            {"splits": ["chain", "dag"], "n_tools": [2, "3"], "mode": "mul"},
        ),
        (["--profile", "legacy", "-m", "f1", "-m", "link"], {"profile": "legacy", "metrics": ["f1", "link"]}),
        (
            ["--profile", "strict", "--intervals", "50", "--seed", "7"],
            {"profile": "strict", "intervals": 50, "seed": 7},
        ),
        (["-m", "all", "--prompting", "direct"], {"prompting": "direct"}),
        (["--dependency-type", "temporal"], {"dependency_type": "temporal"}),
    ]
    for options, settings in cases:
        wanted = of_command(domain, *options)
        figures = taskbench.evaluate(domain, predictions, **settings)
        coverage = figures.pop("coverage")
        assert figures == wanted, options
        assert coverage["gold"] > 0
        inside = taskbench.evaluate(
            lines(domain / "data.json"),
            lines(predictions),
            tools=json.loads((domain / "tool_desc.json").read_text()),
            **settings,
        )
        assert {**inside, "coverage": None} == {**wanted, "coverage": None}, options
        assert json.loads(json.dumps(figures)) == figures, "it is a dictionary like any other"


def test_single_samples_and_what_they_lost(studio: Path) -> None:
    of_command(studio, "--per-sample", "samples.jsonl")
    figures = taskbench.evaluate(studio, studio / "predictions/example-model.json", per_sample=True)
    assert figures["samples"] == lines(Path("samples.jsonl"))
    assert figures["coverage"]["dropped"] == {"`task_nodes` is not a list": 1}
    one = lines(studio / "data.json")[0]["id"]
    few = taskbench.evaluate(studio, studio / "predictions/example-model.json", ids=[one], per_sample=True)
    assert [sample["id"] for sample in few["samples"]] == [one] and few["strict"]["overall_overall"]["samples"] == 1
    assert taskbench.evaluate(studio, studio / "predictions/example-model.json", ids=one, per_sample=True) == few
    shown = taskbench.evaluate(studio, studio / "predictions/example-model.json", examples=[one], per_sample=True)
    assert shown["strict"]["overall_overall"]["samples"] == figures["strict"]["overall_overall"]["samples"] - 1


def test_what_inference_left_beside_the_predictions_counts(studio: Path) -> None:
    predictions = studio / "predictions/example-model.json"
    said = {line["id"] for line in lines(predictions)}
    missing = next(line["id"] for line in lines(studio / "data.json") if line["id"] not in said)
    (studio / "predictions/example-model.errors.jsonl").write_text(
        json.dumps({"id": missing, "kind": "Schema", "message": "no nodes"}) + "\n"
    )
    figures = taskbench.evaluate(studio, predictions, profile="strict")
    del figures["coverage"]
    assert figures == of_command(studio, "--profile", "strict")
    assert figures["strict"]["overall_overall"]["missing"] == 0


def test_values_are_what_they_are_in_python() -> None:
    """`5`, `5.0`, `NaN`, long integers and half surrogates change figures, so they must come through."""
    tools = [{"id": "A", "desc": "", "parameters": [{"name": "x", "type": "", "desc": ""}]}]

    def sample(value: object) -> list[dict[str, Any]]:
        node = {"task": "A", "arguments": [{"name": "x", "value": value}]}
        plan = {"task_steps": ["s"], "task_nodes": [node], "task_links": []}
        return [{"id": 1, "type": "single", **plan, "result": plan}]

    def value_f1(gold: object, said: object) -> float:
        figures = taskbench.evaluate(sample(gold), sample(said), tools=tools, profile="legacy")["legacy"]
        return float(figures["overall_overall"]["argument_task_argname_value_binary_f1_no_matching"])

    same: list[tuple[object, object]] = [
        ("5", 5),
        (10**40, str(10**40)),
        ("True", True),
        (float("nan"), "nan"),
        ("\ud83d", "\ud83d"),
    ]
    assert [value_f1(gold, said) for gold, said in same] == [1.0] * len(same)
    other: list[tuple[object, object]] = [("5", 5.0), (10**40, 10**40 + 1), ("\ud83d", "\ud83e"), ("\n", "n")]
    assert [value_f1(gold, said) for gold, said in other] == [0.0] * len(other)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads: int) -> None:
    predictions = STUDIO / "predictions/example-model.json"
    assert taskbench.evaluate(STUDIO, predictions, threads=threads) == taskbench.evaluate(STUDIO, predictions)


def scored(_: int) -> Any:
    figures = taskbench.evaluate(STUDIO, STUDIO / "predictions/example-model.json", profile="legacy")
    return figures["legacy"]["overall_overall"]["node_supports"]


def test_it_works_in_threads_and_in_forked_processes() -> None:
    assert scored(0) == 12
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(scored(0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [12] * 8
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(scored, range(4)).get(timeout=60) == [12] * 4


def test_other_threads_go_on_meanwhile(at_home: Path) -> None:
    """The predictions come through a pipe that another thread of the interpreter writes: it could not, were the lock held."""
    os.mkfifo("pipe")
    program = (
        "import sys, threading; from pathlib import Path; from jarvis import taskbench\n"
        "folder = Path(sys.argv[1]); text = (folder / 'predictions/example-model.json').read_bytes()\n"
        "threading.Thread(target=lambda: Path('pipe').write_bytes(text)).start()\n"
        "print(taskbench.evaluate(folder, 'pipe')['coverage']['predicted'])"
    )
    done = subprocess.run([sys.executable, "-c", program, STUDIO], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "13", done.stderr


def test_the_original_call_gives_its_file(studio: Path) -> None:
    groups = taskbench.evaluate_directory(studio, llm="example-model", splits=["all"])
    saved = json.loads((studio / "metrics/example-model.json").read_text())
    assert saved == groups and list(groups) == ["overall_overall", "single_overall", "chain_overall", "dag_overall"]
    taskbench.evaluate_directory(studio, llm="example-model", n_tools=["2"], metric=["f1"])
    both = json.loads((studio / "metrics/example-model.json").read_text())
    assert list(both) == [*groups, "overall_2"] and "edit_distance" not in both["overall_overall"]
    aligned = taskbench.evaluate_directory(studio, llm="example-model", alignment="node")
    assert (studio / "metrics_alignment_node/example-model.json").is_file()
    command = of_command(studio, "--alignment", "node", "--profile", "legacy", "--dependency-type", "resource")
    assert aligned == command["legacy"]
    assert taskbench.evaluate_directory(studio, llm="example-model", alignment="human") == {
        "overall_overall": groups["overall_overall"]
    }
    with pytest.raises(jarvis.JarvisError, match="critic `nobody`"):
        taskbench.evaluate_directory(studio, llm="example-model", alignment="nobody")


def test_figures_are_written_whole_or_not_at_all(studio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = studio / "metrics/example-model.json"
    taskbench.evaluate_directory(studio, llm="example-model", metric=["f1"])
    before = saved.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(jarvis.JarvisError, match="the figures cannot be written to .*: No space left") as raised:
        taskbench.evaluate_directory(studio, llm="example-model", n_tools=["2"], metric=["f1"])
    assert "save_dir" in (raised.value.hint or "")
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]
    monkeypatch.undo()
    saved.write_text("[]")
    with pytest.raises(jarvis.JarvisError, match="the figures cannot be written"):
        taskbench.evaluate_directory(studio, llm="example-model", metric=["f1"])
    assert saved.read_text() == "[]"


def test_the_original_command_line_works(studio: Path) -> None:
    options = [
        "--data_dir",
        str(studio),
        "--llm",
        "example-model",
        "--dependency_type",
        "resource",
        "--profile",
        "legacy",
    ]
    subprocess.run([sys.executable, "-m", "jarvis.taskbench", *options], check=True, capture_output=True)
    saved = json.loads((studio / "metrics/example-model.json").read_text())
    figures = taskbench.evaluate(studio, studio / "predictions/example-model.json", profile="legacy")
    assert saved == figures["legacy"]


def test_errors_say_what_to_do(at_home: Path) -> None:
    predictions = STUDIO / "predictions/example-model.json"
    odd = at_home / "odd.json"
    odd.write_text("[]")
    tool = {"tools": [{"id": "A"}]}
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (at_home / "none.json", predictions, tool, "cannot read .*none.json: No such file"),
        (at_home / "none", predictions, {}, "cannot read .*/none: No such file"),
        (at_home, predictions, {}, "cannot read .*/data.json: No such file"),
        (odd, predictions, {}, "cannot read .*/tool_desc.json, the tools beside the gold plans: No such file"),
        (STUDIO, at_home / "none.json", {}, "cannot read"),
        (STUDIO, predictions, {"tools": odd}, "no list under `nodes`"),
        (STUDIO, predictions, {"tools": [{"name": "A"}]}, "no text under `id`"),
        ([], [], tool, "gold holds no gold plan"),
        ([{"no": "id"}], [], tool, "no gold plan: line 1: it has no `id`"),
        ([{"id": 1}], [], {}, "come without their tools"),
        (STUDIO, predictions, {"ids": ["nobody"]}, "none of the ids"),
        (STUDIO, predictions, {"ids": [["a"]]}, "no id"),
        (STUDIO, predictions, {"ids": [{1}]}, "`ids` cannot be written as JSON"),
        (STUDIO, predictions, {"ids": 1.5}, "`ids` cannot be written as JSON"),
        (STUDIO, predictions, {"examples": [b"1"]}, "`examples` cannot be written as JSON"),
        (STUDIO, predictions, {"tools": [{"id": {1}}]}, "`tools` cannot be written as JSON"),
        (STUDIO, predictions, {"tools": {"nodes": b""}}, "`tools` cannot be written as JSON"),
        (STUDIO, predictions, {"splits": "chains"}, "chains"),
        (STUDIO, predictions, {"n_tools": -1}, "-1"),
        (STUDIO, predictions, {"mode": "div"}, "unknown mode `div`"),
        (STUDIO, predictions, {"profile": "mild"}, "unknown profile `mild`"),
        (STUDIO, predictions, {"metrics": ["f2"]}, "unknown metric `f2`"),
        (STUDIO, predictions, {"metrics": "bertscore"}, "BERTScore needs"),
        (STUDIO, predictions, {"dependency_type": "both"}, "unknown dependency type"),
        (STUDIO, predictions, {"intervals": 0}, "`intervals` is 0"),
        (STUDIO, predictions, {"seed": -1}, "`seed` is -1"),
        (STUDIO, predictions, {"threads": 10**6}, "`threads` is 1000000"),
        ([{"id": {1}}], [], tool, "cannot be written as JSON"),
    ]
    for gold, said, settings, message in cases:
        with pytest.raises(jarvis.JarvisError, match=message) as raised:
            taskbench.evaluate(gold, said, **settings)
        assert raised.value.exit_code == 2, message
    with pytest.raises(jarvis.JarvisError) as raised:
        taskbench.evaluate(at_home / "none.json", predictions, tools=STUDIO / "tool_desc.json")
    assert raised.value.hint


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_outside_the_original_figures_come_out(kind: Any) -> None:
    """To 1e-9."""
    folder = OUTSIDE / kind
    if not folder.is_dir():
        pytest.skip("the samples with the original's figures are not there")
    wanted = json.loads((folder / "metrics.json").read_text())
    for file in (folder / "predictions").glob("*.json"):
        figures = taskbench.evaluate(folder, file, dependency_type=kind, profile="legacy", splits="all", n_tools="all")[
            "legacy"
        ]
        compared = [close(figures[group], values) for group, values in wanted.items()]
        assert len(compared) == 14 and sum(compared) > 1000


def close(figures: Any, wanted: Any) -> int:
    """How many figures agree; ROUGE is left out, which the original draws at random."""
    if isinstance(wanted, dict):
        kept = {name: value for name, value in wanted.items() if "rouge" not in name and "bertscore" not in name}
        return sum(close(figures[name], value) for name, value in kept.items())
    assert figures == pytest.approx(wanted, abs=1e-9)
    return 1
