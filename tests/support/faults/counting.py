"""Engines whose calls of ports pass through a function, and a counter of these calls."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graveler.committed.store import Breaking, Committed
from graveler.engine import Engine

PORTS = (
    *("refs", "staging", "objects", "exports", "export_queue", "batch_jobs", "task_queue"),
    *("jobs", "collection_jobs"),
)


# How a call of a port is passed on: around(name, method, arguments, options).
PassOn = Callable[[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class Port:
    """A port whose calls are passed on by a function."""

    def __init__(self, port: object, name: str, around: PassOn) -> None:
        self._port = port
        self._name = name
        self._around = around

    def __getattr__(self, method: str) -> Callable[..., Any]:
        target = getattr(self._port, method)
        name = f"{self._name}.{method}"
        around = self._around

        def call(*args: Any, **options: Any) -> Any:
            return around(name, target, args, options)

        setattr(self, method, call)  # the next call finds it at once
        return call


def over_ports(engine: Engine, around: PassOn) -> Engine:
    """Return the engine with calls of its ports, except committed files, passed on by around."""
    ports: dict[str, Any] = {port: Port(getattr(engine, port), port, around) for port in PORTS}
    return replace(engine, **ports)


def engine_around(engine: Engine, around: Callable[[str, Callable[[], Any]], Any]) -> Engine:
    """Return the engine, with its caches, whose every call of a port goes through around."""

    def pass_on(
        name: str, method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        return around(name, lambda: method(*args, **options))

    committed = engine.committed
    files: Any = Port(committed._files, "files", pass_on)
    wrapped = Committed(
        files,
        breaking=Breaking(committed.breaking.raggedness_records, committed.breaking.bytes_max),
    )
    for cache in ("_ranges", "_metaranges", "_blocks", "_contents"):
        setattr(wrapped, cache, getattr(committed, cache))
    return replace(over_ports(engine, pass_on), committed=wrapped)


class Calls:
    """Records the names of the calls, in order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        self.names.append(name)
        return call()

    def counts(self) -> Counter[str]:
        """Return the number of calls by `port.method`."""
        return Counter(self.names)
