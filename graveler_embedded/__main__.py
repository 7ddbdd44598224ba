"""`python -m graveler_embedded`: run the whole system on this machine until it is stopped."""

import argparse
import os
import sys

from graveler_embedded.processes import StartError, die_with_parent
from graveler_embedded.supervisor import run


def main() -> int:
    """Run the stack; return the exit code: 0 after a signal, 1 if the stack cannot run."""
    parser = argparse.ArgumentParser(prog="python -m graveler_embedded", description=__doc__)
    parser.add_argument(
        "--die-with-parent",
        action="store_true",
        help="end at once when the parent process ends",
    )
    if parser.parse_args().die_with_parent:
        die_with_parent(os.getppid())
    try:
        run(os.environ, lambda text: print(text, flush=True))
    except StartError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
