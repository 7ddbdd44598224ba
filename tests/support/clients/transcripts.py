"""Terminal sessions, written down once and run again.

A transcript is a text: `$ ` begins a command line of bash, which may go on with `> ` in the next
line; what follows is its standard output, then `[1]` if it ended with that code. Lines with `# `
before a command are comments. A program prints IDs, times and names of its own: before they are
compared, they become <commit>, <time> and so on. The name of the repository is $REPO, and the
session begins in an empty folder.

    python -m tests.support.clients.transcripts FILE --program lakectl

prints the file as that program would have it, with the endpoint and the credentials of LAKECTL_*.
So one sees where lakectl differs.
"""

import argparse
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

TIMEOUT_S = 240

# What a run has of its own, and what it becomes.
NORMAL = [
    (re.compile(r"\b[0-9a-f]{64}\b"), "<commit>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} [A-Z+\d-]+"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\b(timestamp: )\d{10}\b"), r"\1<time>"),
    (re.compile(r'("(?:creation_date|mtime)":\s?)\d{10}'), r"\1<time>"),
    (re.compile(r"(s3|local)://[^\s\"?]*/data/[^\s\"?]*"), "<address>"),
    (re.compile(r"https?://[^\s\"]*[?&](X-Amz-|Signature=)[^\s\"]*"), "<url>"),
]


@dataclass(frozen=True)
class Step:
    """A command line, and what it prints and ends with."""

    comment: str
    command: str
    output: str
    code: int

    def __str__(self) -> str:
        command = self.command.replace("\n", "\n> ")
        code = f"[{self.code}]\n" if self.code else ""
        return f"{self.comment}$ {command}\n{self.output}{code}"


def read(text: str) -> Iterator[Step]:
    """Yield the steps of a transcript."""
    comment, command, output, code = "", "", "", 0
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield Step(comment, command, output, code)
                comment = ""
            command, output, code = line[2:].rstrip("\n"), "", 0
        elif line.startswith("> ") and not output:
            command += f"\n{line[2:]}".rstrip("\n")
        elif line.startswith("# "):
            if command:
                yield Step(comment, command, output, code)
                comment, command = "", ""
            comment += line
        elif found := re.fullmatch(r"\[(\d+)\]\n?", line):
            code = int(found[1])
        elif command:
            output += line
        else:
            comment += line
    if command:
        yield Step(comment, command, output, code)


def run(steps: Iterator[Step], program: Path, variables: Mapping[str, str]) -> Iterator[Step]:
    """Yield the steps as the program, under the name graveler, has them.

    Standard error goes to that of this process.
    """
    repository = f"r{secrets.token_hex(6)}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "home").mkdir()
        (folder / "bin" / "graveler").symlink_to(program)
        environment = {
            **variables,
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
            "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "REPO": repository,
            "TZ": "UTC",
        }
        for step in steps:
            done = subprocess.run(
                ["bash", "-c", step.command],
                cwd=folder / "home",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=TIMEOUT_S,
                check=False,
            )
            output = normal(done.stdout.decode(), repository, folder)
            yield replace(step, output=output, code=done.returncode)


def normal(text: str, repository: str, folder: Path) -> str:
    """Return the text without what a run has of its own; it ends with a new line."""
    for pattern, name in NORMAL:
        text = pattern.sub(name, text)
    text = text.replace(repository, "$REPO").replace(str(folder / "home"), "$HOME")
    return text if text.endswith("\n") or not text else text + "\n"


def main() -> None:
    """Print a transcript as a program has it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--program", type=Path, default=Path(sys.executable).with_name("graveler"))
    given = parser.parse_args()
    variables = {name: text for name, text in os.environ.items() if name.startswith("LAKECTL_")}
    for step in run(read(given.file.read_text()), given.program.absolute(), variables):
        sys.stdout.write(str(step))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
