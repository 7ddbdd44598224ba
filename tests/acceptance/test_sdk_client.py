"""`lakefs.Client`: how it finds its server and key pair, and what it says of the server."""

import datetime as dt

import lakefs
import pytest
from lakefs.client import ServerConfiguration
from lakefs.config import ClientConfig
from lakefs.exceptions import NoAuthenticationFound, NotAuthorizedException
from lakefs_sdk.client import LakeFSClient

from tests.acceptance.clients import create_repository, key_pair

pytestmark = pytest.mark.server


def test_a_client_shows_the_configuration_that_it_was_given(client, stack):
    assert client.config.host == f"{stack.endpoint}/api/v1"
    assert client.config.username == stack.access_key_id
    assert client.config.get_auth_type() is ClientConfig.AuthType.CREDENTIALS
    assert client.config.iam_provider is None
    assert isinstance(client.sdk_client, LakeFSClient)


def test_a_client_finds_its_key_pair_in_lakectl_s_variables(stack, monkeypatch):
    pair = key_pair(stack)
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", pair["host"])
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", pair["username"])
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", pair["password"])
    client = lakefs.Client()
    repository = create_repository(client)
    assert repository.id in {found.id for found in lakefs.repositories(client)}


def test_a_client_finds_its_key_pair_in_lakectl_s_file(stack, monkeypatch, tmp_path):
    pair = key_pair(stack)
    file = tmp_path / "lakectl.yaml"
    file.write_text(
        f"credentials:\n  access_key_id: {pair['username']}\n"
        f"  secret_access_key: {pair['password']}\nserver:\n  endpoint_url: {pair['host']}\n"
    )
    monkeypatch.setattr("lakefs.config._LAKECTL_YAML_PATH", str(file))
    assert lakefs.Client().version


def test_a_client_logs_in_and_works_with_the_token(client, stack):
    key = {"access_key_id": stack.access_key_id, "secret_access_key": stack.secret_access_key}
    token = client.sdk_client.auth_api.login(login_information=key).token
    with_token = lakefs.Client(host=stack.endpoint, access_token=token)
    repository = create_repository(with_token)
    assert lakefs.repository(repository.id, client=client).properties.id == repository.id


def test_a_wrong_secret_is_refused(stack):
    wrong = lakefs.Client(**{**key_pair(stack), "password": "wrong"})
    with pytest.raises(NotAuthorizedException, match="error authenticating request"):
        list(lakefs.repositories(wrong))


def test_without_credentials_there_is_no_client(monkeypatch, tmp_path):
    monkeypatch.setattr("lakefs.config._LAKECTL_YAML_PATH", str(tmp_path / "none.yaml"))
    with pytest.raises(NoAuthenticationFound):
        lakefs.Client()


def test_the_server_has_a_version_and_one_storage(client):
    assert [part.isdigit() for part in client.version.split(".")] == [True] * 3
    storage = client.storage_config
    assert storage.blockstore_type == "s3"
    assert storage.pre_sign_support
    assert client.storage_config_by_id() == storage
    server = ServerConfiguration(client)
    assert server.version == client.version
    assert server.storage_config == server.storage_config_by_id() == storage


def test_the_time_when_a_token_expires_is_the_user_s_to_set(client, stack):
    mine = lakefs.Client(**key_pair(stack))
    assert mine.reset_time is None
    at = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    mine.reset_time = at
    assert mine.reset_time == at
