"""Bounds the size of log files."""

import shutil
from pathlib import Path

LOG_BYTES_MAX = 10 * 1024 * 1024


def bound(log: Path) -> None:
    """Move a log that is too long to `<name>.1`. Its writers must append, and may keep it open."""
    if log.stat().st_size > LOG_BYTES_MAX:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        with log.open("r+b") as file:
            file.truncate()
