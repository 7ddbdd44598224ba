"""The files under a status path: their names and contents.

<repository>-<branch>-<commit>                  how the export of that commit ended
<repository>-<branch>-<commit>.manifest.jsonl   every object of the commit (`manifest`)
_STATUS_<time>.json                             whether the exported objects are consistent now
"""

import json
import re
from collections.abc import Mapping

from graveler.export.record import ExportConfiguration, ExportState
from graveler.identity import ID_LENGTH
from graveler.model import CommitID
from graveler.times import NS_PER_S, whole_second

TEXT_TYPE = "text/plain; charset=utf-8"
JSON_TYPE = "application/json"

SUCCESS = "success"
FAILED = "failed"
# A later run has begun to change the objects.
SUPERSEDED = "superseded"


def status_file(
    configuration: ExportConfiguration, repository: str, branch: str, commit_id: CommitID
) -> str:
    """Return the URI of a commit's status file; "" without a status path."""
    if not configuration.status_path:
        return ""
    return f"{configuration.status_path}/{_name(repository, branch, commit_id)}"


def _name(repository: str, branch: str, commit_id: CommitID) -> str:
    return f"{repository}-{branch}-{commit_id}"


def manifest_file(file: str) -> str:
    """Return the URI of the manifest next to a status file."""
    return f"{file}.manifest.jsonl"


def longest_name(repository: str, branch: str) -> str:
    """Return a name as long as the longest that a branch's exports have under the status path."""
    return manifest_file(_name(repository, branch, CommitID("0" * ID_LENGTH)))


def is_report(uri: str, configuration: ExportConfiguration, repository: str, branch: str) -> bool:
    """Whether the URI is that of a file which exports of the branch write to the status path."""
    place, _, name = uri.rpartition("/")
    of_commit = (
        re.escape(f"{repository}-{branch}-") + rf"[0-9a-f]{{{ID_LENGTH}}}(\.manifest\.jsonl)?"
    )
    is_named = re.fullmatch(rf"{of_commit}|_STATUS_[0-9T]{{15}}\.[0-9]{{9}}Z\.json", name)
    return place == configuration.status_path and is_named is not None


def latest_file(configuration: ExportConfiguration, started_ns: int) -> str:
    """Return the URI of the run's _STATUS_<time>.json; "" without a status path.

    The time is the run's start, so that a runner that takes the run over writes the same file.
    """
    if not configuration.status_path:
        return ""
    time = f"{whole_second(started_ns):%Y%m%dT%H%M%S}.{started_ns % NS_PER_S:09}Z"
    return f"{configuration.status_path}/_STATUS_{time}.json"


def status_text(state: ExportState, signalled_errors: int) -> bytes:
    """Return the text of a status file."""
    return f"status: {state}, signalled_errors: {signalled_errors}\n".encode()


def latest_text(fields: Mapping[str, object]) -> bytes:
    """Return the text of a _STATUS_<time>.json."""
    return json.dumps(fields, indent=2).encode() + b"\n"


def superseded_text(text: bytes, export_id: str) -> bytes:
    """Return the text of a _STATUS_<time>.json after a later run has begun to change the objects.

    Unreadable text is replaced.
    """
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    known = fields if isinstance(fields, dict) else {}
    return latest_text(known | {"status": SUPERSEDED, "superseded_by": export_id})
