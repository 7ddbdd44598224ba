"""Commits have the requested fields, and logs list them."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import ContentionError, InvalidInputError, NotFoundError, ThrottledError
from graveler.identity import make_commit
from graveler.limits import COMMIT_BYTES_MAX
from graveler.model import MetaRangeID
from graveler.operations import (
    branches,
    commit_records,
    commits,
    diffs,
    dumps,
    links,
    merges,
    objects,
    repositories,
    tags,
    writes,
)
from graveler.staging.listing import PageQuery
from tests.support.faults.counting import Calls, engine_around
from tests.support.worlds.lake import REPO, commit, content, history, named, paths, upload


def test_a_commit_has_the_fields_of_the_request(engine):
    upload(engine, b"p", b"data")
    head = named(engine, "main")
    made = commit(engine, message="why", metadata={"k": "v"}, date_s=1_234_567)
    assert (made.message, made.committer, made.metadata) == ("why", "somebody", {"k": "v"})
    assert (made.creation_date, made.parents, made.generation) == (1_234_567, (head,), 2)


def test_readers_see_all_of_a_commit_or_nothing(world, engine):
    for number in range(5):
        upload(engine, b"p%d" % number, b"data")
    seen: list[tuple[int, int]] = []

    def look(_name: str, call: Callable[[], Any]) -> Any:
        result = call()
        reader = world.engine()
        seen.append((len(paths(reader, "main@")), len(paths(reader, "main"))))
        return result

    commit(engine_around(engine, look))
    assert {committed for committed, _ in seen} == {0, 5}
    assert {live for _, live in seen} == {5}


def test_a_commit_publishes_one_complete_event(world, engine):
    upload(engine, b"p", b"data")
    made = commit(engine, metadata={"k": "v"})
    (event,) = [each for each in world.refs.events if each.kind == "commit_created"]
    assert event.repository == REPO
    assert event.detail["branch"] == "main"
    assert event.detail["commit_id"] == made.id
    assert event.detail["metadata"] == {"k": "v"}


def test_a_commit_without_changes_is_refused_and_publishes_no_event(world, engine):
    events = len(world.refs.events)
    with pytest.raises(InvalidInputError, match="no changes"):
        commit(engine)
    upload(engine, b"p", b"data")
    commit(engine)
    writes.delete_many(engine, REPO, "main", [b"never", b"was"])
    with pytest.raises(InvalidInputError, match="no changes"):
        commit(engine)
    assert len(world.refs.events) == events + 1
    assert branches.get(engine, REPO, "main").sealed_tokens == ()


def test_an_empty_commit_is_made_if_allowed(engine):
    made = commit(engine, allow_empty=True)
    assert made.metarange_id == ""
    upload(engine, b"p", b"data")
    before = commit(engine)
    assert commit(engine, allow_empty=True).metarange_id == before.metarange_id


def test_equal_content_at_another_address_is_committed(world, engine):
    first = upload(engine, b"p", b"data")
    commit(engine)
    second = upload(engine, b"p", b"data")
    assert [
        each.path for each in diffs.uncommitted(engine, REPO, "main", PageQuery(9)).results
    ] == [b"p"]
    made = commit(engine)
    assert first.physical_address != second.physical_address
    for ref in (made.id, "main"):
        found = objects.stat(world.engine(), REPO, ref, b"p").physical_address
        assert found == second.physical_address


def test_lost_data_are_repaired_by_the_same_upload(engine):
    lost = upload(engine, b"p", b"data")
    commit(engine)
    engine.objects.delete(lost.physical_address)
    upload(engine, b"p", b"data")
    made = commit(engine)
    assert content(engine, made.id, b"p") == b"data"


def test_moved_data_are_read_at_the_committed_address(engine):
    for place in ("old", "new"):
        engine.objects.put(f"s3://{place}/p", b"bytes", "text/plain")
        address = f"s3://{place}/p"
        links.stage(engine, REPO, "main", b"p", links.StoredData(address, "abc", 5))
        commit(engine)
    engine.objects.delete("s3://old/p")
    assert content(engine, "main", b"p") == b"bytes"


def test_too_large_texts_are_refused_and_staged_changes_stay(engine):
    upload(engine, b"p", b"data")
    for request in (
        commits.CommitRequest("m" * (COMMIT_BYTES_MAX + 1), "c"),
        commits.CommitRequest("m", "c", metadata={"k": "é" * (COMMIT_BYTES_MAX // 2 + 1)}),
    ):
        with pytest.raises(InvalidInputError, match="too large"):
            commits.commit(engine, REPO, "main", request)
    assert paths(engine, "main") == [b"p"]
    commit(engine)
    assert paths(engine, "main@") == [b"p"]


def no_head_moves(name, call):
    if name == "refs.move_branch":
        raise ThrottledError("slow down")
    return call()


def test_failed_commits_do_not_accumulate_sealed_tokens(engine):
    upload(engine, b"p", b"data")
    for _ in range(3):
        with pytest.raises(ThrottledError):
            commit(engine_around(engine, no_head_moves))
        with pytest.raises(InvalidInputError, match="uncommitted"):
            merges.merge(engine, REPO, "main~0", "main", merges.MergeRequest("somebody"))
    assert len(branches.get(engine, REPO, "main").tokens) == 2
    upload(engine, b"q", b"data")
    with pytest.raises(InvalidInputError, match="uncommitted"):
        merges.merge(engine, REPO, "main~0", "main", merges.MergeRequest("somebody"))
    assert len(branches.get(engine, REPO, "main").tokens) == 2
    commit(engine)
    assert paths(engine, "main@") == [b"p", b"q"]
    assert len(branches.get(engine, REPO, "main").tokens) == 1


def test_an_existing_metarange_is_committed_unchanged(engine):
    upload(engine, b"p", b"1")
    first = commit(engine)
    upload(engine, b"p", b"2")
    commit(engine)
    made = commit(engine, source_metarange=first.metarange_id)
    assert made.metarange_id == first.metarange_id
    assert content(engine, "main", b"p") == b"1"
    with pytest.raises(InvalidInputError, match="no changes"):
        commit(engine, source_metarange=first.metarange_id)


def test_a_metarange_is_committed_on_a_clean_branch_only(engine):
    upload(engine, b"p", b"1")
    first = commit(engine)
    upload(engine, b"p", b"2")
    with pytest.raises(InvalidInputError, match="uncommitted"):
        commit(engine, source_metarange=first.metarange_id, allow_empty=True)
    assert content(engine, "main", b"p") == b"2"


def test_a_missing_metarange_is_not_found(engine):
    upload(engine, b"p", b"1")
    made = commit(engine)
    (header,) = read_repository(engine, REPO).metarange(made.metarange_id).headers()
    for metarange_id in ("0" * 64, "../x", header.id):
        with pytest.raises(NotFoundError, match="metarange"):
            commit(engine, source_metarange=metarange_id)


def commit_naming(engine: Engine, accept: str, metarange_id: MetaRangeID) -> None:
    """Make a commit of the metarange, in one of the two ways in which a client names it."""
    if accept == "source_metarange":
        commit(engine, source_metarange=metarange_id, allow_empty=True)
        return
    (head,) = commits.log(engine, REPO, "main", commits.LogQuery(1)).results
    record = make_commit(
        committer="ann",
        message="again",
        metarange_id=metarange_id,
        creation_date=head.creation_date,
        metadata={},
        parents=[head.id],
        generation=head.generation + 1,
    )
    commit_records.create(engine, REPO, record)


def files_of(engine: Engine, metarange_id: MetaRangeID) -> Sequence[str]:
    """Return the IDs of a metarange of one range, and of that range."""
    (header,) = read_repository(engine, REPO).metarange(metarange_id).headers()
    return metarange_id, header.id


@pytest.mark.parametrize("lacking", ["metarange", "range"])
@pytest.mark.parametrize("accept", ["source_metarange", "commit record"])
def test_a_metarange_that_lacks_a_file_is_not_committed(world, engine, accept, lacking):
    """Without a range, it is what a commit leaves that failed to store the range."""
    upload(engine, b"p", b"1")
    made = commit(engine)
    namespace = read_repository(engine, REPO).record.storage_namespace
    missing = dict(zip(("metarange", "range"), files_of(engine, made.metarange_id), strict=True))[
        lacking
    ]
    kept = world.files.files.pop((namespace, missing))
    with pytest.raises(NotFoundError, match=missing[:12]):
        commit_naming(engine, accept, made.metarange_id)
    world.files.files[namespace, missing] = kept
    commit_naming(engine, accept, made.metarange_id)


@pytest.mark.parametrize("accept", ["source_metarange", "commit record"])
def test_a_metarange_of_a_dump_is_not_committed(engine, accept):
    """Its records are commits, branches or tags: no reader could list them as objects."""
    dumped = dumps.dump(engine, REPO)
    for metarange_id in (dumped.commits_id, dumped.branches_id, dumped.tags_id):
        with pytest.raises(NotFoundError, match="dump"):
            commit_naming(engine, accept, metarange_id)


@pytest.mark.parametrize("accept", ["source_metarange", "commit record"])
def test_a_new_repository_has_no_files_of_the_deleted_one_in_its_namespace(world, engine, accept):
    upload(engine, b"p", b"1")
    made = commit(engine)
    namespace = read_repository(engine, REPO).record.storage_namespace
    commit_naming(engine, accept, made.metarange_id)  # this process has found all files
    repositories.delete(engine, REPO)
    for each in list(engine.objects.list_objects(f"{namespace}/")):
        engine.objects.delete(each.uri)
    repositories.create(engine, name=REPO, storage_namespace=namespace)
    names = [(namespace, each) for each in files_of(engine, made.metarange_id)]
    kept = [world.files.files.pop(name) for name in names]
    for name, file in zip(names, kept, strict=True):
        with pytest.raises(NotFoundError, match=name[1][:12]):
            commit_naming(engine, accept, made.metarange_id)
        world.files.files[name] = file
    commit_naming(engine, accept, made.metarange_id)


def test_a_commit_gives_up_after_losing_every_try(world, engine):
    upload(engine, b"p", b"1")
    other = world.engine()

    def rival(name, call):
        if name == "refs.move_branch":
            commit(other, allow_empty=True)
        return call()

    with pytest.raises(ContentionError):
        commit(engine_around(engine, rival), allow_empty=True)
    assert content(engine, "main", b"p") == b"1"


def test_a_commit_reads_and_writes_only_changed_ranges(world, engine):
    for number in range(5):
        upload(engine, b"p%d" % number, b"1")
    commit(engine)
    calls = Calls()
    upload(engine, b"p0", b"2")
    commit(engine_around(engine, calls))
    assert calls.counts()["files.write"] == 2
    assert calls.counts()["refs.move_branch"] == 1


# Logs


@pytest.fixture
def line(engine):
    """Return the IDs of commits that change p, q, p, nothing, dir/x; oldest first."""
    made = []
    for path, text in ((b"p", b"1"), (b"q", b"1"), (b"p", b"2"), (None, b""), (b"dir/x", b"1")):
        if path is not None:
            upload(engine, path, text)
        made.append(commit(engine, allow_empty=True).id)
    return made


def test_a_log_is_paged(engine, line):
    everything = history(engine, "main")
    assert everything[:-1] == line[::-1]
    found, after = [], ""
    for _ in range(10):
        query = commits.LogQuery(2, after=after)
        page = commits.log(engine, REPO, "main", query)
        found += [each.id for each in page.results]
        after = page.next_after
        if not page.has_more:
            break
    assert found == everything


def test_a_log_of_objects_and_prefixes_lists_commits_that_changed_them(engine, line):
    assert history(engine, "main", objects=(b"p",)) == [line[2], line[0]]
    assert history(engine, "main", objects=(b"q",)) == [line[1]]
    assert history(engine, "main", objects=(b"p", b"q")) == [line[2], line[1], line[0]]
    assert history(engine, "main", prefixes=(b"dir/",)) == [line[4]]
    assert history(engine, "main", prefixes=(b"di", b"p")) == [line[4], line[2], line[0]]
    assert history(engine, "main", objects=(b"none",)) == []
    writes.delete(engine, REPO, "main", b"q")
    deleted = commit(engine)
    assert history(engine, "main", objects=(b"q",)) == [deleted.id, line[1]]


def test_a_log_by_path_reads_no_range_that_did_not_change(world, engine, line):
    reader = world.engine()
    world.files.reads.clear()
    history(reader, "main", objects=(b"q",))
    assert len({file_id for _, file_id in world.files.reads}) <= 2 * len(line)
    empty = commits.get(engine, REPO, line[3])
    world.files.reads.clear()
    query = commits.LogQuery(1, limit=True, objects=(b"q",), stop_at=empty.id)
    commits.log(world.engine(), REPO, empty.id, query)
    assert world.files.reads == []


def test_a_log_has_limits_in_time_and_place(engine, line):
    third = commits.get(engine, REPO, line[2])
    assert history(engine, "main", since_s=third.creation_date) == line[:1:-1]
    assert history(engine, "main", stop_at=line[2]) == line[:1:-1]
    tags.create(engine, REPO, name="third", ref=line[2])
    assert history(engine, "main", stop_at="third") == line[:1:-1]
    query = commits.LogQuery(2, limit=True)
    page = commits.log(engine, REPO, "main", query)
    assert ([each.id for each in page.results], page.has_more) == (line[:2:-1], False)


def test_a_log_may_leave_out_the_commits_of_another_ref(engine, line):
    branches.create(engine, REPO, name="dev", source=line[1])
    upload(engine, b"new", b"3", "dev")
    first = commit(engine, "dev")
    merged = merges.merge(engine, REPO, "main", "dev", merges.MergeRequest("somebody"))
    assert history(engine, "dev", not_in="main") == [merged.id, first.id]
    assert history(engine, "dev", not_in="dev") == []
    assert history(engine, "dev", not_in=line[3]) == [merged.id, first.id, line[4]]


def test_a_log_by_path_leaves_merges_out(engine, line):
    branches.create(engine, REPO, name="dev", source="main")
    upload(engine, b"p", b"3", "dev")
    on_dev = commit(engine, "dev")
    upload(engine, b"other", b"1")
    commit(engine)
    merges.merge(engine, REPO, "dev", "main", merges.MergeRequest("somebody"))
    assert history(engine, "main", objects=(b"p",)) == [on_dev.id, line[2], line[0]]


def test_an_unknown_ref_has_no_log(engine):
    for ref, query in (
        ("nothing", commits.LogQuery(1)),
        ("main", commits.LogQuery(1, stop_at="nothing")),
        ("main", commits.LogQuery(1, not_in="nothing")),
    ):
        with pytest.raises(NotFoundError):
            commits.log(engine, REPO, ref, query)


def test_what_a_commit_takes_off_stays_for_a_reader_that_was_frozen_for_an_hour(world, engine):
    upload(engine, b"p", b"data")
    token = engine.refs.branch(engine.refs.repository(REPO), "main").staging_token
    committed_ns = world.clock.now_ns()
    commit(engine)
    due = {dropped: due_ns for due_ns, dropped in world.refs.cleanups}
    frozen_s = clocks_differ_s = 60 * 60
    assert due[token] > committed_ns + (frozen_s + clocks_differ_s) * 10**9
