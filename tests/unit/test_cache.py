"""The caches keep what is used or young, and never more than their budgets."""

from threading import Thread
from typing import Any

from graveler.cache import AgingCache, BoundedCache
from graveler.times import NS_PER_S, Moment


def held(cache: BoundedCache[int, Any], keys: range) -> set[int]:
    """What is held, without the reading that would count as use."""
    return {key for key in keys if key in cache._young or key in cache._old[0]}


def test_what_fits_is_held():
    cache: BoundedCache[int, str] = BoundedCache(10)
    for key in range(5):
        cache.put(key, str(key))
    assert [cache.get(key) for key in range(6)] == ["0", "1", "2", "3", "4", None]


def test_what_nobody_asks_for_goes_first():
    cache: BoundedCache[int, str] = BoundedCache(10)
    for key in range(100):
        cache.put(key, str(key))
        assert cache.get(0) == "0"
    assert cache.get(50) is None


def test_the_budget_is_never_exceeded():
    cache: BoundedCache[int, str] = BoundedCache(10)
    for key in range(50):
        cache.put(key, "x", 1 + key % 4)
        cache.get(key - 3)
        assert sum((*cache._costs.values(), *cache._old[1].values())) <= 10
        assert cache._costs.keys() == cache._young.keys()


def test_a_thing_that_would_push_out_everything_is_not_held():
    cache: BoundedCache[int, str] = BoundedCache(10)
    cache.put(1, "small")
    cache.put(2, "large", 6)
    assert (cache.get(1), cache.get(2)) == ("small", None)


def test_a_thing_put_again_replaces_itself_and_its_cost():
    cache: BoundedCache[int, str] = BoundedCache(10)
    for _ in range(20):
        cache.put(1, "other", 5)
        cache.put(1, "one", 2)
    cache.put(2, "two", 3)
    assert (cache.get(1), cache.get(2)) == ("one", "two")


def test_a_thing_put_again_and_again_pushes_nothing_out():
    cache: BoundedCache[int, str] = BoundedCache(10)
    cache.put(1, "one")
    for _ in range(20):
        cache.put(2, "two", 2)
    assert cache.get(1) == "one"


def test_what_is_forgotten_is_gone_from_both_generations():
    cache: BoundedCache[int, str] = BoundedCache(4)
    cache.put(1, "old")
    cache.put(2, "x")
    cache.put(3, "young")
    assert held(cache, range(5)) == {1, 2, 3}
    for key in (1, 3, 4):
        cache.forget(key)
    assert held(cache, range(5)) == {2}
    cache.put(5, "x", 1)
    cache.put(6, "x", 1)
    assert cache.get(3) is None


def test_threads_may_share_it():
    cache: BoundedCache[int, int] = BoundedCache(64)
    wrong: list[int] = []

    def use(offset: int) -> None:
        for step in range(3000):
            key = (step * 7 + offset) % 100
            found = cache.get(key)
            if found is not None and found != key:
                wrong.append(key)
            cache.put(key, key)

    threads = [Thread(target=use, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(held(cache, range(100))) <= 64


class Store:
    """Has a value for each even key, and takes a second to read it."""

    def __init__(self) -> None:
        self.now_s = 100
        self.reads = 0

    def moment(self) -> Moment:
        return Moment(self.now_s * NS_PER_S, self.now_s * NS_PER_S)

    def read(self, key: int) -> str | None:
        self.now_s += 1
        self.reads += 1
        return None if key % 2 else f"{key}, read at {self.now_s}"


def test_a_value_is_believed_for_its_age_from_before_it_was_read():
    store = Store()
    cache: AgingCache[int, str] = AgingCache(store.moment, 5, 10)
    assert cache.get(2) is None
    first = cache.get_or_read(2, store.read)
    store.now_s = 104
    assert cache.get_or_read(2, store.read) == cache.get(2) == first
    store.now_s = 105
    assert cache.get(2) is None
    assert cache.get_or_read(2, store.read) == "2, read at 106"


def test_a_missing_value_is_not_remembered():
    store = Store()
    cache: AgingCache[int, str] = AgingCache(store.moment, 5, 10)
    assert [cache.get_or_read(1, store.read) for _ in range(2)] == [None, None]
    cache.get_or_read(2, store.read)
    store.now_s += 10
    assert cache.get_or_read(2, lambda _: None) is None
    store.now_s -= 10
    assert cache.get(2) is None


def test_a_full_cache_begins_again():
    store = Store()
    cache: AgingCache[int, str] = AgingCache(store.moment, 100, 2)
    for key in (2, 4, 6):
        cache.get_or_read(key, store.read)
    assert [cache.get(key) is None for key in (2, 4, 6)] == [True, True, False]
    cache.clear()
    assert cache.get(6) is None
