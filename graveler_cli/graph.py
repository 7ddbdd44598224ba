"""Draws a history in characters, as `git log --graph` does.

Each line of descent has a column two characters wide, which waits for its next commit. A commit is
drawn in the column that waits for it. A merge opens columns to its right. If two columns wait for
the same commit, the right one joins the left one, and crosses the columns between.
"""

from collections.abc import Sequence

COMMIT = "*"


class Graph:
    """Draws commits one after the other; each must come after all its children.

    It keeps the open columns only, so the history may have any length.
    """

    def __init__(self) -> None:
        self._columns: list[str] = []  # the commit that each column waits for

    def rows(self, commit_id: str, parents: Sequence[str]) -> list[str]:
        """Return the rows of a commit: one with the commit, then those with its edges."""
        if commit_id not in self._columns:
            self._columns.append(commit_id)
        at = self._columns.index(commit_id)
        new = list(dict.fromkeys(parents))
        first = _row({2 * slot: "|" for slot in range(len(self._columns))} | {2 * at: COMMIT})
        opened = _opened(at, len(self._columns), len(new))
        spread: list[str] = [*self._columns[:at], *(new or [""]), *self._columns[at + 1 :]]
        self._columns = list(dict.fromkeys(filter(None, spread)))
        return [first, *opened, *_closed(spread, self._columns)]

    def between(self) -> str:
        """Return a row that only continues the open columns."""
        return _row({2 * slot: "|" for slot in range(len(self._columns))})


def _opened(at: int, width: int, parents: int) -> list[str]:
    """Return the rows that open columns for further parents, and move the columns beside them."""
    rows = []
    for step in range(1, parents):
        marks = {2 * slot: "|" for slot in range(at + step)}
        marks[2 * (at + step) - 1] = "\\"
        marks |= {2 * (slot + step) - 1: "\\" for slot in range(at + 1, width)}
        rows.append(_row(marks))
    return rows


def _closed(spread: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the rows that move columns to their final places, one place to the left a row.

    Args:
        spread: the commit that each column waits for; "" if it has ended.
        columns: the same after the moves, each commit once.
    """
    first = {commit: slot for slot, commit in reversed(list(enumerate(spread)))}
    place = {commit: slot for slot, commit in enumerate(columns)}
    moves = [
        (slot, place[commit], first[commit] == slot) for slot, commit in enumerate(spread) if commit
    ]
    rows = []
    for step in range(1, max((start - end for start, end, _ in moves), default=0) + 1):
        marks: dict[int, str] = {}
        for start, end, stays in moves:
            if step <= start - end:
                marks[2 * (start - step) + 1] = "/"
            elif stays:
                marks[2 * end] = "|"
        rows.append(_row(marks))
    return rows


def _row(marks: dict[int, str]) -> str:
    return "".join(marks.get(place, " ") for place in range(max(marks, default=-1) + 1))
