"""The page of a listing."""

from typing import Generic, TypeVar

from msgspec import Struct

from graveler.limits import PAGE_AMOUNT_MAX

T = TypeVar("T")


class Pagination(Struct, frozen=True):
    has_more: bool
    next_offset: str
    results: int
    max_per_page: int = PAGE_AMOUNT_MAX


class Listing(Struct, Generic[T], frozen=True):
    pagination: Pagination
    results: list[T]


def listing(rows: list[T], next_after: str) -> Listing[T]:
    """Return a page of rows; next_after is "" on the last page."""
    return Listing(Pagination(next_after != "", next_after, len(rows)), rows)
