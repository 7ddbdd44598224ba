"""What a handler is given by Lambda."""

from dataclasses import dataclass


@dataclass
class Context:
    """What Lambda says of the invocation."""

    aws_request_id: str = "request-1"
    time_left_ms: int = 900_000

    def get_remaining_time_in_millis(self) -> int:
        return self.time_left_ms
