"""Each test runs in both homes of the gateway: beside the engine, and over the HTTP API."""

import pytest

from tests.support.worlds.sidecar import serve_over_the_api

# What the API cannot do as the engine does; tests of the other home only, and why.
OF_THE_ENGINE = {
    "test_a_redirect_leads_to_the_same_bytes": "the API presigns no URL that signs headers",
    "test_a_fault_of_ours_is_an_internal_error_that_says_nothing": "a fault of the API is a 503",
    "test_a_user_without_a_permission_is_refused_before_the_body_is_read["
    "api-CreateBucket-fs:CreateRepository]": "nothing is created, and the API has no such check",
    **dict.fromkeys(
        (
            "test_a_checksum_stays_with_the_object",
            "test_a_coding_stays_beside_a_checksum_that_comes_behind",
            "test_a_copied_part_tells_its_checksum",
            "test_a_copy_has_the_checksum_of_its_source_or_a_declared_one",
            "test_another_checksum_than_the_declared_one_is_refused",
            "test_a_wrong_checksum_of_parts_is_refused_and_may_be_corrected",
            "test_attributes_have_the_checksum",
            "test_s3_combines_the_checksums_of_parts",
        ),
        "presigned URLs sign no checksums",
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of the other home."""
    for item in items:
        if "[api" in item.name:
            for name in {item.name, item.name.partition("[")[0]} & OF_THE_ENGINE.keys():
                item.add_marker(pytest.mark.skip(OF_THE_ENGINE[name]))


@pytest.fixture(autouse=True, params=["engine", "api"])
def home(request, monkeypatch) -> str:
    """The home of the gateways that the test makes."""
    if request.param == "api":
        serve_over_the_api(monkeypatch)
    return request.param
