"""``python -m jarvis.taskbench`` takes the command line of the original ``evaluate.py``: it is ``jarvis taskbench evaluate``."""

from __future__ import annotations

import subprocess
import sys

from .._errors import JarvisError
from .._program import program


def main() -> int:
    """The exit status of the command."""
    try:
        return subprocess.run([str(program()), "taskbench", "evaluate", *sys.argv[1:]], check=False).returncode
    except JarvisError as error:
        print(f"error: {error.message}\n\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
