"""Pull requests: reviewed, merged, closed and opened again by several, while branches change."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from graveler.model import CommitID, Event, Repository
from graveler.model.pulls import (
    PullRequest,
    PullRequestStatus,
    PullRequestUpdate,
    Review,
    ReviewVerdict,
)
from graveler.operations import pulls, reviews
from graveler.operations.merges import MergeRequest
from tests.simulation.lives import Lives
from tests.simulation.schedule import Op
from tests.simulation.task_actions import patiently
from tests.simulation.worlds import REPO

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

_USER = "somebody"
_SOURCE, _DESTINATION = "dev", "main"
_MESSAGE = f"Merge '{_SOURCE}' into '{_DESTINATION}'"


class Pulls:
    """The pull requests of a schedule, and what merges of them were answered."""

    def __init__(self, simulation: "Simulation") -> None:
        self.answers: list[tuple[str, str]] = []
        self._simulation = simulation
        repository = simulation.world.refs.repository(REPO)
        self._required, self._reviews = 0, dict[str, tuple[Review, ...]]()
        if repository is None:
            return
        rules = repository.protection_rules
        self._required = max((rule.required_approvals for rule in rules), default=0)
        # No merge of a pull request came before this, so the events replace what is stale here.
        found = simulation.world.refs.pull_requests(repository, "", "", 100, lambda _: True)
        self._reviews = {pull.id: pull.reviews for pull in found.results}

    def judge(self) -> None:
        """Records, events and branches agree; a closed pull request is not merged."""
        simulation = self._simulation
        repository = simulation.repository
        assert repository is not None
        lives = Lives(simulation.first_heads, simulation.outbox, REPO)
        events: dict[str, list[tuple[Event, int]]] = {}
        outbox = zip(simulation.outbox, simulation.outbox.moments, strict=True)
        for event, moment in sorted(outbox, key=itemgetter(1)):
            if event.kind.startswith("pull_request_"):
                events.setdefault(str(event.detail["pull_request_id"]), []).append((event, moment))
        recorded = [
            commit_id
            for pull_id, of_pull in events.items()
            for commit_id in self._check(repository, lives, pull_id, of_pull)
        ]
        commits = simulation.world.refs.records_of(repository).commits.values()
        made = [commit.id for commit in commits if commit.message == _MESSAGE]
        for event in simulation.outbox if self._required else ():
            is_merge = event.kind == "merge_completed" and event.detail["branch"] == _DESTINATION
            if is_merge and event.detail["commit_id"] not in recorded:
                simulation.problem("pull", f"{event} is of no pull request")
        if sorted(made) != sorted(recorded):
            simulation.problem("pull", f"merges {made} were made, and {recorded} are recorded")

    def _check(
        self,
        repository: Repository,
        lives: Lives,
        pull_id: str,
        events: list[tuple[Event, int]],
    ) -> list[CommitID]:
        """Follow the events of one pull request; return the commits of its merges."""
        simulation = self._simulation
        pull = simulation.world.refs.pull_request(repository, pull_id)
        if pull is None and any(each.kind == "repository_deleted" for each in simulation.outbox):
            return []  # of the repository that was made with the name again
        assert pull is not None
        is_first = events[0][0].kind != "pull_request_created"  # it was there at the beginning
        created = -1 if is_first else events[0][1]
        status, merged = "open" if is_first else "", list[CommitID]()
        verdicts: dict[str, tuple[object, object]] = {
            each.user: (each.verdict, each.commit_id) for each in self._reviews.get(pull_id, ())
        }
        for event, moment in events:
            if event.kind == "pull_request_merged":
                merged.append(CommitID(str(event.detail["commit_id"])))
                if status != PullRequestStatus.OPEN:
                    simulation.problem("pull", f"{pull} was {status}, and is merged")
                self._check_branches(repository, lives, pull, merged[-1], (created, moment))
                self._check_approvals(repository, pull, merged[-1], verdicts)
            elif event.kind == "pull_request_reviewed":
                verdict = event.detail["verdict"], event.detail["commit_id"]
                verdicts[str(event.detail["user"])] = verdict
            elif status == PullRequestStatus.MERGED:
                simulation.problem("pull", f"{pull} was merged, and got {event}")
            status = str(event.detail["status"])
        if pull.status != status or list(filter(None, [pull.merged_commit_id])) != merged:
            simulation.problem("pull", f"{pull} was {status} by its events, merged by {merged}")
        for answered_id, commit_id in self.answers:
            if answered_id == pull_id and commit_id not in merged:
                simulation.problem("pull", f"{pull} was answered with {commit_id}")
        return merged

    def _check_approvals(
        self,
        repository: Repository,
        pull: PullRequest,
        commit_id: CommitID,
        verdicts: Mapping[str, tuple[object, object]],
    ) -> None:
        """The merged commit of the source has its approvals, as of the moment of the merge."""
        commit = self._simulation.world.refs.commits(repository, [commit_id])[commit_id]
        about = [verdict for verdict, seen in verdicts.values() if seen == commit.parents[1]]
        if self._required and (
            set(about) != {ReviewVerdict.APPROVED} or len(about) < self._required
        ):
            self._simulation.problem("pull", f"{pull} was merged with the reviews {verdicts}")

    def _check_branches(
        self,
        repository: Repository,
        lives: Lives,
        pull: PullRequest,
        commit_id: CommitID,
        moments: tuple[int, int],
    ) -> None:
        """A merge is of the branches that the pull request was created for."""
        simulation = self._simulation
        created, moment = moments
        commit = simulation.world.refs.commits(repository, [commit_id]).get(commit_id)
        sources = lives.within(pull.source, created, moment)
        heads = [spell.commit_id for spell in sources if spell.born <= created]
        if commit is None or commit.parents[1] not in heads:
            simulation.problem("pull", f"{commit} merges what no source of {pull} was")
        made = lives.moments_made(pull.destination, commit_id)
        now = lives.within(pull.destination, *made, *made) if len(made) == 1 else []
        if not any(spell.born <= created for spell in now):
            simulation.problem("pull", f"{commit_id} is on no destination of {pull}")


def create_pull(actor: "Actor", op: Op) -> str:
    actor.watcher(Pulls)
    asked = pulls.NewPullRequest(_USER, _SOURCE, _DESTINATION, f"#{op.id}")
    return pulls.create(actor.engine, REPO, asked).id


def _some_pull(actor: "Actor", op: Op) -> str:
    found = pulls.list_page(actor.engine, REPO, "", "", 10).results
    return found[actor.choose("pull", 2) and -1].id if found else create_pull(actor, op)


def merge_pull(actor: "Actor", op: Op) -> str:
    pull_id = _some_pull(actor, op)
    commit_id = pulls.merge(actor.engine, REPO, pull_id, MergeRequest(_USER)).id
    actor.watcher(Pulls).answers.append((pull_id, commit_id))
    return commit_id


def merge_pull_by_task(actor: "Actor", op: Op) -> str:
    pull_id = _some_pull(actor, op)
    commit_id = patiently(
        actor,
        op,
        lambda engine, wait: pulls.merge(engine, REPO, pull_id, MergeRequest(_USER), wait),
    )
    actor.watcher(Pulls).answers.append((pull_id, commit_id))
    return commit_id


def close_pull(actor: "Actor", op: Op) -> None:
    change = PullRequestUpdate(status=PullRequestStatus.CLOSED)
    pulls.update(actor.engine, REPO, _some_pull(actor, op), change, _USER)


def open_pull(actor: "Actor", op: Op) -> None:
    change = PullRequestUpdate(status=PullRequestStatus.OPEN)
    pulls.update(actor.engine, REPO, _some_pull(actor, op), change, _USER)


def approve_pull(actor: "Actor", op: Op) -> None:
    _review(actor, op, ReviewVerdict.APPROVED)


def object_to_pull(actor: "Actor", op: Op) -> None:
    _review(actor, op, ReviewVerdict.CHANGES_REQUESTED)


def _review(actor: "Actor", op: Op, verdict: ReviewVerdict) -> None:
    view = reviews.view(actor.engine, REPO, _some_pull(actor, op))
    user = f"reviewer {actor.choose('reviewer', 2)}"
    if view.source_id is not None:
        reviews.review(actor.engine, REPO, view.pull.id, verdict, view.source_id, user)


PULL_ACTIONS: Mapping[str, Callable[["Actor", Op], Any]] = {
    each.__name__: each
    for each in (create_pull, close_pull, open_pull, approve_pull, object_to_pull)
}
PULL_MERGES: Mapping[str, Callable[["Actor", Op], Any]] = {
    each.__name__: each for each in (merge_pull, merge_pull_by_task)
}
