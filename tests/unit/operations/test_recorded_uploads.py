"""An upload is completed once or aborted, whatever other processes do at any moment."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest
from msgspec import structs

from graveler.branches.heads import replace_token
from graveler.branches.lookup import current_branch
from graveler.branches.views import ObjectStat
from graveler.engine import Engine
from graveler.errors import (
    BadPartsError,
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
    UploadNotFoundError,
)
from graveler.model import ProtectionRule, Requirement
from graveler.model.recorded_uploads import Upload
from graveler.operations import (
    branches,
    commits,
    merges,
    objects,
    recorded_uploads,
    repositories,
    writes,
)
from graveler.operations.recorded_uploads import list_uploads
from graveler.ports import NOTHING_EXPECTED, ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.engines import MemoryWorld
from tests.support.faults.counting import Port, engine_around
from tests.support.faults.faults import Crash, CrashAt, FailAt, Meanwhile
from tests.support.worlds.lake import NAMESPACE, REPO, commit, content, paths, upload

PATH = b"dir/object"
ABSENT = Requirement(is_absent=True)
CALLS_MAX = 40


def begin(engine: Engine, path: bytes = PATH, branch: str = "main") -> Upload:
    return recorded_uploads.create(
        engine, REPO, branch, path, content_type="text/csv", metadata={"key": "value"}
    )


def send(engine: Engine, begun: Upload, *contents: bytes) -> list[UploadedPart]:
    uri = f"{NAMESPACE}/{begun.address}"
    return [
        UploadedPart(number, engine.objects.upload_part(uri, begun.store_id, number, each))
        for number, each in enumerate(contents, start=1)
    ]


def complete(
    engine: Engine,
    begun: Upload,
    parts: Sequence[UploadedPart],
    requirement: Requirement | None = None,
) -> ObjectStat:
    return recorded_uploads.complete(
        engine, REPO, begun.branch, begun.path, begun.id, parts, requirement or Requirement()
    )


def abort(engine: Engine, begun: Upload) -> None:
    recorded_uploads.abort(engine, REPO, begun.branch, begun.path, begun.id)


def find(engine: Engine, begun: Upload) -> Upload:
    return recorded_uploads.find(engine, REPO, begun.branch, begun.path, begun.id)[1]


def left_in_store(engine: Engine) -> list[str]:
    return [each.upload_id for each in engine.objects.list_uploads(NAMESPACE)]


@pytest.fixture
def begun(engine: Engine) -> Upload:
    return begin(engine)


@pytest.fixture
def parts(engine: Engine, begun: Upload) -> list[UploadedPart]:
    return send(engine, begun, b"one", b"two")


def test_parts_become_the_object_in_another_process(world, engine, begun, parts):
    made = complete(world.engine(), begun, parts)
    assert content(engine, "main", PATH) == b"onetwo"
    stat = objects.stat(engine, REPO, "main", PATH)
    assert stat == made
    assert stat.entry.content_type == "text/csv"
    assert stat.entry.metadata == {"key": "value"}
    assert stat.entry.size_bytes == 6
    assert stat.entry.checksum.endswith("-2")


def test_nothing_is_at_the_path_before_the_completion(engine, begun, parts):
    assert paths(engine, "main") == []
    assert find(engine, begun) == begun


def test_the_object_is_dated_by_its_completion(engine, world):
    begun = begin(engine)
    parts = send(engine, begun, b"one")
    world.clock.tick(3 * 24 * 60 * 60)
    before_ns = world.clock.peek_ns
    assert complete(engine, begun, parts).entry.last_modified_ns >= before_ns


def test_quotes_of_checksums_do_not_matter(engine, begun, parts):
    quoted = [UploadedPart(part.number, f'"{part.checksum}"') for part in parts]
    assert complete(engine, begun, quoted) == complete(engine, begun, parts)


@pytest.mark.parametrize("upload_id", ["", "x", "../../main", "é" * 20, "0" * 20])
def test_an_unknown_upload_is_not_found(engine, begun, upload_id):
    with pytest.raises(UploadNotFoundError):
        recorded_uploads.find(engine, REPO, "main", PATH, upload_id)


def test_an_upload_is_its_paths_and_its_branchs(engine, begun, parts):
    branches.create(engine, REPO, name="other", source="main")
    for branch, path in (("main", b"dir/objec"), ("other", PATH), ("main", b"dir")):
        with pytest.raises(UploadNotFoundError):
            recorded_uploads.find(engine, REPO, branch, path, begun.id)
        with pytest.raises(UploadNotFoundError):
            recorded_uploads.complete(engine, REPO, branch, path, begun.id, parts)
        with pytest.raises(UploadNotFoundError):
            recorded_uploads.abort(engine, REPO, branch, path, begun.id)
    assert find(engine, begun) == begun


def test_what_may_not_be_written_is_not_begun(engine):
    rules = [ProtectionRule("main", block_staging_write=True, block_commit=False)]
    with pytest.raises(NotFoundError):
        begin(engine, branch="absent")
    with pytest.raises(InvalidInputError):
        begin(engine, path=b"")
    with pytest.raises(InvalidInputError):
        recorded_uploads.create(engine, REPO, "main", PATH, metadata={"k": "v" * 2**20})
    repositories.set_protection_rules(engine, REPO, rules)
    with pytest.raises(ForbiddenError):
        begin(engine)
    assert left_in_store(engine) == []


def test_a_read_only_repository_takes_no_upload(world, engine):
    stored = world.refs.repository(REPO)
    world.refs.update_repository(stored, structs.replace(stored, read_only=True))
    with pytest.raises(ForbiddenError, match="read-only repository"):
        begin(world.engine())
    assert left_in_store(engine) == []


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        (ExpectedObject(4), ExpectedObject(3), "the parts have 3 bytes together, not 4"),
        (
            ExpectedObject(3, {"x-amz-checksum-crc32": "AAAAAA=="}),
            NOTHING_EXPECTED,
            "x-amz-checksum-crc32 of the object is unknown, not AAAAAA==",
        ),
    ],
)
def test_parts_of_another_object_make_none_even_if_the_store_joins_them(
    engine, wrong, right, message
):
    """Not every store compares the size and the checksum that a client announces."""

    class Lenient(Port):
        def complete_upload(self, uri, store_id, parts, _expected):
            return engine.objects.complete_upload(uri, store_id, parts)

    pass_on = lambda _name, method, args, options: method(*args, **options)  # noqa: E731
    lenient = replace(engine, objects=Lenient(engine.objects, "objects", pass_on))
    begun = begin(lenient)
    parts, where = send(engine, begun, b"one"), (lenient, REPO, "main", PATH, begun.id)
    with pytest.raises(BadPartsError, match=message):
        recorded_uploads.complete(*where, parts, expected=wrong)
    assert paths(engine, "main") == []
    recorded_uploads.complete(*where, parts, expected=right)
    assert paths(engine, "main") == [PATH]


def test_an_upload_to_a_branch_that_was_deleted_can_be_aborted(engine):
    branches.create(engine, REPO, name="other", source="main")
    begun = begin(engine, branch="other")
    branches.delete(engine, REPO, "other")
    with pytest.raises(NotFoundError):
        complete(engine, begun, send(engine, begun, b"one"))
    abort(engine, begun)


@pytest.mark.parametrize("change", ["nothing", "overwritten", "deleted", "committed", "branch"])
def test_a_repeated_completion_answers_the_same_and_changes_nothing(
    world, engine, begun, parts, change
):
    first = complete(engine, begun, parts, ABSENT)
    if change == "overwritten":
        upload(engine, PATH, b"later")
    if change == "deleted":
        writes.delete(engine, REPO, "main", PATH)
    if change in ("committed", "branch"):
        commit(engine)
    before = paths(engine, "main"), [*engine.staging.scan(token_of(engine), b"", None)]
    for requirement in (ABSENT, Requirement()):
        assert complete(world.engine(), begun, parts, requirement) == first
    assert (paths(engine, "main"), [*engine.staging.scan(token_of(engine), b"", None)]) == before


def token_of(engine: Engine) -> str:
    return current_branch(engine, REPO, "main")[1].staging_token


def test_a_completed_upload_takes_no_parts_no_abort_and_no_other_completion(engine, begun, parts):
    complete(engine, begun, parts)
    with pytest.raises(UploadNotFoundError):
        find(engine, begun)
    with pytest.raises(UploadNotFoundError):
        abort(engine, begun)
    with pytest.raises(UploadNotFoundError):
        complete(engine, begun, parts[:1])
    assert content(engine, "main", PATH) == b"onetwo"


def test_wrong_parts_leave_the_upload_open(engine, begun, parts):
    for wrong, reason in (
        ([], "MalformedXML"),
        (parts[::-1], "InvalidPartOrder"),
        ([UploadedPart(3, parts[0].checksum)], "InvalidPart"),
    ):
        with pytest.raises(BadPartsError) as caught:
            complete(engine, begun, wrong)
        assert caught.value.reason == reason
    complete(engine, begun, parts)


def test_an_aborted_upload_is_gone(engine, begun, parts):
    abort(engine, begun)
    assert left_in_store(engine) == []
    with pytest.raises(UploadNotFoundError):
        abort(engine, begun)
    with pytest.raises(UploadNotFoundError):
        complete(engine, begun, parts)
    with pytest.raises(UploadNotFoundError):
        find(engine, begun)


# Requirements


@pytest.mark.parametrize(
    ("stored", "requirement", "is_met"),
    [
        (b"", ABSENT, True),
        (b"old", ABSENT, False),
        (b"", Requirement(is_present=True), False),
        (b"old", Requirement(is_present=True), True),
        (b"old", Requirement(checksums=frozenset({"149603e6c03516362a8da23f624db945"})), True),
        (b"old", Requirement(checksums=frozenset({"0" * 32})), False),
        (b"", Requirement(checksums=frozenset({"0" * 32})), False),
    ],
)
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_requirement_decides(engine, begun, parts, stored, requirement, is_met, is_committed):
    if stored:
        upload(engine, PATH, stored)
        if is_committed:
            commit(engine)
    if is_met:
        complete(engine, begun, parts, requirement)
        assert content(engine, "main", PATH) == b"onetwo"
        return
    with pytest.raises(PreconditionFailedError):
        complete(engine, begun, parts, requirement)
    assert left_in_store(engine) == [begun.store_id]  # its parts were not joined
    assert find(engine, begun) == begun


def test_a_requirement_that_fails_after_the_parts_are_joined_leaves_the_upload_open(
    world, engine, begun, parts
):
    others = At("objects.complete_upload", lambda: upload(world.engine(), PATH, b"other"))
    with pytest.raises(PreconditionFailedError):
        complete(engine_around(engine, others), begun, parts, ABSENT)
    assert content(engine, "main", PATH) == b"other"
    writes.delete(engine, REPO, "main", PATH)
    complete(engine, begun, parts, ABSENT)
    assert content(engine, "main", PATH) == b"onetwo"


class At:
    """Does something before the first call of that name."""

    def __init__(self, name: str, do: Callable[[], object]) -> None:
        self.name, self.do, self.is_done = name, do, False

    def __call__(self, name, call):
        if name == self.name and not self.is_done:
            self.is_done = True
            self.do()
        return call()


# Every moment


def each_moment(world: MemoryWorld, meanwhile: Callable[[Engine], object]):
    """Yield a lake for each call of an operation, and its engine with `meanwhile` before it."""
    for number in range(1, CALLS_MAX):
        lake = world.fork()
        hook = Meanwhile(number, partial(meanwhile, lake.engine()))
        yield lake, engine_around(lake.engine(), hook), hook


def without_staged(name: str, call: Callable[[], object]) -> object:
    """Let an operation find nothing staged, as before a transaction is visible."""
    return iter(()) if name in ("staging.scan", "staging.scan_paths") else call()


def attempted(do: Callable[[], object]) -> object:
    """Return the result, or the class of the error."""
    try:
        return do()
    except GravelerError as error:
        return type(error)


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_of_a_completion_and_an_abort_exactly_one_succeeds(
    world, engine, begun, parts, requirement
):
    aborts: list[object] = []

    def try_abort(other: Engine) -> None:
        aborts.append(attempted(lambda: abort(other, begun)))

    for lake, hooked, hook in each_moment(world, try_abort):
        aborts.clear()
        made = attempted(partial(complete, hooked, begun, parts, requirement))
        if not hook.has_happened:
            return
        won = isinstance(made, ObjectStat)
        assert [made is UploadNotFoundError, aborts] in (
            [False, [UploadNotFoundError]],
            [True, [None]],
        )
        assert paths(lake.engine(), "main") == ([PATH] if won else [])
        if won:
            assert content(lake.engine(), "main", PATH) == b"onetwo"
    pytest.fail("a completion takes too many calls")


def test_an_abort_and_a_completion_in_its_middle_agree(world, engine, begun, parts):
    made: list[object] = []

    def try_complete(other: Engine) -> None:
        made.append(attempted(lambda: complete(other, begun, parts)))

    for lake, hooked, hook in each_moment(world, try_complete):
        made.clear()
        aborted = attempted(partial(abort, hooked, begun))
        if not hook.has_happened:
            return
        won = isinstance(made[0], ObjectStat)
        assert (aborted is None) is not won
        assert paths(lake.engine(), "main") == ([PATH] if won else [])
        if won:
            assert content(lake.engine(), "main", PATH) == b"onetwo"
    pytest.fail("an abort takes too many calls")


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_equal_completions_at_the_same_moment_both_succeed(
    world, engine, begun, parts, requirement
):
    for lake, hooked, hook in each_moment(
        world, lambda other: complete(other, begun, parts, requirement)
    ):
        made = complete(hooked, begun, parts, requirement)
        assert made == objects.stat(lake.engine(), REPO, "main", PATH)
        if not hook.has_happened:
            return
    pytest.fail("a completion takes too many calls")


def test_of_completions_with_other_parts_one_succeeds(world, engine, begun, parts):
    others: list[object] = []

    def try_other(other: Engine) -> None:
        others.append(attempted(lambda: complete(other, begun, parts[:1])))

    for lake, hooked, hook in each_moment(world, try_other):
        others.clear()
        made = attempted(partial(complete, hooked, begun, parts))
        if not hook.has_happened:
            return
        assert [made, others[0]].count(UploadNotFoundError) == 1
        expected = b"one" if made is UploadNotFoundError else b"onetwo"
        assert content(lake.engine(), "main", PATH) == expected
    pytest.fail("a completion takes too many calls")


def test_a_completion_that_was_overwritten_is_not_staged_again(world, engine, begun, parts):
    """Another process completes the upload, and then the path gets another object."""

    def complete_and_overwrite(other: Engine) -> None:
        complete(other, begun, parts)
        upload(other, PATH, b"later")

    for lake, hooked, hook in each_moment(world, complete_and_overwrite):
        made = attempted(partial(complete, hooked, begun, parts))
        if not hook.has_happened:
            return
        assert isinstance(made, ObjectStat)
        assert content(lake.engine(), "main", PATH) == b"later"
    pytest.fail("a completion takes too many calls")


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
@pytest.mark.parametrize(
    "finish", [commit, lambda engine: replace_token(*current_branch(engine, REPO, "main"))]
)
def test_no_commit_misses_a_completed_upload(world, engine, begun, parts, requirement, finish):
    def meanwhile(other: Engine) -> None:
        upload(other, b"another", b"text")
        finish(other)

    for lake, hooked, hook in each_moment(world, meanwhile):
        complete(hooked, begun, parts, requirement)
        commits.commit(
            lake.engine(), REPO, "main", commits.CommitRequest("m", "s", allow_empty=True)
        )
        assert content(lake.engine(), "main@", PATH) == b"onetwo"
        if not hook.has_happened:
            return
    pytest.fail("a completion takes too many calls")


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_a_completion_whose_token_is_sealed_makes_the_commit_scan_again(
    world, engine, begun, parts, requirement
):
    sealed = []

    def seal(name, call):
        result = call()
        if name == "staging.stage_upload":
            sealed.append(replace_token(*current_branch(engine, REPO, "main")))
        return result

    complete(engine_around(world.engine(), seal), begun, parts, requirement)
    assert current_branch(engine, REPO, "main")[1].version == sealed[0].version + 1


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_a_process_that_crashed_after_closing_the_token_stops_no_completion(
    engine, begun, parts, requirement
):
    engine.staging.close(current_branch(engine, REPO, "main")[1].staging_token)
    complete(engine, begun, parts, requirement)
    assert content(engine, "main", PATH) == b"onetwo"


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_beside_a_merge_that_misses_it_only_a_conditional_completion_is_not_acknowledged(
    world, engine, begun, parts, requirement
):
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"other", b"merged", "dev")
    commit(engine, "dev")

    def merging(name, call):
        result = call()
        if name == "staging.stage_upload":
            beside = engine_around(world.engine(), without_staged)
            merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))
        return result

    made = attempted(
        lambda: complete(engine_around(world.engine(), merging), begun, parts, requirement)
    )
    assert isinstance(made, ObjectStat) == (requirement == Requirement())
    assert made is UnknownOutcomeError or content(engine, "main", PATH) == b"onetwo"


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_a_completion_that_crashed_can_be_repeated(world, engine, begun, parts, requirement):
    for number in range(1, CALLS_MAX):
        lake = world.fork()
        crashed = False
        try:
            complete(engine_around(lake.engine(), CrashAt(number)), begun, parts, requirement)
        except Crash:
            crashed = True
        made = complete(lake.engine(), begun, parts, requirement)
        assert made == objects.stat(lake.engine(), REPO, "main", PATH)
        assert content(lake.engine(), "main", PATH) == b"onetwo"
        if not crashed:
            return
    pytest.fail("a completion takes too many calls")


def test_a_completion_that_crashed_can_be_aborted_or_was_done(world, engine, begun, parts):
    for number in range(1, CALLS_MAX):
        lake = world.fork()
        crashed = False
        try:
            complete(engine_around(lake.engine(), CrashAt(number)), begun, parts)
        except Crash:
            crashed = True
        aborted = attempted(partial(abort, lake.engine(), begun)) is None
        assert paths(lake.engine(), "main") == ([] if aborted else [PATH])
        if not crashed:
            return
    pytest.fail("a completion takes too many calls")


def test_an_abort_that_crashed_leaves_no_upload_that_can_be_completed_wrongly(
    world, engine, begun, parts
):
    for number in range(1, CALLS_MAX):
        lake = world.fork()
        crashed = False
        try:
            abort(engine_around(lake.engine(), CrashAt(number)), begun)
        except Crash:
            crashed = True
        with suppress(UploadNotFoundError):
            complete(lake.engine(), begun, parts)
        for path in paths(lake.engine(), "main"):
            assert content(lake.engine(), "main", path) == b"onetwo"
        if not crashed:
            return
    pytest.fail("an abort takes too many calls")


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_a_completion_whose_answer_was_lost_can_be_repeated(
    world, engine, begun, parts, requirement, landed
):
    error = UnknownOutcomeError("no answer") if landed else ThrottledError("busy")
    for number in range(1, CALLS_MAX):
        lake = world.fork()
        fault = FailAt(number, error, landed=landed)
        hindered = engine_around(lake.engine(), fault)
        attempted(partial(complete, hindered, begun, parts, requirement))
        made = complete(lake.engine(), begun, parts, requirement)
        assert made == objects.stat(lake.engine(), REPO, "main", PATH)
        if not fault.has_failed:
            return
    pytest.fail("a completion takes too many calls")


def test_no_commit_misses_an_upload_that_an_earlier_version_recorded(engine, begun, parts):
    repository = current_branch(engine, REPO, "main")[0].record
    assert engine.refs.delete_upload(repository, begun)
    engine.refs.put_upload(repository, replace(begun, branch_uid=None))
    complete(engine, begun, parts)
    sealed = replace_token(*current_branch(engine, REPO, "main"))
    complete(engine, begun, parts)
    assert current_branch(engine, REPO, "main")[1].version == sealed.version + 1


def test_a_repeated_completion_of_an_object_that_a_commit_missed_is_unknown(
    world, engine, begun, parts
):
    """To the completion it is all the same that a user resets the path before the commit."""

    def missed(name, call):
        result = call()
        if name == "staging.stage_upload":
            branches.reset(engine, REPO, "main", kind="object", path=begun.path)
            commit(engine, allow_empty=True)
            raise Crash
        return result

    with suppress(Crash):
        complete(engine_around(world.engine(), missed), begun, parts)
    with pytest.raises(UnknownOutcomeError):
        complete(engine, begun, parts)


@pytest.mark.parametrize("moves_first", [True, False])
def test_no_merge_misses_a_creation_that_is_repeated(world, engine, begun, parts, moves_first):
    """The first completion crashed, and the merge has looked before the entry could be read."""
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, PATH, b"merged", "dev")
    commit(engine, "dev")
    repeated = []

    def missing(name, call):
        if name in ("staging.scan", "staging.scan_paths") and not repeated:
            return iter(())
        if name == "refs.move_branch" and not repeated and not moves_first:
            repeated.append(complete(engine, begun, parts, ABSENT))
        return call()

    def crashing(name, call):
        result = call()
        if name == "staging.stage_upload":
            beside = engine_around(world.engine(), missing)
            with suppress(InvalidInputError):  # the new object is uncommitted
                merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))
            raise Crash
        return result

    with suppress(Crash):
        complete(engine_around(world.engine(), crashing), begun, parts, ABSENT)
    assert paths(engine, "main@") == ([PATH] if moves_first else [])
    if moves_first:
        with pytest.raises(UnknownOutcomeError):
            complete(engine, begun, parts, ABSENT)


@pytest.mark.parametrize("requirement", [Requirement(), ABSENT])
def test_a_completion_can_be_repeated_after_a_hard_reset(engine, begun, parts, requirement):
    start = commit(engine, allow_empty=True)
    commit(engine, allow_empty=True)
    made = complete(engine, begun, parts, requirement)
    branches.hard_reset(engine, REPO, "main", ref=start.id)
    assert complete(engine, begun, parts, requirement) == made


def test_a_completion_that_requires_nothing_can_be_repeated_after_a_merge(
    world, engine, begun, parts
):
    """The merge has looked before the entry could be read."""
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"other", b"merged", "dev")
    commit(engine, "dev")
    made = complete(engine, begun, parts)

    beside = engine_around(world.engine(), without_staged)
    merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))
    assert complete(engine, begun, parts) == made


def test_a_repository_of_the_same_name_has_none_of_the_uploads(world, engine, begun, parts):
    repositories.delete(engine, REPO)
    repositories.create(engine, name=REPO, storage_namespace="s3://bucket/other")
    with pytest.raises(UploadNotFoundError):
        complete(engine, begun, parts)
    assert list_uploads(engine, REPO, PageQuery(10)).results == []


def test_a_branch_of_the_same_name_gets_none_of_the_uploads(engine):
    branches.create(engine, REPO, name="dev", source="main")
    begun = begin(engine, branch="dev")
    parts = send(engine, begun, b"one", b"two")
    branches.delete(engine, REPO, "dev")
    branches.create(engine, REPO, name="dev", source="main")
    with pytest.raises(UploadNotFoundError, match="was deleted: begin a new upload"):
        complete(engine, begun, parts)
    assert paths(engine, "dev") == []
    abort(engine, begun)


def test_a_completion_stages_nothing_on_a_branch_that_takes_the_name_meanwhile(world, engine):
    branches.create(engine, REPO, name="dev", source="main")
    begun = begin(engine, branch="dev")
    parts = send(engine, begun, b"one", b"two")

    def create_again(other: Engine) -> None:
        branches.delete(other, REPO, "dev")
        branches.create(other, REPO, name="dev", source="main")

    for lake, hooked, hook in each_moment(world, create_again):
        attempted(partial(complete, hooked, begun, parts, ABSENT))
        if not hook.has_happened:
            return
        assert paths(lake.engine(), "dev") == []
    pytest.fail("a completion takes too many calls")


# Listings


def keys(results: list[Upload | CommonPrefix]) -> list[bytes]:
    return [each.path if isinstance(each, CommonPrefix) else each.key for each in results]


def test_open_uploads_are_listed_by_key_and_age(engine):
    branches.create(engine, REPO, name="dev", source="main")
    second, done, first, other = (
        begin(engine, b"b"),
        begin(engine, b"a"),
        begin(engine, b"a"),
        begin(engine, b"z", "dev"),
    )
    third = begin(engine, b"b")
    complete(engine, done, send(engine, done, b"one"))
    abort(engine, begin(engine, b"c"))
    page = list_uploads(engine, REPO, PageQuery(10))
    assert page.results == [other, first, second, third]
    assert page.next_after == b""


@pytest.mark.parametrize("amount", [1, 2, 3, 10])
@pytest.mark.parametrize("delimiter", [b"", b"/", b"0"])
def test_pages_join_to_the_whole_list(engine, amount, delimiter):
    for path in (b"a", b"a", b"a", b"b/1", b"b/1", b"b/2", b"c", b"d/0/e", b"\xff"):
        begin(engine, path)
    query = PageQuery(1000, prefix=b"main/", delimiter=delimiter)
    whole = list_uploads(engine, REPO, query).results
    found: list[Upload | CommonPrefix] = []
    after, after_id = b"", ""
    while after or not found:
        query = PageQuery(amount, prefix=b"main/", after=after, delimiter=delimiter)
        page = list_uploads(engine, REPO, query, after_id=after_id)
        found += page.results
        after, after_id = page.next_after, page.next_id
        assert found == whole[: len(found)]
        assert len(page.results) == amount or not after
    assert found == whole


def test_a_delimiter_folds_keys_and_not_ids(engine):
    for path in (b"a", b"a", b"b/1", b"b/2", b"c"):
        begin(engine, path)
    listed = list_uploads(engine, REPO, PageQuery(10, prefix=b"main/", delimiter=b"/"))
    assert keys(listed.results) == [b"main/a", b"main/a", b"main/b/", b"main/c"]
    listed = list_uploads(engine, REPO, PageQuery(10, delimiter=b"/"))
    assert keys(listed.results) == [b"main/"]


def test_a_marker_without_an_id_passes_the_whole_key(engine):
    for path in (b"a", b"a", b"b"):
        begin(engine, path)
    listed = list_uploads(engine, REPO, PageQuery(10, after=b"main/a"))
    assert keys(listed.results) == [b"main/b"]
