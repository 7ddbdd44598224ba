"""One run of the program: what its options say, which all commands have."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graveler_cli.configuration import Configuration
from graveler_cli.output import CommandOutput
from graveler_cli.uris import SCHEME, BranchUri, ObjectUri, PathUri, RefUri, RepositoryUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient


@dataclass
class CommandSession:
    """The configuration, the base of URIs, and where the output goes."""

    config: Path | None = None  # None: the default, ~/.lakectl.yaml, which need not exist
    base_uri: str = ""
    output: CommandOutput = field(default_factory=CommandOutput)
    has_debug: bool = False  # a failure shows its traceback

    @cached_property
    def configuration(self) -> Configuration:
        """The configuration.

        Raises:
            CommandError: the file named does not exist, or cannot be read.
        """
        return Configuration.read(self.config)

    @cached_property
    def server(self) -> "LakeClient":
        """The server in the configuration.

        Raises:
            CommandError: the configuration has no endpoint or no credentials.
        """
        # Imported late, because help and mistakes need not wait for it.
        from graveler_cli.client import LakeClient  # noqa: PLC0415

        return LakeClient.of(self.configuration)

    def repository(self, text: str) -> RepositoryUri:
        """Return the repository that an argument names.

        Raises:
            UsageError: the argument does not name a repository.
        """
        return RepositoryUri.parse(self._completed(text))

    def branch(self, text: str) -> BranchUri:
        """Return the branch that an argument names.

        Raises:
            UsageError: the argument does not name a branch.
        """
        return BranchUri.parse(self._completed(text))

    def ref(self, text: str) -> RefUri:
        """Return the branch, tag or commit that an argument names; as lakefs://REPO/dev~3.

        Raises:
            UsageError: the argument does not name one.
        """
        return RefUri.parse(self._completed(text))

    def path(self, text: str) -> PathUri:
        """Return the object or folder that an argument names; the path may be empty.

        Raises:
            UsageError: the argument does not name one.
        """
        return PathUri.parse(self._completed(text))

    def object(self, text: str) -> ObjectUri:
        """Return the object that an argument names.

        Raises:
            UsageError: the argument does not name an object.
        """
        return ObjectUri.parse(self._completed(text))

    def _completed(self, text: str) -> str:
        return text if text.startswith(SCHEME) else self.base_uri + text
