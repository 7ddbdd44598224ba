"""Command lines like lakectl's, and the reports of their failures.

Typer's grammar is almost the same. These classes add `--flag=true` and `--flag=false` to `--flag`
and `--no-flag`. A group without a command shows its help. Every failure is one line on stderr with
an exit code; only --debug shows a traceback.
"""

import sys
import traceback
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from cli.errors import UsageError

# The Booleans that lakectl accepts.
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Command(TyperCommand):
    """A command whose flags may be followed by `=true` or `=false`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        # The positive and the negative spelling of each flag, by the positive one.
        flags = {
            name: (parameter.opts[0], parameter.secondary_opts[0])
            for parameter in self.params
            if parameter.secondary_opts
            for name in parameter.opts
        }
        return super().parse_args(ctx, [*_spelled_out(args, flags)])


class Group(TyperGroup):
    """A group of commands, which shows its help when none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        return super().parse_args(ctx, args or ["--help"])


class Program(Group):
    """The whole command line."""

    def main(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - as Typer calls it
        """Run the command that the arguments name, and end the process with its exit code."""
        try:
            # Only --help and typer.Exit return a code.
            code = super().main(*args, **{**extra, "standalone_mode": False}) or 0
        except typer.TyperException as error:
            typer.echo(f"error: {_line_of(error)}", err=True)
            code = error.exit_code
        except typer.Abort:
            code = 1
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        try:
            return super().invoke(ctx)
        except Exception as error:
            if ctx.params["debug"] and not isinstance(error, typer.Exit):
                typer.echo("".join(traceback.format_exception(error)), err=True, nl=False)
            # Typer ends silently after BrokenPipeError: nobody reads the output any more.
            if isinstance(error, (typer.TyperException, typer.Exit, typer.Abort, BrokenPipeError)):
                raise
            if isinstance(error, OSError):
                raise typer.TyperException((error.strerror or str(error)).lower()) from error
            bug = f"{type(error).__name__}: {error}; please report it (--debug shows where)"
            raise typer.TyperException(bug) from error


def _spelled_out(args: list[str], flags: dict[str, tuple[str, str]]) -> Iterable[str]:
    """Yield the arguments with `--flag=<Boolean>` as `--flag` or `--no-flag`.

    Raises:
        UsageError: a flag's value is not a Boolean.
    """
    options = True
    for arg in args:
        options = options and arg != "--"
        name, equals, value = arg.partition("=")
        if not (options and equals and name in flags):
            yield arg
        elif value in _BOOLEANS:
            yield flags[name][0 if _BOOLEANS[value] else 1]
        else:
            raise UsageError(f"{name} is {value!r}: write true or false")


def _line_of(error: typer.TyperException) -> str:
    """Return the message on one line; refer to the help if the command line is wrong."""
    line = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is None:
        return line
    line = line[:1].lower() + line[1:].removesuffix(".")
    return f"{line}; see {context.command_path} --help"
