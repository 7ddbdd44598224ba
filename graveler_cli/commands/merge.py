"""`graveler merge`: merge a ref into a branch."""

from collections.abc import Callable, Mapping
from typing import TypedDict, Unpack

import click
from msgspec import Struct

from graveler_cli import completion, uncommitted
from graveler_cli.arguments import branch_argument, pairs_of
from graveler_cli.client import ApiRefusedError, LakeClient
from graveler_cli.commits import (
    allow_empty_message_option,
    check_message,
    message_option,
    metadata_option,
)
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, flag, option
from graveler_cli.session import CommandSession
from graveler_cli.uris import BranchUri, RefUri

STRATEGIES = ("dest-wins", "source-wins")


class MergeResult(Struct, frozen=True):
    """The commit of a merge."""

    reference: str


class MergeOptions(TypedDict):
    """What the options of a merge were given."""

    strategy: str
    resolve: tuple[str, ...]
    if_head: str | None
    force: bool
    allow_empty: bool
    squash: bool
    message: str
    allow_empty_message: bool
    meta: tuple[str, ...]


_OPTIONS = (
    option(
        "--strategy",
        default="",
        help="The side that wins a conflict: dest-wins or source-wins. Without it, a conflict "
        "is an error.",
        shell_complete=lambda _, __, begun: [each for each in STRATEGIES if each.startswith(begun)],
    ),
    option(
        "--resolve",
        multiple=True,
        help="The side that wins the conflict of one path: PATH=source-wins or PATH=dest-wins.",
    ),
    option("--if-head", default=None, help="Merge only if this commit is the branch's head."),
    flag("--force", help="Also merge into a read-only branch, or without changes."),
    flag("--allow-empty", help="Allow a merge without changes."),
    flag("--squash", help="Make a commit whose only parent is the destination's head."),
    message_option,
    allow_empty_message_option(default=True),
    metadata_option,
)


def merge_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a merge to a command's function, which gets MergeOptions."""
    for add in reversed(_OPTIONS):
        function = add(function)
    return function


@click.command(cls=Command)
@click.argument(
    "source_uri",
    help="The ref to merge: lakefs://REPO/REF",
    shell_complete=completion.refs,
)
@branch_argument("destination_uri")
@merge_options
def command(
    session: CommandSession,
    source_uri: str,
    destination_uri: str,
    **options: Unpack[MergeOptions],
) -> None:
    """Merge a ref into a branch, as a new commit of the branch."""
    check_message(options["message"], allow_empty=options["allow_empty_message"])
    metadata = pairs_of("--meta", options["meta"])
    source, destination = session.ref(source_uri), session.branch(destination_uri)
    session.output.line(f"Source: {source}")
    session.output.line(f"Destination: {destination}")
    if source.repository != destination.repository:
        raise UsageError("both refs must be of the same repository")
    wanted, headers = body_of(options, metadata), headers_of(options)
    merged = _merged(session.server, source, destination, wanted, headers)
    paint = session.output.paint
    from_to = f'"{paint(source.ref, "yellow")}" into "{paint(destination.branch, "yellow")}"'
    session.output.item(
        merged, lambda made: [f'Merged {from_to} to get "{paint(made.reference, "green")}".']
    )


def body_of(options: MergeOptions, metadata: dict[str, str]) -> dict[str, object]:
    """Return the body of a merge.

    Raises:
        UsageError: an option is wrong.
    """
    strategy, resolve = options["strategy"], options["resolve"]
    if strategy and strategy not in STRATEGIES:
        raise UsageError(f"--strategy is {strategy!r}: write {' or '.join(STRATEGIES)}")
    return {
        "message": options["message"],
        "metadata": metadata,
        "strategy": strategy,
        "force": options["force"],
        "allow_empty": options["allow_empty"],
        "squash_merge": options["squash"],
        **({"resolutions": _resolutions(resolve)} if resolve else {}),
    }


def headers_of(options: MergeOptions) -> dict[str, str]:
    """Return the condition of a merge on the branch's head."""
    head = options["if_head"]
    return {} if head is None else {"If-Match": f'"{head}"'}


def _resolutions(resolve: tuple[str, ...]) -> dict[str, str]:
    """Return the strategy of each path; a path may have commas and equals signs."""
    found: dict[str, str] = {}
    for text in resolve:
        path, _, strategy = text.rpartition("=")
        if not path or strategy not in STRATEGIES:
            raise UsageError(f"--resolve is {text!r}: write PATH={' or PATH='.join(STRATEGIES)}")
        if path in found:
            raise UsageError(f"--resolve names {path!r} twice: write it once")
        found[path] = strategy
    return found


def _merged(
    server: LakeClient,
    source: RefUri,
    destination: BranchUri,
    wanted: dict[str, object],
    headers: Mapping[str, str],
) -> MergeResult:
    """Merge; return the new commit.

    Raises:
        CommandError: both sides changed the same objects, the source has no committed changes, or
            the server refused.
    """
    try:
        return server.ask(
            "POST",
            "/repositories/{repository}/refs/{source}/merge/{destination}",
            {
                "repository": source.repository,
                "source": source.ref,
                "destination": destination.branch,
            },
            MergeResult,
            wanted,
            headers=headers,
        )
    except ApiRefusedError as error:
        if is_conflict(error):
            raise conflict(error, destination, source) from error
        if is_empty(error) and (hint := uncommitted.hint(server, source)):
            raise error.in_words(f"nothing to merge: {hint}") from error
        raise


def is_empty(error: ApiRefusedError) -> bool:
    """Return whether a merge was refused because its source has no committed changes."""
    return error.text.endswith("no changes")


def conflict(error: ApiRefusedError, destination: object, source: object) -> ApiRefusedError:
    """Return a conflict with what the server says of it, such as tables, and with the remedy."""
    return error.in_words(
        f"conflict found: {error.details and f'{error.details}; '}`graveler diff {destination} "
        f"{source}` shows it, and --strategy or --resolve decides it"
    )


def is_conflict(error: ApiRefusedError) -> bool:
    """Return whether a merge was refused because both sides changed the same objects."""
    # lakeFS answers a conflict with a result instead of a message.
    return error.status == 409 and (not error.text or "conflict" in error.text.lower())
