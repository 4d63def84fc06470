"""What notebooks and data frames show."""

from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jarvis
import jarvis.taskbench
import pandas as pd
import pytest
from conftest import ROOT
from IPython.core.formatters import DisplayFormatter

STUDIO = ROOT / "examples/taskbench/data_studio"


def shown(value: object) -> dict[str, Any]:
    """What a notebook's kernel sends to its page."""
    data, _ = DisplayFormatter().format(value)  # type: ignore[no-untyped-call]
    return dict(data)


def test_a_notebook_shows_the_graph() -> None:
    plan = jarvis.plan("tell the mood of: I <b>love</b> it & more")
    data = shown(plan)
    assert {"image/svg+xml", "text/vnd.mermaid", "text/plain"} <= set(data)
    drawing = ET.fromstring(data["image/svg+xml"])
    assert drawing.tag.endswith("svg")
    texts = "".join(drawing.itertext())
    assert "text-classification" in texts and "native/vader" in texts and "I <b>love</b> it & more" in texts
    assert "text-classification" in data["text/plain"]


def test_a_notebook_shows_a_run_without_running_what_it_says() -> None:
    page = shown(jarvis.run("summarise: <script>alert(1)</script> is a text. It has two sentences."))["text/html"]
    assert "<script>" not in page and "&lt;script&gt;" in page and "summarization" in page


def test_a_notebook_shows_figures() -> None:
    figures = jarvis.taskbench.evaluate(STUDIO, STUDIO / "predictions/example-model.json", splits="all")
    page = shown(figures)["text/html"]
    assert page.count("<table>") == 2 and "93.55" in page and "chain_overall" in page


def test_frames_of_runs_and_plans() -> None:
    run = jarvis.run("tell the mood of: I love it").to_frame()
    assert run.index.name == "id" and run.loc[0, "model"] == "native/vader" and run.loc[0, "status"] == "succeeded"
    assert jarvis.run("fly to the moon").to_frame().empty
    plan = jarvis.plan("tell the mood of: I love it").to_frame()
    assert plan.loc[0, "args"] == {"text": "I love it"}


def test_frames_of_figures() -> None:
    figures = jarvis.taskbench.evaluate(STUDIO, STUDIO / "predictions/example-model.json", splits="all")
    legacy, strict = figures.to_frame(), figures.to_frame("strict")
    assert list(legacy.index) == ["overall_overall", "single_overall", "chain_overall", "dag_overall"]
    assert legacy.loc["overall_overall", "node_micro_f1_no_matching"] == pytest.approx(0.9355, abs=1e-4)
    assert strict.loc["dag_overall", "nodes.f1"] == pytest.approx(0.9697, abs=1e-4)
    assert isinstance(legacy, pd.DataFrame) and not any("per_type" in column for column in legacy.columns)
    alone = jarvis.taskbench.evaluate(STUDIO, STUDIO / "predictions/example-model.json", profile="strict")
    with pytest.raises(jarvis.JarvisError, match="no legacy figures"):
        alone.to_frame("legacy")


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **more)

    result = jarvis.run("tell the mood of: I love it")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(jarvis.JarvisError, match="need pandas") as raised:
        result.to_frame()
    assert raised.value.hint == "pip install 'jarvis-run[pandas]'"


def test_a_picture_that_is_gone_is_named(photo: Path) -> None:
    result = jarvis.run("find the edges of photo.png", files=[photo])
    (made,) = result.files
    assert made.path is not None
    made.path.unlink()
    page = result._repr_html_()
    assert "base64" not in page and made.name is not None and made.name in page
