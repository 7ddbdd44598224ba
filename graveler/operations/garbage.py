"""What garbage collection asks of a repository's refs and staged changes.

A namespace may have several repositories: a read-only one can be made over the namespace of
another, and shares its files, rules included. What any of them keeps alive stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graveler.addresses import DATA_PREFIX
from graveler.errors import InvalidInputError, NotFoundError
from graveler.layout import METADATA_FOLDER
from graveler.model import Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.pages import closed_commits, every_branch, every_repository
from graveler.operations.retention import active_commit_ids, read_rules, refuse_bare
from graveler.ports import ObjectStore, StagingStore
from graveler.retention.candidates import Territory, namespaces_inside
from graveler.retention.files import RULES_FILE
from graveler.retention.liveness import live_addresses
from graveler.retention.rules import RetentionRules


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The repositories over one namespace, and the namespaces of others inside of its data."""

    sharers: tuple[Repository, ...]
    foreign: tuple[str, ...]


def neighbours(engine: Engine, repository: Repository) -> Neighbours:
    """Whose objects may lie in the repository's namespace, itself included.

    Raises:
        NotFoundError: it is gone; one of the same name may have come.
        InvalidInputError: one of them is bare, and nobody knows yet what it will refer to.
    """
    namespace = repository.storage_namespace
    everybody = list(every_repository(engine))
    sharers = tuple(each for each in everybody if each.storage_namespace == namespace)
    for each in sharers:
        refuse_bare(each)
    if repository.uid not in {each.uid for each in sharers}:
        raise NotFoundError(f"repository {repository.name!r} was deleted meanwhile")
    others = (each.storage_namespace for each in everybody)
    return Neighbours(sharers, namespaces_inside(namespace, others))


def territory(engine: Engine, repository: Repository, cutoff_ns: int) -> Territory:
    """Where a collection of the repository may delete.

    Raises:
        NotFoundError, InvalidInputError: as `neighbours` does.
    """
    foreign = neighbours(engine, repository).foreign
    namespace = repository.storage_namespace
    data = f"{namespace}/{DATA_PREFIX}".rstrip("/")
    if data not in foreign and holds_metadata(engine.objects, f"{data}/"):
        foreign = (*foreign, data)
    return Territory(namespace, cutoff_ns, foreign)


def holds_metadata(objects: ObjectStore, folder_uri: str) -> bool:
    """Whether the folder is a repository's namespace, or was the one of a deleted repository."""
    return any(True for _ in objects.list_objects(folder_uri + METADATA_FOLDER))


def staging_tokens(engine: Engine, repositories: Sequence[Repository]) -> list[str]:
    """Every token of every branch: staging, sealed, of hidden branches.

    What was taken off a branch keeps nothing alive: it is in the head, or nobody can commit it any
    more, and who still reads there may find the data gone, as one who comes later does.
    """
    tokens: dict[str, None] = {}
    # Twice: a branch made while they are listed, behind the listing, is seen the second time.
    for repository in [*repositories, *repositories]:
        for branch in every_branch(engine, repository):
            tokens.update(dict.fromkeys(branch.tokens))
    return list(tokens)


def staged_addresses(staging: StagingStore, namespace: str, token: str) -> Iterator[str]:
    """The addresses in the namespace's data that the token's values keep alive."""
    values = (value for _, value in staging.scan(token, b"", None) if value is not None)
    return live_addresses(namespace, values)


def active_metaranges(engine: Engine, repositories: Sequence[Repository]) -> dict[str, str]:
    """The commits that keep their objects, each with its metarange's ID; all without rules.

    Raises:
        CorruptDataError: the rules are not understood, or a commit is missing.
    """
    active: dict[str, str] = {}
    for repository in repositories:
        try:
            rules = _rules(engine, repository)
        except NotFoundError:
            commits = closed_commits(engine, repository)
            active |= {commit.id: commit.metarange_id for commit in commits}
        else:
            active |= active_commit_ids(engine, repository, rules)
    return active


def _rules(engine: Engine, repository: Repository) -> RetentionRules:
    """The rules; that S3 refuses to show them is told of the file."""
    try:
        return read_rules(engine, repository)
    except InvalidInputError as error:
        uri = f"{repository.storage_namespace}/{RULES_FILE}"
        raise InvalidInputError(f"{uri} cannot be read: {error.message}") from error
