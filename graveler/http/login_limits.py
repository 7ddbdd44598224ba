"""Limits failed log-ins, by key and by source address.

Theory of operation. A failure adds one to two counters of the current minute in the store: the key
ID's and the address's. The counts come with the look-up of the key, so they cost no request. Beyond
a limit, the answer is 429 until the minute ends, and the process then answers without a request.
Existing and unknown IDs are treated alike, so an answer reveals neither.

A pair that this process has verified before is not limited. So failures under
the ID or the address of others do not lock them out of processes that serve them.
"""

import hashlib
import ipaddress
from collections.abc import Sequence

from msgspec import Struct

from graveler.errors import TooManyAttemptsError
from graveler.ports import AccountStore

WINDOW_S = 60
# A person mistypes less often; a job with a withdrawn key fails alone.
FAILURES_OF_KEY_MAX = 10
# Many people and jobs may share the address of a company.
FAILURES_OF_ADDRESS_MAX = 100

# Counters that the store may delete: a day after their minute, so clocks may differ.
_COUNTER_LIFE_S = 24 * 60 * 60
_BLOCKED_MAX = 10_000


class Counters(Struct, frozen=True):
    """The counters of one attempt, and the time when they end, in Unix seconds."""

    names: tuple[str, ...]
    limits: tuple[int, ...]
    end_s: int


class LoginLimits(Struct):
    """What a process knows about failed log-ins."""

    accounts: AccountStore
    _blocked: dict[str, int] = {}

    def counters(self, access_key_id: str, address: str, now_s: int) -> Counters:
        """Return the counters of an attempt; access_key_id or address is "" if there is none."""
        window = now_s // WINDOW_S
        named = [
            (f"{kind}#{_digest(value)}#{window}", limit)
            for kind, value, limit in (
                ("key", access_key_id, FAILURES_OF_KEY_MAX),
                ("address", _network_of(address), FAILURES_OF_ADDRESS_MAX),
            )
            if value
        ]
        names, limits = zip(*named, strict=True) if named else ((), ())
        return Counters(tuple(names), tuple(limits), (window + 1) * WINDOW_S)

    def check_memory(self, counters: Counters, now_s: int) -> None:
        """Refuse an attempt if the process knows that a limit is reached.

        Raises:
            TooManyAttemptsError: it does.
        """
        if any(name in self._blocked for name in counters.names):
            raise TooManyAttemptsError(max(1, counters.end_s - now_s))

    def check(self, counters: Counters, failures: Sequence[int], now_s: int) -> None:
        """Refuse an attempt if a limit is reached; failures are the counts in the store.

        Raises:
            TooManyAttemptsError: one is.
        """
        for name, limit, count in zip(counters.names, counters.limits, failures, strict=True):
            if count >= limit:
                if len(self._blocked) >= _BLOCKED_MAX:
                    self._blocked.clear()
                self._blocked[name] = counters.end_s
        self._forget_past(now_s)
        self.check_memory(counters, now_s)

    def _forget_past(self, now_s: int) -> None:
        for name, end_s in list(self._blocked.items()):  # other threads change it as well
            if end_s <= now_s:
                self._blocked.pop(name, None)

    def count(self, counters: Counters) -> None:
        """Count a failed attempt."""
        self.accounts.count_failure(counters.names, counters.end_s + _COUNTER_LIFE_S)


def _digest(value: str) -> str:
    """Return a name for the value, which may be a secret in the wrong field."""
    return hashlib.sha256(value.encode()).hexdigest()[:32]


def _network_of(address: str) -> str:
    """Return the address, or the /64 network of an IPv6 address: one host has all of it."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
