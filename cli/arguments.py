"""Arguments and options that many commands share, and what the shell completes them with."""

from pathlib import Path
from typing import Annotated

import typer

from cli import completing

AMOUNT_DEFAULT = 100

RepositoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="REPOSITORY_URI",
        help="lakefs://REPO",
        show_default=False,
        autocompletion=completing.repositories,
    ),
]
BranchArgument = Annotated[
    str,
    typer.Argument(
        metavar="BRANCH_URI",
        help="lakefs://REPO/BRANCH",
        show_default=False,
        autocompletion=completing.branches,
    ),
]
RefArgument = Annotated[
    str,
    typer.Argument(
        metavar="REF_URI",
        help="lakefs://REPO/REF; REF is a branch, a tag or a commit, as dev or dev~3.",
        show_default=False,
        autocompletion=completing.refs,
    ),
]
PathArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH_URI",
        help="lakefs://REPO/REF/PATH, REF as dev or dev~3",
        show_default=False,
        autocompletion=completing.paths,
    ),
]

PrefixOption = Annotated[
    str,
    typer.Option("--prefix", help="Show what begins with this.", show_default=False),
]
AfterOption = Annotated[
    str,
    typer.Option("--after", help="Show what comes after this value.", show_default=False),
]
AmountOption = Annotated[int, typer.Option("--amount", help="How many results to show.")]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Say yes to all questions.", show_default=False)
]


def home_expanded(text: str) -> Path:
    """Return a local path; a tilde is the user's home, unless it only begins a file's name."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # nobody has such a name
        return path
