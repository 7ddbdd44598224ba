"""What stands before the command: the configuration and how URIs are completed."""

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
        """The server that the configuration names.

        Raises:
            CommandError: the configuration does not say where it is, or with which credentials.
        """
        if self.config is not None:
            if not self.config.is_file():
                raise CommandError(f"there is no configuration file {self.config}")
            os.environ[CONFIG_VARIABLE] = str(self.config)
        # The SDK takes half a second to import, which help and mistakes need not wait for.
        from cli.client import Server  # noqa: PLC0415

        return Server.from_configuration()

    def repository(self, text: str) -> RepositoryUri:
        """The repository that an argument names."""
        return RepositoryUri.parse(self._completed(text))

    def branch(self, text: str) -> BranchUri:
        """The branch that an argument names."""
        return BranchUri.parse(self._completed(text))

    def object(self, text: str) -> ObjectUri:
        """The object that an argument names."""
        return ObjectUri.parse(self._completed(text))

    def _completed(self, text: str) -> str:
        return text if text.startswith(SCHEME) else self.base_uri + text


def session_of(context: typer.Context) -> Session:
    """The session that the program began with."""
    session = context.obj
    assert isinstance(session, Session)
    return session
