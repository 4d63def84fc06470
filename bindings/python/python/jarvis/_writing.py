"""Values that are to be JSON, and files that are whole or as they were before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from ._errors import JarvisError

#: A file that may be written and not replaced: mounted by itself, or in a folder that is closed.
_STUCK = (errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS)

#: What :mod:`json` raises for a value that JSON has no form for.
NO_JSON = (TypeError, ValueError, RecursionError)


def no_json(what: str, error: BaseException, hint: str) -> JarvisError:
    """What stands for one of :data:`NO_JSON`."""
    return JarvisError(f"{what} cannot be written as JSON: {error}", hint=hint, code="usage", exit_code=2)


def replace(path: str | os.PathLike[str], text: str, what: str, hint: str) -> None:
    """Puts a text in the place of a file at once, as the program does: a reader sees the old or the new one.

    The file keeps its permissions, a link is followed, missing folders are made. A pipe or a device is written to in place.
    """
    try:
        _put(path, text.encode("utf-8"))
    except UnicodeEncodeError as error:
        hint = "take out the half characters (lone surrogates), which UTF-8 cannot hold"
        raise JarvisError(f"{what} cannot be written to {path}: {error}", hint=hint, code="failed") from error
    except (OSError, ValueError) as error:
        # Not all of the error: the name of what never came to be says nothing to anybody.
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise JarvisError(f"{what} cannot be written to {path}: {why}", hint=hint, code="failed") from error


def _put(path: str | os.PathLike[str], data: bytes) -> None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        with open(path, "wb") as device:
            device.write(data)
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    whole = target.parent / f".jarvis-{secrets.token_hex(8)}"
    try:
        with open(whole, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(whole, stat.S_IMODE(mode))
        os.replace(whole, target)
    except OSError as error:
        whole.unlink(missing_ok=True)
        if mode is None or not stat.S_ISREG(mode) or error.errno not in _STUCK:
            raise
        with open(target, "r+b") as file:
            file.write(data)
            file.truncate()
    except BaseException:
        whole.unlink(missing_ok=True)
        raise
