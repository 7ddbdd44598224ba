"""/openapi.json: the API's description, from which users generate clients."""

from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.routes import tags
from tests.support.checks.contracts import DOCUMENT
from tests.support.clients.api import ApiClient, event


def document():
    reply = ApiClient(set_up=False).send(event("GET", "/openapi.json"))
    assert reply.status == 200
    return reply.json


def described():
    """Return what the document says of each operation, by operationId."""
    methods = [each for path in document()["paths"].values() for each in path.values()]
    return {each["operationId"]: each for each in methods}


def references(value):
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "$ref")
    children = value.values() if isinstance(value, dict) else value
    if not isinstance(value, str | int | float | None):
        for each in children:
            yield from references(each)


def test_anyone_reads_the_document_of_every_served_operation():
    served = {operation.template.name for operation in OPERATIONS}
    assert set(described()) == served
    assert len(served) > 90


def test_its_head_alone_has_no_body():
    reply = ApiClient().send(event("HEAD", "/openapi.json"))
    assert (reply.status, reply.content) == (200, b"")


def test_every_reference_leads_somewhere():
    components = DOCUMENT["components"]
    for reference in set(references(DOCUMENT)):
        _, _, kind, name = reference.split("/")
        assert name in components[kind], reference


def test_every_component_is_used():
    used = {reference.rpartition("/")[2] for reference in references(DOCUMENT)}
    assert set(DOCUMENT["components"]["schemas"]) - used == set()


def test_the_parameters_of_a_path_have_lakefs_s_names():
    for path, methods in document()["paths"].items():
        for each in methods.values():
            for parameter in each["parameters"]:
                assert parameter["in"] != "path" or f"{{{parameter['name']}}}" in path
            in_path = [each for each in each["parameters"] if each["in"] == "path"]
            assert path.count("{") == len(in_path)
    assert "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}" in document()["paths"]


def test_public_operations_ask_for_no_credentials():
    public = {each.template.name for each in OPERATIONS if each.template.public}
    assert {name for name, each in described().items() if each.get("security") == []} == public
    assert "401" not in described()["healthCheck"]["responses"]
    assert "401" in described()["getTag"]["responses"]


def test_an_operation_is_found_under_its_resource():
    of_tags = {name for name, each in described().items() if each["tags"] == ["tags"]}
    assert of_tags == {each.template.name for each in tags.operations.table}


def test_numbers_have_64_bits_in_generated_clients():
    stats = DOCUMENT["components"]["schemas"]["ObjectStats"]["properties"]
    assert stats["size_bytes"] == {"type": "integer", "format": "int64"}


def test_fields_that_an_answer_always_has_are_required_and_others_are_not():
    schemas = DOCUMENT["components"]["schemas"]
    assert "max_per_page" in schemas["Pagination"]["required"]
    assert "physical_address_expiry" not in schemas["ObjectStats"]["required"]
    # In a request, a field with a default may be left out.
    assert schemas["BranchCreation"]["required"] == ["name", "source"]


def test_an_upload_takes_a_form_or_the_bytes_themselves():
    content = described()["uploadObject"]["requestBody"]["content"]
    assert content["*/*"]["schema"] == {"type": "string", "format": "binary"}
    assert set(content["multipart/form-data"]["schema"]["properties"]) == {"content"}


def test_what_waits_for_a_task_may_redirect():
    assert "307" in described()["commit"]["responses"]
    assert "307" not in described()["commitAsync"]["responses"]
