"""Commits that a client describes field by field, as tools that copy a history do."""

from graveler.branches.heads import check_commit_size
from graveler.branches.lookup import check_writable, read_repository
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from graveler.identity import ID_LENGTH, commit_id, is_id
from graveler.limits import COMMIT_PARENTS_MAX, GENERATION_MAX
from graveler.model import Commit
from graveler.operations.committed_files import require_metarange


def create(engine: Engine, repository: str, commit: Commit, *, force: bool = False) -> None:
    """Store the commit if its parents and its metarange exist.

    lakeFS checks the ID only. But a commit never changes. Without its parents or its content, it
    would break each log and merge that reaches it.

    Raises:
        AlreadyExistsError: a commit with that ID exists.
        InvalidInputError: the ID does not belong to the fields, the generation does not exceed the
            parents', the commit is too large, or the repository's name is malformed.
        NotFoundError: the repository, a parent, the metarange or a range of it does not exist.
        ForbiddenError: the repository is read-only.
    """
    repo = read_repository(engine, repository)
    check_writable(repo.record, force=force)
    _check_fields(commit)
    # Only IDs: they become keys of the store, and these have a limited length.
    ids = [commit.id, *filter(is_id, commit.parents)]
    known = repo.history().find(ids)
    if commit.id in known:
        raise _exists(commit)
    _check_parents(commit, [known.get(parent) for parent in commit.parents])
    require_metarange(repo, commit.metarange_id)
    if engine.refs.create_commit(repo.record, commit) != commit:
        raise _exists(commit)


def _check_fields(commit: Commit) -> None:
    expected = commit_id(
        committer=commit.committer,
        message=commit.message,
        metarange_id=commit.metarange_id,
        creation_date=commit.creation_date,
        metadata=commit.metadata,
        parents=commit.parents,
    )
    if commit.id != expected:
        raise InvalidInputError(f"commit_id {commit.id!r} is invalid: the fields make {expected}")
    check_commit_size(commit.message, commit.metadata, commit.committer)
    if len(commit.parents) > COMMIT_PARENTS_MAX:
        raise InvalidInputError(f"a commit has at most {COMMIT_PARENTS_MAX} parents")


def _check_parents(commit: Commit, parents: list[Commit | None]) -> None:
    above = 1
    for parent_id, parent in zip(commit.parents, parents, strict=True):
        if parent is None:
            raise NotFoundError(
                f"parent commit not found: {parent_id[:ID_LENGTH]!r}: create it first"
            )
        above = max(above, parent.generation + 1)
    if not above <= commit.generation <= GENERATION_MAX:
        raise InvalidInputError(
            f"generation {commit.generation} is invalid: it must be {above} or more, above the "
            f"parents', and at most {GENERATION_MAX}"
        )


def _exists(commit: Commit) -> AlreadyExistsError:
    return AlreadyExistsError(f"commit already exists: not unique: {commit.id}")
