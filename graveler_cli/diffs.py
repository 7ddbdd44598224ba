"""What the commands of diffs share: the refs that arguments name, and how a change is shown."""

import re

from graveler_cli.errors import UsageError
from graveler_cli.output import Color, CommandOutput
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri

OF_BRANCH = "/repositories/{repository}/branches/{branch}/diff"
OF_REFS = "/repositories/{repository}/refs/{left}/diff/{right}"
OF_BASE = "/repositories/{repository}/refs/{right}/merge/{left}"

_CHANGES: dict[str, tuple[str, Color]] = {
    "added": ("+ added", "green"),
    "removed": ("- removed", "red"),
    "changed": ("~ modified", "yellow"),
    "conflict": ("* conflict", "yellow"),
}

# No name of a branch or a tag has two dots, so the form is not ambiguous.
_RANGE = re.compile(r"(?P<left>.+?[^.])(?P<dots>\.{2,3})(?P<right>[^./][^/]*)")


def named_refs(
    session: CommandSession, uri: str, other_uri: str, *, two_way: bool
) -> tuple[RefUri, RefUri, bool] | None:
    """Print and return both refs, and whether to compare them without their base.

    Return None if the arguments name one branch.

    Raises:
        UsageError: an argument does not name a ref, or they are of two repositories.
    """
    in_range = _RANGE.fullmatch(uri)
    if other_uri:
        left, right = session.ref(uri), session.ref(other_uri)
    elif in_range:
        left = session.ref(in_range["left"])
        right, two_way = (
            RefUri(left.repository, in_range["right"]),
            two_way or in_range["dots"] == "..",
        )
    else:
        return None
    session.output.line(f"Left ref: {left}")
    session.output.line(f"Right ref: {right}")
    if left.repository != right.repository:
        raise UsageError("both refs must be of the same repository")
    return left, right, two_way


def change_line(output: CommandOutput, change: str, of: str) -> str:
    """Return the line about a change, such as `+ added a.csv`."""
    text, color = _CHANGES.get(change, (change, "blue"))
    return output.paint(f"{text} {of}", color)
