"""A quiet neighbour of the tortured repository, and a slow one, whose commits wait for a hook.

The quiet one reads and commits in all rounds, the slow one in every second round. The run reports
the quiet one's durations with the noise and without it. What it was told must stay true.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import requests

from bench.api.load import Timed
from bench.neighbours import Neighbour, let_commits_wait, new_neighbour, noise
from bench.torture.hook_target import HookTarget

_READS = 20  # for each commit
_KEPT = "kept"  # the path of the number that the quiet one counts


class Neighbours:
    """The neighbours of one run, and the quiet one's durations."""

    def __init__(self, endpoint: str, administrator: tuple[str, str]) -> None:
        self._quiet = new_neighbour(endpoint, administrator, "quiet")
        self._quiet.upload(_KEPT, b"0")
        self._slow = new_neighbour(endpoint, administrator, "slow")
        self._target = HookTarget()
        self._durations_s: dict[str, list[float]] = defaultdict(list)
        self._failed: Counter[str] = Counter()
        self._tried = self._acknowledged = 0

    @contextmanager
    def beside(self, *, is_noisy: bool) -> Iterator[None]:
        """Let them work while the block runs."""
        over = threading.Event()
        beside = "beside commits that wait" if is_noisy else "alone"
        quiet = threading.Thread(target=self._work, args=(over, beside))
        with ExitStack() as until:
            if is_noisy:
                let_commits_wait(self._slow, self._target)
                until.callback(self._target.release, "main")
                until.enter_context(noise(Neighbour.commit, self._slow))
            quiet.start()
            try:
                yield
            finally:
                over.set()
                quiet.join()

    def _work(self, over: threading.Event, beside: str) -> None:
        while not over.is_set():
            self._time(f"commit {beside}", self._commit)
            for _ in range(_READS):
                self._time(f"read {beside}", self._quiet.read)

    def _time(self, name: str, do: Callable[[], None]) -> None:
        began_s = time.perf_counter()
        try:
            do()
        except requests.RequestException:  # a blow
            self._failed[name] += 1
            time.sleep(0.1)
        else:
            self._durations_s[name].append(time.perf_counter() - began_s)

    def _commit(self) -> None:
        self._tried += 1
        self._quiet.upload(_KEPT, str(self._tried).encode())
        self._acknowledged = self._tried
        self._quiet.commit_by_task()

    def problem(self) -> str:
        """Return what is wrong with the quiet one's object, "" if it is what it was told."""
        found = int(self._quiet.content(_KEPT))
        if self._acknowledged <= found <= self._tried:
            return ""
        return f"the quiet neighbour was told {self._acknowledged}, and reads {found}"

    def lines(self) -> Iterator[str]:
        """Yield the durations, a line for each kind of request."""
        for name, durations_s in sorted(self._durations_s.items()):
            timed = Timed(durations_s, sum(durations_s), len(durations_s))
            yield (
                f"quiet neighbour, {name}: p50 {timed.median_ms:.1f} ms, "
                f"p99 {timed.percentile_ms(99):.1f} ms, of {timed.amount}; "
                f"{self._failed[name]} failed"
            )
