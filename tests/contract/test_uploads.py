"""The contract of every UploadStore, and of the transaction that completes an upload."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from graveler.addresses import encode_xid
from graveler.aws.dynamodb.recorded_uploads import text_of_key
from graveler.errors import StaleVersionError, UnknownOutcomeError, UploadNotFoundError
from graveler.limits import PATH_BYTES_MAX
from graveler.model import NO_REQUIREMENT, Branch, Repository, Requirement
from graveler.model.recorded_uploads import Completion, Upload
from graveler.names import NAME_BYTES_MAX
from graveler.operations import commits, objects, recorded_uploads, repositories
from graveler.ports import UNCONDITIONAL, Staged, UploadedPart
from tests.contract.conftest import (
    DynamoDBStores,
    Losing,
    Stores,
    create,
    main_of,
    no_request_arrives,
)
from tests.contract.racing import ROUNDS, THREADS, outcomes, winner
from tests.support.fakes.dynamodb.choices import Choices
from tests.support.fakes.engines import memory_world
from tests.support.worlds.lake import NAMESPACE, REPO

pytestmark = pytest.mark.usefixtures("spread")

PATH = b"dir/\x00\xff object"
VALUE = b"\x00value\xff"
DONE = Completion("checksum-2", 7, 1_700_000_100 * 10**9, "digest")


def new_upload(
    path: bytes = PATH, branch: str = "main", number: int = 0, metadata: str = ""
) -> Upload:
    return Upload(
        id=encode_xid(number.to_bytes(12, "big")) if number else encode_xid(uuid4().bytes[:12]),
        branch=branch,
        path=path,
        address=f"data/x/{uuid4().hex}",
        store_id="a.b-c_",
        content_type="text/é",
        created_ns=1_700_000_000 * 10**9,
        metadata={"key": metadata, "": "é"},
        has_checksums=True,
    )


def read(stores: Stores, repository: Repository, upload: Upload) -> Upload | None:
    return stores.refs.upload(repository, upload.branch, upload.path, upload.id)


def stored(stores: Stores, repository: Repository, upload: Upload | None = None) -> Upload:
    upload = upload or new_upload()
    stores.refs.put_upload(repository, upload)
    return upload


def complete(
    stores: Stores,
    repository: Repository,
    upload: Upload,
    expected: object = UNCONDITIONAL,
    completion: Completion = DONE,
    branch: Branch | None = None,
) -> Upload:
    branch = branch or main_of(stores, repository)
    completed = upload.completed_by(completion, branch.staging_token)
    stores.staging.stage_upload(repository, branch, VALUE, expected, completed)  # type: ignore[arg-type]
    return completed


def staged(stores: Stores, repository: Repository, path: bytes = PATH) -> Staged | None:
    return stores.staging.get(main_of(stores, repository).staging_token, path)


def test_a_stored_upload_is_read(stores: Stores, repository: Repository) -> None:
    upload = stored(stores, repository, new_upload(metadata="v" * 128 * 1024))
    assert read(stores, repository, upload) == upload
    assert read(stores, create(stores), upload) is None


def test_an_upload_is_found_by_its_branch_its_path_and_its_id(
    stores: Stores, repository: Repository
) -> None:
    upload = stored(stores, repository)
    assert stores.refs.upload(repository, "dev", PATH, upload.id) is None
    assert stores.refs.upload(repository, "main", PATH + b"x", upload.id) is None
    assert stores.refs.upload(repository, "main", PATH, new_upload().id) is None


def test_a_path_that_only_begins_alike_has_no_such_upload(
    stores: Stores, repository: Repository
) -> None:
    upload = stored(stores, repository, new_upload(b"\xff" * PATH_BYTES_MAX))
    other = b"\xff" * (PATH_BYTES_MAX - 1) + b"\xfe"
    assert stores.refs.upload(repository, "main", other, upload.id) is None


@pytest.mark.parametrize("branch", ["main", "b" * NAME_BYTES_MAX])
def test_the_longest_keys_are_stored(stores: Stores, repository: Repository, branch: str) -> None:
    uploads = [
        new_upload(path * PATH_BYTES_MAX, branch) for path in (b"\x00", b"\x02", b"a", b"\xff")
    ]
    for upload in reversed(uploads):
        stored(stores, repository, upload)
    assert [read(stores, repository, upload) for upload in uploads] == uploads
    assert list(stores.refs.uploads(repository, b"", None)) == uploads


PATHS = [
    b"\x00",
    b"\x00\x00",
    b"\x01",
    b"\x01a",
    b"\x02",
    b"a",
    b"a\x00b",
    b"a!",
    b"a/",
    b"aa",
    "é".encode(),
    b"\xff",
    *(b"\xff" * length for length in (500, 1_000, 1_023, 1_024)),
]


def test_uploads_are_listed_by_key_and_then_by_age(stores: Stores, repository: Repository) -> None:
    uploads = [
        new_upload(path, "main", number) for number, path in enumerate([*PATHS, *PATHS], start=1)
    ]
    first = new_upload(b"z", "dev")
    for upload in [*uploads[::-1], first]:
        stored(stores, repository, upload)
    listed = list(stores.refs.uploads(repository, b"", None))
    assert listed == sorted([first, *uploads], key=lambda upload: upload.place)


def test_a_part_of_the_uploads_is_listed(stores: Stores, repository: Repository) -> None:
    for path in PATHS:
        stored(stores, repository, new_upload(path))
    everything = [upload.key for upload in stores.refs.uploads(repository, b"", None)]
    for start, end in [*pairwise(everything), (everything[3], everything[-2])]:
        found = [upload.key for upload in stores.refs.uploads(repository, start, end)]
        assert found == everything[everything.index(start) : everything.index(end)]


def test_many_uploads_are_listed(stores: Stores, repository: Repository) -> None:
    """More than DynamoDB returns in one page, of 1 MB."""
    uploads = [new_upload(b"%03d" % n, metadata="v" * 120_000) for n in range(20)]
    for upload in uploads:
        stored(stores, repository, upload)
    assert list(stores.refs.uploads(repository, b"", None)) == uploads


@given(st.lists(st.binary(max_size=40), min_size=2, max_size=2))
def test_the_texts_of_keys_sort_like_the_keys(keys: list[bytes]) -> None:
    first, second = sorted(keys)
    texts = [text_of_key(each).encode() + b"\x01" for each in (first, second)]
    assert texts == sorted(texts)
    assert (texts[0] == texts[1]) == (first == second)


@given(st.lists(st.binary(max_size=2_100), min_size=2, max_size=2), st.binary(max_size=1_500))
def test_the_text_of_a_key_never_sorts_before_that_of_a_lesser_one(
    ends: list[bytes], beginning: bytes
) -> None:
    first, second = sorted(beginning + end for end in ends)
    assert text_of_key(first).encode() <= text_of_key(second).encode()
    assert len(text_of_key(second).encode()) <= 980


def test_an_open_upload_is_deleted(stores: Stores, repository: Repository) -> None:
    upload = stored(stores, repository)
    for _ in range(2):
        assert stores.refs.delete_upload(repository, upload)
        assert read(stores, repository, upload) is None


@pytest.mark.parametrize("expected", [UNCONDITIONAL, None])
def test_a_completion_stages_and_completes(
    stores: Stores, repository: Repository, expected: object
) -> None:
    upload = stored(stores, repository)
    completed = complete(stores, repository, upload, expected)
    assert staged(stores, repository) == Staged(VALUE)
    assert read(stores, repository, upload) == completed
    assert list(stores.refs.uploads(repository, b"", None)) == [completed]
    assert not stores.refs.delete_upload(repository, upload)
    assert read(stores, repository, upload) == completed


def test_a_late_attempt_to_store_it_does_not_reopen_a_completed_upload(
    stores: Stores, repository: Repository
) -> None:
    upload = stored(stores, repository)
    completed = complete(stores, repository, upload)
    stores.refs.put_upload(repository, upload)
    assert read(stores, repository, upload) == completed


@pytest.mark.parametrize("expected", [UNCONDITIONAL, None])
@pytest.mark.parametrize("is_deleted", [True, False])
def test_only_an_open_upload_is_completed(
    stores: Stores, repository: Repository, expected: object, is_deleted: bool
) -> None:
    upload = stored(stores, repository)
    if is_deleted:
        stores.refs.delete_upload(repository, upload)
    else:
        complete(stores, repository, upload)
        stores.staging.drop(main_of(stores, repository).staging_token)
    before = read(stores, repository, upload)
    with pytest.raises(UploadNotFoundError):
        complete(
            stores, repository, upload, expected, structs.replace(DONE, parts_digest="another")
        )
    assert staged(stores, repository) is None
    assert read(stores, repository, upload) == before


def test_a_closed_token_takes_no_completion(stores: Stores, repository: Repository) -> None:
    upload = stored(stores, repository)
    stores.staging.close(main_of(stores, repository).staging_token)
    with pytest.raises(StaleVersionError):
        complete(stores, repository, upload)
    assert staged(stores, repository) is None
    assert read(stores, repository, upload) == upload


@pytest.mark.parametrize("expected", [None, Staged(None), Staged(b"other")])
@pytest.mark.parametrize("now", [None, Staged(None), Staged(b"other"), Staged(b"third")])
def test_a_conditional_completion_needs_the_expected_entry(
    stores: Stores, repository: Repository, expected: Staged | None, now: Staged | None
) -> None:
    upload = stored(stores, repository)
    if now is not None:
        stores.staging.stage(main_of(stores, repository).staging_token, [(PATH, now.value)])
    edits = main_of(stores, repository).edits
    if expected == now:
        complete(stores, repository, upload, expected)
        assert staged(stores, repository) == Staged(VALUE)
        assert main_of(stores, repository).edits == edits + 1
        return
    with pytest.raises(StaleVersionError):
        complete(stores, repository, upload, expected)
    assert staged(stores, repository) == now
    assert read(stores, repository, upload) == upload


def test_a_conditional_completion_needs_the_branch_unchanged(
    stores: Stores, repository: Repository
) -> None:
    upload = stored(stores, repository)
    branch = main_of(stores, repository)
    with pytest.raises(StaleVersionError):
        complete(
            stores,
            repository,
            upload,
            None,
            branch=structs.replace(branch, version=branch.version + 1),
        )
    assert read(stores, repository, upload) == upload


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_of_many_completes_the_upload(dynamodb_stores: DynamoDBStores, _round: int) -> None:
    repository = create(dynamodb_stores)
    upload = stored(dynamodb_stores, repository)

    def attempt(number: int) -> object:
        completion = structs.replace(DONE, parts_digest=str(number))
        try:
            return complete(dynamodb_stores, repository, upload, completion=completion)
        except UploadNotFoundError as error:
            return error

    won = winner(outcomes(attempt))
    found = read(dynamodb_stores, repository, upload)
    assert found is not None
    assert found.completed is not None
    assert found.completed.parts_digest == str(won)


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_a_completion_or_the_aborts_win(dynamodb_stores: DynamoDBStores, _round: int) -> None:
    repository = create(dynamodb_stores)
    upload = stored(dynamodb_stores, repository)

    def attempt(number: int) -> object:
        if number % 2:
            return dynamodb_stores.refs.delete_upload(repository, upload)
        try:
            return complete(dynamodb_stores, repository, upload)
        except UploadNotFoundError:
            return False

    results = outcomes(attempt)
    completions, aborts = results[0::2], results[1::2]
    is_completed = read(dynamodb_stores, repository, upload) is not None
    assert len(results) == THREADS
    assert any(completions) == is_completed == (not any(aborts))
    assert (staged(dynamodb_stores, repository) == Staged(VALUE)) == is_completed


class _RecordFirst(Choices):
    """Others act when the record of a completed upload is visible, and its entry is not yet."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._has_acted = False
        self._left = 0

    def write_order(self, writes: int, /) -> range:
        self._left = writes
        return range(writes)[::-1]

    def frees_checked(self) -> bool:
        return True

    def between(self) -> None:
        self._left -= 1
        if not self._left and not self._has_acted:
            self._has_acted = True
            self._act()


@pytest.mark.parametrize("requirement", [NO_REQUIREMENT, Requirement(is_absent=True)])
def test_a_repeated_completion_waits_until_commits_see_the_object(
    fake_stores: DynamoDBStores, requirement: Requirement
) -> None:
    stores = replace(memory_world().engine(), refs=fake_stores.refs, staging=fake_stores.staging)
    repositories.create(stores, name=REPO, storage_namespace=NAMESPACE)
    begun = recorded_uploads.create(stores, REPO, "main", PATH, metadata={})
    uri = f"{NAMESPACE}/{begun.address}"
    parts = [UploadedPart(1, stores.objects.upload_part(uri, begun.store_id, 1, b"one"))]

    def complete_upload() -> None:
        recorded_uploads.complete(stores, REPO, "main", PATH, begun.id, parts, requirement)

    def repeat_and_commit() -> None:
        complete_upload()
        request = commits.CommitRequest("message", "somebody", allow_empty=True)
        commits.commit(stores, REPO, "main", request)

    assert fake_stores.service is not None
    fake_stores.service.choices = _RecordFirst(repeat_and_commit)
    complete_upload()
    assert objects.stat(stores, REPO, "main@", PATH).entry.size_bytes == len(b"one")


class TestLostAnswers:
    @pytest.fixture
    def stores(self, dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
        return dynamodb_stores

    def test_the_upload_is_stored(self, stores: DynamoDBStores, lose: Losing) -> None:
        repository, upload = create(stores), new_upload()
        lose("PutItem")
        stores.refs.put_upload(repository, upload)
        assert read(stores, repository, upload) == upload

    def test_the_upload_is_deleted(self, stores: DynamoDBStores, lose: Losing) -> None:
        repository = create(stores)
        upload = stored(stores, repository)
        lose("DeleteItem")
        assert stores.refs.delete_upload(repository, upload)
        assert read(stores, repository, upload) is None

    @pytest.mark.parametrize("expected", [UNCONDITIONAL, None])
    def test_the_upload_is_completed(
        self, stores: DynamoDBStores, lose: Losing, expected: object
    ) -> None:
        repository = create(stores)
        upload = stored(stores, repository)
        lose("TransactWriteItems")
        completed = complete(stores, repository, upload, expected)
        assert read(stores, repository, upload) == completed
        assert staged(stores, repository) == Staged(VALUE)

    @pytest.mark.parametrize("expected", [UNCONDITIONAL, None])
    @pytest.mark.parametrize(
        "other",
        [
            structs.replace(DONE, parts_digest="another"),
            structs.replace(DONE, completed_ns=DONE.completed_ns + 1),
        ],
        ids=["other parts", "equal parts"],
    )
    def test_a_completed_upload_is_not_completed_otherwise(
        self, stores: DynamoDBStores, lose: Losing, expected: object, other: Completion
    ) -> None:
        repository = create(stores)
        upload = stored(stores, repository)
        completed = complete(stores, repository, upload)
        lose("TransactWriteItems")
        with pytest.raises((UploadNotFoundError, UnknownOutcomeError)):
            complete(stores, repository, upload, expected, other)
        assert read(stores, repository, upload) == completed

    @pytest.mark.parametrize("expected", [UNCONDITIONAL, None])
    def test_a_completion_that_may_not_have_arrived_is_not_acknowledged(
        self, stores: DynamoDBStores, expected: object
    ) -> None:
        repository = create(stores)
        upload = stored(stores, repository)
        lost = no_request_arrives(stores, "TransactWriteItems")
        with lost, pytest.raises(UnknownOutcomeError):
            complete(stores, repository, upload, expected)
        assert read(stores, repository, upload) == upload
