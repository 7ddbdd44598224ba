"""What an error that a client gets is in histories."""

from collections.abc import Mapping

from graveler.errors import (
    AlreadyExistsError,
    ContentionError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    ObjectMissingError,
    PreconditionFailedError,
    ThrottledError,
    UnknownOutcomeError,
)
from tests.simulation.actions import ACTIONS
from tests.simulation.schedule import Op
from tests.simulation.tag_actions import SHARED

# What a requirement that does not hold is in histories, by the end of the action's name.
_UNMET = {"absent": "exists", "match": "mismatch"}
_UNKNOWN = (ContentionError, ThrottledError, UnknownOutcomeError)


def outcome_of(op: Op, error: GravelerError) -> str:
    """Return the operation's outcome in the history."""
    kinds: Mapping[type[GravelerError], str] = {
        PreconditionFailedError: _UNMET.get(op.kind.rpartition("_if_")[2], "refused"),
        ObjectMissingError: "mismatch",
        AlreadyExistsError: "exists" if op.kind.startswith("create") else "refused",
    }
    if isinstance(error, _UNKNOWN):
        return "unknown"
    if isinstance(error, NotFoundError):
        said = str(error)  # the details name what is missing
        if "not found: no object" in said:
            return "absent" if op.kind in ("set_metadata", "get", "get_head") else "refused"
        # Operations name other refs, too, which may be missing.
        is_read = ACTIONS[op.kind].reads_only
        missing = [
            "repository not found",
            f"branch not found: {op.branch!r}",
            f"tag not found: {op.branch!r}",
            f"branch {op.branch!r} not found",
        ]
        if op.branch == SHARED and not is_read:
            missing.clear()  # a tag is missing, perhaps, and a branch has its name
        if is_read:
            missing.append(f"no branch, tag or commit {op.branch!r}")
        if any(text in said for text in missing):
            return "no_branch"
        assert op.kind not in ("get", "get_head"), f"{op}: what is missing? {said}"
        return "refused"
    if isinstance(error, InvalidInputError) and op.kind.startswith("commit"):
        return "no_changes" if "no changes" in error.message else "refused"
    return kinds.get(type(error), "refused")
