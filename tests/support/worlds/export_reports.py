"""An export with a status path, and its reports there."""

import json

from graveler.model import CommitID
from graveler.operations import branches
from tests.support.worlds.export_lakes import LATEST
from tests.support.worlds.export_world import REPO, ExportWorld, export_world
from tests.support.worlds.lake import commit, upload

STATUS = "s3://out/status"


def reporting_lake() -> ExportWorld:
    """Return a branch that is exported continuously, with reports."""
    made = export_world()
    upload(made.engine(), b"a/1", b"one")
    upload(made.engine(), b"b", b"two")
    commit(made.engine(), message="first")
    made.configure(LATEST, status_path=STATUS, is_continuous=True)
    return made


def head(lake: ExportWorld) -> CommitID:
    """Return the ID of the branch's head."""
    return branches.get(lake.engine(), REPO, "main").commit_id


def change(lake: ExportWorld, key: str = "b", content: bytes = b"changed") -> CommitID:
    upload(lake.engine(), key.encode(), content)
    return commit(lake.engine(), message="next").id


def read(lake: ExportWorld, name: str) -> bytes:
    return lake.objects.get(f"{STATUS}/{name}")


def latest(lake: ExportWorld) -> list[dict[str, object]]:
    """Return the contents of the _STATUS files, the earliest first."""
    return [json.loads(lake.objects.get(uri)) for uri in lake.objects.uris(f"{STATUS}/_STATUS_")]


def manifest(lake: ExportWorld, commit_id: CommitID) -> list[dict[str, object]]:
    text = read(lake, f"lake-main-{commit_id}.manifest.jsonl")
    return [json.loads(line) for line in text.splitlines()]


def holds(lake: ExportWorld, commit_id: CommitID) -> None:
    """Check a manifest against the objects at the destination."""
    lines = manifest(lake, commit_id)
    assert [line["key"] for line in lines] == sorted(lake.content_of(commit_id))
    for line in lines:
        info = lake.objects.head(f"{LATEST}/{line['key']}")
        assert info is not None
        assert (line["etag"], line["size"]) == (info.checksum, info.size_bytes)


def refuse(lake: ExportWorld, *uris: str) -> None:
    """Make the store refuse writes of these URIs; without any, of none."""

    def before(_operation: str, uri: str) -> None:
        if uri in uris:
            raise OSError("refused")

    lake.objects.before = before
