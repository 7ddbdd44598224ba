"""A small SQS: fair queues in a SQLite file, so that messages survive the process.

Theory of operation. A message can be received when it is due: after its delay. If it was received
and not deleted, it is due again after the visibility timeout. Receives are counted. A message that
is due again after the last allowed receive moves to the dead-letter queue. Of two groups, the one
with fewer messages in flight comes first. One process owns the file. Its threads share one
connection under one lock. A message that becomes due wakes the receivers of its queue only.
"""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from graveler_embedded.lambda_runtime import ACCOUNT, REGION

logger = logging.getLogger(__name__)

DELAY_S_MAX = 900
MESSAGE_BYTES_MAX = 1024 * 1024

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    id TEXT PRIMARY KEY,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    sent_ms INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    receipt TEXT NOT NULL DEFAULT '', -- of the last receive
    first_received_ms INTEGER NOT NULL DEFAULT 0,
    receives INTEGER NOT NULL DEFAULT 0,
    message_group TEXT NOT NULL DEFAULT '' -- a message without one is a group by itself
) STRICT;
CREATE INDEX IF NOT EXISTS messages_by_queue ON messages (queue, due_ms);
"""


def queue_arn(queue: str) -> str:
    """Return the queue's ARN."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"


def queue_url(endpoint: str, queue: str) -> str:
    """Return the queue's URL, by which clients send and receive."""
    return f"{endpoint}/{ACCOUNT}/{queue}"


# An earlier version made the table without groups.
_ADD_GROUPS = "ALTER TABLE messages ADD COLUMN message_group TEXT NOT NULL DEFAULT ''"

# Of the messages that are due, it takes those of the groups with the fewest messages in flight.
_TAKE = """
UPDATE messages SET
    receipt = lower(hex(randomblob(16))),
    receives = receives + 1,
    due_ms = :again_ms,
    first_received_ms = iif(first_received_ms, first_received_ms, :now_ms)
WHERE id IN (
    SELECT due.id FROM messages AS due LEFT JOIN (
        SELECT message_group, count(*) AS in_flight FROM messages
        WHERE queue = :queue AND receipt != '' AND due_ms > :now_ms AND message_group != ''
        GROUP BY message_group
    ) USING (message_group)
    WHERE queue = :queue AND due_ms <= :now_ms
    ORDER BY coalesce(in_flight, 0), due_ms LIMIT :messages_max
)
RETURNING id, body, receipt, sent_ms, first_received_ms, receives
"""


class UnknownQueueError(LookupError):
    """There is no queue of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue's settings."""

    name: str
    visibility_timeout_s: int = 30
    # A message that is due again after so many receives moves to the dead-letter queue.
    receives_max: int | None = None
    dead_letters: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A received message; its receipt is valid until it is received again."""

    id: str
    body: str
    receipt: str
    sent_ms: int
    first_received_ms: int
    receives: int


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """The numbers of a queue's messages that are due, in flight, and not yet due."""

    due: int
    received: int
    delayed: int


class Queues:
    """All queues of the stack; shared by its threads."""

    def __init__(
        self, path: Path, queues: Iterable[Queue], now_s: Callable[[], float] = time.time
    ) -> None:
        self.queues = {queue.name: queue for queue in queues}
        self._now_s = now_s
        self._lock = threading.Lock()
        self._due = {name: threading.Condition(self._lock) for name in self.queues}
        # Autocommit: every statement here is a transaction.
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")  # messages survive a power failure
        self._database.executescript(_SCHEMA)
        columns = self._database.execute("SELECT name FROM pragma_table_info('messages')")
        if ("message_group",) not in columns.fetchall():
            self._database.execute(_ADD_GROUPS)

    def __del__(self) -> None:
        if hasattr(self, "_database"):  # it could be opened
            self._database.close()

    def send(self, queue: str, body: str, delay_s: int = 0, group: str = "") -> str:
        """Store a message that can be received after the delay; return its ID.

        group: whose message it is.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        name = self._queue(queue).name
        now_ms = self._now_ms()
        row = (str(uuid4()), name, body, now_ms, now_ms + delay_s * 1000, group)
        self._change(
            "INSERT INTO messages (id, queue, body, sent_ms, due_ms, message_group)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            row,
            wakes=name,
        )
        return row[0]

    def receive(
        self,
        queue: str,
        *,
        messages_max: int = 1,
        wait_s: float = 0,
        visibility_timeout_s: int | None = None,
    ) -> list[Message]:
        """Return due messages, the longest due of a group first; wait up to wait_s for one.

        The messages are not due again before the visibility timeout.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        settings = self._queue(queue)
        timeout_s = visibility_timeout_s
        if timeout_s is None:
            timeout_s = settings.visibility_timeout_s
        deadline_s = time.monotonic() + wait_s
        with self._lock:
            while True:
                self._bury(settings)
                if taken := self._take(queue, messages_max, timeout_s):
                    return taken
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    return []
                self._due[queue].wait(min(left_s, self._next_due_s(queue)))

    def delete(self, queue: str, receipt: str) -> None:
        """Delete the message of the receipt, unless it was received again since.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        name = self._queue(queue).name
        self._change("DELETE FROM messages WHERE queue = ? AND receipt = ?", (name, receipt))

    def purge(self, queue: str) -> None:
        """Delete all messages of the queue.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        self._change("DELETE FROM messages WHERE queue = ?", (self._queue(queue).name,))

    def set_due(self, queue: str, receipt: str, delay_s: int) -> None:
        """Make the message of the receipt due again in delay_s seconds.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        name = self._queue(queue).name
        self._change(
            "UPDATE messages SET due_ms = ? WHERE queue = ? AND receipt = ?",
            (self._now_ms() + delay_s * 1000, name, receipt),
            wakes=name,
        )

    def take_back(self, queue: str, *, counts: bool) -> None:
        """Make all messages in flight due, because their receiver has ended.

        counts says whether the receive counts.
        """
        name = self._queue(queue).name
        self._change(
            "UPDATE messages SET due_ms = ?, receipt = '', receives = receives - ?"
            " WHERE queue = ? AND receipt != '' AND due_ms > ?",
            (self._now_ms(), 0 if counts else 1, name, self._now_ms()),
            wakes=name,
        )

    def counts(self, queue: str) -> MessageCounts:
        """Return how many messages the queue has.

        Raises:
            UnknownQueueError: there is no such queue.
        """
        now_ms = self._now_ms()
        with self._lock:
            row = self._database.execute(
                "SELECT count(*) FILTER (WHERE due_ms <= ?),"
                " count(*) FILTER (WHERE due_ms > ? AND receipt != ''),"
                " count(*) FILTER (WHERE due_ms > ? AND receipt = '')"
                " FROM messages WHERE queue = ?",
                (now_ms, now_ms, now_ms, self._queue(queue).name),
            ).fetchone()
        return MessageCounts(*row)

    def _queue(self, name: str) -> Queue:
        try:
            return self.queues[name]
        except KeyError:
            raise UnknownQueueError(f"there is no queue {name!r}") from None

    def _change(self, statement: str, values: tuple[object, ...], wakes: str | None = None) -> None:
        """Change messages; wakes names the queue in which one may be due, or due earlier."""
        with self._lock:
            self._database.execute(statement, values)
            if wakes is not None:
                self._due[wakes].notify_all()

    def _take(self, queue: str, messages_max: int, timeout_s: int) -> list[Message]:
        now_ms = self._now_ms()
        values = {
            "queue": queue,
            "now_ms": now_ms,
            "again_ms": now_ms + timeout_s * 1000,
            "messages_max": messages_max,
        }
        rows = self._database.execute(_TAKE, values).fetchall()
        return sorted((Message(*row) for row in rows), key=lambda message: message.sent_ms)

    def _bury(self, queue: Queue) -> None:
        """Move messages that are due after their last allowed receive to the dead letters."""
        if queue.receives_max is None:
            return
        buried = self._database.execute(
            "UPDATE messages SET queue = ?, receipt = ''"
            " WHERE queue = ? AND due_ms <= ? AND receives >= ? RETURNING id, body",
            (queue.dead_letters, queue.name, self._now_ms(), queue.receives_max),
        ).fetchall()
        if buried:
            self._due[queue.dead_letters].notify_all()
        for message_id, body in buried:
            logger.error(
                "message %s failed %d times and is now in the queue %s: %s",
                message_id,
                queue.receives_max,
                queue.dead_letters,
                body,
            )

    def _next_due_s(self, queue: str) -> float:
        (due_ms,) = self._database.execute(
            "SELECT min(due_ms) FROM messages WHERE queue = ?", (queue,)
        ).fetchone()
        if due_ms is None:
            return math.inf
        return max(0.0, int(due_ms) / 1000 - self._now_s())

    def _now_ms(self) -> int:
        return round(self._now_s() * 1000)
