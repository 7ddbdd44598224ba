"""One line of JSON for each request.

It never holds a signature, a query or a header but User-Agent: a presigned URL is a credential.
"""

import sys
import time
import traceback
from dataclasses import dataclass, field

import msgspec


@dataclass(slots=True)
class AccessLogEntry:
    """The fields of a request's line."""

    request_id: str
    method: str
    user_agent: str = ""
    operation: str = ""
    repository: str = ""
    ref: str = ""
    user: str = ""
    status: int = 0
    code: str = ""
    message: str = ""
    error: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    began_s: float = field(default_factory=time.perf_counter)

    def failed(self, error: BaseException) -> None:
        """Record an error of the gateway itself, with its traceback."""
        self.error = "".join(traceback.format_exception(error))[-4000:]

    def write(self) -> None:
        """Write the line, after the answer was sent."""
        line = {
            "level": "ERROR" if self.error or self.status == 500 else "INFO",
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "service": "graveler-gateway",
            "duration_ms": round((time.perf_counter() - self.began_s) * 1000, 1),
        }
        for name in self.__slots__:
            value = getattr(self, name)
            if name != "began_s" and value not in ("", 0):
                line[name] = value
        sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
