"""Snapshots of a process: Lambda's SnapStart resumes many copies of one initialized process.

All copies have the memory of the one, and its process ID. So names that follow from drawn numbers
would repeat, connections lead nowhere, and what was remembered may be old.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

# Lambda's Python runtimes include it; no other environment needs it.
_LIBRARY = "snapshot_restore_py"


def after_restore(act: Callable[[], None]) -> None:
    """Call the function in each copy, before the copy's first request."""
    if find_spec(_LIBRARY) is not None:
        import_module(_LIBRARY).register_after_restore(act)
