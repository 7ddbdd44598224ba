"""Dumps and restores of a repository's refs are complete, or change nothing."""

import json
from functools import partial

import pytest
from msgspec.structs import replace

from graveler.branches.lookup import read_repository
from graveler.dump.files import RefsDump, write
from graveler.dump.records import BRANCHES, COMMITS, TAGS, NamedCommit
from graveler.errors import (
    CorruptDataError,
    ForbiddenError,
    GoneError,
    InvalidInputError,
    NotFoundError,
)
from graveler.identity import make_commit
from graveler.model import (
    EMPTY_METARANGE,
    NO_COMMIT,
    Branch,
    CommitID,
    MetaRangeID,
    Page,
    StagingToken,
)
from graveler.open_repository import OpenRepository
from graveler.operations import (
    branches,
    collection_reads,
    dumps,
    objects,
    repositories,
    retention,
    tags,
)
from graveler.operations.tasks.requests import status
from graveler.retention.rules import RetentionRules
from graveler.staging.listing import PageQuery
from tests.support.fakes.tasks import run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.dumps import (
    NOTHING,
    commits_between_pages,
    make_bare,
    refs_of,
    restored,
    small_batches,
)
from tests.support.worlds.scenarios import NAMESPACE, REPO, commit, contents, prepared_world, upload

MANIFEST = f"{NAMESPACE}/_lakefs/refs_manifest.json"


@pytest.fixture
def world():
    """Two branches that diverged from main, which has staged changes; three tags."""
    return prepared_world()


@pytest.fixture(autouse=True)
def several_batches():
    with small_batches():
        yield


def ended(world, task, repository=REPO):
    """Run the task to its end."""
    run_all(world.task_queue, world.engine())
    return status(world.engine(), repository, task.id)


def names_of(engine):
    return {tag.name for tag in refs_of(engine, REPO)[1]}


def test_a_restored_repository_has_all_refs_and_committed_objects(world, engine):
    make_bare(engine)
    dumps.restore(engine, "bare", dumps.dump(engine, REPO))
    assert refs_of(engine, "bare") == refs_of(engine, REPO)
    for ref in ("main@", "dev", "clean", "v1", "on-dev"):
        listed = objects.list_objects(engine, "bare", ref, PageQuery(100))
        assert listed == objects.list_objects(engine, REPO, ref, PageQuery(100))
        assert listed.results
    told = world.refs.events[-1]
    assert (told.kind, told.repository) == ("repository_restored", "bare")
    assert told.detail == {"commits": 5, "branches": 3, "tags": 3}


def test_a_dump_has_no_uncommitted_changes(engine):
    make_bare(engine)
    dumps.restore(engine, "bare", dumps.dump(engine, REPO))
    branch = engine.refs.branch(engine.refs.repository("bare"), "main")
    original = engine.refs.branch(engine.refs.repository(REPO), "main")
    assert not {*branch.tokens} & {*original.tokens}
    assert list(engine.staging.scan(branch.staging_token, b"", None)) == []
    assert list(engine.staging.scan(original.staging_token, b"", None)) != []


def test_hidden_branches_are_dumped_and_stay_hidden(engine):
    repo = read_repository(engine, REPO)
    head = engine.refs.branch(repo.record, "main").commit_id
    hidden = Branch("secret", head, StagingToken("token"), hidden=True)
    engine.refs.create_branch(repo.record, hidden, repo.event("branch_created", branch="secret"))
    make_bare(engine)
    dumps.restore(engine, "bare", dumps.dump(engine, REPO))
    assert refs_of(engine, "bare")[0]["secret"] == (head, True)


def test_the_same_refs_give_the_same_dump(world, engine):
    first = dumps.dump(engine, REPO)
    files = dict(world.files.files)
    assert dumps.dump(world.engine(), REPO) == first
    assert world.files.files == files
    make_bare(engine)
    dumps.restore(engine, "bare", first)
    assert dumps.dump(engine, "bare") == first
    tags.delete(engine, REPO, "v1")
    changed = dumps.dump(engine, REPO)
    assert changed == replace(first, tags_id=changed.tags_id) != first


def test_the_manifest_in_the_namespace_names_the_newest_dump(world, engine):
    def dump_by_task():
        return dumps.dump_of(ended(world, dumps.start_dump(engine, REPO, "somebody")))

    for dump in (partial(dumps.dump, engine, REPO), dump_by_task):
        dumped = dump()
        assert json.loads(engine.objects.get(MANIFEST)) == {
            "commits_meta_range_id": dumped.commits_id,
            "tags_meta_range_id": dumped.tags_id,
            "branches_meta_range_id": dumped.branches_id,
        }
        tags.delete(engine, REPO, "v1" if "v1" in names_of(engine) else "on-dev")


def test_a_read_only_repository_leaves_the_manifest_of_its_namespace_alone(engine):
    dumped = dumps.dump(engine, REPO)
    manifest = engine.objects.get(MANIFEST)
    make_bare(engine, read_only=True)
    dumps.restore(engine, "bare", dumped, force=True)
    tags.delete(engine, "bare", "v1", force=True)
    assert dumps.dump(engine, "bare") != dumped
    assert engine.objects.get(MANIFEST) == manifest


def test_a_dump_beside_a_commit_is_consistent(world):
    calls = Calls()
    dumps.dump(engine_around(world.engine(), calls), REPO)
    assert len(calls.names) > 5
    for number in range(1, len(calls.names) + 1):
        world = prepared_world()
        meanwhile = Meanwhile(number, partial(commit, world.engine()))
        dumped = dumps.dump(engine_around(world.engine(), meanwhile), REPO)
        assert meanwhile.has_happened
        make_bare(world.engine())
        dumps.restore(world.engine(), "bare", dumped)


def test_a_dump_taken_while_others_commit_can_be_restored(world, engine, monkeypatch):
    with commits_between_pages(world, REPO, monkeypatch):
        dumped = dumps.dump(world.engine(), REPO)
    make_bare(engine)
    dumps.restore(engine, "bare", dumped)
    listed, _, found, _ = refs_of(engine, "bare")
    ids = [each.id for each in found]
    assert listed["main"][0] in ids
    assert ids == sorted(ids)
    assert {parent for each in found for parent in each.parents} < {*ids}


def test_an_inconsistent_dump_is_refused_and_leaves_no_manifest(world, engine):
    repository = engine.refs.repository(REPO)
    head = engine.refs.branch(repository, "dev").commit_id
    [parent, *_] = engine.refs.commits(repository, [head])[head].parents
    for lost in (head, parent):

        def without(name, call, lost=lost):
            found = call()
            if name == "refs.every_commit":
                return (commit for commit in found if commit.id != lost)
            if name == "refs.commits":
                return {commit.id: commit for commit in found.values() if commit.id != lost}
            return found

        with pytest.raises(CorruptDataError, match=lost):
            dumps.dump(engine_around(world.engine(), without), REPO)
        assert engine.objects.head(MANIFEST) is None
    dumps.dump(engine, REPO)


def test_a_head_that_is_listed_before_its_commit_is_dumped_with_it(world):
    """A query sees a transaction part by part."""
    repository = world.refs.repository(REPO)
    head = world.refs.branch(repository, "dev").commit_id
    whole = dumps.dump(world.engine(), REPO)
    scans = 0

    def late(name, call):
        nonlocal scans
        if name != "refs.every_commit":
            return call()
        scans += 1
        return (commit for commit in call() if scans > 1 or commit.id != head)

    assert dumps.dump(engine_around(world.engine(), late), REPO) == whole


def test_deleting_a_repository_meanwhile_never_spoils_its_last_dump(world):
    calls = Calls()
    dumps.dump(engine_around(world.engine(), calls), REPO)
    for number in range(1, len(calls.names) + 1):
        world = prepared_world()
        whole = dumps.dump(world.engine(), REPO)
        manifest = world.objects.get(MANIFEST)
        delete = partial(repositories.delete, world.engine(), REPO)
        try:
            dumped = dumps.dump(engine_around(world.engine(), Meanwhile(number, delete)), REPO)
        except NotFoundError:
            dumped = whole
        assert dumped == whole
        assert world.objects.get(MANIFEST) == manifest
        with pytest.raises(NotFoundError):
            dumps.dump(world.engine(), REPO)


def test_a_repository_that_is_deleted_meanwhile_in_steps_is_not_dumped_in_part(world):
    """The name is removed first, and then its branches, tags and commits."""
    whole = dumps.dump(world.engine(), REPO)
    manifest = world.objects.get(MANIFEST)

    def around(name, call):
        if name in ("refs.branches", "refs.tags"):
            if world.refs.repository(REPO) is not None:
                repositories.delete(world.engine(), REPO)
            return Page(())
        return iter(()) if name == "refs.every_commit" else call()

    with pytest.raises(NotFoundError):
        dumps.dump(engine_around(world.engine(), around), REPO)
    assert whole
    assert world.objects.get(MANIFEST) == manifest


def test_only_a_bare_repository_can_be_restored_into(engine):
    dumped = dumps.dump(engine, REPO)
    before = refs_of(engine, REPO)
    for restore in (dumps.restore, partial(dumps.start_restore, user="somebody")):
        with pytest.raises(InvalidInputError, match="can only restore into a bare repository"):
            restore(engine, REPO, dumped)
    make_bare(engine)
    dumps.restore(engine, "bare", dumped)
    with pytest.raises(InvalidInputError, match="can only restore into a bare repository"):
        dumps.restore(engine, "bare", dumped)
    assert refs_of(engine, REPO) == before
    with pytest.raises(NotFoundError):
        dumps.restore(engine, "nobody", dumped)


def test_a_bare_repository_has_nothing_and_claims_no_namespace(world, engine):
    repository = make_bare(engine, default_branch="trunk")
    assert repository.is_bare
    assert refs_of(engine, "bare") == NOTHING
    with pytest.raises(NotFoundError):
        branches.create(engine, "bare", name="main", source="trunk")
    with pytest.raises(NotFoundError):
        tags.create(engine, "bare", name="v1", ref="trunk")
    repositories.create(engine, name="other", storage_namespace="s3://bucket/o", bare=True)
    repositories.create(engine, name="third", storage_namespace="s3://bucket/o")


def test_a_repository_deleted_by_mistake_comes_back_from_its_dump(engine):
    dumped, before = dumps.dump(engine, REPO), refs_of(engine, REPO)
    content = contents(engine, "v1")
    repositories.delete(engine, REPO)
    make_bare(engine, REPO)
    dumps.restore(engine, REPO, dumped)
    assert refs_of(engine, REPO) == before
    assert contents(engine, "v1") == contents(engine, "main") == content
    upload(engine, b"a", b"again")
    commit(engine)
    assert contents(engine, "main") != content


def test_a_bare_repository_cannot_be_dumped(world, engine):
    make_bare(engine)
    for dump in (dumps.dump, partial(dumps.start_dump, user="somebody")):
        with pytest.raises(InvalidInputError, match="'bare' is bare"):
            dump(engine, "bare")


def test_an_empty_dump_leaves_the_repository_bare(world, engine):
    make_bare(engine)
    dumps.restore(engine, "bare", RefsDump(*[EMPTY_METARANGE] * 3))
    assert refs_of(engine, "bare") == NOTHING
    assert restored(world) == []


def test_a_read_only_repository_is_restored_by_force_only(engine):
    dumped = dumps.dump(engine, REPO)
    make_bare(engine, read_only=True)
    for restore in (dumps.restore, partial(dumps.start_restore, user="somebody")):
        with pytest.raises(ForbiddenError, match="read-only"):
            restore(engine, "bare", dumped)
    dumps.restore(engine, "bare", dumped, force=True)
    assert refs_of(engine, "bare") == refs_of(engine, REPO)


def test_a_missing_dump_is_gone_and_a_damaged_one_names_its_file(world, engine):
    dumped = dumps.dump(engine, REPO)
    make_bare(engine)
    for _, file_id in world.files.files:  # as on S3, where both stores are one
        engine.objects.put(f"{NAMESPACE}/_lakefs/{file_id}", b"", "")
    with pytest.raises(GoneError, match="12" * 32):
        dumps.restore(engine, "bare", replace(dumped, tags_id=MetaRangeID("12" * 32)))
    for file_id in ("abc", "../../other/data", "AB" * 32, "12" * 32 + "\n"):
        with pytest.raises(InvalidInputError, match="is not a metarange ID"):
            dumps.restore(engine, "bare", replace(dumped, commits_id=MetaRangeID(file_id)))
    content = bytearray(world.files.files[NAMESPACE, dumped.branches_id])
    content[3] ^= 1
    world.files.files[NAMESPACE, dumped.branches_id] = bytes(content)
    with pytest.raises(CorruptDataError, match=dumped.branches_id):
        dumps.restore(world.engine(), "bare", dumped)
    assert refs_of(engine, "bare") == NOTHING
    assert engine.refs.repository("bare").restoring == ""


def child(parents=(), generation=1, **changes):
    made = make_commit(
        committer="c",
        message="m",
        metarange_id=EMPTY_METARANGE,
        creation_date=1,
        metadata={},
        parents=[parent.id for parent in parents],
        generation=generation,
    )
    return replace(made, **changes)


def stored(engine, commits, heads=(), names=()):
    """Return a dump of exactly these records."""

    def store(kind, things):
        return write(engine.committed, NAMESPACE, kind, sorted(things))

    commits_id = write(
        engine.committed, NAMESPACE, COMMITS, sorted(commits, key=lambda made: made.id)
    )
    return RefsDump(commits_id, store(BRANCHES, heads), store(TAGS, names))


ROOT = child()
MISSING = CommitID("ab" * 32)
BROKEN = {
    "a parent is missing": ([child([ROOT], 2)], [], []),
    "a parent is no ID": ([child(parents=[replace(ROOT, id="x" * 64)])], [], []),
    "a branch's commit is missing": ([ROOT], [NamedCommit("main", MISSING)], []),
    "a tag's commit is missing": ([ROOT], [], [NamedCommit("v1", MISSING)]),
    "a branch names no commit": ([ROOT], [NamedCommit("main", NO_COMMIT)], []),
    "a commit is not what its ID says": ([replace(ROOT, message="other")], [], []),
    "a generation is 0": ([replace(ROOT, generation=0)], [], []),
    "a branch's name is none": ([ROOT], [NamedCommit("a/b", ROOT.id)], []),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_dump_that_does_not_hold_together_changes_nothing(world, engine, broken):
    whole = [NamedCommit("first", ROOT.id)]
    make_bare(engine)
    dumped = stored(engine, *BROKEN[broken])
    with pytest.raises(InvalidInputError):
        dumps.restore(engine, "bare", dumped)
    assert refs_of(engine, "bare") == NOTHING
    task = ended(world, dumps.start_restore(engine, "bare", dumped, "somebody"), "bare")
    assert task.failure.code == "invalid_input"
    dumps.restore(engine, "bare", stored(engine, [ROOT, child([ROOT], 2)], whole, whole))
    assert restored(world) == ["bare"]


def test_exchanged_ids_of_branches_and_tags_are_refused(engine):
    dumped = dumps.dump(engine, REPO)
    make_bare(engine)
    exchanged = replace(dumped, tags_id=dumped.branches_id, branches_id=dumped.tags_id)
    with pytest.raises(InvalidInputError, match="entity"):
        dumps.restore(engine, "bare", exchanged)


def test_nothing_in_a_bare_repositorys_namespace_is_garbage(world, engine):
    """Nor is it for another repository with the namespace: only a restore shows what is live."""
    retention.set_rules(engine, REPO, RetentionRules(1, {}))
    dumped, original = dumps.dump(engine, REPO), engine.refs.repository(REPO)
    repository = make_bare(engine)
    for asked in (original, repository):
        with pytest.raises(
            InvalidInputError, match="'bare' is bare, so nothing in its namespace can be collected"
        ):
            collection_reads.neighbours(OpenRepository(engine, asked))
    with pytest.raises(
        InvalidInputError, match="'bare' is bare, so nothing in its namespace can be collected"
    ):
        retention.prepare_commits(engine, "bare")
    task = ended(world, retention.start_prepare(engine, "bare", "somebody"), "bare")
    assert "nothing in its namespace" in str(task.failure.error)
    retention.prepare_commits(engine, REPO)
    dumps.restore(engine, "bare", dumped)
    assert len(collection_reads.neighbours(OpenRepository(engine, original)).sharers) == 2
    retention.prepare_commits(engine, "bare")
