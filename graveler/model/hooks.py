"""Runs of hooks: what happened, which hooks ran for it, and how each of them ended.

An occurrence is one event of one operation, such as the pre-commit of a commit. Its run has an ID
that follows from the operation. After a crash or a second delivery, a process comes to the same
occurrence again. It finds the finished run and runs nothing twice.
"""

import re
from base64 import b32hexencode
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from graveler.times import NS_PER_S, whole_second

# lakeFS's constant, the year 2999. The time in a run's ID is this minus the real time. So IDs in
# ascending order are the newest runs first.
_RUN_EPOCH_S = 32_500_915_200
_TIME_FRACTIONS = 2**24
_RUN_ID = re.compile("[0-9a-v]{20}")

# Where lakeFS puts the outputs of hooks, below `_lakefs/`.
_LOG_FOLDER = "_lakefs/actions/log"

PREPARE_COMMIT = "prepare-commit"


class HookStatus(StrEnum):
    """The states of a run and of a hook's run, as the API shows them; only hooks are skipped."""

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Occurrence(msgspec.Struct, frozen=True):
    """One event of an operation, as hooks receive it.

    source_ref: the ref whose action files count.
    branch, tag: what the operation changes, "" if it is the other one.
    commit_id: "" before a commit is made.
    message, committer, metadata: of the new commit, if there is one.
    merge_source: the ref that a merge was asked to merge.
    """

    run_id: str
    event: str
    source_ref: str
    branch: str = ""
    tag: str = ""
    commit_id: str = ""
    message: str = ""
    committer: str = ""
    metadata: Mapping[str, str] = {}
    merge_source: str = ""


class HookRun(msgspec.Struct, frozen=True):
    """How one hook ended; a skipped one has no times. error is cut to ERROR_BYTES_MAX."""

    id: str
    hook_id: str
    action: str
    status: HookStatus
    start_ns: int = 0
    end_ns: int = 0
    error: str = ""


class Run(msgspec.Struct, frozen=True):
    """A finished run: all hooks of all actions that were due at an occurrence."""

    id: str
    event: str
    branch: str
    source_ref: str
    commit_id: str
    start_ns: int
    end_ns: int
    hooks: tuple[HookRun, ...]

    @property
    def failed(self) -> tuple[HookRun, ...]:
        """The hooks that failed, in order."""
        return tuple(hook for hook in self.hooks if hook.status is HookStatus.FAILED)

    @property
    def status(self) -> HookStatus:
        return HookStatus.FAILED if self.failed else HookStatus.COMPLETED


class HookSettings(msgspec.Struct, frozen=True):
    """What a deployment lets hooks do.

    functions: the Lambda functions that hooks may invoke, by name or ARN.
    buses: the buses of EventBridge on which hooks may put events, by name or ARN.
    request_hooks_s: hooks that run inside a request may take this long together.
    """

    functions: tuple[str, ...] = ()
    buses: tuple[str, ...] = ()
    request_hooks_s: float = 18.0


def run_id(time_ns: int, *parts: str) -> str:
    """Return the ID of a run of that time; equal arguments give equal IDs."""
    seconds, rest_ns = divmod(time_ns, NS_PER_S)
    backwards = (_RUN_EPOCH_S - seconds) % 2**32
    fraction = _TIME_FRACTIONS - 1 - rest_ns * _TIME_FRACTIONS // NS_PER_S
    digest = sha256("\0".join(parts).encode()).digest()
    raw = backwards.to_bytes(4, "big") + fraction.to_bytes(3, "big") + digest[:5]
    return b32hexencode(raw).decode("ascii").rstrip("=").lower()


def is_run_id(text: str) -> bool:
    """Whether a run can have the text as its ID."""
    return _RUN_ID.fullmatch(text) is not None


def hook_run_id(action_number: int, hook_number: int) -> str:
    """Return the ID of a hook's run inside its run."""
    return f"{action_number:04d}_{hook_number:04d}"


def log_uri(namespace: str, run: str, hook_run: str) -> str:
    """Return the URI of a hook's output."""
    return f"{namespace}/{_LOG_FOLDER}/{run}/{hook_run}.log"


def manifest_uri(namespace: str, run: str) -> str:
    """Return the URI of a run's manifest."""
    return f"{namespace}/{_LOG_FOLDER}/{run}/run.manifest"


def moment(time_ns: int) -> str:
    """Return the time as Go writes it: nine digits at most, and the year 1 if there is no time."""
    if not time_ns:
        return "0001-01-01T00:00:00Z"
    text = f"{whole_second(time_ns):%Y-%m-%dT%H:%M:%S}"
    rest = f"{time_ns % NS_PER_S:09d}".rstrip("0")
    return f"{text}.{rest}Z" if rest else f"{text}Z"


def manifest(run: Run) -> bytes:
    """Return the run's manifest, in lakeFS's form."""
    document: dict[str, Any] = {
        "run": {
            "run_id": run.id,
            "branch_id": run.branch,
            "source_ref": run.source_ref,
            "event_type": run.event,
            "commit_id": run.commit_id,
            "start_time": moment(run.start_ns),
            "end_time": moment(run.end_ns),
            "passed": run.status is HookStatus.COMPLETED,
        },
        "hooks": [
            {
                "run_id": run.id,
                "hook_run_id": hook.id,
                "hook_id": hook.hook_id,
                "action_name": hook.action,
                "start_time": moment(hook.start_ns),
                "end_time": moment(hook.end_ns),
                "passed": hook.status is HookStatus.COMPLETED,
            }
            for hook in run.hooks
        ],
    }
    if not run.commit_id:
        del document["run"]["commit_id"]
    return msgspec.json.encode(document)


def run_of(occurrence: Occurrence, hooks: tuple[HookRun, ...]) -> Run:
    """Return the finished run of the occurrence."""
    ran = [hook for hook in hooks if hook.status is not HookStatus.SKIPPED]
    return Run(
        id=occurrence.run_id,
        event=occurrence.event,
        branch=occurrence.branch,
        source_ref=occurrence.source_ref,
        commit_id=occurrence.commit_id,
        start_ns=min((hook.start_ns for hook in ran), default=0),
        end_ns=max((hook.end_ns for hook in ran), default=0),
        hooks=hooks,
    )


def problems_of(run: Run) -> str:
    """Return why the run failed, in lakeFS's words: a list of one error for each failed action."""
    first: dict[str, HookRun] = {}
    for hook in run.failed:
        first.setdefault(hook.action, hook)
    errors = [
        f"hook run id '{hook.id}' failed on action '{hook.action}' hook '{hook.hook_id}': "
        f"action failed: {hook.error}"
        for hook in first.values()
    ]
    head = "1 error occurred" if len(errors) == 1 else f"{len(errors)} errors occurred"
    return f"{head}:\n\t* " + "\n\t* ".join(errors) + "\n\n"


def event_body(repository: str, action: str, hook: str, time: str, about: Occurrence) -> bytes:
    """Return what a hook gets, as JSON in lakeFS's form; empty fields are left out."""
    always = {
        "event_type": about.event,
        "event_time": time,
        "action_name": action,
        "hook_id": hook,
        "repository_id": repository,
    }
    maybe = {
        "branch_id": about.branch,
        "source_ref": about.source_ref,
        "tag_id": about.tag,
        "commit_id": about.commit_id,
        "commit_message": about.message,
        "committer": about.committer,
        "commit_metadata": about.metadata,
        "merge_source": about.merge_source,
    }
    return msgspec.json.encode(always | {name: value for name, value in maybe.items() if value})
