"""Judges one round's history: `python -m bench.torture.judge FILE`, in a process of its own.

The exit code is 0 without violations, 1 with violations, and 3 if the search took too much memory.
"""

import os
import pickle
import resource
import sys
from pathlib import Path

from tests.support.checks.linearizability import check_history

_MEMORY_BYTES_MAX = 3 * 1024**3
TOO_LARGE = 3


def main(path: Path) -> int:
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    operations, initial, branches = pickle.loads(path.read_bytes())
    try:
        violations = check_history(operations, initial, branches)
    except MemoryError:
        return TOO_LARGE
    for violation in violations:
        print(violation, end="\n\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
