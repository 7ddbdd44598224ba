"""A second deployment in the account, with `economy`: it has a secret where the first has a key."""

import json

import pytest

from tests.deployed.conftest import until
from tests.support.servers.deployed import DeployedStacks


@pytest.fixture(scope="module")
def economical(account, stacks, distribution) -> DeployedStacks:
    """The second deployment, beside the first."""
    return DeployedStacks.of(account, distribution(name="economical", economy="true"))


def test_both_deployments_have_their_own_users_and_data(stacks, economical):
    name = "both"
    for each, content in ((stacks, "of the first"), (economical, "of the second")):
        where = f"{each.repository(name)}/branches/main/objects"
        assert each.ask("POST", where, params={"path": "a"}, data=content).status_code == 201
        read = each.ask("GET", f"/repositories/{name}/refs/main/objects", params={"path": "a"})
        assert read.text == content
    stranger = DeployedStacks(stacks.account, stacks.name, economical.key_pair)
    assert stranger.ask("GET", f"/repositories/{name}").status_code == 401


def test_functions_read_the_secret_of_the_cipher_and_show_no_secret(account, economical):
    secrets = account.client("secretsmanager")
    values = [
        secrets.get_secret_value(SecretId=each["ARN"])["SecretString"]
        for each in secrets.list_secrets()["SecretList"]
    ]
    assert len(values) == 3  # a token of each deployment, and the cipher's
    shown = [
        account.client("lambda").list_functions()["Functions"],
        account.client("cloudformation").describe_stacks()["Stacks"],
    ]
    assert [each for each in values if each in json.dumps(shown, default=str)] == []
    # The task's function decrypts the signing key.
    where = f"{economical.repository('by-task')}/branches/main/commits/async"
    begun = economical.ask("POST", where, json={"message": "m", "allow_empty": True})
    assert begun.status_code == 202, begun.text
    status = f"{where}/{begun.json()['id']}/status"
    until(lambda: economical.ask("GET", status).json()["completed"])
    assert economical.ask("GET", status).json()["result"]["message"] == "m"
