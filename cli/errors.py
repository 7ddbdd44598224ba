"""What ends a command early: one line on stderr, and an exit code."""

from typer import TyperException


class CommandError(TyperException):
    """The command failed; the message names the thing and, where there is one, the remedy."""

    exit_code = 1


class UsageError(CommandError):
    """The command line itself is wrong."""

    exit_code = 2
