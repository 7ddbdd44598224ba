"""The events in the stack's journal, read as it grows."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_OF_COMMITS = frozenset(
    ("commit_created", "merge_completed", "revert_completed", "cherry_pick_completed")
)


@dataclass(slots=True)
class MadeCommit:
    """A commit as events describe it; events: their IDs."""

    id: str
    message: str
    parent: str
    events: set[str] = field(default_factory=set)


class Journal:
    """The commits that events describe."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self.lines = 0
        self.commits: dict[tuple[str, str], MadeCommit] = {}
        self.by_message: dict[tuple[str, str], list[MadeCommit]] = defaultdict(list)

    def read(self) -> None:
        """Read the new events."""
        if self._path.stat().st_size < self._at:  # it was cut; the older part is in another file
            older = self._path.with_name(f"{self._path.name}.1")
            with older.open("rb") as file:
                file.seek(self._at)
                self._take(file.read())
            self._at = 0
        with self._path.open("rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._at += len(whole)
        self._take(whole)

    def _take(self, text: bytes) -> None:
        for line in text.splitlines():
            self.lines += 1
            try:
                event: dict[str, Any] = json.loads(line)["detail"]
            except ValueError:
                continue  # half a line of a killed process; the event is written again
            if event["kind"] in _OF_COMMITS:
                self._add(event)

    def _add(self, event: dict[str, Any]) -> None:
        key = (event["repository"], event["commit_id"])
        commit = self.commits.get(key)
        if commit is None:
            commit = MadeCommit(event["commit_id"], event["message"], event["parents"][0])
            self.commits[key] = commit
            self.by_message[event["repository"], commit.message].append(commit)
        commit.events.add(event["id"])
