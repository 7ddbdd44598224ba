"""What a deployment decides about continuous export."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """Where exports may go, and how hard they may work."""

    # Branches are exported under these URIs only; none allows no export at all.
    allowed_prefixes: tuple[str, ...] = ()
    # Requests to the object store at the same time; with one, nothing runs beside anything.
    requests_at_once: int = 64
    # A run with this many objects to copy or delete is left to a batch job, where there is one.
    batch_objects_min: int = 2_000_000
