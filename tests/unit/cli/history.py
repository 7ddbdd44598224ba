"""Commits and pages, as a server answers them."""

from hashlib import sha256

IDS = {name: sha256(name.encode()).hexdigest() for name in "abcdefghijklmnop"}


def commit(name, *parents, generation=1, date=1_700_000_000, message=None, **more):
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


def page(*results, next_offset=""):
    pagination = {
        "has_more": next_offset != "",
        "next_offset": next_offset,
        "results": len(results),
        "max_per_page": 1000,
    }
    return {"pagination": pagination, "results": list(results)}
