"""Operations read and answer what they declare: a valid request of each one proves it."""

import pytest

from functions.api.contract import Content, Kind
from functions.api.operations import OPERATIONS
from tests.support.prepared_lake import prepared
from tests.support.reads import recorded_reads
from tests.support.valid_requests import send, valid_requests

NAMES = [each.template.name for each in OPERATIONS]
CONTRACTS = {each.template.name: each.contract for each in OPERATIONS}

# What the document says elsewhere, or not: credentials, the body's type, what browsers add, and how
# a request waits for a task, which a redirect says.
ELSEWHERE = {
    (Kind.HEADER, "authorization"),
    (Kind.HEADER, "content-type"),
    (Kind.HEADER, "sec-fetch-site"),
    (Kind.TEXT, "graveler-task"),
}


def most_special(shapes):
    """Leave out shapes that others extend: checks of access read what several bodies share."""
    return {
        each
        for each in shapes
        if not any(each in getattr(other, "__mro__", ())[1:] for other in shapes)
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_reads_what_it_declares_and_nothing_else(name):
    contract = CONTRACTS[name]
    sent = valid_requests()[name]
    api = prepared().api.fork()
    with recorded_reads() as reads:
        reply = send(api, sent)
    assert reply.status == (sent.status or min(contract.answers)), reply
    declared = {
        (each.kind, each.name.lower() if each.kind is Kind.HEADER else each.name)
        for each in contract.parameters
    }
    assert reads.parameters - ELSEWHERE == declared
    if isinstance(contract.body, Content):
        assert (reads.reads_body, reads.bodies) == (True, set())
    else:
        assert most_special(reads.bodies) == (
            {contract.body} if contract.body is not None else set()
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_body_may_be_left_out_only_where_it_is_optional(name):
    contract = CONTRACTS[name]
    if contract.body is None:
        return
    sent = valid_requests()[name]
    reply = send(prepared().api.fork(), sent.without_body())
    if contract.is_body_optional:
        assert reply.status < 300, reply
    elif name != "setup":  # a token comes first, and it is right here: the body is missing
        assert (reply.status, "value is required" in reply.message) == (400, True)


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_may_be_left_out_only_where_it_is_optional(name):
    for parameter in CONTRACTS[name].parameters:
        if parameter.kind is Kind.HEADER:
            continue
        sent = valid_requests()[name].without(parameter.name)
        reply = send(prepared().api.fork(), sent)
        if parameter.is_required:
            assert reply.status == 400, parameter
        else:
            assert reply.status != 400, (parameter, reply)


def test_there_is_a_valid_request_of_every_operation():
    assert set(valid_requests()) == set(NAMES)
