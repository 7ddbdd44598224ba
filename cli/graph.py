"""A history drawn in characters, as `git log --graph` does.

Each line of descent has a column two characters wide. A commit stands in the column that waits for
it. A merge opens columns to its right; where two columns wait for the same commit, the right one
bends to the left one, and crosses those between.
"""

from collections.abc import Sequence

COMMIT = "*"


class Graph:
    """Draws commits one after the other; each must come after all its children.

    It remembers the open columns only, so the history may have any length.
    """

    def __init__(self) -> None:
        self._columns: list[str] = []  # the commit that each waits for

    def rows(self, commit_id: str, parents: Sequence[str]) -> list[str]:
        """Return the rows of a commit: that of the commit itself, and those of its edges."""
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
        """Return a row that only goes on with the open columns."""
        return _row({2 * slot: "|" for slot in range(len(self._columns))})


def _opened(at: int, width: int, parents: int) -> list[str]:
    """Return the rows in which the columns of further parents open, and others make room."""
    rows = []
    for step in range(1, parents):
        marks = {2 * slot: "|" for slot in range(at + step)}
        marks[2 * (at + step) - 1] = "\\"
        marks |= {2 * (slot + step) - 1: "\\" for slot in range(at + 1, width)}
        rows.append(_row(marks))
    return rows


def _closed(spread: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the rows in which columns move to where they go on, one column to the left a row.

    Args:
        spread: what each column waits for; "" waits for nothing.
        columns: what each one waits for at the end, each commit once.
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
