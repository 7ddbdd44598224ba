"""`graveler auth groups`: groups, their members, policies, and access control lists."""

from typing import Annotated

import typer

from graveler_cli.commands.auth.requests import (
    ATTACHED,
    GROUP,
    MEMBER,
    ChangeCommand,
    ListCommand,
    group,
    show_created,
)
from graveler_cli.commands.auth.schemas import (
    STATEMENT_HEADS,
    AccessControlList,
    Group,
    Policy,
    statement_rows,
)
from graveler_cli.grammar import Command
from graveler_cli.output import local_time
from graveler_cli.schemas import User
from graveler_cli.session import session_of

_GROUPS = "/auth/groups"
_GROUP = f"{_GROUPS}/{{id}}"
_MEMBER = f"{_GROUP}/members/{{user}}"
_POLICY = f"{_GROUP}/policies/{{policy}}"
_ACL = f"{_GROUP}/acl"

app = group(
    "Manage groups.",
    {
        "list": ListCommand(
            "List groups.",
            _GROUPS,
            Group,
            ("ID", "Group Name", "Creation Date"),
            lambda found: [(found.id, found.name or found.id, local_time(found.creation_date))],
        ),
        "delete": ChangeCommand(
            "Delete a group.", "DELETE", _GROUP, [GROUP], "Group deleted successfully"
        ),
    },
)

_members = group(
    "Manage the members of a group.",
    {
        "list": ListCommand(
            "List the members of a group.",
            f"{_GROUP}/members",
            User,
            ("User ID",),
            lambda user: [(user.id,)],
            [GROUP],
        ),
        "add": ChangeCommand(
            "Add a user to a group.", "PUT", _MEMBER, [GROUP, MEMBER], "User successfully added"
        ),
        "remove": ChangeCommand(
            "Remove a user from a group.",
            "DELETE",
            _MEMBER,
            [GROUP, MEMBER],
            "User successfully removed",
        ),
    },
)

_policies = group(
    "Manage the policies of a group.",
    {
        "list": ListCommand(
            "List the policies of a group, with their statements.",
            f"{_GROUP}/policies",
            Policy,
            STATEMENT_HEADS,
            statement_rows,
            [GROUP],
        ),
        "attach": ChangeCommand(
            "Attach a policy to a group.",
            "PUT",
            _POLICY,
            [GROUP, ATTACHED],
            "Policy attached successfully",
        ),
        "detach": ChangeCommand(
            "Detach a policy from a group.",
            "DELETE",
            _POLICY,
            [GROUP, ATTACHED],
            "Policy detached successfully",
        ),
    },
)

acl = group("Manage the access control list of a group, on servers that have them.", {})

app.add_typer(acl, name="acl")
app.add_typer(_members, name="members")
app.add_typer(_policies, name="policies")

GroupOption = Annotated[str, typer.Option("--id", help=GROUP.help, show_default=False)]


@app.command("create", cls=Command)
def create(context: typer.Context, *, name: GroupOption) -> None:
    """Create a group."""
    session = session_of(context)
    show_created(session, session.server.ask("POST", _GROUPS, {}, Group, {"id": name}))


@acl.command("get", cls=Command)
def get_acl(context: typer.Context, *, name: GroupOption) -> None:
    """Show the permission of a group's members; Graveler has policies instead."""
    session = session_of(context)
    found = session.server.ask("GET", _ACL, {"id": name}, AccessControlList)
    session.output.item(found, lambda each: [f"Group {name}:{each.permission}"])


@acl.command("set", cls=Command)
def set_acl(
    context: typer.Context,
    *,
    name: GroupOption,
    permission: Annotated[
        str, typer.Option(help="Read, Write, Super or Admin.", show_default=False)
    ],
) -> None:
    """Set the permission of a group's members; Graveler has policies instead."""
    server = session_of(context).server
    server.request("POST", _ACL, {"id": name}, {"permission": permission})
