"""The whole engine does what a repository in plain dictionaries does, whatever users do to it."""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from graveler.branches import heads, lookup
from graveler.entries import entry_value, value_entry
from graveler.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NoChangesError,
    NotFoundError,
    PreconditionFailedError,
)
from graveler.limits import TOKEN_RETENTION_S
from graveler.model import Commit, ProtectionRule, Requirement
from graveler.operations import (
    branches,
    commits,
    merge_bases,
    merges,
    objects,
    replays,
    repositories,
    tags,
    writes,
)
from tests.support.worlds.crossed_model import ancestors, best_common
from tests.support.worlds.engine_machine import PATHS, PREFIXES, REPO, EngineBesideModel
from tests.support.worlds.model import same_records
from tests.support.worlds.repository_model import ModelBase, ModelBranch
from tests.support.worlds.strategies import branch_names, tag_names

CONTENTS = st.sampled_from([b"A", b"B", b"C"])
STRATEGIES = st.sampled_from(["", "source-wins", "dest-wins"])


class EngineMachine(EngineBesideModel):
    """Operations on the engine and on the model, side by side."""

    @initialize()
    def begin_with_two_branches(self) -> None:
        for path in (b"a", b"a/b", b"b/1"):
            self.upload_one("main", path, b"A")
        self.commit_branch("main", allow_empty=False)
        branches.create(self.engine, REPO, name="dev", source="main")
        self.model.branches["dev"] = ModelBranch(self.model.branches["main"].head)

    # Objects

    def upload_one(
        self, branch: str, path: bytes, content: bytes, *, if_absent: bool = False
    ) -> None:
        there = if_absent and path in self.model.live(branch)
        stat = self.attempt(
            PreconditionFailedError if there else None,
            lambda: writes.upload(
                self.engine,
                REPO,
                branch,
                path,
                read_content=lambda: (content, "text/plain"),
                metadata={},
                requirement=Requirement(is_absent=if_absent),
            ),
        )
        if stat is not None:
            self.model.branches[branch].staged[path] = entry_value(stat.entry)

    @rule(
        contents=st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=4),
        if_absent=st.booleans(),
        data=st.data(),
    )
    def upload(self, contents: dict[bytes, bytes], if_absent: bool, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        for path, content in contents.items():
            self.upload_one(branch, path, content, if_absent=if_absent)

    @rule(paths=st.lists(PATHS, min_size=1, max_size=3), data=st.data())
    def delete(self, paths: list[bytes], data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        if len(paths) > 1:
            assert writes.delete_many(self.engine, REPO, branch, paths) == []
        else:
            writes.delete(self.engine, REPO, branch, paths[0])
            if paths[0] not in self.model.live(branch):
                return
        self.model.branches[branch].staged |= dict.fromkeys(paths)

    @rule(path=PATHS, source_path=PATHS, data=st.data())
    def copy(self, path: bytes, source_path: bytes, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        ref, commit_id = self.draw_ref(data)
        source = self.model.contents[commit_id]
        stat = self.attempt(
            None if source_path in source else NotFoundError,
            lambda: writes.copy(
                self.engine, REPO, branch, path, source_ref=ref, source_path=source_path
            ),
        )
        if stat is not None:
            assert stat.entry.checksum == value_entry(source[source_path]).checksum
            self.model.branches[branch].staged[path] = entry_value(stat.entry)

    @rule(path=PATHS, metadata=st.sampled_from([{}, {"k": "v"}]), data=st.data())
    def set_user_metadata(self, path: bytes, metadata: dict[str, str], data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        there = path in self.model.live(branch)
        self.attempt(
            None if there else NotFoundError,
            lambda: writes.set_user_metadata(self.engine, REPO, branch, path, metadata),
        )
        if there:
            entry = objects.stat(self.engine, REPO, branch, path).entry
            assert entry.metadata == metadata
            self.model.branches[branch].staged[path] = entry_value(entry)

    # Commits

    def commit_branch(self, branch: str, *, allow_empty: bool) -> None:
        changed = allow_empty or self.model.uncommitted(branch)
        request = commits.CommitRequest("message", "committer", allow_empty=allow_empty)
        made = self.attempt(
            None if changed else NoChangesError,
            lambda: commits.commit(self.engine, REPO, branch, request),
        )
        if made is None:
            self.model.branches[branch].clear()  # what is staged changes nothing
        else:
            assert made.parents == (self.model.branches[branch].head,)
            self.model.add_commit(branch, made, self.model.after_commit(branch))

    @rule(allow_empty=st.booleans(), data=st.data())
    def commit(self, allow_empty: bool, data: st.DataObject) -> None:
        self.commit_branch(self.draw_branch(data), allow_empty=allow_empty)

    @rule(contents=st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=3), data=st.data())
    def upload_and_commit(self, contents: dict[bytes, bytes], data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        for path, content in contents.items():
            self.upload_one(branch, path, content)
        self.commit_branch(branch, allow_empty=False)

    @rule(data=st.data())
    def commit_that_crashes_when_it_has_begun(self, data: st.DataObject) -> None:
        branch, engine = self.draw_branch(data), self.engine
        heads.seal(*lookup.current_branch(engine, REPO, branch))
        self.model.branches[branch].seal()

    def merge_into(
        self, branch: str, sides: tuple[ModelBase, Commit], strategy: str, do: Callable[[], Commit],
        *, kind: str,
    ) -> None:  # fmt: skip
        """Check a merge, and what merges by another name, against the table."""
        model = self.model
        base, source = sides
        head = model.commits[model.branches[branch].head]
        expected = model.merge_error(branch, base, source, strategy)
        result = model.contents[head.id]
        if expected is None:
            result = model.merged(branch, base, source, strategy)
        if kind in ("merge", "cherry-pick") and base.metarange_ids == {source.metarange_id}:
            expected = expected or NoChangesError
        if kind == "revert" and expected is None and result == model.contents[head.id]:
            if not result:
                return  # no file and an empty file are both the empty content
            expected = NoChangesError
        made = self.attempt(expected, do)
        if made is None:
            if model.branches[branch].staged and not model.uncommitted(branch):
                model.branches[branch].seal()
        else:
            model.add_commit(branch, made, result)

    def draw_branch_to_merge_into(self, data: st.DataObject) -> str:
        """A branch, mostly without uncommitted changes."""
        branch = self.draw_branch(data)
        if data.draw(st.integers(0, 3)) and self.model.uncommitted(branch):
            self.commit_branch(branch, allow_empty=False)
        return branch

    @rule(
        contents=st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=2),
        strategy=STRATEGIES,
        squash=st.booleans(),
        data=st.data(),
    )
    def merge_what_was_changed(
        self, contents: dict[bytes, bytes], strategy: str, squash: bool, data: st.DataObject
    ) -> None:
        source = self.draw_branch(data)
        for path, content in contents.items():
            self.upload_one(source, path, content)
        if self.model.uncommitted(source):
            self.commit_branch(source, allow_empty=False)
        branch = self.draw_branch_to_merge_into(data)
        self.merge_ref(branch, f"{source}@", self.model.branches[source].head, strategy, squash)

    @rule(strategy=STRATEGIES, squash=st.booleans(), data=st.data())
    def merge(self, strategy: str, squash: bool, data: st.DataObject) -> None:
        branch = self.draw_branch_to_merge_into(data)
        self.merge_ref(branch, *self.draw_ref(data), strategy, squash)

    @rule(strategy=STRATEGIES, data=st.data())
    def merge_both_ways_at_once(self, strategy: str, data: st.DataObject) -> None:
        one, other = self.draw_branch_to_merge_into(data), self.draw_branch_to_merge_into(data)
        heads = [self.model.branches[branch].head for branch in (one, other)]
        self.merge_ref(one, heads[1], heads[1], strategy, squash=False)
        self.merge_ref(other, heads[0], heads[0], strategy, squash=False)

    def merge_ref(self, branch: str, ref: str, source_id: str, strategy: str, squash: bool) -> None:
        head = self.model.branches[branch].head
        parents = self.model.parents
        found = merge_bases.find(self.engine, REPO, ref, branch, with_distance=True)
        assert (found.source_id, found.destination_id) == (source_id, head)
        assert found.base_id in best_common(parents, source_id, head)
        theirs, ours = ancestors(parents, source_id), ancestors(parents, head)
        assert found.distance == merge_bases.Distance(len(theirs - ours), len(ours - theirs), True)
        request = merges.MergeRequest("committer", strategy=strategy, squash=squash)
        self.merge_into(
            branch,
            (self.model.base_of_merge(source_id, head), self.model.commits[source_id]),
            strategy,
            lambda: merges.merge(self.engine, REPO, ref, branch, request),
            kind="merge",
        )
        now = self.model.commits[self.model.branches[branch].head]
        if now.id != head:
            assert now.parents == ((head,) if squash else (head, source_id))

    @rule(pick=st.booleans(), number=st.integers(0, 2), data=st.data())
    def revert_or_cherry_pick(self, pick: bool, number: int, data: st.DataObject) -> None:
        branch = self.draw_branch_to_merge_into(data)
        ref, commit_id = self.draw_ref(data)
        commit = self.model.commits[commit_id]

        def do() -> Commit:
            if pick:
                picking = replays.CherryPickRequest(ref, "committer", parent_number=number or None)
                return replays.cherry_pick(self.engine, REPO, branch, picking)
            reverting = replays.RevertRequest(ref, "committer", parent_number=number)
            return replays.revert(self.engine, REPO, branch, reverting)

        if len(commit.parents) > 1 and not number:
            self.attempt(InvalidInputError if pick else ConflictError, do)
        elif (number or 1) > len(commit.parents):
            self.attempt(InvalidInputError, do)
        else:
            parent = self.model.commits[commit.parents[(number or 1) - 1]]
            base, source = (parent, commit) if pick else (commit, parent)
            sides = (self.model.base_at(base), source)
            self.merge_into(branch, sides, "", do, kind="cherry-pick" if pick else "revert")

    # Refs

    @rule(branch=branch_names, data=st.data())
    def create_branch(self, branch: str, data: st.DataObject) -> None:
        ref, commit_id = self.draw_ref(data)
        made = self.attempt(
            AlreadyExistsError if branch in self.model.branches else None,
            lambda: branches.create(self.engine, REPO, name=branch, source=ref),
        )
        if made is not None:
            self.model.branches[branch] = ModelBranch(commit_id)

    @rule(data=st.data())
    def delete_branch(self, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        is_default = branch == "main"
        self.attempt(
            ForbiddenError if is_default else None,
            lambda: branches.delete(self.engine, REPO, branch),
        )
        if not is_default:
            del self.model.branches[branch]
            self.attempt(NotFoundError, lambda: branches.delete(self.engine, REPO, branch))

    @rule(tag=tag_names, data=st.data())
    def create_or_delete_tag(self, tag: str, data: st.DataObject) -> None:
        ref, commit_id = self.draw_ref(data)
        if tag not in self.model.tags:
            tags.create(self.engine, REPO, name=tag, ref=ref)
            self.model.tags[tag] = commit_id
        else:
            self.attempt(
                AlreadyExistsError, lambda: tags.create(self.engine, REPO, name=tag, ref=ref)
            )
            tags.delete(self.engine, REPO, tag)
            del self.model.tags[tag]

    @rule(path=PREFIXES, kind=st.sampled_from(branches.RESET_KINDS), data=st.data())
    def reset(self, path: bytes, kind: str, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        malformed = kind == "object" and not path
        self.attempt(
            InvalidInputError if malformed else None,
            lambda: branches.reset(self.engine, REPO, branch, kind=kind, path=path),
        )
        if kind == "reset":
            self.model.branches[branch].clear()
        elif not malformed:
            self.model.reset(branch, path, whole=kind == "object")

    @rule(data=st.data())
    def hard_reset(self, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        ref, commit_id = self.draw_ref(data)
        is_void = self.model.sealed_is_void(branch)
        self.attempt(
            None if is_void else InvalidInputError,
            lambda: branches.hard_reset(self.engine, REPO, branch, ref=ref),
        )
        if is_void:
            self.model.branches[branch].hard_reset(commit_id)

    @rule(path=PATHS, data=st.data())
    def protect_a_branch_for_a_moment(self, path: bytes, data: st.DataObject) -> None:
        branch = self.draw_branch(data)
        ref, _ = self.draw_ref(data)
        name, undone = (self.engine, REPO, branch), replays.RevertRequest(ref, "committer", 1)
        repositories.set_protection_rules(self.engine, REPO, [ProtectionRule(branch)])
        for change in (
            lambda: writes.delete(*name, path),
            lambda: commits.commit(*name, commits.CommitRequest("m", "c", allow_empty=True)),
            lambda: branches.reset(*name, kind="reset"),
            lambda: branches.hard_reset(*name, ref=ref),
            lambda: replays.revert(*name, undone),
            lambda: replays.cherry_pick(*name, replays.CherryPickRequest(ref, "c", 1)),
            lambda: branches.delete(*name),
        ):
            self.attempt(ForbiddenError, change)
        repositories.set_protection_rules(self.engine, REPO, ())

    @rule()
    def drop_what_no_reader_needs(self) -> None:
        self.world.clock.tick(TOKEN_RETENTION_S)
        for token in self.world.refs.due(self.world.clock.now_ns()):
            self.world.staging.drop(token)

    def teardown(self) -> None:
        """Every commit reads back as it was made, in a process that knows nothing yet."""
        engine = self.world.engine()
        for commit_id, content in self.model.contents.items():
            assert same_records(self.read(engine, commit_id), content)
            assert commits.get(engine, REPO, commit_id) == self.model.commits[commit_id]


TestEngine = EngineMachine.TestCase
TestEngine.settings = settings(
    max_examples=max(settings().max_examples // 2, 1), stateful_step_count=40
)
