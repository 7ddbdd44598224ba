"""docs/access.md repeats the tables of access control: what operations and tasks need, the groups."""

import json
import re

from graveler.access.policy import Effect, Statement
from graveler.access.standard import GROUPS
from graveler.access.validation import check_statements
from graveler_functions.api.authorization.deferred_checks import TASK_NEEDS
from graveler_functions.api.authorization.table import NEEDS
from tests.architecture.test_portability import ROOT

PAGE = (ROOT / "docs" / "access.md").read_text()


def rows_of_operations() -> list[str]:
    return [f"| {name} | {row} |" for name, row in NEEDS.items()]


def rows_of_tasks() -> list[str]:
    def named(actions) -> str:
        return ", ".join(f"`{action}`" for action in actions)

    return [
        f"| {kind} | {named(seeing)} | {named(cancelling)} |"
        for kind, (seeing, cancelling) in TASK_NEEDS.items()
    ]


def rows_under(heading: str) -> list[str]:
    """Return the rows of the page's first table with that heading."""
    return PAGE.partition(f"{heading}\n|")[2].partition("\n\n")[0].splitlines()[1:]


def test_the_page_says_what_each_operation_needs():
    assert rows_under("| operation | needs |") == rows_of_operations()


def test_the_page_says_what_each_kind_of_task_needs():
    heading = "| kind | its status and its row in the list need | its cancellation needs |"
    assert rows_under(heading) == rows_of_tasks()


def test_the_page_names_the_policies_of_the_standard_groups():
    rows = [
        row.strip("| ").split(" | ") for row in rows_under("| group | its members may | policies |")
    ]
    assert {group: tuple(policies.split(", ")) for group, _, policies in rows} == GROUPS


def test_the_examples_of_policies_are_valid():
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert len(examples) == 5
    for example in examples:
        statements = [
            Statement(
                Effect(each["effect"]),
                tuple(each["action"]),
                each["resource"],
                each.get("condition", {}),
            )
            for each in example.get("statement", [example])
        ]
        check_statements(statements)
