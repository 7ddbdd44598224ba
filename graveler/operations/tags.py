"""Tags: immutable names for commits."""

from graveler.errors import AlreadyExistsError
from graveler.messages import Refusal
from graveler.model import Page, Repository, Tag
from graveler.names import check_tag_name
from graveler.operations.actions import refuse_guarded, refuse_guarded_name
from graveler.operations.branches import refuse_commit_id
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import (
    check_writable,
    current_commit_id,
    in_repository,
    read_repository,
)


def create(engine: Engine, repository: str, *, name: str, ref: str, force: bool = False) -> Tag:
    """A new tag of the commit that ref names.

    Raises:
        AlreadyExistsError: there is a tag or branch of that name, or a commit with that ID.
        NotFoundError: ref names nothing.
        PreconditionFailedError: an action file in the commit guards the creation.
    """
    check_tag_name(name)
    found, commit_id = current_commit_id(engine, repository, ref)
    check_writable(found, force=force)
    refuse_commit_id(engine, found, name)
    content = engine.content(found, commit_id)
    tag = Tag(name, commit_id)
    event = engine.event("tag_created", found, tag=name, commit_id=commit_id)
    try:
        refuse_guarded_name(engine, found, content, name, "", "pre-create-tag")
        engine.refs.create_tag(found, tag, event)
    except AlreadyExistsError as error:
        if engine.refs.branch(found, name) is not None:
            raise Refusal.NAME_OF_BRANCH.error("choose another", name=name) from error
        raise Refusal.TAG_EXISTS.error(repr(name)) from error
    return tag


def get(engine: Engine, repository: str, name: str) -> Tag:
    """The tag.

    Raises:
        NotFoundError: there is none.
    """
    check_tag_name(name)
    return in_repository(engine, repository, lambda found: _read(engine, found, name))


def _read(engine: Engine, repository: Repository, name: str) -> Tag:
    tag = engine.refs.tag(repository, name)
    if tag is None:
        raise Refusal.TAG_NOT_FOUND.error(repr(name))
    return tag


def list_page(
    engine: Engine, repository: str, *, prefix: str, after: str, amount: int
) -> Page[Tag]:
    """A page of tags by name."""
    return engine.refs.tags(read_repository(engine, repository), prefix, after, amount)


def delete(engine: Engine, repository: str, name: str, *, force: bool = False) -> None:
    """Delete the tag; its commit stays.

    Raises:
        NotFoundError: there is none.
        PreconditionFailedError: an action file in the commit guards the deletion.
    """
    check_tag_name(name)
    found = read_repository(engine, repository)
    check_writable(found, force=force)
    tag = _read(engine, found, name)
    content = engine.content(found, tag.commit_id)
    refuse_guarded(engine, found, content, "", "pre-delete-tag")
    event = engine.event("tag_deleted", found, tag=name, commit_id=tag.commit_id)
    engine.refs.delete_tag(found, tag, event)
