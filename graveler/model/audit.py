"""The audit: who changed access or settings, or logged in, when, from where, with what outcome."""

from msgspec import Struct

OUTCOMES = ("succeeded", "failed", "unknown")


class AuditRecord(Struct, frozen=True):
    """One request. It is stored before anything is done, and again with its outcome.

    id: an xid, which begins with the time.
    user: "" of a log-in, which has access_key_id.
    address: from which the request came.
    path: without the query.
    resources: the ARNs on which the request needs rights.
    status: of the answer; 0 if it is not known, because the process ended before.
    """

    id: str
    time_ns: int
    user: str
    address: str
    operation: str
    path: str
    request_id: str
    resources: tuple[str, ...] = ()
    access_key_id: str = ""
    status: int = 0

    @property
    def outcome(self) -> str:
        """One of OUTCOMES. A request that was refused has failed."""
        if not self.status:
            return "unknown"
        return "succeeded" if self.status < 400 else "failed"
