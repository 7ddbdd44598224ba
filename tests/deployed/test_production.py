"""The stage prod behind a REST API, as far as the emulator goes."""

import pytest

from tests.deployed.conftest import PLACES, STEPS
from tests.support.servers.deployed import DeployedStacks

pytestmark = pytest.mark.long

WEB_ACL = (
    "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/lake/0a1b2c3d-0000-0000-0000-000000000000"
)


@pytest.fixture(scope="module")
def production(account, distribution) -> DeployedStacks:
    settings = {"alarm_email": "ops@example.com", "web_acl_arn": WEB_ACL}
    return DeployedStacks.of(account, distribution("prod", **settings))


def test_the_acceptance_suite_passes_on_production_behind_a_rest_api(production):
    outcomes = production.accept(*PLACES)
    assert len(outcomes) == STEPS
    assert {name: each for name, each in outcomes.items() if each != "ok"} == {}
