"""Secrets of the embedded stack are made once, kept private, and fail loudly when mixed up."""

import pytest

from graveler.errors import CorruptDataError
from graveler.http.schemas.credentials import AccessKey
from graveler_embedded.cipher import local_cipher
from graveler_embedded.key_pair import key_pair
from graveler_embedded.processes import StartError

CONTEXT = {"access-key-id": "AKIA", "purpose": "test"}


def mode_of(path):
    return path.stat().st_mode & 0o777


def test_the_cipher_key_is_made_once_and_private(tmp_path, monkeypatch):
    path = tmp_path / "cipher.key"
    monkeypatch.setenv("GRAVELER_CIPHER_KEY_FILE", str(path))
    sealed = local_cipher().encrypt(b"secret", CONTEXT)
    assert local_cipher().decrypt(sealed, CONTEXT) == b"secret"
    with pytest.raises(CorruptDataError, match=r"restore cipher\.key"):
        local_cipher().decrypt(sealed[1:], CONTEXT)
    assert mode_of(path) == 0o600


def test_a_new_key_pair_is_stored_privately_and_used_again(tmp_path):
    path = tmp_path / "keys.json"
    made = key_pair(path, {})
    assert key_pair(path, {}) == made
    assert mode_of(path) == 0o600


def test_the_first_pair_that_is_given_is_remembered(tmp_path):
    path = tmp_path / "keys.json"
    given = {"GRAVELER_ACCESS_KEY_ID": "AKIA", "GRAVELER_SECRET_ACCESS_KEY": "secret"}
    assert key_pair(path, given) == AccessKey("AKIA", "secret")
    assert key_pair(path, {}) == AccessKey("AKIA", "secret")


@pytest.mark.parametrize(
    ("access_key_id", "secret"), [("AKIA", ""), ("", "secret"), ("AK:IA", "secret")]
)
def test_half_a_pair_or_one_that_no_client_can_send_is_refused(tmp_path, access_key_id, secret):
    given = {"GRAVELER_ACCESS_KEY_ID": access_key_id, "GRAVELER_SECRET_ACCESS_KEY": secret}
    with pytest.raises(StartError, match="GRAVELER_ACCESS_KEY_ID and GRAVELER_SECRET_ACCESS_KEY"):
        key_pair(tmp_path / "keys.json", given)
    assert list(tmp_path.iterdir()) == []
