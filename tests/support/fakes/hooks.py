"""The targets of hooks in memory: tests say how they answer, and see what they got."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from graveler.ports import HookTargets, HttpAnswer, HttpRequest


def answered(status: int = 200, body: bytes = b"") -> HttpAnswer:
    return HttpAnswer(status, "", (), body)


@dataclass
class MemoryTargets:
    """Everything that hooks reach; each list has what arrived."""

    requests: list[HttpRequest] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)
    invoked: list[tuple[str, bytes]] = field(default_factory=list)
    events: list[tuple[str, str, str, str]] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    answer: Callable[[HttpRequest], HttpAnswer] = lambda _request: answered()
    function: Callable[[bytes], bytes] = lambda _payload: b"null"

    def send(self, request: HttpRequest, timeout_s: float) -> HttpAnswer:
        self.requests.append(request)
        self.timeouts_s.append(timeout_s)
        return self.answer(request)

    def invoke(self, function: str, payload: bytes, timeout_s: float) -> bytes:
        self.invoked.append((function, payload))
        self.timeouts_s.append(timeout_s)
        return self.function(payload)

    def put(self, bus: str, source: str, detail_type: str, detail: str) -> None:
        self.events.append((bus, source, detail_type, detail))

    def secret(self, name: str) -> str | None:
        return self.secrets.get(name)

    @property
    def ports(self) -> HookTargets:
        return HookTargets(self, self, self, self)

    @property
    def told(self) -> list[dict[str, object]]:
        """The events that web servers got, in the order of their arrival."""
        return [msgspec.json.decode(request.body) for request in self.requests]
