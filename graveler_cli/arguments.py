"""Arguments and options that many commands share, and how they read files."""

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import click

from graveler_cli import completion
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import flag, option

AMOUNT_DEFAULT = 100
PARALLELISM = 25

repository_argument = partial(
    click.argument,
    metavar="REPOSITORY_URI",
    help="lakefs://REPO",
    shell_complete=completion.repositories,
)
branch_argument = partial(
    click.argument,
    metavar="BRANCH_URI",
    help="lakefs://REPO/BRANCH",
    shell_complete=completion.branches,
)
ref_argument = partial(
    click.argument,
    metavar="REF_URI",
    help="lakefs://REPO/REF; REF is a branch, a tag or a commit, as dev or dev~3.",
    shell_complete=completion.refs,
)
other_ref_argument = partial(
    click.argument,
    default="",
    metavar="[REF_URI]",
    help="The ref with the changes.",
    shell_complete=completion.refs,
)
path_argument = partial(
    click.argument,
    metavar="PATH_URI",
    help="lakefs://REPO/REF/PATH, REF as dev or dev~3",
    shell_complete=completion.paths,
)
changed_path_argument = partial(path_argument, help="lakefs://REPO/BRANCH/PATH")

prefix_option = option("--prefix", default="", help="Show results that begin with this.")
after_option = option("--after", default="", help="Show results after this value.")
amount_option = option("--amount", default=AMOUNT_DEFAULT, help="How many results to show.")
two_way_option = flag(
    "--two-way", help="Compare the refs with each other, not the second with their base."
)
yes_option = flag("--yes", "-y", help="Say yes to all questions.")

parallelism_option = option(
    "--parallelism",
    "-p",
    type=int,
    help="The number of transfers at a time.",
    show_default=f"{PARALLELISM}, or options.parallelism of the configuration",
)
pre_sign_option = flag(
    "--pre-sign",
    default=None,
    help="Send data straight to the object store, or through the API.",
    show_default="what is faster",
)
no_progress_option = flag("--no-progress", help="Show no progress.")


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


def pairs_of(option: str, given: Iterable[str]) -> dict[str, str]:
    """Return the pairs KEY=VALUE of an option, as `comma_separated`.

    Raises:
        UsageError: a pair has no "=".
    """
    pairs = [pair.partition("=") for pair in comma_separated(given)]
    for key, equals, _ in pairs:
        if not equals:
            raise UsageError(f"{option} is {key!r}: write KEY=VALUE")
    return {key: value for key, _, value in pairs}


def comma_separated(given: Iterable[str]) -> list[str]:
    """Return the values of an option that may be repeated, and may have commas between values.

    As in CSV, quotes keep a comma within a value.

    Raises:
        UsageError: a value cannot be parsed.
    """
    # Imported late, because few commands need it.
    import csv  # noqa: PLC0415

    values: list[str] = []
    for text in given:
        try:
            rows = list(csv.reader([text], strict=True))
        except csv.Error as error:
            reason = "quote a value with a line end" if "\n" in text or "\r" in text else error
            raise UsageError(f"{text!r} is not a list with commas: {reason}") from error
        values += [value for row in rows for value in row]
    return values
