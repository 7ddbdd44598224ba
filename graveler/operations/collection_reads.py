"""The reads of garbage collection: refs and staged changes of repositories.

Several repositories may have one namespace: a read-only repository can be made over the namespace
of another one. It shares the files and the rules there. An object that any of them keeps alive
stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from graveler.addresses import COLLECTED_FOLDERS
from graveler.branches.complete_listings import (
    NewEvents,
    closed_commits,
    every_branch,
    every_repository,
)
from graveler.errors import (
    ContentionError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
)
from graveler.layout import METADATA_FOLDER
from graveler.limits import TOKEN_RETENTION_S
from graveler.model import CommitID, MetaRangeID, RepositoryUID, StagingToken
from graveler.open_repository import OpenRepository
from graveler.operations.retention import (
    Heads,
    active_commit_ids,
    listed_heads,
    moved_heads,
    read_rules,
    refuse_bare,
)
from graveler.ports import ObjectStore, StagingStore
from graveler.retention.candidates import Territory, namespaces_inside
from graveler.retention.files import RULES_FILE
from graveler.retention.liveness import begin_look, live_addresses
from graveler.retention.rules import RetentionRules

# Staged entries may move from listed tokens to another one, and the listed ones are dropped after
# the retention. It may begin an hour before the move, whose process is frozen meanwhile. The clocks
# of mover and cleanup may differ by another hour.
_STAGED_S = TOKEN_RETENTION_S - 2 * 60 * 60


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The repositories with one namespace, and the other namespaces inside of what it collects."""

    sharers: tuple[OpenRepository, ...]
    foreign: tuple[str, ...]


def neighbours(repo: OpenRepository) -> Neighbours:
    """Return the repositories whose objects may be in the repository's namespace, itself included.

    Raises:
        NotFoundError: the repository was deleted; another one may have its name.
        InvalidInputError: one of them is bare, so the objects that it will need are unknown.
    """
    namespace = repo.record.storage_namespace
    repositories = list(every_repository(repo.engine))
    sharers = tuple(
        OpenRepository(repo.engine, each)
        for each in repositories
        if each.storage_namespace == namespace
    )
    for each in sharers:
        refuse_bare(each.record)
    if repo.record.uid not in {each.record.uid for each in sharers}:
        raise NotFoundError(f"repository {repo.record.name!r} was deleted")
    others = (each.storage_namespace for each in repositories)
    return Neighbours(sharers, namespaces_inside(namespace, others))


def territory(repo: OpenRepository, cutoff_ns: int, tables_cutoff_ns: int) -> Territory:
    """Return where a garbage collection of the repository may delete.

    Raises:
        NotFoundError: the repository was deleted; another one may have its name.
        InvalidInputError: a repository that has the namespace is bare.
    """
    foreign = neighbours(repo).foreign
    namespace = repo.record.storage_namespace
    for each in COLLECTED_FOLDERS:
        folder = f"{namespace}/{each}".rstrip("/")
        if folder not in foreign and holds_metadata(repo.engine.objects, f"{folder}/"):
            foreign = (*foreign, folder)
    return Territory(namespace, cutoff_ns, tables_cutoff_ns, foreign)


def holds_metadata(objects: ObjectStore, folder_uri: str) -> bool:
    """Whether the folder is the namespace of a repository, or of a deleted one."""
    return any(True for _ in objects.list_objects(folder_uri + METADATA_FOLDER))


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan for live objects in a repository's namespace.

    sharers: the repositories that it reads.
    events: of each sharer, since the scan began.
    heads: of the branches whose tokens were listed.

    Read in this order: upload_addresses, staging_tokens and their changes, active_metaranges,
    claimed_addresses. The head of `graveler_jobs/garbage_collection/run.py` has the reason.
    """

    repo: OpenRepository
    sharers: tuple[OpenRepository, ...]
    events: Mapping[RepositoryUID, NewEvents]
    heads: Mapping[RepositoryUID, Heads]


def begin_scan(repo: OpenRepository) -> Scan:
    """Return a scan that begins now.

    Raises:
        GravelerError: as neighbours.
    """
    sharers = neighbours(repo).sharers
    events = {each.record.uid: NewEvents(each) for each in sharers}
    return Scan(repo, sharers, events, {each.record.uid: set() for each in sharers})


@contextmanager
def staged_in_time(objects: ObjectStore, folder_uri: str) -> Iterator[None]:
    """Bound the time in which tokens are listed and read.

    folder_uri: the run's folder of stamps.

    Raises:
        PreconditionFailedError: a listed token may have been dropped meanwhile.
    """
    began = begin_look(objects, f"{folder_uri}staged-", 0, _STAGED_S)
    yield
    if not began.is_current(objects, "end"):
        raise PreconditionFailedError(
            f"the staged entries took longer to read than the {_STAGED_S} s for which their tokens "
            "are sure to exist: commit large branches, or use more workers"
        )


def upload_addresses(repositories: Sequence[OpenRepository]) -> list[str]:
    """Return the addresses of recorded uploads: read them before staged entries.

    S3 dates an object of many parts by the start of its upload. So it may be old enough to be
    deleted when its upload completes. A completion moves its address from the record to a staged
    entry, in one transaction. Completed uploads count as well, while their records exist.
    """
    return [
        upload.address
        for repo in repositories
        for upload in repo.engine.refs.uploads(repo.record, b"", None)
    ]


def staging_tokens(scan: Scan) -> list[StagingToken]:
    """Return the staging token and the sealed tokens of all branches, hidden ones too.

    Tokens that were taken off a branch keep nothing alive. Their changes are in the head, or can
    never be committed. For a slow reader of such a token, the data may be gone, as for a later one.
    """
    tokens: list[StagingToken] = []
    for repo in scan.sharers:
        # Branches that were created meanwhile hold no change that the scan needs.
        for branch in every_branch(repo):
            tokens += branch.tokens
            scan.heads[repo.record.uid].add((branch.name, branch.commit_id))
    return tokens


def staged_addresses(staging: StagingStore, namespace: str, token: StagingToken) -> Iterator[str]:
    """Yield the addresses that the token's values name, as `live_addresses` does."""
    values = (value for _, value in staging.scan(token, b"", None) if value is not None)
    return live_addresses(namespace, values)


def claimed_addresses(repositories: Sequence[OpenRepository]) -> list[str]:
    """Return the claimed addresses: read them after commits and rules."""
    return [
        address
        for repo in repositories
        for address in repo.engine.refs.claimed_addresses(repo.record)
    ]


def active_metaranges(scan: Scan) -> dict[CommitID, MetaRangeID]:
    """Return the IDs of the commits that keep their objects, each with its metarange's ID.

    In a repository without rules, these are all commits. They include each commit that was a head
    since the scan began.

    Raises:
        NotFoundError: the repository was deleted; another one may have its name.
        InvalidInputError: a repository is bare, or the bucket refuses to show its rules.
        CorruptDataError: the rules cannot be decoded, or a commit is missing.
        ContentionError: another repository began to share the namespace since the scan began.
    """
    listed = {each.record.uid: listed_heads(each) for each in scan.sharers}
    # Nothing of a new sharer was read, and the heads that a restore gives it have no events.
    sharers = neighbours(scan.repo).sharers
    for each in sharers:
        if each.record.uid not in listed:
            raise ContentionError(
                f"repository {each.record.name!r} began to share the namespace of "
                f"{scan.repo.record.name!r} during the run: run again"
            )
    # Not before all branches of all sharers are listed: heads move between them.
    heads = {
        each.record.uid: scan.heads[each.record.uid]
        | listed[each.record.uid]
        | moved_heads(each, scan.events[each.record.uid])
        for each in sharers
    }
    active: dict[CommitID, MetaRangeID] = {}
    for each in sharers:
        try:
            rules = _rules(each)
        except NotFoundError:
            named = {commit_id for _, commit_id in heads[each.record.uid]}
            commits = closed_commits(each, named)
            active |= {commit.id: commit.metarange_id for commit in commits}
        else:
            active |= active_commit_ids(each, rules, heads[each.record.uid])
    return active


def _rules(repo: OpenRepository) -> RetentionRules:
    """Return the rules; the error of a bucket that refuses to show them names the file."""
    try:
        return read_rules(repo)
    except InvalidInputError as error:
        uri = f"{repo.record.storage_namespace}/{RULES_FILE}"
        raise InvalidInputError(f"{uri} cannot be read: {error}") from error
