"""`graveler fs`: the objects of a repository."""

import typer

from graveler_cli.commands.fs import changing, copying, snippet, syncing, transferring, viewing
from graveler_cli.grammar import Command, CommandGroup

app = typer.Typer(cls=CommandGroup, help="View and manipulate objects.")

app.command("cat", cls=Command)(viewing.cat)
app.command("cp", cls=Command)(copying.cp)
app.command("download", cls=Command)(transferring.download)
app.command("ls", cls=Command)(viewing.ls)
app.command("mv", cls=Command)(copying.mv)
app.command("presign", cls=Command)(viewing.presign)
app.command("rm", cls=Command)(changing.rm)
app.command("snippet", cls=Command)(snippet.snippet)
app.command("stage", cls=Command, hidden=True)(changing.stage)
app.command("stat", cls=Command)(viewing.stat)
app.command("sync", cls=Command)(syncing.sync)
app.command("update-metadata", cls=Command)(changing.update_metadata)
app.command("upload", cls=Command)(transferring.upload)
