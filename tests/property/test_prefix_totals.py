"""The total of a prefix is that of its listing, wherever ranges and pages end."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from graveler.branches.request_time import TimeLimit
from graveler.branches.views import ObjectStat
from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.operations import commits, objects, repositories, writes
from graveler.operations.links import StoredData, stage
from graveler.operations.prefixes.totals import total
from graveler.staging.listing import PageQuery
from tests.support.fakes.engines import memory_world

REPO = "lake"
PATHS = st.builds(
    lambda folder, name: b"%s/%02d" % (folder, name),
    *(st.sampled_from([b"a", b"ab", b"b"]), st.integers(0, 30)),
)
# The size of an object, or a deletion.
CHANGES = st.dictionaries(PATHS, st.none() | st.integers(0, 5), max_size=40)


def stage_all(engine: Engine, changes: dict[bytes, int | None]) -> None:
    for path, size in changes.items():
        if size is None:
            writes.delete_many(engine, REPO, "main", [path])
        else:
            stage(engine, REPO, "main", path, StoredData("s3://elsewhere/x", f"c{size}", size))


@given(
    breaking=st.sampled_from([Breaking(2), Breaking(5), Breaking(40)]),
    base=CHANGES,
    staged=CHANGES,
    prefix=st.sampled_from(["", "a", "a/", "a/1", "ab/", "b/30", "c"]),
    is_committed=st.booleans(),
    every=st.integers(1, 9),
)
def test_the_total_of_all_pages_is_that_of_the_listing(
    breaking, base, staged, prefix, is_committed, every
):
    engine = memory_world(breaking).engine()
    repositories.create(engine, name=REPO, storage_namespace="s3://bucket/lake")
    stage_all(engine, base)
    request = commits.CommitRequest("m", "somebody", allow_empty=True)
    commits.commit(engine, REPO, "main", request)
    stage_all(engine, staged)
    ref = "main@" if is_committed else "main"
    page = objects.list_objects(engine, REPO, ref, PageQuery(1000, prefix=prefix.encode()))
    sizes = [each.entry.size_bytes for each in page.results if isinstance(each, ObjectStat)]
    expected = len(sizes), sum(sizes)
    for _ in range(2):  # the second time, sizes of ranges are known
        asked, found, after = 0, [0, 0], b""

        def is_over(_: TimeLimit) -> bool:
            nonlocal asked
            asked += 1
            return asked % every == 0

        with patch.object(TimeLimit, "is_over", property(is_over)):
            while True:
                part = total(engine, REPO, ref, prefix, after)
                found = [found[0] + part.objects, found[1] + part.size_bytes]
                if not part.next_after:
                    break
                assert part.next_after > after
                after = part.next_after
        assert tuple(found) == expected
