"""Ciphers under keys in memory: the deployment's secret, and the embedded stack's file."""

from collections.abc import Callable

import pytest

from graveler.aws.aes_gcm import AesGcmCipher
from graveler.aws.dynamodb.accounts.records import Cipher
from graveler.aws.secret_cipher import SecretCipher
from graveler.errors import CorruptDataError

SECRET = "s" * 40
CONTEXT = {"access-key-id": "AKIA1", "purpose": "testing"}


# Of "the secret" under CONTEXT, as earlier versions wrote it; the second one's nonce begins as the
# other form does.
OLDER = (
    bytes.fromhex(
        "000102030405060708090a0b0c0d0e0f4caa89053968729bf6e3fb5fe3919018d475f705740b4f25"
        "0cb682302bc4331738f28fe4a379622175c8"
    ),
    bytes.fromhex(
        "67636d31000102030405060708090a0bfb05230952b04546c187e138b7a2b0072f72866c37b93360"
        "0eb1619e6b03effaf8cdda00ab5e6482384a"
    ),
)
# Of "the secret" under CONTEXT, as the next release writes it. Made with `cryptography` alone.
AES_GCM = bytes.fromhex(
    "67636d31000102030405060708090a0b838c878a81ce155fc288c1f0269b24ec69db95f27d5b098c7b42"
)

# By name: one with the key whose last byte is given.
CIPHERS: dict[str, Callable[[str], Cipher]] = {
    "secret": lambda last: SecretCipher(f"{SECRET[:-1]}{last}"),
    "AES-GCM": lambda last: AesGcmCipher(bytes(31) + last.encode(), "the secret of the tests"),
}


@pytest.fixture(params=CIPHERS)
def ciphers(request: pytest.FixtureRequest) -> Callable[[str], Cipher]:
    return CIPHERS[request.param]


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64, 1_000])
def test_an_encrypted_secret_is_decrypted_also_by_another_process(
    ciphers: Callable[[str], Cipher], size: int
) -> None:
    plaintext = (bytes(range(256)) * 4)[:size]
    ciphertext = ciphers("s").encrypt(plaintext, CONTEXT)
    assert ciphers("s").decrypt(ciphertext, dict(reversed(CONTEXT.items()))) == plaintext


def test_equal_secrets_have_different_ciphertexts(ciphers: Callable[[str], Cipher]) -> None:
    cipher = ciphers("s")
    assert cipher.encrypt(b"the secret", CONTEXT) != cipher.encrypt(b"the secret", CONTEXT)
    assert b"the secret" not in cipher.encrypt(b"the secret", CONTEXT)


def test_a_secret_belongs_to_its_context_and_its_key(ciphers: Callable[[str], Cipher]) -> None:
    ciphertext = ciphers("s").encrypt(b"the secret", CONTEXT)
    with pytest.raises(CorruptDataError):
        ciphers("s").decrypt(ciphertext, {"purpose": "another"})
    with pytest.raises(CorruptDataError, match="restore the secret of the"):
        ciphers("t").decrypt(ciphertext, CONTEXT)


def test_a_ciphertext_with_a_changed_or_missing_byte_is_corrupt(
    ciphers: Callable[[str], Cipher],
) -> None:
    assert_guarded(ciphers("s"), ciphers("s").encrypt(b"the secret", CONTEXT))


@pytest.mark.parametrize("ciphertext", OLDER, ids=["any", "like AES-GCM's"])
def test_a_secret_of_an_earlier_version_can_be_read(ciphertext: bytes) -> None:
    assert SecretCipher(SECRET).decrypt(ciphertext, CONTEXT) == b"the secret"


def test_the_version_before_can_read_what_this_one_writes() -> None:
    assert len(SecretCipher(SECRET).encrypt(b"the secret", CONTEXT)) == len(OLDER[0])


def test_a_secret_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(ValueError, match="has 5 characters"):
        SecretCipher("admin")


def test_a_secret_of_the_next_release_can_be_read() -> None:
    cipher = SecretCipher(SECRET)
    assert cipher.decrypt(AES_GCM, CONTEXT) == b"the secret"
    assert_guarded(cipher, AES_GCM)
    with pytest.raises(CorruptDataError):
        cipher.decrypt(AES_GCM, {"purpose": "another"})


def assert_guarded(cipher: Cipher, ciphertext: bytes) -> None:
    for position in range(len(ciphertext)):
        changed = bytearray(ciphertext)
        changed[position] ^= 1
        for damaged in (bytes(changed), ciphertext[:position]):
            with pytest.raises(CorruptDataError, match="restore the secret of the"):
                cipher.decrypt(damaged, CONTEXT)
