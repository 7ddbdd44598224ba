"""The stack starts although the store takes long for its first answer."""

from types import SimpleNamespace

import pytest

from graveler.aws import wiring
from graveler.errors import ThrottledError
from graveler_embedded import provision


class SlowTables:
    """Tables of a store that gives no answer to the first requests."""

    def __init__(self, unanswered: int) -> None:
        self.unanswered = unanswered
        self.is_created = False

    def create(self) -> None:
        if self.unanswered:
            self.unanswered -= 1
            raise ThrottledError("no answer")
        self.is_created = True


def test_a_store_may_be_slow_to_give_its_first_answer(monkeypatch):
    tables = SlowTables(unanswered=3)
    monkeypatch.setattr(wiring, "adapters", lambda: SimpleNamespace(tables=tables))
    provision.create_tables()
    assert tables.is_created


def test_a_store_that_never_answers_ends_the_start(monkeypatch):
    monkeypatch.setattr(
        wiring, "adapters", lambda: SimpleNamespace(tables=SlowTables(unanswered=3))
    )
    monkeypatch.setattr(provision, "STORE_PATIENCE_S", -1.0)
    with pytest.raises(ThrottledError):
        provision.create_tables()
