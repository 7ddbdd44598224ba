"""The hooks of a commit: `prepare-commit` before the branch is sealed, `pre-commit` before its end.

A commit that `prepare-commit` refuses leaves the branch as it was. One that `pre-commit` refuses
leaves a sealed token, which the next commit applies.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from graveler.committed.metarange import MetaRange
from graveler.model import Branch
from graveler.model.hooks import PREPARE_COMMIT, Occurrence
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.action_files import (
    StagedActionFiles,
    branch_action_files,
    committed_action_files,
)
from graveler.operations.hooks.before import HookGate

PRE_COMMIT = "pre-commit"

# The field covers of a commit's task before it seals the branch, and while it does.
UNSEALED = "unsealed"
SEALING = "sealing"


def about_commit(
    branch: str, message: str, committer: str, metadata: Mapping[str, str]
) -> Occurrence:
    """Return the occurrence of a commit for the hooks before it, without a run."""
    return Occurrence(
        run_id="",
        event=PRE_COMMIT,
        source_ref=branch,
        branch=branch,
        message=message,
        committer=committer,
        metadata=metadata,
    )


def is_guarded(repo: OpenRepository, branch: Branch) -> bool:
    """Whether hooks run before a commit of the branch's staged changes.

    Raises:
        PreconditionFailedError: an action file is malformed.
    """
    files = branch_action_files(repo, branch, PRE_COMMIT)
    return any(files.due(event, branch.name) for event in (PREPARE_COMMIT, PRE_COMMIT))


def pass_before_sealing(
    gate: HookGate, branch: Branch, about: Occurrence, staged: StagedActionFiles | None = None
) -> None:
    """Run the hooks of `prepare-commit`; leave the commit to a task if `pre-commit` needs one.

    staged is as for `branch_action_files`.

    Raises:
        HookFailedError, PreconditionFailedError: as `HookGate.pass_through`.
        Exception: whatever the gate's pace raises.
    """
    files = branch_action_files(gate.repo, branch, PRE_COMMIT, staged)
    files.require_served(PRE_COMMIT, even_later=True)
    gate.pass_through(files, replace(about, event=PREPARE_COMMIT))
    if files.due(PRE_COMMIT, branch.name):
        gate.pace.begin()


def pass_before_commit(gate: HookGate, content: MetaRange, about: Occurrence, *state: str) -> str:
    """Run the hooks of `pre-commit` that the content names; return the run's ID.

    Raises:
        HookFailedError, PreconditionFailedError: as `HookGate.pass_through`.
        Exception: whatever the gate's pace raises.
    """
    files = committed_action_files(gate.repo, content, PRE_COMMIT)
    files.require_served(PRE_COMMIT, even_later=True)
    return gate.pass_through(files, replace(about, event=PRE_COMMIT), *state)
