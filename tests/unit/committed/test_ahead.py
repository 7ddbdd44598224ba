"""Ranges that changes touch are fetched before they are needed, each once, whatever comes of it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event, Lock

import pytest

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.errors import CorruptDataError
from graveler.model import Change
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, token_value, write

BREAKING = Breaking(20)
RECORDS = {b"k%06d" % number: token_value(f"v{number}") for number in range(5_000)}


class SlowFiles(MemoryCommittedFiles):
    """Holds reads of whole ranges back until several have begun."""

    def __init__(self, *, together: int) -> None:
        super().__init__()
        self.begun: Counter[str] = Counter()
        self.are_together = Event()
        self._together = together
        self._lock = Lock()

    def read_all(self, namespace: str, file_id: str) -> bytes:
        with self._lock:
            self.begun[file_id] += 1
            # The first file is the metarange.
            if len(self.begun) > self._together:
                self.are_together.set()
        if len(self.begun) > 1:
            self.are_together.wait(5)
        return super().read_all(namespace, file_id)


def changes(seed: int, amount: int) -> list[Change]:
    """Return overwritten, deleted and added records, also behind the last one."""
    random = Random(seed)
    keys = random.sample(sorted(RECORDS), amount)
    made: dict[bytes, bytes | None] = {}
    for key in keys:
        kind = random.choice(("changed", "deleted", "added", "behind"))
        if kind == "behind":
            made[b"l" + key] = token_value("behind")
        else:
            made[key + b"+" * (kind == "added")] = None if kind == "deleted" else token_value(kind)
    return sorted(made.items())


@pytest.mark.parametrize("amount", [1, 3, 40, 3_000])
def test_changes_have_the_same_result_with_and_without_threads(amount):
    files = MemoryCommittedFiles()
    base = write(Committed(files, breaking=BREAKING), RECORDS).id
    made = changes(amount, amount)
    with ThreadPoolExecutor(3) as pool:
        results = [
            apply_changes(committed, MetaRange(committed, NAMESPACE, base), made)
            for committed in (
                Committed(files, breaking=BREAKING),
                Committed(files, breaking=BREAKING, executor=pool),
            )
        ]
    assert results[0] == results[1]
    assert results[0].total


def test_ranges_are_fetched_side_by_side_and_each_once():
    files = SlowFiles(together=5)
    base = write(Committed(files, breaking=BREAKING), RECORDS).id
    files.begun.clear()
    made = [(key, token_value("new")) for key in sorted(RECORDS)[::100]]
    with ThreadPoolExecutor(8) as pool:
        committed = Committed(files, breaking=BREAKING, executor=pool)
        apply_changes(committed, MetaRange(committed, NAMESPACE, base), made)
    assert files.are_together.is_set()
    assert set(files.begun.values()) == {1}


def test_a_missing_range_is_reported():
    files = MemoryCommittedFiles()
    base = write(Committed(files, breaking=BREAKING), RECORDS)
    headers = list(base.headers())
    lost = headers[len(headers) // 2].id
    del files.files[NAMESPACE, lost]
    made = [(header.max_key, token_value("new")) for header in headers]
    with ThreadPoolExecutor(3) as pool:
        committed = Committed(files, breaking=BREAKING, executor=pool)
        cold = MetaRange(committed, NAMESPACE, base.id)
        with pytest.raises(CorruptDataError, match=lost):
            apply_changes(committed, cold, made)
