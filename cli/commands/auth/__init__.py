"""`graveler auth`: users, groups and policies."""

import typer

from cli.commands.auth import groups, policies, users
from cli.grammar import Group

app = typer.Typer(cls=Group, help="Manage users, groups, policies and credentials.")
app.add_typer(groups.app, name="groups")
app.add_typer(policies.app, name="policies")
app.add_typer(users.app, name="users")
