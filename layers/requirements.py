"""Prints the requirements of an extra of pyproject.toml without those of the command line.

An extra adds to the package's own dependencies, which are the command line's. A function needs
none of them, so `make lock` compiles the layers' files from this: `python -m layers.requirements
server`.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def of_extra(name: str) -> Iterator[str]:
    """Yield an extra's requirements, with those of the extras that it includes.

    Raises:
        KeyError: there is no such extra.
    """
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    for requirement in project["optional-dependencies"][name]:
        included = re.fullmatch(rf"{project['name']}\[(\w+)\]", requirement)
        if included:
            yield from of_extra(included[1])
        else:
            yield requirement


if __name__ == "__main__":
    sys.stdout.writelines(f"{each}\n" for each in of_extra(sys.argv[1]))
