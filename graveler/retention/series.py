"""Series of collections: runs of the same work, whose last success a deployment watches."""


def series_of(repository: str, *, deletes: bool) -> str:
    """Return the series of a run; "" stands for all repositories.

    A run that only reports is of another series than one that deletes: it frees no storage.
    """
    return f"{'sweep' if deletes else 'report'}#{repository}"
