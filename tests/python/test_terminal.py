"""`jarvis run` at a real terminal: a call that changes something waits for what the person types."""

import json
import os

import pytest

from house import BINARY, Shop
from terminal import at_terminal

QUESTION = "Allow it?"


@pytest.fixture
def shop():
    """A shop that keeps what it was asked to reserve."""
    with Shop() as shop:
        yield shop


def reserving(folder, shop):
    """The configuration of a house that has the shop as a tool."""
    (folder / "shop.json").write_text(json.dumps(shop.document()), encoding="utf-8")
    (folder / "jarvis.yaml").write_text(shop.config("shop.json"), encoding="utf-8")


def run(folder, typed):
    """Runs the request at a terminal of its own and types this once it is asked; what is seen, and the status."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS_", "OPENAI_"))}
    command = [BINARY, "run", "--llm", "offline", "--data-dir", "data", "--config", "jarvis.yaml", "reserve article 17"]
    return at_terminal(command, folder, environment, [(QUESTION, typed)])


@pytest.mark.parametrize(
    ("typed", "calls", "status"),
    [
        ("y\r", [{"article": 17}], 0),
        ("perhaps\ra\r", [{"article": 17}], 0),
        ("n\r", [], 1),
        ("\x04", [], 1),
        ("\x03", [], 1),
    ],
    ids=["yes", "always", "no", "closed", "interrupted"],
)
def test_a_call_waits_for_the_answer(tmp_path, shop, typed, calls, status):
    reserving(tmp_path, shop)
    seen, ended = run(tmp_path, typed)
    before = seen[: seen.index(QUESTION)] if QUESTION in seen else ""
    assert "shop" in before and "17" in before, seen
    if before:
        assert "plan: " in before and "waits for leave" in before, f"the question comes last: {seen}"
    assert (shop.reserved, ended) == (calls, status), seen
