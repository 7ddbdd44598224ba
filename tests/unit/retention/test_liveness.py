"""A look may be used for a bounded time, whatever the clocks of those who use it say."""

from graveler.retention.liveness import LOOK_S, Look, begin_look
from tests.support.checks.cases import for_each
from tests.support.fakes.memory import FixedClock, MemoryObjectStore

FOLDER = "s3://bucket/looks/"


def look_at(objects: MemoryObjectStore) -> Look:
    return begin_look(objects, FOLDER, 1, LOOK_S)


@for_each(
    ("passed_s", "expected"),
    [(0, True), (LOOK_S, True), (LOOK_S + 1, False), (3600, False)],
)
def test_a_look_is_current_until_its_life_is_over(passed_s: int, expected: bool) -> None:
    clock = FixedClock()
    objects = MemoryObjectStore(clock)
    look = look_at(objects)
    clock.tick(passed_s)
    assert look.is_current(objects, "0") is expected


def test_a_look_expires_if_the_clock_was_set_back() -> None:
    clock = FixedClock()
    objects = MemoryObjectStore(clock)
    look = look_at(objects)
    clock.tick(-3600)
    assert not look.is_current(objects, "0")


def test_nothing_but_stamps_is_stored_one_for_each_who_asks() -> None:
    objects = MemoryObjectStore()
    look = look_at(objects)
    for name in ("0", "1", "1"):
        look.is_current(objects, name)
    assert objects.uris() == [f"{FOLDER}0001", f"{FOLDER}0001-0", f"{FOLDER}0001-1"]
    assert all(objects.get(uri) == b"" for uri in objects.uris())
