"""The files of committed data, as clients find and read them."""

import pytest
from lakefs_sdk import models

from graveler.branches.lookup import read_repository
from tests.support.clients.api import ApiClient

NAMESPACE = "s3://bucket/repo"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


class TestMetadata:
    def range_ids(self, api: ApiClient) -> tuple[str, str]:
        api.upload("a")
        metarange_id = api.commit()["meta_range_id"]
        repo = read_repository(api.engine, "repo")
        [header] = repo.metarange(metarange_id).headers()
        for (namespace, file_id), content in api.world.files.files.items():
            api.engine.objects.put(f"{namespace}/_lakefs/{file_id}", content, "")
        return metarange_id, header.id

    def test_files_return_their_location(self, api):
        for kind, file_id in zip(("meta_range", "range"), self.range_ids(api), strict=True):
            reply = api.ask("GET", f"/repositories/repo/metadata/{kind}/{file_id}")
            assert (reply.status, reply.json) == (200, {"location": f"_lakefs/{file_id}"})
            models.StorageURI.from_dict(reply.json)
            assert reply.headers["Location"] == f"_lakefs/{file_id}"

    def test_files_are_read_whole_or_by_redirect(self, api):
        for kind, file_id in zip(("meta_range", "range"), self.range_ids(api), strict=True):
            path = f"/repositories/repo/metadata/object/{kind}/{file_id}"
            content = api.world.files.files[NAMESPACE, file_id]
            reply = api.ask("GET", path)
            assert (reply.status, reply.content) == (200, content)
            assert reply.headers["Content-Type"] == "application/octet-stream"
            reply = api.ask("GET", path, presign="true")
            assert (reply.status, reply.content) == (302, b"")
            assert api.world.objects.request_presigned(reply.headers["Location"]) == content

    @pytest.mark.parametrize(
        "file_id", ["0" * 64, "x", "dummy", "retention", "..%2Fdata%2Fa", "A" * 64]
    )
    def test_a_missing_file_is_404(self, api, file_id):
        for path in (f"meta_range/{file_id}", f"range/{file_id}", f"object/range/{file_id}"):
            assert api.ask("GET", f"/repositories/repo/metadata/{path}").status == 404

    def test_another_kind_of_object_is_400(self, api):
        path = "/repositories/repo/metadata/object/commit/" + "0" * 64
        assert api.ask("GET", path).status == 400
