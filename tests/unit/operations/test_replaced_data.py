"""Data outside of the namespace that others replaced are never taken for those that were imported."""

from collections.abc import Callable

import pytest

from graveler.branches.data import read_content
from graveler.engine import Engine
from graveler.errors import DataReplacedError, PreconditionFailedError
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.model import AddressType
from graveler.operations import links, objects, presigned_uploads, writes
from graveler.operations.prefixes.requests import PrefixRequest, start_copy
from graveler.ports import ObjectInfo
from graveler.times import NS_PER_S
from tests.support.checks.cases import for_each
from tests.support.fakes.tasks import run_all
from tests.support.worlds.imports import imported
from tests.support.worlds.lake import REPO, commit, content, upload

URI = "s3://raw/in/a"
REMEDY = "import or stage it again"


def put(engine: Engine, text: bytes, uri: str = URI) -> ObjectInfo:
    return engine.objects.put(uri, text, "text/plain")


@pytest.fixture
def replaced(engine: Engine) -> Engine:
    """An imported object at `a`, with a shallow copy at `b`, and its data replaced since."""
    put(engine, b"old content")
    sources = (source_of(SourceType.PREFIX, "s3://raw/in/", ""),)
    imported(engine, ImportRequest(sources, "ann"))
    _copy(engine, b"b", shallow=True)
    assert content(engine, "main", b"b") == b"old content"
    put(engine, b"new content")
    return engine


def _copy(engine: Engine, path: bytes, *, shallow: bool = False) -> object:
    return writes.copy(
        engine, REPO, "main", path, source_ref=None, source_path=b"a", shallow=shallow
    )


def _copy_part(engine: Engine) -> object:
    made = presigned_uploads.create(engine, REPO, "main", b"parts")
    return presigned_uploads.copy_part(
        engine, REPO, "main", b"parts", made.upload_id, 1,
        physical_address=made.physical_address, source_ref="main", source_path=b"a",
    )  # fmt: skip


def _read_empty(engine: Engine) -> object:
    info = put(engine, b"", "s3://raw/empty")
    data = links.StoredData("s3://raw/empty", info.checksum, 0, {}, mtime_s=0)
    found = links.stage(engine, REPO, "main", b"empty", data)
    put(engine, b"x", "s3://raw/empty")
    return read_content(engine, found)


USES: dict[str, Callable[[Engine], object]] = {
    "read": lambda engine: content(engine, "main", b"a"),
    "range": lambda engine: read_content(engine, objects.stat(engine, REPO, "main", b"a"), (0, 2)),
    "read of a copy": lambda engine: content(engine, "main", b"b"),
    "read of nothing": _read_empty,
    "copy": lambda engine: _copy(engine, b"c"),
    "shallow copy": lambda engine: _copy(engine, b"c", shallow=True),
    "copy of a part": _copy_part,
}


@for_each("use", USES)
def test_replaced_data_are_refused_with_the_reason(replaced, use):
    with pytest.raises(DataReplacedError, match=REMEDY):
        USES[use](replaced)


def test_an_import_of_the_new_data_is_the_remedy(replaced):
    writes.delete(replaced, REPO, "main", b"b")
    sources = (source_of(SourceType.PREFIX, "s3://raw/in/", ""),)
    imported(replaced, ImportRequest(sources, "ann"))
    assert content(replaced, "main", b"a") == b"new content"


def test_a_copy_of_data_larger_than_recorded_has_the_size_of_its_data(engine):
    put(engine, b"0123456789")
    links.stage(engine, REPO, "main", b"a", links.StoredData(URI, "no-ETag", 4, {}))
    copied = writes.copy(engine, REPO, "main", b"b", source_ref=None, source_path=b"a")
    assert (copied.entry.size_bytes, content(engine, "main", b"b")) == (10, b"0123456789")


def test_a_hook_of_replaced_data_does_not_run(engine):
    file = b"_lakefs_actions/a.yaml"
    info = put(engine, b"name: one")
    data = links.StoredData(URI, info.checksum, info.size_bytes, {}, mtime_s=0)
    links.stage(engine, REPO, "main", file, data)
    put(engine, b"name: two")
    with pytest.raises(PreconditionFailedError, match=REMEDY):
        commit(engine)


def test_own_data_are_read_without_a_condition(engine):
    upload(engine, b"own", b"own")
    found = objects.stat(engine, REPO, "main", b"own")
    assert (found.if_match, found.entry.address_type) == ("", AddressType.RELATIVE)


def test_data_staged_with_their_own_time_and_a_digest_of_their_own_are_read(engine):
    info = put(engine, b"data in parts")
    md5 = "0123456789abcdef0123456789abcdef"
    data = links.StoredData(
        URI, md5, info.size_bytes, {}, mtime_s=info.last_modified_ns // NS_PER_S
    )
    found = links.stage(engine, REPO, "main", b"a", data)
    assert read_content(engine, found).content == b"data in parts"


def test_data_of_another_size_are_not_those_that_were_staged_although_they_are_older(world):
    engine = world.engine()
    before = put(engine, b"old content")
    world.clock.tick(5)
    put(engine, b"new content, and longer")
    world.clock.tick(5)
    data = links.StoredData(URI, before.checksum, before.size_bytes, {})
    found = links.stage(engine, REPO, "main", b"a", data)
    with pytest.raises(DataReplacedError):
        read_content(engine, found)


def test_a_copy_of_a_prefix_does_not_pass_replaced_data_for_those_that_were_staged(world):
    engine = world.engine()
    info = put(engine, b"old")
    links.stage(engine, REPO, "main", b"a/1", links.StoredData(URI, info.checksum, 3, {}))
    world.clock.tick(60)
    put(engine, b"new")
    world.clock.tick(60)
    start_copy(engine, REPO, "main", PrefixRequest("a/", "b/"), "ann")
    run_all(world.task_queue, engine)
    with pytest.raises(DataReplacedError):
        content(engine, "main", b"a/1")
    with pytest.raises(DataReplacedError):
        content(engine, "main", b"b/1")
