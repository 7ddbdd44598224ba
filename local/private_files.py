"""Files with secrets."""

import os
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Store content in a file that only its owner may read, all or nothing."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
