"""The contract of every OutboxStore."""

from uuid import uuid4

from graveler.addresses import encode_xid
from graveler.model import Event, Repository, Tag
from tests.contract.conftest import COMMIT_ID, Stores, create

NOW_S = 1_700_000_000


def stored(stores: Stores, repository: Repository, time_s: int) -> Event:
    """Store an event that its writer dated, with its change."""
    event_id = encode_xid(time_s.to_bytes(4, "big") + uuid4().bytes[:8])
    name = f"tag-{uuid4().hex}"
    detail = {"tag": name, "parents": ["é"]}
    event = Event(event_id, "tag_created", repository.name, time_s * 10**9, detail)
    stores.refs.create_tag(repository, Tag(name, COMMIT_ID), event)
    return event


def events(stores: Stores, repository: Repository, since_s: int) -> list[Event]:
    """Return the events since then, without that of the repository's creation."""
    found = stores.refs.events_since(repository, since_s)
    return [event for event in found if event.kind == "tag_created"]


def test_events_since_a_time_are_returned_by_their_ids(
    stores: Stores, repository: Repository
) -> None:
    """Whatever the order in which they were stored."""
    late, early, old = (stored(stores, repository, NOW_S + each) for each in (9, 0, -1))
    assert events(stores, repository, NOW_S - 1) == [old, early, late]
    assert events(stores, repository, NOW_S) == [early, late]
    assert events(stores, repository, NOW_S + 10) == []


def test_an_event_is_its_repositorys(stores: Stores, repository: Repository) -> None:
    other = create(stores)
    event = stored(stores, other, NOW_S)
    assert events(stores, repository, NOW_S) == []
    assert events(stores, other, NOW_S) == [event]


def test_all_pages_of_events_are_returned(stores: Stores, repository: Repository) -> None:
    made = [stored(stores, repository, NOW_S + number) for number in range(30)]
    assert events(stores, repository, NOW_S) == made
