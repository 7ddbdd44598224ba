"""The restore drill: restore a dump of refs into a scratch repository, compare, and delete that.

The scratch repository may share the namespace of the source, so it is read-only: garbage collection
skips it. A ref that changed since the dump is not a failure while the source still has its commit.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graveler_cli.acceptance.api import ApiUser, CheckedAnswer, CheckFailedError
from graveler_cli.arguments import content_of
from graveler_cli.errors import CommandError
from graveler_cli.interruptions import interruptible

PREFIX = "graveler-drill-"

WAIT_S_MAX = 3600.0
_POLL_INTERVAL_S = 1.0

_IDS = ("commits_meta_range_id", "branches_meta_range_id", "tags_meta_range_id")
_PAGE = 1000
# The number of commits that are compared of each history.
_COMMITS_MAX = 10_000


@dataclass(frozen=True)
class Dump:
    """A dump to restore.

    ids: the IDs of its metaranges, as `lakectl refs-restore` takes them.
    namespace: the storage namespace of its files.
    is_fresh: whether it was made now, so that only concurrent writers can have changed refs.
    """

    ids: Mapping[str, str]
    namespace: str
    about: str
    is_fresh: bool = False


@dataclass
class Findings:
    """The result of a drill."""

    dump: str = ""
    branches: int = 0
    tags: int = 0
    commits: int = 0
    changed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left: str = ""
    is_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of the program."""
        if self.is_interrupted:
            return 130
        return int(bool(self.problems or self.left))


def read_manifest(file: Path, namespace: str) -> Dump:
    """Return the dump of a manifest, which lakectl or a scheduled dump has written.

    Raises:
        CommandError: the file cannot be read, or has no IDs.
    """
    text = content_of(file)
    try:
        content = json.loads(text)
        ids = {name: str(content[name]) for name in _IDS}
    except (ValueError, LookupError, TypeError) as error:
        raise CommandError(
            f"{file} is not a manifest of refs: it needs {', '.join(_IDS)}"
        ) from error
    return Dump(ids, namespace, f"the manifest {file}")


def newest_dump(api: ApiUser, path: str, namespace: str) -> Dump | None:
    """Return the newest dump of the last week's tasks, None if there is none."""
    after = ""
    while True:
        page = api.send("GET", f"{path}/tasks", after=after, amount=str(_PAGE)).expect(200)
        for task in _rows(page):
            result = task.get("result")
            if (task.get("kind"), task.get("state")) != ("dump", "completed"):
                continue
            if isinstance(result, dict) and result.get("commits_id"):
                ids = {name: str(result[name.replace("_meta_range", "")]) for name in _IDS}
                kept_at = str(result.get("kept_at", ""))
                place = kept_at or namespace
                return Dump(ids, place, f"task {task.get('id')} of {task.get('creation_time')}")
        if page.value("pagination", "has_more") is not True:
            return None
        after = page.text("pagination", "next_offset")


def make_dump(api: ApiUser, path: str, namespace: str) -> Dump:
    """Dump the repository now."""
    task = api.send("POST", f"{path}/dump").expect(202).text("id")
    ended = _wait("the dump", lambda: api.send("GET", f"{path}/dump", task_id=task))
    refs = ended.value("refs")
    if not isinstance(refs, dict):
        raise CheckFailedError("the dump has no IDs")
    return Dump(
        {name: str(refs[name]) for name in _IDS},
        namespace,
        f"task {task}, just made",
        is_fresh=True,
    )


def run(api: ApiUser, repository: str, dump: Dump, warn: Callable[[str], None]) -> Findings:
    """Restore the dump into a scratch repository, compare, and delete that repository."""
    findings = Findings(dump.about)
    name = f"{PREFIX}{secrets.token_hex(6)}"
    source, scratch = f"/repositories/{repository}", f"/repositories/{name}"
    with interruptible(warn) as interruption:
        try:
            with interruption.open():
                _restore(api, name, dump)
                _compare(api, source, scratch, dump, findings)
        except CheckFailedError as error:
            findings.problems.append(error.format_message())
        except KeyboardInterrupt:
            findings.is_interrupted = True
        finally:
            interruption.begin_cleaning()
            findings.left = _delete(api, scratch, name)
    return findings


def _delete(api: ApiUser, scratch: str, name: str) -> str:
    """Delete the scratch repository; return its name if it may still exist."""
    try:
        api.send("DELETE", scratch, force="true").expect(204, 404)
        return "" if api.send("GET", scratch).status == 404 else name
    except (CheckFailedError, KeyboardInterrupt):
        return name


def _restore(api: ApiUser, name: str, dump: Dump) -> None:
    body = {"name": name, "storage_namespace": dump.namespace, "read_only": True}
    api.send("POST", "/repositories", body, bare="true").expect(201)
    path = f"/repositories/{name}/restore"
    # Forced, because the repository is read-only.
    task = api.send("POST", path, {**dump.ids, "force": True}).expect(202).text("id")
    _wait("the restore", lambda: api.send("GET", path, task_id=task))


def _wait(what: str, ask: Callable[[], CheckedAnswer]) -> CheckedAnswer:
    """Wait until a dump or a restore is done; return the last answer.

    Raises:
        CheckFailedError: it failed, or takes too long.
    """
    deadline_s = time.monotonic() + WAIT_S_MAX
    while True:
        answer = ask().expect(200)
        body = answer.value()
        if isinstance(body, dict) and body.get("error"):
            raise CheckFailedError(f"{what} failed: {body['error']}")
        if answer.value("done") is True:
            return answer
        if time.monotonic() > deadline_s:
            raise CheckFailedError(f"{what} did not end within {WAIT_S_MAX:.0f} s")
        time.sleep(_POLL_INTERVAL_S)


def _compare(api: ApiUser, source: str, scratch: str, dump: Dump, findings: Findings) -> None:
    for kind, query in (("branches", {"show_hidden": "true"}), ("tags", {})):
        restored = _refs(api, scratch, kind, query)
        current = _refs(api, source, kind, query)
        setattr(findings, kind, len(restored))
        for name, commit in restored.items():
            if current.get(name) == commit:
                continue
            _check_commit(api, source, scratch, f"{kind}/{name}", commit, findings)
        if dump.is_fresh:
            # Another writer may have created these since the dump began.
            made = [f"{kind}/{name}" for name in current if name not in restored]
            findings.changed += made
    if not findings.branches:
        findings.problems.append("the dump has no branch")
    for name, commit in _refs(api, scratch, "branches", {"show_hidden": "true"}).items():
        _compare_history(api, source, scratch, name, commit, findings)


def _check_commit(
    api: ApiUser, source: str, scratch: str, ref: str, commit: str, findings: Findings
) -> None:
    """Check that the source still has the commit of a ref that changed since the dump."""
    there = api.send("GET", f"{source}/commits/{commit}")
    here = api.send("GET", f"{scratch}/commits/{commit}").expect(200)
    if there.status != 200:
        findings.problems.append(f"{ref} is at {commit}, which the source does not have")
    elif there.value("meta_range_id") != here.value("meta_range_id"):
        findings.problems.append(f"{ref}: the commit {commit} has other content")
    else:
        findings.changed.append(ref)


def _compare_history(
    api: ApiUser, source: str, scratch: str, branch: str, commit: str, findings: Findings
) -> None:
    """Compare the logs of a restored branch and of the same commit at the source."""
    pairs = zip(_log(api, scratch, commit), _log(api, source, commit), strict=False)
    count = 0
    for here, there in pairs:
        if here != there:
            findings.problems.append(f"the history of {branch} differs after {count} commits")
            return
        count += len(here)
        if count >= _COMMITS_MAX:
            break
    if not count:
        findings.problems.append(f"the history of {branch} is empty, or the source lost it")
    findings.commits = max(findings.commits, count)


def _log(api: ApiUser, path: str, commit: str) -> Iterator[list[object]]:
    """Yield the IDs of the commit's ancestors, page by page; the last page is empty."""
    after = ""
    while True:
        page = api.send("GET", f"{path}/refs/{commit}/commits", after=after, amount=str(_PAGE))
        if page.status == 404:
            return
        yield page.expect(200).each("id")
        if page.value("pagination", "has_more") is not True:
            yield []
            return
        after = page.text("pagination", "next_offset")


def _refs(api: ApiUser, path: str, kind: str, query: Mapping[str, str]) -> dict[str, str]:
    """Return the commit of each branch or tag, by name."""
    found: dict[str, str] = {}
    after = ""
    while True:
        page = api.send("GET", f"{path}/{kind}", query=query, after=after, amount=str(_PAGE))
        rows = _rows(page.expect(200))
        found |= {str(row["id"]): str(row["commit_id"]) for row in rows}
        if page.value("pagination", "has_more") is not True:
            return found
        after = page.text("pagination", "next_offset")


def _rows(page: CheckedAnswer) -> list[dict[str, object]]:
    rows = page.value("results")
    if not isinstance(rows, list):
        raise CheckFailedError(f"{page.request}: the answer has no list")
    return rows
