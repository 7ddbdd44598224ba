"""The folder of the S3 endpoint."""

import os
from pathlib import Path

import pytest

from graveler_embedded.stores import drop_half_written

UUID = "7b118f3f-c75c-478c-8d6b-705dd2a9e776"


@pytest.fixture
def has_attributes(tmp_path: Path) -> bool:
    """Whether S3Proxy can describe its objects in this folder."""
    try:
        os.setxattr(tmp_path, "user.probe", b"")
    except OSError:
        return False
    return True


def test_partly_written_files_of_a_killed_stack_are_deleted_and_objects_stay(
    tmp_path: Path, has_attributes: bool
) -> None:
    folder = tmp_path / "bucket" / "a"
    folder.mkdir(parents=True)
    names = [f"half-{UUID}", f"whole-{UUID}", f"full-{UUID}", f"part-{UUID}.parquet", "plain"]
    for name in names:
        (folder / name).write_bytes(b"x" if name.startswith("full") else b"")
    if has_attributes:
        os.setxattr(folder / f"whole-{UUID}", "user.user.content-md5", b"x")
    drop_half_written(tmp_path)
    left = {path.name for path in folder.iterdir()}
    # Where nothing can be described, nothing can be told from an object.
    assert left == set(names[1:] if has_attributes else names)
