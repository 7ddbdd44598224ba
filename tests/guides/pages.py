"""Pages that are executed as their readers would: CONTRIBUTING.md says how a page is written."""

import re
import shlex
from dataclasses import dataclass, field
from importlib import metadata

from packaging.requirements import Requirement

BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"`([\w./-]+)`:$")
FAILS = re.compile(r"# fails$")
LONG = "<!-- long -->"

# What each run has of its own, and what both texts have instead before they are compared.
OWN = [
    (re.compile(r"s3://[^\s\"]*/data/[^\s\"]*"), "<address>"),
    (re.compile(r"\b[0-9a-v]{19}[0g]\b"), "<xid>"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "<id>"),
    (re.compile(r"\bAKIA[0-9A-Z]{12,}\b"), "<key>"),
    (re.compile(r"(?i)(secret[ _]access[ _]key\"?: *)\S+"), r"\1<secret>"),
    (
        re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d[\d.]*(?: ?[+-]\d{4} [A-Z]+|Z)?)?"),
        "<time>",
    ),
    (re.compile(r"\b[12]\d{9}\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?m?s\b"), "<duration>"),
    (re.compile(r"\b(?:127\.0\.0\.1|localhost):\d+"), "<endpoint>"),
    (re.compile(r"[ \t]+"), " "),
]

# Runs each example of a Python session, and goes on after an exception.
PYCON = """
import code, doctest, sys
session = code.InteractiveInterpreter()
for example in doctest.DocTestParser().get_examples(sys.argv[1]):
    session.runsource(example.source, "<page>", "single")
"""


class PageError(Exception):
    """A page is not as it may be, or does not do what it shows; the message names the line."""


@dataclass
class Step:
    """What a reader does at a line of a page, as text for bash, and what the page then shows."""

    line: int
    command: str
    output: list[str] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        return bool(FAILS.search(self.command))

    @property
    def requirements(self) -> list[Requirement]:
        """What the command installs, if it is `pip install`."""
        match self.command.split():
            case ["pip", "install", *_]:
                words = shlex.split(self.command, comments=True)[2:]
                return [Requirement(word) for word in words if word[0] != "-"]
        return []


def steps(text: str, first_line: int = 1) -> list[Step]:
    """Return the steps of a page, in order; raises PageError for a block that is none."""
    found: list[Step] = []
    for block in BLOCK.finditer(text):
        indentation, language, body = block.groups()
        body = re.sub(f"^{indentation}", "", body, flags=re.MULTILINE)
        line = first_line + text.count("\n", 0, block.start())
        if language == "console":
            found += _commands(body, line + 1)
        elif language == "pycon":
            shown = [each for each in body.splitlines() if not re.match(r"(>>>|\.\.\.)( |$)", each)]
            command = f"python -c {shlex.quote(PYCON)} {shlex.quote(body)}"
            found.append(Step(line, command, shown))
        elif language and (name := NAMED.search(text[: block.start()].rstrip())):
            path = shlex.quote(name[1])
            written = f'mkdir -p "$(dirname {path})"\nprintf %s {shlex.quote(body)} > {path}'
            found.append(Step(line, written))
        else:
            raise PageError(
                f"{line}: a file's block has a language, and the line before it ends with `name`:"
            )
    return found


def _commands(body: str, line: int) -> list[Step]:
    found: list[Step] = []
    for number, each in enumerate(body.splitlines(), line):
        step = found[-1] if found else None
        if each.startswith("$ "):
            found.append(Step(number, each[2:]))
        elif step is None:
            raise PageError(f"{number}: a console block begins with `$ `")
        elif not step.output and (each[:2] in {">", "> "} or step.command.endswith("\\")):
            step.command += "\n" + each.removeprefix("> ").removeprefix(">")
        else:
            step.output.append(each)
    return found


def require_shown(step: Step, printed: str) -> None:
    """Raise PageError if a command printed something else than its page shows."""
    pattern = "".join(
        "(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in _common(step.output)
    )
    left = re.sub(r"[^\n]*\r(?!\n)", "", printed)  # what a terminal shows of progress in the end
    text = "".join(line + "\n" for line in _common(left.splitlines()))
    if step.output and not re.fullmatch(pattern, text):
        shown = "\n".join(step.output)
        raise PageError(f"{step.line}: {step.command}\nexpected:\n{shown}\ngot:\n{printed}")


def require_installed(step: Step) -> None:
    """Raise PageError if this environment lacks what a command installs."""
    for each in step.requirements:
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            version = ""
        if not version or version not in each.specifier:
            got = version or "none"
            raise PageError(f"{step.line}: {step.command}\nexpected:\n{each}\ngot:\n{got}")


def _common(lines: list[str]) -> list[str]:
    """Return lines without what a run has of its own, and without empty ones at the end."""
    text = "\n".join(line.rstrip() for line in lines).rstrip("\n")
    for pattern, name in OWN:
        text = pattern.sub(name, text)
    return text.splitlines()
