"""The API's operations of continuous export."""

from typing import TYPE_CHECKING

from msgspec import Struct

from graveler_cli.uris import BranchUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_BRANCH = "/repositories/{repository}/branches/{branch}"
_CONFIGURATION = f"{_BRANCH}/continuous-export"

IN_PROGRESS = "in-progress"
FAILED = "export-failed"


class ExportConfiguration(Struct, frozen=True, rename="camel"):
    """The export configuration of a branch."""

    export_path: str
    export_status_path: str = ""
    last_keys_in_prefix_regexp: tuple[str, ...] = ()
    is_continuous: bool = False


class ExportStatus(Struct, frozen=True, rename="camel"):
    """The status of a branch's export; missing commits and export IDs are ""."""

    state: str
    is_pending: bool = False
    export_id: str = ""
    commit_id: str = ""
    exported_commit_id: str = ""
    started_at: int = 0  # Unix seconds
    objects_done: int = 0
    objects_total: int = 0
    objects_failed: int = 0
    errors: tuple[str, ...] = ()
    error_message: str = ""

    @property
    def is_over(self) -> bool:
        """Whether no export is in progress or about to start."""
        return self.state != IN_PROGRESS and not self.is_pending


class Exports:
    """The export of one branch; every method raises CommandError if the server refuses."""

    def __init__(self, server: "LakeClient", branch: BranchUri) -> None:
        self._server = server
        self._names = {"repository": branch.repository, "branch": branch.branch}

    def configuration(self) -> ExportConfiguration:
        """Return the branch's configuration."""
        return self._server.ask("GET", _CONFIGURATION, self._names, ExportConfiguration)

    def configure(self, configuration: ExportConfiguration, *, force: bool = False) -> None:
        """Replace the branch's configuration; with force, even if the path holds objects."""
        self._server.ask(
            "PUT", _CONFIGURATION, self._names, str, configuration, query={"force": force or None}
        )

    def delete(self) -> None:
        """Delete the export of the branch, and free its path."""
        self._server.ask("DELETE", _CONFIGURATION, self._names, str)

    def run(self) -> str:
        """Start an export and return its ID."""
        return self._server.ask("POST", f"{_BRANCH}/export-hook", self._names, str)

    def repair(self) -> None:
        """Resume a failed export."""
        self._server.ask("POST", f"{_BRANCH}/repair-export", self._names, str)

    def status(self) -> ExportStatus:
        """Return the status of the export."""
        return self._server.ask("GET", f"{_BRANCH}/export-status", self._names, ExportStatus)
