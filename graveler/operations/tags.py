"""Tags: immutable names for commits."""

from graveler.branches.lookup import (
    check_writable,
    current_commit_id,
    in_repository,
    read_repository,
)
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import AlreadyExistsError
from graveler.messages import Refusal
from graveler.model import Page, Tag
from graveler.model.hooks import Occurrence
from graveler.model.tasks import TaskStart
from graveler.names import check_new_tag_name, check_tag_name
from graveler.open_repository import OpenRepository
from graveler.operations.branches import refuse_commit_id
from graveler.operations.hooks.after import announce
from graveler.operations.hooks.refs import DeletionHooks, pass_before_creation


def create(
    engine: Engine,
    repository: str,
    *,
    name: str,
    ref: str,
    force: bool = False,
    user: str = "",
) -> Tag:
    """Create a tag of the commit that ref names.

    Raises:
        InvalidInputError: a name or ref is malformed.
        AlreadyExistsError: a tag or branch has the name, or a commit has it as its ID.
        NotFoundError: the repository does not exist, or ref names no commit.
        ForbiddenError: the repository is read-only.
        HookFailedError: a hook stops the creation.
        PreconditionFailedError: an action file in the commit is malformed.
    """
    check_new_tag_name(name)
    repo, commit_id = current_commit_id(engine, repository, ref)
    check_writable(repo.record, force=force)
    refuse_commit_id(repo, name)
    content = repo.content(commit_id)
    tag = Tag(name, commit_id)
    event = repo.event("tag_created", tag=name, commit_id=commit_id)
    try:
        about = _about("create-tag", tag)
        starts = pass_before_creation(repo, content, about, user)
        engine.refs.create_tag(repo.record, tag, event, starts)
    except AlreadyExistsError as error:
        if engine.refs.branch(repo.record, name) is not None:
            raise Refusal.NAME_OF_BRANCH.error("choose another", name=name) from error
        raise Refusal.TAG_EXISTS.error(repr(name)) from error
    announce(repo, starts)
    return tag


def _about(event: str, tag: Tag) -> Occurrence:
    commit_id = tag.commit_id
    return Occurrence(
        run_id="", event=event, source_ref=commit_id, tag=tag.name, commit_id=commit_id
    )


def get(engine: Engine, repository: str, name: str) -> Tag:
    """Return the tag.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the tag does not exist.
    """
    check_tag_name(name)
    return in_repository(engine, repository, lambda repo: _read(repo, name))


def _read(repo: OpenRepository, name: str) -> Tag:
    tag = repo.engine.refs.tag(repo.record, name)
    if tag is None:
        raise Refusal.TAG_NOT_FOUND.error(repr(name))
    return tag


def list_page(
    engine: Engine, repository: str, *, prefix: str, after: str, amount: int
) -> Page[Tag]:
    """Return a page of tags by name.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    return engine.refs.tags(read_repository(engine, repository).record, prefix, after, amount)


def delete(
    engine: Engine, repository: str, name: str, *, force: bool = False, user: str = ""
) -> None:
    """Delete the tag; its commit stays.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the tag does not exist.
        ForbiddenError: the repository is read-only.
        HookFailedError: a hook stops the deletion.
        PreconditionFailedError: an action file in the commit is malformed.
        ContentionError: the tag was replaced in each try.
    """
    check_tag_name(name)

    deletion = DeletionHooks(user)

    def attempt() -> tuple[OpenRepository, TaskStart | None]:
        repo = read_repository(engine, repository)
        check_writable(repo.record, force=force)
        tag = _read(repo, name)
        content = repo.content(tag.commit_id)
        about = _about("delete-tag", tag)
        starts = deletion.passed(repo, content, about, tag.commit_id)
        event = repo.event("tag_deleted", tag=name, commit_id=tag.commit_id)
        engine.refs.delete_tag(repo.record, tag, event, starts)
        return repo, starts

    announce(*retry_stale(attempt, f"tag {name!r}"))
