"""Operations read and answer what they declare: a valid request of each one proves it."""

from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.contract import ParameterKind, RawContent
from tests.support.checks.cases import for_each
from tests.support.checks.reads import recorded_reads
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import send, valid_requests

CONTRACTS = {each.template.name: each.contract for each in OPERATIONS}
WITH_BODY = [name for name, contract in CONTRACTS.items() if contract.body is not None]
PARAMETERS = [
    (name, parameter)
    for name, contract in CONTRACTS.items()
    for parameter in contract.parameters
    if parameter.kind is not ParameterKind.HEADER
]

# What the document says elsewhere, or not: credentials, the body's type, what browsers add, and how
# a request waits for a task, which a redirect says.
ELSEWHERE = {
    (ParameterKind.HEADER, "authorization"),
    (ParameterKind.HEADER, "content-type"),
    (ParameterKind.HEADER, "sec-fetch-site"),
    (ParameterKind.TEXT, "graveler-task"),
}

# Headers that an operation reads to refuse them.
REFUSED = {
    "linkPhysicalAddresses": {
        (ParameterKind.HEADER, "if-match"),
        (ParameterKind.HEADER, "if-none-match"),
    }
}


def most_special(shapes):
    """Leave out shapes that others extend: checks of access read what several bodies share."""
    return {
        each
        for each in shapes
        if not any(each in getattr(other, "__mro__", ())[1:] for other in shapes)
    }


@for_each("name", CONTRACTS)
def test_an_operation_reads_what_it_declares_and_nothing_else(name):
    contract = CONTRACTS[name]
    sent = valid_requests()[name]
    api = prepared().api.fork()
    with recorded_reads() as reads:
        reply = send(api, sent)
    assert reply.status == (sent.status or min(contract.answers)), reply
    declared = {
        (each.kind, each.name.lower() if each.kind is ParameterKind.HEADER else each.name)
        for each in contract.parameters
    }
    assert reads.parameters - ELSEWHERE - REFUSED.get(name, set()) == declared
    if isinstance(contract.body, RawContent):
        assert (reads.reads_body, reads.bodies) == (True, set())
    else:
        assert most_special(reads.bodies) == (
            {contract.body} if contract.body is not None else set()
        )


@for_each("name", WITH_BODY)
def test_a_body_may_be_left_out_only_where_it_is_optional(name):
    reply = send(prepared().api.fork(), valid_requests()[name].without_body())
    if CONTRACTS[name].is_body_optional:
        assert reply.status < 300, reply
    elif name != "setup":  # a token comes first, and it is right here: the body is missing
        assert (reply.status, "value is required" in reply.message) == (400, True)


@for_each(("name", "parameter"), PARAMETERS)
def test_a_parameter_may_be_left_out_only_where_it_is_optional(name, parameter):
    reply = send(prepared().api.fork(), valid_requests()[name].without(parameter.name))
    assert (reply.status == 400) == parameter.is_required, reply


def test_there_is_a_valid_request_of_every_operation():
    assert set(valid_requests()) == set(CONTRACTS)
