"""The state that the steps of a run share: names, requests of the repository, things to delete.

Every name begins with PREFIX and has the run's random part. So runs do not collide, and the
remains of a killed run are recognizable.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from graveler_cli.acceptance.api import ApiUser, CheckedAnswer, CheckFailedError, expect_equal

PREFIX = "graveler-acceptance-"

# Background work may wait in a queue, and a function may start cold.
WAIT_S_MAX = 180.0
_POLL_INTERVAL_S = 0.5

# A deployment that is busy may refuse a deletion for a moment.
_DELETIONS_MAX = 3
_DELETION_PAUSE_S = 2.0

_GONE = (404,)
_REFUSED = range(400, 500)


@dataclass(frozen=True)
class Thing:
    """Something that the run creates and deletes."""

    name: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass
class AcceptanceWorld:
    """One run against one deployment."""

    api: ApiUser
    run_id: str
    namespace: str  # where the run makes its repositories; ends with a slash
    import_from: str = ""
    export_to: str = ""
    version: str = ""
    user: str = ""
    can_import: bool = False
    created: list[Thing] = field(default_factory=list)
    # Places whose objects the API cannot delete.
    places: list[str] = field(default_factory=list)
    store: str = ""  # endpoint of the object store, if its URLs name the bucket in the path

    @property
    def repository(self) -> str:
        """The repository of the run."""
        return f"{PREFIX}{self.run_id}"

    @property
    def path(self) -> str:
        """The path of the repository in the API."""
        return f"/repositories/{self.repository}"

    @property
    def folder(self) -> str:
        """The place that holds all objects of the run."""
        return f"{self.namespace}{self.repository}"

    def create(self, thing: Thing, path: str, body: object, **query: str) -> CheckedAnswer:
        """Send a request that creates a thing, which the clean-up deletes.

        The thing is recorded first, because the answer may be lost, or the run interrupted. A
        refusal means that it was not created.
        """
        self.created.append(thing)
        answer = self.api.send("POST", path, body, query=query)
        if answer.status in _REFUSED:
            self.created.remove(thing)
        return answer

    def create_repository(self, name: str, namespace: str, *, bare: bool = False) -> str:
        """Create a repository, with a namespace inside of the run's folder; return its path.

        Raises:
            CheckFailedError: it cannot be created.
        """
        if self.folder not in self.places:
            self.places.append(self.folder)
        namespace = f"{self.folder}/{namespace}"
        path = f"/repositories/{name}"
        thing = Thing(f"repository {name}", path, {"force": "true"})
        body = {"name": name, "storage_namespace": namespace, "default_branch": "main"}
        query = {"bare": "true"} if bare else {}
        made = self.create(thing, "/repositories", body, **query).expect(201)
        expect_equal("the new repository's namespace", made.text("storage_namespace"), namespace)
        return path

    def create_branch(self, name: str, source: str = "main") -> str:
        """Create a branch of the run's repository; return its path."""
        body = {"name": name, "source": source}
        self.api.send("POST", f"{self.path}/branches", body).expect(201)
        return f"{self.path}/branches/{name}"

    def upload(self, branch: str, path: str, content: bytes, **headers: str) -> CheckedAnswer:
        """Upload content to a branch through the API."""
        sent = {"Content-Type": "application/octet-stream", **headers}
        url = f"{self.path}/branches/{branch}/objects"
        return self.api.send("POST", url, content=content, headers=sent, path=path).expect(201)

    def commit(self, branch: str, message: str, repository: str = "") -> str:
        """Commit a branch; return the commit's ID."""
        url = f"{repository or self.path}/branches/{branch}/commits"
        return self.api.send("POST", url, {"message": message}).expect(201).text("id")

    def head(self, branch: str, repository: str = "") -> str:
        """Return the ID of the branch's commit."""
        path = f"{repository or self.path}/branches/{branch}"
        return self.api.send("GET", path).expect(200).text("commit_id")

    def read(self, ref: str, path: str, repository: str = "") -> CheckedAnswer:
        """Read an object at a ref, whatever the answer's status."""
        url = f"{repository or self.path}/refs/{quote(ref, safe='')}/objects"
        return self.api.send("GET", url, path=path)

    def expect_content(self, ref: str, path: str, content: bytes, repository: str = "") -> None:
        """Check that an object has exactly this content.

        Raises:
            CheckFailedError: it has other content.
        """
        found = self.read(ref, path, repository).expect(200).content
        if found != content:
            raise CheckFailedError(
                f"the object {path!r} at {ref!r} has other content: {len(found)} bytes "
                f"{found[:40]!r}, not {len(content)} bytes {content[:40]!r}"
            )

    def wait_for(
        self, what: str, ask: Callable[[], CheckedAnswer], *ends: Callable[[CheckedAnswer], bool]
    ) -> CheckedAnswer:
        """Return the first answer for which one of the ends holds.

        Raises:
            CheckFailedError: none holds in time.
        """
        deadline_s = time.monotonic() + WAIT_S_MAX
        while True:
            answer = ask().expect(200)
            if any(end(answer) for end in ends):
                return answer
            if time.monotonic() > deadline_s:
                raise CheckFailedError(f"{what} did not end within {WAIT_S_MAX:.0f} s")
            time.sleep(_POLL_INTERVAL_S)

    def clean_up(self) -> list[str]:
        """Delete the created things, newest first; return the names of those that remain."""
        left = self.created[::-1]
        for attempt in range(_DELETIONS_MAX):
            if attempt and left:
                time.sleep(_DELETION_PAUSE_S)
            left = [each for each in left if not self._delete(each)]
        return [each.name for each in left]

    def _delete(self, thing: Thing) -> bool:
        try:
            self.api.send("DELETE", thing.path, query=thing.query).expect(200, 204, *_GONE)
            return self.api.send("GET", thing.path).status in _GONE
        except CheckFailedError:
            return False
