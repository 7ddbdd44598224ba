"""A class name means one thing in all rooms."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_sizes_and_names import ROOMS, modules, shown

# A client names its struct of an answer after what the answer describes.
CLIENTS = ("graveler_cli", "graveler_gateway/lake/api")
# The API's schema of a change, and the engine's record of the same change.
ONE_THING = {"PullRequestUpdate"}


def classes(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the public classes of a module, and whether each is a struct of msgspec."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, any("Struct" in ast.unparse(base) for base in node.bases)


def test_no_two_modules_have_different_things_of_one_name():
    owners: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        place = shown(module)
        if place.split("/")[0] not in ROOMS:
            continue
        client = next((room for room in CLIENTS if place.startswith(f"{room}/")), "")
        for name, is_struct in classes(module):
            owners[name].append(f"an answer to {client}" if client and is_struct else place)
    twins = {
        name: places
        for name, places in owners.items()
        if len({place for place in places if not place.startswith("an answer")}) > 1
        or len(set(places)) < len(places)
    }
    assert len(owners) > 900
    assert set(twins) == ONE_THING, twins
