"""`graveler fs history` and `restore`: the versions of objects in commits."""

from itertools import islice

from msgspec import Struct

from graveler_cli import completion
from graveler_cli.arguments import changed_path_argument, path_argument
from graveler_cli.commands.fs.copying import Copies
from graveler_cli.commands.fs.options import BRANCH_OBJECT, OBJECT, names_of, recursive_option
from graveler_cli.commits import first_line, shown_id
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import option
from graveler_cli.output import local_time
from graveler_cli.schemas import Commit, ObjectStats, TaskCreation
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
    changes = list(islice(found, amount if amount > 0 else None))
    if not changes:
        session.output.warn(f"no commit of {path.ref} has changed {path.path!r}")
    session.output.table(
        ("Change", "Size", "Commit ID", "Committer", "Date", "Message"),
        changes,
        lambda each: (
            each.type,
            each.size_bytes,
            shown_id(session.output, each.commit.id),
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
        # The commit's version, as of a whole prefix: not what is staged on a branch.
        names = {"repository": ref.repository, "ref": ref.ref}
        commit = session.server.ask(
            "GET", "/repositories/{repository}/commits/{ref}", names, Commit
        )
        version = PathUri(ref.repository, commit.id, path.path)
        from graveler_cli.tables import ROOT  # noqa: PLC0415 - of few commands

        if not path.path.startswith(ROOT):
            Copies(session, str(version), uri, word="restore").run(None, recursive=False)
            return
        # Tables are not copied: the path is restored as a prefix, which must begin no other.
        _require_alone(session, version)
        _require_alone(session, path)
    body = {"prefix": path.path, "ref": ref.ref}
    template = f"{BRANCH_OBJECT}/restore_prefix"
    started = session.server.ask("POST", template, names_of(path), TaskCreation, body)
    repository = RepositoryUri(path.repository)
    session.output.warn(f"`graveler tasks cancel {repository} {started.id}` stops it")
    done = Tasks(session.server, repository).completed(started.id)
    session.output.item(done, lambda task: [f"restored: {task.result['changed']} objects"])


def _require_alone(session: CommandSession, path: PathUri) -> None:
    """Check that no other object's path begins with the path.

    Raises:
        CommandError: one does.
    """
    query = {"prefix": path.path, "amount": 2}
    found = session.server.page(f"{OBJECT}/ls", names_of(path), ObjectStats, query).results
    others = [each.path for each in found if each.path != path.path]
    if others:
        raise CommandError(
            f"{others[0]} at {path.ref} begins with it as well: --recursive restores both"
        )
