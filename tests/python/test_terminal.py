"""`jarvis run` at a real terminal: a call that changes something waits for what the person types."""

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from house import BINARY, PATIENCE

QUESTION = "Allow it?"


@pytest.fixture
def shop():
    """A shop that keeps what it was asked to reserve."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.server.reserved.append(body)
            data = b'{"reservation": 5}'
            self.send_response(201)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.reserved = []
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def reserving(folder, shop):
    """The configuration of a house that has the shop as a tool."""
    body = {"type": "object", "required": ["article"], "properties": {"article": {"type": "integer"}}}
    operation = {
        "operationId": "reserve",
        "summary": "Reserves an article",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"201": {"description": "Reserved"}},
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": f"http://127.0.0.1:{shop.server_port}"}],
        "paths": {"/reservations": {"post": operation}},
    }
    (folder / "shop.json").write_text(json.dumps(document), encoding="utf-8")
    tools = "tools:\n  - name: shop\n    when: an article is wanted\n    openapi: {document: shop.json}\n"
    (folder / "jarvis.yaml").write_text(tools, encoding="utf-8")


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
