"""Commits and pages, as a server answers them."""

from hashlib import sha256

IDS = {name: sha256(name.encode()).hexdigest() for name in "abcdefghijklmnop"}


def commit(
    name: str,
    *parents: str,
    generation: int = 1,
    date: int = 1_700_000_000,
    message: str | None = None,
    **more: object,
) -> dict[str, object]:
    """Return a commit, whose name and parents are letters."""
    return {
        "id": IDS[name],
        "parents": [IDS[parent] for parent in parents],
        "committer": "ada",
        "message": f"add {name}" if message is None else message,
        "creation_date": date,
        "meta_range_id": f"meta-{name}",
        "metadata": {},
        "generation": generation,
        "version": 1,
        **more,
    }


def page(*results: object, next_offset: str = "") -> dict[str, object]:
    """Return a page of a listing."""
    pagination = {
        "has_more": next_offset != "",
        "next_offset": next_offset,
        "results": len(results),
        "max_per_page": 1000,
    }
    return {"pagination": pagination, "results": list(results)}
