"""The page on how lakeFS stores data: where an object's bytes are, and how they are found."""

import re

import lakefs
import pytest

from tests.seeds.clients import Clients, commit
from tests.seeds.statements import said, shows
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

STAT = "tests/acceptance/test_cli.py::test_stat_shows_every_version_of_an_object_where_it_lies"
STORES = "[ARCHITECTURE.md](../ARCHITECTURE.md#the-life-of-a-read)"

STATEMENTS = {
    "001.01": said("the ability to save multiple versions of the same object"),
    "001.02": said("aws s3 ls s3://<storage_namespace>/ … PRE _lakefs/ PRE data/"),
    "001.03": said("lakeFS stores the actual user data under the data/ prefix"),
    "001.04": said("_lakefs/ … includes range and meta-range files and internal lakeFS data"),
    "001.05": said("objects are not saved using their logical name"),
    "001.06": said("a random physical address under the data/ prefix"),
    "001.07": said("Mapping from a path to an object changes as you upload, commit, and merge"),
    "001.08": said("a new physical address for that version preserving other versions"),
    "001.09": said("store that relation under the given commit metadata (range and meta-range)"),
    "001.10": said(
        "anything uploaded is never changed or overridden",
        "tests/seeds/test_concepts.py::test_objects_are_replaced_or_deleted_and_never_modified",
    ),
    "001.11": said("the logical address e.g. lakefs://my-repo/main/allstar_games_stats.csv"),
    "001.12": said("first try to find any uncommitted version of the object in the given branch"),
    "001.13": said("it will take the latest committed version from the branch head"),
    "001.14": said(
        "In the KV metadata store under the current staging token of branch main",
        "tests/contract/test_staging.py::test_a_branch_and_an_entry_are_read_together",
        but=f"The store is DynamoDB: {STORES}",
    ),
    "001.15": said("Read it from the branch's head meta-range and range"),
    "001.16": said(
        "s3://<storage_namespace>/data/gp0n1l7d77pn0cke6jjg/cg6p50nd77pn0cke6jk0",
        but="A direct upload's address has a signature at its end: "
        "[names](garbage-collection.md#what-is-deleted-and-what-never-is)",
    ),
    "001.17": said("several physical addresses, one for each version where it exists"),
    "001.18": said("lakectl fs stat --pre-sign=false: Path, Modified Time, Size, …", STAT),
    "001.19": said("lakectl fs stat lakefs://my-repo/dev~3/allstar_games_stats.csv", STAT),
    "001.20": said("This can be done using any lakeFS reference type"),
}

PATH = "allstar_games_stats.csv"


@pytest.fixture(scope="module")
def main(repository: lakefs.Repository) -> lakefs.Branch:
    return repository.branch("main")


def addresses(clients: Clients, repository: lakefs.Repository, *refs: str) -> list[str]:
    """Return the physical addresses that `fs stat` shows."""
    shown = [
        clients.graveler("fs", "stat", f"lakefs://{repository.id}/{ref}/{PATH}") for ref in refs
    ]
    return [
        dict(row.split(": ", 1) for row in each.splitlines())["Physical Address"] for each in shown
    ]


@shows("001.01", "001.03", "001.05", "001.06", "001.07", "001.08", "001.11", "001.12", "001.13")
@shows("001.16", "001.17", "001.20")
def test_each_version_has_an_address_of_its_own_that_every_ref_finds(clients, repository, main):
    versions = [b"first", b"second", b"first"]
    for content in versions:
        main.object(PATH).upload(content, pre_sign=False)
        commit(main)
    repository.tag("v1").create("main~2")
    dev = repository.branch("dev").create("main")
    dev.object(PATH).upload(b"of dev")
    (staged,) = addresses(clients, repository, "dev")
    found = addresses(clients, repository, "main~2", "main~1", "main", "dev@")
    assert found[2] == found[3]
    assert len({staged, *found}) == 4
    assert [clients.content(each) for each in found[:3]] == versions
    xid = "[0-9a-v]{19}[0g]"
    named = rf"s3://{BUCKET}/{repository.id}/data/{xid}/{xid}"
    assert all(re.fullmatch(named, each) for each in found)
    assert re.fullmatch(named + r",[\w-]{43}", staged)

    commit(dev)
    dev.merge_into(main)
    parent = main.get_commit().parents[0]
    refs = ("dev", "main", "v1", parent, f"{parent[:12]}~1")
    assert addresses(clients, repository, *refs) == [staged, staged, found[0], found[2], found[1]]


@shows("001.02", "001.04", "001.09", "001.15")
def test_a_namespace_has_data_and_the_metadata_of_commits(clients, repository, main):
    address = main.object(PATH).upload(b"listed").stat().physical_address
    commit(main)
    at_the_store = {"AWS_ENDPOINT_URL": clients.stack.s3_endpoint}
    namespace = f"s3://{BUCKET}/{repository.id}"
    listed = clients.run("aws", "s3", "ls", f"{namespace}/", **at_the_store)
    assert [line.split() for line in listed.stdout.splitlines()] == [
        ["PRE", "_lakefs/"],
        ["PRE", "data/"],
    ]
    metarange = main.get_commit().meta_range_id
    rows = clients.graveler("sst", "cat", f"{namespace}/_lakefs/{metarange}", **at_the_store)
    (range_id,) = (line.split("\t")[0] for line in rows.splitlines() if line)
    entries = clients.graveler("sst", "cat", f"{namespace}/_lakefs/{range_id}", **at_the_store)
    assert f"\t{address.removeprefix(f'{namespace}/')}\t" in entries
    assert f"{PATH}\t" in entries
