"""The garbage collection rules of a repository, in files and in the API."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, structs

from graveler_cli.arguments import content_of
from graveler_cli.errors import CommandError
from graveler_cli.schemas import TaskCreation
from graveler_cli.uris import RepositoryUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_PREPARE = "/repositories/{repository}/gc/prepare_commits"
_RULES = "/repositories/{repository}/settings/gc_rules"


class GarbageCollectionRule(Struct, frozen=True, forbid_unknown_fields=True):
    """The days for which deleted objects of a branch are kept."""

    branch_id: str
    retention_days: int


class GarbageCollectionRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The days for which deleted objects are kept: by default, and on some branches."""

    default_retention_days: int
    branches: (
        tuple[GarbageCollectionRule, ...] | None
    ) = ()  # null is how lakeFS writes an empty list


class CommitList(Struct, frozen=True):
    """The locations of a list of commits, and of addresses."""

    run_id: str
    gc_commits_location: str
    gc_addresses_location: str = ""
    gc_commits_presigned_url: str = ""


class TaskError(Struct, frozen=True):
    """The error of a failed task."""

    message: str


class Preparation(Struct, frozen=True, omit_defaults=True):
    """The status of a task that lists commits."""

    task_id: str
    completed: bool
    update_time: str
    result: CommitList | None = None
    error: TaskError | None = None


def read_rules(file: Path) -> GarbageCollectionRules:
    """Return the rules in a JSON file; `-` is standard input.

    Raises:
        CommandError: the file cannot be read, or has no valid rules.
    """
    text = content_of(file)
    try:
        return msgspec.json.decode(text, type=GarbageCollectionRules)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(
            f"{file} does not have valid rules: {error}; write "
            '{"default_retention_days": 14, '
            '"branches": [{"branch_id": "main", "retention_days": 21}]}'
        ) from error


class Retention:
    """The rules of one repository on its server.

    Every method raises CommandError if the request fails.
    """

    def __init__(self, server: "LakeClient", repository: RepositoryUri) -> None:
        self._server = server
        self._names = {"repository": repository.repository}

    def rules(self) -> GarbageCollectionRules:
        """Return the rules."""
        return self._server.ask("GET", _RULES, self._names, GarbageCollectionRules)

    def set_rules(self, rules: GarbageCollectionRules) -> None:
        """Replace the rules."""
        whole = structs.replace(rules, branches=rules.branches or ())
        self._server.ask("PUT", _RULES, self._names, str, whole)

    def delete_rules(self) -> None:
        """Delete the rules. Without rules, committed objects are never collected."""
        self._server.ask("DELETE", _RULES, self._names, str)

    def prepare(self) -> TaskCreation:
        """Start listing the commits that garbage collection keeps."""
        return self._server.ask("POST", f"{_PREPARE}/async", self._names, TaskCreation)

    def preparation(self, task_id: str) -> Preparation:
        """Return the status of the task that `prepare` started."""
        query = {"id": task_id}
        return self._server.ask("GET", f"{_PREPARE}/status", self._names, Preparation, query=query)
