"""Counts what goes to the stores: every call of a port, in order, by its name."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graveler.committed.store import Breaking, Committed
from graveler.operations.engine import Engine

PORTS = ("refs", "staging", "objects", "exports", "export_queue", "batch_jobs")


class Port:
    """Stands before a port and passes calls on, by way of around(name, call)."""

    def __init__(
        self, port: object, name: str, around: Callable[[str, Callable[[], Any]], Any]
    ) -> None:
        self._port = port
        self._name = name
        self._around = around

    def __getattr__(self, method: str) -> Callable[..., Any]:
        target = getattr(self._port, method)
        name = f"{self._name}.{method}"
        return lambda *args, **options: self._around(name, lambda: target(*args, **options))


def engine_around(engine: Engine, around: Callable[[str, Callable[[], Any]], Any]) -> Engine:
    """The engine, its caches with it, with every call of a port passed through around."""
    committed = engine.committed
    files: Any = Port(committed._files, "files", around)
    wrapped = Committed(
        files,
        breaking=Breaking(committed.breaking.raggedness_records, committed.breaking.bytes_max),
    )
    for cache in ("_ranges", "_metaranges", "_blocks", "_contents"):
        setattr(wrapped, cache, getattr(committed, cache))
    ports: dict[str, Any] = {port: Port(getattr(engine, port), port, around) for port in PORTS}
    return replace(engine, committed=wrapped, **ports)


class Calls:
    """Counts the calls that pass."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        self.names.append(name)
        return call()

    def counts(self) -> Counter[str]:
        """How often each port was called, by `port.method`."""
        return Counter(self.names)
