"""Errors that end a command with one line on stderr and an exit code."""

from click import ClickException


class CommandError(ClickException):
    """The command failed; the message has the cause and the remedy."""

    exit_code = 1


class UsageError(CommandError):
    """The command line is wrong."""

    exit_code = 1  # lakectl's, for every failure


class NotInstalledError(CommandError):
    """A command needs packages that only an extra of the package installs."""

    def __init__(self, missing: ImportError, extra: str) -> None:
        super().__init__(
            f"{missing.name} is not installed: "
            f"install the extra '{extra}' (docs/cli.md, Installation)"
        )
