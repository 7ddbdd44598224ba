"""An HTTP client with scripted answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graveler.aws.exchanges.buffered import BufferedResponse, RequestNotSentError, ResponseLostError
from graveler.aws.retries import RetryPolicy

Step = BufferedResponse | type[ResponseLostError] | type[RequestNotSentError]


@dataclass(frozen=True)
class Keys:
    access_key: str = "AKIDEXAMPLE"
    secret_key: str = "secret"
    token: str | None = None


@dataclass
class Request:
    headers: Mapping[str, str]
    body: bytes


class _Pending:
    def __init__(self, step: Step) -> None:
        self._step = step

    def finish(self) -> BufferedResponse:
        if isinstance(self._step, BufferedResponse):
            return self._step
        raise self._step("by script")

    def abandon(self) -> None:
        pass


@dataclass
class ScriptedHttp:
    """Plays its steps in order, the last one again and again; remembers the requests."""

    steps: list[Step]
    host: str = "host.example"
    requests: list[Request] = field(default_factory=list)

    def begin(self, headers: Mapping[str, str], body: bytes) -> _Pending:
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        self.requests.append(Request(headers, body))
        if step is RequestNotSentError:
            raise RequestNotSentError("by script")
        return _Pending(step)


class FakeTime:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.pauses_s: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now_s += seconds

    def retries(self, total_s_max: float = 1.0) -> RetryPolicy:
        longest: Callable[[float, float], float] = lambda _low, high: high  # noqa: E731
        return RetryPolicy(
            total_s_max=total_s_max,
            sleep=self.sleep,
            monotonic_s=lambda: self.now_s,
            uniform=longest,
        )
