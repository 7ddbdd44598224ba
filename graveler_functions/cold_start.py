"""The start of a function's process: each handler imports and builds without garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Run the block without garbage collections; later ones skip all that exists at its end.

    A start makes some hundred thousand objects, which live as long as the process. Collections
    during the start would visit them again and again and free nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
