"""The options of a new commit, and commits as lakectl shows them."""

from collections.abc import Iterator, Sequence
from functools import partial

from graveler_cli.errors import UsageError
from graveler_cli.grammar import flag, option
from graveler_cli.output import CommandOutput, local_time
from graveler_cli.schemas import Commit
from graveler_cli.uris import BranchUri

SHORT_ID_LENGTH = 12

message_option = option("--message", "-m", default="", help="The message of the commit.")
allow_empty_message_option = partial(flag, "--allow-empty-message", help="Allow an empty message.")
metadata_option = option(
    "--meta",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata of the commit; may be repeated, or have commas between the pairs.",
)
meta_range_option = flag("--show-meta-range-id", help="Also show the ID of the meta range.")

_METADATA_KEY_WIDTH = 18


def check_message(message: str, *, allow_empty: bool) -> None:
    """Check that a new commit has a message, unless an empty one is allowed.

    Raises:
        UsageError: it has no message.
    """
    if not message.strip() and not allow_empty:
        raise UsageError("the commit has no message: write -m MESSAGE or --allow-empty-message")


def short_id(commit_id: str) -> str:
    """Return the first characters of a commit's ID, which are a ref too."""
    return commit_id[:SHORT_ID_LENGTH]


def shown_id(output: CommandOutput, commit_id: str) -> str:
    """Return a commit's ID as a table shows it: on a terminal, its first characters."""
    return short_id(commit_id) if output.is_terminal else commit_id


def first_line(message: str) -> str:
    """Return the first line of a message; "" if the message is empty."""
    return next(iter(message.splitlines()), "")


def log_lines(
    commit: Commit, output: CommandOutput, *, show_meta_range_id: bool = False
) -> Iterator[str]:
    """Yield lakectl's lines of a commit in a log."""
    yield f"ID:            {output.paint(commit.id, 'yellow')}"
    if commit.committer:
        yield f"Author:        {commit.committer}"
    yield f"Date:          {local_time(commit.creation_date)}"
    if show_meta_range_id:
        yield f"Meta Range ID: {commit.meta_range_id}"
    if len(commit.parents) > 1:
        yield f"Merge:         {output.paint(', '.join(commit.parents), bold=True)}"
    yield ""
    yield f"\t{commit.message}"
    yield ""
    if commit.metadata:
        yield "Metadata:"
        yield "\t"
        for key, value in sorted(commit.metadata.items()):
            yield f"\t{key:{_METADATA_KEY_WIDTH}} = {value}"
            yield "\t"


def show_commits(
    commits: Sequence[Commit], output: CommandOutput, *, show_meta_range_id: bool = False
) -> None:
    """Print commits as lakectl's log without the empty line at its end, or as JSON."""

    def lines_of(commit: Commit) -> Iterator[str]:
        lines = log_lines(commit, output, show_meta_range_id=show_meta_range_id)
        if commit is not commits[-1]:
            return lines
        found = list(lines)
        return iter(found if found[-1] else found[:-1])

    output.line()
    output.items(commits, lines_of)


def created_lines(branch: BranchUri, commit: Commit, output: CommandOutput) -> Iterator[str]:
    """Yield lakectl's lines about a new commit."""
    yield f'Commit for branch "{branch.branch}" completed.'
    yield ""
    yield f"ID: {output.paint(commit.id, 'yellow')}"
    yield f"Message: {commit.message}"
    yield f"Timestamp: {local_time(commit.creation_date)}"
    yield f"Parents: {', '.join(commit.parents)}"
    yield ""
