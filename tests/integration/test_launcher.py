"""The launcher of DynamoDB Local in the wheel is the build of its source."""

import pytest

from graveler_embedded.launcher_build import build
from graveler_embedded.stores import LAUNCHER

pytestmark = pytest.mark.server


def test_the_committed_archive_is_what_the_source_compiles_to(tmp_path):
    build(tmp_path / "launcher.jar")
    assert (tmp_path / "launcher.jar").read_bytes() == LAUNCHER.read_bytes(), "run make launcher"
