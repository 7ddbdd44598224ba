"""Branches in DynamoDB: sealing, and the finishing transaction."""

from collections.abc import Sequence

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from graveler.aws import deadlines
from graveler.aws.dynamodb.commits import commit_item
from graveler.aws.dynamodb.models import (
    BRANCH,
    COMMIT,
    TAG,
    BranchItem,
    CleanupItem,
    CommitItem,
    partition_of,
)
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.pulls import pull_replacement
from graveler.aws.dynamodb.records import RefsRecords, cleanup_item, cleanup_partition
from graveler.aws.dynamodb.staged_items import StagedItem, restored_item
from graveler.aws.dynamodb.stored_tokens import token_of, token_value, tokens_of, tokens_value
from graveler.aws.dynamodb.tables import Raw, Tables, key
from graveler.aws.dynamodb.tasks import task_creation, task_key, task_of, task_replacement
from graveler.aws.errors import ConditionFailedError
from graveler.errors import (
    AlreadyExistsError,
    StaleTaskError,
    StaleVersionError,
    UnknownOutcomeError,
)
from graveler.messages import Refusal
from graveler.model import (
    NO_TOKEN,
    Branch,
    Change,
    Commit,
    CommitID,
    Event,
    Page,
    Repository,
    StagingToken,
)
from graveler.model.pulls import PullRequestMerge
from graveler.model.tasks import Task, TaskEnd, TaskStart

# An update expression has at most 4 KB; removing one list element takes about ten bytes of it.
_REMOVALS_MAX = 300


def branch_item(repository: Repository, branch: Branch) -> BranchItem:
    """Return the item that stores the branch."""
    return BranchItem(
        partition_of(repository),
        BRANCH + branch.name,
        commit_id=branch.commit_id,
        staging_token=branch.staging_token,
        sealed_tokens=list(reversed(branch.sealed_tokens)),
        version=branch.version,
        hidden=branch.hidden,
        edits=branch.edits,
        clean_moves=branch.clean_moves,
        restored_token=branch.restored_token,
        uid=branch.uid or None,
    )


def branch_of(raw: Raw) -> Branch:
    """Return the branch that the raw item stores."""
    # Not through the model. Every request reads a branch, and PynamoDB would take a tenth of the
    # request's processor time.
    return Branch(
        name=raw["sort"]["S"].removeprefix(BRANCH),
        commit_id=CommitID(raw["commit_id"]["S"]),
        staging_token=token_of(raw["staging_token"]),
        sealed_tokens=tuple(reversed(tokens_of(raw["sealed_tokens"]))),
        version=int(raw["version"]["N"]),
        hidden=raw["hidden"]["BOOL"],
        edits=int(raw["edits"]["N"]) if "edits" in raw else 0,
        clean_moves=int(raw["clean_moves"]["N"]) if "clean_moves" in raw else 0,
        restored_token=token_of(raw["restored_token"]) if "restored_token" in raw else NO_TOKEN,
        uid=raw["uid"]["S"] if "uid" in raw else "",
    )


def branch_key(repository: Repository, name: str) -> Raw:
    """Return the key of a branch's item."""
    return key(partition_of(repository), BRANCH + name)


def subject_of(repository: Repository, branch: str) -> str:
    """Return the subject of coalesced reads of the branch and of its items."""
    return f"{partition_of(repository)}/{branch}"


def has_staging_token(token: StagingToken) -> Condition:
    """Return the condition that the branch still has the staging token."""
    same: Condition = BranchItem.staging_token == token_value(token)
    return same


def is_unchanged(branch: Branch) -> Condition:
    """Return the condition that the branch still has its head, version and staging token.

    Tokens are unique, so it does not hold for another branch of the name.
    """
    condition: Condition = (
        (BranchItem.version == branch.version)
        & (BranchItem.commit_id == branch.commit_id)
        & has_staging_token(branch.staging_token)
    )
    return condition


def branch_deletion(
    tables: Tables, repository: Repository, branch: Branch, drop_after_ns: int
) -> list[Raw]:
    """Return the writes of a transaction that deletes the branch if it is unchanged."""
    delete = tables.delete(branch_key(repository, branch.name), is_unchanged(branch))
    cleanup = tables.put(cleanup_item(drop_after_ns, branch.tokens))
    return [{"Delete": delete}, {"Put": cleanup}]


class BranchRecords(RefsRecords):
    """The part of RefStore that stores branches."""

    __slots__ = ()

    def branch(self, repository: Repository, name: str) -> Branch | None:
        wanted = [(self.tables.refs, branch_key(repository, name))]
        (raw,) = self.tables.get_together(subject_of(repository, name), wanted)
        return None if raw is None else branch_of(raw)

    def branches(
        self, repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        def shown(raw: Raw) -> Branch | None:
            branch = branch_of(raw)
            return branch if show_hidden or not branch.hidden else None

        return self._page(partition_of(repository), BRANCH, prefix, after, amount, shown)

    def create_branch(
        self, repository: Repository, branch: Branch, event: Event, starts: TaskStart | None = None
    ) -> None:
        put = self.tables.put(branch_item(repository, branch), BranchItem.sort.does_not_exist())
        no_tag = self.tables.absent(key(partition_of(repository), TAG + branch.name))
        writes = [{"Put": put}, {"ConditionCheck": no_tag}]
        writes += task_creation(self.tables, repository, starts)
        if not self._transact(writes, outbox_item(repository, event)):
            raise AlreadyExistsError(f"a branch or tag {branch.name!r} already exists")

    def restore_branches(self, repository: Repository, branches: Sequence[Branch]) -> None:
        self._restore_absent(repository, [branch_item(repository, branch) for branch in branches])

    def seal_token(self, repository: Repository, branch: Branch, new_token: StagingToken) -> Branch:
        request = self.tables.update(
            branch_key(repository, branch.name),
            [
                BranchItem.staging_token.set(token_value(new_token)),
                BranchItem.sealed_tokens.set(
                    BranchItem.sealed_tokens.append(tokens_value([branch.staging_token]))
                ),
            ],
            has_staging_token(branch.staging_token),
        )
        request["ReturnValues"] = "ALL_NEW"
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        try:
            with deadlines.unseen():
                sealed = self.tables.dynamodb.call("UpdateItem", request)
            return branch_of(sealed["Attributes"])
        except ConditionFailedError as error:
            if error.item is None:
                raise Refusal.BRANCH_NOT_FOUND.error(repr(branch.name)) from error
            current = branch_of(error.item)
            if new_token not in current.tokens:
                raise StaleVersionError(
                    f"branch {branch.name} was sealed by another writer"
                ) from error
            return current  # an earlier attempt of this call sealed the branch
        except UnknownOutcomeError:
            after = self.branch(repository, branch.name)
            if after is None or new_token not in after.tokens:
                raise
            return after

    def bump_version(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        is_sealed = BranchItem.sealed_tokens.contains(token_value(token))
        return self._raised(
            repository, name, BranchItem.version.add(1), is_sealed | has_staging_token(token)
        )

    def count_edit(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        return self._raised(repository, name, BranchItem.edits.add(1), has_staging_token(token))

    def _raised(
        self, repository: Repository, name: str, action: Action, condition: Condition
    ) -> Branch | None:
        """Change the branch, and return it as it is then; None if the condition does not hold."""
        request = self.tables.update(branch_key(repository, name), [action], condition)
        try:
            with deadlines.unseen():
                answer = self.tables.dynamodb.call(
                    "UpdateItem", {**request, "ReturnValues": "ALL_NEW"}
                )
        except ConditionFailedError:
            return None
        return branch_of(answer["Attributes"])

    def offer_token(self, token: StagingToken, drop_after_ns: int) -> str:
        offer = cleanup_item(drop_after_ns, [token], is_offer=True)
        with deadlines.unseen():
            # In a transaction, a repeated request has no second effect. A late PutItem would offer
            # a token that a branch has taken, and the cleanup would drop the token.
            self.tables.transact([{"Put": self.tables.put(offer)}])
        return offer.sort

    def replace_sealed(
        self,
        repository: Repository,
        old: Branch,
        *,
        replaced: Sequence[StagingToken],
        token: StagingToken,
        offer: str,
        drop_after_ns: int,
    ) -> None:
        # Concurrent seals append to the stored list, so the positions stay.
        stored, sealed = old.sealed_tokens[::-1], BranchItem.sealed_tokens
        first, last = stored.index(replaced[-1]), stored.index(replaced[0])
        assert stored[first : last + 1] == tuple(reversed(replaced))
        actions = [sealed[first].set(token_value(token)), BranchItem.version.add(1)]
        actions += [sealed[position].remove() for position in range(first + 1, last + 1)]
        condition = (BranchItem.version == old.version) & (sealed[last] == token_value(replaced[0]))
        update = self.tables.update(branch_key(repository, old.name), actions, condition)
        taken = self.tables.delete(
            key(cleanup_partition(offer), offer), CleanupItem.is_offer.exists()
        )
        with deadlines.unseen():
            is_done = self._transact(
                [{"Update": update}, {"Delete": taken}], cleanup_item(drop_after_ns, replaced)
            )
        if not is_done:
            raise StaleVersionError(f"branch {old.name} changed, or a compaction was too slow")

    def move_branch(
        self,
        repository: Repository,
        old: Branch,
        *,
        commit: Commit | None,
        commit_id: CommitID,
        applied_tokens: Sequence[StagingToken],
        new_staging_token: StagingToken | None,
        event: Event | None,
        drop_after_ns: int,
        restored: Sequence[Change] = (),
        is_clean: bool = False,
        ends: TaskEnd | None = None,
        merges: PullRequestMerge | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        actions, condition = _move(old, commit_id, applied_tokens, new_staging_token)
        if is_clean:
            actions.append(BranchItem.clean_moves.add(1))
            condition &= _is_unedited(old)
        if restored:
            condition &= has_staging_token(old.staging_token)
        update = self.tables.update(branch_key(repository, old.name), actions, condition)
        dropped = [*applied_tokens, *([] if new_staging_token is None else [old.staging_token])]
        cleanup = cleanup_item(drop_after_ns, dropped)
        writes: list[Raw] = [{"Update": update}]
        # Fails if a writer staged the path after the restore.
        is_restored = StagedItem.restored.exists()
        writes += [
            {"Put": self.tables.put(restored_item(old, *each), is_restored)} for each in restored
        ]
        if commit is not None:
            # Commits of one ID are equal, except for the generation, which is not hashed.
            is_new = CommitItem.sort.does_not_exist()
            is_same = CommitItem.generation == commit.generation
            writes.append(
                {"Put": self.tables.put(commit_item(repository, commit), is_new | is_same)}
            )
        if ends is not None:
            replaced = task_replacement(self.tables, repository, ends.old, ends.new)
            ended = self.tables.put(outbox_item(repository, ends.event))
            writes += [{"Put": replaced}, {"Put": ended}]
        if merges is not None:
            replaced = pull_replacement(self.tables, repository, merges.old, merges.new)
            merged = self.tables.put(outbox_item(repository, merges.event))
            writes += [{"Put": replaced}, {"Put": merged}]
        writes += task_creation(self.tables, repository, starts)
        if event is None:
            is_done = self._transact(writes, cleanup)
        else:
            if dropped:
                writes.append({"Put": self.tables.put(cleanup)})
            is_done = self._transact(writes, outbox_item(repository, event))
        if is_done:
            return
        if self.branch(repository, old.name) is None:
            raise Refusal.BRANCH_NOT_FOUND.error(repr(old.name))
        if commit is not None:
            self._require_no_other(repository, commit)
        if ends is not None:
            self._require_unchanged(repository, ends.old)
        raise StaleVersionError(f"branch {old.name} changed since it was read")

    def _require_unchanged(self, repository: Repository, task: Task) -> None:
        stored = self.tables.get(partition_of(repository), task_key(task.id))
        if stored is None or task_of(stored).version != task.version:
            raise StaleTaskError(f"task {task.id} changed since it was read")

    def _require_no_other(self, repository: Repository, commit: Commit) -> None:
        stored = self.tables.get(partition_of(repository), COMMIT + commit.id)
        if stored is not None and int(stored["generation"]["N"]) != commit.generation:
            raise AlreadyExistsError(
                f"commit {commit.id} exists with another generation: retry a second later"
            )


def _is_unedited(branch: Branch) -> Condition:
    """Return the condition that the branch has no newer conditional change (`stage_if`)."""
    same: Condition = BranchItem.edits == branch.edits
    # Branches stored by older versions have no count.
    return same if branch.edits else same | BranchItem.edits.does_not_exist()


def _move(
    old: Branch,
    commit_id: CommitID,
    applied_tokens: Sequence[StagingToken],
    new_staging_token: StagingToken | None,
) -> tuple[list[Action], Condition]:
    """Return the update that moves a branch, and its condition.

    A concurrent seal does no harm: it appends to the list, and the move removes from its front. A
    branch that was deleted and created again may have the same version and head, so the condition
    compares the identity. Branches of earlier versions have no identity, so the newest applied
    token must also be at its old position.
    """
    count = len(applied_tokens)
    kept = len(old.sealed_tokens) - count
    assert tuple(applied_tokens) == old.sealed_tokens[kept:]
    sealed = BranchItem.sealed_tokens
    actions: list[Action] = [BranchItem.commit_id.set(commit_id), BranchItem.version.add(1)]
    condition = (BranchItem.version == old.version) & (BranchItem.commit_id == old.commit_id)
    condition &= BranchItem.uid == old.uid if old.uid else BranchItem.uid.does_not_exist()
    if new_staging_token is not None:
        actions.append(BranchItem.staging_token.set(token_value(new_staging_token)))
    if new_staging_token is not None or count > _REMOVALS_MAX:
        condition &= has_staging_token(old.staging_token)
    if count > _REMOVALS_MAX:
        actions.append(sealed.set(tokens_value(old.sealed_tokens[:kept][::-1])))
    elif count:
        condition &= sealed[count - 1] == token_value(applied_tokens[0])
        actions += [sealed[position].remove() for position in range(count)]
    return actions, condition
