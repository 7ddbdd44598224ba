"""The files of garbage collection, as keys under the storage namespace; the names are lakeFS's."""

import csv
import io
from collections.abc import Mapping

from graveler.layout import METADATA_FOLDER
from graveler.model import CommitID, MetaRangeID

_FOLDER = f"{METADATA_FOLDER}retention/gc/"

RULES_FILE = f"{_FOLDER}rules/config.json"  # not JSON: see `rules`
# lakeFS reports this folder to clients, but nothing is written to it any more.
ADDRESSES_FOLDER = f"{_FOLDER}addresses/"


def commits_file(run_id: str) -> str:
    """Return the list of a run's active commits."""
    return f"{_FOLDER}commits/run_id={run_id}/commits.csv"


def uncommitted_folder(run_id: str) -> str:
    """Return the folder of a run's Parquet files of staged addresses; readers read all files."""
    return f"{_FOLDER}uncommitted/{run_id}/uncommitted/"


def runs_folder() -> str:
    """Return the folder of the folders of all runs."""
    return f"{_FOLDER}unified/"


def run_folder(run_id: str) -> str:
    """Return the folder of a run's reports and marks."""
    return f"{runs_folder()}{run_id}/"


def looks_folder(run_folder_uri: str) -> str:
    """Return the folder of a run's stamps, which measure the age of its looks."""
    return f"{run_folder_uri}looks/"


def encode_commits(active: Mapping[CommitID, MetaRangeID]) -> bytes:
    """Return the active commits (metarange ID by commit ID) as CSV, ordered by commit ID.

    The column `expired` is from older versions of lakeFS; only active commits are listed.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("commit_id", "expired", "metarange_id"))
    writer.writerows((commit_id, "false", active[commit_id]) for commit_id in sorted(active))
    return text.getvalue().encode()


def decode_commits(content: bytes) -> dict[CommitID, MetaRangeID]:
    """Return the active commits that encode_commits wrote.

    Raises:
        KeyError, UnicodeDecodeError: the content is no such list.
    """
    rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return {CommitID(row["commit_id"]): MetaRangeID(row["metarange_id"]) for row in rows}
