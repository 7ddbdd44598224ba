"""The contract of every ExportStore: one record per branch, one winner of every race for it."""

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.cleanup import CleanupStore
from graveler.errors import StaleVersionError, UnknownOutcomeError
from graveler.export.paths import ExportPaths, ListedExport
from graveler.export.record import (
    BranchExport,
    Destination,
    ExportConfiguration,
    ExportRun,
    ExportState,
    Progress,
)
from graveler.limits import TOKEN_RETENTION_S
from graveler.model import Branch, Event, Repository
from tests.contract.conftest import (
    COMMIT_ID,
    OTHER_ID,
    DynamoDBStores,
    Losing,
    Stores,
    create,
    drop_registered,
    new_event,
    new_token,
    strong,
)
from tests.contract.racing import ROUNDS, THREADS, outcomes, winner

CONFIGURATION = ExportConfiguration(
    "s3://out/é", "s3://status", ("^SUCCESS$", '"\\.\n'), is_continuous=True
)
CONFIGURED = BranchExport("feature/é", CONFIGURATION)
RUN = ExportRun("run-1", COMMIT_ID, CONFIGURATION, 1_700_000_000_123_456_789)
AT_WORK = replace(
    CONFIGURED,
    state=ExportState.IN_PROGRESS,
    run=replace(
        RUN,
        progress=Progress(
            b"\x00\xff/key",
            done=7,
            total=10**9,
            failed=1,
            first_errors=("a: why",),
            put_off=((b"a", b"\xff"),),
            failed_under=b"",
            pieces=3,
        ),
        runner="runner",
        lease_until_ns=1_700_000_060 * 10**9,
    ),
    error_message="1 task failed\n",
    destinations=(Destination("s3://out/é", COMMIT_ID, (OTHER_ID,), "s3://status/x", "s3://m"),),
    is_pending=True,
    watched_until_ns=5,
)


def is_of(listed: ListedExport, repository: Repository) -> bool:
    return listed.repository_uid == repository.uid


def renewed(record: BranchExport, runner: str) -> BranchExport:
    assert record.run is not None
    return replace(record, run=replace(record.run, runner=runner))


@pytest.fixture(autouse=True)
def exported_branches(stores: Stores, repository: Repository) -> None:
    for name in (CONFIGURED.branch, "other"):
        make_branch(stores, repository, name)


def make_branch(stores: Stores, repository: Repository, name: str) -> None:
    stores.refs.create_branch(repository, Branch(name, COMMIT_ID, new_token()), new_event())


@pytest.fixture
def configured(stores: Stores, repository: Repository) -> BranchExport:
    return stores.exports.replace_branch_export(repository, None, CONFIGURED)


@pytest.fixture
def at_work(stores: Stores, repository: Repository, configured: BranchExport) -> BranchExport:
    return stores.exports.replace_branch_export(repository, configured, AT_WORK)


class TestRecords:
    def test_there_is_none_at_first(self, stores: Stores, repository: Repository) -> None:
        assert stores.exports.branch_export(repository, "main") is None

    def test_a_record_comes_back_whole(
        self, stores: Stores, repository: Repository, configured: BranchExport
    ) -> None:
        assert configured == replace(CONFIGURED, version=1)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == configured
        stored = stores.exports.replace_branch_export(repository, configured, AT_WORK)
        assert stored == replace(AT_WORK, version=2)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == stored

    def test_branches_have_records_of_their_own(
        self, stores: Stores, repository: Repository, configured: BranchExport
    ) -> None:
        other = replace(CONFIGURED, branch="feature")
        stores.exports.replace_branch_export(repository, None, other)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == configured
        assert stores.exports.branch_export(create(stores), CONFIGURED.branch) is None

    def test_a_record_that_changed_is_not_replaced(
        self, stores: Stores, repository: Repository, configured: BranchExport
    ) -> None:
        now = stores.exports.replace_branch_export(repository, configured, AT_WORK)
        for old in (None, configured):
            event = new_event()
            with pytest.raises(StaleVersionError):
                stores.exports.replace_branch_export(repository, old, CONFIGURED)
            with pytest.raises(StaleVersionError):
                stores.exports.replace_branch_export(repository, old, CONFIGURED, event)
            assert event.id not in stores.event_ids(repository)
        with pytest.raises(StaleVersionError):
            stores.exports.delete_branch_export(repository, configured)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == now

    def test_the_event_comes_with_the_change(
        self, stores: Stores, repository: Repository, configured: BranchExport
    ) -> None:
        event = new_event()
        stored = stores.exports.replace_branch_export(repository, configured, AT_WORK, event)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == stored
        assert event.id in stores.event_ids(repository)

    def test_a_record_can_be_forgotten(
        self, stores: Stores, repository: Repository, configured: BranchExport
    ) -> None:
        for _ in range(2):
            stores.exports.delete_branch_export(repository, configured)
            assert stores.exports.branch_export(repository, CONFIGURED.branch) is None
        with pytest.raises(StaleVersionError):
            stores.exports.replace_branch_export(repository, configured, AT_WORK)

    def test_the_runner_of_a_forgotten_record_does_not_take_over_the_new_one(
        self, stores: Stores, repository: Repository, at_work: BranchExport
    ) -> None:
        stores.exports.delete_branch_export(repository, at_work)
        again = stores.exports.replace_branch_export(repository, None, CONFIGURED)
        assert AT_WORK.run is not None
        other = replace(AT_WORK, run=replace(AT_WORK.run, id="run-2"))
        again = stores.exports.replace_branch_export(repository, again, other)
        assert again.version == at_work.version
        with pytest.raises(StaleVersionError):
            stores.exports.replace_branch_export(repository, at_work, renewed(at_work, "late"))
        with pytest.raises(StaleVersionError):
            stores.exports.delete_branch_export(repository, at_work)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == again


class TestList:
    """The list of exports is the whole deployment's: a test looks for its own repository's."""

    def of(self, stores: Stores, repository: Repository) -> list[ListedExport]:
        every = stores.exports.listed_exports()
        return [each for each in every if is_of(each, repository)]

    def test_a_configured_branch_is_listed_with_its_places(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        (listed,) = self.of(stores, repository)
        assert (listed.repository, listed.branch) == (repository.name, CONFIGURED.branch)
        assert stores.exports.listed_record(listed) == made
        assert listed.places == ExportPaths(("s3://out/é",), ("s3://status",))

    def test_another_configuration_lists_what_the_record_remembers_too(
        self, stores: Stores, repository: Repository
    ) -> None:
        old = stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        old = stores.exports.replace_branch_export(repository, old, AT_WORK)
        moved = replace(old, configuration=ExportConfiguration("s3://moved"))
        stores.exports.replace_branch_export(repository, old, moved, new_event())
        (listed,) = self.of(stores, repository)
        assert listed.places == ExportPaths(("s3://moved", "s3://out/é"), ("s3://status",))

    def test_what_is_refused_is_not_listed(self, stores: Stores, repository: Repository) -> None:
        stores.exports.replace_branch_export(repository, None, CONFIGURED)
        with pytest.raises(StaleVersionError):
            stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        assert self.of(stores, repository) == []

    def test_what_is_forgotten_is_not_listed_any_more(
        self, stores: Stores, repository: Repository
    ) -> None:
        old = stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        other = replace(CONFIGURED, branch="other")
        stores.exports.replace_branch_export(repository, None, other, new_event())
        stores.exports.delete_branch_export(repository, old)
        assert [each.branch for each in self.of(stores, repository)] == ["other"]


class TestBranches:
    """A branch and its export go together."""

    def main(self, stores: Stores, repository: Repository) -> Branch:
        branch = stores.refs.branch(repository, "main")
        assert branch is not None
        return branch

    def is_listed(self, stores: Stores, repository: Repository) -> bool:
        return any(is_of(each, repository) for each in stores.exports.listed_exports())

    def test_the_first_record_of_a_branch_that_is_gone_is_refused(
        self, stores: Stores, repository: Repository
    ) -> None:
        event, gone = new_event(), replace(CONFIGURED, branch="gone")
        with pytest.raises(StaleVersionError):
            stores.exports.replace_branch_export(repository, None, gone, event)
        assert stores.exports.branch_export(repository, "gone") is None
        assert event.id not in stores.event_ids(repository)
        assert not self.is_listed(stores, repository)

    def test_a_deleted_branch_takes_its_export_along(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = replace(CONFIGURED, branch="main")
        record = stores.exports.replace_branch_export(repository, None, made, new_event())
        event, branch = new_event(), self.main(stores, repository)
        stores.exports.delete_branch(repository, branch, event, 5, export=record)
        assert stores.refs.branch(repository, "main") is None
        assert stores.exports.branch_export(repository, "main") is None
        assert not self.is_listed(stores, repository)
        assert event.id in stores.event_ids(repository)
        assert stores.tokens_to_drop()[branch.staging_token] == 5

    def test_a_deleted_branch_leaves_what_its_runner_has_to_know(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = replace(AT_WORK, branch="main")
        record = stores.exports.replace_branch_export(repository, None, made, new_event())
        left = replace(record, is_forgotten=True)
        branch = self.main(stores, repository)
        stores.exports.delete_branch(repository, branch, new_event(), 5, export=record, left=left)
        assert stores.refs.branch(repository, "main") is None
        stored = stores.exports.branch_export(repository, "main")
        assert stored == replace(left, version=record.version + 1)
        assert self.is_listed(stores, repository)

    def test_neither_goes_when_one_of_them_has_changed(
        self, stores: Stores, repository: Repository
    ) -> None:
        branch = self.main(stores, repository)
        made = replace(CONFIGURED, branch="main")
        record = stores.exports.replace_branch_export(repository, None, made, new_event())
        now = stores.exports.replace_branch_export(repository, record, replace(record))
        other = replace(branch, staging_token=new_token())
        for stale, export in ((branch, None), (branch, record), (other, now)):
            for left in (None, replace(record, is_forgotten=True)):
                event = new_event()
                with pytest.raises(StaleVersionError):
                    stores.exports.delete_branch(
                        repository, stale, event, 5, export=export, left=export and left
                    )
                assert event.id not in stores.event_ids(repository)
        assert stores.refs.branch(repository, "main") == branch
        assert stores.exports.branch_export(repository, "main") == now
        assert self.is_listed(stores, repository)


@pytest.mark.parametrize("_round", range(ROUNDS))
@pytest.mark.parametrize("with_event", [False, True])
def test_one_of_many_takes_the_lease(
    stores: Stores,
    repository: Repository,
    at_work: BranchExport,
    with_event: bool,
    _round: int,
) -> None:
    events = [new_event() if with_event else None for _ in range(THREADS)]

    def take(number: int) -> BranchExport:
        new = renewed(at_work, f"runner {number}")
        return stores.exports.replace_branch_export(repository, at_work, new, events[number])

    won = winner(outcomes(take))
    stored = stores.exports.branch_export(repository, CONFIGURED.branch)
    assert stored == replace(renewed(at_work, f"runner {won}"), version=at_work.version + 1)
    ids = stores.event_ids(repository)
    told = [n for n, event in enumerate(events) if event is not None and event.id in ids]
    assert told == ([won] if with_event else [])


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_equal_writes_is_first(
    stores: Stores, repository: Repository, _round: int
) -> None:
    winner(outcomes(lambda _: stores.exports.replace_branch_export(repository, None, CONFIGURED)))


class TestLostAnswers:
    """A write lands and its answer is lost, once or for as long as the client tries."""

    @pytest.fixture
    def stores(self, dynamodb_stores: DynamoDBStores) -> Stores:
        return dynamodb_stores

    def test_a_first_record(self, stores: Stores, repository: Repository, lose: Losing) -> None:
        lose("PutItem")
        stored = stores.exports.replace_branch_export(repository, None, CONFIGURED)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == stored

    @pytest.mark.parametrize("event", [None, new_event()])
    def test_a_change(
        self,
        stores: Stores,
        repository: Repository,
        configured: BranchExport,
        event: Event | None,
        lose: Losing,
    ) -> None:
        lose("PutItem" if event is None else "TransactWriteItems")
        stored = stores.exports.replace_branch_export(repository, configured, AT_WORK, event)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == stored

    @pytest.mark.parametrize("event", [None, new_event()])
    def test_a_change_that_lost_its_race(
        self,
        stores: Stores,
        repository: Repository,
        configured: BranchExport,
        event: Event | None,
        lose: Losing,
    ) -> None:
        now = stores.exports.replace_branch_export(repository, configured, AT_WORK)
        lose("PutItem" if event is None else "TransactWriteItems")
        # With every answer lost nobody may say more than that the outcome is unknown.
        with pytest.raises((StaleVersionError, UnknownOutcomeError)):
            stores.exports.replace_branch_export(repository, configured, AT_WORK, event)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) == now

    def test_deleting_a_branch_with_its_export(
        self, stores: Stores, repository: Repository, lose: Losing
    ) -> None:
        made = replace(CONFIGURED, branch="main")
        record = stores.exports.replace_branch_export(repository, None, made, new_event())
        branch = stores.refs.branch(repository, "main")
        assert branch is not None
        lose("TransactWriteItems")
        stores.exports.delete_branch(repository, branch, new_event(), 5, export=record)
        assert stores.refs.branch(repository, "main") is None
        assert stores.exports.branch_export(repository, "main") is None

    def test_forgetting(
        self,
        stores: Stores,
        repository: Repository,
        configured: BranchExport,
        lose: Losing,
    ) -> None:
        lose("TransactWriteItems")
        stores.exports.delete_branch_export(repository, configured)
        assert stores.exports.branch_export(repository, CONFIGURED.branch) is None


class TestDeletedRepositories:
    @pytest.fixture
    def stores(self, dynamodb_stores: DynamoDBStores) -> Stores:
        return dynamodb_stores

    def test_exports_stay_for_as_long_as_somebody_may_be_at_work(
        self, stores: Stores, repository: Repository
    ) -> None:
        made = stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        at_work = stores.exports.replace_branch_export(repository, made, AT_WORK)
        stores.refs.delete_repository(repository, new_event())
        listed = [each for each in stores.exports.listed_exports() if is_of(each, repository)]
        assert [stores.exports.listed_record(each) for each in listed] == [at_work]
        stores.exports.delete_branch_export(repository, at_work)
        assert [stores.exports.listed_record(each) for each in listed] == [None]
        assert not any(is_of(each, repository) for each in stores.exports.listed_exports())

    def test_one_that_came_meanwhile_goes_with_the_rest(
        self, dynamodb_stores: DynamoDBStores, stores: Stores, repository: Repository
    ) -> None:
        strong(stores)
        drop_registered(dynamodb_stores)
        stores.refs.delete_repository(repository, replace(new_event(), time_ns=0))
        make_branch(stores, repository, CONFIGURED.branch)
        stores.exports.replace_branch_export(repository, None, CONFIGURED, new_event())
        cleanup = CleanupStore(dynamodb_stores.tables, stores.staging)
        assert cleanup.sweep(TOKEN_RETENTION_S * 10**9 + 1).done == 2
        assert stores.exports.branch_export(repository, CONFIGURED.branch) is None
        assert not any(is_of(each, repository) for each in stores.exports.listed_exports())
