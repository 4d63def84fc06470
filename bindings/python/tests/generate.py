"""Makes ``jarvis/types.py`` of the document that a server describes its API with.

``python generate.py http://…/openapi.json types.py``; the test of drift does the same and compares.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

# The routes of the client. What speaks OpenAI's, AG-UI's or another protocol has clients of its own.
ROUTES = (
    *("/hugginggpt", "/tasks", "/results", "/pipelines", "/upload", "/runs", "/events", "/decisions", "/plans"),
    *("/health", "/ready", "/models", "/tools", "/local-models", "/me"),
)

HEADER = '''"""The types of what a server says and is asked, generated from its OpenAPI document; ``tests/generate.py`` makes them.

Everything is the JSON itself: a ``TypedDict`` costs no conversion, keeps fields of newer servers, and a type checker knows the kinds
of events apart by ``event["event"]``.
"""

'''

PREFIX = "#/components/schemas/"


def part(document: dict[str, Any]) -> dict[str, Any]:
    """The schemas that the routes of the client use."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    used: set[str] = set()

    def walk(value: object) -> None:
        if isinstance(value, str) and value.startswith(PREFIX):
            name = value.removeprefix(PREFIX)
            if name not in used:
                used.add(name)
                walk(schemas[name])
        elif isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for path, item in document["paths"].items():
        if any(path == route or path.startswith(f"{route}/") for route in ROUTES):
            walk(item)
    kept = {name: schema for name, schema in schemas.items() if name in used}
    for schema in kept.values():
        # A class without fields would take no keys at all.
        if (
            schema.get("type") == "object"
            and not schema.get("properties")
            and schema.get("additionalProperties") is True
        ):
            schema["additionalProperties"] = {}
    return {"openapi": document["openapi"], "info": document["info"], "paths": {}, "components": {"schemas": kept}}


def generate(document: dict[str, Any], out: Path) -> None:
    """Writes the module."""
    # In a folder of its own, where no configuration of a formatter counts.
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "openapi.json"), Path(folder, "types.py")
        source.write_text(json.dumps(part(document)), encoding="utf-8")
        program = Path(sys.executable).with_name("datamodel-codegen")
        options = [
            *["--input", str(source), "--input-file-type", "openapi", "--output", str(made)],
            *["--output-model-type", "typing.TypedDict", "--target-python-version", "3.10", "--no-use-union-operator"],
            *["--use-schema-description", "--enum-field-as-literal", "all"],
            *["--disable-timestamp", "--formatters", "ruff-format", "--custom-file-header", "#"],
        ]
        subprocess.run([str(program), *options], cwd=folder, check=True, timeout=120)
        text = made.read_text(encoding="utf-8")
    out.write_text(HEADER + text.removeprefix("#").lstrip(), encoding="utf-8")


if __name__ == "__main__":
    with urllib.request.urlopen(sys.argv[1]) as reply:
        generate(json.load(reply), Path(sys.argv[2]))
