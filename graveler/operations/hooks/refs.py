"""The hooks of branches and tags: before and after a creation or a deletion.

A request runs the hooks before it, which share a bounded time. The commit that the branch or tag
points to has the action files.
"""

from msgspec.structs import replace

from graveler.committed.metarange import MetaRange
from graveler.errors import AlreadyExistsError, PreconditionFailedError
from graveler.model import CommitID
from graveler.model.hooks import Occurrence
from graveler.model.tasks import TaskStart
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import committed_action_files
from graveler.operations.hooks.after import start_after_ref
from graveler.operations.hooks.before import HookGate, request_gate


def pass_before_creation(
    repo: OpenRepository, content: MetaRange, about: Occurrence, user: str
) -> TaskStart | None:
    """Run the hooks before a branch or tag is created; return the task of those after it.

    Args:
        repo: whose branch or tag it is.
        content: of about's commit, with the action files.
        about: the occurrence, with an event such as `create-tag`.
        user: who asks.

    Raises:
        AlreadyExistsError: the name is taken; then no hook runs.
        HookFailedError: a hook stops the creation.
        PreconditionFailedError: an action file is malformed.
    """
    try:
        files = committed_action_files(repo, content, f"pre-{about.event}")
        is_guarded = bool(files.due(f"pre-{about.event}", about.branch))
    except PreconditionFailedError:
        _require_free(repo, about.branch or about.tag)
        raise
    if is_guarded:
        _require_free(repo, about.branch or about.tag)
    if files.actions:
        gate = request_gate(repo, may_wait=True)
        gate.pass_through(files, replace(about, event=f"pre-{about.event}"))
    after = replace(about, event=f"post-{about.event}")
    return start_after_ref(repo, files, after, CommitID(about.commit_id), user)


class DeletionHooks:
    """The hooks of one deletion, which may be tried several times.

    The tries share the time for hooks. A try with the same commit does not run them again.
    """

    def __init__(self, user: str) -> None:
        self._user = user
        self._gate: HookGate | None = None

    def passed(
        self, repo: OpenRepository, content: MetaRange, about: Occurrence, commit_id: CommitID
    ) -> TaskStart | None:
        """Run the hooks before the deletion; return the task of those after it.

        Args:
            repo: whose branch or tag it is.
            content: of the commit, with the action files.
            about: the occurrence, with an event such as `delete-tag`.
            commit_id: of the commit that the branch or tag names.

        Raises:
            HookFailedError: a hook stops the deletion.
            PreconditionFailedError: an action file is malformed.
        """
        files = committed_action_files(repo, content, f"pre-{about.event}")
        if files.actions:
            if self._gate is None:
                self._gate = request_gate(repo, may_wait=True)
            gate = replace(self._gate, repo=repo)
            gate.pass_through(files, replace(about, event=f"pre-{about.event}"), commit_id)
        after = replace(about, event=f"post-{about.event}")
        return start_after_ref(repo, files, after, commit_id, self._user)


def _require_free(repo: OpenRepository, name: str) -> None:
    refs = repo.engine.refs
    if refs.branch(repo.record, name) is not None or refs.tag(repo.record, name) is not None:
        raise AlreadyExistsError(f"a branch or tag {name!r} already exists")
