"""Records real commands in a pseudo-terminal and draws them as animated SVGs: docs/images/terminal.svg and approval.svg.

`cargo xtask pictures` runs it: terminal.py BINARY OUT
"""

import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "\x1b[32m$\x1b[0m "
COLUMNS = 100

NOTES = """\
mcp_servers:
  notes:
    command: python3
    args: [examples/notes/server.py]
    effects: {list_notes: reads}
"""

SESSIONS = {
    "terminal": (
        22,
        [
            ('jarvis run "find the edges of house.jpg and tell me its main colours"', {}),
            ('jarvis plan "find the edges of house.jpg and make the result half the size" --out plan.json', {}),
            ("jarvis run --plan plan.json", {}),
        ],
    ),
    "approval": (
        16,
        [
            ('jarvis run "add a note: water the plants"', {"Allow it?": "y\n"}),
            ('jarvis run "list all notes"', {}),
        ],
    ),
}


class Cast:
    """A recording in the form of asciinema, version 2, whose clock is ours."""

    def __init__(self, rows):
        self.lines = [json.dumps({"version": 2, "width": COLUMNS, "height": rows})]
        self.now = 0.0

    def show(self, text, after):
        self.now += after
        self.lines.append(json.dumps([round(self.now, 3), "o", text]))

    def type(self, text):
        for letter in text:
            self.show(letter, 0.03)


def perform(cast, rows, command, answers, env, folder, home):
    """Runs a command in a terminal of its own and records what it shows, as fast as it shows it."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
    child = subprocess.Popen(
        ["bash", "-c", command], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=env, start_new_session=True
    )
    os.close(slave)
    before = time.monotonic()
    seen = ""
    answers = dict(answers)
    while True:
        ready, _, _ = select.select([master], [], [], 60)
        if not ready:
            child.kill()
            sys.exit(f"`{command}` shows nothing for a minute; it showed: {seen}")
        try:
            data = os.read(master, 65536)
        except OSError:  # The other end is closed.
            break
        if not data:
            break
        text = data.decode(errors="replace").replace(str(folder), "/home/ada/jarvis").replace(str(home), "/home/ada")
        seen += text
        now = time.monotonic()
        cast.show(text, min(now - before, 1.5))
        before = now
        for asked in [asked for asked in answers if asked in seen]:
            cast.now += 1.5  # Time to read the question.
            os.write(master, answers.pop(asked).encode())
            before = time.monotonic()
    os.close(master)
    if child.wait() != 0 or answers:
        sys.exit(f"`{command}` ended with {child.returncode}, not asked: {list(answers)}; it showed: {seen}")


def record(name, binary, out, render):
    rows, commands = SESSIONS[name]
    with tempfile.TemporaryDirectory() as base:
        home, folder = Path(base, "home"), Path(base, "work")
        home.mkdir()
        folder.mkdir()
        shutil.copytree(ROOT / "examples/notes", folder / "examples/notes")
        shutil.copy(ROOT / "examples/house.jpg", folder)
        programs = Path(base, "bin")
        programs.mkdir()
        (programs / "jarvis").symlink_to(binary)
        env = {
            "HOME": str(home),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "JARVIS_LLM__LOCAL_SERVERS": "[]",
        }
        if name == "approval":
            (folder / "jarvis.yaml").write_text(NOTES)
            env["JARVIS_CONFIG"] = "jarvis.yaml"
        cast = Cast(rows)
        for command, answers in commands:
            cast.show(PROMPT, 0.3)
            cast.type(command)
            cast.show("\r\n", 0.4)
            perform(cast, rows, command, answers, env, folder, home)
            cast.now += 1.8
        cast.show(PROMPT, 0.1)
        cast.show("", 3)
        path = Path(base, "cast.json")
        path.write_text("\n".join(cast.lines) + "\n")
        drawn = out / f"{name}.svg"
        subprocess.run([*render, "render", path, drawn, "-t", "window_frame", "-m", "60"], check=True, stdout=subprocess.DEVNULL)
        size = drawn.stat().st_size
        if size > 300_000:
            sys.exit(f"{drawn} has {size} bytes, more than 300,000")
        leaks = re.findall(re.escape(base), drawn.read_text())
        if leaks:
            sys.exit(f"{drawn} shows a path of this machine {len(leaks)} times")
        print(f"pictures: {drawn.relative_to(ROOT)}, {size // 1000} kB, {cast.now:.0f} s")


if __name__ == "__main__":
    binary, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    for session in SESSIONS:
        record(session, binary, out, [sys.executable, "-m", "termtosvg"])
