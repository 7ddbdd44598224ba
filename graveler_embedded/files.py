"""Files of the data folder, such as secrets and logs of bounded size; and the user's home."""

import os
import shutil
from pathlib import Path

from graveler_embedded.processes import StartError

LOG_BYTES_MAX = 10 * 1024 * 1024


def home(variable: str) -> Path:
    """Return the user's home.

    Raises:
        StartError: there is none; the message names the variable that the user can set instead.
    """
    try:
        return Path.home()
    except RuntimeError as error:
        raise StartError(f"this user has no home: set {variable} to a folder") from error


def write_private(path: Path, content: bytes) -> None:
    """Store content in a file that only its owner may read, all or nothing."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def bound_log(log: Path) -> None:
    """Move a log that is too long to `<name>.1`. Its writers must append, and may keep it open."""
    if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        with log.open("r+b") as file:
            file.truncate()
