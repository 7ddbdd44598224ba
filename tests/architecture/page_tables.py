"""The tables of documents that are made from the code: `make docs` writes them."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from graveler.access.catalog_needs import NEEDS as CATALOG_NEEDS
from graveler_functions.api.all_operations import OPERATIONS, TEMPLATES
from graveler_functions.api.authorization.deferred_checks import TASK_NEEDS
from tests.architecture.test_portability import ROOT
from tests.support.checks.budgets import BUDGETS

# The modules of operations that lakeFS does not have, and their sections of docs/api.md.
OWN = {
    "exports": "Continuous export",
    "tasks": "Tasks",
    "prefixes": "Prefixes",
    "history": "Versions of an object",
    "presigned": "Presigned URLs of many objects",
    "many_writes": "Many direct writes in one request",
    "recorded_uploads": "Recorded uploads",
    "reviews": "Reviews of pull requests",
    "rights": "Rights of users",
    "collection_runs": "Runs of garbage collection",
    "sessions": "Sessions",
    "audit": "Audit",
}


def operations_by_module() -> dict[str, list[str]]:
    """Return the names of the operations of each route module, in the order of its table."""
    by_module: dict[str, list[str]] = defaultdict(list)
    for operation in OPERATIONS:
        module = operation.route.__module__.rpartition(".")[2]
        by_module[module].append(operation.template.name)
    return by_module


def _operations() -> Iterator[tuple[object, ...]]:
    for module, names in sorted(operations_by_module().items()):
        if module not in OWN:
            yield f"`{module}`", ", ".join(names)


def _needs() -> Iterator[tuple[object, ...]]:
    for template in TEMPLATES:
        yield template.name, template.needs


def _catalog_needs() -> Iterator[tuple[object, ...]]:
    for name, needs in CATALOG_NEEDS.items():
        yield name, " and ".join(map(str, needs))


def _task_needs() -> Iterator[tuple[object, ...]]:
    for kind, needs in TASK_NEEDS.items():
        yield kind, *(", ".join(f"`{action}`" for action in actions) for actions in needs)


def _budgets() -> Iterator[tuple[object, ...]]:
    for each in BUDGETS:
        in_a_row = f"{each.chain.dynamodb} + {each.chain.s3}"
        requests_to_s3 = sum(each.s3.values())
        yield each.operation, each.dynamodb, requests_to_s3, in_a_row, each.chain.far_ms


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page, which its head identifies, and the cells of its rows."""

    page: str
    head: str
    cells: Callable[[], Iterator[tuple[object, ...]]]

    @property
    def path(self) -> Path:
        return ROOT / "docs" / self.page

    def made(self, text: str) -> str:
        """Return the page's text with the table as the code has it."""
        lines = text.splitlines()
        assert lines.count(self.head) == 1, f"{self.page} has no table {self.head}, or two"
        begins = lines.index(self.head) + 2  # after the line between head and rows
        ends = begins
        while ends < len(lines) and lines[ends].startswith("|"):
            ends += 1
        lines[begins:ends] = [f"| {' | '.join(map(str, row))} |" for row in self.cells()]
        return "\n".join(lines) + "\n"


TABLES = (
    PageTable("api.md", "| module in `graveler_functions/api/routes` | operations |", _operations),
    PageTable("access.md", "| operation | needs |", _needs),
    PageTable("access.md", "| operation of the catalog | needs |", _catalog_needs),
    PageTable(
        "access.md",
        "| kind | its status and its row in the list need | its cancellation needs |",
        _task_needs,
    ),
    PageTable("requests.md", "| operation | DynamoDB | S3 | in a row | far away, ms |", _budgets),
)


def main() -> None:
    """Write the tables."""
    for table in TABLES:
        table.path.write_text(table.made(table.path.read_text()))


if __name__ == "__main__":
    main()
