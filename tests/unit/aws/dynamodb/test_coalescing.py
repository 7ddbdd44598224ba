"""Threads that ask for the same thing at once share a request, and each gets what it asked for."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from graveler.aws import deadlines
from graveler.aws.dynamodb.coalescing import BatchCall, Coalescer
from graveler.aws.errors import RequestRefusedError
from graveler.errors import InvalidInputError, ThrottledError, UnknownOutcomeError


class Store:
    """Answers requests, each of which waits until the test lets it go on."""

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        self.outcome: Callable[[Sequence[str]], list[str]] = lambda asked: [f"{a}!" for a in asked]
        self.most = 100
        self._begun = threading.Semaphore(0)
        self._may_end = threading.Semaphore(0)
        self.coalescer = Coalescer()
        self.batch = BatchCall(self._send, self._takes)

    def _send(self, asked: Sequence[str]) -> Sequence[str]:
        self.requests.append(list(asked))
        self._begun.release()
        assert self._may_end.acquire(timeout=10)
        return self.outcome(asked)

    def _takes(self, asked: Sequence[str], more: str) -> bool:
        return len(asked) < self.most and more not in asked

    def ask(self, what: str, subject: str = "s") -> str:
        return self.coalescer.call(subject, self.batch, what)

    def wait_for_request(self) -> None:
        assert self._begun.acquire(timeout=10)

    def wait_for(self, amount: int, subject: str = "s") -> None:
        """Return when so many wait for the request under way."""
        for _ in range(2_000):
            if len(self.coalescer._waiting.get(subject, ())) == amount:
                return
            time.sleep(0.005)
        raise AssertionError(self.coalescer._waiting)

    def go_on(self, requests: int = 1) -> None:
        self._may_end.release(requests)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as made:
        yield made


@contextmanager
def first_under_way(store: Store, pool: ThreadPoolExecutor) -> Iterator[Future[str]]:
    first = pool.submit(store.ask, "first")
    store.wait_for_request()
    yield first


def waiting(store: Store, pool: ThreadPoolExecutor, names: str) -> list[Future[str]]:
    """Return the futures of those who wait, in the order in which they came."""
    made = []
    for name in names:
        made.append(pool.submit(store.ask, name))
        store.wait_for(len(made))
    return made


def test_one_thread_asks_alone_and_leaves_nothing_behind(store: Store) -> None:
    store.go_on(2)
    assert (store.ask("a"), store.ask("b")) == ("a!", "b!")
    assert store.requests == [["a"], ["b"]]
    assert store.coalescer._waiting == {}


def test_who_comes_during_a_request_shares_the_next_one(
    store: Store, pool: ThreadPoolExecutor
) -> None:
    with first_under_way(store, pool) as first:
        others = waiting(store, pool, "abcd")
        store.go_on(2)
        assert first.result(10) == "first!"
        assert [other.result(10) for other in others] == ["a!", "b!", "c!", "d!"]
    assert store.requests == [["first"], ["a", "b", "c", "d"]]
    assert store.coalescer._waiting == {}


def test_a_request_takes_no_more_than_fits(store: Store, pool: ThreadPoolExecutor) -> None:
    store.most = 2
    with first_under_way(store, pool):
        others = waiting(store, pool, "abcab")
        store.go_on(4)
        assert [other.result(10) for other in others] == ["a!", "b!", "c!", "a!", "b!"]
    assert store.requests == [["first"], ["a", "b"], ["c", "a"], ["b"]]


def test_requests_about_other_subjects_do_not_wait(store: Store, pool: ThreadPoolExecutor) -> None:
    with first_under_way(store, pool) as first:
        other = pool.submit(store.ask, "other", "another subject")
        store.wait_for_request()
        store.go_on(2)
        assert (first.result(10), other.result(10)) == ("first!", "other!")


@pytest.mark.parametrize(
    "error", [ThrottledError("slow"), UnknownOutcomeError("lost"), ValueError("a bug")]
)
def test_all_who_share_a_request_share_its_failure(
    store: Store, pool: ThreadPoolExecutor, error: Exception
) -> None:
    def fail(_: Sequence[str]) -> list[str]:
        raise error

    with first_under_way(store, pool) as first:
        others = waiting(store, pool, "ab")
        store.go_on()
        assert first.result(10) == "first!"
        store.wait_for_request()
        store.outcome = fail
        store.go_on()
        for other in others:
            with pytest.raises(type(error)):
                other.result(10)
    assert store.coalescer._waiting == {}
    assert store.requests == [["first"], ["a", "b"]]


@pytest.mark.parametrize(
    "error", [InvalidInputError("too large"), RequestRefusedError("op", "ValidationException", "")]
)
def test_one_part_that_is_refused_fails_nobody_else(
    store: Store, pool: ThreadPoolExecutor, error: Exception
) -> None:
    def refuse(asked: Sequence[str]) -> list[str]:
        if "b" in asked:
            raise error
        return [f"{a}!" for a in asked]

    store.outcome = refuse
    with first_under_way(store, pool):
        first, refused, last = waiting(store, pool, "abc")
        store.go_on(5)
        assert (first.result(10), last.result(10)) == ("a!", "c!")
        with pytest.raises(type(error)):
            refused.result(10)
    assert store.requests[:2] == [["first"], ["a", "b", "c"]]
    assert sorted(store.requests[2:]) == [["a"], ["b"], ["c"]]


def test_if_the_sending_thread_is_stopped_the_others_learn_that_they_know_nothing(
    store: Store, pool: ThreadPoolExecutor
) -> None:
    def stop(_: Sequence[str]) -> list[str]:
        raise KeyboardInterrupt

    with first_under_way(store, pool):
        sender, other = waiting(store, pool, "ab")
        store.outcome = stop
        store.go_on(2)
        with pytest.raises(KeyboardInterrupt):
            sender.result(10)
        with pytest.raises(UnknownOutcomeError):
            other.result(10)
    assert store.coalescer._waiting == {}


def _within(seconds: float, work: Callable[[], str]) -> str:
    with deadlines.within(seconds):
        return work()


def test_who_has_no_time_left_goes_and_nothing_was_done_for_it(
    store: Store, pool: ThreadPoolExecutor
) -> None:
    with first_under_way(store, pool) as first:
        late = pool.submit(_within, 0.05, lambda: store.ask("late"))
        with pytest.raises(ThrottledError):
            late.result(10)
        store.go_on(2)
        assert first.result(10) == "first!"
        assert store.ask("next") == "next!"
    assert store.requests == [["first"], ["next"]]


def test_who_has_no_time_left_during_its_request_does_not_know_its_outcome(
    store: Store, pool: ThreadPoolExecutor
) -> None:
    with first_under_way(store, pool):
        sender = pool.submit(store.ask, "sender")
        store.wait_for(1)
        late = pool.submit(_within, 0.3, lambda: store.ask("late"))
        store.wait_for(2)
        store.go_on()
        store.wait_for_request()
        with pytest.raises(UnknownOutcomeError):
            late.result(10)
        store.go_on()
        assert sender.result(10) == "sender!"
    assert store.coalescer._waiting == {}


def test_who_has_little_time_left_does_not_send_for_others(
    store: Store, pool: ThreadPoolExecutor
) -> None:
    def in_time(asked: Sequence[str]) -> list[str]:
        if deadlines.left_s() < 5:
            raise ThrottledError("no time is left")
        return [f"{a}!" for a in asked]

    with first_under_way(store, pool):
        late = pool.submit(_within, 3, lambda: store.ask("late"))
        store.wait_for(1)
        others = [pool.submit(store.ask, name) for name in "ab"]
        store.wait_for(3)
        store.outcome = in_time
        store.go_on(3)
        with pytest.raises(ThrottledError):
            late.result(10)
        assert [other.result(10) for other in others] == ["a!", "b!"]
    assert store.coalescer._waiting == {}


@pytest.mark.parametrize("is_chosen", [False, True])
def test_who_is_interrupted_while_it_waits_keeps_nobody_waiting(
    store: Store, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, is_chosen: bool
) -> None:
    wait = threading.Event.wait
    interrupted: list[int] = []

    def ask() -> str:
        interrupted.append(threading.get_ident())
        return store.ask("interrupted")

    def waiting_until(event: threading.Event, timeout: float | None = None) -> bool:
        if threading.get_ident() not in interrupted:
            return wait(event, timeout)
        if is_chosen:
            wait(event, timeout)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Event, "wait", waiting_until)
    with first_under_way(store, pool) as first:
        gone = pool.submit(ask)
        store.wait_for(int(is_chosen)) if is_chosen else wait(threading.Event(), 0.05)
        store.go_on(2)
        assert first.result(10) == "first!"
        with pytest.raises(KeyboardInterrupt):
            gone.result(10)
        assert pool.submit(_within, 5, lambda: store.ask("next")).result(10) == "next!"
    assert store.coalescer._waiting == {}


def test_everybody_gets_its_own_result_from_a_request_that_began_after_it_asked() -> None:
    coalescer = Coalescer()
    clock = iter(range(10**9))
    lock = threading.Lock()

    def now() -> int:
        with lock:
            return next(clock)

    def send(asked: Sequence[int]) -> Sequence[tuple[int, int]]:
        began = now()
        time.sleep(0.0005)
        return [(each, began) for each in asked]

    batch: BatchCall[int, tuple[int, int]] = BatchCall(send, lambda asked, _: len(asked) < 5)

    def ask(number: int) -> bool:
        asked_at = now()
        result, began = coalescer.call(number % 3, batch, number)
        return result == number and began > asked_at

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(2_000)))
    assert coalescer._waiting == {}
