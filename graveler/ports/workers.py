"""The ports to work outside the request: the queue of tasks, and the function for slices."""

from collections.abc import Mapping
from typing import Any, Protocol

from graveler.model.tasks import TaskMessage


class TaskQueue(Protocol):
    """The queue whose messages make runners look at tasks."""

    def send(self, message: TaskMessage, delay_s: int = 0) -> None:
        """Send a message that arrives after delay_s: at least once, late and in any order."""


class SliceFunction(Protocol):
    """A function of which many run side by side."""

    def invoke(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the function's answer to a job; both are JSON. For many threads.

        Raises:
            ThrottledError: too many run at once, or the function died; invoke it again.
        """
