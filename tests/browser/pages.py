"""The address of every page, in a lake that has something to show on each."""

from collections.abc import Mapping

import lakefs

from tests.browser import lakes

FILES = {
    "README.md": b"# Sales\n\nTables of the *shop*, loaded each night.\n",
    "tables/orders.csv": b"id,amount\n1,20\n2,35\n",
    "tables/customers.json": b'{"id": 1, "name": "Ada"}\n',
    "notes/plan.txt": b"first load, then check\n",
}


def prepare(client: lakefs.Client) -> Mapping[str, str]:
    """Make a repository with history, a pull request and uncommitted changes; return its pages.

    The name of a page is that of its screenshot.
    """
    repository = lakes.create(client, files=FILES)
    main = repository.branch("main")
    work = repository.branch("work").create("main")
    lakes.change(work, "Correct the orders", {"tables/orders.csv": b"id,amount\n1,20\n2,30\n"})
    main.object("notes/later.txt").upload(b"not committed yet\n")
    repository.tag("v1").create("main")
    commit_id = main.get_commit().id
    at = f"/repositories/{repository.id}"
    return {
        "repositories": "/repositories",
        "objects": f"{at}/objects?ref=main",
        "object": f"{at}/object?ref=main&path=tables%2Forders.csv",
        "history": f"{at}/history?ref=main&path=tables%2Forders.csv",
        "changes": f"{at}/changes?ref=main",
        "commits": f"{at}/commits?ref=work",
        "commit": f"{at}/commits/{commit_id}",
        "branches": f"{at}/branches",
        "tags": f"{at}/tags",
        "compare": f"{at}/compare?ref=main&compare=work",
        "pulls": f"{at}/pulls",
        "new-pull": f"{at}/pulls/new?source=work&destination=main",
        "actions": f"{at}/actions",
        "tasks": f"{at}/tasks",
        "settings": f"{at}/settings/general",
        "retention": f"{at}/settings/retention",
        "protection": f"{at}/settings/branches",
        "export": f"{at}/settings/export",
        "credentials": "/auth/credentials",
        "users": "/auth/users",
        "groups": "/auth/groups",
        "policies": "/auth/policies",
        "access": "/auth/access",
    }
