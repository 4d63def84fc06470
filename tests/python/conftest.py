"""Fixtures: the real binary as a server, and the models behind it."""

import pytest

from house import FakeModel, Jarvis, recording


@pytest.fixture(scope="session")
def offline():
    """A server without any model."""
    with Jarvis("--llm", "offline") as server:
        yield server


@pytest.fixture(scope="session")
def guarded():
    """A server with a token."""
    with Jarvis("--llm", "offline", env={"JARVIS_TOKEN": "open sesame"}) as server:
        yield server


@pytest.fixture(scope="session")
def spoken(tmp_path_factory):
    """A server whose model was recorded: it greets, judges moods and fails where it is asked to."""
    file = recording(tmp_path_factory.mktemp("recording") / "model.jsonl")
    with Jarvis("--llm", f"replay:{file}") as server:
        yield server


@pytest.fixture
def model():
    """A chat model on a socket, to be steered by the test."""
    with FakeModel() as model:
        yield model


@pytest.fixture
def modelled(model):
    """A server with that model."""
    with Jarvis("--llm", "fake", "--base-url", model.url) as server:
        yield server
