"""Log lines of the functions, as CloudWatch receives them: text, or one JSON document a line."""

import io
import json
import logging
from typing import Any

import pytest


class Lines:
    """The lines that a function logged since the fixture was set up."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        """The whole log as text."""
        return self._stream.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        return self.all[-1]


def lines_of(monkeypatch: pytest.MonkeyPatch, service: str) -> Lines:
    """Return the lines that the function's logger writes from now on; import its module first."""
    (handler,) = (
        each
        for each in logging.getLogger(service).handlers
        if isinstance(each, logging.StreamHandler)
    )
    stream = io.StringIO()
    monkeypatch.setattr(handler, "stream", stream)
    return Lines(stream)
