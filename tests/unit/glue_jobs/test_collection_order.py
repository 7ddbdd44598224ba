"""The order in which a run reads what is alive, on which the theory of operation rests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from graveler_jobs.garbage_collection import live, marking
from graveler_jobs.garbage_collection.marking import Marking

LOOK = ["begin", "uploads", "limit", "tokens", "entries", "end of limit", "commits", "claims"]


class Anything:
    """Whatever the steps hand on."""

    def __getattr__(self, _name: str) -> Any:
        return self

    def __call__(self, *_args: Any, **_options: Any) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ReadAllError(Exception):
    """The last read of what is alive was made."""


@pytest.mark.parametrize(
    ("scan", "order"),
    [
        (lambda made: made.mark(Anything()), ["candidates", *LOOK]),
        (lambda made: made.come_to_life(), LOOK),
    ],
    ids=["mark", "look"],
)
def test_each_look_reads_in_the_order_that_the_theory_needs(
    scan: Callable[[Marking], object], order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def reads(name: str) -> Callable[..., Any]:
        def note(*_args: Any) -> Any:
            read.append(name)
            if name == "claims":
                raise ReadAllError
            return Anything()

        return note

    class Entries(Anything):
        """Entries of tokens, which Spark reads as late as it may."""

        def localCheckpoint(self) -> "Entries":  # noqa: N802 - Spark's name
            read.append("entries")
            return self

    @contextmanager
    def in_time(*_args: Any) -> Iterator[None]:
        read.append("limit")
        yield
        read.append("end of limit")

    monkeypatch.setattr(Marking, "_candidates", reads("candidates"))
    monkeypatch.setattr(marking, "begin_scan", reads("begin"))
    monkeypatch.setattr(marking, "staged_in_time", in_time)
    monkeypatch.setattr(live, "staged", lambda *_: Entries())
    monkeypatch.setattr(marking, "encode_commits", lambda _: b"")
    for function, name in (
        ("upload_addresses", "uploads"),
        ("staging_tokens", "tokens"),
        ("active_metaranges", "commits"),
        ("claimed_addresses", "claims"),
    ):
        monkeypatch.setattr(marking, function, reads(name))
    anything: Any = Anything()
    with pytest.raises(ReadAllError):
        scan(Marking(anything, anything, anything, anything, anything, anything))
    assert read == order
