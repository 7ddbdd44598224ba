"""`graveler auth groups`: groups, their members, policies, and access control lists."""

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
from graveler_cli.grammar import option
from graveler_cli.output import local_time
from graveler_cli.schemas import User
from graveler_cli.session import CommandSession

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

app.add_command(acl, name="acl")
app.add_command(_members, name="members")
app.add_command(_policies, name="policies")

group_option = option("--id", "name", required=True, help=GROUP.help)


@app.command("create")
@group_option
def create(session: CommandSession, *, name: str) -> None:
    """Create a group."""
    show_created(session, session.server.ask("POST", _GROUPS, {}, Group, {"id": name}))


@acl.command("get")
@group_option
def get_acl(session: CommandSession, *, name: str) -> None:
    """Show the permission of a group's members; Graveler has policies instead."""
    found = session.server.ask("GET", _ACL, {"id": name}, AccessControlList)
    session.output.item(found, lambda each: [f"Group {name}:{each.permission}"])


@acl.command("set")
@group_option
@option("--permission", required=True, help="Read, Write, Super or Admin.")
def set_acl(session: CommandSession, *, name: str, permission: str) -> None:
    """Set the permission of a group's members; Graveler has policies instead."""
    session.server.request("POST", _ACL, {"id": name}, {"permission": permission})
