"""`lakefs.Reference`: reading what a ref expression names, and merging it."""

from datetime import UTC, datetime, timedelta, timezone

import lakefs
import pytest
from lakefs.exceptions import BadRequestException, ConflictException, NotFoundException
from lakefs.models import CommonPrefix

pytestmark = pytest.mark.server


@pytest.fixture
def first(main) -> lakefs.Reference:
    for path in ("a", "folder/1", "folder/2", "folder/sub/3", "z"):
        main.object(path).upload(path)
    return main.commit("first", metadata={"n": "1"})


def test_it_shows_its_names_and_its_commit(repository, first):
    reference = repository.ref("main~0")
    assert (reference.repo_id, reference.id) == (repository.id, "main~0")
    commit = reference.get_commit()
    assert (commit.id, commit.message, commit.metadata) == (first.id, "first", {"n": "1"})
    assert repository.id in str(reference)
    assert "main~0" in repr(reference)


def test_objects_are_listed_flat_or_by_folder(first):
    assert [found.path for found in first.objects(prefix="folder/")] == [
        *("folder/1", "folder/2", "folder/sub/3"),
    ]
    by_folder = list(first.objects(delimiter="/"))
    assert [found.path for found in by_folder] == ["a", "folder/", "z"]
    assert [isinstance(found, CommonPrefix) for found in by_folder] == [False, True, False]
    assert [found.path for found in first.objects(after="folder/1", max_amount=2)] == [
        *("folder/2", "folder/sub/3"),
    ]
    [found] = first.objects(prefix="a", user_metadata=False)
    assert (found.size_bytes, found.metadata) == (1, {})


def test_a_listing_can_have_presigned_urls(first):
    [found] = first.objects(prefix="a", presign=True)
    assert found.physical_address.startswith("http")
    assert found.physical_address_expiry > 0


def test_the_log_is_limited_and_may_follow_paths(main, first):
    main.object("a").upload("2")
    main.commit("second")
    assert [each.message for each in main.log(max_amount=2)] == ["second", "first"]
    assert [each.message for each in first.log()] == ["first", "Repository created"]
    assert [each.message for each in main.log(objects=["z"])] == ["first"]
    assert [each.message for each in main.log(prefixes=["folder/"], limit=True)] == ["first"]
    assert [each.message for each in main.log(stop_at=first.id)] == ["second", "first"]


def test_the_log_begins_at_a_time_with_or_without_a_time_zone(main, first):
    begin = datetime.fromtimestamp(first.get_commit().creation_date, UTC)
    for since in (
        begin,
        begin.astimezone(timezone(-timedelta(hours=8))),
        begin.replace(tzinfo=None),
    ):
        assert "first" in [each.message for each in main.log(since=since)], since
        assert list(main.log(since=since + timedelta(hours=1))) == [], since


def test_a_diff_shows_what_was_added_changed_and_removed(repository, main, first):
    main.object("a").upload("other")
    main.object("new/x").upload("n")
    main.object("z").delete()
    second = main.commit("second")
    found = {change.path: change.type for change in first.diff(second)}
    assert found == {"a": "changed", "new/x": "added", "z": "removed"}
    assert [change.path for change in first.diff(second, prefix="new/")] == ["new/x"]
    assert [change.path for change in first.diff(second.id, after="a")] == ["new/x", "z"]
    assert [change.path for change in first.diff("main", max_amount=1)] == ["a"]
    folders = {change.path: change.path_type for change in first.diff(second, delimiter="/")}
    assert folders == {"a": "object", "new/": "common_prefix", "z": "object"}
    assert list(second.diff(first, type="three_dot")) == []


def test_a_reference_is_merged_into_a_branch(repository, main, first):
    dev = repository.branch("dev").create(main)
    dev.object("dev").upload("1")
    commit = dev.commit("on dev")
    merged = commit.merge_into(main, message="take dev", metadata={"k": "v"})
    assert main.get_commit().id == merged
    assert (main.get_commit().message, main.get_commit().metadata["k"]) == ("take dev", "v")
    with pytest.raises(BadRequestException, match="no changes"):
        commit.merge_into("main")


def test_a_conflict_is_an_error_unless_a_strategy_decides(repository, main, first):
    dev = repository.branch("dev").create(main)
    dev.object("a").upload("theirs")
    dev.commit("dev")
    main.object("a").upload("ours")
    main.commit("main")
    with pytest.raises(ConflictException):
        dev.merge_into(main)
    dev.merge_into(main, strategy="source-wins")
    assert main.object("a").reader("r").read() == "theirs"


def test_its_objects_are_read_and_not_written(first):
    found = first.object("folder/1")
    assert (found.path, found.ref) == ("folder/1", first.id)
    assert found.reader("r").read() == "folder/1"
    assert not hasattr(found, "upload")


def test_what_names_nothing_is_not_found(repository):
    nothing = repository.ref("nothing")
    with pytest.raises(NotFoundException):
        nothing.get_commit()
    with pytest.raises(NotFoundException):
        list(nothing.objects())
    with pytest.raises(NotFoundException):
        list(nothing.log())
    with pytest.raises(NotFoundException):
        list(nothing.diff("main"))
    with pytest.raises(NotFoundException):
        nothing.merge_into("main")
