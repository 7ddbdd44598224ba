"""Files that grow at their end, kept bounded."""

import shutil
from pathlib import Path

LOG_BYTES_MAX = 10 * 1024 * 1024


def bound(log: Path) -> None:
    """Keep one older part of a log that has grown too long; its writers append, and go on."""
    if log.stat().st_size > LOG_BYTES_MAX:
        shutil.copyfile(log, log.with_name(f"{log.name}.1"))
        with log.open("r+b") as file:
            file.truncate()
