"""The last commits of a listing are what the plain rule says of each entry."""

from collections.abc import Mapping
from dataclasses import replace
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from graveler.branches.request_time import TimeLimit
from graveler.committed.store import Breaking
from graveler.identity import make_commit
from graveler.model import Commit, CommitID
from graveler.operations import last_commits, object_history, repositories
from graveler.staging.listing import CommonPrefix, PageQuery
from graveler.threads import ContextThreads
from tests.support.fakes.engines import memory_world
from tests.support.worlds.model import NAMESPACE, Records, listed, same_records, token_value, write

NAME = "lake"
PATHS = (b"a", b"b/", b"b/1", b"b/2/x", b"c/1", b"c0", b"d/1", b"d/2")
contents = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(["A", "B"]))


class Lake:
    """Commits in an order in which parents come first, and an engine that holds them."""

    def __init__(self, draw: st.DrawFn) -> None:
        world = memory_world(Breaking(raggedness_records=draw(st.sampled_from([1, 2, 50_000]))))
        self.engine = world.engine()
        repositories.create(self.engine, name=NAME, storage_namespace=NAMESPACE)
        self.commits: list[Commit] = []
        self.contents: dict[CommitID, Records] = {}
        for number in range(draw(st.integers(1, 20))):
            near = self.commits[-4:]
            parents = draw(st.permutations(near))[: draw(st.sampled_from([1, 1, 1, 2, 3]))]
            self._add(draw, number, parents)
        record = self.engine.refs.repository(NAME)
        assert record is not None
        self.engine.refs.restore_commits(record, self.commits)

    def _add(self, draw: st.DrawFn, number: int, parents: list[Commit]) -> None:
        content = dict(self.contents[draw(st.sampled_from(parents)).id]) if parents else {}
        for path, token in draw(contents).items():
            if content.get(path) == (value := token_value(token)):
                del content[path]
            else:
                content[path] = value
        commit = make_commit(
            committer="c",
            message=str(number),
            metarange_id=write(self.engine.committed, content).id,
            creation_date=draw(st.integers(0, 20)),
            metadata={},
            parents=[parent.id for parent in parents],
            generation=1 + max((parent.generation for parent in parents), default=0),
        )
        self.commits.append(commit)
        self.contents[commit.id] = content

    def last_commit(self, start: Commit, path: bytes, *, is_folder: bool) -> CommitID:
        """The plain rule: as long as a parent has the same, go on to the first such parent."""

        def of(commit_id: CommitID) -> Records:
            records = self.contents[commit_id]
            return {
                key: value
                for key, value in records.items()
                if (key.startswith(path) if is_folder else key == path)
            }

        at = start.id
        parents: Mapping[CommitID, Commit] = {commit.id: commit for commit in self.commits}
        while True:
            same = [each for each in parents[at].parents if same_records(of(each), of(at))]
            if not same:
                return at
            at = CommitID(same[0])


lakes = st.composite(Lake)()


@given(
    lakes,
    st.data(),
    st.sampled_from([b"", b"b/", b"c", b"d/"]),
    st.sampled_from([1, 3, 100]),
    st.booleans(),
    st.booleans(),
)
def test_each_entry_has_the_commit_that_the_plain_rule_and_its_history_name(
    lake, data, prefix, amount, is_slow, has_threads
):
    threads = ContextThreads(2) if has_threads else None
    engine = replace(lake.engine, threads=threads)
    # A process remembers answers, and walks end there.
    for start in data.draw(st.lists(st.sampled_from(lake.commits), min_size=1, max_size=3)):
        check(lake, engine, start, prefix, amount, is_slow=is_slow)
    if threads:
        threads.shutdown()


def check(lake, engine, start, prefix, amount, *, is_slow):
    after, found = "", {}
    with patch.object(TimeLimit, "is_over", is_slow):
        while True:
            page = last_commits.list_last_commits(engine, NAME, start.id, prefix, after, amount)
            found |= {(each.path, each.is_folder): each.commit.id for each in page.results}
            assert len(page.results) <= amount
            after = page.next_after
            if not after:
                break
    query = PageQuery(1000, prefix=prefix, delimiter=b"/")
    expected = {}
    for item in listed(sorted(lake.contents[start.id]), query):
        if isinstance(item, CommonPrefix):
            expected[item.path, True] = lake.last_commit(start, item.path, is_folder=True)
        else:
            expected[item, False] = lake.last_commit(start, item, is_folder=False)
            history = object_history.list_page(engine, NAME, start.id, item, "", 1)
            assert history.results[0].commit.id == expected[item, False]
    assert found == expected
