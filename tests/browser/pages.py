"""The address of every page: in a lake that has something to show on each, and in an empty one."""

import io
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import lakefs
import pyarrow as pa
import requests
from lakefs_sdk import (
    BranchProtectionRule,
    GarbageCollectionRule,
    GarbageCollectionRules,
    Policy,
    PullRequestCreation,
    Statement,
    UserCreation,
)
from pyarrow import parquet as pq

from tests.browser import lakes
from tests.support.servers.stack import BUCKET

README = b"""# Sales

Tables of the *shop*, loaded each night.

| table | rows |
|---|---|
| `orders` | one for each order |
| `customers` | one for each customer |
"""
ACTION = b"""name: quality
on:
  post-commit:
    branches: [work]
hooks:
  - id: check_schema
    type: webhook
    properties:
      url: http://127.0.0.1:1/check
      timeout: 1s
"""
DESCRIPTION = "The amounts of May had the wrong *currency*.\n\n- corrected\n- checked by hand"

# The buttons that open a dialog, by the name of their page.
DIALOGS: Mapping[str, Sequence[str]] = {
    "repositories": ("Create repository", "Find or go to Ctrl K"),
    "objects": ("Upload", "Objects at: main"),
    "changes": ("Commit…", "Undo all…"),
    "branches": ("Create branch",),
    "compare": ("Merge…",),
    "retention": ("Edit policy", "Start a dry run"),
    "settings": ("Delete repository",),
    "users": ("Create user",),
    "user": ("Give rights…",),
    "policies": ("Give rights…", "Create policy"),
}


def parquet() -> bytes:
    """A table of some hundred rows with several types."""
    rows = range(300)
    table = pa.table(
        {
            "id": rows,
            "name": [f"customer {row}" for row in rows],
            "amount": [row * 1.25 for row in rows],
            "is_new": [row % 3 == 0 for row in rows],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def files() -> Mapping[str, bytes]:
    lines = [json.dumps({"id": row, "city": "Ghent", "tags": ["new"]}) for row in range(40)]
    return {
        "README.md": README,
        "_lakefs_actions/quality.yaml": ACTION,
        "tables/orders.csv": b"id,amount\n1,20\n2,35\n3,12\n",
        "tables/customers.jsonl": "\n".join(lines).encode(),
        "tables/sales.parquet": parquet(),
        "notes/plan.txt": b"first load, then check\n",
        "notes/settings.json": b'{"load": {"at": "02:00", "tables": ["orders", "customers"]}}\n',
    }


def prepare(client: lakefs.Client) -> Mapping[str, str]:
    """Make lakes and users; return the page of each name, which is that of its screenshot."""
    repository = lakes.create(client, files=dict(files()), name="sales")
    change(repository)
    configure(client, repository)
    pull_id = ask_to_merge(client, repository)
    main = repository.branch("main")
    source = lakes.create(
        client, files={"2024.csv": b"1"}, name="archive"
    ).properties.storage_namespace
    work = main.import_data("Import the archive").prefix(f"{source}/data/", "archive/")
    work.start()
    while not work.status().completed:  # its wait() needs an event loop of its own
        time.sleep(0.2)
    main.object("notes/later.txt").upload(b"not committed yet\n")
    run = client.sdk_client.actions_api.list_repository_runs(repository.id).results[0]
    empty = f"/repositories/{lakes.create(client, name='nothing-yet').id}"
    at = f"/repositories/{repository.id}"
    return {
        "repositories": "/repositories",
        "objects": f"{at}/objects?ref=main",
        "objects-empty": f"{empty}/objects?ref=main",
        "object-csv": f"{at}/object?ref=main&path=tables%2Forders.csv",
        "object-lines": f"{at}/object?ref=main&path=tables%2Fcustomers.jsonl",
        "object-parquet": f"{at}/object?ref=main&path=tables%2Fsales.parquet",
        "object-json": f"{at}/object?ref=main&path=notes%2Fsettings.json",
        "object-markdown": f"{at}/object?ref=main&path=README.md",
        "object-text": f"{at}/object?ref=main&path=notes%2Fplan.txt",
        "history": f"{at}/history?ref=main&path=tables%2Forders.csv",
        "changes": f"{at}/changes?ref=main",
        "changes-empty": f"{empty}/changes?ref=main",
        "commits": f"{at}/commits?ref=main",
        "commit": f"{at}/commits/{main.get_commit().id}",
        "branches": f"{at}/branches",
        "tags": f"{at}/tags",
        "tags-empty": f"{empty}/tags",
        "tables-empty": f"{empty}/tables?ref=main",
        "sql": f"{at}/sql?ref=main&query=SELECT%20*%20FROM%20'tables/sales.parquet'",
        "sql-examples": f"{at}/sql?ref=main",
        "compare": f"{at}/compare?ref=main&compare=work",
        "compare-object": f"{at}/compare?ref=main&compare=work&object=tables%2Forders.csv",
        "pulls": f"{at}/pulls",
        "pulls-empty": f"{empty}/pulls",
        "pull": f"{at}/pulls/{pull_id}",
        "new-pull": f"{at}/pulls/new?source=work&destination=main",
        "actions": f"{at}/actions",
        "actions-empty": f"{empty}/actions",
        "run": f"{at}/actions/{run.run_id}",
        "tasks": f"{at}/tasks",
        "tasks-empty": f"{empty}/tasks",
        "settings": f"{at}/settings/general",
        "retention": f"{at}/settings/retention",
        "retention-empty": f"{empty}/settings/retention",
        "protection": f"{at}/settings/branches",
        "protection-empty": f"{empty}/settings/branches",
        "export": f"{at}/settings/export",
        "export-empty": f"{empty}/settings/export",
        "credentials": "/auth/credentials",
        "users": "/auth/users",
        "user": "/auth/users/ada",
        "groups": "/auth/groups",
        "group": "/auth/groups/Developers",
        "policies": "/auth/policies",
        "policy": "/auth/policies/SalesReaders",
        "access": "/auth/access?user=ada&action=fs%3AReadObject&resource=arn%3Alakefs%3Afs%3A%3A%3A*",
        "audit": "/auth/audit",
        "not-found": f"{at}/no-such-page",
    }


def change(repository: lakefs.Repository) -> None:
    """Give it a history with merges, a tag, and a branch that is ahead."""
    main = repository.branch("main")
    for month, amount in (("april", 21), ("may", 22)):
        branch = repository.branch(f"load-{month}").create("main")
        orders = f"id,amount\n1,{amount}\n2,35\n3,12\n".encode()
        lakes.change(branch, f"Load {month}", {"tables/orders.csv": orders})
        lakes.change(main, f"Plan {month}", {f"notes/{month}.txt": month.encode()})
        branch.merge_into(main, message=f"Merge the orders of {month}")
    repository.tag("v1").create("main")
    work = repository.branch("work").create("main")
    orders = b"id,amount\n1,22\n2,30\n3,12\n4,40\n"
    lakes.change(work, "Correct the orders", {"tables/orders.csv": orders})
    lakes.change(work, "Note the correction", {"notes/correction.txt": b"two rows\n"})


def configure(client: lakefs.Client, repository: lakefs.Repository) -> None:
    """Set rules of retention and protection, metadata, and make a user with a policy."""
    api = client.sdk_client
    rules = GarbageCollectionRules(
        default_retention_days=14,
        branches=[GarbageCollectionRule(branch_id="main", retention_days=21)],
    )
    api.repositories_api.set_gc_rules(repository.id, rules)
    api.repositories_api.set_branch_protection_rules(
        repository.id, [BranchProtectionRule(pattern="release-*")]
    )
    configuration = {
        "exportPath": f"s3://{BUCKET}/exports/{repository.id}",
        "lastKeysInPrefixRegexp": [],
        "isContinuous": True,
    }
    put(client, f"/repositories/{repository.id}/branches/main/continuous-export", configuration)
    reading = Statement(
        effect="allow",
        action=["fs:Read*", "fs:List*"],
        resource=f"arn:lakefs:fs:::repository/{repository.id}/*",
    )
    keeping = Statement(effect="deny", action=["fs:Delete*"], resource="*")
    api.auth_api.create_policy(Policy(id="SalesReaders", statement=[reading, keeping]))
    api.auth_api.create_user(UserCreation(id="ada"))
    api.auth_api.add_group_membership("Developers", "ada")
    api.auth_api.attach_policy_to_user("ada", "SalesReaders")
    api.auth_api.create_credentials("ada")


def put(client: lakefs.Client, path: str, body: Mapping[str, Any]) -> None:
    """Send a request that lakeFS's own client does not know."""
    about = client.config
    host = about.host.removesuffix("/api/v1")
    answer = requests.put(
        f"{host}/api/v1{path}", json=body, auth=(about.username, about.password), timeout=30
    )
    answer.raise_for_status()


def ask_to_merge(client: lakefs.Client, repository: lakefs.Repository) -> str:
    """Open a pull request of `work`, return its ID."""
    pulls = client.sdk_client.pulls_api
    asked = PullRequestCreation(
        title="Correct the orders of May",
        description=DESCRIPTION,
        source_branch="work",
        destination_branch="main",
    )
    made: str = pulls.create_pull_request(repository.id, asked).id
    return made
