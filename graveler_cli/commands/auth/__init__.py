"""`graveler auth`: users, groups and policies."""

from graveler_cli.commands.auth import audit, groups, policies, users
from graveler_cli.grammar import CommandGroup

app = CommandGroup(help="Manage users, groups, policies and credentials.")
app.add_command(audit.command, name="audit")
app.add_command(groups.app, name="groups")
app.add_command(policies.app, name="policies")
app.add_command(users.app, name="users")
