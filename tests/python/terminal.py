"""Runs a program at a terminal of its own and types what a person would."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time

from house import PATIENCE


def at_terminal(command, folder, env, answers):
    """Types each answer (what is waited for, what is typed) once its question is seen; what is seen, and the status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=env | {"TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # A session of its own, whose terminal this is: the keys that interrupt reach it.
        preexec_fn=lambda: own_terminal(theirs),
    )
    os.close(theirs)
    seen, looked, waiting = b"", 0, [(question.encode(), typed.encode()) for question, typed in answers]
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
            while waiting and (at := seen.find(waiting[0][0], looked)) >= 0:
                question, typed = waiting.pop(0)
                looked = at + len(question)
                os.write(ours, typed)
        seen = seen.decode(errors="replace")
        assert not waiting, f"never asked: {waiting}\n{seen}"
        return seen, process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(ours)


def own_terminal(terminal):
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
