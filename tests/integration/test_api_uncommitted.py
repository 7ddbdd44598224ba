"""The lists of staged addresses that a garbage collection starts from, as its client sees them."""

import io
from typing import Any

import pyarrow.parquet as pq
import pytest
from lakefs_sdk import models

from graveler.operations import recorded_uploads, uncommitted_addresses
from tests.support.clients.api import ApiClient

UNCOMMITTED = "/repositories/repo/gc/prepare_uncommited"
NAMESPACE = "s3://bucket/repo"
MAIN = "/repositories/repo/branches/main/objects"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


class TestPreparedUncommitted:
    def addresses(self, api: ApiClient, location: str) -> list[tuple[str, int]]:
        """What every file under the location says."""
        found: list[tuple[str, int]] = []
        for uri in api.world.objects.uris(location):
            table = pq.read_table(io.BytesIO(api.engine.objects.get(uri)))
            assert table.column_names == ["physical_address", "creation_date"]
            found += zip(*(column.to_pylist() for column in table.columns), strict=True)
        return found

    def staged(self, api: ApiClient, path: str, branch: str = "main") -> tuple[str, int]:
        stat = api.upload(path, branch=branch)
        return stat["physical_address"].removeprefix(f"{NAMESPACE}/"), stat["mtime"]

    def prepare(self, api: ApiClient, token: str | None = None) -> Any:
        reply = api.ask("POST", UNCOMMITTED, {} if token is None else {"continuation_token": token})
        assert reply.status == 201
        models.PrepareGCUncommittedResponse.from_dict(reply.json)
        return reply.json

    def test_the_last_file_has_what_shallow_copies_claim(self, api):
        address, _ = self.staged(api, "a")
        api.world.clock.tick(2 * 24 * 60 * 60)
        body = {"src_path": "a", "shallow": True}
        copied = api.ask("POST", f"{MAIN}/copy", body, dest_path="b")
        assert copied.status == 201
        assert api.ask("DELETE", MAIN, path="a").status == 204
        assert api.ask("DELETE", MAIN, path="b").status == 204
        made = self.prepare(api)
        found = self.addresses(api, made["gc_uncommitted_location"])
        assert [each for each, _ in found] == [address]

    def test_the_first_file_has_what_recorded_uploads_will_name(self, api):
        begun = recorded_uploads.create(api.engine, "repo", "main", b"a", metadata={})
        made = self.prepare(api)
        found = self.addresses(api, made["gc_uncommitted_location"])
        assert [each for each, _ in found] == [begun.address]

    def test_the_file_has_what_is_staged_on_every_branch(self, api):
        api.upload("committed")
        api.commit()
        for body in ({"name": "dev", "source": "main"}, {"name": "h", "source": "main"}):
            api.ask("POST", "/repositories/repo/branches", {**body, "hidden": body["name"] == "h"})
        expected = {
            self.staged(api, path, branch) for path in "ab" for branch in ("main", "dev", "h")
        }
        api.ask("DELETE", "/repositories/repo/branches/dev/objects", path="a")
        api.ask("DELETE", "/repositories/repo/branches/dev/objects", path="committed")
        prepared = self.prepare(api)
        assert set(prepared) == {"run_id", "gc_uncommitted_location"}
        assert prepared["gc_uncommitted_location"] == (
            f"{NAMESPACE}/_lakefs/retention/gc/uncommitted/{prepared['run_id']}/uncommitted/"
        )
        found = self.addresses(api, prepared["gc_uncommitted_location"])
        assert len(found) == 5
        assert set(found) < expected

    def test_sealed_values_count_even_under_newer_ones(self, api):
        sealed = self.staged(api, "a")
        repository = api.engine.refs.repository("repo")
        branch = api.engine.refs.branch(repository, "main")
        api.engine.refs.seal_token(repository, branch, "repo-main:another")
        newer = self.staged(api, "a")
        other = self.staged(api, "b")
        location = self.prepare(api)["gc_uncommitted_location"]
        assert sorted(self.addresses(api, location)) == sorted([sealed, newer, other])

    def test_data_elsewhere_are_not_listed(self, api):
        inside = self.staged(api, "a")
        for path, address in (
            ("full", f"{NAMESPACE}/data/p/x"),
            ("near", "s3://bucket/repo2/data/p/x"),
            ("far", "s3://other/data/p/x"),
        ):
            body = {"physical_address": address, "checksum": "c", "size_bytes": 1, "mtime": 7}
            link = "/repositories/repo/branches/main/objects"
            assert api.ask("PUT", link, body, path=path).status == 201
        location = self.prepare(api)["gc_uncommitted_location"]
        assert sorted(self.addresses(api, location)) == sorted([inside, ("data/p/x", 7)])

    def test_nothing_staged_is_no_file(self, api):
        api.ask("DELETE", "/repositories/repo/branches/main/objects", path="a")
        for body in ({}, None, {"continuation_token": None}, {"continuation_token": ""}):
            reply = api.ask("POST", UNCOMMITTED, body)
            assert reply.status == 201
            assert set(reply.json) == {"run_id", "gc_uncommitted_location"}
            assert reply.json["gc_uncommitted_location"] == ""

    def collect(self, api: ApiClient) -> tuple[set[tuple[str, int]], int]:
        """What all files of one run say, and how many calls it took."""
        prepared = self.prepare(api)
        run_id, calls = prepared["run_id"], 1
        location = prepared["gc_uncommitted_location"]
        while "continuation_token" in prepared:
            prepared = self.prepare(api, prepared["continuation_token"])
            calls += 1
            assert prepared["run_id"] == run_id
            location = prepared["gc_uncommitted_location"] or location
        return set(self.addresses(api, location)), calls

    def test_a_full_file_is_continued_in_the_next(self, api, monkeypatch):
        monkeypatch.setattr(uncommitted_addresses, "_ROWS_PER_GROUP", 4)
        monkeypatch.setattr(uncommitted_addresses, "FILE_BYTES_MAX", 300)
        api.branch("dev")
        expected = {
            self.staged(api, f"{number}é", branch)
            for number in range(25)
            for branch in ("main", "dev")
        }
        found, calls = self.collect(api)
        assert found == expected
        assert calls > 4

    def test_a_long_listing_is_continued_by_the_next_call(self, api, monkeypatch):
        monkeypatch.setattr(uncommitted_addresses, "_ENTRIES_PER_LOOK", 3)
        branches = ["main", *(f"b{number}" for number in range(30))]
        for branch in branches[1:]:
            api.branch(branch)
        expected = {self.staged(api, "a", branch) for branch in ("b7", "main")}
        expected |= {self.staged(api, f"a{number}") for number in range(70)}
        # The clock goes on by a second at each look.
        found, calls = self.collect(api)
        assert found == expected
        assert calls > 4

    def test_what_is_committed_between_two_files_is_in_the_head(self, api, monkeypatch):
        monkeypatch.setattr(uncommitted_addresses, "_ENTRIES_PER_LOOK", 3)
        for number in range(99):
            self.staged(api, f"a{number:02}")
        prepared = self.prepare(api)
        api.commit()
        last = self.staged(api, "z")
        prepared = self.prepare(api, prepared["continuation_token"])
        assert "continuation_token" not in prepared
        assert last in self.addresses(api, prepared["gc_uncommitted_location"])

    def test_a_branch_that_is_deleted_between_two_files_is_passed_over(self, api, monkeypatch):
        monkeypatch.setattr(uncommitted_addresses, "_ENTRIES_PER_LOOK", 3)
        api.branch("dev")
        for number in range(99):
            self.staged(api, f"a{number:02}", "dev")
        kept = self.staged(api, "z")
        prepared = self.prepare(api)
        assert api.ask("DELETE", "/repositories/repo/branches/dev").status == 204
        prepared = self.prepare(api, prepared["continuation_token"])
        assert "continuation_token" not in prepared
        assert kept in self.addresses(api, prepared["gc_uncommitted_location"])

    @pytest.mark.parametrize(
        "token",
        [
            "x",
            "é",
            "e30=",  # {}
            "eyJydW5faWQiOiAiLi4vLi4vZGF0YSIsICJicmFuY2giOiAibWFpbiJ9",  # run_id ../../data
            "eyJydW5faWQiOiAiY2twMDAwMDAwMDAwMDAwMDAwMDAiLCAiYnJhbmNoIjogImEvYiJ9",  # branch a/b
        ],
    )
    def test_a_token_that_is_none_of_ours_is_400(self, api, token):
        reply = api.ask("POST", UNCOMMITTED, {"continuation_token": token})
        assert reply.status == 400
        assert "invalid continuation token" in reply.message
