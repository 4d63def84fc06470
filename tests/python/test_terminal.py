"""`jarvis run` at a real terminal: a call that changes something waits for what the person types."""

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time

import pytest

from house import BINARY, PATIENCE, Shop

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


def at_terminal(folder, typed):
    """Runs the request at a terminal of its own and types this once it is asked; what is seen, and the status."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS_", "OPENAI_"))}
    command = [BINARY, "run", "--llm", "offline", "--data-dir", "data", "--config", "jarvis.yaml", "reserve article 17"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment | {"TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # A session of its own, whose terminal this is: the keys that interrupt reach it.
        preexec_fn=lambda: own_terminal(theirs),
    )
    os.close(theirs)
    seen, answered = b"", False
    patience = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < patience:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if not answered and QUESTION.encode() in seen:
                answered = True
                os.write(ours, typed)
        return seen.decode(errors="replace"), process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(ours)


def own_terminal(terminal):
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize(
    ("typed", "calls", "status"),
    [
        (b"y\r", [{"article": 17}], 0),
        (b"perhaps\ra\r", [{"article": 17}], 0),
        (b"n\r", [], 1),
        (b"\x04", [], 1),
        (b"\x03", [], 1),
    ],
    ids=["yes", "always", "no", "closed", "interrupted"],
)
def test_a_call_waits_for_the_answer(tmp_path, shop, typed, calls, status):
    reserving(tmp_path, shop)
    seen, ended = at_terminal(tmp_path, typed)
    before = seen[: seen.index(QUESTION)] if QUESTION in seen else ""
    assert "shop" in before and "17" in before, seen
    assert (shop.reserved, ended) == (calls, status), seen
