"""Commands that send one request each, declared as rows of tables.

Most commands of `auth` take one or two names, send a request, and print a table or a line. `group`
makes commands from such rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graveler_cli.arguments import after_option, amount_option, prefix_option
from graveler_cli.commands.auth.schemas import Group
from graveler_cli.grammar import CommandGroup, Decorator, flag, option
from graveler_cli.output import local_time
from graveler_cli.schemas import CurrentUser, User
from graveler_cli.session import CommandSession

T = TypeVar("T")

_OWN = "the current user"


@dataclass(frozen=True)
class NameOption:
    """An option that names a thing."""

    option: str  # "access-key-id" is --access-key-id, and {access_key_id} in paths
    help: str
    is_required: bool = True  # if not, the default is the current user

    @property
    def field(self) -> str:
        """The name of the option in the program."""
        return self.option.replace("-", "_")

    @property
    def declared(self) -> Decorator:
        """What adds the option to a command."""
        if self.is_required:
            return option(f"--{self.option}", required=True, help=self.help)
        return option(f"--{self.option}", default="", help=self.help, show_default=_OWN)


USER = NameOption("id", "The user.")
OWN_USER = NameOption("id", "The user.", is_required=False)
GROUP = NameOption("id", "The group.")
POLICY = NameOption("id", "The policy.")
ATTACHED = NameOption("policy", "The policy.")
MEMBER = NameOption("user", "The user.")
PRINCIPAL = NameOption("principal-id", "The identity in AWS, such as the ARN of an IAM role.")


@dataclass(frozen=True)
class ListCommand(Generic[T]):
    """A command that shows a page of a listing."""

    help: str
    template: str
    shape: type[T]
    heads: Sequence[str]
    rows: Callable[[T], Iterable[Sequence[object]]]  # of one object
    names: Sequence[NameOption] = ()
    flags: Mapping[str, str] | None = None  # Booleans of the query, with their help

    @property
    def options(self) -> list[Decorator]:
        """What adds the options to the command, in their order."""
        return [
            *(name.declared for name in self.names),
            *(flag(f"--{name}", help=text) for name, text in (self.flags or {}).items()),
            amount_option,
            after_option,
            prefix_option,
        ]

    def run(self, session: CommandSession, given: Mapping[str, Any]) -> None:
        """Ask for the page, and print it."""
        asked = {name: given[name] for name in ("prefix", "after", "amount", *(self.flags or ()))}
        names = _completed(session, self.names, given)
        found = session.server.page(self.template, names, self.shape, asked)
        output = session.output
        if output.as_json:
            output.items(found.results, lambda _: ())
            return
        rows = [row for each in found.results for row in self.rows(each)]
        output.table(self.heads, rows, lambda row: row)
        if found.pagination.has_more:
            output.more(given["amount"], found.pagination.next_offset)
        output.line()  # as lakectl ends its tables


@dataclass(frozen=True)
class ChangeCommand:
    """A command that changes something and confirms it; with --json, it prints nothing."""

    help: str
    method: str
    template: str
    names: Sequence[NameOption]
    says: str
    body: object = None
    query: Mapping[str, str] | None = None  # by parameter: the field of the option

    @property
    def options(self) -> list[Decorator]:
        """What adds the options to the command, in their order."""
        return [name.declared for name in self.names]

    def run(self, session: CommandSession, given: Mapping[str, Any]) -> None:
        """Send the request, and confirm it."""
        names = _completed(session, self.names, given)
        query = {parameter: names[field] for parameter, field in (self.query or {}).items()}
        session.server.request(self.method, self.template, names, self.body, query)
        session.output.line(self.says)


def group(help_text: str, commands: Mapping[str, ListCommand[Any] | ChangeCommand]) -> CommandGroup:
    """Return a group with these commands, to which more may be added."""
    app = CommandGroup(help=help_text)
    for name, row in commands.items():
        function = _function(row)
        for declared in reversed(row.options):
            function = declared(function)
        app.command(name, help=row.help)(function)
    return app


def own_user(session: CommandSession, user: str) -> str:
    """Return the named user, or the current one for ""."""
    return user or session.server.ask("GET", "/user", {}, CurrentUser).user.id


def show_created(session: CommandSession, created: User | Group) -> None:
    """Show a new user or group."""
    out = session.output
    lines = (
        out.paint(f"{type(created).__name__} created successfully.", "green"),
        f"ID: {out.paint(created.id, bold=True)}",
        f"Creation Date: {local_time(created.creation_date)}",
    )
    out.item(created, lambda _: lines)


def _function(row: ListCommand[Any] | ChangeCommand) -> Callable[..., None]:
    def run(session: CommandSession, **given: Any) -> None:  # noqa: ANN401 - texts, numbers, flags
        row.run(session, given)

    return run


def _completed(
    session: CommandSession, names: Sequence[NameOption], given: Mapping[str, Any]
) -> dict[str, str]:
    """Return the given names; the current user for an optional one that is missing."""
    return {
        name.field: given[name.field] if name.is_required else own_user(session, given[name.field])
        for name in names
    }
