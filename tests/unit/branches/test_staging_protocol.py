"""Every staged change takes effect once, at one moment, whatever others do in between.

Each test stops an operation at one call to a store, and lets another process do something there.
`tests/simulation` looks for such moments by itself.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest
from msgspec.structs import replace

from graveler.branches.heads import replace_token
from graveler.branches.lookup import current_branch
from graveler.branches.staging import stage_changes, stage_each
from graveler.engine import Engine
from graveler.errors import (
    ContentionError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
)
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.operations import branches, commits, links, merges, objects, replays, writes
from graveler.ports import StageOutcome
from graveler.staging.listing import PageQuery
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.lake import REPO, commit, content, paths, upload

ABSENT = Requirement(is_absent=True)


class At:
    """Run something before or after the first call of that name."""

    def __init__(self, name: str, do: Callable[[], object], *, after: bool = False) -> None:
        self.name, self.do, self.after, self.is_done = name, do, after, False

    def __call__(self, name, call):
        if name != self.name or self.is_done:
            return call()
        self.is_done = True
        if not self.after:
            self.do()
        result = call()
        if self.after:
            self.do()
        return result


def at(engine: Engine, name: str, do: Callable[[], object], *, after: bool = False) -> Engine:
    return engine_around(engine, At(name, do, after=after))


def put(engine, path, text, requirement=NO_REQUIREMENT):
    return writes.upload(
        engine,
        REPO,
        "main",
        path,
        read_content=lambda: (text, "text/plain"),
        metadata={},
        requirement=requirement,
    )


def seal(engine):
    """Do the first step of a commit, which continues later or has crashed."""
    return replace_token(*current_branch(engine, REPO, "main"))


def test_a_write_that_another_replaced_is_not_repeated(world, engine):
    """The first writer's token is sealed before the writer gets its answer."""

    def meanwhile():
        assert content(engine, "main", b"p") == b"first"
        seal(engine)
        put(engine, b"p", b"second, made from the first")

    put(at(world.engine(), "staging.stage", meanwhile, after=True), b"p", b"first")
    assert content(engine, "main", b"p") == b"second, made from the first"


def test_a_write_after_the_seal_is_in_the_next_commit(world, engine):
    put(engine, b"other", b"x")
    late = at(world.engine(), "staging.stage", lambda: seal(engine))
    put(late, b"p", b"late")
    assert content(engine, "main", b"p") == b"late"
    first = seal(engine).sealed_tokens[-1]
    assert engine.staging.get(first, b"p") is None
    assert content(engine, commit(engine).id, b"p") == b"late"


CALLS = ["staging.get", "staging.stage_if", "refs.branch"]


@pytest.mark.parametrize("call", CALLS)
def test_a_refused_write_is_in_no_commit(world, engine, call):
    """Two writers create the same path while a commit seals: one is refused, without effect."""
    put(engine, b"other", b"x")
    made, winners = [], []

    def create(engine, text):
        try:
            put(engine, b"lock", text, requirement=ABSENT)
        except PreconditionFailedError:
            return
        winners.append(text)

    def commit_around():
        sealed = at(world.engine(), "refs.seal_token", lambda: create(engine, b"2"), after=True)
        made.append(commit(sealed))

    create(at(world.engine(), call, commit_around), b"1")
    (winner,) = winners
    assert content(engine, "main", b"lock") == winner
    made.append(commit(engine, allow_empty=True))
    held = []
    for each in made:
        with suppress(NotFoundError):
            held.append(content(engine, each.id, b"lock"))
    assert set(held) == {winner}


def test_a_late_write_into_a_sealed_token_is_refused(world, engine):
    """No reader sees the write of a writer that read the branch before the seal and crashed."""
    put(engine, b"other", b"x")
    repo, branch = current_branch(engine, REPO, "main")
    before = repo.record, branch

    def late_writer(name, call):
        if name == "refs.repository_and_branch":
            return before
        result = call()
        if name == "staging.stage":
            raise Crash(name)
        return result

    def while_the_commit_finishes():
        with pytest.raises(Crash):
            put(engine_around(world.engine(), late_writer), b"p", b"unacknowledged")
        with pytest.raises(NotFoundError):
            content(world.engine(), "main", b"p")

    made = commit(at(world.engine(), "refs.move_branch", while_the_commit_finishes))
    with pytest.raises(NotFoundError):
        content(engine, made.id, b"p")


@pytest.fixture
def forked(engine):
    upload(engine, b"p", b"old content")
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"p", b"new content", "dev")
    commit(engine, "dev")


def _of_a_metarange(engine):
    dev = commits.get(engine, REPO, "dev").metarange_id
    commit(engine, source_metarange=dev)


MOVES_OF_A_CLEAN_BRANCH = {
    "merge": lambda engine: merges.merge(engine, REPO, "dev", "main", merges.MergeRequest("s")),
    "revert": lambda engine: replays.revert(
        engine, REPO, "main", replays.RevertRequest("main", "s")
    ),
    "cherry-pick": lambda engine: replays.cherry_pick(
        engine, REPO, "main", replays.CherryPickRequest("dev", "s")
    ),
    "commit of a metarange": _of_a_metarange,
}


@pytest.mark.parametrize("move", MOVES_OF_A_CLEAN_BRANCH.values(), ids=MOVES_OF_A_CLEAN_BRANCH)
@pytest.mark.usefixtures("forked")
def test_a_merge_beside_metadata_leaves_the_merged_content_or_is_refused(world, engine, move):
    """The metadata are set after the merge found nothing staged."""

    def set_metadata():
        writes.set_user_metadata(engine, REPO, "main", b"p", {"k": "v"})

    beside = at(world.engine(), "refs.move_branch", set_metadata)
    with pytest.raises(InvalidInputError, match="uncommitted"):
        move(beside)
    assert content(engine, commit(engine).id, b"p") == b"old content"


@pytest.mark.parametrize("moves_first", [True, False])
@pytest.mark.usefixtures("forked")
def test_metadata_that_a_merge_misses_do_not_undo_it(world, engine, moves_first):
    """The branch shows that something was staged before the change can be read."""
    counted = []

    def setting(name, call):
        if name != "refs.count_edit" or counted:
            return call()

        def missing(name, merge_call):
            if name in ("staging.scan", "staging.scan_paths") and not counted:
                return iter(())
            if name == "refs.move_branch" and not counted and not moves_first:
                counted.append(call())
            return merge_call()

        with suppress(InvalidInputError):  # the metadata are uncommitted
            beside = engine_around(world.engine(), missing)
            merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))
        if not counted:
            counted.append(call())
        return counted[0]

    writes.set_user_metadata(engine_around(world.engine(), setting), REPO, "main", b"p", {"k": "v"})
    is_merged = "Merge" in commits.get(engine, REPO, "main").message
    assert is_merged is moves_first
    assert content(engine, "main", b"p") == (b"new content" if is_merged else b"old content")
    assert objects.stat(engine, REPO, "main", b"p").entry.metadata == {"k": "v"}


@pytest.mark.parametrize("staged", [True, False])
def test_metadata_that_are_set_before_a_hard_reset_stay_as_they_are(world, engine, staged):
    """A reader may have seen them: they must not change to those of the new head."""
    upload(engine, b"p", b"old")
    commit(engine)
    upload(engine, b"p", b"committed")
    commit(engine)
    if staged:
        upload(engine, b"p", b"staged")

    def hard():
        branches.hard_reset(engine, REPO, "main", ref="main~1")

    beside = at(world.engine(), "refs.count_edit", hard)
    writes.set_user_metadata(beside, REPO, "main", b"p", {"k": "v"})
    assert content(engine, "main", b"p") == (b"staged" if staged else b"committed")
    assert objects.stat(engine, REPO, "main", b"p").entry.metadata == {"k": "v"}


@pytest.mark.usefixtures("forked")
def test_a_creation_over_what_a_merge_brought_meanwhile_is_not_acknowledged(world, engine):
    """The merge misses the new object, and brings another one to its path."""
    upload(engine, b"q", b"merged", "dev")
    commit(engine, "dev")

    def merging(name, call):
        if name == "refs.count_edit":
            beside = engine_around(
                world.engine(),
                lambda name, merge_call: (
                    iter(()) if name in ("staging.scan", "staging.scan_paths") else merge_call()
                ),
            )
            merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))
        return call()

    with pytest.raises(UnknownOutcomeError):
        put(engine_around(world.engine(), merging), b"q", b"created", requirement=ABSENT)


@pytest.mark.usefixtures("forked")
def test_a_merge_sees_metadata_set_while_another_process_seals(world, engine):
    writes.delete_many(engine, REPO, "main", [b"never", b"was"])  # leftovers without an effect

    def seal_and_set_metadata():
        seal(engine)
        writes.set_user_metadata(engine, REPO, "main", b"p", {"k": "v"})

    beside = at(world.engine(), "refs.seal_token", seal_and_set_metadata)
    with pytest.raises(InvalidInputError, match="uncommitted"):
        merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))


def test_changes_reset_beside_a_commit_are_not_in_it(world, engine):
    upload(engine, b"p", b"committed")
    commit(engine)
    upload(engine, b"p", b"staged")
    upload(engine, b"q", b"staged")

    def reset():
        branches.reset(engine, REPO, "main", kind="object", path=b"p")

    made = commit(at(world.engine(), "refs.move_branch", reset))
    for ref in (made.id, "main"):
        assert content(engine, ref, b"p") == b"committed"
        assert content(engine, ref, b"q") == b"staged"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("forked")
def test_metadata_beside_a_merge_leave_the_merged_content(world, engine, call):
    def merge():
        with suppress(InvalidInputError):  # the metadata are uncommitted
            merges.merge(engine, REPO, "dev", "main", merges.MergeRequest("s"))

    writes.set_user_metadata(at(world.engine(), call, merge), REPO, "main", b"p", {"k": "v"})
    made = commit(engine)
    expected = (
        b"new content"
        if "Merge" in commits.get(engine, REPO, "main~1").message
        else (b"old content")
    )
    assert content(engine, made.id, b"p") == expected
    assert objects.stat(engine, REPO, "main", b"p").entry.metadata == {"k": "v"}


@pytest.fixture
def good(engine):
    """A commit before the head: a path has another content at the head, and a staged one."""
    upload(engine, b"p", b"good")
    made = commit(engine)
    upload(engine, b"p", b"poison")
    commit(engine)
    upload(engine, b"p", b"staged")
    return made


@pytest.mark.parametrize("call", ["staging.scan", "staging.restore"])
def test_a_reset_object_beside_a_hard_reset_shows_the_new_head(world, engine, good, call):
    def hard():
        branches.hard_reset(engine, REPO, "main", ref=good.id)

    branches.reset(at(world.engine(), call, hard), REPO, "main", kind="object", path=b"p")
    assert content(engine, "main@", b"p") == b"good"
    assert content(engine, "main", b"p") == b"good"


@pytest.mark.parametrize("moves_first", [True, False])
def test_a_hard_reset_that_misses_an_entry_which_a_reset_restores_does_not_leave_it(
    world, engine, good, moves_first
):
    """The branch shows that something was restored before the entry can be read."""
    raised = []

    def resetting(name, call):
        if name != "refs.bump_version" or raised:
            return call()

        def missing(name, hard_call):
            if name == "staging.restored_paths" and not raised:
                return iter(())
            if name == "refs.move_branch" and not raised and not moves_first:
                raised.append(call())
            return hard_call()

        branches.hard_reset(engine_around(world.engine(), missing), REPO, "main", ref=good.id)
        if not raised:
            raised.append(call())
        return raised[0]

    resets = engine_around(world.engine(), resetting)
    branches.reset(resets, REPO, "main", kind="object", path=b"p")
    assert content(engine, "main", b"p") == content(engine, "main@", b"p") == b"good"


@pytest.mark.parametrize("written", [True, False])
def test_a_reset_that_begins_again_undoes_no_later_write(world, engine, good, written):
    """The head moves after the reset took effect, and perhaps somebody writes."""

    def after_its_effect():
        branches.hard_reset(engine, REPO, "main", ref=good.id)
        if written:
            upload(engine, b"p", b"newer")

    resets = at(world.engine(), "refs.bump_version", after_its_effect)
    branches.reset(resets, REPO, "main", kind="object", path=b"p")
    assert content(engine, "main", b"p") == (b"newer" if written else b"good")


def test_a_reset_that_a_commit_misses_is_not_acknowledged(world, engine):
    """The commit reads the change as it was before the reset."""
    upload(engine, b"p", b"committed")
    commit(engine)
    upload(engine, b"p", b"staged")
    _, branch = current_branch(engine, REPO, "main")
    staged = engine.staging.get(branch.staging_token, b"p").value

    def missing(name, call):
        return ((path, staged) for path, _ in call()) if name == "staging.scan" else call()

    resets = at(
        world.engine(), "refs.bump_version", lambda: commit(engine_around(world.engine(), missing))
    )
    with pytest.raises(UnknownOutcomeError):
        branches.reset(resets, REPO, "main", kind="object", path=b"p")
    assert content(engine, "main", b"p") == b"staged"


def test_a_hard_reset_that_a_commit_undoes_in_part_is_not_acknowledged(world, engine, good):
    """The commit reads the restored entry as it was before the hard reset."""
    branches.reset(engine, REPO, "main", kind="object", path=b"p")
    _, branch = current_branch(engine, REPO, "main")
    old = engine.staging.get(branch.staging_token, b"p").value

    def late(name, call):
        result = call()
        if name == "staging.scan":
            return ((path, old if path == b"p" else value) for path, value in result)
        return result

    def committing(name, call):
        result = call()
        if name == "refs.move_branch":
            commit(engine_around(world.engine(), late))
        return result

    hard = engine_around(world.engine(), committing)
    with pytest.raises(UnknownOutcomeError):
        branches.hard_reset(hard, REPO, "main", ref=good.id)


LOCKFILE = links.StoredData("s3://bucket2/lockfile", "abc", 5, mtime_s=1_700_000_000)


def test_a_creation_that_a_commit_misses_is_not_acknowledged_for_an_equal_one(world, engine):
    upload(engine, b"other", b"staged")

    def create(its_engine):
        return links.stage(its_engine, REPO, "main", b"lock", LOCKFILE, requirement=ABSENT)

    def missing(name, call):
        is_scan = name == "staging.scan"
        return ((path, value) for path, value in call() if path != b"lock") if is_scan else call()

    def commit_and_create():
        commit(engine_around(world.engine(), missing))
        create(world.engine())

    with pytest.raises(UnknownOutcomeError):
        create(at(world.engine(), "refs.count_edit", commit_and_create))


def test_of_two_equal_creations_one_succeeds(engine):
    links.stage(engine, REPO, "main", b"lock", LOCKFILE, requirement=ABSENT)
    for _ in range(2):  # staged, then committed
        with pytest.raises(PreconditionFailedError):
            links.stage(engine, REPO, "main", b"lock", LOCKFILE, requirement=ABSENT)
        commit(engine, allow_empty=True)


def test_a_write_that_comes_after_a_reset_stays(world, engine):
    """The writer read the branch before the reset."""
    put(engine, b"p", b"undone")

    def reset():
        branches.reset(engine, REPO, "main", kind="reset")

    put(at(world.engine(), "staging.stage", reset), b"p", b"written")
    assert content(engine, "main", b"p") == b"written"


def test_a_crashed_seal_does_not_block_writers(world, engine):
    put(engine, b"a", b"1")
    _, branch = current_branch(engine, REPO, "main")
    engine.staging.close(branch.staging_token)
    put(world.engine(), b"b", b"2")
    writes.delete_many(world.engine(), REPO, "main", [b"a", b"c"])
    put(world.engine(), b"d", b"3", requirement=ABSENT)
    made = commit(world.engine())
    for path, text in ((b"b", b"2"), (b"d", b"3")):
        assert content(engine, made.id, path) == text
    with pytest.raises(NotFoundError):
        content(engine, made.id, b"a")


def test_a_crashed_reset_does_not_block_writers(world, engine):
    put(engine, b"a", b"1")

    def die(name, call):
        if name == "refs.move_branch":
            raise Crash(name)
        return call()

    with pytest.raises(Crash):
        branches.reset(engine_around(world.engine(), die), REPO, "main", kind="reset")
    assert content(engine, "main", b"a") == b"1"
    put(world.engine(), b"b", b"2")
    branches.reset(world.engine(), REPO, "main", kind="reset")
    with pytest.raises(NotFoundError):
        content(engine, "main", b"b")


def test_a_commit_has_an_entry_that_its_first_scan_missed(world, engine):
    """A store may make the items of one transaction visible at different times."""
    put(engine, b"other", b"x")
    put(engine, b"late", b"x")
    repository, branch = current_branch(engine, REPO, "main")
    bumped = []

    def show_late(name, call):
        if name == "staging.scan" and not bumped:
            return (change for change in call() if change[0] != b"late")
        if name == "refs.move_branch" and not bumped:
            bumped.append(engine.refs.bump_version(repository.record, "main", branch.staging_token))
        return call()

    made = commit(engine_around(world.engine(), show_late))
    assert None not in bumped
    assert content(engine, made.id, b"late") == b"x"


WRITES = {
    "write": lambda engine: put(engine, b"p", b"1"),
    "creation": lambda engine: put(engine, b"p", b"1", requirement=ABSENT),
    "reset": lambda engine: branches.reset(engine, REPO, "main", kind="object", path=b"p"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_writer_whose_token_is_sealed_makes_the_commit_scan_again(world, engine, write):
    upload(engine, b"p", b"1")
    commit(engine)
    writes.delete(engine, REPO, "main", b"p")
    bumped = []

    def watch(name, call):
        if name == "refs.bump_version":
            bumped.append(name)
        if name in ("refs.branch", "refs.count_edit") and not bumped:
            seal(engine)
        return call()

    write(engine_around(world.engine(), watch))
    assert bumped
    made = commit(engine, allow_empty=True)
    assert content(engine, made.id, b"p") == b"1"


def test_a_commit_holds_the_part_of_a_batch_that_its_token_took_while_it_was_closed(world, engine):
    for path in (b"a", b"b"):
        upload(engine, path, b"1")
    commit(engine)
    changes = [(b"a", None), (b"b", None)]
    repository, branch = current_branch(engine, REPO, "main")
    versions = []

    def watch(name, call):
        if name != "staging.stage" or versions:
            return call()
        engine.staging.stage(branch.staging_token, changes[:1])
        seal(engine)
        versions.append(current_branch(engine, REPO, "main")[1].version)
        return StageOutcome(changes[1:])

    stage_changes(replace(repository, engine=engine_around(world.engine(), watch)), branch, changes)
    # A commit that has read the token without the first change is made again.
    assert current_branch(engine, REPO, "main")[1].version > versions[0]
    assert paths(engine, commit(engine).id) == []


def test_a_commit_holds_what_a_request_staged_although_the_rest_of_it_failed(world, engine):
    """The token is sealed between the part that is staged and the part that fails."""
    upload(engine, b"other", b"1")
    repository, branch = current_branch(engine, REPO, "main")
    versions = []

    def watch(name, call):
        if name != "staging.stage":
            return call()
        engine.staging.stage(branch.staging_token, [(b"a", None)])
        seal(engine)
        versions.append(current_branch(engine, REPO, "main")[1].version)
        return StageOutcome(failed={b"b": ThrottledError("busy")})

    staging = replace(repository, engine=engine_around(world.engine(), watch))
    failed = stage_each(staging, branch, [(b"a", None), (b"b", None)])
    assert {path: type(error) for path, error in failed.items()} == {b"b": ThrottledError}
    assert current_branch(engine, REPO, "main")[1].version > versions[0]


def test_only_what_a_deleted_branch_refused_is_missing(world, engine):
    branches.create(engine, REPO, name="work", source="main")
    repository, branch = current_branch(engine, REPO, "work")
    changes = [(b"a", None), (b"b", None)]

    def watch(name, call):
        if name == "staging.stage":
            branches.delete(world.engine(), REPO, "work")
            return StageOutcome(refused=changes[1:])
        return call()

    staging = replace(repository, engine=engine_around(world.engine(), watch))
    failed = stage_each(staging, branch, changes)
    assert {path: type(error) for path, error in failed.items()} == {b"b": NotFoundError}


def test_changes_that_nobody_could_confirm_have_an_unknown_outcome(world, engine):
    repository, branch = current_branch(engine, REPO, "main")

    def watch(name, call):
        if name == "refs.branch":
            raise ThrottledError("busy")
        return call()

    staging = replace(repository, engine=engine_around(world.engine(), watch))
    failed = stage_each(staging, branch, [(b"a", None)])
    assert {path: type(error) for path, error in failed.items()} == {b"a": UnknownOutcomeError}


def test_a_write_that_was_reset_at_once_has_an_unknown_outcome(world, engine):
    def reset():
        branches.reset(engine, REPO, "main", kind="reset")

    with pytest.raises(UnknownOutcomeError, match="read it before you write again"):
        put(at(world.engine(), "staging.stage", reset, after=True), b"p", b"1")
    with pytest.raises(NotFoundError):
        content(engine, "main", b"p")


def test_a_writer_gives_up_after_losing_every_try_without_effect(world, engine):
    put(engine, b"other", b"x")

    def always(name, call):
        if name == "staging.stage":
            seal(engine)
        return call()

    with pytest.raises(ContentionError, match="retry"):
        put(engine_around(world.engine(), always), b"p", b"1")
    with pytest.raises(NotFoundError):
        content(engine, "main", b"p")


@pytest.mark.parametrize("call", ["staging.restored_paths", "refs.move_branch"])
def test_a_write_beside_a_hard_reset_stays_over_restored_entries(world, engine, call):
    upload(engine, b"p", b"1")
    first = commit(engine)
    upload(engine, b"p", b"2")
    commit(engine)
    upload(engine, b"p", b"staged")
    branches.reset(engine, REPO, "main", kind="object", path=b"p")
    beside = at(world.engine(), call, lambda: put(engine, b"p", b"own"))
    branches.hard_reset(beside, REPO, "main", ref=first.id)
    assert content(engine, "main@", b"p") == b"1"
    assert content(engine, "main", b"p") == b"own"


def test_a_commit_has_entries_restored_under_another_commits_token(world, engine):
    upload(engine, b"p", b"committed")
    commit(engine)
    upload(engine, b"p", b"staged")

    def seal_and_reset():
        seal(engine)
        branches.reset(engine, REPO, "main", kind="object", path=b"p")

    made = commit(at(world.engine(), "refs.seal_token", seal_and_reset), allow_empty=True)
    assert content(engine, made.id, b"p") == b"committed"
    assert content(engine, "main", b"p") == b"committed"


@pytest.mark.parametrize("staged_first", [True, False])
def test_a_reader_beside_a_write_and_a_merge_is_consistent(world, engine, staged_first):
    """The reader reads branch and staged entry separately; a write and a merge come between."""
    upload(engine, b"p", b"base")
    commit(engine)
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"p", b"merged", "dev")
    commit(engine, "dev")
    reader = world.engine()

    def write_and_merge():
        world.staging.between = lambda: None
        beside = at(world.engine(), "refs.move_branch", lambda: put(engine, b"p", b"written"))
        merges.merge(beside, REPO, "dev", "main", merges.MergeRequest("s"))

    world.staging.staged_first = staged_first
    for read in (
        lambda: content(reader, "main", b"p"),
        lambda: [
            item.entry.size_bytes
            for item in objects.list_objects(reader, REPO, "main", PageQuery(9)).results
        ],
    ):
        assert content(reader, "main", b"p") == b"base"
        world.staging.between = write_and_merge
        assert read() in (b"base", b"written", [len(b"base")], [len(b"written")])
        branches.reset(engine, REPO, "main", kind="reset")
        branches.hard_reset(engine, REPO, "main", ref="main~1")


def test_a_prefix_is_reset_beside_endless_commits(world, engine):
    """Each commit seals the entries restored so far; none has to be restored again."""
    for number in range(300):
        upload(engine, b"bad/%03d" % number, b"x")
    upload(engine, b"good", b"x")
    restored = []

    def seal_often(name, call):
        if name == "staging.restore":
            restored.append(name)
            if len(restored) % 2:
                seal(engine)
        return call()

    branches.reset(
        engine_around(world.engine(), seal_often), REPO, "main", kind="common_prefix", path=b"bad/"
    )
    assert len(restored) < 20
    assert paths(engine, commit(engine).id) == [b"good"]


def test_a_hard_reset_succeeds_if_sealed_changes_were_reset(engine):
    upload(engine, b"p", b"1")
    first = commit(engine)
    upload(engine, b"p", b"2")
    commit(engine)
    upload(engine, b"p", b"3")
    seal(engine)  # a commit that crashed
    branches.reset(engine, REPO, "main", kind="object", path=b"p")
    branches.hard_reset(engine, REPO, "main", ref=first.id)
    assert content(engine, "main", b"p") == b"1"
