"""Places for requests, which users share fairly.

Theory of operation. Requests of all users share the processors and the stores. A user who sends
many at a time would take most of both. So while others send requests as well, each user has a few
places only. A user who is alone may have all. Where requests mostly wait for their clients, a user
may also have places that are not needed, except for some that are spared for others. Of those that
wait, the first one whose user has few places is next. A user is who a request says: its signature
is checked later, by those who hold a place.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

from graveler_gateway.protocol.head import RequestHead

# A user counts as alone if no other one has sent a request for so long.
_ALONE_AFTER_S = 1.0

# Where a request has the key that signs it for S3: its other parts differ between requests.
_KEY = re.compile(r"(?:Credential=|AWSAccessKeyId=|^AWS )([^/:&,%]+)")


def user_of(head: RequestHead, address: str) -> str:
    """Return who sends the request, by what it says; its address if it does not say."""
    login = head.header("authorization") or ""
    signed = _KEY.search(login or head.raw_query)
    if signed is not None:
        return signed[1]
    return login or head.header("cookie") or address


class FairPlaces:
    """Places for so many requests at a time; for many threads.

    each_max: of one user, while others send requests. None: all places.
    user_max: of one user who is alone, or while more than `spare` places are free. None: all.
    spare: places that a user with each_max leaves to others. None: all.
    waiting_max: requests of one user that wait.
    now_s: a clock that never goes back.
    """

    def __init__(
        self,
        places: int,
        *,
        each_max: int | None = None,
        user_max: int | None = None,
        spare: int | None = None,
        waiting_max: float = inf,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free = places
        self._each_max = each_max or places
        self._user_max = user_max or places
        self._spare = places if spare is None else spare
        self._waiting_max = waiting_max
        self._now_s = now_s
        self._taken: Counter[str] = Counter()
        self._waiting: list[tuple[str, threading.Event]] = []  # the longest waiting first
        self._last_user = ""
        self._shared_until_s = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def place(self, user: str, *, waits: bool) -> Iterator[bool]:
        """Hold a place of the user while the block runs; pass whether there was one.

        waits: wait for one, if few of the user do.
        """
        turn = None
        with self._lock:
            if user != self._last_user:
                self._shared_until_s = self._now_s() + _ALONE_AFTER_S
                self._last_user = user
            is_refused = False
            if not self._waiting and self._free and self._taken.get(user, 0) < max(self._limits()):
                self._take(user)
            else:
                turn = threading.Event()
                self._waiting.append((user, turn))
                self._give_places()
                waiting = sum(other == user for other, _ in self._waiting)
                is_refused = not turn.is_set() and (not waits or waiting > self._waiting_max)
                if is_refused:
                    self._waiting.remove((user, turn))
        if is_refused:
            yield False
            return
        if turn is not None:
            # A user becomes alone by the passing of time, which no request reports.
            while not turn.wait(_ALONE_AFTER_S):
                with self._lock:
                    self._give_places()
        try:
            yield True
        finally:
            with self._lock:
                self._free += 1
                self._taken[user] -= 1
                if not self._taken[user]:
                    del self._taken[user]
                if self._waiting:
                    self._give_places()

    def _give_places(self) -> None:
        while self._free:
            chosen = self._next()
            if chosen is None:
                return
            self._waiting.remove(chosen)
            user, turn = chosen
            self._take(user)
            turn.set()

    def _take(self, user: str) -> None:
        self._free -= 1
        self._taken[user] += 1

    def _limits(self) -> tuple[int, ...]:
        """Return the limits of a user's places; users below the first one go first."""
        may_have_more = self._free > self._spare or self._now_s() >= self._shared_until_s
        return (self._each_max, self._user_max) if may_have_more else (self._each_max,)

    def _next(self) -> tuple[str, threading.Event] | None:
        """Return the request that has waited for the longest, of users with few places first."""
        allowed = (
            each
            for limit in self._limits()
            for each in self._waiting
            if self._taken[each[0]] < limit
        )
        return next(allowed, None)
