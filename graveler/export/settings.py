"""What a deployment decides about continuous export."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """Where exports may write, and how much they do at once."""

    # Branches may be exported under these URIs only; with none, no branch may be.
    allowed_prefixes: tuple[str, ...] = ()
    # Concurrent requests to the object store; one means no threads.
    requests_at_once: int = 64
    # A run with this many objects to copy or delete is left to a batch job, if one is deployed.
    batch_objects_min: int = 2_000_000
