"""The options before the command: the configuration, and the base of URIs."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.errors import CommandError
from cli.uris import SCHEME, BranchUri, ObjectUri, RepositoryUri

if TYPE_CHECKING:
    from cli.client import Server

CONFIG_VARIABLE = "LAKECTL_CONFIG_FILE"


@dataclass(frozen=True)
class Session:
    """One run of the program."""

    config: Path | None  # None: the SDK's default, ~/.lakectl.yaml, which need not exist
    base_uri: str

    @cached_property
    def server(self) -> "Server":
        """The server in the configuration.

        Raises:
            CommandError: the configuration has no endpoint or no credentials.
        """
        if self.config is not None:
            if not self.config.is_file():
                raise CommandError(f"configuration file {self.config} does not exist")
            os.environ[CONFIG_VARIABLE] = str(self.config)
        # Importing the SDK takes half a second, for which help and mistakes need not wait.
        from cli.client import Server  # noqa: PLC0415

        return Server.from_configuration()

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

    def object(self, text: str) -> ObjectUri:
        """Return the object that an argument names.

        Raises:
            UsageError: the argument does not name an object.
        """
        return ObjectUri.parse(self._completed(text))

    def _completed(self, text: str) -> str:
        return text if text.startswith(SCHEME) else self.base_uri + text


def session_of(context: typer.Context) -> Session:
    """Return the session that the program created."""
    session = context.obj
    assert isinstance(session, Session)
    return session
