"""`graveler fs history` and `restore`: the versions of objects in commits."""

from itertools import islice

from msgspec import Struct

from graveler_cli import completion
from graveler_cli.arguments import changed_path_argument, path_argument
from graveler_cli.commands.fs.copying import Copies
from graveler_cli.commands.fs.options import BRANCH_OBJECT, OBJECT, names_of, recursive_option
from graveler_cli.commits import first_line
from graveler_cli.errors import UsageError
from graveler_cli.grammar import option
from graveler_cli.output import local_time
from graveler_cli.schemas import Commit, TaskCreation
from graveler_cli.session import CommandSession
from graveler_cli.tasks import Tasks
from graveler_cli.uris import SCHEME, PathUri, RefUri, RepositoryUri


class ObjectChange(Struct, frozen=True):
    """A commit that added, changed or removed an object."""

    type: str
    size_bytes: int
    checksum: str
    commit: Commit


@path_argument("uri")
@option("--amount", default=0, help="How many commits to show; 0 is all of them.")
def history(session: CommandSession, uri: str, *, amount: int) -> None:
    """Show the commits that added, changed or removed an object, newest first."""
    path = session.object(uri)
    query = {"path": path.path}
    found = session.server.each(f"{OBJECT}/history", names_of(path), ObjectChange, query)
    session.output.table(
        ("Change", "Size", "Commit ID", "Committer", "Date", "Message"),
        islice(found, amount or None),
        lambda each: (
            each.type,
            each.size_bytes,
            each.commit.id,
            each.commit.committer,
            local_time(each.commit.creation_date),
            first_line(each.commit.message),
        ),
        expendable=("Size", "Committer", "Date", "Message"),
    )


@changed_path_argument("uri")
@option(
    "--from",
    "source",
    required=True,
    help="The ref whose version comes back: a branch, a tag or a commit.",
    shell_complete=completion.refs,
)
@recursive_option
def restore(session: CommandSession, uri: str, *, source: str, recursive: bool) -> None:
    """Bring an object back as another ref has it, or all objects whose names begin with the path.

    The change is staged on the branch: commit it. With --recursive, objects that the ref lacks are
    deleted.
    """
    path = session.path(uri)
    if not recursive and not path.path:
        raise UsageError(f"{path} names no object: add its path, or --recursive")
    ref = session.ref(source) if SCHEME in source else RefUri(path.repository, source)
    if ref.repository != path.repository:
        raise UsageError("both refs must be of the same repository")
    if not recursive:
        version = PathUri(ref.repository, ref.ref, path.path)
        Copies(session, str(version), uri, word="restore").run(None, recursive=False)
        return
    body = {"prefix": path.path, "ref": ref.ref}
    template = f"{BRANCH_OBJECT}/restore_prefix"
    started = session.server.ask("POST", template, names_of(path), TaskCreation, body)
    done = Tasks(session.server, RepositoryUri(path.repository)).completed(started.id)
    session.output.item(done, lambda task: [f"restored: {task.result['changed']} objects"])
