"""The page on garbage collection: its example on the running stack, collected by real Spark."""

import json
import os
import time
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import lakefs
import pytest
from botocore.exceptions import ClientError

from tests.seeds.clients import Clients
from tests.seeds.statements import said, shows
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

ACTIVE = "tests/unit/retention/test_active.py"
REVIVED = (
    "tests/integration/test_garbage_collection_races.py::test_objects_revived_meanwhile_stay",
    "tests/integration/test_garbage_collection.py::test_objects_revived_after_the_mark_stay",
)
JOB = "The jobs' archive replaces it: [spark-submit](garbage-collection.md#running-it-with-spark-submit)"
SUBMITTED = (
    "tests/infra/test_glue.py::test_spark_submit_collects_garbage_of_the_repository_and_region_that"
    "_follow_the_script"
)
POLICY = (
    "tests/browser/test_settings.py::"
    "test_a_policy_is_pasted_explained_and_still_there_after_a_reload"
)
RESTORED = (
    "[Content that is restored](garbage-collection.md#restoring-old-content-during-a-run) "
    "in the ten minutes after a look may be deleted"
)

STATEMENTS = {
    "004.01": said(
        "By default, lakeFS keeps all your objects forever",
        "tests/unit/operations/test_collection_reads.py::test_without_rules_every_commit_is_active",
    ),
    "004.02": said("hard-delete … objects, namely delete them from the underlying storage"),
    "004.03": said("for how long to retain objects after they have been deleted"),
    "004.04": said("a Spark program to hard-delete objects … whose retention period has ended"),
    "004.05": said("The GC job does not remove any commits"),
    "004.06": said("trying to read these objects … will result in a 410 Gone HTTP status"),
    "004.07": said("lakeFS supports Garbage Collection only on S3"),
    "004.08": said("the GC job retains deleted objects for the number of days defined"),
    "004.09": said(
        "In the absence of a branch-specific rule, the default rule … is used",
        "tests/unit/retention/test_rules.py::test_a_branch_without_a_rule_has_the_default",
    ),
    "004.10": said(
        "retained according to the rule with the largest number of days",
        f"{ACTIVE}::test_the_largest_number_of_days_wins_where_branches_share_commits",
    ),
    "004.11": said('{"default_retention_days": 14, "branches": [… main: 21, … dev: 7]}'),
    "004.12": said("accessible from the HEAD of a branch in that past number of days"),
    "004.13": said(
        "every commit at or since that HEAD must be retained",
        f"{ACTIVE}::test_the_documented_example",
    ),
    "004.14": said("that commit is retained …, but all older commits d: * will be collected"),
    "004.15": said("commits 2022-02-27 and 2022-03-01 will be collected"),
    "004.16": said("Hold (only) objects accessible on some retained commits"),
    "004.17": said("This includes objects added in previous commits"),
    "004.18": said("not visible in any retained commit and will be garbage collected"),
    "004.19": said("The data of any deleted object will no longer be accessible"),
    "004.20": said("lakeFS retains all metadata about the object"),
    "004.21": said("attempting to read it via the lakeFS API … 410"),
    "004.22": said(
        "… or the S3 gateway",
        but="HEAD shows what is retained and answers 200: [details](garbage-collection.md#reading-a-collected-object)",
    ),
    "004.23": said("lakectl gc set-config lakefs://example-repo -f example_repo_gc_rules.json"),
    "004.24": said(
        "Settings -> Retention. Click Edit policy and paste … Save your changes",
        POLICY,
        but="The button is called *Save policy*",
    ),
    "004.25": said("can be run using spark-submit (or using your preferred method)", SUBMITTED),
    "004.26": said(
        "download the lakeFS Spark client Uber-jar",
        but=JOB,
    ),
    "004.27": said(
        "spark-submit --class … -c spark.hadoop.lakefs… example-repo us-east-1", SUBMITTED, but=JOB
    ),
    "004.28": said(
        "In order for an object to be hard-deleted, it must be deleted from all branches"
    ),
    "004.29": said("remove stale branches to prevent them from retaining old objects"),
    "004.30": said(
        "never delete objects outside your repository's storage namespace",
        "tests/integration/test_garbage_collection.py::test_objects_of_others_stay",
        "tests/unit/retention/test_candidates.py::test_nothing_of_theirs_is_a_candidate",
    ),
    "004.31": said(
        "imported using lakefs import or lakectl ingest will not be affected by GC jobs",
        but="lakectl has no `ingest` any more: "
        "[`import`](cli.md#repositories-branches-and-tags) takes its place",
    ),
    "004.32": said("Reverting a commit in which a file was deleted", *REVIVED, but=RESTORED),
    "004.33": said("Branching out from an old commit", *REVIVED, but=RESTORED),
    "004.34": said("Expanding the retention period of a branch", *REVIVED, but=RESTORED),
    "004.35": said(
        "Creating a branch from an existing branch, … a longer retention period",
        *REVIVED,
        but=RESTORED,
    ),
}

RULES: dict[str, Any] = {
    "default_retention_days": 14,
    "branches": [
        {"branch_id": "main", "retention_days": 21},
        {"branch_id": "dev", "retention_days": 7},
    ],
}
# The day of the document's run. Here it is today.
RUN = date(2022, 3, 31)
MAIN = ("02-27", "03-01", "03-09", "03-12", "03-18", "03-26", "03-28")
DEV = ("03-14", "03-20", "03-23", "03-29")
COLLECTED = ("main 02-27", "main 03-01", "dev 03-20")


@dataclass
class Lake:
    """The document's repository after a run of the job; what it stored, and what is left."""

    clients: Clients
    repository: lakefs.Repository
    now_s: float = field(default_factory=time.time)
    addresses: dict[str, str] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)

    def put(self, branch: lakefs.Branch, path: str, text: str) -> None:
        stat = branch.object(path).upload(text).stat()
        self.addresses[text] = stat.physical_address

    def commit(self, branch: lakefs.Branch, day: str) -> None:
        """Commit as if it were that day of the document."""
        age_days = (RUN - date.fromisoformat(f"2022-{day}")).days
        when = int(self.now_s) - age_days * 24 * 60 * 60
        made = branch.commit(day, date=when, allow_empty=True)
        self.commits[f"{branch.id} {day}"] = made.id

    def change(self, branch: lakefs.Branch, day: str) -> None:
        """Commit an object that is new, and one that replaces that of the commit before."""
        self.put(branch, "replaced", f"{branch.id} {day}")
        self.put(branch, f"added {day}", f"added {branch.id} {day}")
        self.commit(branch, day)

    def stay(self, *texts: str) -> list[bool]:
        return [self.addresses[text] in self.left for text in texts]

    def read(self, name: str, path: str) -> tuple[int, int, int, int]:
        """Return the statuses of reading an object of a commit: API, S3; description, HEAD."""
        ref, gateway = self.commits[name], self.clients.gateway
        api = f"{self.repository.id}/refs/{ref}/objects"
        found = [
            self.clients.http("GET", api, params={"path": path}).status_code,
            self.clients.http("GET", f"{api}/stat", params={"path": path}).status_code,
        ]
        for operation in (gateway.get_object, gateway.head_object):
            try:
                answer = operation(Bucket=self.repository.id, Key=f"{ref}/{path}")
            except ClientError as error:
                answer = error.response
            found.append(answer["ResponseMetadata"]["HTTPStatusCode"])
        return found[0], found[2], found[1], found[3]


def branches_of_one_object(lake: Lake, name: str, source: str) -> None:
    """Make a branch whose commit of an object is a month old; a copy of the branch deletes it."""
    made = lake.repository.branch(name).create(source)
    lake.put(made, f"of {name}", f"of {name}")
    outside = f"outside/{lake.repository.id}/{name}"
    lake.clients.store.put_object(Bucket=BUCKET, Key=outside, Body=b"imported")
    lake.addresses[f"imported to {name}"] = f"s3://{BUCKET}/{outside}"
    lake.clients.http(
        "PUT",
        f"{lake.repository.id}/branches/{name}/objects?path=imported",
        json={"physical_address": f"s3://{BUCKET}/{outside}", "checksum": "any", "size_bytes": 8},
    ).raise_for_status()
    lake.commit(made, "03-01")


def delete(lake: Lake, branch: lakefs.Branch, paths: list[str], day: str) -> None:
    for path in paths:
        branch.object(path).delete()
    lake.commit(branch, day)


@pytest.fixture(scope="module")
def lake(clients: Clients, repository: lakefs.Repository, tmp_path_factory: Any) -> Lake:
    made = Lake(clients, repository)
    main = repository.branch("main")
    first = main.head.id
    for day in MAIN[:4]:
        made.change(main, day)
    dev = repository.branch("dev").create(main)
    for day in DEV:
        made.change(dev, day)
    for day in MAIN[4:]:
        made.change(main, day)
    # Of the default rule: deleted long ago, deleted a week ago, deleted on one of two branches.
    for name, day in (("alone", "03-10"), ("recent", "03-24"), ("twice", "03-10")):
        branches_of_one_object(made, name, first)
        branch = repository.branch(name)
        if name == "twice":
            repository.branch("stale").create(branch)
        delete(made, branch, [f"of {name}", "imported"], day)
    for name in ("alone", "twice"):
        made.commit(repository.branch(name), "03-12")

    rules = tmp_path_factory.mktemp("rules") / "example_repo_gc_rules.json"
    rules.write_text(json.dumps(RULES))
    uri = f"lakefs://{repository.id}"
    clients.graveler("gc", "set-config", uri, "-f", str(rules))
    collected = clients.run(
        *("graveler", "gc", "run", uri, "--option", "debug-minimum-age-s=0"),
        PATH=os.environ["PATH"],
    )
    assert collected.returncode == 0, collected.stderr
    made.left = {f"s3://{BUCKET}/{key}" for key in clients.stored("")}
    return made


@shows("004.02", "004.03", "004.04", "004.08", "004.09", "004.10", "004.11", "004.12", "004.13")
@shows("004.14", "004.15", "004.16", "004.17", "004.18", "004.23")
def test_expired_objects_are_hard_deleted(lake):
    uri = f"lakefs://{lake.repository.id}"
    rules = json.loads(lake.clients.graveler("gc", "get-config", uri, "--json"))
    assert rules["default_retention_days"] == RULES["default_retention_days"]
    assert rules["branches"] == RULES["branches"]
    assert lake.stay(*COLLECTED, "of alone") == [False] * 4
    kept = [f"{branch} {day}" for branch, days in (("main", MAIN), ("dev", DEV)) for day in days]
    added = [f"added {name}" for name in kept]
    retained = [name for name in kept if name not in (*COLLECTED, "dev 03-14")]
    assert all(lake.stay(*retained, *added, "of recent"))
    assert lake.stay("dev 03-14") == [False]


@shows("004.05", "004.06", "004.19", "004.20", "004.21", "004.22")
def test_commits_stay_and_reading_what_is_gone_answers_410(lake):
    for name in COLLECTED:
        assert lake.read(name, "replaced") == (410, 410, 200, 200)
        day = name.split()[1]
        assert lake.read(name, f"added {day}") == (200, 200, 200, 200)
        ref = lake.repository.ref(lake.commits[name])
        assert ref.get_commit().message == day
        assert "replaced" in [each.path for each in ref.objects()]
        assert ref.object("replaced").stat().size_bytes == len(name)
    assert lake.repository.branch("main").object("replaced").reader().read() == b"main 03-28"


@shows("004.28", "004.29", "004.30", "004.31")
def test_a_stale_branch_keeps_objects_and_imported_ones_are_never_deleted(lake):
    assert lake.stay("of twice", "of alone") == [True, False]
    assert lake.repository.branch("stale").object("of twice").reader().read() == b"of twice"
    assert lake.stay("imported to alone", "imported to twice") == [True, True]


@shows("004.07")
def test_a_repository_is_on_s3(clients):
    for namespace in ("gs://bucket/lake", "https://account.blob.core.windows.net/lake"):
        body = {"name": "elsewhere", "storage_namespace": namespace}
        answer = clients.http("POST", "", json=body)
        assert answer.status_code == 400
        assert "s3://" in answer.text
