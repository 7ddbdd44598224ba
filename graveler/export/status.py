"""The files under a status path: what they are called, and what stands in them.

<repository>-<branch>-<commit>                  how the export of that commit ended
<repository>-<branch>-<commit>.manifest.jsonl   every object of the commit (`manifest`)
_STATUS_<time>.json                             whether the exported objects are good now
"""

import json
from collections.abc import Mapping

from graveler.export.model import ExportConfiguration, ExportState
from graveler.identity import ID_LENGTH
from graveler.times import NS_PER_S, whole_second

TEXT_TYPE = "text/plain; charset=utf-8"
JSON_TYPE = "application/json"

SUCCESS = "success"
FAILED = "failed"
# Another run has begun to change the objects since.
SUPERSEDED = "superseded"


def status_file(
    configuration: ExportConfiguration, repository: str, branch: str, commit_id: str
) -> str:
    """The URI of the file that says how the export of a commit ended; "" without a status path."""
    if not configuration.status_path:
        return ""
    return f"{configuration.status_path}/{_name(repository, branch, commit_id)}"


def _name(repository: str, branch: str, commit_id: str) -> str:
    return f"{repository}-{branch}-{commit_id}"


def manifest_file(file: str) -> str:
    """The URI of the manifest beside the status file."""
    return f"{file}.manifest.jsonl"


def longest_name(repository: str, branch: str) -> str:
    """A name as long as any that a branch's exports have under its status path."""
    return manifest_file(_name(repository, branch, "0" * ID_LENGTH))


def latest_file(configuration: ExportConfiguration, started_ns: int) -> str:
    """The URI of the run's _STATUS_<time>.json; "" without a status path.

    The time is that of the run's start, so that whoever goes on with the run writes the same file.
    """
    if not configuration.status_path:
        return ""
    time = f"{whole_second(started_ns):%Y%m%dT%H%M%S}.{started_ns % NS_PER_S:09}Z"
    return f"{configuration.status_path}/_STATUS_{time}.json"


def status_text(state: ExportState, signalled_errors: int) -> bytes:
    """The text of a status file."""
    return f"status: {state}, signalled_errors: {signalled_errors}\n".encode()


def latest_text(fields: Mapping[str, object]) -> bytes:
    """The text of a _STATUS_<time>.json."""
    return json.dumps(fields, indent=2).encode() + b"\n"


def superseded_text(text: bytes, export_id: str) -> bytes:
    """The text of a _STATUS_<time>.json whose objects another run is about to change."""
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    known = fields if isinstance(fields, dict) else {}
    return latest_text(known | {"status": SUPERSEDED, "superseded_by": export_id})
