"""`graveler auth users`: users, their keys, groups, policies, rights and IAM roles."""

from collections.abc import Iterator

from graveler_cli.commands.auth.requests import (
    ATTACHED,
    OWN_USER,
    PRINCIPAL,
    USER,
    ChangeCommand,
    ListCommand,
    NameOption,
    group,
    own_user,
    show_created,
)
from graveler_cli.commands.auth.schemas import (
    STATEMENT_HEADS,
    Credentials,
    ExternalPrincipal,
    Group,
    NewCredentials,
    Policy,
    UserAccess,
    statement_rows,
)
from graveler_cli.grammar import option
from graveler_cli.output import local_time
from graveler_cli.schemas import User
from graveler_cli.session import CommandSession

_USERS = "/auth/users"
_USER = f"{_USERS}/{{id}}"
_POLICY = f"{_USER}/policies/{{policy}}"
_PRINCIPALS = f"{_USER}/external/principals"

app = group(
    "Manage users.",
    {
        "list": ListCommand(
            "List users.",
            _USERS,
            User,
            ("ID", "User", "Creation Date"),
            lambda user: [
                (
                    user.id,
                    user.friendly_name or user.email or user.id,
                    local_time(user.creation_date),
                )
            ],
        ),
        "delete": ChangeCommand(
            "Delete a user.", "DELETE", _USER, [USER], "User deleted successfully"
        ),
    },
)

credentials = group(
    "Manage the key pairs of a user.",
    {
        "list": ListCommand(
            "List the key pairs of a user, without secrets.",
            f"{_USER}/credentials",
            Credentials,
            ("Access Key ID", "Issued Date"),
            lambda found: [(found.access_key_id, local_time(found.creation_date))],
            [OWN_USER],
        ),
        "delete": ChangeCommand(
            "Delete a key pair of a user.",
            "DELETE",
            f"{_USER}/credentials/{{access_key_id}}",
            [OWN_USER, NameOption("access-key-id", "The ID of the access key.")],
            "Credentials deleted successfully",
        ),
    },
)

_groups = group(
    "Show the groups of a user.",
    {
        "list": ListCommand(
            "List the groups of a user.",
            f"{_USER}/groups",
            Group,
            ("Group ID", "Creation Date"),
            lambda found: [(found.id, local_time(found.creation_date))],
            [USER],
        ),
    },
)

_policies = group(
    "Manage the policies of a user.",
    {
        "list": ListCommand(
            "List the policies of a user, with their statements.",
            f"{_USER}/policies",
            Policy,
            STATEMENT_HEADS,
            statement_rows,
            [USER],
            {"effective": "Include the policies of the user's groups."},
        ),
        "attach": ChangeCommand(
            "Attach a policy to a user.",
            "PUT",
            _POLICY,
            [USER, ATTACHED],
            "Policy attached successfully",
        ),
        "detach": ChangeCommand(
            "Detach a policy from a user.",
            "DELETE",
            _POLICY,
            [USER, ATTACHED],
            "Policy detached successfully",
        ),
    },
)

aws_iam = group(
    "Manage the IAM roles that may log in as a user.",
    {
        "attach": ChangeCommand(
            "Let an IAM role log in as a user.",
            "POST",
            _PRINCIPALS,
            [OWN_USER, PRINCIPAL],
            "IAM role attached successfully",
            {},
            {"principalId": "principal_id"},
        ),
        "detach": ChangeCommand(
            "Let an IAM role no longer log in as a user.",
            "DELETE",
            _PRINCIPALS,
            [OWN_USER, PRINCIPAL],
            "IAM role detached successfully",
            None,
            {"principalId": "principal_id"},
        ),
        "list": ListCommand(
            "List the IAM roles that may log in as a user.",
            f"{_PRINCIPALS}/ls",
            ExternalPrincipal,
            ("Principal ID", "User ID"),
            lambda found: [(found.id, found.user_id)],
            [OWN_USER],
        ),
    },
)

access = group("Show what a user may do.", {})

app.add_command(access, name="access")
app.add_command(credentials, name="credentials")
app.add_command(_groups, name="groups")
app.add_command(_policies, name="policies")
app.add_command(aws_iam, name="aws-iam")


@app.command("create")
@option("--id", "name", required=True, help="The new user.")
def create(session: CommandSession, *, name: str) -> None:
    """Create a user, who has no rights until you add a group or policy."""
    show_created(session, session.server.ask("POST", _USERS, {}, User, {"id": name}))


@credentials.command("create")
@option("--id", "name", default="", help="The user.", show_default="the current user")
def create_credentials(session: CommandSession, *, name: str) -> None:
    """Create a key pair of a user; its secret is shown only now."""
    names = {"id": own_user(session, name)}
    created = session.server.ask("POST", f"{_USER}/credentials", names, NewCredentials)
    out = session.output

    def lines(pair: NewCredentials) -> Iterator[str]:
        yield out.paint("Credentials created successfully.", "green")
        yield f"{'Access Key ID:':<18} {out.paint(pair.access_key_id, bold=True)}"
        yield f"{'Secret Access Key:':<18} {out.paint(pair.secret_access_key, bold=True)}"
        yield ""
        warning = "Keep these somewhere safe since you will not be able to see the secret key again"
        yield out.paint(warning, "yellow")

    out.item(created, lines)


@access.command("list")
@option("--id", "name", default="", help="The user.", show_default="the current user")
@option("--resource", required=True, help="An ARN; at its end, * stands for everything below.")
@option("--source-ip", default="", help="The user's address.", show_default="the request's")
def list_access(session: CommandSession, *, name: str, resource: str, source_ip: str) -> None:
    """List the actions that can be done to a resource, and whether a user may do them."""
    names = {"id": own_user(session, name)}
    query = {"resource": resource, "source_ip": source_ip or None}
    found = session.server.ask("GET", f"{_USER}/access/actions", names, UserAccess, query=query)
    session.output.table(
        ("Action", "Verdict", "Reason"),
        found.results,
        lambda each: (each.action, each.verdict.replace("_", " "), each.reason),
    )


@aws_iam.command("lookup")
@option("--principal-id", "principal", required=True, help=PRINCIPAL.help)
def look_up(session: CommandSession, *, principal: str) -> None:
    """Show the user that an IAM role logs in as."""
    template, query = "/auth/external/principals", {"principalId": principal}
    found = session.server.ask("GET", template, {}, ExternalPrincipal, query=query)
    out = session.output
    out.item(
        found,
        lambda each: [
            f"Principal ID: {out.paint(each.id, bold=True)}",
            f"User ID: {out.paint(each.user_id, bold=True)}",
        ],
    )
