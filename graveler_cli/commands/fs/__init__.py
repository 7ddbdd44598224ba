"""`graveler fs`: the objects of a repository."""

from graveler_cli.commands.fs import (
    changing,
    copying,
    snippet,
    syncing,
    transferring,
    versions,
    viewing,
)
from graveler_cli.grammar import CommandGroup

app = CommandGroup(help="View and manipulate objects.")

app.command("cat")(viewing.cat)
app.command("cp")(copying.cp)
app.command("download")(transferring.download)
app.command("history")(versions.history)
app.command("ls")(viewing.ls)
app.command("mv")(copying.mv)
app.command("presign")(viewing.presign)
app.command("restore")(versions.restore)
app.command("rm")(changing.rm)
app.command("snippet")(snippet.snippet)
app.command("stage", hidden=True)(changing.stage)
app.command("stat")(viewing.stat)
app.command("sync")(syncing.sync)
app.command("update-metadata")(changing.update_metadata)
app.command("upload")(transferring.upload)
