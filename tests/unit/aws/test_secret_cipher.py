"""Secrets under keys that are derived from one secret."""

import pytest

from graveler.aws.secret_cipher import SecretCipher, secret_cipher
from graveler.errors import CorruptDataError

SECRET = "s" * 40
CONTEXT = {"access-key-id": "AKIA1", "purpose": "testing"}


@pytest.fixture
def cipher() -> SecretCipher:
    return SecretCipher(SECRET)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64, 1_000])
def test_an_encrypted_secret_is_decrypted_also_by_another_process(
    cipher: SecretCipher, size: int
) -> None:
    plaintext = bytes(range(256)) * 4
    ciphertext = cipher.encrypt(plaintext[:size], CONTEXT)
    assert (
        SecretCipher(SECRET).decrypt(ciphertext, dict(reversed(CONTEXT.items())))
        == (plaintext[:size])
    )


def test_equal_secrets_have_different_ciphertexts(cipher: SecretCipher) -> None:
    assert cipher.encrypt(b"the secret", CONTEXT) != cipher.encrypt(b"the secret", CONTEXT)
    assert b"the secret" not in cipher.encrypt(b"the secret", CONTEXT)


def test_a_secret_belongs_to_its_context_and_its_key(cipher: SecretCipher) -> None:
    ciphertext = cipher.encrypt(b"the secret", CONTEXT)
    with pytest.raises(CorruptDataError):
        cipher.decrypt(ciphertext, {"purpose": "another"})
    with pytest.raises(CorruptDataError, match="restore the secret"):
        SecretCipher("another" * 10).decrypt(ciphertext, CONTEXT)


def test_a_ciphertext_with_a_changed_or_missing_byte_is_corrupt(cipher: SecretCipher) -> None:
    ciphertext = cipher.encrypt(b"the secret", CONTEXT)
    for position in range(len(ciphertext)):
        changed = bytearray(ciphertext)
        changed[position] ^= 1
        for damaged in (bytes(changed), ciphertext[:position]):
            with pytest.raises(CorruptDataError):
                cipher.decrypt(damaged, CONTEXT)


def test_the_environment_has_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVELER_CIPHER_SECRET", SECRET)
    ciphertext = secret_cipher().encrypt(b"the secret", CONTEXT)
    assert SecretCipher(SECRET).decrypt(ciphertext, CONTEXT) == b"the secret"


def test_a_secret_that_can_be_guessed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAVELER_CIPHER_SECRET", raising=False)
    with pytest.raises(ValueError, match="GRAVELER_CIPHER_SECRET"):
        secret_cipher()
    monkeypatch.setenv("GRAVELER_CIPHER_SECRET", "admin")
    with pytest.raises(ValueError, match="has 5 characters: set 32 or more"):
        secret_cipher()
