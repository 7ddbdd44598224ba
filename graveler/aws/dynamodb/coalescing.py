"""Request coalescing: threads of one process share requests about the same subject.

Theory of operation. One request about a subject is under way at a time. Callers that arrive during
a request share the next one. No caller waits for company, so a single thread pays nothing. The more
threads there are, the fewer requests each of them costs. A shared read begins after all its callers
asked, so it is as fresh as their own.

The first caller sends the request for all. Then it makes the next waiter the sender, so no thread
sends for ever.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from graveler.aws import deadlines
from graveler.aws.errors import RequestRefusedError
from graveler.aws.retries import DYNAMODB_ATTEMPT_S
from graveler.errors import InvalidInputError, ThrottledError, UnknownOutcomeError

A = TypeVar("A")
R = TypeVar("R")

# A shared request ends at the deadline of the thread that sends it. A thread with less time than
# two attempts sends for itself only.
_SHARING_S_MIN = 2 * DYNAMODB_ATTEMPT_S

# Errors of one part that fail the whole request.
_OF_ONE_PART = (InvalidInputError, RequestRefusedError)


class BatchCall(Struct, Generic[A, R], frozen=True):
    """One request for several callers.

    send: returns the results for several arguments, in their order.
    accepts: whether one more argument fits beside the others.
    """

    send: Callable[[Sequence[A]], Sequence[R]]
    accepts: Callable[[Sequence[A], A], bool]


class _Caller(Generic[A, R]):
    """A thread's argument and its outcome."""

    def __init__(self, argument: A) -> None:
        self.argument = argument
        self.woken = threading.Event()
        self.is_taken = False
        self.must_send = False
        self.is_shared = False
        self.result: R | None = None
        self.error: Exception | None = None


class Coalescer:
    """The callers of one process, by subject; all calls about a subject have one BatchCall."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The waiting callers of each subject that has a request under way.
        self._waiting: dict[Hashable, list[_Caller[Any, Any]]] = {}

    def call(self, subject: Hashable, batch: BatchCall[A, R], argument: A) -> R:
        """Return the result for the argument, from a request that others may share.

        If DynamoDB refuses a shared request because of one part, each caller sends its own.

        Raises:
            ThrottledError: not done in time; it had no effect.
            UnknownOutcomeError: it may have had its effect.
            Exception: any error of send.
        """
        caller: _Caller[A, R] = _Caller(argument)
        with self._lock:
            waiting = self._waiting.get(subject)
            if waiting is not None:
                waiting.append(caller)
            else:
                self._waiting[subject] = []
                caller.must_send = True
        if not caller.must_send:
            self._wait(subject, caller)
        if caller.must_send:
            self._send(subject, batch, caller)
        if isinstance(caller.error, _OF_ONE_PART) and caller.is_shared:
            return batch.send([argument])[0]
        if caller.error is not None:
            raise caller.error
        return cast("R", caller.result)

    def _wait(self, subject: Hashable, caller: _Caller[A, R]) -> None:
        """Return when the caller has its outcome, or must send.

        Raises:
            ThrottledError, UnknownOutcomeError: no outcome arrived in time.
        """
        left_s = deadlines.left_s()
        try:
            if caller.woken.wait(None if left_s > threading.TIMEOUT_MAX else max(0.0, left_s)):
                return
        except BaseException:  # an interrupted caller sends no request
            self._leave(subject, caller)
            raise
        with self._lock:
            if caller.woken.is_set():
                return
            if caller.is_taken:
                raise UnknownOutcomeError("DynamoDB did not answer in time")
            self._waiting[subject].remove(caller)
            raise ThrottledError("DynamoDB cannot serve this now: retry later")

    def _leave(self, subject: Hashable, caller: _Caller[A, R]) -> None:
        with self._lock:
            if not caller.woken.is_set() and not caller.is_taken:
                self._waiting[subject].remove(caller)
        if caller.must_send:
            self._hand_over(subject)

    def _send(self, subject: Hashable, batch: BatchCall[A, R], first: _Caller[A, R]) -> None:
        """Send for the first caller and for all waiters that fit; give each its outcome."""
        callers = [first]
        error: Exception = UnknownOutcomeError("the thread that sent the request was stopped")
        results: Sequence[R] = ()
        try:
            if deadlines.left_s() >= _SHARING_S_MIN:
                self._gather(subject, batch, callers)
            results = batch.send([caller.argument for caller in callers])
        except Exception as raised:  # noqa: BLE001 - each caller raises it
            error = raised
        finally:
            self._hand_over(subject)
            for number, caller in enumerate(callers):
                if results:
                    caller.result = results[number]
                else:
                    caller.error = error
                caller.woken.set()

    def _gather(
        self, subject: Hashable, batch: BatchCall[A, R], callers: list[_Caller[A, R]]
    ) -> None:
        """Add the waiters that fit to the callers."""
        arguments = [caller.argument for caller in callers]
        with self._lock:
            waiting = self._waiting[subject]
            for other in tuple(waiting):
                if batch.accepts(arguments, other.argument):
                    callers.append(other)
                    other.is_taken = True
                    waiting.remove(other)
                    arguments.append(other.argument)
            for caller in callers:
                caller.is_shared = len(callers) > 1

    def _hand_over(self, subject: Hashable) -> None:
        """Make the next waiter the sender; without one, the subject is free."""
        with self._lock:
            waiting = self._waiting[subject]
            if waiting:
                following = waiting.pop(0)
                following.must_send = True
                following.woken.set()
            else:
                del self._waiting[subject]
