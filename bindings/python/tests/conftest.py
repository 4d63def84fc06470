"""Fixtures: a folder of one's own, servers, and what they work with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jarvis
import pytest
from house import FakeModel, Jarvis, Shop, picture

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the data of jarvis in it, and nothing of the person's configuration."""
    for name in list(os.environ):
        if name.startswith(("JARVIS_", "OPENAI_", "HF_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    # Proxies of the machine are none of a loopback address.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture."""
    path = tmp_path / "photo.png"
    path.write_bytes(picture())
    return path


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A server without any model."""
    with Jarvis("--llm", "offline") as running:
        yield running


@pytest.fixture
def client(server: Any) -> Iterator[jarvis.Client]:
    """Its client."""
    with jarvis.Client(server.url) as client:
        yield client


@pytest.fixture
def shop() -> Iterator[Any]:
    """A shop that is a tool."""
    with Shop() as shop:
        yield shop


@pytest.fixture
def shop_client(shop: Any, tmp_path: Path) -> Iterator[jarvis.Client]:
    """The client of a server that has the shop as a tool."""
    (tmp_path / "shop.json").write_text(json.dumps(shop.document()), encoding="utf-8")
    with (
        Jarvis("--llm", "offline", config=shop.config(tmp_path / "shop.json")) as running,
        jarvis.Client(running.url) as client,
    ):
        yield client


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Any]:
    """A chat model that says one word and waits for whoever asked to go away."""
    with FakeModel() as model:
        model.hold = True
        yield model
