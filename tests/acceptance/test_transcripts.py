"""`graveler` prints what lakectl's users know: sessions that were compared with lakectl's own."""

import sys
from pathlib import Path

import pytest

from tests.support.clients import transcripts

pytestmark = pytest.mark.server

# It stands beside the interpreter once the project is installed.
GRAVELER = Path(sys.executable).with_name("graveler")

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_session_goes_as_it_is_written(stack, file):
    written = list(transcripts.read(file.read_text()))
    assert written
    variables = {
        "LAKECTL_SERVER_ENDPOINT_URL": stack.endpoint,
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": stack.access_key_id,
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": stack.secret_access_key,
        "BUCKET": "s3://graveler",
    }
    for before, now in zip(
        written, transcripts.run(iter(written), GRAVELER, variables), strict=True
    ):
        assert str(now) == str(before)
