"""docs/access.md names the standard groups, and its examples of policies are valid."""

import json
import re

from graveler.access.actions import Action
from graveler.access.policy import Effect, Statement
from graveler.access.standard import GROUPS
from graveler.access.validation import check_statements
from tests.architecture.test_portability import ROOT

PAGE = (ROOT / "docs" / "access.md").read_text()


def rows_under(heading: str) -> list[str]:
    """Return the rows of the page's first table with that heading."""
    return PAGE.partition(f"{heading}\n|")[2].partition("\n\n")[0].splitlines()[1:]


def test_the_page_names_the_policies_of_the_standard_groups():
    rows = [
        row.strip("| ").split(" | ") for row in rows_under("| group | its members may | policies |")
    ]
    assert {group: tuple(policies.split(", ")) for group, _, policies in rows} == GROUPS


def test_the_page_names_all_actions():
    assert [action for action in Action if f"`{action}`" not in PAGE] == []


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
