"""Options of the commands of `fs`; the engine they configure; and the lines of an object."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graveler_cli import output
from graveler_cli.arguments import PARALLELISM, home_expanded
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import flag, option
from graveler_cli.schemas import ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import PathUri

if TYPE_CHECKING:
    from graveler_cli.transfers.files import Links
    from graveler_cli.transfers.jobs import TransferOptions, TransferTally
    from graveler_cli.transfers.runner import TransferRunner

OBJECT = "/repositories/{repository}/refs/{ref}/objects"
BRANCH_OBJECT = "/repositories/{repository}/branches/{ref}/objects"

_METADATA_KEY_WIDTH = 18
PART_BYTES = 8 * 1024 * 1024

recursive_option = flag("--recursive", "-r", help="All objects below the path.")
metadata_option = option("--metadata", multiple=True, help="User metadata, as KEY=VALUE,KEY=VALUE.")


def names_of(uri: PathUri) -> dict[str, str]:
    """Return the names for the templates of the API."""
    return {"repository": uri.repository, "ref": uri.ref}


def options_of(
    session: CommandSession,
    parallelism: int | None,
    pre_sign: bool | None,  # noqa: FBT001 - as the option
    part_bytes: int = PART_BYTES,
    *,
    verifies: bool = True,
) -> "TransferOptions":
    """Return the options of transfers.

    Raises:
        UsageError: a number is too small.
    """
    # Imported late, as all that transfers need.
    from graveler_cli.transfers.jobs import PART_BYTES_MIN, TransferOptions  # noqa: PLC0415

    if parallelism is None:
        parallelism = session.configuration.number("options.parallelism", PARALLELISM)
    if parallelism < 1:
        raise UsageError(f"--parallelism is {parallelism}: write 1 or more")
    if part_bytes < PART_BYTES_MIN:
        raise UsageError(f"--part-size is {part_bytes}: write at least {PART_BYTES_MIN} bytes")
    return TransferOptions(parallelism, pre_sign, part_bytes, verifies)


def runner_of(
    session: CommandSession, uri: PathUri, options: "TransferOptions", *, no_progress: bool = True
) -> "TransferRunner":
    """Return the engine for the ref of a path."""
    from graveler_cli.transfers.runner import TransferRunner  # noqa: PLC0415

    return TransferRunner(
        session.server,
        uri.repository,
        uri.ref,
        options,
        warn=session.output.warn,
        shows_progress=not no_progress and sys.stderr.isatty(),
    )


def links_of(session: CommandSession) -> "Links":
    """Return the configuration's settings of links."""
    from graveler_cli.transfers.files import Links  # noqa: PLC0415

    return Links(
        are_skipped=session.configuration.is_on("local.skip_non_regular_files"),
        are_stored=session.configuration.is_on("local.symlink_support"),
    )


def local_path(text: str) -> Path:
    """Return the absolute path of a local file or folder."""
    return home_expanded(text).absolute()


def report(session: CommandSession, operation: str, tally: "TransferTally") -> None:
    """Print the counts of an operation.

    Raises:
        CommandError: some of it failed.
    """
    counts: Mapping[str, Any] = {
        "downloaded": tally.downloaded,
        "uploaded": tally.uploaded,
        "removed": tally.removed,
        "failed": tally.failed,
    }
    session.output.item(counts, lambda _: _summary(session, operation, tally))
    check(operation, tally)


def check(operation: str, tally: "TransferTally") -> None:
    """Refuse a tally with failures.

    Raises:
        CommandError: something failed.
    """
    if tally.failed:
        total = tally.done + tally.failed
        raise CommandError(f"{operation.lower()}: {tally.failed} of {total} failed: {tally.advice}")


def _summary(session: CommandSession, operation: str, tally: "TransferTally") -> Iterator[str]:
    yield from ("", f"{operation} Summary:", "")
    if not tally.done:
        yield "No changes"
        return
    paint = session.output.paint
    yield f"{paint('Downloaded:', 'green')} {paint(str(tally.downloaded), 'green')}"
    yield f"{paint('Uploaded:', 'yellow')} {paint(str(tally.uploaded), 'yellow')}"
    yield f"{paint('Removed:', 'red')} {paint(str(tally.removed), 'red')}"
    yield ""


def stat_lines(session: CommandSession, found: ObjectStats) -> Iterator[str]:
    """Yield the lines that describe an object."""
    yield from output.fields(
        [
            ("Path", session.output.paint(found.path, "yellow")),
            ("Modified Time", output.local_time(found.mtime)),
            ("Size", f"{found.size_bytes} bytes"),
            ("Human Size", output.human_size(found.size_bytes or 0)),
            ("Physical Address", found.physical_address),
        ]
    )
    if found.physical_address_expiry:
        yield f"Physical Address Expires: {output.local_time(found.physical_address_expiry)}"
    yield from output.fields(
        [("Checksum", found.checksum), ("Content-Type", found.content_type or "")]
    )
    if found.metadata:
        # Like lakectl, spaces included.
        yield "Metadata:\n\t"
        for key in sorted(found.metadata):
            yield f"\t{key:<{_METADATA_KEY_WIDTH}} = {found.metadata[key]}"
