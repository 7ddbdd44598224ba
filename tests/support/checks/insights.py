"""The filters of CloudWatch Logs Insights, as far as the runbook's queries use them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<regex>/(?:[^/\\]|\\.)*/) | (?P<text>"[^"]*") | (?P<number>\d+(?:\.\d+)?)
        | (?P<operator><=|>=|!=|=|<|>|\(|\)|,) | (?P<word>@?[A-Za-z_][\w.]*)
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d+(\.\d+)?")
_WORDS = {"and", "or", "not", "like", "ispresent"}
_FUNCTIONS = {"count", "max", "min", "avg", "sum", "pct", "latest", "bin", "ispresent"}
# Fields that CloudWatch adds to each line.
_OF_CLOUDWATCH = {"@timestamp", "@message"}


@dataclass(frozen=True)
class Query:
    """A query: commands that are separated by bars, of which the first may be a filter."""

    text: str

    @cached_property
    def _commands(self) -> list[tuple[str, str]]:
        parts = [part.strip() for part in re.split(r"\s\|\s", self.text)]
        return [(name, rest) for name, _, rest in (part.partition(" ") for part in parts)]

    @property
    def condition(self) -> str:
        """The filter; "" if the query has none, and finds every line of the log."""
        return next((rest for name, rest in self._commands if name == "filter"), "")

    @cached_property
    def fields(self) -> set[str]:
        """The fields of log lines that the query reads."""
        made: set[str] = set()
        found: set[str] = set()
        for name, rest in self._commands:
            if name == "limit":
                continue
            words = [match["word"] for match in _TOKEN.finditer(re.sub(r"bin\(\w+\)", "", rest))]
            words = [word for word in words if word]
            aliases = {after for before, after in pairwise(words) if before == "as"}
            made |= aliases
            found |= set(words) - _WORDS - _FUNCTIONS - {"as", "by", "desc", "asc"}
        return found - made - _OF_CLOUDWATCH

    def selects(self, line: Mapping[str, Any]) -> bool:
        """Whether the filter lets the line through."""
        return not self.condition or bool(
            eval(self._python, {"__builtins__": {}}, {"line": Line(line), "re": re})
        )

    @cached_property
    def _python(self) -> str:
        """The filter as a Python expression."""
        written: list[str] = []
        position = 0
        condition = self.condition.strip()
        while position < len(condition):
            match = _TOKEN.match(condition, position)
            assert match, f"cannot read the query from {condition[position:]!r}"
            position = match.end()
            written.append(_python_of(match))
        text = " ".join(written)
        text = re.sub(r"line\.has \( line\['([^']*)'\] \)", r"line.has('\1')", text)
        return re.sub(r"(line\[[^]]*\])  LIKE (r'[^']*')", r"re.search(\2, str(\1))", text)


class Line:
    """A log line, whose nested fields have dotted names; a missing field is None."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content

    def __getitem__(self, name: str) -> Any:
        found: Any = self._content
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, str) and _NUMBER.fullmatch(found):
            return float(found)  # as Insights compares it
        return _ABSENT if found is None else found

    def has(self, name: str) -> bool:
        return self[name] is not _ABSENT


class _Absent:
    """Equals nothing, and is neither less nor more."""

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


_ABSENT = _Absent()


def _python_of(match: re.Match[str]) -> str:
    if match["regex"]:
        return f"LIKE r'{match['regex'][1:-1]}'"
    if match["operator"]:
        return "==" if match["operator"] == "=" else match["operator"]
    if match["text"] or match["number"]:
        return match["text"] or match["number"]
    word: str = match["word"]
    if word == "ispresent":
        return "line.has"
    if word == "like":
        return ""
    return word if word in _WORDS else f"line['{word}']"
