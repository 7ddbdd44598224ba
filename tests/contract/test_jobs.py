"""The contract of every JobStore."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.model import Repository
from graveler.ports import JobStore
from tests.contract.conftest import DynamoDBStores, Stores, create, new_event
from tests.support.fakes.memory import MemoryRefStore
from tests.support.fakes.memory_jobs import MemoryJobStore

KIND = "tested"


@dataclass(frozen=True)
class Jobs:
    store: JobStore
    repository: Repository
    event_ids: Callable[[], set[str]]

    def take(self, holder: str, *, now_ns: int, until_ns: int, kind: str = KIND) -> bool:
        return self.store.take_lease(
            self.repository, kind, holder, now_ns=now_ns, until_ns=until_ns
        )


@pytest.fixture
def jobs(stores: Stores) -> Jobs:
    store: JobStore
    if isinstance(stores.refs, MemoryRefStore):
        store = MemoryJobStore(stores.refs)
    else:
        assert isinstance(stores, DynamoDBStores)
        store = DynamoJobStore(stores.tables)
    repository = create(stores)
    return Jobs(store, repository, lambda: stores.event_ids(repository))


def test_a_lease_has_one_holder(jobs: Jobs) -> None:
    assert jobs.take("first", now_ns=1, until_ns=10)
    assert not jobs.take("second", now_ns=9, until_ns=20)
    assert jobs.take("second", now_ns=9, until_ns=20, kind="another")
    assert jobs.take("second", now_ns=10, until_ns=20)
    assert not jobs.take("first", now_ns=19, until_ns=30)


def test_its_holder_may_have_it_for_longer(jobs: Jobs) -> None:
    assert jobs.take("first", now_ns=1, until_ns=10)
    assert jobs.take("first", now_ns=5, until_ns=15)
    assert not jobs.take("second", now_ns=12, until_ns=20)


def test_an_ended_lease_is_free_at_once(jobs: Jobs) -> None:
    assert jobs.take("first", now_ns=1, until_ns=10)
    jobs.store.end_lease(jobs.repository, KIND, "first")
    jobs.store.end_lease(jobs.repository, KIND, "first")
    assert jobs.take("second", now_ns=2, until_ns=20)


def test_no_job_ends_anothers_lease(jobs: Jobs) -> None:
    assert jobs.take("first", now_ns=1, until_ns=10)
    jobs.store.end_lease(jobs.repository, KIND, "second")
    assert not jobs.take("second", now_ns=2, until_ns=20)


def test_a_holder_sees_that_its_lease_is_anothers_or_ended(jobs: Jobs, stores: Stores) -> None:
    def has(holder: str, kind: str = KIND) -> bool:
        return jobs.store.has_lease(jobs.repository, kind, holder)

    assert not has("first")
    assert jobs.take("first", now_ns=1, until_ns=10)
    assert (has("first"), has("second"), has("first", "another")) == (True, False, False)
    assert not jobs.store.has_lease(create(stores), KIND, "first")
    assert jobs.take("second", now_ns=10, until_ns=20)
    assert (has("first"), has("second")) == (False, True)
    jobs.store.end_lease(jobs.repository, KIND, "second")
    assert not has("second")


def test_repositories_have_leases_of_their_own(jobs: Jobs, stores: Stores) -> None:
    assert jobs.take("first", now_ns=1, until_ns=10)
    other = create(stores)
    assert jobs.store.take_lease(other, KIND, "second", now_ns=2, until_ns=20)


def test_an_event_is_reported_once(jobs: Jobs) -> None:
    event = new_event()
    jobs.store.put_event(jobs.repository, event)
    jobs.store.put_event(jobs.repository, event)
    assert event.id in jobs.event_ids()


def test_who_holds_a_lease_is_known_until_its_end(jobs: Jobs, stores: Stores) -> None:
    def holder(now_ns: int, kind: str = KIND) -> str:
        return jobs.store.lease_holder(jobs.repository, kind, now_ns)

    assert holder(0) == ""
    assert jobs.take("first", now_ns=1, until_ns=10)
    assert (holder(9), holder(10), holder(9, "another")) == ("first", "", "")
    assert jobs.store.lease_holder(create(stores), KIND, 9) == ""
    assert jobs.take("second", now_ns=10, until_ns=20)
    assert holder(11) == "second"
    jobs.store.end_lease(jobs.repository, KIND, "second")
    assert holder(11) == ""
