"""Schemathesis sends what the OpenAPI document allows, and what it does not.

The answers must be those that the document describes. The examples are always the same: few for
each operation, and many in `make test-long`. `tests.fuzz` goes further.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.fuzz.wsgi import WsgiApp
from tests.support.worlds.valid_requests import valid_requests

# A module that `make check` does not even import: schemathesis takes seconds for that.
pytestmark = pytest.mark.slow

# For each operation.
FEW = 3
MANY = int(os.environ.get("FUZZ_EXAMPLES", "50"))
CHECKS = (
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
)

app = WsgiApp()
schema = schemathesis.openapi.from_wsgi("/openapi.json", app)


def examples(amount: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Send so many requests, the same ones each time."""
    return settings(
        max_examples=amount,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@schema.parametrize()
@examples(FEW)
def test_an_operation_answers_as_the_document_says(case):
    check_answer(case)


@pytest.mark.long
@schema.parametrize()
@examples(MANY)
def test_an_operation_answers_many_requests_as_the_document_says(case):
    check_answer(case)


def check_answer(case: Any) -> None:
    operation = case.operation.definition.raw["operationId"]
    app.use_lake_of(operation)
    # Names of things that exist, so that most requests reach the operation's own work.
    names = valid_requests()[operation].names
    for name in case.path_parameters or {}:
        if name in names:
            case.path_parameters[name] = names[name]
    response = case.call(headers={"authorization": app.api.authorization})
    assert response.status_code not in {429, 500, 503}, response.text
    case.validate_response(response, checks=list(CHECKS))
