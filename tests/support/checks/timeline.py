"""Draws the history of one key: one line for each operation, time from left to right."""

from collections.abc import Sequence
from typing import Any

_WIDTH = 48


def timeline(operations: Sequence[Any], marked: Any) -> str:
    """The operations (`tests.support.checks.linearizability.Operation`), one of them marked."""
    moments = sorted(
        {operation.invoked for operation in operations}
        | {o.returned for o in operations if o.outcome != "unknown"}
    )
    column = {
        moment: round(number * (_WIDTH - 2) / max(len(moments) - 1, 1))
        for number, moment in enumerate(moments)
    }
    lines = []
    for operation in operations:
        start = column[operation.invoked]
        if operation.outcome == "unknown":
            bar = "|" + "-" * (_WIDTH - 2 - start) + ">"
        else:
            bar = "|" + "-" * max(column[operation.returned] - start - 1, 0) + "|"
        mark = ">>" if operation is marked else "  "
        picture = (" " * start + bar).ljust(_WIDTH + 1)
        lines.append(f"{mark}{picture} {operation.client:4} {_said(operation)}")
    return "\n".join(lines)


def _said(operation: Any) -> str:
    value = "" if operation.kind in ("delete", "tombstone", "reset") else f" {operation.value!r}"
    outcome = "" if operation.outcome == "ok" else f" -> {operation.outcome}"
    label = f"  ({operation.label})" if operation.label else ""
    return f"{operation.kind}{value}{outcome}{label}"
