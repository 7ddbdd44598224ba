"""Finds what serves a method and a path."""

from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class RouteTable(Generic[T]):
    """Maps methods and paths to what serves them; of several matches, the first one added wins."""

    def __init__(self) -> None:
        # By the method and the number of segments. The last text, which differs most, is compared
        # first.
        self._routes: dict[tuple[str, int], list[_Shape[T]]] = {}

    def add(self, method: str, path: str, served: T) -> None:
        """Add a path with parameters as `<name>`."""
        segments = path.split("/")
        texts = [(at, text) for at, text in enumerate(segments) if not text.startswith("<")]
        names = [(at, text[1:-1]) for at, text in enumerate(segments) if text.startswith("<")]
        shape = _Shape(tuple(reversed(texts)), tuple(names), served)
        self._routes.setdefault((method, len(segments)), []).append(shape)

    def find(self, method: str, path: str) -> tuple[T, dict[str, str]] | None:
        """Return what serves the path, and its parameters; None if nothing does or one is empty."""
        segments = path.split("/")
        for shape in self._routes.get((method, len(segments)), ()):
            if all(segments[at] == text for at, text in shape.texts):
                parameters = {name: segments[at] for at, name in shape.names}
                if all(parameters.values()):
                    return shape.served, parameters
        return None


class _Shape(Struct, Generic[T], frozen=True):
    """A path: texts and parameters, each with the number of its segment."""

    texts: tuple[tuple[int, str], ...]
    names: tuple[tuple[int, str], ...]
    served: T
