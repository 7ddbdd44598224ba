"""Arguments and options that many commands share, and how they read files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import completion
from cli.errors import CommandError

AMOUNT_DEFAULT = 100

RepositoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="REPOSITORY_URI",
        help="lakefs://REPO",
        show_default=False,
        autocompletion=completion.repositories,
    ),
]
BranchArgument = Annotated[
    str,
    typer.Argument(
        metavar="BRANCH_URI",
        help="lakefs://REPO/BRANCH",
        show_default=False,
        autocompletion=completion.branches,
    ),
]
RefArgument = Annotated[
    str,
    typer.Argument(
        metavar="REF_URI",
        help="lakefs://REPO/REF; REF is a branch, a tag or a commit, as dev or dev~3.",
        show_default=False,
        autocompletion=completion.refs,
    ),
]
PathArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH_URI",
        help="lakefs://REPO/REF/PATH, REF as dev or dev~3",
        show_default=False,
        autocompletion=completion.paths,
    ),
]

PrefixOption = Annotated[
    str,
    typer.Option("--prefix", help="Show results that begin with this.", show_default=False),
]
AfterOption = Annotated[
    str,
    typer.Option("--after", help="Show results after this value.", show_default=False),
]
AmountOption = Annotated[int, typer.Option("--amount", help="How many results to show.")]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Say yes to all questions.", show_default=False)
]


def content_of(file: Path) -> bytes:
    """Return the content of a file; `-` is standard input.

    Raises:
        CommandError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {file}: {(error.strerror or '').lower()}") from error


def home_expanded(text: str) -> Path:
    """Return a local path; a tilde is a user's home, or the first letter of a file's name."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # no user has this name
        return path
