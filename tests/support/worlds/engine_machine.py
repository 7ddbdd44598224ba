"""A state machine that compares an engine with the model.

Two engines over the same stores take turns. Like two processes, each has caches that the other
one's work makes stale.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from graveler.branches.views import ObjectStat
from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.entries import entry_value
from graveler.errors import GravelerError, NotFoundError
from graveler.operations import commits, diffs, objects, repositories
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.engines import memory_world
from tests.support.worlds.model import Records, differences, listed
from tests.support.worlds.repository_model import ModelRepository

REPO = "repo"
PATHS = st.sampled_from([b"a", b"a/", b"a/b", b"a/c", b"b/1", b"b/2", b"c", b"\xc3\xa9", b"z" * 9])
PREFIXES = st.sampled_from([b"", b"a", b"a/", b"b/", b"c", b"x"])


class EngineBesideModel(RuleBasedStateMachine):
    """Reads from both; a subclass changes both."""

    def __init__(self) -> None:
        super().__init__()
        self.world = memory_world(Breaking(2))
        self.world.sealed_tokens_max = 2  # so that there are compactions
        self.engines = [self.world.engine(), self.world.engine()]
        self.witness = self.world.engine()
        repositories.create(self.engines[0], name=REPO, storage_namespace="s3://bucket/repo")
        self.model = ModelRepository(commits.get(self.engines[0], REPO, "main"))
        self.turn = 0

    @property
    def engine(self) -> Engine:
        """Return one of the two engines, in an irregular order."""
        self.turn += 1
        return self.engines[(self.turn // 3 + self.turn) % 2]

    def attempt(self, expected: type[GravelerError] | None, do: Callable[[], Any]) -> Any:
        """Call do; return its result, or None if it raised the expected error."""
        failed: GravelerError | None = None
        result = None
        try:
            result = do()
        except GravelerError as error:
            failed = error
        assert type(failed) is (expected or type(None)), f"{failed!r} instead of {expected}"
        return result

    def draw_branch(self, data: st.DataObject) -> str:
        """Draw an existing branch."""
        return data.draw(st.sampled_from(sorted(self.model.branches)))

    def draw_ref(self, data: st.DataObject) -> tuple[str, str]:
        """Draw a ref expression of a commit; return it with the commit's ID."""
        model = self.model
        named = {f"{name}@": branch.head for name, branch in model.branches.items()}
        named |= model.tags
        refs = st.sampled_from(sorted(named)) | st.sampled_from(sorted(model.commits))
        ref = data.draw(refs)
        commit_id = named.get(ref, ref)
        while not ref.endswith("@") and data.draw(st.integers(0, 3)) == 0:
            parents = model.commits[commit_id].parents
            if not parents:
                break
            number = data.draw(st.integers(1, len(parents)))
            ref += f"^{number}" if number > 1 else data.draw(st.sampled_from(["~", "~1", "^"]))
            commit_id = parents[number - 1]
        return ref, commit_id

    @rule(path=PATHS, data=st.data())
    def stat(self, path: bytes, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        live = self.model.live(branch)
        for engine in self.engines:
            found = self.attempt(
                None if path in live else NotFoundError,
                partial(objects.stat, engine, REPO, branch, path),
            )
            assert found is None or entry_value(found.entry) == live[path]

    @rule(prefix=PREFIXES, delimiter=st.sampled_from([b"", b"/"]), data=st.data())
    def listing(self, prefix: bytes, delimiter: bytes, data: st.DataObject) -> None:
        ref, commit_id = self.draw_ref(data)
        records = self.model.contents[commit_id]
        if ref.endswith("@") and data.draw(st.booleans()):
            ref = ref.removesuffix("@")
            records = self.model.live(ref)
        query = PageQuery(data.draw(st.integers(1, 4)), prefix, b"", delimiter)
        found: list[bytes | CommonPrefix] = []
        while True:
            page = objects.list_objects(self.engine, REPO, ref, query)
            found += [i if isinstance(i, CommonPrefix) else i.path for i in page.results]
            if not page.next_after:
                break
            query = PageQuery(query.amount, prefix, page.next_after, delimiter)
        assert found == listed(records, PageQuery(1, prefix, b"", delimiter))

    @rule(prefix=PREFIXES, data=st.data())
    def uncommitted(self, prefix: bytes, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        page = diffs.uncommitted(self.engine, REPO, branch, PageQuery(100, prefix))
        found = [(i.path, i.kind) for i in page.results if not isinstance(i, CommonPrefix)]
        assert found == [
            (path, "added" if old is None else "removed" if new is None else "changed")
            for path, old, new in self.model.uncommitted(branch)
            if path.startswith(prefix)
        ]

    @rule(data=st.data())
    def diff(self, data: st.DataObject) -> None:
        (left, left_id), (right, right_id) = self.draw_ref(data), self.draw_ref(data)
        old, new = self.model.contents[left_id], self.model.contents[right_id]
        if staged := right.endswith("@") and data.draw(st.booleans()):
            right = right.removesuffix("@")
            new = self.model.live(right)
            right += "$"
        page = diffs.between_refs(self.engine, REPO, left, right, PageQuery(100), two_dot=True)
        found = [i.path for i in page.results if not isinstance(i, CommonPrefix)]
        assert found == [path for path, _, _ in differences(old, new)], (left, right, staged)

    @rule(path=PATHS, amount=st.integers(1, 5), data=st.data())
    def log(self, path: bytes, amount: int, data: st.DataObject) -> None:
        ref, commit_id = self.draw_ref(data)
        expected = self.model.log(commit_id)
        query = commits.LogQuery(amount)
        page = commits.log(self.engine, REPO, ref, query)
        assert [commit.id for commit in page.results] == expected[:amount]
        assert page.has_more == (len(expected) > amount)
        touching = commits.log(self.engine, REPO, ref, commits.LogQuery(1000, objects=(path,)))
        assert [commit.id for commit in touching.results] == [
            one
            for one in expected
            if len(self.model.commits[one].parents) == 1 and path in self.model.changed_paths(one)
        ]

    @invariant()
    def every_branch_shows_what_was_written(self) -> None:
        # Read by a third engine, so that the caches of the two stay stale.
        for branch in self.model.branches:
            assert self.read(self.witness, branch) == self.model.live(branch)

    def read(self, engine: Engine, ref: str) -> Records:
        page = objects.list_objects(engine, REPO, ref, PageQuery(1000))
        return {i.path: entry_value(i.entry) for i in page.results if isinstance(i, ObjectStat)}
