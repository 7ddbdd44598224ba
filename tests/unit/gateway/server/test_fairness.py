"""A user who sends many requests at a time keeps nobody else waiting."""

import threading
from contextlib import ExitStack

import pytest

from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.fairness import FairPlaces, user_of
from tests.support.servers.http_server import until


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def given(places: FairPlaces, stack: ExitStack, *users: str) -> list[bool]:
    """Return which of the users got a place without waiting; they hold it."""
    return [stack.enter_context(places.place(user, waits=False)) for user in users]


def test_a_user_who_is_alone_may_have_all_places(clock):
    with ExitStack() as stack:
        places = FairPlaces(3, each_max=1, now_s=clock)
        given(places, stack, "ann")
        clock.now_s += 2
        assert given(places, stack, "ann", "ann", "ann") == [True, True, False]


def test_a_user_beside_others_has_a_few_until_they_have_been_quiet_for_a_second(clock):
    with ExitStack() as stack:
        places = FairPlaces(4, each_max=1, now_s=clock)
        assert given(places, stack, "ann", "bob", "ann", "bob") == [True, True, False, False]
        clock.now_s += 0.9
        assert given(places, stack, "bob") == [False]
        clock.now_s += 0.2
        assert given(places, stack, "bob", "bob") == [True, True]


def test_a_limit_may_hold_for_a_user_who_is_alone_as_well(clock):
    with ExitStack() as stack:
        places = FairPlaces(4, each_max=1, user_max=2, now_s=clock)
        given(places, stack, "ann")
        clock.now_s += 2
        assert given(places, stack, "ann", "ann") == [True, False]


def test_a_user_beside_others_may_have_places_that_are_not_spared_for_them(clock):
    with ExitStack() as stack:
        places = FairPlaces(5, each_max=1, spare=2, now_s=clock)
        assert given(places, stack, "bob", "ann", "ann", "ann") == [True, True, True, False]
        assert given(places, stack, "eve") == [True]


def test_of_a_user_so_many_requests_wait_and_more_are_refused(clock):
    places = FairPlaces(1, waiting_max=1, now_s=clock)
    done = []

    def wait() -> None:
        with places.place("ann", waits=True) as has_place:
            done.append(has_place)

    waiting = threading.Thread(target=wait)
    with ExitStack() as stack:
        given(places, stack, "bob")
        waiting.start()
        while not places._waiting:
            pass
        assert not stack.enter_context(places.place("ann", waits=True))
    waiting.join(5)
    assert done == [True]


def test_a_request_that_waits_gets_a_free_place_once_its_user_is_alone(clock):
    places = FairPlaces(2, each_max=1, now_s=clock)
    served = threading.Event()

    def wait() -> None:
        with places.place("ann", waits=True):
            served.set()

    waiting = threading.Thread(target=wait)
    with ExitStack() as stack:
        given(places, stack, "ann")
        waiting.start()
        until(lambda: places._waiting)
        clock.now_s += 2
        assert served.wait(20)
    waiting.join(5)


def test_a_place_is_free_again_when_its_request_ends_or_fails(clock):
    places = FairPlaces(1, now_s=clock)
    with pytest.raises(KeyError), places.place("ann", waits=True):
        raise KeyError
    with places.place("bob", waits=False) as has_place:
        assert has_place


def test_of_those_that_wait_a_user_with_few_places_is_next(clock):
    places = FairPlaces(2, each_max=1, now_s=clock)
    order: list[str] = []
    threads = []

    def wait(user: str) -> None:
        with places.place(user, waits=True):
            order.append(user)

    with ExitStack() as first, ExitStack() as second:
        given(places, first, "ann")
        clock.now_s += 2  # alone
        given(places, second, "ann")
        for number, user in enumerate(("ann", "ann", "bob"), 1):
            threads.append(threading.Thread(target=wait, args=(user,)))
            threads[-1].start()
            while len(places._waiting) < number:
                pass
        first.close()
        threads[2].join(5)
        assert order[0] == "bob"
    for thread in threads:
        thread.join(5)
    assert sorted(order) == ["ann", "ann", "bob"]


SIGNED = "AWS4-HMAC-SHA256 Credential=AKIA1/20261128/us-east-1/s3/aws4_request, SignedHeaders=host"


@pytest.mark.parametrize(
    ("headers", "query", "user"),
    [
        ({"authorization": SIGNED, "cookie": "c"}, "", "AKIA1"),
        ({"authorization": "AWS AKIA2:signature="}, "", "AKIA2"),
        ({}, "X-Amz-Algorithm=a&X-Amz-Credential=AKIA3%2F20261128&X-Amz-Date=d", "AKIA3"),
        ({}, "AWSAccessKeyId=AKIA4&Signature=s", "AKIA4"),
        ({"authorization": "Basic YTpi"}, "X-Amz-Credential=other", "Basic YTpi"),
        ({"authorization": "Basic YTpi"}, "", "Basic YTpi"),
        ({"cookie": "session=1"}, "", "session=1"),
        ({}, "", "192.0.2.1"),
    ],
)
def test_a_user_is_whom_a_request_names(headers, query, user):
    head = RequestHead("GET", "/", query, tuple(headers.items()))
    assert user_of(head, "192.0.2.1") == user
