"""`graveler auth`: users, groups and policies."""

import typer

from graveler_cli.commands.auth import groups, policies, users
from graveler_cli.grammar import CommandGroup

app = typer.Typer(cls=CommandGroup, help="Manage users, groups, policies and credentials.")
app.add_typer(groups.app, name="groups")
app.add_typer(policies.app, name="policies")
app.add_typer(users.app, name="users")
