"""Places for requests, which users share fairly.

Theory of operation. Requests of all users share the processors and the stores. A user who sends
many at a time would take most of both. So while others send requests as well, each user has a few
places only. A user who is alone may have all. A user is who a request says: its signature is
checked later, by those who hold a place.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graveler_gateway.protocol.head import RequestHead

# A user counts as alone if no other one has sent a request for so long.
_ALONE_AFTER_S = 1.0


# Where a request has the key that signs it for S3: its other parts differ between requests.
_KEY = re.compile(r"(?:Credential=|AWSAccessKeyId=|^AWS )([^/:&,%]+)")


def user_of(head: RequestHead, address: str) -> str:
    """Return who sends the request, by what it says; its address if it does not say."""
    login = head.header("authorization") or ""
    signed = _KEY.search(login) or _KEY.search(head.raw_query)
    if signed is not None:
        return signed[1]
    return login or head.header("cookie") or address


class FairPlaces:
    """Places for so many requests at a time; for many threads.

    each_max: of one user at most, while others send requests. alone_max: while nobody else does.
        None: all.
    now_s: a clock that never goes back.
    """

    def __init__(
        self,
        places: int,
        *,
        each_max: int | None = None,
        alone_max: int | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free = places
        self._each_max = each_max or places
        self._alone_max = alone_max or places
        self._now_s = now_s
        self._taken: Counter[str] = Counter()
        self._waiting: list[tuple[str, threading.Event]] = []  # the longest waiting first
        self._last_user = ""
        self._shared_until_s = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def place(self, user: str, *, waits: bool) -> Iterator[bool]:
        """Hold a place of the user while the block runs; pass whether there was one.

        waits: wait for one. Of all that wait, the next one is of a user with the fewest places.
        """
        turn = threading.Event()
        with self._lock:
            self._note(user)
            self._waiting.append((user, turn))
            self._give_places()
            if not (turn.is_set() or waits):
                self._waiting.remove((user, turn))
        if not (turn.is_set() or waits):
            yield False
            return
        turn.wait()
        try:
            yield True
        finally:
            with self._lock:
                self._free += 1
                self._taken[user] -= 1
                if not self._taken[user]:
                    del self._taken[user]
                self._give_places()

    def _note(self, user: str) -> None:
        if user != self._last_user:
            self._shared_until_s = self._now_s() + _ALONE_AFTER_S
            self._last_user = user

    def _give_places(self) -> None:
        is_shared = self._now_s() < self._shared_until_s
        user_max = self._each_max if is_shared else self._alone_max
        while self._free:
            may = [each for each in self._waiting if self._taken[each[0]] < user_max]
            if not may:
                return
            chosen = min(may, key=lambda each: self._taken[each[0]])
            self._waiting.remove(chosen)
            user, turn = chosen
            self._free -= 1
            self._taken[user] += 1
            turn.set()
