"""lakectl's grammar of command lines, and its reports of failures.

Typer's grammar is almost the same. These classes add `--flag=true` and `--flag=false` to `--flag`
and `--no-flag`. A group without a command shows its help. The program's options may also follow the
command, and every command has --json. Every failure is one line on stderr with exit code 1, as in
lakectl; only --debug shows a traceback.
"""

import json
import os
import sys
import traceback
from collections.abc import Container, Iterable, Mapping
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_group

from graveler_cli import plugins
from graveler_cli.conversion import simplified
from graveler_cli.errors import UsageError
from graveler_cli.output import harmless
from graveler_cli.session import CommandSession

# The Booleans that lakectl accepts.
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Command(TyperCommand):
    """A command with --json and the program's options; its flags may have `=true` or `=false`."""

    def __init__(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(*args, **extra)
        self.params += _shared_options(self.params)
        _shorten(self.params)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own
        return simplified(super().get_params(ctx))

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        return _with_negatives(super().make_parser(ctx), self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        return super().parse_args(ctx, _spelled_out(args, self.params))


class CommandGroup(TyperGroup):
    """A group of commands; without a command, it shows its help.

    The program's options may precede its command.
    """

    def __init__(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(*args, **extra)
        self.params += _shared_options(self.params)
        _shorten(self.params)

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own
        return simplified(super().get_params(ctx))

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        return _with_negatives(super().make_parser(ctx), self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        return super().parse_args(ctx, self._spelled(args) or ["--help"])

    def _spelled(self, args: list[str]) -> list[str]:
        """Return the arguments with those before the command spelled out."""
        valued = _valued(self.params)
        words = enumerate(zip(args, ["", *args], strict=False))
        own = (at for at, (arg, before) in words if arg[:1] != "-" and before not in valued)
        count = next(own, len(args))
        return [*_spelled_out(args[:count], self.params), *args[count:]]


def _everywhere(
    context: typer.Context,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, or one a line.")
    ] = False,
    config: Annotated[Path | None, typer.Option("--config", "-c", hidden=True)] = None,
    base_uri: Annotated[str, typer.Option("--base-uri", hidden=True)] = "",
    no_color: Annotated[bool, typer.Option("--no-color", hidden=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", "--verbose", "-d", hidden=True)] = False,
    # Accepted and ignored: this program does not write lakectl's logs.
    log_level: Annotated[str, typer.Option("--log-level", hidden=True)] = "",
    log_format: Annotated[str, typer.Option("--log-format", hidden=True)] = "",
    log_output: Annotated[str, typer.Option("--log-output", hidden=True)] = "",
) -> None:
    """Declare the options that may follow every command."""


def _shared_options(parameters: list[Any]) -> Iterable[TyperOption]:
    """Yield the program's options under the names that these parameters do not use."""
    taken = {spelling for each in parameters for spelling in each.opts}
    for shared in _program_options():
        if free := [spelling for spelling in shared.opts if spelling not in taken]:
            option = copy(shared)
            option.opts = free
            yield option


@cache
def _program_options() -> list[TyperOption]:
    app = typer.Typer(add_completion=False)
    app.command(cls=TyperCommand)(_everywhere)
    options = [each for each in get_command(app).params if isinstance(each, TyperOption)]
    for option in options:
        option.expose_value = False
        option.callback = _keep
    return options


def _keep(context: Any, parameter: Any, value: Any) -> Any:  # noqa: ANN401 - as Typer calls it
    """Store an option that follows the command in the session."""
    root = context.find_root()
    session = root.obj
    if value and context.resilient_parsing:
        root.params[parameter.name] = value  # for completion, which has no session
    if not value or context.resilient_parsing or not isinstance(session, CommandSession):
        return value
    match parameter.name:
        case "as_json":
            session.output.as_json = True
        case "config":
            session.config = value
        case "base_uri":
            session.base_uri = value
        case "no_color":
            session.output.has_color = False
        case "debug":
            root.params["debug"] = True
    return value


class Program(CommandGroup):
    """The whole command line.

    A command's module, in graveler_cli.commands, is imported when the command is named. It has
    `app`, the Typer of a group, or `command`, the function of a single command.
    """

    # By command: the module, and whether the help leaves the command out.
    modules: ClassVar[Mapping[str, tuple[str, bool]]] = {}
    # By command: its line in the help. A command without one is imported for it.
    summaries: ClassVar[Mapping[str, str]] = {}
    _lists_commands = False
    _has_debug = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        # lakectl's `help COMMAND` is `COMMAND --help`.
        is_help = args[:1] == ["help"] and "help" not in self.modules
        return super().parse_args(ctx, [*args[1:], "--help"] if is_help else args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        self._lists_commands = True
        super().format_help(ctx, formatter)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - Typer's own
        return list(self.modules)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - Typer's own
        if cmd_name not in self.modules:
            # Typer proposes one of these.
            unbuilt: dict[str, Any] = dict.fromkeys(self.modules)
            self.commands = {**unbuilt, **self.commands}
            found = plugins.find(cmd_name)
            return found and plugins.PluginCommand(found)
        if self._lists_commands and cmd_name in self.summaries:
            hidden = self.modules[cmd_name][1]
            return TyperCommand(cmd_name, help=self.summaries[cmd_name], hidden=hidden)
        if self.commands.get(cmd_name) is None:
            self.commands[cmd_name] = self._built(cmd_name)
        return self.commands[cmd_name]

    def _built(self, name: str) -> Any:  # noqa: ANN401 - Typer's own
        module_name, is_hidden = self.modules[name]
        module = import_module(f"graveler_cli.commands.{module_name}")
        if hasattr(module, "app"):
            built: Any = get_group(module.app)
        else:
            app = typer.Typer(add_completion=False)
            app.command(name, cls=Command)(module.command)
            built = get_command(app)
        built.name = name
        built.hidden = is_hidden
        return built

    def main(self, *args: Any, **extra: Any) -> None:  # noqa: ANN401 - as Typer calls it
        """Run the command that the arguments name, and end the process with its exit code."""
        words = [*args, extra.get("args")][0] or sys.argv[1:]
        if any(name.endswith("_COMPLETE") for name in os.environ):
            # A shell wants to complete a word.
            from typer._completion_classes import completion_init  # noqa: PLC0415

            completion_init()
        try:
            # Only --help and typer.Exit return a code.
            code = super().main(*args, **{**extra, "standalone_mode": False}) or 0
        except typer.TyperException as error:
            typer.echo(self._failure(error, as_json="--json" in words), err=True)
            code = 1  # Typer says 2 of wrong arguments
        except typer.Abort:
            code = 1
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        try:
            return super().invoke(ctx)
        except Exception as error:
            self._has_debug = bool(ctx.params["debug"])
            if self._has_debug and not isinstance(error, typer.Exit):
                trace = "".join(traceback.format_exception(error))
                typer.echo(harmless(trace), err=True, nl=False)
            # Typer ends silently after BrokenPipeError: the reader of the output has ended.
            if isinstance(error, (typer.TyperException, typer.Exit, typer.Abort, BrokenPipeError)):
                raise
            if isinstance(error, UnicodeEncodeError):
                wrong = error.object[max(error.start - 20, 0) : error.end + 20]
                raise typer.TyperException(f"{wrong!r} is not UTF-8: write it in UTF-8") from error
            if isinstance(error, OSError):
                raise typer.TyperException(_system_error(error)) from error
            bug = f"{type(error).__name__}: {error}; please report it (--debug shows where)"
            raise typer.TyperException(bug) from error

    def _failure(self, error: typer.TyperException, *, as_json: bool) -> str:
        """Return the line about a failure, with the request's ID in the server's logs."""
        line = _line_of(error)
        request_id = getattr(error, "request_id", "")
        if as_json:
            # Only a server's refusal has a status and an ID.
            status = getattr(error, "status", None)
            return json.dumps({"error": line, "status": status, "request_id": request_id or None})
        return f"error: {line}" + (
            f" (request {request_id})" if self._has_debug and request_id else ""
        )


def _shorten(parameters: list[Any]) -> None:
    """Leave out of the help the negative spelling of each flag that is off by default."""
    for flag in filter(_is_flag, parameters):
        if flag.default:
            flag.show_default = max(flag.opts, key=len)
        elif flag.default is not None:
            flag.secondary_opts = []


def _negative(flag: Any) -> str:  # noqa: ANN401 - Typer's own
    """Return the spelling that turns a flag off, --no-flag; "" if the flag is --no-... itself."""
    longest = max(flag.opts, key=len)
    return "" if longest.startswith("--no-") else f"--no-{longest.lstrip('-')}"


def _valued(parameters: list[Any]) -> set[str]:
    """Return the spellings of the options that take a value."""
    options = (each for each in parameters if not getattr(each, "is_flag", True))
    return {name for each in options for name in each.opts}


def _is_flag(parameter: Any) -> bool:  # noqa: ANN401 - Typer's own
    # --help and --version end the program, so they take no value.
    return bool(getattr(parameter, "is_bool_flag", False)) and not parameter.is_eager


def _with_negatives(parser: Any, parameters: list[Any]) -> Any:  # noqa: ANN401 - Typer's own
    """Return the parser with the negative spelling of each flag, which the help omits."""
    known = {name for each in parameters for name in (*each.opts, *each.secondary_opts)}
    for flag in filter(_is_flag, parameters):
        negative = _negative(flag)
        if negative and negative not in known:
            parser.add_option(
                obj=flag, opts=[negative], dest=flag.name, action="store_const", const=False
            )
    return parser


def _spelled_out(args: list[str], parameters: list[Any]) -> list[str]:
    """Return the arguments in Typer's spelling.

    `--flag=<Boolean>` becomes `--flag` or `--no-flag`, and `-x=value` becomes `-xvalue`. A flag
    `--no-flag=false` takes back an earlier `--no-flag`.

    Raises:
        UsageError: a flag's value is not a Boolean.
    """
    flags = {name: flag for flag in filter(_is_flag, parameters) for name in flag.opts}
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
        elif _BOOLEANS[value]:
            words.append(name)
        elif negative := _negative(flags[name]):
            words.append(negative)
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


def _system_error(error: OSError) -> str:
    """Return the system's message, with the file's name."""
    reason = (error.strerror or str(error)).lower()
    return f"{reason}: {error.filename}" if isinstance(error.filename, str) else reason


def _line_of(error: typer.TyperException) -> str:
    """Return the message on one line; refer to the help if the command line is wrong."""
    # The message may have names of other users: they must not control the terminal.
    text = error.format_message()
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    context = getattr(error, "ctx", None)
    if context is None:
        return line
    line = line[:1].lower() + line[1:].removesuffix(".")
    return f"{line}{' See' if line.endswith('?') else '; see'} {context.command_path} --help"
