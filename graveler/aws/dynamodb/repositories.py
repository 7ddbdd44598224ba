"""Repositories in DynamoDB."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from graveler.aws.dynamodb.branches import branch_item, branch_key, branch_of, is_unchanged
from graveler.aws.dynamodb.commits import commit_item
from graveler.aws.dynamodb.models import (
    BRANCH,
    ENDING,
    METADATA,
    REPOSITORIES,
    TAG,
    MetadataItem,
    RepositoryItem,
    partition_of,
)
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords, cleanup_item
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import (
    AlreadyExistsError,
    ContentionError,
    StaleVersionError,
    UnknownOutcomeError,
)
from graveler.limits import TOKEN_RETENTION_S
from graveler.messages import Refusal
from graveler.model import Branch, Commit, Event, Page, ProtectionRule, Repository, RepositoryUID
from graveler.times import NS_PER_S

# A token has at most some 1,100 bytes, an item 400 KB.
_TOKENS_IN_ITEM_MAX = 300
# A transaction has at most 100 writes, and one of them registers the tokens.
_BRANCHES_AT_ONCE = 99

_RULES = msgspec.json.Decoder(tuple[ProtectionRule, ...])


def _repository_item(repository: Repository, partition: str = REPOSITORIES) -> RepositoryItem:
    return RepositoryItem(
        partition,
        repository.name,
        uid=repository.uid,
        storage_namespace=repository.storage_namespace,
        default_branch=repository.default_branch,
        creation_date=repository.creation_date,
        read_only=repository.read_only,
        protection_rules=msgspec.json.encode(repository.protection_rules).decode(),
        restoring=repository.restoring,
    )


def repository_of(raw: Raw) -> Repository:
    """Return the repository that the raw item stores."""
    # Not through the model, as in branch_of: every write reads a repository.
    return Repository(
        name=raw["sort"]["S"],
        uid=RepositoryUID(raw["uid"]["S"]),
        storage_namespace=raw["storage_namespace"]["S"],
        default_branch=raw["default_branch"]["S"],
        creation_date=int(raw["creation_date"]["N"]),
        read_only=raw["read_only"]["BOOL"],
        protection_rules=_RULES.decode(raw["protection_rules"]["S"]),
        restoring=raw["restoring"].get("S") if "restoring" in raw else None,
    )


def repository_key(name: str) -> Raw:
    """Return the key of a repository's item."""
    return key(REPOSITORIES, name)


class RepositoryRecords(RefsRecords):
    """The part of RefStore that stores repositories."""

    __slots__ = ()

    def repository(self, name: str) -> Repository | None:
        raw = self.tables.get(REPOSITORIES, name)
        return None if raw is None else repository_of(raw)

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Repository]:
        return self._page(REPOSITORIES, "", prefix, after, amount, repository_of)

    def create_repository(
        self, repository: Repository, branch: Branch | None, commit: Commit | None, event: Event
    ) -> None:
        put = self.tables.put
        is_new = RepositoryItem.sort.does_not_exist()
        metadata = MetadataItem(partition_of(repository), METADATA, metadata={})
        writes = [
            {"Put": put(_repository_item(repository), is_new)},
            {"Put": put(metadata)},
            {"ConditionCheck": self.tables.absent(key(ENDING, repository.name))},
        ]
        if branch is not None:
            writes.append({"Put": put(branch_item(repository, branch))})
        if commit is not None:
            writes.append({"Put": put(commit_item(repository, commit))})
        for _ in self.tables.dynamodb.retries.attempts():
            if self._transact(writes, outbox_item(repository, event)):
                return
            if self.repository(repository.name) is not None:
                raise AlreadyExistsError(f"repository {repository.name} already exists")
            ending = self.tables.get(ENDING, repository.name)
            if ending is not None:  # else its deletion has just ended
                self._end(repository_of(ending), event)
        raise ContentionError(
            f"too many concurrent creations and deletions of repository {repository.name}: retry"
        )

    def update_repository(
        self, old: Repository, new: Repository, event: Event | None = None
    ) -> None:
        raw = self.tables.get(REPOSITORIES, old.name)
        current = None if raw is None else repository_of(raw)
        if current == new and event is None:
            return
        if raw is None or current != old:
            raise StaleVersionError(f"repository {old.name} changed since it was read")
        stored = RepositoryItem.from_raw_data(dict(raw))
        # Compare the rules as stored: another version of the code may have encoded them.
        unchanged = (
            (RepositoryItem.uid == stored.uid)
            & (RepositoryItem.storage_namespace == stored.storage_namespace)
            & (RepositoryItem.default_branch == stored.default_branch)
            & (RepositoryItem.read_only == stored.read_only)
            & (RepositoryItem.protection_rules == stored.protection_rules)
        )
        if stored.restoring is None:
            unchanged &= RepositoryItem.restoring.does_not_exist()
        else:
            unchanged &= RepositoryItem.restoring == stored.restoring
        put = self.tables.put(_repository_item(new), unchanged)
        if event is not None:
            if not self._transact([{"Put": put}], outbox_item(new, event)):
                raise StaleVersionError(f"repository {old.name} changed since it was read")
            return
        try:
            self.tables.dynamodb.call("PutItem", put)
        except (ConditionFailedError, UnknownOutcomeError) as error:
            if self.repository(old.name) == new:
                return  # an earlier attempt stored it
            if isinstance(error, UnknownOutcomeError):
                raise
            raise StaleVersionError(f"repository {old.name} changed since it was read") from error

    def delete_repository(self, repository: Repository, event: Event) -> None:
        due_ns = event.time_ns + TOKEN_RETENTION_S * NS_PER_S
        cleanup = cleanup_item(due_ns, repository=partition_of(repository))
        is_this_one = RepositoryItem.uid == repository.uid
        writes = [
            {"Delete": self.tables.delete(key(REPOSITORIES, repository.name), is_this_one)},
            {"Put": self.tables.put(_repository_item(repository, ENDING))},
            {"Put": self.tables.put(cleanup)},
        ]
        if not self._transact(writes, outbox_item(repository, event)):
            raise Refusal.REPOSITORY_NOT_FOUND.error(repr(repository.name))
        self._end(repository, event)

    def _end(self, repository: Repository, event: Event) -> None:
        """Delete the branches and tags of a repository that is being deleted, then free its name.

        A creation of the same name does this as well, because the deletion may have stopped half
        way. Otherwise, a process that remembers the old repository could still read it after the
        name belongs to a new one.
        """
        self._drop_names(repository, event.time_ns + TOKEN_RETENTION_S * NS_PER_S)
        is_this_one = RepositoryItem.uid == repository.uid
        delete = self.tables.delete(key(ENDING, repository.name), is_this_one)
        with suppress(ConditionFailedError):  # another process ended it
            self.tables.dynamodb.call("DeleteItem", delete)

    def _drop_names(self, repository: Repository, due_ns: int) -> None:
        """Delete branches and tags, so processes that remember the repository do not find them.

        Readers that hold a branch can finish: its tokens are only registered to be dropped.
        """
        partition = partition_of(repository)
        for raws in self.tables.pages(self.tables.query(partition, BRANCH)):
            for branches in _groups([branch_of(raw) for raw in raws]):
                if not self._drop_branches(repository, branches, due_ns):
                    for branch in branches:
                        self._drop_branch(repository, branch.name, due_ns)
        for raws in self.tables.pages(self.tables.query(partition, TAG)):
            keys = [key(partition, raw["sort"]["S"]) for raw in raws]
            self.tables.write_batch(
                self.tables.refs, [{"DeleteRequest": {"Key": each}} for each in keys]
            )

    def _drop_branches(
        self, repository: Repository, branches: Sequence[Branch], due_ns: int
    ) -> bool:
        """Delete the branches and register their tokens, all or nothing; False if one changed.

        A concurrent seal or compaction would add a token that is not registered, and its entries
        would stay for ever. So conditions compare the staging token and the version.
        """
        writes = [
            {
                "Delete": self.tables.delete(
                    branch_key(repository, branch.name),
                    is_unchanged(branch),
                )
            }
            for branch in branches
        ]
        tokens = [token for branch in branches for token in branch.tokens]
        return self._transact(writes, cleanup_item(due_ns, tokens))

    def _drop_branch(self, repository: Repository, name: str, due_ns: int) -> None:
        for _ in self.tables.dynamodb.retries.attempts():
            raw = self.tables.get(partition_of(repository), BRANCH + name)
            if raw is None or self._drop_branches(repository, [branch_of(raw)], due_ns):
                return

    def repository_metadata(self, repository: Repository) -> Mapping[str, str]:
        raw = self.tables.get(partition_of(repository), METADATA)
        return {} if raw is None else _metadata_of(raw)

    def update_repository_metadata(
        self, repository: Repository, put: Mapping[str, str], remove: Sequence[str]
    ) -> None:
        # One update expression would do, but it holds about 250 keys at most.
        for _ in self.tables.dynamodb.retries.attempts():
            raw = self.tables.get(partition_of(repository), METADATA)
            if raw is None:
                raise Refusal.REPOSITORY_NOT_FOUND.error(repr(repository.name))
            old = _metadata_of(raw)
            new = {name: value for name, value in old.items() if name not in remove} | dict(put)
            item = MetadataItem(partition_of(repository), METADATA, metadata=new)
            unchanged = MetadataItem.metadata == old
            try:
                # In a transaction, a repeated request has no second effect.
                self.tables.transact([{"Put": self.tables.put(item, unchanged)}])
            except TransactionCancelledError:
                continue
            except UnknownOutcomeError:
                if self.repository_metadata(repository) != new:
                    raise
            return
        raise ContentionError(
            f"too many concurrent updates of the metadata of repository {repository.name}: retry"
        )


def _groups(branches: Sequence[Branch]) -> Iterator[list[Branch]]:
    """Yield the branches in groups that one transaction can delete."""
    group: list[Branch] = []
    tokens = 0
    for branch in branches:
        tokens += len(branch.tokens)
        if group and (tokens > _TOKENS_IN_ITEM_MAX or len(group) == _BRANCHES_AT_ONCE):
            yield group
            group, tokens = [], len(branch.tokens)
        group.append(branch)
    if group:
        yield group


def _metadata_of(raw: Raw) -> dict[str, str]:
    return {name: value["S"] for name, value in raw["metadata"]["M"].items()}
