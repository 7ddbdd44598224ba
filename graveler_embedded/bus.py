"""A small EventBridge: events go to the queues of matching rules, and to a journal file."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from graveler_embedded.event_patterns import Pattern, matches
from graveler_embedded.files import bound_log
from graveler_embedded.lambda_runtime import ACCOUNT, REGION
from graveler_embedded.queues import Queues


@dataclass(frozen=True, slots=True)
class EventRule:
    """Sends events that match the pattern to the queue."""

    pattern: Pattern
    queue: str


class LocalEventBus:
    """One bus; shared by all threads."""

    def __init__(
        self, name: str, rules: Sequence[EventRule], queues: Queues, journal: Path
    ) -> None:
        self.name = name
        self._rules = rules
        self._queues = queues
        self._journal = journal
        self._journal_lock = Lock()
        journal.touch()  # so that `tail -f` works before the first event

    def put(
        self,
        source: str,
        detail_type: str,
        detail: Mapping[str, Any],
        *,
        time_s: float | None = None,
        resources: Sequence[str] = (),
    ) -> str:
        """Deliver an event that happened at the time, or now; return its ID.

        It is in the queues before it is in the journal, so no event in the journal is lost.
        """
        event = {
            "version": "0",
            "id": str(uuid4()),
            "detail-type": detail_type,
            "source": source,
            "account": ACCOUNT,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s)),
            "region": REGION,
            "resources": list(resources),
            "detail": detail,
        }
        # EventBridge writes JSON without spaces, and does not escape non-ASCII characters.
        text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        for rule in self._rules:
            if matches(rule.pattern, event):
                self._queues.send(rule.queue, text, group=str(detail.get("repository", "")))
        self._record(text)
        return str(event["id"])

    def _record(self, text: str) -> None:
        line = f"{text}\n".encode()
        with self._journal_lock:
            bound_log(self._journal)
            file = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line)
            finally:
                os.close(file)
