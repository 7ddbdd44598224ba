"""The official clients, pointed at the running stack."""

import lakefs
import pytest

from tests.acceptance.clients import connect, create_repository
from tests.support.servers.stack import Stack


@pytest.fixture(scope="session")
def client(stack: Stack) -> lakefs.Client:
    """A client of the `lakefs` package."""
    return connect(stack)


@pytest.fixture
def repository(client: lakefs.Client) -> lakefs.Repository:
    """An empty repository of the test's own."""
    return create_repository(client)


@pytest.fixture
def main(repository: lakefs.Repository) -> lakefs.Branch:
    """The default branch of the test's own repository."""
    return repository.branch("main")
