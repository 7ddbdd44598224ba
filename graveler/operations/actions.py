"""Action files guard operations with hooks. Hooks are not served, so the operations are refused.

A guarded operation that succeeded without its hook would look as if the check had passed. lakeFS's
rules say which content holds the action files:

operation               events                      content                  branches: match
commit                  prepare-commit, pre-commit  the new commit's         the branch
merge                   pre-merge                   the source commit        the destination
revert, cherry-pick     pre-revert, pre-cherry-pick the branch's head        the branch
create, delete branch   pre-create-, pre-delete-    the commit it points to  the branch
create, delete tag      pre-create-, pre-delete-    the commit it points to

`post-` events guard nothing. lakeFS runs no hooks in read-only repositories.
"""

from graveler.actions.action import Action, parse_action
from graveler.addresses import physical_uri
from graveler.committed.metarange import MetaRange
from graveler.entries import value_entry
from graveler.errors import (
    AlreadyExistsError,
    GoneError,
    InvalidInputError,
    PreconditionFailedError,
    RangeNotSatisfiableError,
)
from graveler.limits import ACTION_FILE_BYTES_MAX, ACTION_FILES_MAX
from graveler.model import Record, Repository
from graveler.operations.engine import Engine

_FOLDER = b"_lakefs_actions/"
_FOLDER_END = b"_lakefs_actions0"


def refuse_guarded(
    engine: Engine, repository: Repository, content: MetaRange, branch: str, *events: str
) -> None:
    """Check that no action file in the content has a hook for one of the events.

    Without action files, this costs no request if the content's metarange and its first range are
    cached. branch is "" for tags.

    Raises:
        PreconditionFailedError: an action file has such a hook, or is malformed.
    """
    if engine.ignores_actions or repository.read_only:
        return
    names: set[str] = set()
    for record in content.few_records(_FOLDER, _FOLDER_END):
        file = record[0].decode("utf-8", "replace")
        try:
            action = _load(engine, repository, record, names)
            event = next((event for event in events if action.runs_at(event, branch)), None)
        except InvalidInputError as error:
            raise PreconditionFailedError(
                f"{events[-1]}: action file {file!r}: {error}: correct or remove it"
            ) from error
        if event is not None:
            raise PreconditionFailedError(
                f"{event}: action {action.name!r} in {file!r} runs hooks "
                f"({', '.join(action.hooks)}), and hooks are not served: remove {event!r} from the "
                "file, or deploy with the setting ignore_actions"
            )
        names.add(action.name)


def refuse_guarded_name(
    engine: Engine, repository: Repository, content: MetaRange, name: str, branch: str, event: str
) -> None:
    """Check that no action file in the content guards the creation of a branch or tag.

    Raises:
        AlreadyExistsError: one does, but the name is taken anyway.
        PreconditionFailedError: an action file guards it, or is malformed.
    """
    try:
        refuse_guarded(engine, repository, content, branch, event)
    except PreconditionFailedError:
        refs = engine.refs
        if refs.branch(repository, name) is not None or refs.tag(repository, name) is not None:
            raise AlreadyExistsError(f"a branch or tag {name!r} already exists") from None
        raise


def _load(engine: Engine, repository: Repository, record: Record, others: set[str]) -> Action:
    """Return the record's action; others are the names of the actions before it.

    Raises:
        InvalidInputError: the file is malformed, misplaced or one too many, or its name is taken.
    """
    path, value = record
    if len(others) == ACTION_FILES_MAX:
        raise InvalidInputError(f"there are more than {ACTION_FILES_MAX} action files")
    if b"/" in path[len(_FOLDER) :]:
        raise InvalidInputError(f"action files must be directly in {_FOLDER.decode()}")
    action = _read(engine, repository, value)
    if action.name in others:
        raise InvalidInputError(f"another action has the name {action.name!r}")
    return action


def _read(engine: Engine, repository: Repository, value: bytes) -> Action:
    entry = value_entry(value)
    if entry.size_bytes > ACTION_FILE_BYTES_MAX:
        raise InvalidInputError(
            f"it has {entry.size_bytes} bytes, more than {ACTION_FILE_BYTES_MAX}"
        )
    if entry.size_bytes <= 0:
        return parse_action(b"")
    uri = physical_uri(repository.storage_namespace, entry)
    try:
        # Read no more bytes than recorded: a linked object may have any size.
        return parse_action(engine.objects.get(uri, (0, entry.size_bytes - 1)))
    except (GoneError, RangeNotSatisfiableError) as error:
        raise InvalidInputError("its data cannot be read") from error
