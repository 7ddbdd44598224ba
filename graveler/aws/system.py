"""The machine's clock, and new IDs that need no coordination."""

import itertools
import os
import threading
import time
from uuid import uuid4

from graveler.addresses import encode_xid
from graveler.aws import deadlines
from graveler.model import Repository, StagingToken
from graveler.model.tokens import PLAIN, Spread, token_named
from graveler.ports import Clock
from graveler.times import NS_PER_S, Moment


def moment() -> Moment:
    """Return this moment by both clocks of this process."""
    return Moment(time.time_ns(), time.monotonic_ns())


class SystemClock:
    """`graveler.ports.Clock` on the machine's clock."""

    def now_ns(self) -> int:
        return time.time_ns()

    def moment(self) -> Moment:
        return moment()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def left_s(self) -> float:
        return deadlines.left_s()


class SystemNames:
    """`graveler.ports.Names` from time, process and a count."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pid = 0
        self._process = b""
        self._count = itertools.count()

    def new_uid(self) -> str:
        pid = os.getpid()
        if pid != self._pid:
            # Drawn at the first use, not at import. A process that was forked, or restored from a
            # snapshot, must not continue another process's IDs.
            with self._lock:
                if pid != self._pid:
                    self._process = os.urandom(3) + (pid % 2**16).to_bytes(2, "big")
                    self._count = itertools.count(int.from_bytes(os.urandom(3), "big"))
                    self._pid = pid
        time_s = self._clock.now_ns() // NS_PER_S % 2**32
        count = next(self._count) % 2**24
        return encode_xid(time_s.to_bytes(4, "big") + self._process + count.to_bytes(3, "big"))

    def new_staging_token(
        self, repository: Repository, branch: str, spread: Spread = PLAIN
    ) -> StagingToken:
        return token_named(f"{repository.name}-{branch}:{uuid4()}", spread)
