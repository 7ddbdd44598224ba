"""The clients of the running stack, and one repository for each document."""

import lakefs
import pytest

from tests.acceptance.clients import create_repository
from tests.seeds.clients import Clients
from tests.support.servers.stack import Stack


@pytest.fixture(scope="session")
def clients(stack: Stack) -> Clients:
    """Every client, as the administrator."""
    return Clients(stack)


@pytest.fixture(scope="module")
def repository(clients: Clients) -> lakefs.Repository:
    """A repository that all tests of a module share."""
    return create_repository(clients.lakefs)
