"""Copies of a process by Lambda's SnapStart; tests/infra/test_runtime.py makes real ones."""

import random
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from graveler.aws import connect, wiring
from graveler.aws.snapshots import after_restore

LIBRARY = "snapshot_restore_py"

ENVIRONMENT = {
    "AWS_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "GRAVELER_REFS_TABLE": "refs",
    "GRAVELER_STAGING_TABLE": "staging",
}


def test_lambda_calls_what_is_to_happen_in_each_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = []
    library = ModuleType(LIBRARY)
    library.register_after_restore = registered.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, LIBRARY, library)
    monkeypatch.setattr("graveler.aws.snapshots.find_spec", lambda _: object())
    act = print
    after_restore(act)
    assert registered == [act]


def test_outside_of_lambda_there_are_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graveler.aws.snapshots.find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, LIBRARY, raising=False)
    after_restore(lambda: pytest.fail("nobody calls it"))
    assert LIBRARY not in sys.modules


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    wiring.forget()
    yield
    wiring.forget()


def test_a_copy_reads_its_settings_and_credentials_again(
    deployed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = wiring.tables()
    assert wiring.tables() is stores
    assert connect.credentials()().access_key == ENVIRONMENT["AWS_ACCESS_KEY_ID"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7ANOTHER")
    monkeypatch.setenv("GRAVELER_REFS_TABLE", "restored")
    wiring.forget()
    assert wiring.tables() is not stores
    assert wiring.tables().refs == "restored"
    assert connect.credentials()().access_key == "AKIAIOSFODNN7ANOTHER"


def test_copies_pause_differently_before_they_try_again(deployed: None) -> None:
    pauses = []
    for _ in range(2):
        random.seed(7)  # the state in the snapshot
        wiring.forget()
        pauses.append(random.random())
    assert pauses[0] != pauses[1]
