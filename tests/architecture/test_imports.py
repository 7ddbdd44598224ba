"""What import-linter, which `make check` runs on `.importlinter`, cannot see of the rooms' rules."""

import ast
from configparser import ConfigParser

from tests.architecture.test_sizes_and_names import ROOMS, ROOT, modules

# Import rules cannot see these: they need no import, or belong to a module that is allowed.
IMPURE_BUILTINS = {"open", "input", "print", "breakpoint"}
IMPURE_METHODS = {"now", "utcnow", "today"}

# Modules that a process, a Makefile or a setting names, and no module imports.
ENTRY_POINTS = {
    "graveler_gateway.server.http.worker",
    "infra.dist",
    "layers.requirements",
    "graveler_embedded.api",
    "graveler_embedded.cipher",
    "graveler_embedded.background",
    "graveler_embedded.launcher_build",
    "graveler_embedded.pinning",
    "graveler_embedded.provision",
    "graveler_embedded.slices",
}


def test_every_room_that_holds_modules_is_checked():
    config = ConfigParser()
    config.read(ROOT / ".importlinter")
    checked = config["importlinter"]["root_packages"].split()
    rooms = [room for room in ROOMS if any((ROOT / room).rglob("*.py"))]
    assert sorted(checked) == sorted(rooms)


def impure_calls(source: str) -> list[str]:
    """Return the calls in a source that do I/O or read the clock."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [call.id for call in calls if isinstance(call, ast.Name)]
    methods = [call.attr for call in calls if isinstance(call, ast.Attribute)]
    return [name for name in names if name in IMPURE_BUILTINS] + [
        method for method in methods if method in IMPURE_METHODS
    ]


def test_the_engine_opens_no_file_and_reads_no_clock():
    outside = "graveler/aws/"
    found = {
        name: calls
        for path in (ROOT / "graveler").rglob("*.py")
        if not (name := str(path.relative_to(ROOT))).startswith(outside)
        and (calls := impure_calls(path.read_text()))
    }
    assert found == {}


def test_impure_calls_are_found():
    source = "with open('f') as f:\n    print(datetime.now())\nclock.now_ns()\n"
    assert sorted(impure_calls(source)) == ["now", "open", "print"]


def test_every_module_is_imported_or_an_entry_point():
    imported = set()
    names = set()
    for path in modules():
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if name.startswith(ROOMS) and path.stem not in ("__init__", "__main__"):
            names.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            elif isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
    # The command line imports a command's module by its name.
    unused = {name for name in names - imported if not name.startswith("graveler_cli.commands.")}
    assert unused == ENTRY_POINTS
