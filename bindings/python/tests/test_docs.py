"""Every example of the pages works as it is written."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

PAGES = ("docs/python.md", "bindings/python/README.md")


def examples(page: str) -> list[str]:
    """The blocks in Python. The blocks of a page share their names, as the cells of a notebook do."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_work(page: str, server: Any, photo: Path, at_home: Path) -> None:
    shutil.copytree(ROOT / "examples/taskbench/data_studio", at_home / "data_studio")
    names: dict[str, Any] = {}
    blocks = examples(page)
    assert blocks
    for number, block in enumerate(blocks, 1):
        # The address is that of a server that runs by itself.
        code = block.replace("http://127.0.0.1:8004", server.url)
        flags = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT: notebooks have it.
        value = eval(compile(code, f"{page}, block {number}", "exec", flags=flags), names)
        if value is not None:
            asyncio.run(value)
