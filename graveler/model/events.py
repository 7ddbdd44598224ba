"""Events as subscribers receive them: a detail type and a JSON detail on the bus.

docs/events.md and docs/events.schema.json document the same for subscribers. Published fields are
never removed or changed without a new version; new fields may be added at any time.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from graveler.model import CommitID, Event
from graveler.times import whole_second

SOURCE = "graveler"
VERSION = "1"

DETAIL_TYPES: Mapping[str, str] = {
    "repository_created": "Repository Created",
    "repository_restored": "Repository Restored",
    "repository_deleted": "Repository Deleted",
    "branch_created": "Branch Created",
    "branch_deleted": "Branch Deleted",
    "branch_reset": "Branch Reset",
    "tag_created": "Tag Created",
    "tag_deleted": "Tag Deleted",
    "commit_created": "Commit Created",
    "merge_completed": "Merge Completed",
    "revert_completed": "Revert Completed",
    "cherry_pick_completed": "Cherry-Pick Completed",
    "import_completed": "Import Completed",
    "table_committed": "Table Committed",
    "pull_request_created": "Pull Request Created",
    "pull_request_updated": "Pull Request Updated",
    "pull_request_merged": "Pull Request Merged",
    "pull_request_reviewed": "Pull Request Reviewed",
    "pull_request_commented": "Pull Request Commented",
    "export_requested": "Export Requested",
    "export_finished": "Export Finished",
    "garbage_collection_finished": "Garbage Collection Finished",
    "task_started": "Task Started",
    "task_progressed": "Task Progressed",
    "task_completed": "Task Completed",
    "task_failed": "Task Failed",
    "task_cancelled": "Task Cancelled",
}

# The kinds after which an export may have work to do: the bus sends them to the export queue. Not
# "export_finished": exports would trigger themselves for ever.
EXPORT_TRIGGERS = (
    "commit_created",
    "merge_completed",
    "revert_completed",
    "cherry_pick_completed",
    "import_completed",
    "branch_reset",
    "branch_deleted",
    "export_requested",
)

# The kinds that name a task to run: the bus sends them to the queue of tasks.
TASK_TRIGGERS = ("task_started",)

# EventBridge and SQS carry 256 KB at most; both wrap the detail in some hundred bytes.
DETAIL_BYTES_MAX = 240 * 1024

# The values of a larger detail are shortened to these sizes. A commit's message and metadata may
# have 300 KB together; a subscriber that needs all of it reads the commit.
_TEXT_BYTES = 32 * 1024
_MAPPING_BYTES = 128 * 1024


def detail_type(kind: str) -> str:
    """Return a kind's detail type, derived from its name if a newer version wrote the event."""
    return DETAIL_TYPES.get(kind) or kind.replace("_", " ").title()


def detail_of(event: Event) -> str:
    """Return the event's detail as JSON of at most DETAIL_BYTES_MAX bytes."""
    detail: dict[str, object] = {
        "version": VERSION,
        "id": event.id,
        "kind": event.kind,
        "time": time_of(event).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "repository": event.repository,
        **event.detail,
    }
    return shortened(detail)


def heads_in(event: Event) -> Iterator[tuple[str, CommitID]]:
    """Yield each head that the change gave a branch or took from it, with the branch's name.

    Events of every kind that moves, makes or deletes a branch name both heads.
    """
    detail = event.detail
    branch, commit_id = detail.get("branch"), detail.get("commit_id")
    if not isinstance(branch, str) or not commit_id:
        return
    parents = detail.get("parents", ())
    assert isinstance(parents, Sequence)
    # The first parent of a new commit was the branch's head.
    for each in (commit_id, detail.get("old_commit_id"), *parents[:1]):
        if each:
            yield branch, CommitID(str(each))


def shortened(detail: Mapping[str, object]) -> str:
    """Return the detail as JSON of at most DETAIL_BYTES_MAX bytes; long values may be cut."""
    encoded = msgspec.json.encode(detail)
    if len(encoded) > DETAIL_BYTES_MAX:
        cut = {name: _shortened(value) for name, value in detail.items()}
        encoded = msgspec.json.encode(cut | {"truncated": True})
    # A commit message may contain these characters, but SQS refuses messages that do.
    return encoded.decode().replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def time_of(event: Event) -> datetime:
    """Return the time of the event, in UTC and to the microsecond."""
    moment = whole_second(event.time_ns)
    return moment.replace(microsecond=event.time_ns // 1000 % 10**6)


def _shortened(value: object) -> object:
    """Cut a long text, and drop the last pairs, by name, of a large mapping."""
    if isinstance(value, str):
        lengths = range(len(value) + 1)
        fitting = bisect_right(lengths, _TEXT_BYTES, key=lambda n: _json_bytes(value[:n]))
        return value[: fitting - 1]
    if isinstance(value, Mapping):
        left = _MAPPING_BYTES
        kept = {}
        for name, text in sorted(value.items()):
            left -= _json_bytes({name: text})
            if left < 0:
                break
            kept[name] = text
        return kept
    return value


def _json_bytes(value: object) -> int:
    return len(msgspec.json.encode(value))
