"""lakectl's grammar of command lines, and its reports of failures.

click's grammar is almost the same. These classes add `--flag=true` and `--flag=false` to `--flag`
and `--no-flag`. A group without a command shows its help. The program's options may also follow the
command, and every command has --json. The function of a command gets the session, then its
arguments and options. Every failure is one line on stderr with exit code 1, as in lakectl; only
--debug shows a traceback.
"""

import json
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import click

from graveler_cli import plugins
from graveler_cli.configuration import CONFIG_VARIABLE
from graveler_cli.errors import UsageError
from graveler_cli.output import harmless
from graveler_cli.session import CommandSession

Function = Callable[..., None]
Decorator = Callable[[Function], Function]

# The Booleans that lakectl accepts.
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}

# A file that the command opens, and reports on if it cannot.
FILE = click.Path(path_type=Path, readable=False)


class Option(click.Option):
    """An option; the help shows its default, if that is not empty, and its variable."""

    def __init__(self, param_decls: Sequence[str], **extra: Any) -> None:  # noqa: ANN401 - click's
        extra.setdefault("show_default", bool(extra.get("default")))
        extra.setdefault("show_envvar", True)
        super().__init__(param_decls, **extra)


class Flag(Option):
    """A flag, and its negative spelling, which the help omits if the flag is off by default."""

    def __init__(
        self,
        param_decls: Sequence[str],
        *,
        default: bool | None = False,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> None:
        name = max((each for each in param_decls if each.startswith("-")), key=len)
        # A flag that is --no-... itself has no other spelling.
        self.negative = "" if name.startswith("--no-") else f"--no-{name.lstrip('-')}"
        if default is not False:
            param_decls = [
                f"{each}/{self.negative}" if each == name else each for each in param_decls
            ]
            extra.setdefault("show_default", "on" if default else False)
        super().__init__(param_decls, is_flag=True, default=default, **extra)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click's
        shown = self.secondary_opts
        self.secondary_opts = [self.negative] if self.negative else []
        super().add_to_parser(parser, ctx)
        self.secondary_opts = shown


def option(*names: str, **extra: Any) -> Decorator:  # noqa: ANN401 - click's
    """Return the decorator that adds an option to a command."""
    return click.option(*names, cls=Option, **extra)


def flag(*names: str, **extra: Any) -> Decorator:  # noqa: ANN401 - click's
    """Return the decorator that adds a flag to a command."""
    return click.option(*names, cls=Flag, **extra)


class Command(click.Command):
    """A command with --json and the program's options, whose function gets the session."""

    def __init__(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **extra)
        self.params += _program_options(self.params, is_first=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Behind the first word of another program's command line, all is its own.
        spelled = _spelled_out if ctx.allow_interspersed_args else _spelled_before_words
        return super().parse_args(ctx, spelled(args, self.params))

    def invoke(self, ctx: click.Context) -> object:
        assert self.callback
        return ctx.invoke(self.callback, ctx.obj, **ctx.params)


class CommandGroup(click.Group):
    """A group of commands; without a command, it shows its help, as `help COMMAND` does.

    The program's options may precede its command.
    """

    command_class = Command
    _is_program = False

    def __init__(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **extra)
        self.params += _program_options(self.params, is_first=self._is_program)

    def add_alias(self, name: str, command: click.Command) -> None:
        """Accept another name for a command, which the help omits."""
        self.add_command(_renamed(command, name, is_hidden=True))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return list(self.commands)  # in the order of their work

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries(ctx)))

    def _summaries(self, ctx: click.Context) -> Iterator[tuple[str, str]]:
        """Yield the names in the help, each with the first paragraph of the command's own help."""
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command and not command.hidden:
                yield name, " ".join((command.help or "").partition("\n\n")[0].split())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] == "help" and "help" not in names:
            args = [*args[1:], "--help"]
            if len(args) == 1:
                self.parse_args(ctx, args)  # which ends with this group's own help
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _spelled_before_words(args, self.params) or ["--help"])


_PROGRAM_OPTIONS: tuple[Callable[..., Option], ...] = (
    partial(
        Option,
        ["config", "--config", "-c"],
        type=FILE,
        envvar=CONFIG_VARIABLE,
        help="Configuration file of lakectl.",
        show_default="~/.lakectl.yaml",
    ),
    partial(
        Option,
        ["base_uri", "--base-uri"],
        envvar="LAKECTL_BASE_URI",
        help="Prefix of URIs without lakefs://, such as lakefs://REPO/",
    ),
    partial(Flag, ["no_color", "--no-color"], help="Use no colors."),
    partial(Flag, ["as_json", "--json"], help="Print one JSON object, or one a line."),
    partial(
        Flag,
        ["has_debug", "--debug", "--verbose", "-d"],
        help="Show the traceback of a failure.",
    ),
    # Accepted and ignored: this program does not write lakectl's logs.
    partial(Option, ["log_level", "--log-level"], hidden=True),
    partial(Option, ["log_format", "--log-format"], hidden=True),
    partial(Option, ["log_output", "--log-output"], hidden=True),
)


def _program_options(taken: Iterable[click.Parameter], *, is_first: bool) -> Iterator[Option]:
    """Yield the program's options, without the spellings that these parameters take."""
    spellings = {spelling for each in taken for spelling in each.opts}
    for declared in _PROGRAM_OPTIONS:
        each = declared(expose_value=False, callback=_keep)
        each.opts = [spelling for spelling in each.opts if spelling not in spellings]
        if not is_first:
            # The variables are read once, and the help of each command shows --json only.
            each.envvar, each.hidden = None, each.name != "as_json"
        if each.opts:
            yield each


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:  # noqa: ANN401 - click's
    """Store an option of the program in the session, wherever it stands."""
    session = ctx.obj
    if not value:
        return
    match param.name:
        case "config" | "base_uri" | "has_debug":
            setattr(session, param.name, value)
        case "as_json":
            session.output.as_json = True
        case "no_color":
            session.output.has_color = False


class Program(CommandGroup):
    """The whole command line.

    A command's module, in graveler_cli.commands, is imported when the command is named. It has
    `app`, a group, or `command`, a single command.
    """

    # By command: the module, and whether the help leaves the command out.
    modules: ClassVar[Mapping[str, tuple[str, bool]]] = {}
    # By command: its line in the help, which therefore imports no command.
    summaries: ClassVar[Mapping[str, str]] = {}
    _is_program = True

    def _summaries(self, ctx: click.Context) -> Iterator[tuple[str, str]]:  # noqa: ARG002 - click's
        for name, (_, is_hidden) in self.modules.items():
            if not is_hidden:
                yield name, self.summaries[name]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return list(self.modules)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in self.modules:
            found = plugins.find(cmd_name)
            return plugins.PluginCommand(found) if found else None
        module_name, is_hidden = self.modules[cmd_name]
        module = import_module(f"graveler_cli.commands.{module_name}")
        command = getattr(module, "app", None) or module.command
        return _renamed(command, cmd_name, is_hidden=is_hidden)

    def main(self, *args: Any, **extra: Any) -> NoReturn:  # noqa: ANN401 - click's
        """Run the command that the arguments name, and end the process with its exit code."""
        words = [*args, extra.get("args")][0] or sys.argv[1:]
        session = CommandSession()
        try:
            # Only --help and click.exceptions.Exit return a code.
            code = super().main(*args, **{**extra, "obj": session, "standalone_mode": False}) or 0
        except click.Abort:
            code = 130  # Ctrl-C before the command
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one line
            if session.has_debug:
                trace = "".join(traceback.format_exception(error))
                click.echo(harmless(trace), err=True, nl=False)
            click.echo(_failure(error, session, as_json="--json" in words), err=True)
            code = 1  # click says 2 of wrong arguments
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None  # without click's line


def _renamed(command: click.Command, name: str, *, is_hidden: bool) -> click.Command:
    other = copy(command)  # which may have several names
    other.name, other.hidden = name, is_hidden
    return other


def _valued(parameters: list[click.Parameter]) -> set[str]:
    """Return the spellings of the options that take a value."""
    options = (each for each in parameters if isinstance(each, Option))
    return {name for each in options if not each.is_flag for name in each.opts}


def _spelled_before_words(args: list[str], parameters: list[click.Parameter]) -> list[str]:
    """Return the arguments; those before the first word, such as a command, in click's spelling."""
    valued = _valued(parameters)
    words = enumerate(zip(args, ["", *args], strict=False))
    own = (at for at, (arg, before) in words if arg[:1] != "-" and before not in valued)
    count = next(own, len(args))
    return [*_spelled_out(args[:count], parameters), *args[count:]]


def _spelled_out(args: list[str], parameters: list[click.Parameter]) -> list[str]:
    """Return the arguments in click's spelling.

    `--flag=<Boolean>` becomes `--flag` or `--no-flag`, and `-x=value` becomes `-xvalue`. A flag
    `--no-flag=false` takes back an earlier `--no-flag`.

    Raises:
        UsageError: a flag's value is not a Boolean.
    """
    # By spelling: what to write if it is true, and if it is false.
    flags: dict[str, tuple[str, str]] = {}
    for flag in (each for each in parameters if isinstance(each, Flag)):
        flags |= {name: (name, flag.negative) for name in flag.opts}
        if flag.negative:
            flags[flag.negative] = flag.negative, flag.opts[0]
    valued = _valued(parameters)
    words: list[str] = []
    options, is_value = True, False
    for arg in args:
        options = options and (is_value or arg != "--")
        name, equals, value = arg.partition("=")
        if is_value or not options:
            words.append(arg)
            is_value = False
        elif not (equals and name in flags):
            joined, is_value = _joined(arg, flags, valued)
            words.append(joined)
        elif value not in _BOOLEANS:
            raise UsageError(f"{name} is {value!r}: write true or false")
        elif spelling := flags[name][not _BOOLEANS[value]]:
            words.append(spelling)
        else:
            words = [word for word in words if word != name]
    return words


def _joined(arg: str, flags: Container[str], valued: Container[str]) -> tuple[str, bool]:
    """Return an argument without the equals sign of `-x=value`; and whether the next is its value.

    Flags may precede the option, as in `-yx`. To lakectl, a lone equals sign is the value.
    """
    if arg[:1] != "-" or arg[:2] == "--":
        return arg, arg in valued
    for at, letter in enumerate(arg[1:], 2):
        if f"-{letter}" in valued:
            value = arg[at:]
            return arg[:at] + (value[1:] if value[:1] == "=" != value else value), not value
        if f"-{letter}" not in flags:
            break
    return arg, False


def _failure(error: Exception, session: CommandSession, *, as_json: bool) -> str:
    """Return the line about a failure, with the request's ID in the server's logs."""
    line = _line_of(error)
    request_id = getattr(error, "request_id", "")
    if as_json:
        # Only a server's refusal has a status and an ID.
        status = getattr(error, "status", None)
        return json.dumps({"error": line, "status": status, "request_id": request_id or None})
    return f"error: {line}" + (
        f" (request {request_id})" if session.has_debug and request_id else ""
    )


def _line_of(error: Exception) -> str:
    """Return the message on one line; refer to the help if the command line is wrong."""
    # The message may have names of other users: they must not control the terminal.
    text = _message_of(error)
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    context = getattr(error, "ctx", None)
    if context is None:
        return line
    line = line[:1].lower() + line[1:].removesuffix(".")
    return f"{line}{' See' if line.endswith('?') else '; see'} {context.command_path} --help"


def _message_of(error: Exception) -> str:
    match error:
        case click.NoSuchOption(option_name=name) | click.NoSuchCommand(command_name=name):
            # A negative spelling is nobody's first thought.
            meant = [
                repr(each)
                for each in error.possibilities or ()
                if not each.startswith("--no-") or name.startswith("--no-")
            ]
            return f"{error.message} Did you mean {', '.join(meant)}?" if meant else error.message
        case click.ClickException():
            return error.format_message()
        case UnicodeEncodeError():
            wrong = error.object[max(error.start - 20, 0) : error.end + 20]
            return f"{wrong!r} is not UTF-8: write it in UTF-8"
        case OSError():
            reason = (error.strerror or str(error)).lower()
            return f"{reason}: {error.filename}" if isinstance(error.filename, str) else reason
    return f"{type(error).__name__}: {error}; please report it (--debug shows where)"
