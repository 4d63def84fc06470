"""What one installation brings: the program, typed, and types that are the server's."""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import jarvis
import pytest
from generate import generate
from jarvis import _program
from unasync import sync

PACKAGE = Path(jarvis.__file__).parent
SOURCE = Path(__file__).parents[1] / "python/jarvis"


def test_the_program_comes_with_the_package() -> None:
    program = jarvis.program()
    assert program.parent == Path(sysconfig.get_path("scripts"))
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["jarvis", importlib.metadata.version("jarvis-run")]


def test_the_variable_names_another_program(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = at_home / "other"
    other.write_text('#!/bin/sh\necho \'{"error": {"code": "odd", "message": "another one"}}\'\nexit 3\n')
    other.chmod(0o755)
    monkeypatch.setenv("JARVIS_BIN", str(other))
    with pytest.raises(jarvis.JarvisError) as raised:
        jarvis.run("hello")
    error = raised.value
    assert (error.message, error.code, error.exit_code, error.hint) == ("another one", "odd", 3, None)
    (at_home / "folder").mkdir()
    monkeypatch.setenv("JARVIS_BIN", "./other")
    with pytest.raises(jarvis.JarvisError, match="another one"):
        jarvis.run("hello", cwd=at_home / "folder")
    monkeypatch.setenv("JARVIS_BIN", str(at_home / "gone"))
    with pytest.raises(jarvis.ProgramNotFound, match="gone"):
        jarvis.run("hello")


@pytest.mark.parametrize("way", ["user", "target"])
def test_the_program_is_that_of_the_own_installation(at_home: Path, way: str) -> None:
    """Another one is in the environment, as that of a distribution's package is in ``/usr/bin``."""
    scheme = sysconfig.get_preferred_scheme("user")
    paths = {
        name: Path(sysconfig.get_path(name, scheme, {"userbase": str(at_home)})) for name in ("purelib", "scripts")
    }
    site = paths["purelib"] if way == "user" else at_home / "target"
    site.mkdir(parents=True)
    (site / "jarvis").symlink_to(PACKAGE)
    program = (paths["scripts"] if way == "user" else site / "bin") / "jarvis"
    program.parent.mkdir(parents=True)
    shutil.copy("/bin/true", program)
    code = "import jarvis; print(jarvis.__file__); print(jarvis.program())"
    env = {**os.environ, "PYTHONUSERBASE": str(at_home), "PYTHONPATH": str(site)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(site / "jarvis/__init__.py"), str(program)]


def test_without_a_program_the_error_says_what_to_do(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_program, "_script_folders", lambda: [at_home])
    monkeypatch.setenv("PATH", str(at_home))
    with pytest.raises(jarvis.ProgramNotFound) as raised:
        jarvis.program()
    assert "jarvis-run" in (raised.value.hint or "")
    found = at_home / "jarvis"
    shutil.copy("/bin/true", found)
    assert jarvis.program() == found


def test_a_program_for_another_machine_is_named(at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = at_home / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    monkeypatch.setenv("JARVIS_BIN", str(broken))
    with pytest.raises(jarvis.ProgramNotFound, match="cannot be started"):
        jarvis.run("hello")


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_native.pyi").is_file()
    assert PACKAGE.is_relative_to(sys.prefix), "the tests are those of the installed wheel"


def test_the_types_are_those_of_the_server(server: Any, at_home: Path) -> None:
    generate(server.http.get("/openapi.json").json(), at_home / "types.py")
    drifted = "the API changed: JARVIS_UPDATE_DOCS=1 cargo xtask bindings"
    assert (at_home / "types.py").read_text("utf-8") == (SOURCE / "types.py").read_text("utf-8"), drifted


def test_one_client_is_the_other_without_awaits() -> None:
    text = (SOURCE / "_async_client.py").read_text("utf-8")
    drifted = "_client.py is another one: JARVIS_UPDATE_DOCS=1 cargo xtask bindings"
    assert sync(text) == (SOURCE / "_client.py").read_text("utf-8"), drifted


def test_the_native_module_is_described() -> None:
    """The stub says what the module has."""
    from jarvis import _native

    described = {
        line.split("(")[0].removeprefix("def ")
        for line in (PACKAGE / "_native.pyi").read_text("utf-8").splitlines()
        if line.startswith("def ")
    }
    assert described == {name for name, value in vars(_native).items() if inspect.isroutine(value)}
