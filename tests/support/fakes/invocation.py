"""The context that Lambda passes to a handler."""

from aws_lambda_powertools.utilities.typing import LambdaContext


class Context(LambdaContext):
    """The context of an invocation; its remaining time does not decrease."""

    def __init__(self, aws_request_id: str = "request-1", time_left_ms: int = 900_000) -> None:
        self._aws_request_id = aws_request_id
        self.time_left_ms = time_left_ms

    # Powertools declares it static.
    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override]
        return self.time_left_ms
