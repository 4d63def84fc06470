"""Models in the cache that jarvis shares with the Hub's own library: what either writes, the other reads."""

import hashlib
import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

# Read once when the library is imported; a test passes its own folder and address.
os.environ["HF_HUB_DISABLE_XET"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ.pop("HF_TOKEN", None)

from huggingface_hub import hf_hub_download, scan_cache_dir, snapshot_download, try_to_load_from_cache  # noqa: E402
from huggingface_hub.file_download import _CACHED_NO_EXIST  # noqa: E402
from huggingface_hub.utils import WeakFileLock  # noqa: E402

from house import BINARY, PATIENCE  # noqa: E402

REPO = "org/mood"
COMMIT = "c0ffee" + "0" * 34
LARGE = "onnx/model_quantized.onnx"
FILES = {
    "config.json": b'{"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"]}',
    "tokenizer.json": b'{"version": "1.0"}',
    "tokenizer_config.json": b"{}",
    LARGE: bytes(range(256)) * 400,
}
WORDS = {"README.md": b"# A model", "LICENSE": b"MIT"}


def git_oid(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def blob_of(path, content):
    return hashlib.sha256(content).hexdigest() if path == LARGE else git_oid(content)


class Hub:
    """The part of the Hub's interface that both clients use."""

    def __init__(self):
        self.files = FILES | WORDS
        self.requests = []

    def __enter__(self):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(with_body=False)

            def do_GET(self):
                self.answer(with_body=True)

            def answer(self, with_body):
                path = unquote(self.path.split("?")[0])
                hub.requests.append((self.command, path))
                revision = f"(?:main|{COMMIT})"
                if re.fullmatch(f"/api/models/{REPO}(?:/revision/{revision})?", path):
                    self.reply(with_body, json.dumps(hub.info()).encode())
                elif re.fullmatch(f"/api/models/{REPO}/tree/{revision}", path):
                    self.reply(with_body, json.dumps(hub.tree()).encode())
                elif match := re.fullmatch(f"/{REPO}/resolve/{revision}/(.+)", path):
                    self.file(with_body, match[1])
                elif match := re.fullmatch("/cdn/(.+)", path):
                    self.reply(with_body, hub.files[match[1]], etag="of-the-store")
                else:
                    self.missing()

            def file(self, with_body, name):
                content = hub.files.get(name)
                if content is None:
                    self.missing()
                elif name == LARGE:
                    self.send_response(302)
                    self.send_header("x-repo-commit", COMMIT)
                    self.send_header("x-linked-etag", f'"{blob_of(name, content)}"')
                    self.send_header("x-linked-size", str(len(content)))
                    # Another name of this machine, so another host.
                    self.send_header("location", f"http://localhost:{hub.port}/cdn/{name}")
                    self.send_header("content-length", "0")
                    self.end_headers()
                else:
                    self.reply(with_body, content, etag=git_oid(content))

            def reply(self, with_body, content, etag=None):
                self.send_response(200)
                self.send_header("x-repo-commit", COMMIT)
                self.send_header("content-length", str(len(content)))
                if etag:
                    self.send_header("etag", f'"{etag}"')
                self.end_headers()
                if with_body:
                    self.wfile.write(content)

            def missing(self):
                self.send_response(404)
                self.send_header("x-error-code", "EntryNotFound")
                self.send_header("x-repo-commit", COMMIT)
                self.send_header("content-length", "0")
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def info(self):
        siblings = [{"rfilename": path} for path in self.files]
        return {
            "_id": "0", "id": REPO, "modelId": REPO, "sha": COMMIT, "private": False, "gated": False, "disabled": False,
            "downloads": 0, "likes": 0, "tags": ["license:mit"], "pipeline_tag": "text-classification",
            "cardData": {"license": "mit"}, "siblings": siblings,
        }  # fmt: skip

    def tree(self):
        def entry(path, content):
            entry = {"type": "file", "oid": git_oid(content), "size": len(content), "path": path}
            if path == LARGE:
                entry["lfs"] = {"oid": blob_of(path, content), "size": len(content), "pointerSize": 134}
            return entry

        folder = {"type": "directory", "oid": "0" * 40, "size": 0, "path": "onnx"}
        return [folder] + [entry(path, content) for path, content in self.files.items()]


@pytest.fixture
def hub():
    with Hub() as hub:
        yield hub


@pytest.fixture
def jarvis(hub, tmp_path):
    """Runs `jarvis models …` with the cache and the data in a folder of their own; stdout, read as JSON where it is."""

    def start(*arguments, **env):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS_", "HF_"))}
        settings = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_ENDPOINT": hub.url, "JARVIS_DATA_DIR": str(tmp_path / "data")}
        return subprocess.Popen(
            [BINARY, "models", *arguments],
            env=inherited | settings | env,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(*arguments, **env):
        process = start(*arguments, **env)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stdout + stderr
        return json.loads(stdout) if "--json" in arguments and arguments[0] != "pull" else stdout

    run.start = start
    return run


def layout(cache):
    """Every file and link of the cache, links with their targets."""
    found = {}
    for folder, _, names in os.walk(cache):
        for name in names:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, cache)
            # Locks and who made the tag differ; listings are the library's, which needs none.
            own = relative.startswith(".locks") or name == "CACHEDIR.TAG" or "/trees/" in relative
            if not own:
                found[relative] = os.readlink(path) if os.path.islink(path) else open(path, "rb").read()
    return found


def test_the_library_reads_what_jarvis_pulled(hub, jarvis, tmp_path):
    cache = tmp_path / "hub"
    told = [json.loads(line) for line in jarvis("pull", REPO, "-y", "--json").splitlines()]
    assert told[0] == {"status": "pulling manifest"} and told[-1] == {"status": "success"}
    asked = len(hub.requests)

    for path, content in FILES.items():
        found = try_to_load_from_cache(REPO, path, cache_dir=cache)
        assert isinstance(found, str) and open(found, "rb").read() == content
    assert try_to_load_from_cache(REPO, "chat_template.jinja", cache_dir=cache) in (None, _CACHED_NO_EXIST)
    folder = snapshot_download(REPO, cache_dir=cache, local_files_only=True)
    assert folder == str(cache / "models--org--mood" / "snapshots" / COMMIT)
    assert hf_hub_download(REPO, LARGE, cache_dir=cache, local_files_only=True, revision=COMMIT) == f"{folder}/{LARGE}"
    assert len(hub.requests) == asked, "nobody was asked"

    scanned = scan_cache_dir(cache)
    assert not scanned.warnings
    (repo,) = scanned.repos
    (revision,) = repo.revisions
    assert (repo.repo_id, revision.commit_hash, set(revision.refs)) == (REPO, COMMIT, {"main"})
    expected = {path: blob_of(path, content) for path, content in (FILES | {"LICENSE": WORDS["LICENSE"]}).items()}
    assert {os.path.relpath(file.file_path, folder): file.blob_path.name for file in revision.files} == expected


def test_jarvis_reads_what_the_library_downloaded(hub, jarvis, tmp_path):
    cache = tmp_path / "hub"
    hf_hub_download(REPO, "config.json", cache_dir=cache, endpoint=hub.url)
    hf_hub_download(REPO, LARGE, cache_dir=cache, endpoint=hub.url)
    assert jarvis("ls", "--json") == [], "half a model is none"
    folder = snapshot_download(REPO, cache_dir=cache, endpoint=hub.url)
    before = layout(cache)
    (model,) = jarvis("ls", "--json")
    assert (model["name"], model["origin"], model["folder"]) == (REPO, "found", folder)
    assert (model["weights"], model["tasks"], model["revision"]) == ([LARGE], ["text-classification"], COMMIT)
    (verified,) = jarvis("verify", REPO, "--json")
    assert verified["ok"] and len(verified["files"]) == len(FILES | WORDS)

    # Pulled on top, nothing is downloaded again; removed, everything of the library's is left.
    downloads = len([1 for _, path in hub.requests if "/resolve/" in path])
    jarvis("pull", REPO, "-y")
    assert len([1 for _, path in hub.requests if "/resolve/" in path]) == downloads
    jarvis("rm", REPO, "-y")
    assert {path: content for path, content in layout(cache).items() if ".no_exist" not in path} == {
        path: content for path, content in before.items() if ".no_exist" not in path
    }


def test_both_leave_the_same_cache(hub, jarvis, tmp_path):
    """Byte for byte, file for file, link for link."""
    jarvis("pull", REPO, "-y")
    other = tmp_path / "other"
    patterns = [*FILES, "LICENSE"]
    snapshot_download(REPO, cache_dir=other, endpoint=hub.url, allow_patterns=patterns)
    ours = {path: content for path, content in layout(tmp_path / "hub").items() if "/.no_exist/" not in path}
    assert ours == layout(other)


def test_jarvis_waits_for_a_file_that_the_library_locks(hub, jarvis, tmp_path):
    lock = tmp_path / "hub" / ".locks" / "models--org--mood" / f"{blob_of(LARGE, FILES[LARGE])}.lock"
    lock.parent.mkdir(parents=True)
    with WeakFileLock(lock):
        process = jarvis.start("pull", REPO, "-y")
        told = next(line for line in process.stderr if "downloads" in line)
        assert told == f"another program downloads {LARGE}; waiting for it\n"
    assert process.communicate(timeout=PATIENCE)[1].endswith(f"snapshots/{COMMIT}\n") and process.returncode == 0


def test_offline_nobody_is_asked(hub, jarvis):
    jarvis("pull", REPO, "-y")
    asked = len(hub.requests)
    jarvis("pull", REPO, "-y", "--offline")
    jarvis("pull", REPO, "-y", HF_HUB_OFFLINE="1")
    jarvis("ls", "--json")
    jarvis("suggest", "--json")
    assert len(hub.requests) == asked
