"""Arguments and options that many commands share, and how they read files."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from graveler_cli import completion
from graveler_cli.errors import CommandError, UsageError

AMOUNT_DEFAULT = 100
PARALLELISM = 25

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

ParallelismOption = Annotated[
    int | None,
    typer.Option(
        "--parallelism",
        "-p",
        help="The number of transfers at a time.",
        show_default=f"{PARALLELISM}, or options.parallelism of the configuration",
    ),
]
PreSignOption = Annotated[
    bool | None,
    typer.Option(
        "--pre-sign/--no-pre-sign",
        help="Send data straight to the object store, or through the API.",
        show_default="what is faster",
    ),
]
NoProgressOption = Annotated[
    bool, typer.Option("--no-progress", help="Show no progress.", show_default=False)
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


def pairs_of(option: str, given: Iterable[str] | None) -> dict[str, str]:
    """Return the pairs KEY=VALUE of an option, as `comma_separated`.

    Raises:
        UsageError: a pair has no "=".
    """
    pairs = [pair.partition("=") for pair in comma_separated(given)]
    for key, equals, _ in pairs:
        if not equals:
            raise UsageError(f"{option} is {key!r}: write KEY=VALUE")
    return {key: value for key, _, value in pairs}


def comma_separated(given: Iterable[str] | None) -> list[str]:
    """Return the values of an option that may be repeated, and may have commas between values.

    As in CSV, quotes keep a comma within a value.

    Raises:
        UsageError: a value cannot be parsed.
    """
    # Imported late, because few commands need it.
    import csv  # noqa: PLC0415

    values: list[str] = []
    for text in given or ():
        try:
            rows = list(csv.reader([text], strict=True))
        except csv.Error as error:
            reason = "quote a value with a line end" if "\n" in text or "\r" in text else error
            raise UsageError(f"{text!r} is not a list with commas: {reason}") from error
        values += [value for row in rows for value in row]
    return values
