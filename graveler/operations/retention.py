"""Retention rules of a repository, and the list of commits that they keep active."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from graveler.addresses import newest_first
from graveler.errors import GoneError, InvalidInputError
from graveler.messages import Refusal
from graveler.model import Repository, Task
from graveler.operations import tasks
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import check_writable, read_repository
from graveler.operations.protocol.pages import closed_commits, every_branch
from graveler.retention.active import active_commits
from graveler.retention.files import ADDRESSES_FOLDER, RULES_FILE, commits_file, encode_commits
from graveler.retention.rules import RetentionRules, decode_rules, encode_rules

# What the IDs of these tasks begin with, as lakeFS's do.
_TASK_KIND = "GCPC"


def get_rules(engine: Engine, name: str) -> RetentionRules:
    """The repository's rules.

    Raises:
        NotFoundError: there is no such repository, or it has no rules.
        CorruptDataError: what is stored is not understood.
    """
    return read_rules(engine, read_repository(engine, name))


def read_rules(engine: Engine, repository: Repository) -> RetentionRules:
    """The rules, as get_rules; any failure but that of not finding them is an error, never none."""
    uri = _uri(repository, RULES_FILE)
    try:
        rules = decode_rules(engine.objects.get(uri), uri)
    except GoneError:
        rules = None
    if rules is None:
        raise Refusal.NOT_FOUND.error(
            f"repository {repository.name!r} has no garbage collection rules"
        )
    return rules


def set_rules(engine: Engine, name: str, rules: RetentionRules) -> None:
    """Replace the rules.

    Raises:
        ForbiddenError: the repository is read-only.
    """
    _write_rules(engine, name, encode_rules(rules))


def delete_rules(engine: Engine, name: str) -> None:
    """Drop the rules; having had none is fine.

    Raises:
        ForbiddenError: the repository is read-only.
    """
    _write_rules(engine, name, b"")


def _write_rules(engine: Engine, name: str, content: bytes) -> None:
    repository = changeable_repository(engine, name)
    engine.objects.put(_uri(repository, RULES_FILE), content, "application/octet-stream")


def changeable_repository(engine: Engine, name: str) -> Repository:
    """The repository, if garbage collection may write into its namespace.

    A read-only repository may share its namespace with another, whose files these would be.

    Raises:
        NotFoundError: there is no such repository.
        ForbiddenError: it is read-only.
    """
    repository = read_repository(engine, name)
    check_writable(repository, force=False)
    return repository


@dataclass(frozen=True, slots=True)
class PreparedCommits:
    """A run of garbage collection, and the URIs of its files."""

    run_id: str
    commits_uri: str
    addresses_uri: str


def prepare_commits(engine: Engine, name: str) -> PreparedCommits:
    """Write the list of active commits, for a collection that reads it.

    Raises:
        NotFoundError: there is no such repository, or it has no rules.
        ForbiddenError: it is read-only.
        CorruptDataError: the rules or a commit cannot be read.
    """
    repository = changeable_repository(engine, name)
    return _prepare(engine, repository, read_rules(engine, repository))


def _prepare(engine: Engine, repository: Repository, rules: RetentionRules) -> PreparedCommits:
    run_id = newest_first(engine.names.new_uid())
    active = active_commit_ids(engine, repository, rules)
    uri = _uri(repository, commits_file(run_id))
    engine.objects.put(uri, encode_commits(active), "text/csv")
    return PreparedCommits(run_id, uri, _uri(repository, ADDRESSES_FOLDER))


def active_commit_ids(
    engine: Engine, repository: Repository, rules: RetentionRules
) -> dict[str, str]:
    """The commits that are active now, each with its metarange's ID.

    Raises:
        InvalidInputError: the repository is bare.
        CorruptDataError: a commit is missing.
    """
    refuse_bare(repository)
    now_s = engine.now_s()
    # Twice: while they are listed, a branch may be made of another that is then deleted, the new
    # one behind the listing and the old one before it. It stands in one of two listings.
    heads = {*_heads(engine, repository), *_heads(engine, repository)}
    return active_commits(closed_commits(engine, repository), heads, rules, now_s)


def refuse_bare(repository: Repository) -> None:
    """Refuse to tell what keeps objects alive while commits are still to be restored.

    Raises:
        InvalidInputError: the repository is bare; no commit would keep anything.
    """
    if repository.is_bare:
        raise InvalidInputError(
            f"repository {repository.name!r} is bare: nothing in its namespace can be collected "
            "before a dump of refs is restored into it, or it is deleted"
        )


def _heads(engine: Engine, repository: Repository) -> Iterator[tuple[str, str]]:
    for branch in every_branch(engine, repository):
        yield branch.name, branch.commit_id


# Preparing as a task (`graveler.operations.tasks`).


def start_task(engine: Engine, name: str) -> Task:
    """A task that prepares the commits of the repository, not begun.

    Raises:
        NotFoundError: there is no such repository, or it has no rules.
        ForbiddenError: it is read-only.
    """
    repository = changeable_repository(engine, name)
    read_rules(engine, repository)
    return tasks.start(engine, repository, _TASK_KIND)


def run_task(engine: Engine, name: str, task: Task) -> Task:
    """Do the task, and store how it ended: with what it prepared, or with an error's message."""
    repository = read_repository(engine, name)
    return tasks.run(engine, repository, task, lambda: asdict(prepare_commits(engine, name)))


def task_status(engine: Engine, name: str, task_id: str) -> tuple[Task, PreparedCommits | None]:
    """The task as it stands, and what it prepared if it has ended well.

    Raises:
        NotFoundError: there is no such repository or task.
    """
    repository = read_repository(engine, name)
    task = tasks.status(engine, repository, _TASK_KIND, task_id)
    return task, PreparedCommits(**task.result) if task.result else None


def _uri(repository: Repository, key: str) -> str:
    return f"{repository.storage_namespace}/{key}"
