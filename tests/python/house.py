"""The house of a test: starts jarvis, plays the model behind it, and makes files."""

import json
import os
import queue
import re
import signal
import struct
import subprocess
import tempfile
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("JARVIS_BINARY", ROOT / "target/debug/jarvis"))
PATIENCE = 30


class Jarvis:
    """`jarvis serve` on a free port, with its data in a folder of its own."""

    def __init__(self, *flags, env=None, config=None):
        self.flags, self.env, self.config = flags, env or {}, config
        self.lines = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="jarvis-e2e-")
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("JARVIS_", "OPENAI_", "HF_"))
        }
        command = [BINARY, "serve", "--http", "127.0.0.1:0", "--data-dir", self.folder.name, *self.flags]
        if self.config is not None:
            file = Path(self.folder.name) / "test.yaml"
            file.write_text(self.config, encoding="utf-8")
            command += ["--config", file]
        self.process = subprocess.Popen(
            command,
            cwd=self.folder.name,
            env=inherited | self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        found = queue.Queue()
        self.listener = threading.Thread(target=self._listen, args=(found,), daemon=True)
        self.listener.start()
        try:
            self.url = found.get(timeout=PATIENCE)
        except queue.Empty:
            self.url = None
        if self.url is None:
            self.__exit__(None, None, None)
            raise RuntimeError("the server does not start:\n" + self.told())
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False)
        return self

    @property
    def token(self):
        return self.env.get("JARVIS_TOKEN")

    def _listen(self, found):
        for line in self.process.stderr:
            self.lines.append(line.rstrip())
            if match := re.search(r"http://(127\.0\.0\.1:\d+)", line):
                found.put(f"http://{match[1]}")
        found.put(None)

    def told(self):
        """What it said on stderr."""
        return "\n".join(self.lines[-60:])

    def __exit__(self, *_):
        if hasattr(self, "http"):
            self.http.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError("the server does not stop:\n" + self.told()) from None
        finally:
            self.listener.join()
            self.process.stderr.close()
            self.folder.cleanup()

    def ask(self, text, **more):
        """Asks as the original's clients do; the reply's JSON."""
        reply = self.http.post("/hugginggpt", json={"messages": [{"role": "user", "content": text}], **more})
        assert reply.status_code == 200, reply.text
        return reply.json()

    def run_ended(self, run_id):
        """Follows a run to its end; its last event."""
        last = None
        with self.http.stream("GET", f"/runs/{run_id}/events") as reply:
            for event in events(reply):
                last = event
        return last


def events(reply):
    """The events of a stream: their kind and their data."""
    kind, data = None, []
    for line in reply.iter_lines():
        if line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            yield kind, json.loads("\n".join(data))
            kind, data = None, []


def recording(path):
    """A recorded model that answers any number of times."""
    mood = '[{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": "I love this house"}}]'
    speech = '[{"task": "text-to-video", "id": 0, "dep": [-1], "args": {"text": "a cat"}}]'
    lines = [
        ("parse_task", ["mood of my house"], mood),
        ("parse_task", ["film of a cat"], speech),
        ("parse_task", ["good morning"], "[]"),
        ("chitchat", [], "Good morning! What shall I do?"),
        ("response_results", [], "It is meant kindly: you love your house."),
    ]
    with open(path, "w", encoding="utf-8") as file:
        for stage, contains, reply in lines:
            file.write(json.dumps({"stage": stage, "contains": contains, "reply": reply, "sticky": True}) + "\n")
    return path


class FakeModel:
    """An OpenAI-compatible endpoint. It plans nothing and chats; its words come one by one, and may be held back."""

    words = ["Good", " morning", ",", " dear", " friend", "."]

    def __init__(self):
        self.hold = False
        self.status = 200
        self.held = threading.Event()
        self.aborted = threading.Event()
        self.stages = []

    def __enter__(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.whole(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                stage = self.headers.get("x-jarvis-stage")
                model.stages.append(stage)
                if model.status != 200:
                    self.whole(model.status, {"error": {"message": "the model is not well"}})
                    return
                words = ["[]"] if stage == "parse_task" else model.words
                if body.get("stream"):
                    self.pieces(words, held=model.hold and stage != "parse_task")
                else:
                    if model.hold and stage != "parse_task":
                        self.wait_for_the_client_to_go()
                        return
                    message = {"role": "assistant", "content": "".join(words)}
                    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                    self.whole(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

            def whole(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def pieces(self, words, held):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                for word in words:
                    self.piece({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]})
                    if held:
                        self.wait_for_the_client_to_go()
                        return
                self.piece({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True

            def piece(self, chunk):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()

            def wait_for_the_client_to_go(self):
                model.held.set()
                self.connection.settimeout(PATIENCE)
                try:
                    gone = self.connection.recv(1) == b""
                except TimeoutError:
                    gone = False
                except OSError:
                    gone = True
                if gone:
                    model.aborted.set()
                self.close_connection = True

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Shop:
    """An HTTP API that keeps what it was asked to reserve, as a tool of jarvis that changes something."""

    def __enter__(self):
        reserved = self.reserved = []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                reserved.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                data = b'{"reservation": 5}'
                self.send_response(201)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def document(self):
        """How it describes itself."""
        body = {"type": "object", "required": ["article"], "properties": {"article": {"type": "integer"}}}
        operation = {
            "operationId": "reserve",
            "summary": "Reserves an article",
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "responses": {"201": {"description": "Reserved"}},
        }
        return {
            "openapi": "3.1.0",
            "info": {"title": "Shop", "version": "1"},
            "servers": [{"url": f"http://127.0.0.1:{self.server.server_port}"}],
            "paths": {"/reservations": {"post": operation}},
        }

    def config(self, document):
        """The configuration that has it as a tool; `document` is the file of its description."""
        return f"tools:\n  - name: shop\n    when: an article is wanted\n    openapi: {{document: {document}}}\n"


def picture(width=40, height=24):
    """A PNG with a red square on white."""
    rows = b"".join(
        b"\0" + b"".join(b"\xd0\x20\x20" if 8 < x < 24 and 6 < y < 18 else b"\xff\xff\xff" for x in range(width))
        for y in range(height)
    )

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
