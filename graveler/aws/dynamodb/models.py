"""The items of the refs table as PynamoDB models (docs/formats/dynamodb.md).

The models define attributes, conditions and update actions. They hold no connection: `tables` sends
the requests, so one process may use several deployments.

A partition holds the records of one owner, and a sort key begins with the record's kind. Strings
sort by their UTF-8 bytes. `staged_items` has the staging table.
"""

from typing import Any

from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.models import Model

from graveler.aws.dynamodb.stored_tokens import token_value, tokens_value
from graveler.model import Repository, RepositoryUID

REPOSITORIES = "repositories"
ENDING = "ending-repositories"
ACCOUNTS = "accounts"
LOGIN_FAILURES = "login-failures"
AUDIT = "audit#"  # followed by the month, as 2026-11
CLEANUPS = "cleanups"
# The partitions of the register, by the last digit of an item's name. Earlier versions had one.
CLEANUP_PARTITIONS = (CLEANUPS, *(f"{CLEANUPS}#{digit:x}" for digit in range(16)))
EXPORTS = "exports"
HEARTBEATS = "heartbeats"

BRANCH = "branch#"
TAG = "tag#"
COMMIT = "commit#"
OUTBOX = "outbox#"
EXPORT = "export#"
TASK = "task#"
JOINABLE = "joinable#"
PLACES = "places#"
PULL = "pull#"
PULL_COMMENT = "pull-comment#"
CLAIM = "claim#"
HOOK_RUN = "hook-run#"
HOOK_RUN_OF_BRANCH = "hook-run-of-branch#"
HOOK_RUN_OF_COMMIT = "hook-run-of-commit#"
LEASE = "lease#"
UPLOAD = "upload#"
METADATA = "metadata"

STREAM_BEAT = "stream"
# Followed by the series: graveler/retention/runs.py.
COLLECTION = "collection#"

INSTALLATION = "installation"
FIRST_ADMINISTRATOR = "first-administrator"
USER = "user#"
CREDENTIAL = "credential#"
GROUP = "group#"
POLICY = "policy#"
PRINCIPAL = "principal#"
# Followed by the uid of the user or the group, and a slash.
MEMBER_OF = "member#"
KEY_OF = "key-of#"
PRINCIPAL_OF = "principal-of#"
# Followed by the uid of the user or the group that is being deleted.
ENDING_USER = "ending#user#"
ENDING_GROUP = "ending#group#"

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
    # Only bare repositories have it: "", or the dump that is being restored.
    restoring = UnicodeAttribute(null=True)


class TokensItem(RefsItem):
    """An item that names staging tokens, whose values are of two types (`stored_tokens`)."""

    def serialize(self, null_check: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - PynamoDB's
        raw = super().serialize(null_check)
        if "staging_token" in raw:
            raw["staging_token"] = token_value(raw["staging_token"]["S"])
        for name in ("sealed_tokens", "tokens"):
            if name in raw:
                raw[name] = tokens_value(getattr(self, name))
        return raw


class BranchItem(TokensItem):
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
    clean_moves = NumberAttribute(default=0)
    # Text, whatever its spread: it outlives its token. It matters only if it is staging_token.
    restored_token = UnicodeAttribute(default="")
    uid = UnicodeAttribute(null=True)  # missing in branches of earlier versions


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
    """`exports` / `<partition of the repository>#<branch>`: the export's paths, as JSON."""

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


class PlacesItem(RefsItem):
    """Partition of the repository / `places#<kind of work>`; the places are JSON."""

    places = UnicodeAttribute()
    version = NumberAttribute()
    write = UnicodeAttribute()  # unique for each write
    expires_at = NumberAttribute()  # Unix seconds


class PullRequestItem(RefsItem):
    """Partition of the repository / `pull#<id>`; the pull request is JSON."""

    pull = UnicodeAttribute()
    version = NumberAttribute()


class PullRequestCommentItem(RefsItem):
    """Partition of the repository / `pull-comment#<id of the pull request>#<id>`, as JSON."""

    comment = UnicodeAttribute()


class ClaimItem(RefsItem):
    """Partition of the repository / `claim#<uuid>`: addresses, as a JSON array."""

    addresses = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class HookRunItem(RefsItem):
    """Partition of the repository / `hook-run#<id>`; the run is JSON."""

    run = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class ListedHookRunItem(RefsItem):
    """Partition of the repository / `hook-run-of-branch#<branch>#<id>`, or `…-of-commit#…`."""

    run_id = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class UploadItem(RefsItem):
    """Partition of the repository / `upload#<key><end><id>`; the upload is JSON.

    parts is the digest of the parts that completed it; an open upload has none.
    """

    upload = UnicodeAttribute()
    parts = UnicodeAttribute(null=True)
    expires_at = NumberAttribute()  # Unix seconds


class LeaseItem(RefsItem):
    """Partition of the repository / `lease#<kind of job>`: its holder, and its end."""

    holder = UnicodeAttribute()
    until_ns = NumberAttribute()


class CleanupItem(TokensItem):
    """`cleanups#<digit>` / `<due time in ns, 20 digits>#<uuid>`: tokens or a repository to drop.

    digit: the last one of the uuid.
    is_offer: a branch may still take the token, which deletes the item.
    """

    tokens: ListAttribute[Any] = ListAttribute(of=UnicodeAttribute, null=True)
    repository = UnicodeAttribute(null=True)
    is_offer = BooleanAttribute(null=True)


class BeatItem(RefsItem):
    """`heartbeats` / `stream`, or `collection#<series>`: the time of the last sign of life."""

    at_ns = NumberAttribute()


class InstallationItem(RefsItem):
    """`accounts` / `installation`; the key is encrypted."""

    id = UnicodeAttribute()
    signing_key = BinaryAttribute(legacy_encoding=False)


class FirstAdministratorItem(RefsItem):
    """`accounts` / `first-administrator`: the set-up is done; access_key_id was the first key.

    access is the unique name of the write that stored the standard groups and policies.
    """

    access_key_id = UnicodeAttribute()
    access = UnicodeAttribute(null=True)


class HolderItem(RefsItem):
    """A user or a group: both have attached policies, as `<uid of policy>/<name>`."""

    creation_date = NumberAttribute()
    uid = UnicodeAttribute(null=True)  # missing in users that are older than groups
    policies = UnicodeSetAttribute(null=True)


class UserItem(HolderItem):
    """`accounts` / `user#<name>`; groups are `<uid of group>/<name>`."""

    groups = UnicodeSetAttribute(null=True)
    sessions_from = NumberAttribute(null=True)


class GroupItem(HolderItem):
    """`accounts` / `group#<name>`."""

    description = UnicodeAttribute()


class MemberItem(RefsItem):
    """`accounts` / `member#<uid of group>/<name of user>`; uid is the user's."""

    uid = UnicodeAttribute()


class PolicyItem(RefsItem):
    """`accounts` / `policy#<name>`; the statements are JSON."""

    creation_date = NumberAttribute()
    uid = UnicodeAttribute()
    statements = UnicodeAttribute()


class CredentialItem(RefsItem):
    """`accounts` / `credential#<access key ID>`; the secret is encrypted, uid is the user's.

    installation is the ID of the installation whose key made the digest. Key pairs that are older
    than groups have neither uid, nor digest, nor installation.
    """

    user = UnicodeAttribute()
    uid = UnicodeAttribute(null=True)
    secret = BinaryAttribute(legacy_encoding=False)
    digest = BinaryAttribute(legacy_encoding=False, null=True)
    installation = UnicodeAttribute(null=True)
    creation_date = NumberAttribute()


class KeyOfItem(RefsItem):
    """`accounts` / `key-of#<uid of user>/<access key ID>`."""

    creation_date = NumberAttribute()


class PrincipalItem(RefsItem):
    """`accounts` / `principal#<ID>`; uid is the user's, attachment the record's own."""

    user = UnicodeAttribute()
    uid = UnicodeAttribute()
    attachment = UnicodeAttribute(null=True)  # absent in records of earlier versions


class PrincipalOfItem(RefsItem):
    """`accounts` / `principal-of#<uid of user>/<ID>`."""


class EndingUserItem(RefsItem):
    """`accounts` / `ending#user#<uid>`: a deleted user, whose records are being deleted."""

    name = UnicodeAttribute()
    groups = UnicodeSetAttribute(null=True)


class EndingGroupItem(RefsItem):
    """`accounts` / `ending#group#<uid>`: a deleted group, whose members are being removed."""

    name = UnicodeAttribute()


class LoginFailuresItem(RefsItem):
    """`login-failures` / `<name of the counter>`: failed log-ins of a key or an address."""

    failures = NumberAttribute()
    expires_at = NumberAttribute()  # Unix seconds


class AuditItem(RefsItem):
    """`audit#<month>` / `<xid>`: a request that changes access or settings, or a log-in."""

    record = UnicodeAttribute()
    expires_at = NumberAttribute()  # Unix seconds
