"""The hooks that are due at an event, by the action files in a repository's content.

lakeFS's rules decide which content holds the action files:

operation               events                       content                     branches: match
commit                  prepare-commit, pre-commit   the branch, staged changes  the branch
                                                     included
import                  pre-commit                   the new commit              the branch
merge                   pre-merge                    the source commit           the destination
revert, cherry-pick     pre-revert, pre-cherry-pick  the branch's head           the branch
create, delete branch   pre-…, post-…                the commit it points to     the branch
create, delete tag      pre-…, post-…                the commit it points to

The other `post-` events take the action files of the new commit. lakeFS runs no hooks in read-only
repositories.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from graveler.actions.action import NOT_SERVED, ActionFile, parse_action
from graveler.branches.data import read_content
from graveler.branches.views import View, object_stat
from graveler.committed.metarange import MetaRange
from graveler.engine import Engine
from graveler.errors import (
    GoneError,
    InvalidInputError,
    PreconditionFailedError,
)
from graveler.limits import ACTION_FILE_BYTES_MAX, ACTION_FILES_MAX, HOOKS_MAX
from graveler.model import Branch, Change, Record, StagingToken
from graveler.open_repository import OpenRepository

_FOLDER = b"_lakefs_actions/"
_FOLDER_END = b"_lakefs_actions0"

# Returns the changes of action files that are staged on the branch.
StagedActionFiles = Callable[[Branch], Sequence[Change]]


class ActionFiles(Struct, frozen=True):
    """The actions in some content, by the paths of their files."""

    actions: tuple[tuple[str, ActionFile], ...] = ()

    def due(self, event: str, branch: str) -> tuple[ActionFile, ...]:
        """Return the actions with hooks that are due at the event, in the order of their files.

        Args:
            event: of lakeFS's, such as `pre-commit`.
            branch: "" for tags.

        Raises:
            PreconditionFailedError: a branch pattern is malformed, or there are too many hooks.
        """
        due = []
        for file, action in self.actions:
            try:
                if action.runs_at(event, branch):
                    due.append(action)
            except InvalidInputError as error:
                raise _refused(event, file, str(error)) from error
        count = sum(len(action.hooks) for action in due)
        if count > HOOKS_MAX:
            raise PreconditionFailedError(
                f"{event}: {count} hooks are due, more than {HOOKS_MAX}: merge or remove some"
            )
        return tuple(due)

    def require_served(self, event: str, branch: str = "", *, even_later: bool) -> None:
        """Check that hooks of this kind run here.

        even_later: check the hooks of other events, too. So a commit is refused that would add a
        file whose hooks will never run.

        Raises:
            PreconditionFailedError: a hook has a type that is not served.
        """
        for file, action in self.actions:
            if even_later or action.runs_at(event, branch):
                for hook in action.hooks:
                    if reason := NOT_SERVED.get(hook.kind):
                        raise _refused(event, file, f"hook {hook.id!r}: {reason}")


NO_FILES = ActionFiles()


def committed_action_files(repo: OpenRepository, content: MetaRange, event: str) -> ActionFiles:
    """Return the action files in committed content; event is for messages.

    Without action files, this costs no request if the content's metarange and its first range are
    cached.

    Raises:
        PreconditionFailedError: an action file is malformed.
    """
    if runs_no_hooks(repo):
        return NO_FILES
    return _loaded(repo, content.few_records(_FOLDER, _FOLDER_END), event)


def staged_action_files(engine: Engine, token: StagingToken) -> Sequence[Change]:
    """Return the changes of action files under the token."""
    return tuple(engine.staging.scan(token, _FOLDER, _FOLDER_END))


def branch_action_files(
    repo: OpenRepository, branch: Branch, event: str, staged: StagedActionFiles | None = None
) -> ActionFiles:
    """Return the action files that a reader of the branch sees, staged ones included.

    It costs a request for each of the branch's staging tokens. `staged` returns the changes under
    the newest one, if they have been read.

    Raises:
        PreconditionFailedError: an action file is malformed.
    """
    if runs_no_hooks(repo):
        return NO_FILES
    committed = repo.content(branch.commit_id)
    newest = staged(branch) if staged else staged_action_files(repo.engine, branch.staging_token)
    sealed = View(repo, branch.sealed_tokens, committed)
    changes = {**dict(sealed.changes(_FOLDER, _FOLDER_END)), **dict(newest)}
    kept = (
        record for record in committed.few_records(_FOLDER, _FOLDER_END) if record[0] not in changes
    )
    added = ((path, value) for path, value in changes.items() if value is not None)
    return _loaded(repo, sorted([*kept, *added]), event)


def runs_no_hooks(repo: OpenRepository) -> bool:
    """Whether no hook of the repository ever runs."""
    return repo.engine.ignores_actions or repo.record.read_only


def _loaded(repo: OpenRepository, records: Iterable[Record], event: str) -> ActionFiles:
    return ActionFiles(tuple(_actions(repo, records, event)))


def _actions(
    repo: OpenRepository, records: Iterable[Record], event: str
) -> Iterator[tuple[str, ActionFile]]:
    names: set[str] = set()
    for record in records:
        file = record[0].decode("utf-8", "replace")
        try:
            action = _load(repo, record, names)
        except InvalidInputError as error:
            raise _refused(event, file, str(error)) from error
        names.add(action.name)
        yield file, action


def _refused(event: str, file: str, problem: str) -> PreconditionFailedError:
    return PreconditionFailedError(
        f"{event}: action file {file!r}: {problem}: correct or remove it"
    )


def _load(repo: OpenRepository, record: Record, others: set[str]) -> ActionFile:
    """Return the record's action; others are the names of the actions before it.

    Raises:
        InvalidInputError: the file is malformed, misplaced or one too many, or its name is taken.
    """
    path, value = record
    if len(others) == ACTION_FILES_MAX:
        raise InvalidInputError(f"there are more than {ACTION_FILES_MAX} action files")
    if b"/" in path[len(_FOLDER) :]:
        raise InvalidInputError(f"action files must be directly in {_FOLDER.decode()}")
    action = _read(repo, path, value)
    if action.name in others:
        raise InvalidInputError(f"another action has the name {action.name!r}")
    return action


def _read(repo: OpenRepository, path: bytes, value: bytes) -> ActionFile:
    found = object_stat(repo.record, path, value)
    entry = found.entry
    if entry.size_bytes > ACTION_FILE_BYTES_MAX:
        raise InvalidInputError(
            f"it has {entry.size_bytes} bytes, more than {ACTION_FILE_BYTES_MAX}"
        )
    if entry.size_bytes <= 0:
        return parse_action(b"")
    try:
        return parse_action(read_content(repo.engine, found).content)
    except GoneError as error:
        raise InvalidInputError(f"its data cannot be read: {error}") from error
