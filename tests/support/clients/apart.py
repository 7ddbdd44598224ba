"""Clients of S3 written in Rust, called in another process."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def another_process() -> Iterator[Callable[..., object]]:
    """Yield what calls a function in another process, which ends with the context.

    Polars, delta-rs and obstore leave threads behind. One of these threads crashed a process of
    tests long after the client's own test had passed.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        yield lambda call, *args, **named: process.submit(call, *args, **named).result()
