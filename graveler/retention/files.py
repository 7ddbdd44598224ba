"""Where garbage collection keeps its files, as keys under the storage namespace: lakeFS's names."""

import csv
import io
from collections.abc import Mapping

from graveler.layout import METADATA_FOLDER

_FOLDER = f"{METADATA_FOLDER}retention/gc/"

RULES_FILE = f"{_FOLDER}rules/config.json"  # which is no JSON: `rules` has its format
# lakeFS tells clients this folder, and nobody writes to it any more.
ADDRESSES_FOLDER = f"{_FOLDER}addresses/"


def commits_file(run_id: str) -> str:
    """Return the list of a run's active commits."""
    return f"{_FOLDER}commits/run_id={run_id}/commits.csv"


def uncommitted_folder(run_id: str) -> str:
    """The folder of a run's Parquet files of staged addresses: a reader takes all that is there."""
    return f"{_FOLDER}uncommitted/{run_id}/uncommitted/"


def run_folder(run_id: str) -> str:
    """What the job that deletes writes of a run."""
    return f"{_FOLDER}unified/{run_id}/"


def looks_folder(run_folder_uri: str) -> str:
    """Return the folder of a run's stamps, by which the age of its looks is measured."""
    return f"{run_folder_uri}looks/"


def encode_commits(active: Mapping[str, str]) -> bytes:
    """Return the list of active commits, metarange's ID by commit's: CSV, by commit ID.

    `expired` is what older versions of lakeFS told apart here; only active commits are listed.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("commit_id", "expired", "metarange_id"))
    writer.writerows((commit_id, "false", active[commit_id]) for commit_id in sorted(active))
    return text.getvalue().encode()


def decode_commits(content: bytes) -> dict[str, str]:
    """Return the active commits that encode_commits wrote."""
    rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return {row["commit_id"]: row["metarange_id"] for row in rows}
