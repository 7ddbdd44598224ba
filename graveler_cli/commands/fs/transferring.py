"""`graveler fs upload` and `fs download`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graveler_cli import completion
from graveler_cli.arguments import (
    changed_path_argument,
    no_progress_option,
    pairs_of,
    parallelism_option,
    path_argument,
    pre_sign_option,
)
from graveler_cli.commands.fs.options import (
    PART_BYTES,
    links_of,
    local_path,
    metadata_option,
    options_of,
    recursive_option,
    report,
    runner_of,
    stat_lines,
)
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import flag, option
from graveler_cli.schemas import ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import PathUri

if TYPE_CHECKING:
    from graveler_cli.transfers.files import Links, LocalFile, TargetFolder
    from graveler_cli.transfers.jobs import Job
    from graveler_cli.transfers.runner import TransferRunner

_STANDARD_INPUT = "-"
# Standard input that is longer goes through a temporary file, since its size is needed.
_INPUT_BYTES_MAX = 8 * 1024 * 1024


@changed_path_argument("uri")
@option(
    "--source",
    "-s",
    required=True,
    help="The file or folder; - is standard input.",
    shell_complete=completion.local_paths,
)
@option("--content-type", default="", help="The MIME type.", show_default="by the file's name")
@metadata_option
@recursive_option
@parallelism_option
@pre_sign_option
@no_progress_option
def upload(
    session: CommandSession,
    uri: str,
    *,
    source: str,
    content_type: str,
    metadata: tuple[str, ...],
    recursive: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Upload a file, or the new and changed files of a folder.

    After an interrupt, the same command continues: it does not send stored files again, nor stored
    parts of large ones.
    """
    from graveler_cli.transfers.jobs import UploadJob  # noqa: PLC0415

    path = session.path(uri)
    pairs = pairs_of("--metadata", metadata)
    options = options_of(session, parallelism, pre_sign)
    runner = runner_of(session, path, options, no_progress=no_progress)
    if not (content_type.isascii() and content_type.isprintable()):
        raise UsageError(f"--content-type is {content_type!r}: write it in ASCII")
    local = local_path(source)
    if source == _STANDARD_INPUT:
        with tempfile.NamedTemporaryFile(prefix="graveler-") as spooled:
            content = _standard_input(Path(spooled.name))
            stored = runner.do(UploadJob(path.path, content, pairs, content_type))
    elif recursive and local.is_dir():
        _upload_folder(session, path, runner, source, pairs, content_type)
        return
    else:
        if not local.exists():
            raise CommandError(f"{source} does not exist")
        if local.is_dir():
            raise CommandError(f"{source} is a folder: upload it with --recursive")
        stored = runner.do(UploadJob(path.path, local, pairs, content_type))
    session.output.item(stored, lambda each: stat_lines(session, each))


def _standard_input(spooled: Path) -> bytes | Path:
    """Return standard input: its bytes, or a file with them if they are many."""
    begins = sys.stdin.buffer.read(_INPUT_BYTES_MAX)
    if len(begins) < _INPUT_BYTES_MAX:
        return begins
    with spooled.open("wb") as file:
        file.write(begins)
        while block := sys.stdin.buffer.read(_INPUT_BYTES_MAX):
            file.write(block)
    return spooled


def _upload_folder(
    session: CommandSession,
    path: PathUri,
    runner: "TransferRunner",
    source: str,
    pairs: dict[str, str],
    content_type: str,
) -> None:
    from graveler_cli.transfers.comparing import has_changed, side_by_side  # noqa: PLC0415
    from graveler_cli.transfers.files import walk  # noqa: PLC0415

    shown = source if source.endswith("/") else f"{source}/"
    session.output.line(f"\ndiff 'local://{shown}' <--> '{path}'...")
    prefix = folder_of(path.path)

    def jobs() -> Iterator["Job"]:
        files = walk(local_path(source), links_of(session))
        for _, file, found in side_by_side(files, runner.listing(prefix), prefix):
            if file is not None and (found is None or has_changed(file, found)):
                yield upload_of(file, prefix, pairs, content_type)

    report(session, "Upload", runner.run(jobs()))


def upload_of(
    file: "LocalFile", prefix: str, metadata: dict[str, str], content_type: str = ""
) -> "Job":
    """Return the upload of a file of a walk, with lakectl's metadata."""
    from graveler_cli.transfers.jobs import CLIENT_MTIME_KEY, SYMLINK_TARGET_KEY, UploadJob  # noqa: PLC0415

    kept = {**metadata, CLIENT_MTIME_KEY: str(int(file.state.st_mtime))}
    if file.is_link:
        kept[SYMLINK_TARGET_KEY] = str(file.path.readlink())
        return UploadJob(prefix + file.name, b"", kept, content_type)
    return UploadJob(prefix + file.name, file.path, kept, content_type)


@path_argument("uri")
@click.argument(
    "destination",
    default=".",
    help="The file or folder; the current folder if left out.",
    shell_complete=completion.local_paths,
)
@recursive_option
@parallelism_option
@pre_sign_option
@option("--part-size", default=PART_BYTES, help="The size of a large object's parts, in bytes.")
@flag("--verify", default=True, help="Compare the data with the checksum of the object.")
@no_progress_option
def download(
    session: CommandSession,
    uri: str,
    destination: str,
    *,
    recursive: bool,
    parallelism: int | None,
    pre_sign: bool | None,
    part_size: int,
    verify: bool,
    no_progress: bool,
) -> None:
    """Download an object, or all objects below a path.

    After an interrupt, the same command continues large objects.
    """
    from graveler_cli.transfers.jobs import DownloadJob  # noqa: PLC0415

    path = session.path(uri)
    options = options_of(session, parallelism, pre_sign, part_size, verifies=verify)
    runner = runner_of(session, path, options, no_progress=no_progress)
    target = local_path(destination)
    if recursive:
        _download_folder(session, path, runner, target)
        return
    if path.path and target.is_dir():
        target /= path.path.rstrip("/").rpartition("/")[2]
    if target.exists() and not target.is_file() and not target.is_dir():
        raise CommandError(f"{target} is not a regular file: use fs cat for devices and pipes")
    job = DownloadJob(path.path, target, runner.stat(path.path), links=links_of(session))
    stored = runner.do(job)
    session.output.item(stored, lambda _: [f"download: {path} to {target}"])


def _download_folder(
    session: CommandSession, path: PathUri, runner: "TransferRunner", target: Path
) -> None:
    from graveler_cli.transfers.files import TargetFolder  # noqa: PLC0415

    prefix = folder_of(path.path)
    folder = TargetFolder(target)
    links = links_of(session)
    is_empty = True

    def jobs() -> Iterator["Job"]:
        nonlocal is_empty
        for found in runner.listing(prefix, presign=runner.presigns_listings):
            is_empty = False
            # Names that end with a slash mark folders.
            if not found.path.endswith("/"):
                yield download_of(found, prefix, folder, links)

    tally = runner.run(jobs())
    if is_empty:
        raise CommandError(f"no objects in path: {path}")
    report(session, "Download", tally)


def download_of(
    found: ObjectStats,
    prefix: str,
    folder: "TargetFolder",
    links: "Links",
    mtime_s: int | None = None,
) -> "Job":
    """Return the download of an object of a listing into a folder."""
    from graveler_cli.transfers.jobs import DownloadJob, ImpossibleJob  # noqa: PLC0415

    try:
        target = folder.target(found.path.removeprefix(prefix))
    except CommandError as error:
        return ImpossibleJob(found.path, error)
    return DownloadJob(found.path, target, found, mtime_s, links, folder)


def folder_of(path: str) -> str:
    """Return the prefix of the objects below a path."""
    return path if not path or path.endswith("/") else f"{path}/"
