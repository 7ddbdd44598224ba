"""Requests about the same thing that meet: threads of one process share them.

Theory of operation. One request about a subject is under way at a time. Who comes meanwhile waits,
and all who wait go together in the next one. So nobody waits for company, a single thread pays
nothing, and the more threads there are, the fewer requests each of them costs. A read that is
shared begins after everybody who shares it asked, so it is as fresh as their own.

The thread that came first sends the request for all. Then it wakes the next one to send for those
who came meanwhile, so that nobody works for others for ever.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from graveler.aws import deadlines
from graveler.aws.errors import RequestRefusedError
from graveler.aws.retries import DYNAMODB_ATTEMPT_S
from graveler.errors import InvalidInputError, ThrottledError, UnknownOutcomeError

A = TypeVar("A")
R = TypeVar("R")

# A shared request ends with the deadline of the thread that sends it. One with less time than two
# attempts sends for itself only.
_SHARING_S_MIN = 2 * DYNAMODB_ATTEMPT_S

# What DynamoDB says of one part, and refuses the whole request for.
_OF_ONE_PART = (InvalidInputError, RequestRefusedError)


@dataclass(frozen=True, slots=True)
class Kind(Generic[A, R]):
    """How several requests of a kind become one.

    send: returns the results for what several have asked, in their order.
    takes: whether one more fits to those asked already.
    """

    send: Callable[[Sequence[A]], Sequence[R]]
    takes: Callable[[Sequence[A], A], bool]


class _Member(Generic[A, R]):
    """A thread's part of a request, and what came of it."""

    def __init__(self, asked: A) -> None:
        self.asked = asked
        self.woken = threading.Event()
        self.is_taken = False
        self.must_send = False
        self.is_shared = False
        self.result: R | None = None
        self.error: Exception | None = None


class Meetings:
    """The meetings of one process, by subject; a subject has requests of one kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Those who wait, while a request about the subject is under way.
        self._waiting: dict[Hashable, list[_Member[Any, Any]]] = {}

    def join(self, subject: Hashable, kind: Kind[A, R], asked: A) -> R:
        """Return the result for what is asked, from a request that others may share.

        If DynamoDB refuses a shared request, because of a part of it, each asks alone.

        Raises:
            ThrottledError: not done in time; it had no effect.
            UnknownOutcomeError: it may have had its effect.
            Exception: whatever send raises.
        """
        member: _Member[A, R] = _Member(asked)
        with self._lock:
            waiting = self._waiting.get(subject)
            if waiting is not None:
                waiting.append(member)
            else:
                self._waiting[subject] = []
                member.must_send = True
        if not member.must_send:
            self._wait(subject, member)
        if member.must_send:
            self._send(subject, kind, member)
        if isinstance(member.error, _OF_ONE_PART) and member.is_shared:
            return kind.send([asked])[0]
        if member.error is not None:
            raise member.error
        return cast("R", member.result)

    def _wait(self, subject: Hashable, member: _Member[A, R]) -> None:
        """Return when the member has its outcome, or must send.

        Raises:
            ThrottledError, UnknownOutcomeError: nobody answered in time.
        """
        left_s = deadlines.left_s()
        try:
            if member.woken.wait(None if left_s > threading.TIMEOUT_MAX else max(0.0, left_s)):
                return
        except BaseException:  # an interrupt: it will not send for anybody
            self._leave(subject, member)
            raise
        with self._lock:
            if member.woken.is_set():
                return
            if member.is_taken:
                raise UnknownOutcomeError("DynamoDB did not answer in time")
            self._waiting[subject].remove(member)
            raise ThrottledError("DynamoDB cannot serve this now: retry later")

    def _leave(self, subject: Hashable, member: _Member[A, R]) -> None:
        with self._lock:
            if not member.woken.is_set() and not member.is_taken:
                self._waiting[subject].remove(member)
        if member.must_send:
            self._hand_over(subject)

    def _send(self, subject: Hashable, kind: Kind[A, R], first: _Member[A, R]) -> None:
        """Send for the first member, and for all who wait and fit; give everybody the outcome."""
        members = [first]
        error: Exception = UnknownOutcomeError("the thread that sent the request was stopped")
        results: Sequence[R] = ()
        try:
            if deadlines.left_s() >= _SHARING_S_MIN:
                self._gather(subject, kind, members)
            results = kind.send([member.asked for member in members])
        except Exception as raised:  # noqa: BLE001 - each member raises it
            error = raised
        finally:
            self._hand_over(subject)
            for number, member in enumerate(members):
                if results:
                    member.result = results[number]
                else:
                    member.error = error
                member.woken.set()

    def _gather(self, subject: Hashable, kind: Kind[A, R], members: list[_Member[A, R]]) -> None:
        """Add those who wait and fit to the members."""
        asked = [member.asked for member in members]
        with self._lock:
            waiting = self._waiting[subject]
            for other in tuple(waiting):
                if kind.takes(asked, other.asked):
                    members.append(other)
                    other.is_taken = True
                    waiting.remove(other)
                    asked.append(other.asked)
            for member in members:
                member.is_shared = len(members) > 1

    def _hand_over(self, subject: Hashable) -> None:
        """Let the next one send who waits; if nobody does, the subject is free."""
        with self._lock:
            waiting = self._waiting[subject]
            if waiting:
                following = waiting.pop(0)
                following.must_send = True
                following.woken.set()
            else:
                del self._waiting[subject]
