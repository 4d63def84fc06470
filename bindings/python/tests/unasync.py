"""Makes the client of the asynchronous one: the same text without its awaits, so that the two cannot differ.

``python unasync.py FOLDER`` writes ``_client.py`` into the folder of the package; the tests compare.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WORDS = {
    " for asyncio: :class:`jarvis.Client`, method by method.\n\n``_client.py`` is made of this file by ``tests/unasync.py``.\n": (
        ".\n\nMade of ``_async_client.py`` by ``tests/unasync.py``.\n"
    ),
    "async def ": "def ",
    "async with ": "with ",
    "async for ": "for ",
    "await ": "",
    "asynccontextmanager": "contextmanager",
    "AsyncIterator": "Iterator",
    "AsyncClient": "Client",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aread": "read",
    "aiter_sse": "iter_sse",
}


def sync(source: str) -> str:
    """The text of the client."""
    for word, other in WORDS.items():
        source = source.replace(word, other)
    source = re.sub(r"\((self\.health\(\))\)", r"\1", source)
    sorted_ = _ruff(source, "check", "--select=I", "--fix", "--quiet")
    return _ruff(sorted_, "format")


def _ruff(source: str, *command: str) -> str:
    program = str(Path(sys.executable).with_name("ruff"))
    options = ["--isolated", "--line-length=120", "--stdin-filename=_client.py", "-"]
    done = subprocess.run(
        [program, *command, *options], input=source, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


if __name__ == "__main__":
    package = Path(sys.argv[1])
    text = (package / "_async_client.py").read_text(encoding="utf-8")
    (package / "_client.py").write_text(sync(text), encoding="utf-8")
