import re
from importlib.resources import files

from graveler.access.actions import SERVICES, Action
from graveler_functions.api import authorization
from graveler_functions.api.all_operations import OPERATIONS
from tests.support.checks.cases import for_each


def test_the_actions_are_lakefs_s_74_and_one_of_its_past():
    assert len(Action) == 75
    assert SERVICES == ("fs", "auth", "ci", "retention", "branches", "pr", "catalog")


@for_each("action", [each for each in Action if not each.startswith("catalog:")])
def test_an_action_is_of_use(action):
    """Some operation needs it, so a policy that names it is not in vain."""
    deferred = (files(authorization) / "deferred_checks.py").read_text()
    named = " ".join(str(each.template.needs) for each in OPERATIONS)
    assert re.search(rf"{action}\b", named) or f"Action.{action.name}" in deferred
