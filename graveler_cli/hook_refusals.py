"""A hook's refusal in one line: the check that failed, and why.

The server's message has lakeFS's form: the event, the run, and the first failed hook of each
action. The answer of a hook's target is in the hook's output. Without the right to read it, the
status in the message is the reason.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from graveler_cli.errors import CommandError

if TYPE_CHECKING:
    from graveler_cli.transport import WholeAnswer

    # Asks for an operation, by its method, its path and the names in the path.
    Request = Callable[[str, str, dict[str, str]], WholeAnswer]

_OUTPUT = "/repositories/{repository}/actions/runs/{run}/hooks/{hook_run}/output"

# A hook writes parts of the message, so each expression reads it once: no step starts again.
_REFUSAL = re.compile(
    r"(?<![a-z-])(?P<event>[a-z-]+) hook aborted, run id '(?P<run>\w+)': (?P<hooks>.*)", re.DOTALL
)
_HOOK = re.compile(
    r"\n\t\* hook run id '(?P<hook_run>\w+)' failed on action '(?P<action>[^\n]*?)' "
    r"hook '(?P<hook>[-\w]+)': action failed: (?P<reason>.*?)(?=\Z|\n\t\* hook run id)",
    re.DOTALL,
)
_STATUS = re.compile(r"status code[: (]+(?P<status>\d{3})\)")
_TOO_LATE = "context deadline exceeded"
_CUT = 300

# What an event stops. An event is `pre-` or `prepare-`, and one of these.
_STOPPED = {
    "commit": "this commit",
    "merge": "this merge",
    "revert": "this revert",
    "cherry-pick": "this cherry-pick",
    "create-branch": "the creation of this branch",
    "delete-branch": "the deletion of this branch",
    "create-tag": "the creation of this tag",
    "delete-tag": "the deletion of this tag",
}


def in_one_line(message: str, request: "Request", repository: str) -> str:
    """Return which checks stopped an operation, and why; a message of another kind as it is."""
    refusal = _REFUSAL.search(message)
    hooks = list(_HOOK.finditer(refusal["hooks"])) if refusal else []
    if refusal is None or not hooks:
        return message
    stopped = _STOPPED.get(refusal["event"].partition("-")[2], "this operation")
    names = {"repository": repository, "run": refusal["run"]}
    reasons = [_reason(each, request, names) for each in hooks]
    if len(hooks) == 1:
        return f'the check "{hooks[0]["hook"]}" stopped {stopped}: {reasons[0]}'
    checks = (
        f'"{each["hook"]}" of "{each["action"]}": {reason}'
        for each, reason in zip(hooks, reasons, strict=True)
    )
    return f"{len(hooks)} checks stopped {stopped}: {'; '.join(checks)}"


def _reason(hook: re.Match[str], request: "Request", names: dict[str, str]) -> str:
    """Return why a hook failed: what its target answered, else what the server says."""
    reason = hook["reason"].strip()
    if found := _STATUS.search(reason):
        try:
            output = request("GET", _OUTPUT, {**names, "hook_run": hook["hook_run"]})
            return _answer(output.content.decode(errors="replace"), found["status"])
        except CommandError:
            return f"the answer was {found['status']}"
    return reason.removesuffix(f": {_TOO_LATE}").removeprefix(f"{_TOO_LATE}: ")


def _answer(output: str, status: str) -> str:
    """Return the last answer in a hook's output: its text, unless it is a page, and its status."""
    answer = output.replace("\r\n", "\n").rpartition("\nResponse:\nHTTP/")[2]
    head, _, rest = answer.partition("\n\n")
    status_line, _, headers = head.partition("\n")
    phrase = status_line.partition(f" {status} ")[2]
    said = " ".join(rest.rsplit("Error: action failed: ", 1)[0].split())
    shown = f"{status} {phrase}".strip()
    if not said or "text/html" in headers.lower():
        return f"the answer was {shown}"
    return f"{said if len(said) <= _CUT else f'{said[:_CUT]}...'} ({shown})"
