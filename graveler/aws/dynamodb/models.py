"""The items of the two tables as PynamoDB models (docs/formats/dynamodb.md).

The models give items their attributes, conditions and update actions. They hold no connection:
`tables` sends the requests, so one process may use several deployments.

Refs table: a partition holds the records of one owner, and a sort key begins with the record's
kind. Strings sort by their UTF-8 bytes.
"""

from typing import Any

from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
)
from pynamodb.models import Model

from graveler.model import Repository, RepositoryUID

REPOSITORIES = "repositories"
ENDING = "ending-repositories"
ACCOUNTS = "accounts"
CLEANUPS = "cleanups"
EXPORTS = "exports"

BRANCH = "branch#"
TAG = "tag#"
COMMIT = "commit#"
OUTBOX = "outbox#"
EXPORT = "export#"
TASK = "task#"
JOINABLE = "joinable#"
HOOK_RUN = "hook-run#"
HOOK_RUN_OF_BRANCH = "hook-run-of-branch#"
HOOK_RUN_OF_COMMIT = "hook-run-of-commit#"
LEASE = "lease#"
METADATA = "metadata"

INSTALLATION = "installation"
FIRST_ADMINISTRATOR = "first-administrator"
USER = "user#"
CREDENTIAL = "credential#"

COMMITS_BY_GENERATION = "commits-by-generation"


def partition_of(repository: Repository) -> str:
    """Return the partition of all records of a repository, except the item of its name."""
    return partition_named(repository.name, repository.uid)


def partition_named(repository: str, uid: RepositoryUID) -> str:
    """Return the partition of a repository that may have been deleted."""
    return f"repository#{repository}#{uid}"


class RefsItem(Model):
    """An item of the refs table."""

    partition = UnicodeAttribute(hash_key=True)
    sort = UnicodeAttribute(range_key=True)


class RepositoryItem(RefsItem):
    """`repositories` / name. Protection rules are a JSON array.

    While a repository is being deleted, its item is `ending-repositories` / name.
    """

    uid = UnicodeAttribute()
    storage_namespace = UnicodeAttribute()
    default_branch = UnicodeAttribute()
    creation_date = NumberAttribute()
    read_only = BooleanAttribute()
    protection_rules = UnicodeAttribute()
    restoring = UnicodeAttribute(null=True)  # of a bare one: "", or the dump being restored


class BranchItem(RefsItem):
    """Partition of the repository / `branch#<name>`.

    Sealed tokens are stored oldest first, unlike in the engine. Sealing appends at the end and
    finishing removes from the front, so neither disturbs the other.
    """

    commit_id = UnicodeAttribute()
    staging_token = UnicodeAttribute()
    sealed_tokens: ListAttribute[Any] = ListAttribute(of=UnicodeAttribute)
    version = NumberAttribute()
    hidden = BooleanAttribute()
    edits = NumberAttribute(default=0)
    restored_token = UnicodeAttribute(default="")


class TagItem(RefsItem):
    """Partition of the repository / `tag#<name>`."""

    commit_id = UnicodeAttribute()


class CommitItem(RefsItem):
    """Partition of the repository / `commit#<id>`; the commit is JSON.

    Only commits have a generation, so only they are in the index by generation.
    """

    generation = NumberAttribute()
    commit = UnicodeAttribute()


class MetadataItem(RefsItem):
    """Partition of the repository / `metadata`: the free-form metadata."""

    metadata: MapAttribute[str, str] = MapAttribute()  # type: ignore[no-untyped-call] # PynamoDB's


class OutboxItem(RefsItem):
    """Partition of the repository / `outbox#<event id>`; the event is JSON.

    The table's stream carries it to the bus. The item expires by its time to live.
    """

    event = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class ExportItem(RefsItem):
    """Partition of the repository / `export#<branch>`; the record is JSON.

    version and run are the record's, for conditions. write is the nonce of the write that put it.
    """

    export = UnicodeAttribute()
    version = NumberAttribute()
    run = UnicodeAttribute()  # ID of the run; "" without one
    write = UnicodeAttribute()


class ListedExportItem(RefsItem):
    """`exports` / `<partition of the repository>#<branch>`: the export's places, as JSON."""

    listed = UnicodeAttribute()


class TaskItem(RefsItem):
    """Partition of the repository / `task#<xid of the task>`; the task is JSON."""

    task = UnicodeAttribute()
    version = NumberAttribute()
    write = UnicodeAttribute()  # unique for each write
    expires_at = NumberAttribute()  # Unix seconds


class JoinableItem(RefsItem):
    """Partition of the repository / `joinable#<digest>`: the last task for such a request."""

    task_id = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class HookRunItem(RefsItem):
    """Partition of the repository / `hook-run#<id>`; the run is JSON."""

    run = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class ListedHookRunItem(RefsItem):
    """Partition of the repository / `hook-run-of-branch#<branch>#<id>`, or `…-of-commit#…`."""

    run_id = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class LeaseItem(RefsItem):
    """Partition of the repository / `lease#<kind of job>`: its holder, and its end."""

    holder = UnicodeAttribute()
    until_ns = NumberAttribute()


class CleanupItem(RefsItem):
    """`cleanups` / `<due time in ns, 20 digits>#<unique>`: tokens or a repository to drop."""

    tokens: ListAttribute[Any] = ListAttribute(of=UnicodeAttribute, null=True)
    repository = UnicodeAttribute(null=True)


class InstallationItem(RefsItem):
    """`accounts` / `installation`; the key is encrypted."""

    id = UnicodeAttribute()
    signing_key = BinaryAttribute(legacy_encoding=False)


class FirstAdministratorItem(RefsItem):
    """`accounts` / `first-administrator`: it exists, and this was its first credential."""

    access_key_id = UnicodeAttribute()


class UserItem(RefsItem):
    """`accounts` / `user#<name>`."""

    creation_date = NumberAttribute()


class CredentialItem(RefsItem):
    """`accounts` / `credential#<access key ID>`; the secret is encrypted."""

    user = UnicodeAttribute()
    secret = BinaryAttribute(legacy_encoding=False)
    creation_date = NumberAttribute()


class StagedItem(Model):
    """An item of the staging table; without a value it is a tombstone.

    write is the nonce of the conditional write that put it. restored is set if the item repeated
    the head's entry at the path when it was put.
    """

    token = UnicodeAttribute(hash_key=True)
    path = BinaryAttribute(range_key=True, legacy_encoding=False)
    value = BinaryAttribute(null=True, legacy_encoding=False)
    write = BinaryAttribute(null=True, legacy_encoding=False)
    restored = BooleanAttribute(null=True)
