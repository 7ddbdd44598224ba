"""`graveler bisect`: find the commit that broke something."""

import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial

import click

from graveler_cli import completion
from graveler_cli.bisection import Bisection, forget
from graveler_cli.commits import show_commits
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import CommandGroup
from graveler_cli.history import Log, commit_of
from graveler_cli.schemas import Commit, Repository
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri

app = CommandGroup(help="Find the commit that broke something, by bisection.")
_ref_argument = partial(click.argument, shell_complete=completion.refs)


@app.command("start")
@_ref_argument("bad_uri", metavar="BAD_URI", help="A ref that is broken.")
@_ref_argument("good_uri", metavar="GOOD_URI", help="A ref before it that is not.")
def start(session: CommandSession, bad_uri: str, good_uri: str) -> None:
    """Begin a search between a bad and a good ref."""
    bad_ref, good_ref = session.ref(bad_uri), session.ref(good_uri)
    if bad_ref.repository != good_ref.repository:
        raise UsageError("both refs must be of the same repository")
    repository = session.server.ask(
        "GET", "/repositories/{repository}", {"repository": bad_ref.repository}, Repository
    ).id
    bad, good = commit_of(session.server, bad_ref), commit_of(session.server, good_ref)
    commits: list[Commit] = []
    for commit in Log(session.server, RefUri(repository, bad.id)):
        if commit.id == good.id:
            break
        commits.append(commit)
    else:
        raise CommandError(f"{good_ref} is not in the log of {bad_ref}: name one of its commits")
    search = Bisection.start(repository, bad.id, good.id, commits)
    search.save()
    session.output.item(search, _status)


@app.command("good")
def good(session: CommandSession) -> None:
    """Mark the current commit as good."""
    _mark(session, is_good=True)


app.add_alias("old", good)


@app.command("bad")
def bad(session: CommandSession) -> None:
    """Mark the current commit as bad."""
    _mark(session, is_good=False)


app.add_alias("new", bad)


@app.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument(
    "program",
    nargs=-1,
    required=True,
    metavar="COMMAND...",
    help="A command that fails on a broken commit. :BISECT_ID: and $BISECT_ID are the "
    "commit; so are _MESSAGE, _METARANGE_ID and _COMMITTER.",
)
def run(session: CommandSession, program: tuple[str, ...]) -> None:
    """Find the commit by running a command: its exit code is 0 on a good commit."""
    search = Bisection.read()
    while search.is_open:
        commit = search.commits[search.middle]
        session.output.line(f"== Commit [{commit.id}] {commit.message}")
        is_good = _run(program, commit, session)
        word = "GOOD" if is_good else "BAD"
        session.output.line(f"-- {word} [{commit.id}] {commit.message}")
        search.mark(is_good=is_good)
    session.output.item(search, _status)


@app.command("log")
def log(session: CommandSession) -> None:
    """Show the progress of the search."""
    session.output.item(Bisection.read(), _status)


@app.command("view")
def view(session: CommandSession) -> None:
    """Show the remaining commits."""
    search = Bisection.read()
    if search.commits or session.output.as_json:
        show_commits(search.commits, session.output, show_meta_range_id=True)
    else:
        session.output.item(search, _status)


@app.command("reset")
def reset(session: CommandSession) -> None:
    """End and delete the search."""
    output = session.output
    if forget():
        output.line("Cleared bisect session")
    else:
        output.warn("warning: there is no bisection")


def _mark(session: CommandSession, *, is_good: bool) -> None:
    search = Bisection.read()
    search.mark(is_good=is_good)
    session.output.item(search, _status)


def _run(program: tuple[str, ...], commit: Commit, session: CommandSession) -> bool:
    """Run the command on a commit; return whether it succeeded."""
    values = {
        "BISECT_ID": commit.id,
        "BISECT_MESSAGE": commit.message,
        "BISECT_METARANGE_ID": commit.meta_range_id,
        "BISECT_COMMITTER": commit.committer,
    }
    arguments = [_filled(argument, values) for argument in program[1:]]
    try:
        # With --json, standard output is for JSON alone.
        done = subprocess.run(  # noqa: S603 - the user's own command
            [program[0], *arguments],
            env={**os.environ, **values},
            stdout=2 if session.output.as_json else None,
            check=False,
        )
    except (FileNotFoundError, PermissionError) as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"cannot run {program[0]!r}: {reason}") from error
    return done.returncode == 0


def _filled(text: str, values: dict[str, str]) -> str:
    # In one pass: a message may itself have one of the marks.
    return re.sub(r":(BISECT_[A-Z_]+):", lambda mark: values.get(mark[1], mark[0]), text)


def _status(search: Bisection) -> Iterator[str]:
    yield f"Repository: {search.repository}"
    if not search.commits:
        yield _without_commits(search)
        return
    count = len(search.commits)
    commit = search.commits[search.middle]
    words = f"lakefs://{search.repository}/{commit.id} {commit.message}"
    if count == 1:
        yield f"Found commit {words}"
        return
    steps = count.bit_length() - 1
    yield f"Bisecting: {count // 2 - 1} commits left to test after this (roughly {steps} steps)"
    yield f"Current commit {words}"


def _without_commits(search: Bisection) -> str:
    if not search.bad_commit and not search.good_commit:
        return "Missing both good and bad commits"
    if not search.good_commit:
        return (
            f"Bad commit lakefs://{search.repository}/{search.bad_commit}, waiting for good commit"
        )
    if not search.bad_commit:
        return (
            f"Good commit lakefs://{search.repository}/{search.good_commit}, waiting for bad commit"
        )
    return "No commits found"
