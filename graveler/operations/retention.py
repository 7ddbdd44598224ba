"""Retention rules of a repository, and the commits that they keep active."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial

from graveler.addresses import newest_first
from graveler.branches.complete_listings import (
    NewEvents,
    closed_commits,
    every_branch,
    every_task,
)
from graveler.branches.lookup import check_writable, read_repository
from graveler.branches.watching import Watching, unwatched
from graveler.engine import Engine
from graveler.errors import GoneError, InvalidInputError, NoRulesError, PreconditionFailedError
from graveler.identity import is_id
from graveler.messages import Refusal
from graveler.model import CommitID, MetaRangeID, Repository
from graveler.model.events import heads_in
from graveler.model.settings import changed
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requested_work import ReadingWork, WorkLimit
from graveler.operations.tasks.requests import never_covers, start
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time
from graveler.ports import StoredContent
from graveler.retention.active import active_commits
from graveler.retention.files import ADDRESSES_FOLDER, RULES_FILE, commits_file, encode_commits
from graveler.retention.rules import RetentionRules, decode_rules, encode_rules

# Names of branches, also of deleted ones, each with a present or past head.
Heads = set[tuple[str, CommitID]]

# The checksum of rules that were never set. Others have the ETag of their file.
_ABSENT = ""

# A check of rules reads a record for each branch that they name.
BRANCHES_CHECKED_MAX = 200


def get_rules(engine: Engine, name: str) -> tuple[RetentionRules, str]:
    """Return the repository's retention rules, and their checksum.

    Raises:
        InvalidInputError: the name is malformed, or the bucket refuses to show the rules.
        NotFoundError: the repository does not exist.
        NoRulesError: it has no rules; the error has the checksum of that.
        CorruptDataError: the stored rules cannot be decoded.
    """
    return _stored_rules(read_repository(engine, name))


def read_rules(repo: OpenRepository) -> RetentionRules:
    """Return the rules of a repository that was read; the errors are those of `get_rules`."""
    return _stored_rules(repo)[0]


def _stored_rules(repo: OpenRepository) -> tuple[RetentionRules, str]:
    """Return as `get_rules`; no other failure counts as "no rules"."""
    uri = _uri(repo.record, RULES_FILE)
    try:
        stored = repo.engine.objects.get_stored(uri)
    except GoneError:
        stored = StoredContent(b"", {}, _ABSENT)
    rules = decode_rules(stored.content, uri)
    if rules is None:
        details = f"repository {repo.record.name!r} has no garbage collection rules"
        raise NoRulesError(Refusal.NOT_FOUND.words, details, checksum=stored.checksum)
    return rules, stored.checksum


def set_rules(
    engine: Engine, name: str, rules: RetentionRules, if_match: str | None = None
) -> None:
    """Replace the retention rules if their checksum is still if_match (None: any).

    Raises:
        PreconditionFailedError: they have another checksum.
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only.
    """
    _write_rules(engine, name, encode_rules(rules), if_match)


def absent_branches(engine: Engine, name: str, rules: RetentionRules) -> list[str]:
    """Return the branches that do not exist, of the first BRANCHES_CHECKED_MAX in the rules.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    repo = read_repository(engine, name)
    branches = sorted(rules.branch_days)[:BRANCHES_CHECKED_MAX]
    found = [engine.ahead(partial(engine.refs.branch, repo.record, branch)) for branch in branches]
    return [branch for branch, read in zip(branches, found, strict=True) if read() is None]


def delete_rules(engine: Engine, name: str, if_match: str | None = None) -> None:
    """Delete the retention rules; having none is no error.

    if_match and errors are those of `set_rules`.
    """
    _write_rules(engine, name, b"", if_match)


def _write_rules(engine: Engine, name: str, content: bytes, if_match: str | None) -> None:
    repo = changeable_repository(engine, name)
    try:
        engine.objects.put(
            _uri(repo.record, RULES_FILE),
            content,
            "application/octet-stream",
            if_absent=if_match == _ABSENT,
            if_match=if_match or "",
        )
    except PreconditionFailedError as error:
        raise changed("the list of garbage collection rules") from error


def changeable_repository(engine: Engine, name: str) -> OpenRepository:
    """Return the repository if garbage collection may write into its namespace.

    A read-only repository may share its namespace with another one, which owns the files there.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
        ForbiddenError: it is read-only.
    """
    repo = read_repository(engine, name)
    check_writable(repo.record, force=False)
    return repo


@dataclass(frozen=True, slots=True)
class CollectionFiles:
    """The ID of a garbage collection's run, and the URIs of its files."""

    run_id: str
    commits_uri: str
    addresses_uri: str


def prepare_commits(
    engine: Engine, name: str, user: str = "", wait: ClientWait = FIRST_REQUEST
) -> CollectionFiles:
    """Write the list of active commits for a garbage collection.

    A long list is left to a task, which this waits for.

    Raises:
        InvalidInputError: the name is malformed, or the repository is bare.
        NotFoundError: the repository does not exist, or has no rules.
        ForbiddenError: it is read-only.
        CorruptDataError: the rules cannot be decoded, or a commit is missing.
    """
    repo = changeable_repository(engine, name)
    rules = read_rules(repo)
    work = _Preparing(repo=repo, user=user, rules=rules)
    return result_in_time(work, wait)


@dataclass(kw_only=True)
class _Preparing(ReadingWork[CollectionFiles]):
    kind: TaskKind = TaskKind.PREPARE_COMMITS
    rules: RetentionRules

    def at_once(self, limit: WorkLimit) -> CollectionFiles:
        return _prepare(self.repo, self.rules, limit.over)

    def result_of(self, task: Task) -> CollectionFiles:
        return CollectionFiles(**task.result)


def _prepare(repo: OpenRepository, rules: RetentionRules, watching: Watching) -> CollectionFiles:
    run_id = newest_first(repo.engine.names.new_uid())
    active = active_commit_ids(repo, rules, heads_now(repo), watching)
    uri = _uri(repo.record, commits_file(run_id))
    repo.engine.objects.put(uri, encode_commits(active), "text/csv")
    return CollectionFiles(run_id, uri, _uri(repo.record, ADDRESSES_FOLDER))


def active_commit_ids(
    repo: OpenRepository, rules: RetentionRules, heads: Heads, watching: Watching = unwatched
) -> dict[CommitID, MetaRangeID]:
    """Return the IDs of the commits that are active now, each with its metarange's ID.

    Raises:
        InvalidInputError: the repository is bare.
        CorruptDataError: a commit is missing.
    """
    refuse_bare(repo.record)
    now_s = repo.engine.now_s()
    named = {commit_id for _, commit_id in heads}
    commits = watching(closed_commits(repo, named))
    return active_commits(commits, heads, rules, now_s)


def heads_now(repo: OpenRepository) -> Heads:
    """Return all heads, while users move, rename and delete branches."""
    events = NewEvents(repo)
    return listed_heads(repo) | moved_heads(repo, events)


def listed_heads(repo: OpenRepository) -> Heads:
    """Return the heads that one listing sees."""
    return {(branch.name, branch.commit_id) for branch in every_branch(repo)}


def moved_heads(repo: OpenRepository, events: NewEvents) -> Heads:
    """Return the commits that became or ceased to be a head, by new events.

    The commits that open tasks cover count as well: the source of a merge may be no head any more.
    """
    open_tasks = [task for task in every_task(repo) if not task.has_ended]
    # After the tasks: one that ended before they were read has its commit in an event.
    heads = {head for event in events.more() for head in heads_in(event)}
    covered = {
        CommitID(each): task.branch
        for task in open_tasks
        for each in filter(is_id, task.covers.split())
    }
    existing = repo.engine.refs.commits(repo.record, list(covered))
    return heads | {(covered[commit_id], commit_id) for commit_id in existing}


def refuse_bare(repository: Repository) -> None:
    """Check that the repository has its commits: a bare one has none, so all would be garbage.

    Raises:
        InvalidInputError: the repository is bare.
    """
    if repository.is_bare:
        raise InvalidInputError(
            f"repository {repository.name!r} is bare, so nothing in its namespace can be "
            "collected: restore a dump of refs into it, or delete it"
        )


def start_prepare(engine: Engine, name: str, user: str) -> Task:
    """Start a task that prepares the commits of the repository; prepared_by has its result.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist, or has no rules.
        ForbiddenError: it is read-only.
        CorruptDataError: the rules cannot be decoded.
    """
    repo = changeable_repository(engine, name)
    read_rules(repo)
    return start(repo, TaskKind.PREPARE_COMMITS, {}, user=user, is_covered=never_covers)


def run_prepare(hold: Hold) -> Mapping[str, str]:
    """Do the work of a task that prepares commits; return its result.

    Raises:
        GravelerError: as prepare_commits.
        StoppedError: this runner must not continue.
    """
    hold.current_repository()
    repo = changeable_repository(hold.repo.engine, hold.repo.record.name)
    rules = read_rules(repo)
    return asdict(_prepare(repo, rules, hold.watched))


def prepared_by(task: Task) -> CollectionFiles | None:
    """Return the files that the task prepared, None if it runs or failed."""
    return CollectionFiles(**task.result) if task.result else None


def _uri(repository: Repository, key: str) -> str:
    return f"{repository.storage_namespace}/{key}"
