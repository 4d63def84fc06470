"""`/openapi.json` is a valid document, and requests made up from it get replies that it allows, and no server error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from house import Jarvis


def test_the_document_is_valid(offline):
    document = offline.http.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    wrong = [f"{list(error.absolute_path)}: {error.message}" for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert not wrong, wrong


@pytest.mark.parametrize("token", [None, "open-sesame"], ids=["open", "with-a-token"])
def test_replies_are_as_described(tmp_path, token):
    config = "server:\n  max_running: 8\n"
    with Jarvis("--llm", "offline", env={"JARVIS_TOKEN": token} if token else {}, config=config) as server:
        command = [
            Path(sys.executable).with_name("schemathesis"),
            *["--config-file", Path(__file__).with_name("schemathesis.toml")],
            "run",
            f"{server.url}/openapi.json",
            *["--checks", "all", "--phases", "examples,coverage,fuzzing"],
            *["--max-examples", os.environ.get("JARVIS_SCHEMA_EXAMPLES", "10"), "--generation-deterministic"],
            *["--request-timeout", "20", "--no-color", "--warnings", "off"],
        ]
        if token:
            command += ["--header", f"Authorization: Bearer {token}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert server.process.poll() is None, f"the server ended\n{server.told()}"
        assert server.http.get("/health").status_code == 200
    starts = [at for at in (done.stdout.find("= ERRORS ="), done.stdout.find("= FAILURES =")) if at >= 0]
    told = done.stdout[min(starts, default=0) :]
    assert done.returncode == 0, f"{told[:20000]}\n{done.stderr[-2000:]}\n{server.told()}"
