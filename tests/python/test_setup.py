"""`jarvis setup` at a real terminal: the answers that a person types are what the configuration holds."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from house import BINARY
from terminal import at_terminal

KEY = "hf_aVeryPrivateKeyThatSomebodyPastes"


@pytest.fixture
def ollama():
    """An Ollama with two chat models."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            models = [{"name": name, "details": {"parameter_size": "4B"}} for name in ("gemma3:4b", "qwen3:4b")]
            replies = {
                "/api/version": {"version": "0.12.0"},
                "/api/tags": {"models": models},
                "/v1/models": {"data": [{"id": model["name"], "object": "model"} for model in models]},
            }
            reply = replies.get(self.path)
            data = json.dumps(reply or {}).encode()
            self.send_response(404 if reply is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def set_up(folder, answers, env=None, flags=()):
    """Runs `jarvis setup` at a terminal, types each answer when its question appears; the output and the status."""
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "JARVIS_LLM__LOCAL_SERVERS": "[]"}
    return at_terminal([BINARY, "setup", *flags], folder, own | (env or {}), answers)


def written(folder):
    return (folder / ".config/jarvis/jarvis.yaml").read_text(encoding="utf-8")


def test_enter_takes_what_was_found(tmp_path, ollama):
    env = {"JARVIS_LLM__LOCAL_SERVERS": json.dumps([ollama]), "OPENAI_API_KEY": KEY}
    answers = [("Number [2]: ", "\r"), ("Which model?", ""), ("Number [", "\r"), ("logs [", "\r")]
    seen, status = set_up(tmp_path, answers, env)
    text = written(tmp_path)
    assert status == 0 and f"base_url: {ollama}/v1\n" in text and "model: " in text, seen
    assert KEY not in seen + text


def test_the_offline_planner_is_written_where_it_is_chosen(tmp_path):
    answers = [("Number [", "7\r"), ("Type a number", ""), ("Number [", "1\r"), ("logs [", "~/mine\r")]
    seen, status = set_up(tmp_path, answers)
    text = written(tmp_path)
    assert status == 0 and "  model: offline\n" in text and f"data_dir: {tmp_path}/mine\n" in text, seen


def test_a_flag_is_an_answer(tmp_path):
    seen, status = set_up(tmp_path, [("logs [", "\r")], flags=["--llm", "gpt-4o-mini"])
    assert status == 0 and "Who plans" not in seen and "  model: gpt-4o-mini\n" in written(tmp_path), seen
    answers = [("Number [1]: ", "\r"), ("Replace it?", "\r")]
    seen, status = set_up(tmp_path, answers, flags=["--data-dir", "there"])
    assert status == 0 and "logs [" not in seen and f"data_dir: {tmp_path}/there\n" in written(tmp_path), seen


def test_a_key_that_is_pasted_is_not_kept(tmp_path):
    answers = [
        ("Number [", "2\r"),
        ("Base URL", "ftp://nowhere\r"),
        ("http:// or https://", ""),
        ("Base URL", "http://127.0.0.1:9/v1\r"),
        ("Name of the model", "mine\r"),
        ("Name of the environment variable", KEY + "\r"),
        ("never the key", ""),
        ("Name of the environment variable", "MY_KEY\r"),
        ("logs [", "\r"),
    ]
    seen, status = set_up(tmp_path, answers)
    text = written(tmp_path)
    assert status == 0 and "  api_key_env: MY_KEY\n" in text and KEY not in text, seen
    assert "read -rs MY_KEY && export MY_KEY" in seen, seen


@pytest.mark.parametrize(
    ("answer", "status", "replaced"), [("y\r", 0, True), ("\r", 0, True), ("n\r", 1, False), ("\x04", 1, False)]
)
def test_what_is_there_is_replaced_when_that_is_agreed_to(tmp_path, answer, status, replaced):
    file = tmp_path / ".config/jarvis/jarvis.yaml"
    file.parent.mkdir(parents=True)
    before = "# Mine.\nllm: {model: gpt-4o-mini}\nlimits: {concurrency: 3}\n"
    file.write_text(before, encoding="utf-8")
    seen, ended = set_up(tmp_path, [("Number [1]: ", "2\r"), ("logs [", "\r"), ("Replace it?", answer)])
    assert ended == status and "llm.model: gpt-4o-mini -> offline" in seen, seen
    text = written(tmp_path)
    if replaced:
        assert "  model: offline\n" in text and "  concurrency: 3\n" in text, text
        assert file.with_suffix(".yaml.bak").read_text(encoding="utf-8") == before
    else:
        assert text == before and list(file.parent.iterdir()) == [file], seen


def test_an_end_of_input_writes_nothing(tmp_path):
    seen, status = set_up(tmp_path, [("Number [", "\x04")])
    assert status == 1 and "the terminal was closed" in seen and not (tmp_path / ".config").exists(), seen
